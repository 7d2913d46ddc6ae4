"""A file of an earlier format is upgraded when it is written, with a copy kept, and answers as it did."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive.store import about, schema, tables
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin import verification
from pit_fetch.archive_admin.capture import run_log
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at

# What format 1 had in the place of today's tables: it lacks what any later one lacks.
_ABOUT_1 = "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
_INDEX_1 = """
CREATE TABLE pools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE reads (
    pool INTEGER NOT NULL, seen INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL,
    complete INTEGER NOT NULL, since INTEGER, until INTEGER, PRIMARY KEY (pool, seen, origin, fetch)
) WITHOUT ROWID;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, pool INTEGER NOT NULL, item TEXT NOT NULL, key BLOB NOT NULL, content BLOB NOT NULL,
    available INTEGER, revised INTEGER, stamp TEXT NOT NULL, payload TEXT NOT NULL, mark INTEGER NOT NULL,
    UNIQUE (pool, item, key)
);
CREATE TABLE sights (
    pool INTEGER NOT NULL, item TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, before INTEGER NOT NULL,
    free INTEGER NOT NULL, said TEXT NOT NULL, position INTEGER, latest INTEGER NOT NULL,
    PRIMARY KEY (pool, item, first, said)
) WITHOUT ROWID;
CREATE INDEX sights_there ON sights (pool, position) WHERE latest = 1 AND said != '';
CREATE TABLE reigns (
    pool INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    version INTEGER NOT NULL, first_seen INTEGER, mark INTEGER NOT NULL, PRIMARY KEY (pool, position DESC, item, start)
) WITHOUT ROWID;
CREATE INDEX reigns_by_item ON reigns (pool, item);
CREATE TABLE due (
    pool INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL, PRIMARY KEY (origin, fetch)
) WITHOUT ROWID;
CREATE INDEX due_by_pool ON due (pool);
"""
_KEPT = {
    "about": "SELECT name, value FROM about WHERE name NOT LIKE 'end %' AND name NOT LIKE 'gaps %'",
    "pools": "SELECT id, name FROM streams",
    "reads": "SELECT stream, seen, origin, fetch, complete, since, until FROM reads",
    "due": "SELECT stream, origin, fetch FROM pending",
}
QUESTIONS = [
    *((flips.NEWS, f"2026-06-{day} 15:00") for day in ("02", "04", "10")),
    *((flips.ESTIMATES, f"2026-06-{day} 15:00") for day in ("02", "03", "06")),
]


def made_earlier(archive: Archive) -> None:
    with closing(archive.open()) as connection:
        kept = {table: connection.execute(query).fetchall() for table, query in _KEPT.items()}
        for table in ("about", *tables.DERIVED):
            connection.execute(f"DROP TABLE {table}")
        connection.executescript(f"{_ABOUT_1}{_INDEX_1}PRAGMA user_version = 1;")
        for table, rows in kept.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture
def old(tmp_path: Path) -> tuple[Archive, list[str]]:
    """An archive of an earlier format, and what it answered."""
    archive, asked = flips.sample(tmp_path), Archive(tmp_path / "asked")
    asked.folder.mkdir()
    asked.path.write_bytes(flips.bytes_of(archive))
    made_earlier(archive)
    return archive, answers(asked)


def answers(archive: Archive) -> list[str]:
    return [archive.offline(words, "2026-06-20 12:00", pit=pit).text for words, pit in QUESTIONS]


def test_until_it_is_upgraded_whoever_reads_it_is_told_how(old: tuple[Archive, list[str]]) -> None:
    archive, _ = old
    before = archive.path.read_bytes()
    for words in ("info", "log", "verify", "replay last", "export versions"):
        left = archive.command(f"archive {words}")
        assert (left.code == 0, "earlier format: pit_fetch archive rebuild" in left.err + left.out) == (False, True)
    asked = archive.offline(flips.NEWS, "2026-06-20 12:00", pit="2026-06-04 15:00")
    assert (asked.data, asked.gap_types[-1]) == ([], "config")
    assert archive.path.read_bytes() == before


def test_it_is_upgraded_when_it_is_written_and_a_copy_is_kept(old: tuple[Archive, list[str]]) -> None:
    archive, expected = old
    with closing(sqlite3.connect(archive.path)) as connection:
        journal = [*connection.iterdump()]
    assert archive.command("archive rebuild").code == 0
    kept = archive.path.with_name("a.db.format-1")
    with closing(sqlite3.connect(kept)) as connection:
        assert [*connection.iterdump()] == journal
    assert kept.stat().st_mode & 0o777 == 0o600
    assert answers(archive) == expected
    with closing(archive.open()) as connection:
        assert schema.format_of(connection) == tables.FORMAT
        assert verification.verify(connection).damage == ()
        assert connection.execute("SELECT 1 FROM about WHERE name LIKE 'capture %'").fetchone()


def test_a_fetch_upgrades_it_and_loses_nothing(old: tuple[Archive, list[str]]) -> None:
    archive, expected = old
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    assert archive.fetch(flips.NEWS, "2026-06-19 15:00").gap_types == []
    assert answers(archive) == expected


@pytest.mark.parametrize("words", ["", "--missing"])
def test_a_list_that_an_earlier_version_captured_is_captured_anew(tmp_path: Path, words: str) -> None:
    archive = flips.sample(tmp_path)
    name = run_log.name_of(str(tmp_path / "list.toml"))
    text = "--source bz-news-api --lookback-minutes 100000"
    requests = {text: ["news", 1_780_000_000_000_000, True]}
    with closing(archive.open()) as connection:
        connection.execute("DELETE FROM about WHERE name LIKE 'capture %'")
        about.put(connection, name, json.dumps({"began": 1_780_000_000_000_000, "over": True, "requests": requests}))
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    left = archive.command(f"capture list.toml {words} --json", "2026-06-19 15:00")
    assert (left.code, json.loads(left.out)["captured"]) == (0, 1)
    assert run_log.names(archive.open()) == {text: "request 1 (benzinga)"}


def test_without_room_for_a_copy_it_stays_as_it_is(
    old: tuple[Archive, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, _ = old
    before = archive.path.read_bytes()

    def full(path: str, target: str) -> None:
        raise ArchiveError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "copy_to", full)
        assert "the disk is full" in archive.command("archive rebuild").err
    assert archive.path.read_bytes()[100:] == before[100:], "but for the mode of its journal"


def test_damage_in_its_journal_is_found(old: tuple[Archive, list[str]]) -> None:
    archive, _ = old
    with closing(sqlite3.connect(archive.path)) as connection, connection:
        connection.execute("UPDATE exchanges SET status = 500")
    archive.command("archive rebuild")
    assert archive.command("archive verify").code == 1
