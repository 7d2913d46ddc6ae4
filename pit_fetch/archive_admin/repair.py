"""Salvage an archive into a new file: every row that SQLite can still read, the rest from another one, and a new index.

A damaged page hides its rows, and often ends a scan of its table, but not a look-up of the other rows. So each entry is
looked up by its number in its chain, and each body by its number. The damaged file is only read.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from pit_fetch.archive.archived import Archived, OnProgress, silently
from pit_fetch.archive.interpreted import Find
from pit_fetch.archive.store import about, bodies, journal, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Unreadable
from pit_fetch.archive.store.journal import COLUMNS, DROPPED, LOST, NAMED, UNKNOWN_LINK, Entry, Key
from pit_fetch.archive_admin import maintenance
from pit_fetch.archive_admin.verification import body_problem
from pit_fetch.engine.registry import load

_LOST_ROWS = {
    "fetches": "what was asked, and so everything that it brought",
    "exchanges": "a reply",
    "answers": "how a fetch ended, and what it printed",
    "drops": "that something was deleted",
}
# A page of 4,096 bytes holds no more bodies than that.
_BODIES_A_PAGE = 64


class Repaired(NamedTuple):
    """How many fetches and bodies the new archive holds, and a line for each thing that is ``lost``."""

    fetches: int
    bodies: int
    lost: tuple[str, ...]


def repair(
    path: str,
    into: str,
    other: str = "",
    find: Find = load,
    on_progress: OnProgress = silently,
    now: int = microseconds.ALWAYS,
) -> Repaired:
    """Make a new archive at ``into`` of what can be read of the one at ``path``, and of the ``other`` one.

    It is there whole or not at all. Raise ArchiveError, or OSError if it cannot be written. ``now`` is an instant in
    microseconds, after which the other one has no entry.
    """
    with maintenance.making(into) as unfinished:
        with closing(schema.open_to_write(unfinished)) as target:
            is_readable = _salvage(path, target, other)
            if other:
                _merge(other, f"{unfinished}.other", target, find, now)
            with schema.transaction(target):
                fetches = Archived(target, find).rebuild(on_progress)
                repaired = Repaired(fetches, journal.count(target, "bodies"), tuple(_losses(target)))
        if not (is_readable or other):
            repaired = repaired._replace(lost=("everything: SQLite cannot read which tables the file has",))
    return repaired


def _merge(other: str, aside: str, target: sqlite3.Connection, find: Find, now: int) -> None:
    """Take over what the other archive holds; of a damaged one, what can be read of it."""
    with contextlib.suppress(Damaged), closing(schema.open_to_read(other)) as source:
        maintenance.merge(target, source, find, now=now)
        return
    with closing(schema.open_to_write(aside)) as salvaged:
        _salvage(other, salvaged)
        maintenance.merge(target, salvaged, find, now=now)


def _losses(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield a line for each entry that is lost, and for each fetch that lacks something that is."""
    for origin, seq, kind in connection.execute(
        "SELECT e.origin, e.seq, a.value FROM entries e "
        "LEFT JOIN about a ON a.name = 'lost ' || e.origin || '-' || e.seq WHERE e.kind = ? ORDER BY 1, 2",
        (LOST,),
    ):
        yield f"{_LOST_ROWS.get(kind, 'an entry')} ({Key(origin, seq)})"
    for key in journal.keys(connection, "SELECT origin, seq FROM fetches ORDER BY began"):
        for has_lost, what in (
            (journal.has_lost, "is no longer complete"),
            (journal.has_lost_answer, "lacks the answer that it printed"),
        ):
            if has_lost(connection, key):
                query = "SELECT began, request FROM fetches WHERE origin = ? AND seq = ?"
                began, request = connection.execute(query, key).fetchone()
                yield f"fetch {key} of {microseconds.from_micros(began):%Y-%m-%d %H:%M:%SZ} {what}: {request}"


