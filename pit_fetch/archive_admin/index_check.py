"""Check the index of an archive: the checksum of each row, and all rows against what the journal yields today.

A checksum shows that a row has changed. Only the journal shows that one is gone: each stream is derived again, beside
the index, and must come out the same. Ids are left out of the comparison, since they depend on the order in which
questions were asked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import Find
from pit_fetch.archive.store import index, journal, schema
from pit_fetch.archive.store.checksums import row_checksum, stream_salt
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Unreadable
from pit_fetch.archive.store.journal import Key

OnDone = Callable[[int], None]
# What the checksum of a row covers: a long text, and columns.
_MARKED: Mapping[str, str] = {
    "streams": "SELECT name, checksum, '', id, reads FROM streams",
    **{
        table: f"SELECT p.name, t.checksum, {columns} FROM {table} t LEFT JOIN streams p ON p.id = t.stream"
        for table, columns in {
            "items": "'', t.stream, t.name",
            "first_held": "'', t.row, t.first",
            "pending": "'', t.origin, t.fetch",
            "dictionaries": "'', t.content",
        }.items()
    },
    "reads": "SELECT p.name, t.checksum, '', t.seen, t.origin, t.fetch, t.complete, t.since, t.until, t.ended, "
    "t.asked_from, t.asked_until, t.counts_from, a.text FROM reads t LEFT JOIN streams p ON p.id = t.stream "
    "LEFT JOIN terms a ON a.id = t.terms AND a.stream = t.stream",
    "versions": "SELECT p.name, t.checksum, t.payload, i.name, t.content, t.available, t.revised, f.stamp, f.names "
    "FROM versions t LEFT JOIN items i ON i.id = t.item LEFT JOIN forms f ON f.id = t.form "
    "LEFT JOIN streams p ON p.id = i.stream AND p.id = f.stream",
    "stretches": "SELECT p.name, t.checksum, '', i.name, t.first, t.last, t.before, t.counts_from, t.versions, "
    "t.cover_from, t.latest FROM stretches t LEFT JOIN items i ON i.id = t.item "
    "LEFT JOIN streams p ON p.id = i.stream AND p.id = t.stream",
    "validities": "SELECT p.name, t.checksum, v.payload, t.position, t.start, t.stop, t.first_seen, i.name, "
    "v.available, v.revised, f.stamp, f.names FROM validities t LEFT JOIN versions v ON v.id = t.version "
    "LEFT JOIN items i ON i.id = v.item LEFT JOIN forms f ON f.id = v.form "
    "LEFT JOIN streams p ON p.id = i.stream AND p.id = t.stream",
}
# A row of a stream without ids, by the checksums of what it has: those of the index were compared with their rows.
_COMPARED: Mapping[str, str] = {
    **{
        table: f"SELECT t.checksum FROM {{place}}.{table} t WHERE t.stream = {{stream}}"
        for table in ("reads", "first_held")
    },
    "versions": "SELECT t.checksum FROM {place}.items i JOIN {place}.versions t ON t.item = i.id "
    "WHERE i.stream = {stream}",
    "stretches": "SELECT i.name, t.first, t.last, t.before, t.counts_from, t.cover_from, t.latest, "
    "(SELECT group_concat(checksum) FROM "
    "(SELECT v.checksum FROM json_each('[' || replace(t.versions, ' ', ',') || ']') j "
    "JOIN {place}.versions v ON v.id = j.value ORDER BY 1)) FROM {place}.stretches t "
    "JOIN {place}.items i ON i.id = t.item WHERE t.stream = {stream}",
    "validities": "SELECT t.checksum, v.checksum FROM {place}.validities t "
    "JOIN {place}.versions v ON v.id = t.version WHERE t.stream = {stream}",
}


class Findings(NamedTuple):
    """A line for each damage, and the number of fetches that cannot be derived again here."""

    damage: tuple[str, ...]
    underived: int = 0


def check(connection: sqlite3.Connection, find: Find, on_done: OnDone) -> Findings:
    """Check the index, in a transaction that the caller rolls back. A stream of damaged fetches is not compared."""
    changed = tuple(_changed_rows(connection))
    if changed:  # what such rows lead to would only repeat the finding
        return Findings(changed)
    archived = Archived(connection, find)
    placed = _Placed(connection, archived)
    misplaced = tuple(placed.misplaced())
    return Findings((*misplaced, *_differences(connection, archived, placed.streams, on_done)), len(placed.underived))


def _changed_rows(connection: sqlite3.Connection) -> Iterator[str]:
    texts = cache(partial(index.texts_of, connection))
    for table, query in _MARKED.items():
        changed = sum(
            name is None or checksum != row_checksum(stream_salt(name), *row, payload=_text(texts, name, payload))
            for name, checksum, payload, *row in connection.execute(query)
        )
        if table == "streams":
            changed += sum(
                number != stream_salt(name) for name, number in connection.execute("SELECT name, salt FROM streams")
            )
        if changed:
            yield f"index: rows of {table} that have changed: {changed}"


def _text(texts: Callable[[str], Callable[[object], str]], stream: str, stored: object) -> str:
    """Return the text of a version; "" if it cannot be unpacked."""
    try:
        return texts(stream)(stored)
    except Damaged:
        return ""


class _Placed:
    """The fetches of an archive, and where its index has each of them.

    streams    the fetches in ``reads`` by their streams, in the order in which they were ingested
    underived  the fetches whose stream is not known, since they cannot be interpreted
    """

    def __init__(self, connection: sqlite3.Connection, archived: Archived) -> None:
        self.connection, self.archived = connection, archived
        self.streams: dict[str, list[Key]] = {name: [] for (name,) in connection.execute("SELECT name FROM streams")}
        self.underived: set[Key] = set()

    def misplaced(self) -> Iterator[str]:
        """Yield a line for each fetch that the index does not have where it belongs, and sort the others."""
        places: dict[Key, list[tuple[str, str]]] = {}
        for table in ("reads", "pending"):
            query = f"SELECT t.origin, t.fetch, p.name FROM {table} t JOIN streams p ON p.id = t.stream"
            for origin, fetch, stream in self.connection.execute(query):
                places.setdefault(Key(origin, fetch), []).append((table, stream))
        for key in journal.fetches(self.connection):
            found = places.pop(key, [])
            for table, stream in found:
                if table == "reads":
                    self.streams[stream].append(key)
            stream = self._stream_of(key)
            names = [name for _, name in found]
            is_placed = names in ([stream], [index.UNASSIGNED])
            if stream is not None and not is_placed and (found or self._is_expected(key)):
                yield f"index: fetch {key} is not where it belongs"
        yield from (f"index: fetch {key} is not in the journal" for key in places)

    def _stream_of(self, key: Key) -> str | None:
        """Return the stream of a fetch; None if that is unknown."""
        try:
            recorded = self.archived.interpret(key)
        except (ArchiveError, *BROKEN):  # it is damaged, and reported as that
            return None
        if recorded is None:
            self.underived.add(key)
        return None if recorded is None else recorded.stream

    def _is_expected(self, key: Key) -> bool:
        """Return whether a fetch has to be in the index: it ended, and has a reply."""
        try:
            return journal.ended(self.connection, key) is not None and any(journal.exchanges_of(self.connection, key))
        except ArchiveError:  # it is damaged, and reported as that
            return False


def _differences(
    connection: sqlite3.Connection, archived: Archived, streams: Mapping[str, Sequence[Key]], on_done: OnDone
) -> Iterator[str]:
    """Yield a line for each table of a stream that differs from what its fetches yield."""
    schema.overlay_empty_index(connection)
    done = 0
    for stream, keys in streams.items():
        index.clear(connection)
        try:
            is_whole = all(archived.interpret(key) is not None for key in keys)
            standings = None
            for key in keys:
                on_done(done := done + 1)
                standings = archived.add(key, standings)
        except Unreadable:
            raise
        except (ArchiveError, *BROKEN):  # a fetch is damaged, and reported as that
            continue
        different = [
            table
            for table in _COMPARED
            if is_whole and _digest(connection, table, stream, "main") != _digest(connection, table, stream, "temp")
        ]
        if different:
            yield f"index of {_described(stream)}: its {', '.join(different)} are not what the journal yields"


def _digest(connection: sqlite3.Connection, table: str, stream: str, place: str) -> int:
    """Return a digest of the rows of a stream, which come in another order where questions were asked in another."""
    number = f"(SELECT id FROM {place}.streams WHERE name = ?)"
    return sum(map(hash, connection.execute(_COMPARED[table].format(place=place, stream=number), (stream,))))


def _described(stream: str) -> str:
    """Return a stream in few words."""
    source, _, plan, operation, options = json.loads(stream)
    words = [source, plan, operation, *(f"{name}={value}" for name, value in options.items())]
    return " ".join(word for word in words if word)
