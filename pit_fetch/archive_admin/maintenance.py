"""Maintain an archive: merge another one into it, rebuild its index, delete a source's fetches."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from pit_fetch.archive.archived import Archived, OnProgress, silently
from pit_fetch.archive.interpreted import Find
from pit_fetch.archive.recorder import SECONDS
from pit_fetch.archive.store import index, journal, microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError, Damaged, Lost, archive_error
from pit_fetch.archive.store.index import FetchToIndex
from pit_fetch.archive.store.journal import COLUMNS, DROPPED, LOST, NAMED, UNKNOWN_LINK, Key
from pit_fetch.archive_admin.verification import Report, verify
from pit_fetch.engine.registry import load


def rebuild(connection: sqlite3.Connection, find: Find = load, on_progress: OnProgress = silently) -> int:
    """Derive the index again with the providers' current code. Return the number of fetches.

    It is made beside the old one, so that others record meanwhile. Their fetches are pending. The file gives back what
    the old index took. On a full disk, or while another process writes, it stays as large.
    """
    connection.execute("PRAGMA temp_store = FILE")
    schema.overlay_empty_index(connection)
    connection.execute("BEGIN")  # as of one moment
    keys = journal.fetches(connection)
    Archived(connection, find).add_all(keys, on_progress)
    connection.execute("COMMIT")
    with schema.transaction(connection):
        schema.replace_index(connection)
        for key in set(journal.fetches(connection)) - set(keys):
            index.defer(connection, index.UNASSIGNED, key)
    with contextlib.suppress(sqlite3.Error):
        connection.execute("VACUUM")  # outside the transaction, which SQLite demands
    return len(keys)


def ingest_pending(connection: sqlite3.Connection, find: Find, parsed: Iterable[FetchToIndex] = ()) -> None:
    """Add the fetches to the index that no question has needed yet. Raise ArchiveError.

    Those that this process has just ``parsed`` are not parsed again.
    Those of a source that is not installed stay pending. Other processes may write between two transactions.
    """
    with schema.transaction(connection):
        Archived(connection, find).assign()
    fresh = {fetch.key: fetch for fetch in parsed}
    streams = connection.execute("SELECT name FROM streams WHERE id IN (SELECT stream FROM pending)").fetchall()
    for (stream,) in streams:
        is_left = stream != index.UNASSIGNED
        while is_left:
            with schema.transaction(connection):
                # A new Archived, since another process may have added fetches.
                is_left = Archived(connection, find, fresh).ingest(stream, SECONDS)


def backup(path: str, target: str, find: Find = load, on_progress: OnProgress = silently) -> Report:
    """Copy the archive at ``path`` to a new file while others record, and verify the copy.

    It is there whole and sound, or not at all. Raise ArchiveError.
    """
    with making(target) as copy:
        schema.open_to_read(path).close()  # or it may be no archive
        schema.copy_to(path, copy)
        with closing(schema.open_to_read(copy)) as connection:
            report = verify(connection, find, on_progress, with_index=False)
        if report.damage:
            raise ArchiveError(f"it is damaged ({report.damage[0]}): run pit_fetch archive verify")
    return report


@contextlib.contextmanager
def making(path: str) -> Iterator[str]:
    """Yield the path of a file that becomes the archive at ``path`` when the block ends. An exception leaves none.

    Raise ArchiveError if there is a file at ``path``, and OSError, which names it.
    """
    if os.path.lexists(path):
        raise ArchiveError(f"there is a file already at {path}: name a new one")
    try:
        beside = TemporaryDirectory(dir=os.path.dirname(path), prefix=".pit_fetch-")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    with beside as folder:
        unfinished = os.path.join(folder, "unfinished.db")
        yield unfinished
        os.rename(unfinished, path)  # in one step: an archive that is there is whole


def merge(
    connection: sqlite3.Connection,
    other: sqlite3.Connection,
    find: Find = load,
    on_progress: OnProgress = silently,
    now: int = microseconds.ALWAYS,
) -> int:
    """Copy the entries that only ``other`` holds. Return the number of entries that are new or newly deleted.

    Archives can be merged in any order and repeatedly, since an entry is the same everywhere. What either of them
    dropped stays dropped; what one of them lost comes back from the other. Raise Damaged if the other one is damaged or
    has entries from after ``now``, and ArchiveError if it continues a chain differently.
    """
    with schema.snapshot(other):
        damage = verify(other, find, with_index=False, now=now).damage
        if damage:
            raise Damaged(f"the other one is damaged ({damage[0]}): repair it first (pit_fetch archive repair)")
        merged, is_less = 0, False
        connection.execute("PRAGMA secure_delete = ON")  # so that deleted rows leave no bytes in free pages
        with schema.transaction(connection):
            repeating = _repeating(connection, other)
            textless = {*repeating, *journal.withdrawn(other)}
            for *key, kind, link in other.execute("SELECT * FROM entries ORDER BY origin, seq").fetchall():
                change = _merge_entry(connection, other, Key(*key), kind, link, textless)
                merged, is_less = merged + bool(change), is_less or change == "deleted"
            merged += _fill_bodies(connection, other)
            is_less = _delete_orphans(connection) or is_less
            unrecorded = (repeating & _fetches(connection)) - set(journal.withdrawn(connection))
            if unrecorded:
                journal.Writer(connection).withdraw(unrecorded)
            is_less = _delete_unused_bodies(connection) or is_less
            journal.note_chains(connection)
            if merged:  # in the same transaction: answers would rely on an index that lacks what was merged
                Archived(connection, find).rebuild(on_progress)
            schema.check_unchanged(other)  # before anything of it is kept
    if is_less:
        _scrub(connection)
    return merged


def _merge_entry(
    connection: sqlite3.Connection, other: sqlite3.Connection, key: Key, kind: str, link: bytes, textless: set[Key]
) -> Literal["", "new", "deleted"]:
    """Copy an entry of the other archive. Return what that changed. Raise ArchiveError."""
    mine = journal.entry_of(connection, key)
    is_known = mine is not None and UNKNOWN_LINK not in (mine.link, link)
    if mine is not None and is_known and LOST not in (mine.kind, kind) and mine.link != link:
        raise ArchiveError("the two continue one chain differently: one of them was changed")
    if mine is not None and mine.link == UNKNOWN_LINK != link:
        connection.execute("UPDATE entries SET link = ? WHERE origin = ? AND seq = ?", (link, *key))
    if mine is not None and mine.kind in COLUMNS and kind == DROPPED:
        _delete(connection, mine.kind, key)
        return "deleted"
    if mine is not None and (mine.kind != LOST or kind == LOST):
        return ""
    connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (*key, kind, link))
    if kind in COLUMNS:
        journal.copy_row(other, connection, kind, key, textless)
        journal.copy_note(other, connection, key)
    return "new"


def _repeating(connection: sqlite3.Connection, other: sqlite3.Connection) -> set[Key]:
    """Return the answers of either archive that may repeat what the other one deleted without knowing of them."""
    mine, theirs = _fetches(connection), _fetches(other)
    # The answers that both hold were judged where the deletion was made.
    unknown = later_answers(other, theirs & _dropped(connection)) - mine
    return later_answers(connection, mine & _dropped(other)) | unknown


def _fill_bodies(connection: sqlite3.Connection, other: sqlite3.Connection) -> int:
    """Take the bodies that were given up from another archive. Return how many."""
    given_up = connection.execute("SELECT digest FROM bodies WHERE coding = ?", (LOST,)).fetchall()
    found = 0
    for (digest,) in given_up:
        with contextlib.suppress(Damaged, Lost):
            journal.Writer(connection).body(journal.read_body(other, digest))
            found += 1
    return found


def _fetches(connection: sqlite3.Connection) -> set[Key]:
    return set(journal.keys(connection, "SELECT origin, seq FROM fetches"))


def _dropped(connection: sqlite3.Connection) -> set[Key]:
    return set(journal.keys(connection, "SELECT origin, seq FROM entries WHERE kind = ?", DROPPED))


def later_answers(connection: sqlite3.Connection, gone: Collection[Key]) -> set[Key]:
    """Return the fetches that remain when ``gone`` are deleted, but whose answer may repeat these.

    A later fetch of the source may have answered from the archive, wholly or in part. One without a PIT that asked the
    network did not.
    """
    sources: dict[str, int] = {}  # when the first of the deleted fetches began
    places: dict[tuple[str, str], int] = {}  # its number in each chain: a clock may have been ahead
    remaining = []
    query = (
        "SELECT f.origin, f.seq, f.source, f.began, f.kind = 'live' AND f.pit IS NULL, a.answer IS NOT NULL "
        "FROM fetches f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq"
    )
    for origin, seq, source, began, is_open, has_answer in connection.execute(query):
        if Key(origin, seq) in gone:
            sources[source] = min(began, sources.get(source, began))
            places[source, origin] = min(seq, places.get((source, origin), seq))
        elif has_answer and not is_open:
            remaining.append((Key(origin, seq), source, began))
    later = {
        key
        for key, source, began in remaining
        if source in sources and (began >= sources[source] or key.seq > places.get((source, key.origin), key.seq))
    }
    return later - journal.withdrawn(connection).keys()


class Deletion(NamedTuple):
    """What to delete: the fetches of a source that began before an instant, or all from after one.

    Instants are in microseconds.
    """

    source: str = ""
    before: int | None = None
    after: int | None = None

    def keys(self, connection: sqlite3.Connection) -> frozenset[Key]:
        if self.after is not None:
            return frozenset(journal.fetches_after(connection, self.after, self.source))
        query = "SELECT origin, seq FROM fetches WHERE source = ? AND began < ?"
        return frozenset(journal.keys(connection, query, self.source, self.before))

    @property
    def recorded(self) -> Mapping[str, Any]:
        return {name: value for name, value in self._asdict().items() if value not in ("", None)}


class Dropped(NamedTuple):
    """The number of deleted fetches, and of later answers deleted because they may repeat these."""

    fetches: int
    answers: int


def to_drop(connection: sqlite3.Connection, deletion: Deletion) -> Dropped:
    """Return how much :func:`drop` would delete."""
    rows = deletion.keys(connection)
    return Dropped(len(rows), len(later_answers(connection, rows)))


def drop(
    connection: sqlite3.Connection,
    deletion: Deletion,
    time: int,
    find: Find = load,
    on_progress: OnProgress = silently,
) -> Dropped:
    """Delete fetches, and later answers that may repeat them, for good.

    ``time`` is the instant of the deletion, which is recorded. The place of each row in its chain remains. Raise
    ArchiveError if a process that reads the archive keeps the deleted bytes in the write-ahead log.
    """
    connection.execute("PRAGMA secure_delete = ON")
    with schema.transaction(connection):
        rows = deletion.keys(connection)
        answers = later_answers(connection, rows)
        for key in rows:
            _delete(connection, "fetches", key)
        if rows:
            _delete_orphans(connection)
            journal.Writer(connection).drop(time, {**deletion.recorded, "fetches": len(rows)}, answers)
            journal.note_chains(connection)
            _delete_unused_bodies(connection)
            Archived(connection, find).rebuild(on_progress)
    _scrub(connection)  # even without rows: the last attempt may have been killed before it
    return Dropped(len(rows), len(answers))


def _scrub(connection: sqlite3.Connection) -> None:
    """Remove every deleted byte from the file and from its write-ahead log, which still has the pages."""
    is_busy, problem = 0, "another process reads the archive"
    try:
        connection.execute("VACUUM")
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        is_busy, problem = 1, archive_error(error).problem
    if is_busy:
        raise ArchiveError(
            f"it is deleted, but its bytes are not yet gone: {problem}; run the same command again when that is over"
        )


def _delete(connection: sqlite3.Connection, kind: str, key: Key) -> None:
    connection.execute(f"DELETE FROM {kind} WHERE origin = ? AND seq = ?", key)
    # Its hash stays, so the chain can be verified without it.
    connection.execute("UPDATE entries SET kind = ? WHERE origin = ? AND seq = ?", (DROPPED, *key))


def _delete_orphans(connection: sqlite3.Connection) -> bool:
    """Delete rows of deleted fetches that another copy of the archive appended. Return whether there were any."""
    orphans = journal.orphans(connection)
    for kind, key in orphans:
        _delete(connection, kind, key)
    return bool(orphans)


def _delete_unused_bodies(connection: sqlite3.Connection) -> bool:
    """Delete the bodies that no row names. Return whether there was any."""
    unnamed = f"SELECT digest FROM bodies WHERE digest NOT IN ({NAMED})"
    gone = {digest for (digest,) in connection.execute(unnamed)}
    for digest in gone:
        for (user,) in connection.execute("SELECT digest FROM bodies WHERE base = ?", (digest,)).fetchall():
            if user not in gone:
                _pack_alone(connection, user)  # its dictionary goes
    connection.executemany("DELETE FROM bodies WHERE digest = ?", [(digest,) for digest in gone])
    connection.execute(
        "DELETE FROM about WHERE name LIKE 'base %' AND value NOT IN (SELECT lower(hex(digest)) FROM bodies)"
    )
    journal.note_depths(connection)
    return bool(gone)


def _pack_alone(connection: sqlite3.Connection, digest: bytes) -> None:
    from pit_fetch.archive.store import bodies

    packed = bodies.pack(journal.read_body(connection, digest))
    connection.execute(
        "UPDATE bodies SET coding = ?, base = NULL, depth = 0, packed = ? WHERE digest = ?",
        (packed.coding, packed.data, digest),
    )
