"""What keeps an archive: verify it, merge another one into it, make its index again, delete what has to go."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.store import journal, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Unreadable, of_broken, of_sqlite
from pit_fetch.archive.store.journal import BODIES, COLUMNS, NAMED, Key
from pit_fetch.archive_admin.dependents import repeated
from pit_fetch.provider import Provider

# A row that was deleted on request: its place in the chain stays.
DROPPED = "dropped"

# Is told how much is done, and of how much.
Told = Callable[[int, int], None]


def _untold(done: int, whole: int) -> None:
    pass


class Report(NamedTuple):
    """What ``verify`` found: how much there is, and what is damaged, line by line."""

    entries: int
    bodies: int
    damage: tuple[str, ...]


def verify(connection: sqlite3.Connection, told: Told = _untold) -> Report:
    """Computes every hash again: of each body, and of each entry with all before it.

    Damage may be such that the rest cannot be read: that is the last line then.
    """
    entries = kept = 0
    damage: list[str] = []
    try:
        with schema.snapshot(connection):
            entries, kept = _count(connection, "entries"), _count(connection, "bodies")
            whole = entries + kept
            damage.extend(_chains(connection, lambda done: told(done, whole)))
            damage.extend(_bodies(connection, lambda done: told(entries + done, whole)))
    except BROKEN as error:
        found = of_broken(error)
        if not isinstance(found, Damaged):
            raise found from error
        damage.append("the file: it cannot be read to its end")
    return Report(entries, kept, tuple(damage))


def rebuild(connection: sqlite3.Connection, find: rederive.Find | None = None, told: Told = _untold) -> int:
    """Makes the index again with today's code of the providers. Returns how many fetches there are."""
    with schema.transaction(connection):
        return _index_again(connection, find, told)


def merge(
    connection: sqlite3.Connection, other: sqlite3.Connection, find: rederive.Find | None = None, told: Told = _untold
) -> int:
    """Takes over what ``other`` holds and this one does not. Returns how many entries that were.

    In any order and as often as you like: an entry is the same everywhere. What one of the two dropped
    stays dropped. Raises ArchiveError if the other one is damaged, or continues a chain differently.
    """
    with schema.snapshot(other):
        return _merge(connection, other, find, told)


def _merge(connection: sqlite3.Connection, other: sqlite3.Connection, find: rederive.Find | None, told: Told) -> int:
    damage = verify(other).damage
    if damage:
        raise ArchiveError(f"the other one is damaged: {damage[0]}")
    taken, is_less = 0, False
    connection.execute("PRAGMA secure_delete = ON")
    with schema.transaction(connection):
        repeating = _repeating(connection, other, find or _load)
        textless = {*repeating, *journal.withdrawn(other)}
        for origin, seq, kind, link in other.execute("SELECT * FROM entries ORDER BY origin, seq").fetchall():
            mine = connection.execute("SELECT kind, link FROM entries WHERE origin = ? AND seq = ?", (origin, seq))
            held = mine.fetchone()
            if held is not None and held[1] != link:
                raise ArchiveError("the two continue one chain differently: one of them was changed")
            if held is None:
                connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (origin, seq, kind, link))
                taken += 1
                if kind != DROPPED:
                    _copy(other, connection, kind, Key(origin, seq), textless)
            elif kind == DROPPED and held[0] != DROPPED:
                _forget(connection, held[0], Key(origin, seq))
                taken, is_less = taken + 1, True
        is_less = _forget_parts(connection) or is_less
        _withdraw(connection, repeating)
        is_less = _sweep(connection) or is_less
        if taken:  # in the same transaction: an index without what was merged would be believed
            _index_again(connection, find, told)
    if is_less:
        _scrub(connection)
    return taken


def _repeating(connection: sqlite3.Connection, other: sqlite3.Connection, find: rederive.Find) -> set[Key]:
    """The answers of one archive that repeat what the other one deleted: it did not know of them."""
    mine, theirs = _fetches(connection), _fetches(other)
    found = repeated(connection, mine & _dropped(other), find)
    known = _dropped(connection)
    # What both hold was judged where it was deleted.
    return found | {key for key in repeated(other, theirs & known, find) if key not in mine}


