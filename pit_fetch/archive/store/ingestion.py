"""Add fetches to the index, in the order of their receipt.

An item that is as it was last costs one update. For every other item, :mod:`pit_fetch.archive.store.history` is asked
again, and its rows are replaced. What is read to decide that is checked first: a changed bit would otherwise be
written again, with a good checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

from pit_fetch.archive.store import history, index, microseconds
from pit_fetch.archive.store.checksums import DAMAGED_INDEX, check, checksum, seed
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.archive.store.history import ItemVersion, Observation, ObservationRun
from pit_fetch.archive.store.index import IndexedFetch, Read
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive.store.versions import Content, StoredVersion, Version, content, record
from pit_fetch.provider import Record

WindowCovers = Callable[[Key, Sequence[Record]], bool]

_RUNS = (
    "SELECT t.item, t.mark, t.first, t.last, t.before, t.free, t.said, t.position, t.latest FROM json_each(?) j "
    "CROSS JOIN sights t ON t.pool = ? AND t.item = j.value"
)
_LATEST_RUNS = f"{_RUNS} WHERE t.latest != 0"
_THERE = (
    "SELECT item, mark, first, last, before, free, said, position, latest FROM sights "
    "WHERE pool = ? AND latest != 0 AND said != '' AND (position IS NULL OR position BETWEEN ? AND ?)"
)
_VALID = "SELECT item FROM reigns WHERE pool = ? AND position BETWEEN ? AND ? AND stop = ?"
_HAS_VERSIONS = (
    "SELECT 1 FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM versions v WHERE v.pool = ? AND v.item = j.value) LIMIT 1"
)
_CONTENTS = (
    "SELECT v.item, v.available, v.revised, v.payload, v.id FROM json_each(?) j CROSS JOIN versions v ON v.id = j.value"
)
_VERSIONS = (
    "SELECT v.item, v.id, v.mark, v.key, v.content, v.available, v.revised, v.stamp, v.payload FROM json_each(?) j "
    "CROSS JOIN versions v ON v.pool = ? AND v.item = j.value"
)
_ADD_VERSION = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_EXTEND_RUN = "UPDATE sights SET last = ?, before = ?, mark = ? WHERE pool = ? AND item = ? AND first = ? AND said = ?"
_DELETE_RUN = "DELETE FROM sights WHERE pool = ? AND item = ? AND first = ? AND said = ?"
_ADD_RUN = "INSERT OR IGNORE INTO sights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE_VALIDITIES = "DELETE FROM reigns WHERE pool = ? AND item = ?"
_ADD_VALIDITY = "INSERT INTO reigns VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
# In the order in which they have to be executed.
_STATEMENTS = (_ADD_VERSION, _EXTEND_RUN, _DELETE_RUN, _ADD_RUN, _DELETE_VALIDITIES, _ADD_VALIDITY)


def add(connection: sqlite3.Connection, fetch: IndexedFetch, window_covers: WindowCovers) -> None:
    """Add a fetch to the index. Fetches must be added in the order in which they were received. Raise Damaged.

    ``window_covers`` tells whether an earlier fetch would have contained records, had they been there.
    """
    stream, start = index.stream_id(connection, fetch.stream), seed(fetch.stream)
    ingestion = _Ingestion(connection, stream, fetch, window_covers)
    ingestion.add_items()
    if fetch.is_complete:
        ingestion.add_absences()
    connection.executemany(
        "INSERT OR IGNORE INTO firsts VALUES (?, ?, ?, ?)",
        ((stream, row, fetch.seen, checksum(start, row, fetch.seen)) for row in fetch.rows),
    )
    read = (fetch.seen, *fetch.key, int(fetch.is_complete), fetch.since, fetch.until)
    added = connection.execute(
        "INSERT OR IGNORE INTO reads VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (stream, *read, checksum(start, *read))
    )
    index.count_reads(connection, fetch.stream, stream, added.rowcount)


class _Run(NamedTuple):
    """A run as it is stored. Several observations of one instant are several rows.

    Of the instants at which the versions were observed, the first, the last and the one before it are enough: another
    fetch of the last instant may still split the run there. ``latest`` is 0 in all rows of an item but those of its
    last run, which have the number of its rows: so a row that is gone is found out.
    """

    first: int
    last: int
    before: int
    counts_from: int
    versions: str
    position: int | None = None
    latest: int = 1

    def observations(self, versions: Mapping[int, ItemVersion]) -> Iterator[Observation]:
        contents = frozenset(versions[int(number)] for number in self.versions.split())
        for seen in {self.first, self.before, self.last}:
            yield Observation(seen, contents, self.counts_from)


class _Ingestion:
    """Adds one fetch to the index."""

    def __init__(
        self, connection: sqlite3.Connection, stream: int, fetch: IndexedFetch, window_covers: WindowCovers
    ) -> None:
        self.connection, self.stream, self.fetch, self.window_covers = connection, stream, fetch, window_covers
        self.seed = seed(fetch.stream)
        self.complete: list[Read] | None = None  # the complete fetches before this one, newest first
        self.rows: dict[str, list[tuple[Any, ...]]] = {statement: [] for statement in _STATEMENTS}
        (self.last_version,) = connection.execute("SELECT coalesce(max(id), 0) FROM versions").fetchone()

    def add_items(self) -> None:
        """Add an observation of each item that the fetch contains."""
        runs: dict[str, list[_Run]] = {}
        for item, run in self._runs(_LATEST_RUNS, self.fetch.items):
            runs.setdefault(item, []).append(run)
        self._check_new(item for item in self.fetch.items if item not in runs)
        numbers = [int(number) for latest in runs.values() for run in latest for number in run.versions.split()]
        ids: dict[tuple[str, Content], int] = {}
        for item, available, revised, payload, number in self.connection.execute(_CONTENTS, (json.dumps(numbers),)):
            ids[item, (available, revised, payload)] = number
        changed: dict[str, Sequence[Version]] = {}
        for item, versions in self.fetch.items.items():
            latest, public = runs.get(item, []), self._public(versions)
            known = [ids.get((item, content(version)), 0) for version in public]
            is_same = len(latest) == 1 and latest[0].versions == _joined(known)
            if is_same and latest[0].counts_from <= self.fetch.counts_from:
                self._extend(item, latest[0])
            else:
                changed[item] = public
        self._observe(changed, self._stored(item for item in runs if item in changed))

    def add_absences(self) -> None:
        """Add an observation of absence of each item that is there, and that the fetch lacks and covers."""
        since = microseconds.NEVER if self.fetch.since is None else self.fetch.since
        until = microseconds.ALWAYS if self.fetch.until is None else self.fetch.until
        window = (self.stream, since, until)
        there = {item for (item,) in self.connection.execute(_VALID, (*window, microseconds.ALWAYS))}
        contents: dict[str, list[str]] = {}  # several fetches of one instant may each have had another
        for item, mark, *columns in self.connection.execute(_THERE, window):
            run = _Run(*columns)
            there.discard(item)
            if run.last < self.fetch.seen:
                contents.setdefault(item, []).append(run.versions)
            elif item not in self.fetch.items:
                check(mark, self.seed, item, *run)
        self._check_seen(there)
        stored = self._stored(contents)
        absent = {
            item: ()
            for item, alternatives in contents.items()
            if any(self._covers(item, versions.split(), stored[item]) for versions in alternatives)
        }
        self._observe(absent, stored)

    def _covers(self, item: str, numbers: Sequence[str], stored: Mapping[int, StoredVersion]) -> bool:
        return self.window_covers(self.fetch.key, [record(item, stored[int(number)]) for number in numbers])

    def _public(self, versions: Sequence[Version]) -> Sequence[Version]:
        """Return the versions that were public when the fetch was received. A running bar is not."""
        seen = self.fetch.seen
        return [version for version in versions if version.claimed_at is None or version.claimed_at <= seen]

    def _extend(self, item: str, run: _Run) -> None:
        seen = self.fetch.seen
        longer = run._replace(last=seen, before=run.last if seen > run.last else run.before)
        mark = checksum(self.seed, item, *longer)
        self.rows[_EXTEND_RUN].append((seen, longer.before, mark, self.stream, item, run.first, run.versions))

    def _observe(self, items: Mapping[str, Sequence[Version]], stored: Mapping[str, dict[int, StoredVersion]]) -> None:
        """Add an observation of these versions of each item, and write everything. ``stored`` names all known items."""
        runs: dict[str, set[_Run]] = {}
        for item, run in self._runs(_RUNS, stored):
            runs.setdefault(item, set()).add(run)
        for item, of_item in runs.items():
            self._check_whole(of_item, stored[item])
        for item, versions in items.items():
            self._observe_item(item, versions, runs.get(item, set()), stored.get(item, {}))
        for statement, rows in self.rows.items():
            self.connection.executemany(statement, rows)
            rows.clear()

    def _observe_item(
        self, item: str, versions: Sequence[Version], runs: set[_Run], stored: dict[int, StoredVersion]
    ) -> None:
        numbers = self._numbers(item, versions, stored)
        if not runs and len(numbers) == 1 and self._absence_before(item, ()) is None:
            self._begin(item, numbers[0], stored[numbers[0]])
            return
        contents = {
            number: ItemVersion(version.content.hex(), version.claimed_at, version.key.hex())
            for number, version in stored.items()
        }
        observed = [observation for run in runs for observation in run.observations(contents)]
        absence = self._absence_before(item, observed)
        if absence is not None:
            observed.append(Observation(absence, history.NOTHING, self.fetch.counts_from))
        current = frozenset(contents[number] for number in numbers)
        observed.append(Observation(self.fetch.seen, current, self.fetch.counts_from))
        self._replace(
            item, history.runs(observed), runs, stored, {version: number for number, version in contents.items()}
        )

    def _begin(self, item: str, number: int, version: StoredVersion) -> None:
        """Add an item that was not seen before, in one version, as most of the items of a fetch are."""
        seen, counts_from = self.fetch.seen, self.fetch.counts_from
        run = _Run(seen, seen, seen, counts_from, str(number), version.available)
        self._add_run(item, run)
        start, first_seen = history.sole_validity(version.claimed_at, seen, counts_from)
        self._add_validity(item, start, microseconds.ALWAYS, number, version, first_seen)

    def _absence_before(self, item: str, observed: Sequence[Observation]) -> int | None:
        """Return when a complete fetch lacked an item that turns up now and claims to have been there by then."""
        versions, seen = self.fetch.items.get(item, ()), self.fetch.seen
        claims = [version.claimed_at for version in versions if version.claimed_at is not None]
        earlier = max((before for before in observed if before.seen < seen), default=None, key=attrgetter("seen"))
        if not claims or (earlier is not None and earlier.versions):
            return None
        since = min(claims) if earlier is None else max(min(claims), earlier.seen + 1)
        if self.complete is None:
            reads = index.reads_of(self.connection, self.fetch.stream)
            self.complete = [read for read in reads if read.is_complete and read.seen < seen]
        records: list[Record] = []
        for read in self.complete:
            if read.seen < since:
                break
            records = records or [record(item, version.stored()) for version in versions]
            if self.window_covers(read.key, _from(records, read.since)):
                return read.seen
        return None

    def _runs(self, query: str, items: Iterable[str]) -> Iterator[tuple[str, _Run]]:
        """Yield the runs of the items, with the item. Raise Damaged."""
        for item, mark, *run in self.connection.execute(query, (json.dumps([*items]), self.stream)):
            check(mark, self.seed, item, *run)
            yield item, _Run(*run)

    def _check_new(self, items: Iterable[str]) -> None:
        """Raise Damaged if one of these items was seen before: what is known of it was lost."""
        if self.connection.execute(_HAS_VERSIONS, (json.dumps([*items]), self.stream)).fetchone():
            raise Damaged(DAMAGED_INDEX)

    def _check_seen(self, items: set[str]) -> None:
        """Raise Damaged if an item that is there has no last run: no fetch could show that it is gone."""
        if {item for item, _ in self._runs(_LATEST_RUNS, items)} != items:
            raise Damaged(DAMAGED_INDEX)

    def _check_whole(self, runs: Collection[_Run], stored: Mapping[int, StoredVersion]) -> None:
        """Raise Damaged if a row of the history of an item, or one of its versions, is missing."""
        numbers = {int(number) for run in runs for number in run.versions.split()}
        if {run.latest for run in runs} - {0} != {len(runs)} or not numbers <= stored.keys():
            raise Damaged(DAMAGED_INDEX)

    def _replace(
        self,
        item: str,
        history_of_item: Sequence[ObservationRun],
        runs: set[_Run],
        stored: Mapping[int, StoredVersion],
        numbers: Mapping[ItemVersion, int],
    ) -> None:
        observed = [(run, observation) for run in history_of_item for observation in run.observations]
        revised = {
            _Run(
                run.first,
                run.last,
                run.before,
                observation.counts_from,
                _joined(numbers[version] for version in observation.versions),
                _position(stored[numbers[version]] for version in observation.versions),
                len(observed) if run is history_of_item[-1] else 0,
            )
            for run, observation in observed
        }
        for run in runs - revised:
            self.rows[_DELETE_RUN].append((self.stream, item, run.first, run.versions))
        for run in revised - runs:
            self._add_run(item, run)
        if runs:
            self.rows[_DELETE_VALIDITIES].append((self.stream, item))
        validities = history.validities(history_of_item)
        for validity, following in zip_longest(validities, validities[1:]):
            if validity.version is not None:
                number = numbers[validity.version]
                stop = microseconds.ALWAYS if following is None else following.start
                self._add_validity(item, validity.start, stop, number, stored[number], validity.first_seen)

    def _add_run(self, item: str, run: _Run) -> None:
        self.rows[_ADD_RUN].append((self.stream, item, *run, checksum(self.seed, item, *run)))

    def _add_validity(
        self, item: str, start: int, stop: int, number: int, version: StoredVersion, first_seen: int | None
    ) -> None:
        position = version.available if version.available is not None else first_seen
        validity = (position, start, stop, item, first_seen, version.available, version.revised, version.stamp)
        mark = checksum(self.seed, *validity, payload=version.payload)
        self.rows[_ADD_VALIDITY].append((self.stream, position, item, start, stop, number, first_seen, mark))

    def _numbers(self, item: str, versions: Sequence[Version], stored: dict[int, StoredVersion]) -> list[int]:
        """Return the ids of versions of an item. Those that are not ``stored`` are added to it, and stored."""
        numbers: list[int] = []
        by_content = {content(version): number for number, version in stored.items()}
        by_key = {version.key: number for number, version in stored.items()}
        for version in versions:
            number = by_content.get(content(version))
            if number is None:
                added = version.stored()
                number = by_key.get(added.key)
                if number is None:
                    self.last_version = number = by_key[added.key] = self.last_version + 1
                    stored[number] = added
                    mark = checksum(self.seed, item, *added[:5], payload=added.payload)
                    self.rows[_ADD_VERSION].append((number, self.stream, item, *added, mark))
            numbers.append(number)
        return numbers

    def _stored(self, items: Iterable[str]) -> dict[str, dict[int, StoredVersion]]:
        """Return all versions of the items, by their ids. Raise Damaged."""
        stored: dict[str, dict[int, StoredVersion]] = {item: {} for item in items}
        for item, number, mark, *row in self.connection.execute(_VERSIONS, (json.dumps([*stored]), self.stream)):
            version = StoredVersion(*row)
            check(mark, self.seed, item, *version[:5], payload=version.payload)
            stored[item][number] = version
        return stored


def _from(records: Iterable[Record], oldest: int | None) -> list[Record]:
    """Return the records that were available at or after ``oldest`` (None: all), and undated ones."""
    starts = microseconds.from_micros(oldest)
    return [made for made in records if starts is None or made.available_at is None or made.available_at >= starts]


def _joined(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(set(numbers))))


def _position(versions: Iterable[StoredVersion]) -> int | None:
    """Return where the window of a fetch would have to reach to cover one of these versions."""
    return max((version.available for version in versions if version.available is not None), default=None)
