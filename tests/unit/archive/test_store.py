"""The file: what is in it, what is never in it, who may read it, and what happens where it cannot be used."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive.store import bodies, microseconds, tables
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin import maintenance, verification
from pit_fetch.testing.server import Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of
from tests.loopback.silent import Silent
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.archive.scene import Archive, articles, at, fill_the_disk

NEWS = "bz-news-api --tickers AAPL"
SINCE_JANUARY = ("--source", "bz-news-api", "--date-from", "2026-01-01")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    made = Archive(tmp_path)
    made.app = articles(benzinga.article(1, at("2026-06-01 14:30")))
    return made


def test_it_is_for_its_owner_alone(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    held = archive.open()  # or the files beside it would be gone
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in archive.folder.glob("a.db*")}
    held.close()
    assert set(modes.values()) == {0o600}
    assert "a.db" in modes


def test_a_key_of_eight_characters_is_redacted_and_a_shorter_one_refused(archive: Archive) -> None:
    key = {"ALPHAVANTAGE_API_KEY": "K3Y4U2ME"}
    said = {"Information": "We have detected your API key as K3Y4U2ME and our limit is 25 requests per day."}
    archive.app = lambda request: as_json(said)
    archive.fetch("alphavantage EARNINGS_ESTIMATES symbol=IBM", "2026-06-02 15:00", env=key)
    assert b"detected your API key as [redacted]" in b"".join(archive.bodies())
    assert b"K3Y4U2ME" not in archive.everything()
    left = archive.fetch(
        "alphavantage EARNINGS_ESTIMATES symbol=IBM", "2026-06-02 15:00", env={"ALPHAVANTAGE_API_KEY": "K3Y4U2M"}
    )
    assert (left.data, left.gap_types) == ([], ["config"])


# Where it cannot be used.


def gaps(archive: Archive, words: str = NEWS) -> tuple[int, str]:
    """Return how many items the network gives, and why the archive cannot be used."""
    left = archive.fetch(f"{words} --timeout 0.2", "2026-06-01 15:00")
    reasons = [gap["reason"] for gap in left.envelope["gaps"] if "The archive cannot be used" in gap["reason"]]
    assert all("Nothing was recorded" in reason for reason in reasons)
    assert str(archive.folder) not in left.text
    return len(left.data), " ".join(reasons)


def refused(archive: Archive) -> str:
    left = archive.offline(NEWS, "2026-06-01 15:00")
    assert left.data == []
    return " ".join(gap["reason"] for gap in left.envelope["gaps"] if gap["type"] == "config")


def newer(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    with closing(archive.open()) as connection:
        connection.execute(f"PRAGMA user_version = {tables.FORMAT + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda archive: archive.path.write_bytes(b"a,b\n1,2\n" * 500), "not an archive"),
        (newer, "newer than this program"),
    ],
)
def test_a_file_that_is_no_archive_of_this_program_is_left_alone(
    archive: Archive, make: Callable[[Archive], object], problem: str
) -> None:
    make(archive)
    before = archive.path.read_bytes()
    count, reason = gaps(archive)
    assert (count, problem in reason) == (1, True)
    assert problem in refused(archive)
    assert archive.path.read_bytes() == before


def test_a_locked_archive_does_not_cost_the_answer(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    holder = archive.open()
    holder.execute("BEGIN EXCLUSIVE")
    count, reason = gaps(archive)
    holder.close()
    assert (count, "another process" in reason) == (1, True)


def test_a_full_disk_does_not_cost_the_answer(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    fill_the_disk(monkeypatch)
    noise = os.urandom(200_000).hex()
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), body=noise))
    count, reason = gaps(archive)
    assert (count, "the disk is full" in reason) == (1, True)
    monkeypatch.undo()
    assert verification.verify(archive.open()).damage == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_archive_does_not_cost_the_answer(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    archive.path.chmod(0o400)
    count, reason = gaps(archive)
    assert (count, "read-only" in reason) == (1, True)


def test_a_folder_that_is_not_there_is_named(archive: Archive) -> None:
    archive.env = {"PIT_FETCH_ARCHIVE": str(archive.folder / "none" / "a.db")}
    count, reason = gaps(archive)
    assert (count, "no such file" in reason) == (1, True)


def test_offline_needs_an_archive_that_is_there(archive: Archive) -> None:
    assert "there is no such file" in refused(archive)
    assert not archive.path.exists()
    left = archive.fetch(f"{NEWS} --offline", "2026-06-01 15:00", archive=False)
    assert left.gap_types == ["config"]
    assert "PIT_FETCH_ARCHIVE" in left.reasons


def test_offline_needs_neither_network_nor_key(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-01 15:00")
    assert archive.offline(NEWS, "2026-06-01 15:30").ids == ["1"]


# Many processes, and processes that die.


def test_eight_processes_write_at_once(archive: Archive) -> None:
    with serve(archive.app) as server:
        started = [archive.process(server.url, *SINCE_JANUARY, "--limit", str(n + 1)) for n in range(8)]
        outputs = [process.communicate(timeout=60) for process in started]
    assert [len(json.loads(out)["data"]) for out, _ in outputs] == [1] * 8
    assert [gap["type"] for out, _ in outputs for gap in json.loads(out)["gaps"]] == []
    connection = archive.open()
    assert connection.execute("SELECT count(*) FROM answers").fetchone() == (8,)
    assert verification.verify(connection).damage == ()


def test_a_process_that_is_killed_loses_at_most_the_exchange_under_way(archive: Archive) -> None:
    rows = [benzinga.article(n, at("2026-06-01 14:30")) for n in range(150)]
    whole, silent = articles(*rows), Silent()

    def app(request: HttpRequest) -> Response:
        return silent(request) if request.query["page"] == "1" else whole(request)

    with serve(app) as server:
        process = archive.process(server.url, *SINCE_JANUARY, "--limit", "500")
        assert silent.asked()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    connection = archive.open()
    assert connection.execute("SELECT count(*) FROM exchanges").fetchone() == (1,)
    assert verification.verify(connection).damage == ()
    assert maintenance.rebuild(connection) == 1
    assert connection.execute("SELECT count(*) FROM versions").fetchone() == (100,)


# What is not mixed.


def test_an_input_file_has_nothing_to_do_with_the_archive(archive: Archive) -> None:
    saved = archive.folder / "saved.json"
    saved.write_bytes(body_of([benzinga.article(7, at("2026-06-01 14:30"))]))
    assert archive.fetch(f"bz-news-api --input-file {saved}", "2026-06-01 15:00").ids == ["7"]
    assert not archive.path.exists()


def test_a_request_that_repeats_a_key_is_refused(archive: Archive) -> None:
    """Redacted, it would be another request, and never be found."""
    done = archive.fetch(f"alphavantage SYMBOL_SEARCH keywords={alphavantage.KEY}", "2026-06-01 15:00")
    assert (done.data, done.gap_types, archive.asked) == ([], ["config"], [])


def test_what_was_captured_from_another_address_is_told(archive: Archive) -> None:
    archive.app = articles(benzinga.article(7, at("2026-06-01 14:30")))
    archive.fetch(NEWS, "2026-06-01 15:00", env={"PIT_FETCH_BENZINGA_URL": "https://gateway.example"})
    told = "captured from another address, which may say something else: set PIT_FETCH_BENZINGA_URL"
    done = archive.offline(NEWS, "2026-06-02 15:00", pit="2026-06-01 15:00")
    assert (done.data, told in done.reasons) == ([], True)
    earlier = archive.offline(NEWS, "2026-06-02 15:00", pit="2026-06-01 14:00")
    assert told not in earlier.reasons  # nothing was captured by then


# Time.


@pytest.mark.parametrize(
    ("now", "date", "age", "seen"),
    [
        ("15:00", "14:55:00", "", "15:00"),
        ("15:00", "15:09:00", "", "15:09"),
        ("14:45", "", "", "14:50"),
        # A cache may have kept the reply for as long as it says, with its date or with one of its own.
        ("15:00", "13:00:00", "7200", "15:00"),
        ("15:00", "15:00:00", "7200", "15:00"),
        # More than ten minutes apart.
        ("15:00", "16:00:00", "", "behind the Date"),
        ("15:00", "16:00:00", "7200", "behind the Date"),
        ("15:00", "14:00:00", "", "ahead of the Date"),
        ("15:00", "13:00:00", "3000", "ahead of the Date"),
        ("14:30", "", "", "last entry is more than ten minutes after"),
    ],
)
def test_the_latest_of_three_clocks_counts_unless_they_are_far_apart(
    archive: Archive, now: str, date: str, age: str, seen: str
) -> None:
    archive.fetch(NEWS, "2026-06-01 14:50")
    plain, headers = archive.app, {"Date": f"Mon, 01 Jun 2026 {date} GMT" if date else "yesterday", "Age": age}
    archive.app = lambda request: Response(plain(request).body, 200, headers)
    done = archive.fetch(NEWS, f"2026-06-01 {now}")
    (last,) = archive.open().execute("SELECT max(seen) FROM exchanges").fetchone()
    if seen[0].isdigit():
        assert microseconds.from_micros(last) == at(f"2026-06-01 {seen}")
        assert "config" not in done.gap_types
    else:
        assert (done.data, done.gap_types, last) == ([], ["config"], microseconds.to_micros(at("2026-06-01 14:50")))
        assert seen in done.reasons


# Bodies.


def test_without_zstandard_a_body_is_packed_with_zlib(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"the same again " * 100
    packed_before = bodies.pack(body)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    packed = bodies.pack(body, b"another")
    assert (packed.coding, bodies.unpack(packed, None, len(body))) == (bodies.ZLIB, body)
    with pytest.raises(ArchiveError, match="zstandard"):
        bodies.unpack(packed_before, None, len(body))


@pytest.mark.parametrize("coding", [bodies.ZLIB, bodies.ZSTD])
def test_no_more_is_unpacked_than_was_recorded(archive: Archive, coding: str) -> None:
    """A damaged body may stand for gigabytes."""
    archive.fetch(NEWS, "2026-06-01 15:00")
    much = bytes(50_000_000)
    packed = zlib.compress(much) if coding == bodies.ZLIB else bodies.pack(much).data
    archive.open().execute("UPDATE bodies SET coding = ?, packed = ?, base = NULL", (coding, packed))
    tracemalloc.start()
    left = archive.command("archive verify")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (left.code, peak < len(much) / 2) == (1, True)