def _withdraw(connection: sqlite3.Connection, repeating: set[Key]) -> None:
    """Puts it on record that these answers are deleted, unless it is."""
    news = (repeating & _fetches(connection)) - set(journal.withdrawn(connection))
    if news:
        (_, _, path) = connection.execute("PRAGMA database_list").fetchone()
        journal.Writer(connection, path).withdraw(news)


def _fetches(connection: sqlite3.Connection) -> set[Key]:
    return {Key(*row) for row in connection.execute("SELECT origin, seq FROM fetches")}


def _dropped(connection: sqlite3.Connection) -> set[Key]:
    return {Key(*row) for row in connection.execute("SELECT origin, seq FROM entries WHERE kind = ?", (DROPPED,))}


def fetches_before(connection: sqlite3.Connection, source: str, before: int) -> list[Key]:
    """The fetches of ``source`` that began before an instant: what :func:`drop` would delete."""
    rows = connection.execute("SELECT origin, seq FROM fetches WHERE source = ? AND began < ?", (source, before))
    return [Key(*row) for row in rows]


class Dropped(NamedTuple):
    """How many fetches were deleted, and how many later answers because they repeated these."""

    fetches: int
    answers: int


def to_drop(
    connection: sqlite3.Connection, source: str, before: int, find: rederive.Find | None = None, told: Told = _untold
) -> Dropped:
    """What :func:`drop` would delete."""
    rows = fetches_before(connection, source, before)
    return Dropped(len(rows), len(repeated(connection, rows, find or _load, told)))


def drop(
    connection: sqlite3.Connection,
    path: str,
    source: str,
    before: int,
    time: int,
    find: rederive.Find | None = None,
    told: Told = _untold,
) -> Dropped:
    """Deletes the fetches of ``source`` that began before an instant, and later answers that repeat them, for good.

    That it happened stays on record, and so does the place of each row in its chain. Raises ArchiveError if a
    process that reads the archive keeps the deleted bytes in its write-ahead log.
    """
    connection.execute("PRAGMA secure_delete = ON")
    with schema.transaction(connection):
        rows = fetches_before(connection, source, before)
        answers = repeated(connection, rows, find or _load, told)
        for key in rows:
            _forget(connection, "fetches", key)
        if rows:
            _forget_parts(connection)
            what = {"source": source, "before": before, "fetches": len(rows)}
            journal.Writer(connection, path).drop(time, what, answers)
            _sweep(connection)
            _index_again(connection, find, told)
    _scrub(connection)  # even if there is nothing to delete: the last attempt may have been killed before it
    return Dropped(len(rows), len(answers))


def _load(name: str) -> Provider:
    from pit_fetch.engine.registry import load

    return load(name)


def _index_again(connection: sqlite3.Connection, find: rederive.Find | None, told: Told) -> int:
    count = _count(connection, "fetches")
    rederive.Archived(connection, find or _load, {}).rebuild(lambda done: told(done, count))
    return count


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our names
    return int(count)


def _scrub(connection: sqlite3.Connection) -> None:
    """Leaves no byte of what was deleted, in the file or beside it: the pages that held it are still in the log."""
    try:
        connection.execute("VACUUM")
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise of_sqlite(error) from error
    if is_busy:
        raise ArchiveError(
            "it is deleted, but its bytes are not yet gone: another process reads the archive; "
            "run the same command again when none does"
        )


def _chains(connection: sqlite3.Connection, told: Callable[[int], None]) -> Iterator[str]:
    before, place = journal.GENESIS, Key("", 0)
    entries = connection.execute("SELECT * FROM entries ORDER BY origin, seq")
    for done, (origin, seq, kind, link) in enumerate(entries):
        told(done)
        key = Key(origin, seq)
        if origin != place.origin:
            before, place = journal.GENESIS, Key(origin, 0)
        if seq != place.seq + 1:
            yield f"chain {origin}: entry {place.seq + 1} is missing"
        if kind != DROPPED:
            row = _row(connection, kind, key) if kind in COLUMNS else None
            if row is None:
                yield f"{kind} {key}: the row is missing"
            elif journal.link(before, origin, seq, kind, row) != link:
                yield f"{kind} {key}: the row or the chain before it has changed"
        before, place = link, key
    for kind in COLUMNS:
        query = (
            f"SELECT t.origin, t.seq FROM {kind} t LEFT JOIN entries e "  # noqa: S608 - our names
            "ON e.origin = t.origin AND e.seq = t.seq AND e.kind = ? WHERE e.seq IS NULL"
        )
        for origin, seq in connection.execute(query, (kind,)):
            yield f"{kind} {Key(origin, seq)}: it is not in the chain"


