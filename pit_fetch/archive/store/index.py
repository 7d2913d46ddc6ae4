"""The index of an archive: which version of an item is valid when. It is derived from the journal and replaceable.

pools     the streams: a stream is the series of fetches that answer one question (source, hosts, plan, operation,
          and the options that affect a record)
reads     the fetches of a stream, in the order of their receipt
versions  each version of an item, once
sights    the runs of :mod:`pit_fetch.archive.store.history`; ``said`` lists version ids, empty for an absence
reigns    the validities: from ``start`` to ``stop`` this version is the answer, at this position of the order
due       fetches that are pending: the next question about their stream ingests them

An answer is one range of ``reigns``, read newest first. It costs what it returns, however large the archive is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

from pit_fetch.archive.store import history, microseconds
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, archive_error
from pit_fetch.archive.store.history import ItemVersion, Observation, ObservationRun
from pit_fetch.archive.store.journal import Key, in_order_of
from pit_fetch.archive.store.schema import DERIVED
from pit_fetch.pipeline.select import fingerprint
from pit_fetch.provider import Record

WindowCovers = Callable[[Key, Sequence[Record]], bool]

_POOL = "(SELECT id FROM pools WHERE name = ?)"
_LATEST_RUNS = (
    "SELECT t.item, t.first, t.last, t.before, t.free, t.said FROM json_each(?) j "
    "CROSS JOIN sights t ON t.pool = ? AND t.item = j.value WHERE t.latest = 1"
)
_RUNS = (
    "SELECT t.item, t.first, t.last, t.before, t.free, t.said, t.position, t.latest FROM json_each(?) j "
    "CROSS JOIN sights t ON t.pool = ? AND t.item = j.value"
)
_CONTENTS = (
    "SELECT v.item, v.available, v.revised, v.payload, v.id FROM json_each(?) j CROSS JOIN versions v ON v.id = j.value"
)
_VERSIONS = (
    "SELECT v.item, v.id, v.mark, v.key, v.content, v.available, v.revised, v.stamp, v.payload FROM json_each(?) j "
    "CROSS JOIN versions v ON v.pool = ? AND v.item = j.value"
)
_ADD_VERSION = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_EXTEND_RUN = "UPDATE sights SET last = ?, before = ? WHERE pool = ? AND item = ? AND first = ? AND said = ?"
_DELETE_RUN = "DELETE FROM sights WHERE pool = ? AND item = ? AND first = ? AND said = ?"
_ADD_RUN = "INSERT OR IGNORE INTO sights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE_VALIDITIES = "DELETE FROM reigns WHERE pool = ? AND item = ?"
_ADD_VALIDITY = "INSERT INTO reigns VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
# In the order in which they have to be executed.
_STATEMENTS = (_ADD_VERSION, _EXTEND_RUN, _DELETE_RUN, _ADD_RUN, _DELETE_VALIDITIES, _ADD_VALIDITY)
# Like json.loads, without looking for white space around the value.
_decode = json.JSONDecoder().raw_decode
_DAMAGED = "its index is damaged: run pit_fetch archive rebuild"


class StoredVersion(NamedTuple):
    """A version as it is stored. Instants are in microseconds; ``payload`` is JSON.

    ``key`` sorts as the pipeline chooses among versions: by ``available_at``, then by content.
    """

    key: bytes
    content: bytes
    available: int | None
    revised: int | None
    stamp: str
    payload: str

    @property
    def claimed_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        return self


class FreshVersion(NamedTuple):
    """A version as it was fetched. Its digests are computed only if the version is not stored yet."""

    available: int | None
    revised: int | None
    payload: str
    record: Record
    evidence: frozenset[str]

    @property
    def claimed_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        record, evidence = self.record, self.evidence
        whole = content = fingerprint(record)
        if evidence and not evidence.isdisjoint(record.payload):
            compared = {name: value for name, value in record.payload.items() if name not in evidence}
            content = fingerprint(record._replace(payload=compared))
        key = f"{self.available or 0:020}".encode() + whole + (b"" if self.revised is None else b"%d" % self.revised)
        return StoredVersion(key, content, self.available, self.revised, record.available_at_source, self.payload)


Version = StoredVersion | FreshVersion
_Content = tuple[int | None, int | None, str]


def _later_of(available: int | None, revised: int | None) -> int | None:
    return available if revised is None or available is None else max(available, revised)


class IndexedFetch(NamedTuple):
    """One fetch as the index sees it: its item versions, and the time window it covered.

    stream        the question it belongs to, as text
    counts_from   the first instant at which its claims count
    since, until  the window of dated items that it covers (None: unbounded)
    items         the versions by item, including those that are not yet public
    """

    key: Key
    stream: str
    seen: int
    is_complete: bool
    counts_from: int
    since: int | None
    until: int | None
    items: Mapping[str, Sequence[Version]]


def fresh(record: Record, evidence: frozenset[str], clean: Callable[[str], str] = str) -> FreshVersion:
    """Return a record as a version. The fields named by ``evidence`` do not count as content."""
    available, revised = microseconds.to_micros(record.available_at), microseconds.to_micros(record.revised_at)
    plain = json.dumps(record.payload)
    payload = clean(plain)
    if payload != plain:
        record = record._replace(payload=json.loads(payload))
    return FreshVersion(available, revised, payload, record, evidence)


def record(item: str, version: StoredVersion) -> Record:
    """Return a version as a record."""
    return _record(version.payload, item, None, version.available, version.revised, version.stamp)


def _record(
    payload: str, item: str, first_seen: int | None, available: int | None, revised: int | None, stamp: Any
) -> Record:
    return Record(
        item,
        # Without a timestamp of its own, it was available when it was first seen.
        microseconds.from_micros(first_seen if available is None else available),
        stamp,
        _decode(payload)[0],
        microseconds.from_micros(revised),
        False,
        microseconds.from_micros(first_seen),
    )


def clear(connection: sqlite3.Connection) -> None:
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our names


def add(connection: sqlite3.Connection, fetch: IndexedFetch, window_covers: WindowCovers) -> None:
    """Add a fetch to the index. Fetches must be added in the order in which they were received.

    ``window_covers`` tells whether an earlier fetch would have contained records, had they been there.
    """
    stream = _stream_id(connection, fetch.stream)
    ingestion = _Ingestion(connection, stream, fetch, window_covers)
    ingestion.add_items()
    if fetch.is_complete:
        ingestion.add_absences()
    connection.execute(
        "INSERT OR IGNORE INTO reads VALUES (?, ?, ?, ?, ?, ?, ?)",
        (stream, fetch.seen, *fetch.key, int(fetch.is_complete), fetch.since, fetch.until),
    )


def defer(connection: sqlite3.Connection, stream: str, key: Key) -> None:
    """Leave a fetch to be ingested by the next question about its stream."""
    connection.execute("INSERT OR IGNORE INTO due VALUES (?, ?, ?)", (_stream_id(connection, stream), *key))


def pending(connection: sqlite3.Connection, stream: str) -> list[Key]:
    """Return the fetches of a stream that are not ingested yet, in the order of :func:`journal.fetches`."""
    rows = connection.execute(
        "SELECT f.origin, f.fetch FROM due f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.fetch "  # noqa: S608
        f"WHERE f.pool = {_POOL} ORDER BY {in_order_of('f.fetch')}",
        (stream,),
    )
    return [Key(*row) for row in rows]


def has_ingested(connection: sqlite3.Connection, stream: str, key: Key, since: int) -> bool:
    """Return whether a fetch is in the index, as received at or after ``since``."""
    query = f"SELECT 1 FROM reads WHERE pool = {_POOL} AND seen >= ? AND origin = ? AND fetch = ?"  # noqa: S608
    return connection.execute(query, (stream, since, *key)).fetchone() is not None


def defer_all(connection: sqlite3.Connection, stream: str) -> None:
    """Remove all fetches of a stream from the index, and leave them to the next question about it."""
    number = _stream_id(connection, stream)
    connection.execute(
        "INSERT OR IGNORE INTO due SELECT DISTINCT pool, origin, fetch FROM reads WHERE pool = ?", (number,)
    )
    for table in ("reads", "versions", "sights", "reigns"):
        connection.execute(f"DELETE FROM {table} WHERE pool = ?", (number,))  # noqa: S608 - our names


def mark_ingested(connection: sqlite3.Connection, key: Key) -> None:
    connection.execute("DELETE FROM due WHERE origin = ? AND fetch = ?", key)


def has_fetches(connection: sqlite3.Connection, stream: str) -> bool:
    """Return whether the stream has a fetch, ingested or pending."""
    query = f"SELECT 1 FROM reads WHERE pool = {_POOL} UNION ALL SELECT 1 FROM due WHERE pool = {_POOL}"  # noqa: S608
    return connection.execute(query, (stream, stream)).fetchone() is not None


def latest(connection: sqlite3.Connection, stream: str, instant: int) -> tuple[Key, int] | None:
    """Return the last complete fetch of the stream received by ``instant``, and when it was received."""
    row = connection.execute(
        "SELECT r.origin, r.fetch, r.seen FROM reads r JOIN pools p ON p.id = r.pool "
        "WHERE p.name = ? AND r.complete AND r.seen <= ? ORDER BY r.seen DESC, r.origin DESC, r.fetch DESC LIMIT 1",
        (stream, instant),
    ).fetchone()
    return None if row is None else (Key(row[0], row[1]), row[2])


def records_as_of(
    connection: sqlite3.Connection, stream: str, instant: int, newest: int, oldest: int = microseconds.NEVER
) -> Iterator[Record]:
    """Yield the records as of ``instant``, from ``newest`` to ``oldest``. Raise ArchiveError for a wrong checksum."""
    try:
        rows = connection.execute(
            "SELECT r.mark, v.payload, r.position, r.start, r.stop, r.item, r.first_seen, v.available, v.revised, "
            "v.stamp FROM reigns r JOIN versions v ON v.id = r.version "
            "WHERE r.pool = (SELECT id FROM pools WHERE name = ?) AND r.position BETWEEN ? AND ? "
            "AND r.start <= ? AND r.stop > ? ORDER BY r.position DESC, r.item",
            (stream, oldest, newest, instant, instant),
        )
        for checksum, payload, *validity in rows:
            if checksum != _checksum(*validity, payload=payload):
                raise ArchiveError(_DAMAGED)
            yield _record(payload, *validity[3:])
    except sqlite3.Error as error:
        raise archive_error(error) from error
    except BROKEN as error:
        raise ArchiveError(_DAMAGED) from error


def _checksum(*values: Any, payload: str) -> int:
    """Return a checksum of a row and its payload. SQLite has none, and a changed byte may be an instant."""
    return crc32(payload.encode(), crc32(str(values).encode("utf-8", "surrogatepass")))


class _Run(NamedTuple):
    """A run as it is stored. Several observations of one instant are several rows.

    Of the instants at which the versions were observed, the first, the last and the one before it are enough: another
    fetch of the last instant may still split the run there.
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
    """Adds one fetch to the index.

    An item that is as it was last costs one update. For every other item, :mod:`pit_fetch.archive.store.history` is
    asked again, and its rows are replaced.
    """

    def __init__(
        self, connection: sqlite3.Connection, stream: int, fetch: IndexedFetch, window_covers: WindowCovers
    ) -> None:
        self.connection, self.stream, self.fetch, self.window_covers = connection, stream, fetch, window_covers
        # The complete fetches before this one, newest first, and since when each covers dated items.
        self.complete: list[tuple[str, int, int, int | None]] | None = None
        self.rows: dict[str, list[tuple[Any, ...]]] = {statement: [] for statement in _STATEMENTS}
        (self.last_version,) = connection.execute("SELECT coalesce(max(id), 0) FROM versions").fetchone()

    def add_items(self) -> None:
        """Add an observation of each item that the fetch contains."""
        runs: dict[str, list[_Run]] = {}
        for item, *run in self.connection.execute(_LATEST_RUNS, (json.dumps([*self.fetch.items]), self.stream)):
            runs.setdefault(item, []).append(_Run(*run))
        numbers = [int(number) for latest in runs.values() for run in latest for number in run.versions.split()]
        ids: dict[tuple[str, _Content], int] = {}
        for item, available, revised, payload, number in self.connection.execute(_CONTENTS, (json.dumps(numbers),)):
            ids[item, (available, revised, payload)] = number
        changed: dict[str, Sequence[Version]] = {}
        for item, versions in self.fetch.items.items():
            latest, public = runs.get(item, []), self._public(versions)
            known = [ids.get((item, _content(version)), 0) for version in public]
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
        query = (
            "SELECT item, said FROM sights WHERE pool = ? AND latest = 1 AND said != '' AND last < ? "
            "AND (position IS NULL OR position BETWEEN ? AND ?)"
        )
        contents: dict[str, list[str]] = {}  # several fetches of one instant may each have had another
        for item, versions in self.connection.execute(query, (self.stream, self.fetch.seen, since, until)):
            contents.setdefault(item, []).append(versions)
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
        before = run.last if seen > run.last else run.before
        self.rows[_EXTEND_RUN].append((seen, before, self.stream, item, run.first, run.versions))

    def _observe(self, items: Mapping[str, Sequence[Version]], stored: Mapping[str, dict[int, StoredVersion]]) -> None:
        """Add an observation of these versions of each item, and write everything. ``stored`` names all known items."""
        runs: dict[str, set[_Run]] = {}
        for item, *run in self.connection.execute(_RUNS, (json.dumps([*stored]), self.stream)):
            runs.setdefault(item, set()).add(_Run(*run))
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
        self.rows[_ADD_RUN].append((self.stream, item, *run))
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
            self.complete = self.connection.execute(
                "SELECT origin, fetch, seen, since FROM reads WHERE pool = ? AND seen < ? AND complete "
                "ORDER BY seen DESC, origin DESC, fetch DESC",
                (self.stream, seen),
            ).fetchall()
        records: list[Record] = []
        for origin, fetch, instant, covered_since in self.complete:
            if instant < since:
                break
            records = records or [record(item, version.stored()) for version in versions]
            if self.window_covers(Key(origin, fetch), _from(records, covered_since)):
                return instant
        return None

    def _replace(
        self,
        item: str,
        history_of_item: Sequence[ObservationRun],
        runs: set[_Run],
        stored: Mapping[int, StoredVersion],
        numbers: Mapping[ItemVersion, int],
    ) -> None:
        revised = {
            _Run(
                run.first,
                run.last,
                run.before,
                observation.counts_from,
                _joined(numbers[version] for version in observation.versions),
                _position(stored[numbers[version]] for version in observation.versions),
                int(run is history_of_item[-1]),
            )
            for run in history_of_item
            for observation in run.observations
        }
        for run in runs - revised:
            self.rows[_DELETE_RUN].append((self.stream, item, run.first, run.versions))
        self.rows[_ADD_RUN] += ((self.stream, item, *run) for run in revised - runs)
        if runs:
            self.rows[_DELETE_VALIDITIES].append((self.stream, item))
        validities = history.validities(history_of_item)
        for validity, following in zip_longest(validities, validities[1:]):
            if validity.version is not None:
                number = numbers[validity.version]
                stop = microseconds.ALWAYS if following is None else following.start
                self._add_validity(item, validity.start, stop, number, stored[number], validity.first_seen)

    def _add_validity(
        self, item: str, start: int, stop: int, number: int, version: StoredVersion, first_seen: int | None
    ) -> None:
        position = version.available if version.available is not None else first_seen
        validity = (position, start, stop, item, first_seen, version.available, version.revised, version.stamp)
        checksum = _checksum(*validity, payload=version.payload)
        self.rows[_ADD_VALIDITY].append((self.stream, position, item, start, stop, number, first_seen, checksum))

    def _numbers(self, item: str, versions: Sequence[Version], stored: dict[int, StoredVersion]) -> list[int]:
        """Return the ids of versions of an item. Those that are not ``stored`` are added to it, and stored."""
        numbers: list[int] = []
        by_content = {_content(version): number for number, version in stored.items()}
        by_key = {version.key: number for number, version in stored.items()}
        for version in versions:
            number = by_content.get(_content(version))
            if number is None:
                added = version.stored()
                number = by_key.get(added.key)
                if number is None:
                    self.last_version = number = by_key[added.key] = self.last_version + 1
                    stored[number] = added
                    checksum = _checksum(*added[:5], payload=added.payload)
                    self.rows[_ADD_VERSION].append((number, self.stream, item, *added, checksum))
            numbers.append(number)
        return numbers

    def _stored(self, items: Iterable[str]) -> dict[str, dict[int, StoredVersion]]:
        """Return all versions of the items, by their ids. Raise ArchiveError if one does not match its checksum."""
        stored: dict[str, dict[int, StoredVersion]] = {item: {} for item in items}
        for item, number, checksum, *row in self.connection.execute(_VERSIONS, (json.dumps([*stored]), self.stream)):
            version = StoredVersion(*row)
            if checksum != _checksum(*version[:5], payload=version.payload):
                raise ArchiveError(_DAMAGED)
            stored[item][number] = version
        return stored


def _from(records: Iterable[Record], oldest: int | None) -> list[Record]:
    """Return the records that were available at or after ``oldest`` (None: all), and undated ones."""
    starts = microseconds.from_micros(oldest)
    return [made for made in records if starts is None or made.available_at is None or made.available_at >= starts]


def _content(version: Version) -> _Content:
    """Return what tells a version from the others of its item without a digest."""
    return version.available, version.revised, version.payload


def _joined(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(set(numbers))))


def _position(versions: Iterable[StoredVersion]) -> int | None:
    """Return where the window of a fetch would have to reach to cover one of these versions."""
    return max((version.available for version in versions if version.available is not None), default=None)


def _stream_id(connection: sqlite3.Connection, name: str) -> int:
    connection.execute("INSERT OR IGNORE INTO pools (name) VALUES (?)", (name,))
    (number,) = connection.execute("SELECT id FROM pools WHERE name = ?", (name,)).fetchone()
    return int(number)
