"""Maintain an archive: verify it, merge another one into it, rebuild its index, delete a source's fetches."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.store import journal, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Unreadable, archive_error
from pit_fetch.archive.store.journal import COLUMNS, NAMED, Key
from pit_fetch.archive_admin.dependents import OnProgress, dependents
from pit_fetch.engine.registry import load

# The kind of an entry whose row was deleted on request. Its place in the chain remains.
DROPPED = "dropped"


def _silently(done: int, whole: int) -> None:
    pass


class Report(NamedTuple):
    """The result of :func:`verify`: the number of entries and bodies, and a line for each damage."""

    entries: int
    bodies: int
    damage: tuple[str, ...]


def verify(connection: sqlite3.Connection, on_progress: OnProgress = _silently) -> Report:
    """Recompute every hash: of each body, and of each entry with all before it. Unreadable files are damage, too."""
    entries = bodies = 0
    damage: list[str] = []
    try:
        with schema.snapshot(connection):
            entries, bodies = _count(connection, "entries"), _count(connection, "bodies")
            whole = entries + bodies
            damage.extend(_damaged_entries(connection, lambda done: on_progress(done, whole)))
            damage.extend(_damaged_bodies(connection, lambda done: on_progress(entries + done, whole)))
    except BROKEN as error:
        problem = archive_error(error)
        if not isinstance(problem, Damaged):
            raise problem from error
        damage.append("the file: it cannot be read to its end")
    return Report(entries, bodies, tuple(damage))


def rebuild(connection: sqlite3.Connection, find: rederive.Find = load, on_progress: OnProgress = _silently) -> int:
    """Derive the index again with the providers' current code. Return the number of fetches."""
    with schema.transaction(connection):
        return _rebuild(connection, find, on_progress)


def merge(
    connection: sqlite3.Connection,
    other: sqlite3.Connection,
    find: rederive.Find = load,
    on_progress: OnProgress = _silently,
) -> int:
    """Copy the entries that only ``other`` holds. Return the number of entries that are new or newly deleted.

    Archives can be merged in any order and repeatedly, since an entry is the same everywhere. What either of them
    dropped stays dropped. Raise ArchiveError if the other one is damaged, or continues a chain differently.
    """
    with schema.snapshot(other):
        damage = verify(other).damage
        if damage:
            raise ArchiveError(f"the other one is damaged: {damage[0]}")
        count, is_less = 0, False
        connection.execute("PRAGMA secure_delete = ON")
        with schema.transaction(connection):
            repeating = _repeating(connection, other, find)
            textless = {*repeating, *journal.withdrawn(other)}
            for origin, seq, kind, digest in other.execute("SELECT * FROM entries ORDER BY origin, seq").fetchall():
                mine = connection.execute(
                    "SELECT kind, link FROM entries WHERE origin = ? AND seq = ?", (origin, seq)
                ).fetchone()
                if mine is not None and mine[1] != digest:
                    raise ArchiveError("the two continue one chain differently: one of them was changed")
                if mine is None:
                    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (origin, seq, kind, digest))
                    count += 1
                    if kind != DROPPED:
                        journal.copy_row(other, connection, kind, Key(origin, seq), textless)
                elif kind == DROPPED and mine[0] != DROPPED:
                    _delete(connection, mine[0], Key(origin, seq))
                    count, is_less = count + 1, True
            is_less = _delete_orphans(connection) or is_less
            unrecorded = (repeating & _fetches(connection)) - set(journal.withdrawn(connection))
            if unrecorded:
                journal.Writer(connection).withdraw(unrecorded)
            is_less = _delete_unused_bodies(connection) or is_less
            if count:  # in the same transaction: answers would rely on an index that lacks what was merged
                _rebuild(connection, find, on_progress)
    if is_less:
        _scrub(connection)
    return count


def _repeating(connection: sqlite3.Connection, other: sqlite3.Connection, find: rederive.Find) -> set[Key]:
    """Return the answers of either archive that repeat what the other one deleted without knowing of them."""
    mine, theirs = _fetches(connection), _fetches(other)
    # The answers that both hold were judged where the deletion was made.
    unknown = {key for key in dependents(other, theirs & _dropped(connection), find) if key not in mine}
    return dependents(connection, mine & _dropped(other), find) | unknown


def _fetches(connection: sqlite3.Connection) -> set[Key]:
    return {Key(*row) for row in connection.execute("SELECT origin, seq FROM fetches")}


def _dropped(connection: sqlite3.Connection) -> set[Key]:
    return {Key(*row) for row in connection.execute("SELECT origin, seq FROM entries WHERE kind = ?", (DROPPED,))}


def _fetches_before(connection: sqlite3.Connection, source: str, before: int) -> list[Key]:
    rows = connection.execute("SELECT origin, seq FROM fetches WHERE source = ? AND began < ?", (source, before))
    return [Key(*row) for row in rows]


class Dropped(NamedTuple):
    """The number of deleted fetches, and of later answers deleted because they repeat these."""

    fetches: int
    answers: int


def to_drop(
    connection: sqlite3.Connection,
    source: str,
    before: int,
    find: rederive.Find = load,
    on_progress: OnProgress = _silently,
) -> Dropped:
    """Return how much :func:`drop` would delete."""
    rows = _fetches_before(connection, source, before)
    return Dropped(len(rows), len(dependents(connection, rows, find, on_progress)))


