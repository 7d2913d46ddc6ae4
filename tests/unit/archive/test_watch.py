"""What an operator runs daily: verify of what is new, a backup while others record, captures beside a damaged index."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.store import schema
from pit_fetch.archive_admin import verification
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at

NEWS = "bz-news-api --lookback-minutes 100000"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return flips.sample(tmp_path)


def last(archive: Archive) -> str:
    row: dict[str, Any] = json.loads(archive.command("archive log --limit 1 --json").out)[0]
    return str(row["id"])


def test_verify_since_looks_at_what_is_new(archive: Archive) -> None:
    before = last(archive)
    left = json.loads(archive.command(f"archive verify --since {before} --json").out)
    assert left["sound"]
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    archive.fetch(NEWS, "2026-06-15 15:00")
    new = json.loads(archive.command(f"archive verify --since {before} --json").out)
    assert (new["sound"], new["entries"] - left["entries"], new["bodies"] - left["bodies"]) == (True, 3, 2)
    newest = "(SELECT max(seq) FROM exchanges)"
    for change in (
        f"UPDATE bodies SET packed = x'00' WHERE digest = (SELECT body FROM exchanges WHERE seq = {newest})",
        f"UPDATE exchanges SET status = 500 WHERE seq = {newest}",
        "DELETE FROM answers WHERE seq = (SELECT max(seq) FROM answers)",
        "DELETE FROM pending; DELETE FROM reads",
    ):
        with closing(sqlite3.connect(archive.path)) as connection:
            whole = connection.serialize()
            connection.executescript(change)
        assert archive.command(f"archive verify --since {before}").code == 1, change
        archive.path.write_bytes(whole)
        for beside in archive.folder.glob("a.db-*"):
            beside.unlink()
    assert archive.command("archive verify --since none-1").code == 2


def test_a_backup_during_captures_holds_all_that_was_committed_before_it(archive: Archive) -> None:
    (archive.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\nlookback_minutes = 100000\n")
    stop = threading.Event()

    def record() -> None:
        recording = Archive(archive.folder)
        day = 10
        while not stop.is_set():
            day += 1
            recording.app = articles(benzinga.article(day, at("2026-06-01 14:30"), title=f"day {day}"))
            recording.command("capture list.toml --again", f"2026-07-{min(day, 31)} {day % 24:02}:00")

    writer = threading.Thread(target=record)
    writer.start()
    try:
        for number in range(10):
            with closing(archive.open()) as connection:
                committed = {*connection.execute("SELECT origin, seq, link FROM entries")}
            assert archive.command(f"archive backup copy{number}.db").code == 0
            with closing(sqlite3.connect(archive.folder / f"copy{number}.db")) as connection:
                assert committed <= {*connection.execute("SELECT origin, seq, link FROM entries")}
                assert verification.verify(connection, with_index=False).damage == ()
    finally:
        stop.set()
        writer.join()
    assert archive.command("archive backup copy0.db").code == 2, "it never replaces a file"
    assert archive.command("archive verify --archive copy0.db").code == 0


def test_of_a_damaged_archive_no_backup_is_made(archive: Archive) -> None:
    archive.open().execute("UPDATE bodies SET packed = x'00'")
    left = archive.command("archive backup copy.db")
    assert (left.code, "it is damaged" in left.err, (archive.folder / "copy.db").exists()) == (2, True, False)


@pytest.mark.parametrize(
    "change", ["UPDATE streams SET reads = reads + 1, salt = 1", "UPDATE reads SET checksum = 0", "DELETE FROM items"]
)
def test_captures_go_on_beside_a_damaged_index(archive: Archive, change: str) -> None:
    archive.take_up()
    archive.open().execute(change)
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    left = archive.command("capture list.toml --again --json", "2026-06-15 15:00")
    assert (left.code, json.loads(left.out)["captured"]) == (0, 1)
    assert archive.command("archive verify").code == 1
    assert archive.command("archive rebuild").code == 0
    assert archive.command("archive verify").code == 0
    assert archive.offline(NEWS, "2026-06-20 12:00", pit="2026-06-16 15:00").ids == ["9"]


def test_a_capture_waits_for_maintenance_and_loses_nothing(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds the archive for longer than a fetch would wait."""
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.1)
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    holding = sqlite3.connect(archive.path, isolation_level=None, check_same_thread=False)
    holding.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(1.5, lambda: holding.execute("COMMIT"))
    timer.start()
    left = archive.command("capture list.toml --again --json", "2026-06-15 15:00")
    timer.join()
    assert (left.code, json.loads(left.out)["captured"]) == (0, 1)


def test_others_record_while_the_index_is_made_again(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [archive.offline(NEWS, "2026-06-20 12:00", pit=f"2026-06-{day:02} 15:00").data for day in (2, 4, 10)]
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    real, codes = Archived.add, list[int]()

    def add(archived: Archived, *rest: Any) -> Any:
        if not codes:
            codes.append(1)  # only once, and not for what this capture adds
            codes[0] = archive.command("capture list.toml --again", "2026-06-15 15:00").code
        return real(archived, *rest)

    monkeypatch.setattr(Archived, "add", add)
    assert archive.command("archive rebuild").code == 0
    assert codes == [0]
    assert archive.command("archive verify").code == 0
    assert archive.offline(NEWS, "2026-06-20 12:00", pit="2026-06-16 15:00").ids == ["9"]
    for day, answer in zip((2, 4, 10), answers, strict=True):
        assert archive.offline(NEWS, "2026-06-20 12:00", pit=f"2026-06-{day:02} 15:00").data == answer
