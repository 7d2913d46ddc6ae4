"""The index of an archive, filled fetch by fetch, answers as the pure rules do for all fetches together."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from random import Random

from pit_fetch.archive.store import index, ingestion, microseconds, tables, versions
from pit_fetch.archive.store.errors import BROKEN, ArchiveError
from pit_fetch.archive.store.history import ItemVersion
from pit_fetch.archive.store.journal import Key
from pit_fetch.provider import Record
from tests.laws import archive_laws
from tests.laws.observed import FetchObservation
from tests.laws.sources import Captured, Window, capture, merged, source
from tests.unit.archive import flips

STREAM = "stream"
Answer = dict[str, tuple[str, int | None, int | None]]


def filled(connection: sqlite3.Connection, captured: Captured) -> None:
    """Create an index, and add every fetch in order."""
    connection.executescript(tables.SCHEMA)
    for place, fetch in enumerate(captured.fetches):
        _add(connection, captured, place, fetch)


def _add(connection: sqlite3.Connection, captured: Captured, place: int, fetch: FetchObservation) -> None:
    def window_covers(key: Key, records: Sequence[Record]) -> bool:
        wanted = frozenset(ItemVersion(*json.loads(record.payload["version"])) for record in records)
        return captured.window_covers(captured.fetches[key.seq], wanted)

    ingestion.add(connection, _indexed(place, fetch, captured), window_covers)


def _indexed(place: int, fetch: FetchObservation, captured: Captured) -> index.IndexedFetch:
    window = captured.windows[id(fetch.items)]
    return index.IndexedFetch(
        key=Key("o", place),
        stream=STREAM,
        seen=fetch.seen,
        is_complete=fetch.is_complete,
        counts_from=fetch.counts_from,
        since=window.since,
        until=window.until,
        items={item: [_stored(v) for v in sorted(found, key=repr)] for item, found in fetch.items.items()},
    )


def _stored(version: ItemVersion) -> versions.StoredVersion:
    payload = json.dumps({"version": json.dumps(version)})
    key, content = repr(version).encode(), version.content.encode()
    return versions.StoredVersion(key, content, version.claimed_at, None, "provider_metadata", payload)


def indexed_answer(connection: sqlite3.Connection, instant: int) -> Answer:
    """Return content, claim and ``first_seen`` of each item, as the index has them at ``instant``."""
    records = list(index.records_as_of(connection, STREAM, instant, microseconds.ALWAYS))
    assert [_position(record) for record in records] == sorted(map(_position, records)), "out of order"
    answer: Answer = {}
    for record in records:
        content, claimed_at, _ = json.loads(record.payload["version"])
        answer[record.id] = content, claimed_at, microseconds.to_micros(record.first_seen_at)
    return answer


def _position(record: Record) -> tuple[float, str]:
    assert record.available_at is not None
    return -record.available_at.timestamp(), record.id


def pure_answer(captured: Captured, instant: int) -> Answer:
    served = archive_laws.answer(captured, instant)
    return {item: (version.content, version.claimed_at, seen) for item, (version, seen) in served.items()}


def _check(captured: Captured, instants: Sequence[int]) -> int:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        filled(connection, captured)
        for instant in instants:
            assert indexed_answer(connection, instant) == pure_answer(captured, instant), instant
    return len(instants)


def index_is_the_rule(rng: Random) -> int:
    """At every instant the index answers as the rules do."""
    return _check(_orderly(capture(rng, source(rng))), archive_laws.Instants)


def _orderly(captured: Captured) -> Captured:
    """Return an archive with at most one fetch at an instant."""
    return captured._replace(fetches=tuple({fetch.seen: fetch for fetch in captured.fetches}.values()))


def index_of_ties(rng: Random) -> int:
    """Fetches of one instant, from two merged archives, are indexed as the rules demand."""
    world = source(rng)
    first = capture(rng, world)
    return _check(merged([first, capture(rng, world, beside=first)]), _sample(rng))


_CONTENTS: tuple[frozenset[ItemVersion], ...] = (
    *(
        frozenset({v})
        for v in (ItemVersion("A", 5), ItemVersion("B", 5), ItemVersion("A", 8, "again"), ItemVersion("C"))
    ),
    frozenset({ItemVersion("A", 5), ItemVersion("D", 12)}),
    frozenset({ItemVersion("E", 25)}),
)


def index_of_crowds(rng: Random) -> int:
    """Many fetches of few instants, as after a clock was ahead: items come, go and come back as the rules demand."""
    fetches, windows = [], {}
    # Often one content for long, so that a run of several instants is split at its last one.
    contents = rng.choice((_CONTENTS, (*_CONTENTS[:1] * 8, *_CONTENTS)))
    for _ in range(rng.randrange(2, 9)):
        seen = rng.choice((10, 20, 30, 40))
        items = {item: rng.choice(contents) for item in "xyz" if rng.random() < 0.5}
        is_complete = bool(items) and rng.random() < 0.8
        fetches.append(FetchObservation(seen, items, is_complete, rng.choice((-1, seen, seen))))
        windows[id(items)] = Window(0, seen)
    return _check(merged([Captured(tuple(fetches), windows)]), archive_laws.Instants)


def damage_is_no_answer(rng: Random) -> int:
    """A bit that was changed on disk is never served: the index reports the damage, or leaves something out.

    That holds for a question, and for one after another fetch was added, which is decided by what is stored. Neither
    misses the observation of an undated item, or of one that was not there, if it is lost: ``archive verify`` does.
    """
    captured, instants = _orderly(capture(rng, source(rng), most=12)), _sample(rng)
    *earlier, last = captured.fetches
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        filled(connection, captured._replace(fetches=tuple(earlier)))
        before = {instant: indexed_answer(connection, instant) for instant in instants}
        _flip(rng, connection)
        _check_damaged(connection, before)
        try:
            _add(connection, captured, len(earlier), last)
        except (ArchiveError, *BROKEN):  # as the recorder and the session explain it
            return 1
        _check_damaged(connection, {instant: pure_answer(captured, instant) for instant in instants})
    return 1


_MISSED = ("pool", "item", "position", "last")


def _flip(rng: Random, connection: sqlite3.Connection) -> None:
    """Change a bit of the index, in any of its columns, and more often where a row would be missed."""
    of_index = [place for place in flips.columns(connection) if place[0] in tables.DERIVED]
    table, column = rng.choice(of_index) if rng.random() < 0.8 else ("sights", rng.choice(_MISSED))
    count = len(flips.values(connection, table, column))
    if count:
        row = rng.randrange(count)
        bits = flips.bits(flips.values(connection, table, column)[row])
        # The low bits of an instant are the ones that lead to another one.
        bit = rng.randrange(min(8, bits)) if bits and rng.random() < 0.5 else rng.randrange(bits) if bits else None
        if bit is not None and not _is_lost(connection, table, column, row):
            flips.change(connection, flips.Flip(table, column, row, bit))


def _is_lost(connection: sqlite3.Connection, table: str, column: str, row: int) -> bool:
    """Return whether a change would take the last observation from an item that has no position to be missed at.

    It is undated, or was never there.
    """
    is_key = table == "sights" and column in ("pool", "item")
    return is_key and flips.values(connection, "sights", "position")[row] is None


def _check_damaged(connection: sqlite3.Connection, expected: Mapping[int, Answer]) -> None:
    for instant, answer in expected.items():
        with contextlib.suppress(ArchiveError):
            assert indexed_answer(connection, instant).items() <= answer.items()


def _sample(rng: Random) -> list[int]:
    return rng.sample(list(archive_laws.Instants), 12)


LAWS = {
    "archive: index": index_is_the_rule,
    "archive: ties": index_of_ties,
    "archive: crowds": index_of_crowds,
    "archive: damage": damage_is_no_answer,
}
