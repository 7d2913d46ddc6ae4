"""The index of an archive, filled fetch by fetch, answers as the pure rules do for all fetches together."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from random import Random
from unittest.mock import patch

from pit_fetch.archive.store import index, ingestion, items, journal, microseconds, tables, versions
from pit_fetch.archive.store.checksums import row_checksum
from pit_fetch.archive.store.errors import BROKEN, ArchiveError
from pit_fetch.archive.store.history import ItemVersion
from pit_fetch.archive.store.journal import Exchange, Key
from pit_fetch.pipeline.cursor import record_age
from pit_fetch.provider import Record
from tests.laws import archive_laws
from tests.laws.observed import FetchObservation
from tests.laws.sources import KINDS, Captured, Window, capture, merged, source
from tests.unit.archive import flips

STREAM = "stream"
Items = Mapping[str, frozenset[ItemVersion]]
Answer = dict[str, tuple[str, int | None, int | None]]


def filled(connection: sqlite3.Connection, captured: Captured) -> None:
    """Create an index, and add every fetch in order."""
    connection.executescript(tables.SCHEMA)
    standings = None
    for place, fetch in enumerate(captured.fetches):
        # Now and then another transaction begins.
        standings = _add(connection, captured, place, fetch, standings if place % 4 else None)


def _add(
    connection: sqlite3.Connection,
    captured: Captured,
    place: int,
    fetch: FetchObservation,
    standings: ingestion.Standings | None,
) -> ingestion.Standings:
    def window_covers(key: Key, records: Sequence[Record]) -> bool:
        wanted = frozenset(ItemVersion(*json.loads(record.payload["version"])) for record in records)
        return captured.window_covers(captured.fetches[key.seq], wanted)

    return ingestion.add(connection, _indexed(place, fetch, captured), window_covers, standings)


def _indexed(place: int, fetch: FetchObservation, captured: Captured) -> index.FetchToIndex:
    window = captured.windows[id(fetch.items)]
    return index.FetchToIndex(
        key=Key("o", place),
        stream=STREAM,
        seen=fetch.seen,
        shows_absence=fetch.shows_absence,
        counts_from=fetch.counts_from,
        since=window.since,
        until=window.until,
        items={item: [_stored(v) for v in sorted(found, key=repr)] for item, found in fetch.items.items()},
        asked=index.Asked(terms={"name": {*window.among}} if window.among else {}),
        fields={"name": "names"},
    )


def _stored(version: ItemVersion) -> versions.StoredVersion:
    form = versions.Form("provider_metadata", '["version","names"]')
    # Of a field that lists nothing, any request may ask for the item.
    names = [version.content[0].upper()] if version.content[0] != "x" else None
    values = json.dumps([json.dumps(version._replace(key=_own_key(version))), names])
    return versions.StoredVersion(form, version.content.encode(), version.stamped_at, None, values)


def _keyed(captured: Captured) -> Captured:
    """Return the same fetches, of versions with the keys that the index gives them: those settle ties."""
    fetches, windows = [], {}
    for fetch in captured.fetches:
        items = {item: frozenset(map(_with_key, found)) for item, found in fetch.items.items()}
        windows[id(items)] = captured.windows[id(fetch.items)]
        fetches.append(fetch._replace(items=items))
    return Captured(tuple(fetches), windows)


def _with_key(version: ItemVersion) -> ItemVersion:
    return version._replace(key=f"{versions.item_version(_stored(version)).key}|{version.key}")


def _own_key(version: ItemVersion) -> str:
    return version.key.rpartition("|")[-1]


def indexed_answer(connection: sqlite3.Connection, instant: int) -> Answer:
    """Return content, stamp and ``first_seen`` of each item, as the index has them at ``instant``."""
    records = list(index.records_as_of(connection, STREAM, instant, microseconds.ALWAYS))
    ages = [record_age(record) for record in records]
    assert ages == sorted(ages), "out of order"
    answer: Answer = {}
    for record in records:
        content, stamped_at, _ = json.loads(record.payload["version"])
        answer[record.id] = content, stamped_at, microseconds.to_micros(record.first_seen_at)
    return answer


def pure_answer(captured: Captured, instant: int) -> Answer:
    served = archive_laws.answer(captured, instant)
    return {item: (version.content, version.stamped_at, seen) for item, (version, seen) in served.items()}


def _check(captured: Captured, instants: Sequence[int]) -> int:
    captured = _keyed(captured)
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


def index_of_namesakes(rng: Random) -> int:
    """Items whose names have one checksum are told apart."""
    bits = rng.randrange(3)

    def short(start: int, stream: int, name: str) -> int:
        return int(row_checksum(start, stream, name) % 2**bits)

    with patch.object(items, "item_checksum", short):
        return index_is_the_rule(rng)


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
        shows_absence = bool(items) and rng.random() < 0.8
        fetches.append(FetchObservation(seen, items, shows_absence, rng.choice((-1, seen, seen))))
        windows[id(items)] = Window(0, seen)
    return _check(merged([Captured(tuple(fetches), windows)]), archive_laws.Instants)


def damage_is_no_absence(rng: Random) -> int:
    """The same, of items that go, come back, and are seen before they are public."""
    return damage_is_no_answer(rng, ("deleted", "restored", "redated"))


def damage_is_no_answer(rng: Random, kinds: Sequence[str] = KINDS) -> int:
    """A bit that was changed on disk is never served: the index reports the damage, or leaves something out.

    That holds for a question, and for one after another fetch was added, which is decided by what is stored. Neither
    misses every observation that is lost: ``archive verify`` does.
    """
    captured, instants = _keyed(_orderly(capture(rng, source(rng, kinds), most=12))), _sample(rng)
    *earlier, last = captured.fetches
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        filled(connection, captured._replace(fetches=tuple(earlier)))
        before = {instant: indexed_answer(connection, instant) for instant in instants}
        _flip(rng, connection, last.items)
        _check_damaged(connection, before)
        try:
            _add(connection, captured, len(earlier), last, None)
        except (ArchiveError, *BROKEN):  # as the recorder and the session explain it
            return 1
        _check_damaged(connection, {instant: pure_answer(captured, instant) for instant in instants})
    return 1


def damaged_rows_are_no_news(rng: Random) -> int:
    """A row of a snapshot is never said to have been held since another read than the first that had it.

    That holds if a bit has changed where the index has it, for a question, and for one after another fetch was added.
    A row that has moved to another stream is missed by neither: ``archive verify`` finds it.
    """
    reads = [frozenset(rng.sample(range(8), rng.randrange(1, 6))) for _ in range(rng.randrange(2, 6))]
    *earlier, last = reads
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(tables.SCHEMA)
        for place, rows in enumerate(earlier):
            _add_rows(connection, place, rows)
        assert index.first_held(connection, STREAM, earlier[-1]) == _first_held(earlier, earlier[-1])
        column = rng.choice(("row", "first", "checksum"))
        stored = flips.values(connection, "first_held", column)
        row = rng.randrange(len(stored))
        flips.change(connection, flips.Flip("first_held", column, row, rng.randrange(64)))
        with contextlib.suppress(ArchiveError):
            assert index.first_held(connection, STREAM, earlier[-1]) == _first_held(earlier, earlier[-1])
        with contextlib.suppress(ArchiveError):
            _add_rows(connection, len(earlier), last)
            assert index.first_held(connection, STREAM, last) == _first_held(reads, last)
    return 1


def _add_rows(connection: sqlite3.Connection, place: int, rows: frozenset[int]) -> None:
    fetch = index.FetchToIndex(Key("o", place), STREAM, place, True, place, None, None, {}, rows)
    ingestion.add(connection, fetch, lambda key, records: True)


def _first_held(reads: Sequence[frozenset[int]], rows: frozenset[int]) -> Mapping[int, int]:
    return {row: next(seen for seen, read in enumerate(reads) if row in read) for row in rows}


_MISSED = (
    *(("stretches", column) for column in ("stream", "item", "cover_from", "last")),
    *(("items", column) for column in ("stream", "name", "checksum")),
)


def _flip(rng: Random, connection: sqlite3.Connection, following: Items) -> None:
    """Change a bit of the index, in any of its columns, and more often where a row would be missed."""
    of_index = [place for place in flips.columns(connection) if place[0] in tables.DERIVED]
    table, column = rng.choice(of_index) if rng.random() < 0.6 else rng.choice(_MISSED)
    count = len(flips.values(connection, table, column))
    if count:
        row = rng.randrange(count)
        bits = flips.bits(flips.values(connection, table, column)[row])
        # The low bits of an instant are the ones that lead to another one.
        bit = rng.randrange(min(8, bits)) if bits and rng.random() < 0.5 else rng.randrange(bits) if bits else None
        flip = flips.Flip(table, column, row, bit or 0)
        if bit is not None and not _is_lost(connection, flip, following):
            flips.change(connection, flip)


def _is_lost(connection: sqlite3.Connection, flip: flips.Flip, following: Items) -> bool:
    """Return whether a change takes an observation that nothing misses when a fetch of ``following`` is added.

    It is that of an undated item which the fetch lacks, or of one whose versions all have other stamps by now.
    """
    table, column, row, _ = flip
    if table == "stretches" and column in ("stream", "item"):
        number, cover_from = (flips.values(connection, table, name)[row] for name in ("item", "cover_from"))
        (item,) = connection.execute("SELECT name FROM items WHERE id = ?", (number,)).fetchone()
        return cover_from == microseconds.NEVER and item not in following
    if (table, column) == ("items", "checksum"):
        item, number = (flips.values(connection, table, name)[row] for name in ("name", "id"))
        query = "SELECT position FROM validities r JOIN versions v ON v.id = r.version WHERE v.item = ?"
        positions = {position for (position,) in connection.execute(query, (number,))}
        return positions.isdisjoint(version.stamped_at for version in following.get(item, ()))
    return False


def _check_damaged(connection: sqlite3.Connection, expected: Mapping[int, Answer]) -> None:
    for instant, answer in expected.items():
        with contextlib.suppress(ArchiveError):
            assert indexed_answer(connection, instant).items() <= answer.items()


def _sample(rng: Random) -> list[int]:
    return rng.sample(list(archive_laws.Instants), 12)


def receipts_are_true(rng: Random) -> int:
    """A reply that several requests share counts as received once, whatever comes before it is recorded again."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(tables.SCHEMA)
        writer, now, counted = journal.Writer(connection), 0, list[tuple[Exchange, int]]()
        for place in range(rng.randrange(3, 14)):
            fetch = Key("o", place)
            if counted and rng.random() < 0.5:
                exchange, seen = rng.choice(counted)
                assert writer.append_exchange(fetch, exchange) == seen
            else:
                now += rng.randrange(5)
                received = max(0, now - rng.choice((0, 0, 3)))  # the clock may be set back
                url, body = (rng.choice(("a", "b")) for _ in range(2))
                exchange = Exchange(received, "GET", url, {}, None, 200, {}, body.encode())
                counted.append((exchange, writer.append_exchange(fetch, exchange)))
                assert counted[-1][1] >= received
    return 1


LAWS = {
    "archive: index": index_is_the_rule,
    "archive: ties": index_of_ties,
    "archive: crowds": index_of_crowds,
    "archive: namesakes": index_of_namesakes,
    "archive: damage": damage_is_no_answer,
    "archive: damaged absences": damage_is_no_absence,
    "archive: damaged rows": damaged_rows_are_no_news,
    "archive: receipts": receipts_are_true,
}
