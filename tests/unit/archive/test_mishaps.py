"""What goes wrong with an archive costs no answer that the network gives, and is told as what it is."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin import verification
from pit_fetch.support.redaction import body_redactor
from pit_fetch.testing.inprocess import Left
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at

NEWS = "bz-news-api --tickers AAPL"
KEY = "AV01/2345+6789é"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Two captures, hours apart, of an article that was edited between them."""
    made = Archive(tmp_path)
    for title, now in (("first", "2026-06-01 15:00"), ("second", "2026-06-01 17:00")):
        made.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title=title))
        made.fetch(NEWS, now)
    return made


def at_16(archive: Archive) -> Left:
    return archive.offline(NEWS, "2026-06-02 12:00", pit="2026-06-01 16:00")


# Where it is.


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_is_not_a_regular_file_is_no_archive(tmp_path: Path, make: object) -> None:
    path = tmp_path / "a.db"
    make(path)  # type: ignore[operator]
    for opened in (schema.open_to_write, schema.open_to_read):
        with pytest.raises(ArchiveError, match="not a regular file"):
            opened(str(path))


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.symlink_to(tmp_path / "none")
    with pytest.raises(ArchiveError, match="a link to a file that is not there"):
        schema.open_to_write(str(path))
    assert not (tmp_path / "none").exists()


def test_a_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema.open_to_write(":memory:").close()
    schema.open_to_read(":memory:").close()


def test_an_empty_file_is_closed_to_others_before_it_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch(0o644)
    schema.open_to_write(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_left_beside_a_foreign_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as foreign:
        foreign.execute("PRAGMA journal_mode = WAL")
        foreign.execute("CREATE TABLE prices (x)")
    foreign.close()
    with pytest.raises(ArchiveError, match="not an archive"):
        schema.open_to_write(str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]


# Who holds it.


@pytest.mark.parametrize(("timeout", "patience"), [(0.4, 0.1), (2, 0.5), (60, 15), (3600, 900)])
def test_a_fetch_waits_for_the_archive_for_a_part_of_its_time_only(timeout: float, patience: float) -> None:
    assert schema.lock_timeout(timeout) == patience


def test_what_is_due_is_answered_where_nothing_can_be_written(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, busy_seconds: float = 1.0) -> sqlite3.Connection:
        raise ArchiveError("it is read-only")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "open_to_write", refuse)
        assert [item["title"] for item in at_16(archive).data] == ["first"]
    with archive.open() as connection:
        assert connection.execute("SELECT count(*) FROM pending").fetchone() == (2,)
        assert connection.execute("SELECT count(*) FROM versions").fetchone() == (0,)


def test_what_is_due_is_taken_up_by_the_next_fetch_with_a_pit(archive: Archive) -> None:
    archive.fetch(NEWS, "2026-06-02 12:00", pit="2026-06-01 16:00")
    with archive.open() as connection:
        assert connection.execute("SELECT count(*) FROM pending").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM reads").fetchone() == (3,)
        assert verification.verify(connection).damage == ()


# What became of it.


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE versions SET payload = replace(payload, 'first', 'fi')",
        "UPDATE versions SET payload = '{'",
        "UPDATE versions SET available = available - 1, revised = NULL",
        "UPDATE forms SET names = replace(names, 'title', 'tidal')",
        "UPDATE items SET name = name || '1'",
        "DROP TABLE validities",
        "UPDATE validities SET start = start - 3600000000",
        "UPDATE validities SET stop = 1 << 62",
    ],
)
def test_a_damaged_index_costs_no_answer_of_the_network(archive: Archive, change: str) -> None:
    archive.take_up()
    with archive.open() as connection:
        connection.execute(change)
    refused = at_16(archive)
    assert (refused.data, refused.gap_types) == ([], ["config"])
    same = benzinga.article(1, at("2026-06-01 14:30"), title="second")
    archive.app = articles(same, benzinga.article(2, at("2026-06-01 14:45"), title="live"))
    left = archive.fetch(NEWS, "2026-06-02 12:00", pit="2026-06-01 16:00")
    assert ([item["title"] for item in left.data], left.gap_types[-1]) == (["live", "second"], "config")


@pytest.mark.parametrize("odd", ["a\0b", "half of \ud800"])
def test_an_id_that_no_database_finds_again_costs_no_other_item(archive: Archive, odd: str) -> None:
    rows = [benzinga.article(number, at("2026-06-02 13:00")) for number in (11, 12)]
    for now in ("2026-06-02 15:00", "2026-06-02 16:00"):
        archive.app = articles({**rows[0], "id": odd}, rows[1])
        archive.fetch("bz-news-api --tickers AAPL", now)
    held = archive.offline("bz-news-api --tickers AAPL", "2026-06-02 17:00").ids
    assert ("12" in held, odd in held) == (True, False)


# What it must not hold.


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        "AV01/2345%2B6789%C3%A9",
        "AV01%2f2345%2b6789%c3%a9",
        "AV01\\/2345+6789\\u00E9",
        "".join(f"\\u{ord(character):04x}" for character in KEY),
        "%41V01\\u002f2345+6789é",
    ],
)
def test_a_key_is_found_however_a_url_or_json_may_write_it(spelled: str) -> None:
    body = body_redactor([KEY])(f'{{"a": "x%41", "key": "{spelled}", "b": "\\u00e9\\/"}}'.encode())
    assert body == b'{"a": "x%41", "key": "[redacted]", "b": "\\u00e9\\/"}'
    assert body_redactor(["AV<01&2345"])(b"<p>AV&lt;01&amp;2345") == b"<p>[redacted]"