def drop(
    connection: sqlite3.Connection,
    source: str,
    before: int,
    time: int,
    find: rederive.Find = load,
    on_progress: OnProgress = _silently,
) -> Dropped:
    """Delete the fetches of ``source`` that began before an instant, and later answers that repeat them, for good.

    ``time`` is the instant of the deletion, which is recorded. The place of each row in its chain remains. Raise
    ArchiveError if a process that reads the archive keeps the deleted bytes in the write-ahead log.
    """
    connection.execute("PRAGMA secure_delete = ON")
    with schema.transaction(connection):
        rows = _fetches_before(connection, source, before)
        answers = dependents(connection, rows, find, on_progress)
        for key in rows:
            _delete(connection, "fetches", key)
        if rows:
            _delete_orphans(connection)
            what = {"source": source, "before": before, "fetches": len(rows)}
            journal.Writer(connection).drop(time, what, answers)
            _delete_unused_bodies(connection)
            _rebuild(connection, find, on_progress)
    _scrub(connection)  # even without rows: the last attempt may have been killed before it
    return Dropped(len(rows), len(answers))


def _rebuild(connection: sqlite3.Connection, find: rederive.Find, on_progress: OnProgress) -> int:
    count = _count(connection, "fetches")
    rederive.Archived(connection, find).rebuild(lambda done: on_progress(done, count))
    return count


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our names
    return int(count)


def _scrub(connection: sqlite3.Connection) -> None:
    """Remove every deleted byte from the file and from its write-ahead log, which still has the pages."""
    try:
        connection.execute("VACUUM")
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise archive_error(error) from error
    if is_busy:
        raise ArchiveError(
            "it is deleted, but its bytes are not yet gone: another process reads the archive; "
            "run the same command again when none does"
        )


def _damaged_entries(connection: sqlite3.Connection, on_progress: Callable[[int], None]) -> Iterator[str]:
    before, place = journal.GENESIS, Key("", 0)
    entries = connection.execute("SELECT * FROM entries ORDER BY origin, seq")
    for done, (origin, seq, kind, digest) in enumerate(entries):
        on_progress(done)
        key = Key(origin, seq)
        if origin != place.origin:
            before, place = journal.GENESIS, Key(origin, 0)
        if seq != place.seq + 1:
            yield f"chain {origin}: entry {place.seq + 1} is missing"
        if kind != DROPPED:
            row = journal.row_of(connection, kind, key) if kind in COLUMNS else None
            if row is None:
                yield f"{kind} {key}: the row is missing"
            elif journal.entry_hash(before, origin, seq, kind, row) != digest:
                yield f"{kind} {key}: the row or the chain before it has changed"
        before, place = digest, key
    for kind in COLUMNS:
        query = (
            f"SELECT t.origin, t.seq FROM {kind} t LEFT JOIN entries e "  # noqa: S608 - our names
            "ON e.origin = t.origin AND e.seq = t.seq AND e.kind = ? WHERE e.seq IS NULL"
        )
        for origin, seq in connection.execute(query, (kind,)):
            yield f"{kind} {Key(origin, seq)}: it is not in the chain"


def _damaged_bodies(connection: sqlite3.Connection, on_progress: Callable[[int], None]) -> Iterator[str]:
    digests = {digest for (digest,) in connection.execute("SELECT digest FROM bodies")}
    for done, digest in enumerate(digests):
        on_progress(done)
        try:
            journal.read_body(connection, digest)
        except Unreadable:
            raise
        except ArchiveError as error:
            yield f"body {digest.hex()[:16]}: {error.problem}"
    for (digest,) in connection.execute(NAMED):
        if digest not in digests:
            yield f"body {digest.hex()[:16]}: it is missing"


def _delete(connection: sqlite3.Connection, kind: str, key: Key) -> None:
    connection.execute(f"DELETE FROM {kind} WHERE origin = ? AND seq = ?", key)  # noqa: S608 - our names
    connection.execute("UPDATE entries SET kind = ? WHERE origin = ? AND seq = ?", (DROPPED, *key))


def _delete_orphans(connection: sqlite3.Connection) -> bool:
    """Delete what a deleted fetch has appended in another copy of the archive. Return whether there was any."""
    orphans = [
        (kind, Key(*row))
        for kind in ("exchanges", "answers")
        for row in connection.execute(
            f"SELECT origin, seq FROM {kind} WHERE (origin, fetch) NOT IN "  # noqa: S608 - our names
            "(SELECT origin, seq FROM fetches)"
        )
    ]
    for kind, key in orphans:
        _delete(connection, kind, key)
    return bool(orphans)


def _delete_unused_bodies(connection: sqlite3.Connection) -> bool:
    """Delete the bodies that no row names. Return whether there was any."""
    unnamed = f"SELECT digest FROM bodies WHERE digest NOT IN ({NAMED})"  # noqa: S608 - our names
    gone = {digest for (digest,) in connection.execute(unnamed)}
    for digest in gone:
        for (user,) in connection.execute("SELECT digest FROM bodies WHERE base = ?", (digest,)).fetchall():
            if user not in gone:
                _pack_alone(connection, user)  # its dictionary goes
    connection.executemany("DELETE FROM bodies WHERE digest = ?", [(digest,) for digest in gone])
    return bool(gone)


def _pack_alone(connection: sqlite3.Connection, digest: bytes) -> None:
    from pit_fetch.archive.store import bodies

    packed = bodies.pack(journal.read_body(connection, digest))
    connection.execute(
        "UPDATE bodies SET coding = ?, base = NULL, depth = 0, packed = ? WHERE digest = ?",
        (packed.coding, packed.data, digest),
    )