def _bodies(connection: sqlite3.Connection, told: Callable[[int], None]) -> Iterator[str]:
    digests = {digest for (digest,) in connection.execute("SELECT digest FROM bodies")}
    for done, digest in enumerate(digests):
        told(done)
        try:
            journal.read_body(connection, digest)
        except Unreadable:
            raise
        except ArchiveError as error:
            yield f"body {digest.hex()[:16]}: {error.problem}"
    for (digest,) in connection.execute(NAMED):
        if digest not in digests:
            yield f"body {digest.hex()[:16]}: it is missing"


def _row(connection: sqlite3.Connection, kind: str, key: Key) -> tuple[Any, ...] | None:
    query = f"SELECT {', '.join(COLUMNS[kind])} FROM {kind} WHERE origin = ? AND seq = ?"  # noqa: S608 - our names
    found: tuple[Any, ...] | None = connection.execute(query, key).fetchone()
    return found


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, kind: str, key: Key, textless: Collection[Key]
) -> None:
    """Copies an entry with its bodies; not with what one of the fetches printed whose answers are ``textless``."""
    row = _row(source, kind, key)
    if row is None:
        raise ArchiveError("the other one is damaged: a row is missing")
    marks = ", ".join("?" * (len(row) + 2))
    target.execute(f"INSERT INTO {kind} VALUES ({marks})", (*key, *row))  # noqa: S608 - our names
    named: Mapping[str, Any] = dict(zip(COLUMNS[kind], row, strict=True))
    if kind == "answers" and Key(key.origin, named["fetch"]) in textless:
        return
    for column in BODIES.get(kind, ()):
        if named[column] is not None:
            asked = named.get("asked") if column == "body" else None
            journal.Writer(target, "").body(journal.read_body(source, named[column]), asked)


def _forget(connection: sqlite3.Connection, kind: str, key: Key) -> None:
    connection.execute(f"DELETE FROM {kind} WHERE origin = ? AND seq = ?", key)  # noqa: S608 - our names
    connection.execute("UPDATE entries SET kind = ? WHERE origin = ? AND seq = ?", (DROPPED, *key))


def _forget_parts(connection: sqlite3.Connection) -> bool:
    """Forgets what belongs to fetches that are forgotten. Whether there was any: a fetch may go on in another copy."""
    found = [
        (kind, Key(*row))
        for kind in ("exchanges", "answers")
        for row in connection.execute(
            f"SELECT origin, seq FROM {kind} WHERE (origin, fetch) NOT IN "  # noqa: S608 - our names
            "(SELECT origin, seq FROM fetches)"
        )
    ]
    for kind, key in found:
        _forget(connection, kind, key)
    return bool(found)


def _sweep(connection: sqlite3.Connection) -> bool:
    """Deletes the bodies that nothing names. One that still serves as a dictionary is taken out of that use first.

    Whether there were any.
    """
    unnamed = f"SELECT digest FROM bodies WHERE digest NOT IN ({NAMED})"  # noqa: S608 - our names
    gone = {digest for (digest,) in connection.execute(unnamed)}
    for digest in gone:
        for (user,) in connection.execute("SELECT digest FROM bodies WHERE base = ?", (digest,)).fetchall():
            if user not in gone:
                _pack_alone(connection, user)
    connection.executemany("DELETE FROM bodies WHERE digest = ?", [(digest,) for digest in gone])
    return bool(gone)


def _pack_alone(connection: sqlite3.Connection, digest: bytes) -> None:
    from pit_fetch.archive.store import bodies

    packed = bodies.pack(journal.read_body(connection, digest))
    connection.execute(
        "UPDATE bodies SET coding = ?, base = NULL, depth = 0, packed = ? WHERE digest = ?",
        (packed.coding, packed.data, digest),
    )