def _salvage(path: str, target: sqlite3.Connection, other: str = "") -> bool:
    """Copy what can be read of the archive at ``path``, and note what cannot. Return whether anything can.

    A reply that was damaged is taken from the other archive first: more may be packed with it. Raise ArchiveError.
    """
    with _opened(path) as connection, schema.transaction(target):
        source = _Source(connection)
        if not source.is_readable:
            return False
        for row in source.bodies():
            with contextlib.suppress(*BROKEN):  # a row whose values its table does not take
                target.execute("INSERT OR IGNORE INTO bodies VALUES (?, ?, ?, ?, ?, ?)", row)
        for name, value in source.notes.items():
            if not name.startswith(("end ", "gaps ", "origin", "place")):
                about.put(target, name, value)
        for origin in source.origins():
            _salvage_chain(source, target, origin)
        for kind, key in journal.orphans(target):  # a drop could not find them by their source, which is unknown
            target.execute(f"DELETE FROM {kind} WHERE origin = ? AND seq = ?", key)
            _give_up(target, key, UNKNOWN_LINK, kind, keeps_link=True)
        if other:
            _replace_bodies(target, other)
        for digest in _unreadable(target):
            target.execute("DELETE FROM bodies WHERE digest = ?", (digest,))
            journal.give_up_body(target, digest)
        journal.note_depths(target)
        journal.note_chains(target)
    return True


def _replace_bodies(target: sqlite3.Connection, other: str) -> None:
    """Take the bodies that cannot be read from the other archive, those first with which more are packed."""
    missing, tried = {*_unreadable(target)}, set[bytes]()
    with _opened(other) as copy:
        rows = {row[0]: row for row in _Source(copy).bodies() if row[0] in missing}
    while missing:
        bases = dict(target.execute("SELECT digest, base FROM bodies").fetchall())
        first = {digest for digest in missing if bases.get(digest) not in missing} or missing
        for digest in first & rows.keys():
            with contextlib.suppress(*BROKEN):
                target.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?, ?, ?)", rows[digest])
        tried |= first
        missing = {*_unreadable(target)} - tried


def _salvage_chain(source: _Source, target: sqlite3.Connection, origin: str) -> None:
    """Copy the entries of a chain with their rows. One that has changed, or is gone, keeps its place."""
    before: bytes | None = journal.GENESIS
    for seq in range(1, source.end(origin) + 1):
        key = Key(origin, seq)
        entry = source.entry(key)
        found = source.row(key, entry)
        link = UNKNOWN_LINK if entry is None else entry.link
        if entry is not None and entry.kind in (DROPPED, LOST):
            target.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (*key, *entry))
        elif found is None or (known := _true_link(source, key, entry, found, before)) is None:
            _give_up(target, key, link, entry.kind if entry else found[0] if found else "")
        else:
            kind, row = found
            link = known
            if before is None or link == UNKNOWN_LINK:
                journal.note_apart(target, key, kind, row)
            journal.insert(target, kind, (*key, *row))
            target.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (*key, kind, link))
        before = None if link == UNKNOWN_LINK else link


def _true_link(
    source: _Source, key: Key, entry: Entry | None, found: tuple[str, tuple[Any, ...]], before: bytes | None
) -> bytes | None:
    """Return the link of an entry whose row is right, or may be; None if its row has changed.

    Where the link before it is not known, nothing shows that a row that can be read has changed.
    """
    if before is None:
        return UNKNOWN_LINK if entry is None else entry.link
    link = journal.entry_hash(before, *key, *found)
    if entry is not None and entry.link == link:
        return link
    following = key._replace(seq=key.seq + 1)
    after = source.entry(following)
    next_row = source.row(following, after)
    is_known = after is not None and next_row is not None
    is_followed = is_known and journal.entry_hash(link, *following, *(next_row or ("", ()))) == (after and after.link)
    if is_followed or source.notes.get(f"end {key.origin}") == f"{key.seq} {link.hex()}":
        return link  # only the entry has changed
    return link if entry is None and not is_known else None


def _give_up(target: sqlite3.Connection, key: Key, link: bytes, kind: str, *, keeps_link: bool = False) -> None:
    """Keep the place of an entry that is lost, and note of which kind it was."""
    keep = "link" if keeps_link else "excluded.link"
    target.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?) "
        f"ON CONFLICT (origin, seq) DO UPDATE SET kind = excluded.kind, link = {keep}",
        (*key, LOST, link),
    )
    about.put(target, f"lost {key}", kind)


def _unreadable(connection: sqlite3.Connection) -> list[bytes]:
    """Return the digests of the bodies that cannot be read. What is noted of the others is corrected."""
    depths, unreadable = journal.depths(connection), []
    for digest, depth in depths.items():
        if body_problem(connection, digest, depth):
            try:
                size = len(journal.read_body(connection, digest))
            except Unreadable:
                raise
            except (ArchiveError, *BROKEN):
                unreadable.append(digest)
            else:
                query = "UPDATE bodies SET size = ?, base = iif(coding = ?, base, NULL) WHERE digest = ?"
                connection.execute(query, (size, bodies.ZSTD, digest))
    return unreadable + [digest for (digest,) in connection.execute(NAMED) if digest not in depths]


