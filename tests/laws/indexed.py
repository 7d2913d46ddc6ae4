"""The index of an archive, taken up read by read, is what the pure rule says of all reads together."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random

from pit_fetch.archive.store import index, microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.history import Read, Version
from pit_fetch.archive.store.journal import Key
from pit_fetch.provider import Record
from tests.laws import archive_laws
from tests.laws.sources import Captured, Window, capture, merged, source

POOL = "pool"


def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(schema.LOG + schema.INDEX)
    return connection


def filled(connection: sqlite3.Connection, captured: Captured) -> None:
    """Takes up every read, in order."""

    def holds(key: Key, records: Sequence[Record]) -> bool:
        said = frozenset(Version(*json.loads(record.payload["version"])) for record in records)
        return captured.holds(captured.reads[key.seq], said)

    index.clear(connection)
    for place, read in enumerate(captured.reads):
        index.add(connection, _found(place, read, captured), holds)


def _found(place: int, read: Read, captured: Captured) -> index.Found:
    window = captured.windows[id(read.said)]
    said = {item: [_row(one) for one in sorted(versions, key=repr)] for item, versions in read.said.items()}
    return index.Found(Key("o", place), POOL, read.seen, read.complete, read.free, window.since, window.until, said)


def _row(one: Version) -> index.Row:
    payload = json.dumps({"version": json.dumps(one)})
    return index.Row(repr(one).encode(), one.content.encode(), one.claim, None, "provider_metadata", payload)


def answer(connection: sqlite3.Connection, instant: int) -> dict[str, tuple[Version, int | None]]:
    records = list(index.ruling(connection, POOL, instant, microseconds.ALWAYS))
    assert [_position(one) for one in records] == sorted(_position(one) for one in records), "out of order"
    return {
        one.id: (Version(*json.loads(one.payload["version"])), microseconds.maybe(one.first_seen_at)) for one in records
    }


def _position(record: Record) -> tuple[float, str]:
    assert record.available_at is not None
    return -record.available_at.timestamp(), record.id


def by_content(served: dict[str, tuple[Version, int | None]]) -> dict[str, tuple[str, int | None, int | None]]:
    return {item: (version.content, version.claim, first_seen) for item, (version, first_seen) in served.items()}


def index_is_the_rule(rng: Random) -> int:
    """At every instant the index answers as the rule does."""
    captured = _orderly(capture(rng, source(rng)))
    with closing(database()) as connection:
        filled(connection, captured)
        for instant in archive_laws.Instants:
            expected = by_content(archive_laws.answer(captured, instant))
            assert by_content(answer(connection, instant)) == expected, instant
    return len(archive_laws.Instants)


def _orderly(captured: Captured) -> Captured:
    """At most one read at an instant: several that differ are taken up from the start, in the order of the log."""
    return captured._replace(reads=tuple({read.seen: read for read in captured.reads}.values()))


def index_of_ties(rng: Random) -> int:
    """Reads of one instant, of two archives that were merged, are taken up as the rule says."""
    world = source(rng)
    first = capture(rng, world)
    captured = merged([first, capture(rng, world, beside=first)])
    with closing(database()) as connection:
        filled(connection, captured)
        for instant in _sample(rng):
            assert by_content(answer(connection, instant)) == by_content(archive_laws.answer(captured, instant)), (
                instant
            )
    return 1


_SAYINGS: tuple[frozenset[Version], ...] = (
    *(frozenset({one}) for one in (Version("A", 5), Version("B", 5), Version("A", 8, "again"), Version("C"))),
    frozenset({Version("A", 5), Version("D", 12)}),
    frozenset({Version("E", 25)}),
)


def index_of_crowds(rng: Random) -> int:
    """Many reads of few instants, as after a clock was ahead: items come, go and come back as the rule says."""
    reads, windows = [], {}
    for _ in range(rng.randrange(2, 9)):
        seen = rng.choice((10, 20, 30, 40))
        said = {item: rng.choice(_SAYINGS) for item in "xyz" if rng.random() < 0.5}
        reads.append(Read(seen, said, bool(said) and rng.random() < 0.8, rng.choice((-1, seen, seen))))
        windows[id(said)] = Window(0, seen)
    captured = merged([Captured(tuple(reads), windows)])
    with closing(database()) as connection:
        filled(connection, captured)
        for instant in archive_laws.Instants:
            assert by_content(answer(connection, instant)) == by_content(archive_laws.answer(captured, instant)), (
                instant
            )
    return 1


def damage_is_no_answer(rng: Random) -> int:
    """A value that was changed in what rules is never served: the index says that it is damaged, or leaves it out."""
    captured = _orderly(capture(rng, source(rng)))
    instants_asked = list(_sample(rng))
    with closing(database()) as connection:
        filled(connection, captured)
        expected = {instant: by_content(answer(connection, instant)) for instant in instants_asked}
        table, column = rng.choice(_CHANGED)
        change = rng.choice((f"{column} + 1", f"{column} - 7", f"-{column}", "0", "'x'", "NULL"))
        try:
            connection.execute(f"UPDATE {table} SET {column} = {change}")
        except sqlite3.Error:  # the table does not take it
            return 0
        for instant in instants_asked:
            with contextlib.suppress(ArchiveError):
                assert by_content(answer(connection, instant)).items() <= expected[instant].items(), (table, column)
    return 1


# What an answer rests on.
_CHANGED = (
    *(("reigns", column) for column in ("position", "start", "stop", "version", "first_seen", "item")),
    *(("versions", column) for column in ("available", "revised", "stamp", "payload")),
)


def _sample(rng: Random) -> Iterator[int]:
    return iter(rng.sample(list(archive_laws.Instants), 12))


LAWS = {
    "archive: index": index_is_the_rule,
    "archive: ties": index_of_ties,
    "archive: crowds": index_of_crowds,
    "archive: damage": damage_is_no_answer,
}
