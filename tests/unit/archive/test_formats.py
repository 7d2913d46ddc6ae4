"""A file of an earlier format answers as it did, and becomes one of this format when it is written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest

from pit_fetch.archive.store import about, schema, tables
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin import verification
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive

# What format 1 had in the place of today's tables. Format 3 had the same tables of the index, with more checksums.
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


def made_earlier(archive: Archive, number: int) -> None:
    with closing(archive.open()) as connection:
        is_first = number == 1
        kept = {table: connection.execute(query).fetchall() for table, query in _KEPT.items()}
        if not is_first:
            del kept["about"]
        for table in ("about",) * is_first + tables.DERIVED:
            connection.execute(f"DROP TABLE {table}")
        connection.executescript(f"{_ABOUT_1 * is_first}{_INDEX_1}PRAGMA user_version = {number};")
        for table, rows in kept.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture(params=[1, 3])
def old(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Archive, list[str]]:
    """An archive of an earlier format, and what it answers today."""
    archive, asked = flips.sample(tmp_path), Archive(tmp_path / "asked")
    asked.folder.mkdir()
    asked.path.write_bytes(flips.bytes_of(archive))
    made_earlier(archive, request.param)
    return archive, answers(asked)


def answers(archive: Archive) -> list[str]:
    return [archive.offline(words, "2026-06-20 12:00", pit=pit).text for words, pit in QUESTIONS]


def format_of(archive: Archive) -> int:
    with closing(sqlite3.connect(archive.path)) as connection:
        return schema.format_of(connection)


def test_it_is_read_as_it_is(old: tuple[Archive, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    archive, expected = old
    before = archive.path.read_bytes()

    def refuse(path: str, busy_seconds: float = 1.0) -> sqlite3.Connection:
        raise ArchiveError("it is read-only")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "open_to_write", refuse)
        assert answers(archive) == expected
    for words in ("info", "log", "verify", "replay last"):
        assert archive.command(f"archive {words}").code == 0, words
    assert f'"format": {format_of(archive)}' in archive.command("archive info --json").out
    assert format_of(archive) < tables.FORMAT
    assert archive.path.read_bytes() == before


def test_it_is_exported_as_it_is(old: tuple[Archive, list[str]]) -> None:
    archive, _ = old
    before = archive.path.read_bytes()
    early = archive.command("archive export early")
    assert (early.code, archive.path.read_bytes()) == (0, before)
    assert archive.command("archive rebuild").code == 0
    assert archive.command("archive export late").out == early.out.replace("early", "late")
    made = [sorted((archive.folder / name).rglob("*.parquet")) for name in ("early", "late")]
    assert [file.read_bytes() for file in made[0]] == [file.read_bytes() for file in made[1]]


_FASTER = (
    "pit_fetch: the archive is of an earlier format: each offline question makes the index of its stream anew, until "
    "pit_fetch archive rebuild has made it for good\n"
)


@pytest.mark.parametrize(
    "words",
    [
        f"--source {flips.ESTIMATES} --pit 2026-06-06T15:00:00Z --offline",
        f"diff --source {flips.NEWS} --pit 2026-06-02T15:00:00Z --pit 2026-06-04T15:00:00Z --offline",
        "panel --source alphavantage EARNINGS_ESTIMATES --over symbol=IBM --pits 2026-06-06T15:00:00Z --offline",
    ],
)
def test_a_person_is_told_once_what_makes_it_fast_again(old: tuple[Archive, list[str]], words: str) -> None:
    archive, _ = old
    said = archive.command(words, terminal=True)
    assert (said.code, said.err.count(_FASTER)) == (0, 1)
    quiet = archive.command(words)
    assert (quiet.out != "", "rebuild" in quiet.out + quiet.err) == (True, False)
    named = archive.command(f"{words} --archive {archive.path}", terminal=True)
    assert f"pit_fetch archive rebuild --archive {archive.path} has made it for good" in named.err
    archive.command("archive rebuild")
    assert "rebuild" not in archive.command(words, terminal=True).err


def test_it_is_brought_to_this_format_when_it_is_written(old: tuple[Archive, list[str]]) -> None:
    archive, expected = old
    with closing(archive.open()) as connection:
        assert verification.verify(connection).damage == ()
        assert connection.execute("SELECT count(*) FROM about WHERE name LIKE 'capture %'").fetchone() == (1,)
    assert (answers(archive), format_of(archive)) == (expected, tables.FORMAT)
    archive.take_up()
    assert answers(archive) == expected
    archive.command("archive rebuild")
    assert answers(archive) == expected


def test_what_it_notes_about_itself_is_marked_as_in_every_format(old: tuple[Archive, list[str]]) -> None:
    archive, _ = old
    with closing(archive.open()) as connection:
        for value in ("1", "12"):  # the checksums differ in their first bit, which is no sign here
            about.put(connection, f"a note {value}", value)
        notes = connection.execute("SELECT name, value, mark FROM about").fetchall()
    assert notes == [(name, value, crc32(repr((value,)).encode(), crc32(name.encode()))) for name, value, _ in notes]
    assert {mark >> 31 for name, _, mark in notes if name.startswith("a note")} == {0, 1}


def test_it_is_merged_as_it_is(old: tuple[Archive, list[str]]) -> None:
    archive, expected = old
    other, number = Archive(archive.folder / "other"), format_of(archive)
    other.folder.mkdir()
    assert other.command(f"archive merge {archive.path}").code == 0
    assert (answers(other), format_of(archive)) == (expected, number)


def test_damage_in_its_journal_is_found(old: tuple[Archive, list[str]]) -> None:
    archive, _ = old
    with closing(sqlite3.connect(archive.path)) as connection, connection:
        connection.execute("UPDATE exchanges SET status = 500")
    assert archive.command("archive verify").code == 1
