"""Repair an archive: take what is damaged from another one that holds it, or give it up and say what rested on it.

What is given up leaves its place: an entry of the kind "lost", a body of the coding "lost". A fetch that lacks a reply
is no longer complete, so it shows nothing as absent. Unlike what was dropped on request, what is lost comes back from
any archive that is merged and still holds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import Find
from pit_fetch.archive.store import about, bodies, journal, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Unreadable
from pit_fetch.archive.store.journal import COLUMNS, DROPPED, LOST, NAMED, Entry, Key, Writer, entry_of
from pit_fetch.archive_admin.progress import OnProgress, count, silently
from pit_fetch.archive_admin.verification import body_problem
from pit_fetch.engine.registry import load

_LOST_ROWS = {
    "fetches": "what was asked, and so everything that it brought",
    "exchanges": "a reply",
    "answers": "how a fetch ended, and what it printed",
    "drops": "that something was deleted",
}


class Repaired(NamedTuple):
    """What was done, a line for each: what was ``mended``, and what was ``lost`` and is given up."""

    mended: tuple[str, ...]
    lost: tuple[str, ...]


def repair(
    connection: sqlite3.Connection,
    other: sqlite3.Connection | None = None,
    find: Find = load,
    on_progress: OnProgress = silently,
) -> Repaired:
    """Repair the archive, with what ``other`` holds if it is given, and make its index again. Raise ArchiveError."""
    with schema.transaction(connection), nullcontext() if other is None else schema.snapshot(other):
        connection.execute("REINDEX")  # SQLite finds rows by its indexes, which may be damaged, too
        mending = _Mending(connection, other)
        mending.delete_undecodable()
        lost_before = set(_incomplete_fetches(connection))
        mending.mend_notes()
        mending.mend_entries()
        mending.mend_bodies()
        journal.note_depths(connection)
        journal.note_chains(connection)
        whole = count(connection, "fetches")
        Archived(connection, find).rebuild(lambda done: on_progress(done, whole))
        lost_now = (place for place in _incomplete_fetches(connection) if place not in lost_before)
        lost = tuple(_describe(connection, *place) for place in lost_now)
    return Repaired(tuple(mending.mended), (*mending.lost, *lost))


def fill_bodies(connection: sqlite3.Connection, other: sqlite3.Connection) -> Iterator[bytes]:
    """Take the bodies that were given up from another archive. Yield the digests of those that it holds."""
    for (digest,) in connection.execute("SELECT digest FROM bodies WHERE coding = ?", (LOST,)).fetchall():
        body = _body_in(other, digest)
        if body is not None:
            Writer(connection).body(body)
            yield digest


class _Mending:
    """One repair. ``mended`` and ``lost`` are lines for people."""

    def __init__(self, connection: sqlite3.Connection, other: sqlite3.Connection | None) -> None:
        self.connection, self.other = connection, other
        self.mended: list[str] = []
        self.lost: list[str] = []
        self.ends: dict[str, _End] = {}  # where each chain ends
        self.changed_holes: set[str] = set()  # the chains that have other entries without a row than is noted

    def delete_undecodable(self) -> None:
        """Delete the rows with a text that is not UTF-8: SQLite cannot say which text that is, and reads no further."""
        for table in ("about", "entries", *COLUMNS, "bodies"):
            info = self.connection.execute(f"PRAGMA table_info({table})").fetchall()
            texts = [name for _, name, kind, *_ in info if kind == "TEXT"]
            keys = [f"CAST({name} AS BLOB)" if kind == "TEXT" else name for _, name, kind, _, _, place in info if place]
            columns = ", ".join([*keys, *(f"CAST({name} AS BLOB)" for name in texts)])
            for row in self.connection.execute(f"SELECT {columns} FROM {table}").fetchall():
                if not all(map(_is_utf8, row[len(keys) :])):
                    which = " AND ".join(f"{key} = ?" for key in keys)
                    self.connection.execute(f"DELETE FROM {table} WHERE {which}", row[: len(keys)])

    # What the archive notes about itself.

    def mend_notes(self) -> None:
        """Delete the notes that have changed: the file then begins a chain of its own, and a capture a new run."""
        for name in about.changed(self.connection):
            self.connection.execute("DELETE FROM about WHERE name = ?", (name,))
            self.mended.append(f"about {name}: deleted, it is not needed")
            if name.startswith("end "):  # without gaps, a chain is as long as it has entries
                origin = name.removeprefix("end ")
                query = "SELECT count(*) FROM entries WHERE origin = ?"
                self.ends[origin] = _End(*self.connection.execute(query, (origin,)).fetchone())
        for name, value in about.sound(self.connection):
            if name.startswith("end "):
                seq, link = value.split()
                self.ends[name.removeprefix("end ")] = _End(int(seq), bytes.fromhex(link))

    # The chains.

    def mend_entries(self) -> None:
        """Mend every entry and its row, chain by chain."""
        noted = dict(about.sound(self.connection))
        gaps = journal.rowless_digests(self.connection)
        self.changed_holes = {origin for origin in self.ends if noted.get(f"gaps {origin}") != gaps.get(origin)}
        self.mended += (f"chain {origin}: what is noted of its gaps" for origin in sorted(self.changed_holes))
        for origin, _, _ in journal.ends(self.connection):
            # An entry outside its chain was moved there: its origin or number has changed.
            query = "DELETE FROM entries WHERE origin = ? AND seq NOT BETWEEN 1 AND ?"
            self.connection.execute(query, (origin, self.ends.get(origin, _End(0)).seq))
        for origin, end in self.ends.items():
            before = journal.GENESIS
            for seq in range(1, end.seq + 1):
                before = self._mend_entry(Key(origin, seq), before, end)
        for kind, key in journal.strays(self.connection):
            self._delete_row(kind, key)
            self.mended.append(f"{kind} {key}: deleted, it belongs to no chain")
        for kind, key in journal.orphans(
            self.connection
        ):  # they could not be dropped by their source, which is unknown
            self._delete_row(kind, key)
            self.connection.execute("UPDATE entries SET kind = ? WHERE origin = ? AND seq = ?", (LOST, *key))

    def _mend_entry(self, key: Key, before: bytes, end: _End) -> bytes:
        """Mend one entry and its row, behind the entry with the link ``before``. Return the entry's own link."""
        entry, row = entry_of(self.connection, key), self._row(key)
        if entry is not None and entry.kind == DROPPED:
            return self._mend_dropped(key, entry)
        if entry is not None and row is not None and entry == _expected_entry(before, key, entry.kind, row[1]):
            return entry.link
        copied = self._take_entry(key, before)
        if copied is not None:
            return copied
        made = None if row is None else _expected_entry(before, key, *row)
        if made is not None and self._is_followed(key, made.link, end):  # only the entry has changed
            self._put(key, made)
            self.mended.append(f"{made.kind} {key}: its place in the chain")
            return made.link
        link = entry.link if entry is not None else end.link if key.seq == end.seq else bytes(32)
        if entry is None or entry.kind != LOST:
            kind = row[0] if row is not None else "" if entry is None else entry.kind
            if row is not None:
                self._delete_row(kind, key)
            self._put(key, Entry(LOST, link))
            self.lost.append(f"{_LOST_ROWS.get(kind, 'an entry')} ({key})")
        return link

    def _mend_dropped(self, key: Key, entry: Entry) -> bytes:
        """Take the link of an entry without a row from the other archive, if one of those has changed."""
        theirs = entry_of(self.other, key) if self.other is not None and key.origin in self.changed_holes else None
        if theirs is None or theirs.link == entry.link or theirs.kind == LOST:
            return entry.link
        self._put(key, Entry(DROPPED, theirs.link))
        return theirs.link

    def _row(self, key: Key) -> tuple[str, tuple[Any, ...]] | None:
        """Return the row with this key, and its kind."""
        for kind in COLUMNS:
            row = journal.row_of(self.connection, kind, key)
            if row is not None:
                return kind, row
        return None

    def _take_entry(self, key: Key, before: bytes) -> bytes | None:
        """Take an entry and its row from the other archive, if they fit behind ``before``. Return the link."""
        entry = None if self.other is None else entry_of(self.other, key)
        if self.other is None or entry is None or entry.kind not in COLUMNS:
            return None
        row = journal.row_of(self.other, entry.kind, key)
        if row is None or _expected_entry(before, key, entry.kind, row) != entry:
            return None
        for kind in COLUMNS:
            self._delete_row(kind, key)
        journal.insert(self.connection, entry.kind, (*key, *row))  # its bodies are taken with all others
        self._put(key, entry)
        self.mended.append(f"{entry.kind} {key}: taken from the other archive")
        return entry.link

    def _is_followed(self, key: Key, link: bytes, end: _End) -> bool:
        """Return whether the next entry, or the noted end of the chain, shows that ``link`` belongs to ``key``."""
        following = key._replace(seq=key.seq + 1)
        entry, row = entry_of(self.connection, following), self._row(following)
        if entry is not None and row is not None:
            return _expected_entry(link, following, *row) == entry
        return end == (key.seq, link)

    def _put(self, key: Key, entry: Entry) -> None:
        self.connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (*key, *entry))

    def _delete_row(self, kind: str, key: Key) -> None:
        self.connection.execute(f"DELETE FROM {kind} WHERE origin = ? AND seq = ?", key)

    # The bodies.

    def mend_bodies(self) -> None:
        for digest in self._unreadable():
            body = _body_in(self.other, digest)
            if body is not None:
                self.connection.execute("DELETE FROM bodies WHERE digest = ?", (digest,))
                Writer(self.connection).body(body)  # it is packed anew: its dictionary may be missing here
                self.mended.append(f"body {digest.hex()[:16]}: taken from the other archive")
        for digest in self._unreadable():  # without those that only lacked their dictionary
            self.connection.execute("DELETE FROM bodies WHERE digest = ?", (digest,))
            journal.give_up_body(self.connection, digest)
        if self.other is not None:
            for digest in fill_bodies(self.connection, self.other):
                self.mended.append(f"body {digest.hex()[:16]}: taken from the other archive")

    def _unreadable(self) -> list[bytes]:
        """Return the digests of the bodies that cannot be read. What is noted of the others is corrected."""
        depths, unreadable = journal.depths(self.connection), []
        for digest, depth in depths.items():
            if body_problem(self.connection, digest, depth):
                try:
                    size = len(journal.read_body(self.connection, digest))
                except Unreadable:
                    raise
                except (ArchiveError, *BROKEN):
                    unreadable.append(digest)
                else:
                    self.mended.append(f"body {digest.hex()[:16]}: what is noted of it")
                    self.connection.execute(
                        "UPDATE bodies SET size = ?, base = iif(coding = ?, base, NULL) WHERE digest = ?",
                        (size, bodies.ZSTD, digest),
                    )
        missing = [digest for (digest,) in self.connection.execute(NAMED) if digest not in depths]
        return unreadable + missing