@contextlib.contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection that reads a file, however damaged. Raise ArchiveError if SQLite reads nothing of it."""
    if not os.path.exists(path):
        raise ArchiveError("there is no such file")
    if not os.path.getsize(path):
        raise ArchiveError("it is empty")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # A damaged text is no reason to read no further: its row has another hash.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA writable_schema = ON")  # or SQLite reads nothing of a file that was cut
        with contextlib.suppress(sqlite3.DatabaseError):
            connection.execute("BEGIN")
        yield connection


class _Source:
    """The rows of a damaged archive, one by one. What cannot be read is as if it were not there."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        tables = ("entries", *COLUMNS, "bodies")
        self.is_readable = any(self._row(f"PRAGMA table_info({table})") for table in tables)
        rows = [row for way in ("ASC", "DESC") for row in self._rows(f"SELECT * FROM about ORDER BY name {way}")]
        self.notes = {row[0]: row[1] for row in rows if _is_text(row[1]) and about.is_sound(*row)}

    def origins(self) -> list[str]:
        """Return the chains: as noted, and as the rows of any table have them."""
        noted = {name.removeprefix("end ") for name in self.notes if name.startswith("end ")}
        found = {
            origin
            for table in ("entries", *COLUMNS)
            for way in ("ASC", "DESC")
            for (origin,) in self._rows(f"SELECT DISTINCT origin FROM {table} ORDER BY origin {way}")
            if _is_text(origin)
        }
        # What is not noted may be one entry whose origin has changed.
        return sorted(noted | {origin for origin in found - noted if not noted or self._is_proven(origin)})

    def _is_proven(self, origin: str) -> bool:
        """Return whether any entry of a chain follows from the one before it."""
        before: bytes | None = journal.GENESIS
        for seq in range(1, self.end(origin) + 1):
            key = Key(origin, seq)
            entry = self.entry(key)
            found = None if entry is None else self.row(key, entry)
            if entry and found and before and journal.entry_hash(before, *key, *found) == entry.link:
                return True
            before = None if entry is None else entry.link
        return False

    def end(self, origin: str) -> int:
        """Return the number of the last entry of a chain, as noted or, without a note, as the rows have it."""
        noted = self.notes.get(f"end {origin}")
        if noted is not None:
            return int(noted.split()[0])
        last = (self._row(f"SELECT max(seq) FROM {t} WHERE origin = ?", origin) for t in ("entries", *COLUMNS))
        return max((row[0] for row in last if row is not None and isinstance(row[0], int)), default=0)

    def entry(self, key: Key) -> Entry | None:
        row = self._row("SELECT kind, link FROM entries WHERE origin = ? AND seq = ?", *key)
        is_sound = row is not None and _is_text(row[0]) and isinstance(row[1], bytes) and len(row[1]) == 32
        return Entry(*row) if row is not None and is_sound else None

    def row(self, key: Key, entry: Entry | None) -> tuple[str, tuple[Any, ...]] | None:
        """Return the row of an entry, and its kind."""
        for kind in (entry.kind,) if entry is not None and entry.kind in COLUMNS else COLUMNS:
            found = self._row(f"SELECT {', '.join(COLUMNS[kind])} FROM {kind} WHERE origin = ? AND seq = ?", *key)
            if found is not None and all(_is_text(value) for value in found if isinstance(value, str)):
                return kind, found
        return None

    def bodies(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of bodies, by their numbers."""
        last = self._row("SELECT max(rowid) FROM bodies")
        if last is None:
            (pages,) = self._row("PRAGMA page_count") or (0,)
            last = (pages * _BODIES_A_PAGE,)
        query = "SELECT digest, size, coding, base, depth, packed FROM bodies WHERE rowid = ?"
        for number in range(1, (last[0] or 0) + 1):
            row = self._row(query, number)
            if row is not None and isinstance(row[0], bytes):
                yield row

    def _row(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        with contextlib.suppress(*BROKEN):
            row: tuple[Any, ...] | None = self.connection.execute(query, values).fetchone()
            return row
        return None

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query until one cannot be read."""
        with contextlib.suppress(*BROKEN):
            yield from self.connection.execute(query)


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False