class _End(NamedTuple):
    """The last entry of a chain; its link, if that is known."""

    seq: int
    link: bytes = bytes(32)


def _expected_entry(before: bytes, key: Key, kind: str, row: tuple[Any, ...]) -> Entry:
    return Entry(kind, journal.entry_hash(before, *key, kind, row))


def _is_utf8(text: bytes | None) -> bool:
    try:
        (text or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _body_in(other: sqlite3.Connection | None, digest: bytes) -> bytes | None:
    """Return a body of another archive, if it can be read there."""
    if other is None:
        return None
    try:
        return journal.read_body(other, digest)
    except Unreadable:
        raise
    except (ArchiveError, *BROKEN):
        return None


def _incomplete_fetches(connection: sqlite3.Connection) -> Iterator[tuple[Key, str]]:
    """Yield each fetch that lacks something which was given up, and what that means, the earliest fetch first."""
    for key in journal.keys(connection, "SELECT origin, seq FROM fetches ORDER BY began"):
        if journal.has_lost(connection, key):
            yield key, "is no longer complete"
        if journal.has_lost_answer(connection, key):
            yield key, "lacks the answer that it printed"


def _describe(connection: sqlite3.Connection, key: Key, what: str) -> str:
    query = "SELECT began, request FROM fetches WHERE origin = ? AND seq = ?"
    began, request = connection.execute(query, key).fetchone()
    return f"fetch {key} of {microseconds.from_micros(began):%Y-%m-%d %H:%M:%SZ} {what}: {request}"
