"""Add fetches to the index, in the order of their receipt.

An item that is as it was last costs one update. For every other item, :mod:`pit_fetch.archive.store.history` is asked
again, and its rows are replaced. What is read to decide that is checked first: a changed bit would otherwise be
written again, with a good checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from pit_fetch.archive.store import bodies, history, index, items, microseconds, payloads, rows
from pit_fetch.archive.store.checksums import DAMAGED_INDEX, row_checksum, stream_salt
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.archive.store.history import ItemVersion, Observation, Stretch, is_public
from pit_fetch.archive.store.index import FetchRow, FetchToIndex
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive.store.payloads import Dictionary
from pit_fetch.archive.store.rows import StretchRow, ValidityRow
from pit_fetch.archive.store.versions import Content, Form, StoredVersion, Version, content, item_version, record
from pit_fetch.provider import Record

WindowCovers = Callable[[Key, Sequence[Record]], bool]

_THERE = (
    "SELECT v.item FROM validities r LEFT JOIN versions v ON v.id = r.version "
    "WHERE r.stream = ? AND r.position BETWEEN ? AND ? AND r.stop IS NULL "
    "UNION SELECT item FROM stretches WHERE stream = ? AND cover_from IS NOT NULL"
)
_BESIDE = (
    "SELECT DISTINCT v.item FROM json_each(?) j CROSS JOIN validities r ON r.stream = ? AND r.position = j.value "
    "LEFT JOIN versions v ON v.id = r.version"
)
_CONTENTS = (
    "SELECT v.item, v.form, v.available, v.revised, v.payload, v.id FROM json_each(?) j "
    "CROSS JOIN versions v ON v.id = j.value"
)
_VERSIONS = (
    "SELECT v.item, v.id, v.checksum, v.form, v.content, v.available, v.revised, v.payload FROM json_each(?) j "
    "CROSS JOIN versions v ON v.id = j.value"
)
_ADD_FORM = "INSERT INTO forms VALUES (?, ?, ?, ?)"
_ADD_ITEM = "INSERT INTO items VALUES (?, ?, ?, ?)"
_ADD_VERSION = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_EXTEND_STRETCH = (
    "UPDATE stretches SET last = ?, before = ?, checksum = ? "
    "WHERE stream = ? AND item = ? AND first = ? AND versions = ?"
)
_DELETE_STRETCH = "DELETE FROM stretches WHERE stream = ? AND item = ? AND first = ? AND versions = ?"
_ADD_STRETCH = "INSERT OR IGNORE INTO stretches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE_VALIDITY = "DELETE FROM validities WHERE stream = ? AND position = ? AND version = ? AND start = ?"
_ADD_VALIDITY = "INSERT INTO validities VALUES (?, ?, ?, ?, ?, ?, ?)"
# In the order in which they have to be executed.
_STATEMENTS = (
    *(_ADD_FORM, _ADD_ITEM, _ADD_VERSION),
    *(_EXTEND_STRETCH, _DELETE_STRETCH, _ADD_STRETCH, _DELETE_VALIDITY, _ADD_VALIDITY),
)


# The items of so much more time are looked for at once: the next fetches cover nearly the same.
_MARGIN = 24 * 3_600_000_000


class Standing(NamedTuple):
    """The last stretches of an item, and their versions by number."""

    stretches: Sequence[StretchRow]
    versions: Mapping[int, StoredVersion]


class Standings:
    """The items of a stream that are there in a span of time, from one fetch to the next of one transaction.

    What a request lacks is looked for among the items of its time. These may be those of thousands of other requests:
    where a request is narrowed to values of a field, only the items with one of these are looked at.

    stale  the items that were observed since
    """

    def __init__(self, stream: str = "", since: int = microseconds.ALWAYS, until: int = microseconds.NEVER) -> None:
        self.stream, self.since, self.until = stream, since, until
        self.items: dict[str, Standing] = {}
        self.stale: set[str] = set()
        self._by_value: dict[str, dict[object, set[str]]] = {}

    def put(self, found: Mapping[str, Standing]) -> None:
        self.items |= found
        self.stale -= found.keys()
        for field in self._by_value:
            self._file(field, found)

    def having(self, narrowed: Mapping[str, Collection[str]]) -> Collection[str]:
        """Return the items, without those that have none of the values in a field to which a request is narrowed."""
        among: Collection[str] = self.items
        for field, values in narrowed.items():
            if field not in self._by_value:
                self._by_value[field] = {}
                self._file(field, self.items)
            either = [self._by_value[field].get(value, set()) for value in (None, *values)]
            among = set().union(*either).intersection(among)
        return among

    def _file(self, field: str, standings: Mapping[str, Standing]) -> None:
        """File items under each value of a field, and under None if that is no list. What one had before, it keeps."""
        by_value = self._by_value[field]
        for item, standing in standings.items():
            for version in standing.versions.values():
                for value in _values(record(item, version), field):
                    by_value.setdefault(value, set()).add(item)


def _values(record: Record, field: str) -> set[str | None]:
    """Return the values that a field of a record lists; None among them if it is no list of texts."""
    values = record.payload.get(field)
    if not isinstance(values, list):
        return {None}
    return {value.casefold() if isinstance(value, str) else None for value in values}


def add(
    connection: sqlite3.Connection,
    fetch: FetchToIndex,
    window_covers: WindowCovers,
    standings: Standings | None = None,
) -> Standings:
    """Add a fetch to the index. Fetches must be added in the order in which they were received. Raise Damaged.

    ``window_covers`` tells whether an earlier fetch would have contained records, had they been there. ``standings``
    are those that the last call in the same transaction has returned.
    """
    stream_id, salt = index.stream_id(connection, fetch.stream), stream_salt(fetch.stream)
    is_known = standings is not None and standings.stream == fetch.stream
    ingestion = _Ingestion(
        connection, stream_id, fetch, window_covers, standings if standings and is_known else Standings()
    )
    ingestion.add_items()
    if fetch.shows_absence:
        ingestion.add_absences()
    ingestion.standings.stale.update(fetch.items)
    held = index.first_held(connection, fetch.stream, fetch.rows)
    connection.executemany(
        "INSERT INTO first_held VALUES (?, ?, ?, ?)",
        ((stream_id, row, fetch.seen, row_checksum(salt, row, fetch.seen)) for row in fetch.rows if row not in held),
    )
    complete = index.COMPLETE if fetch.shows_absence else index.INCOMPLETE if fetch.has_every_item else index.IN_PART
    is_ended, *span, _ = fetch.asked
    read = (fetch.seen, *fetch.key, complete, fetch.since, fetch.until, int(is_ended), *span)
    row = (stream_id, *read, index.terms_id(connection, stream_id, fetch.asked))
    added = connection.execute(
        f"INSERT OR IGNORE INTO reads VALUES ({', '.join('?' * len(row))}, ?)",
        (*row, row_checksum(salt, *read, fetch.asked.text)),
    )
    index.count_reads(connection, fetch.stream, stream_id, added.rowcount)
    return ingestion.standings


class _Ingestion:
    """The work of adding one fetch to the index. Statements are collected, and executed table by table."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        stream_id: int,
        fetch: FetchToIndex,
        window_covers: WindowCovers,
        standings: Standings,
    ) -> None:
        self.connection, self.stream_id, self.fetch, self.window_covers = connection, stream_id, fetch, window_covers
        self.standings = standings
        self.salt = stream_salt(fetch.stream)
        self.complete: list[FetchRow] | None = None  # the complete fetches before this one, newest first
        self.rows: dict[str, list[tuple[Any, ...]]] = {statement: [] for statement in _STATEMENTS}
        self.numbers = items.numbers(connection, stream_id, self.salt, fetch.items)
        self.names = {number: name for name, number in self.numbers.items()}
        self.forms = items.forms(connection, stream_id)
        self.form_numbers = {form: number for number, form in self.forms.items()}
        self.texts = index.texts_of(connection, fetch.stream)
        self.last_form, self.last_item, self.last_version = map(self._highest_id, ("forms", "items", "versions"))

    def add_items(self) -> None:
        """Add an observation of each item that the fetch contains."""
        latest = self._stretches(self.numbers, latest=True)
        self._check_latest(self.numbers, latest)
        self._check_new()
        ids: dict[tuple[int, Content], int] = {}
        numbers = [number for stretches in latest.values() for stretch in stretches for number in stretch.numbers]
        for item, form, available, revised, values, number in self.connection.execute(
            _CONTENTS, (json.dumps(numbers),)
        ):
            ids[item, (self.forms[form].names, available, revised, self.texts(values))] = number
        changed: dict[str, Sequence[Version]] = {}
        for item, versions in self.fetch.items.items():
            stretches, number = latest.get(item, []), self.numbers.get(item, 0)
            known = [ids.get((number, content(version)), 0) for version in versions]
            # Most items are as they were last: their stretch becomes longer, which is one UPDATE, and no rule is asked.
            is_same = len(stretches) == 1 and stretches[0].versions == rows.join_numbers(known)
            is_longer = is_same and stretches[0].counts_from <= self.fetch.counts_from
            if is_longer and all(is_public(version.stamped_at, stretches[0].first) for version in versions):
                self._extend(item, stretches[0])
            else:
                changed[item] = versions
        self._observe(changed)

    def add_absences(self) -> None:
        """Add an observation of absence of each item that is there, and that the fetch lacks and covers."""
        since = microseconds.NEVER if self.fetch.since is None else self.fetch.since
        until = microseconds.ALWAYS if self.fetch.until is None else self.fetch.until
        self._update_standings(since, until)
        covered = [
            item
            for item in self.standings.having(self.fetch.narrowed)
            if item not in self.fetch.items and self._covers(item, self.standings.items[item], since, until)
        ]
        numbers = items.numbers(self.connection, self.stream_id, self.salt, covered)
        self.numbers.update(numbers)
        self.names.update((number, name) for name, number in numbers.items())
        self._observe(dict.fromkeys(covered, ()))
        self.standings.stale.update(covered)

    def _update_standings(self, since: int, until: int) -> None:
        """Let the standings have each item that may be there between two positions, and that the fetch lacks."""
        own = self.fetch.items.keys()
        if not (self.standings.since <= since and until <= self.standings.until):
            wider = min(until + _MARGIN, microseconds.ALWAYS)
            self.standings = Standings(self.fetch.stream, since, wider)
            self.standings.stale.update(own)
            there = self.connection.execute(_THERE, (self.stream_id, since, wider, self.stream_id))
            named = self._look_up_names({item for (item,) in there} - self.names.keys())
        else:
            numbers = items.numbers(self.connection, self.stream_id, self.salt, self.standings.stale - own)
            named = {number: name for name, number in numbers.items()}
        latest = items.stretches(self.connection, self.stream_id, self.salt, named, latest=True)
        # Without its last stretch, no fetch could show that an item is gone.
        self._check_latest(named.values(), latest)
        self.names.update(named)
        held = (number for stretches in latest.values() for stretch in stretches for number in stretch.numbers)
        stored = self._stored(held)
        self.standings.put(
            {
                name: Standing(
                    stretches, {number: stored[number] for stretch in stretches for number in stretch.numbers}
                )
                for name, stretches in latest.items()
            }
        )

    def _covers(self, item: str, standing: Standing, since: int, until: int) -> bool:
        """Return whether an item is there by one of its last stretches, and the fetch would have had it."""
        for stretch in standing.stretches:
            # Several fetches of one instant may each have had another content.
            if stretch.versions and stretch.last < self.fetch.seen:
                versions = [standing.versions[number] for number in stretch.numbers]
                dates = [version.available for version in versions if version.available is not None]
                newest = max(dates, default=None) if stretch.cover_from is None else stretch.cover_from
                is_within = newest in (None, microseconds.NEVER) or since <= newest <= until
                if is_within and self.window_covers(self.fetch.key, [record(item, version) for version in versions]):
                    return True
        return False

    def _extend(self, item: str, stretch: StretchRow) -> None:
        seen = self.fetch.seen
        longer = stretch._replace(last=seen, before=stretch.last if seen > stretch.last else stretch.before)
        _, last, before, *_ = longer.columns
        checksum = row_checksum(self.salt, item, *longer.columns)
        self.rows[_EXTEND_STRETCH].append(
            (last, before, checksum, self.stream_id, self.numbers[item], stretch.first, stretch.versions)
        )

    def _observe(self, observed: Mapping[str, Sequence[Version]]) -> None:
        """Add an observation of these versions of each item, and write everything."""
        stretches = self._stretches(item for item in observed if item in self.numbers)
        stored = self._stored(
            number for item_stretches in stretches.values() for stretch in item_stretches for number in stretch.numbers
        )
        for item_stretches in stretches.values():
            self._check_whole(item_stretches, stored)
        for item, versions in observed.items():
            item_stretches = stretches.get(item, [])
            self._observe_item(
                item, versions, item_stretches, {n: stored[n] for stretch in item_stretches for n in stretch.numbers}
            )
        self._write()

    def _observe_item(
        self, item: str, versions: Sequence[Version], stretches: Sequence[StretchRow], stored: dict[int, StoredVersion]
    ) -> None:
        is_sole = not stretches and len(versions) == 1 and is_public(versions[0].stamped_at, self.fetch.seen)
        if is_sole and self._absence_before(item, ()) is None:  # as most of the items of a new window are
            self._add_first_seen(item, versions[0].stored())
            return
        contents = {number: item_version(version) for number, version in stored.items()}
        before = [observation for stretch in stretches for observation in stretch.observations(contents)]
        current = self._current(item, versions, stored, contents)
        observed = [*before, Observation(self.fetch.seen, current, self.fetch.counts_from)]
        absence = self._absence_before(item, before)
        if absence is not None:
            observed.append(Observation(absence, history.NOTHING, self.fetch.counts_from))
        numbers = {version: number for number, version in contents.items()}
        self._replace(item, stretches, history.stretches(before), history.stretches(observed), stored, numbers)

    def _add_first_seen(self, item: str, version: StoredVersion) -> None:
        """Add an item that was not seen before, in one version."""
        number = self._add_version(item, version)
        stretch, validity = rows.sole_rows(number, version, self.fetch.seen, self.fetch.counts_from)
        self._add_stretch(item, stretch)
        self._add_validity(item, validity, version)

    def _absence_before(self, item: str, observed: Sequence[Observation]) -> int | None:
        """Return when a complete fetch lacked an item that turns up now, although it may have been there by then.

        The last such fetch is enough. What is undated may be dated by a later fetch, and as early as that says.
        """
        versions, seen = self.fetch.items.get(item, ()), self.fetch.seen
        settled = (before for before in observed if before.seen < seen and before.is_settled)
        earlier = max(settled, default=None, key=attrgetter("seen"))
        if not versions or (earlier is not None and earlier.public):
            return None
        stamps = [microseconds.NEVER if version.stamped_at is None else version.stamped_at for version in versions]
        since = min(stamps) if earlier is None else max(min(stamps), earlier.seen + 1)
        held = {before.seen for before in observed if not before.is_settled}
        if self.complete is None:
            wanted = index.Wanted(seen_from=self._first_stamp(), seen_until=seen - 1, terms=self._terms())
            reads = index.reads_of(self.connection, self.fetch.stream, wanted)
            self.complete = [read for read in reads if read.shows_absence]
        records: list[Record] = []
        for read in self.complete:
            if read.seen < since:  # reads come newest first
                break
            if read.seen in held:
                continue
            records = records or [record(item, version.stored()) for version in versions]
            if self.window_covers(read.key, _available_since(records, read.since)):
                return read.seen
        return None

    def _terms(self) -> dict[str, set[str]]:
        """Return the values for which a fetch that could have contained one of this one's items asked, if any."""
        terms = {}
        for option, field in self.fetch.fields.items():
            made = (record(item, found.stored()) for item, versions in self.fetch.items.items() for found in versions)
            values = {value for each in made for value in _values(each, field)}
            if None not in values:
                terms[option] = {value for value in values if value is not None}
        return terms

    def _first_stamp(self) -> int:
        """Return the earliest instant of the fetch's versions: no read before it could have contained one of them."""
        stamps = [version.stamped_at for versions in self.fetch.items.values() for version in versions]
        return min((microseconds.NEVER if stamp is None else stamp for stamp in stamps), default=microseconds.NEVER)

    def _current(
        self,
        item: str,
        versions: Sequence[Version],
        stored: dict[int, StoredVersion],
        contents: dict[int, ItemVersion],
    ) -> frozenset[ItemVersion]:
        """Return what the fetch has of an item. What is not stored yet is stored, and added to the dicts."""
        by_content = {content(version): number for number, version in stored.items()}
        by_key = {version.key: number for number, version in contents.items()}
        numbers: list[int] = []
        for version in versions:
            number = by_content.get(content(version))
            if number is None:
                added = version.stored()
                made = item_version(added)
                number = by_key.get(made.key)
                if number is None:
                    number = by_key[made.key] = self._add_version(item, added)
                    stored[number], contents[number] = added, made
            numbers.append(number)
        return frozenset(contents[number] for number in numbers)

    def _replace(
        self,
        item: str,
        stretches: Sequence[StretchRow],
        before: Sequence[Stretch],
        after: Sequence[Stretch],
        stored: Mapping[int, StoredVersion],
        numbers: Mapping[ItemVersion, int],
    ) -> None:
        """Write what the new history of an item has in the place of the old one, of which there are ``stretches``."""
        revised = rows.stretch_rows(after, numbers, stored)
        for stretch in set(stretches) - revised:  # most rows of a long history stay as they are
            self.rows[_DELETE_STRETCH].append((self.stream_id, self.numbers[item], stretch.first, stretch.versions))
        for stretch in revised.difference(stretches):
            self._add_stretch(item, stretch)
        obsolete, valid = (rows.validity_rows(item_stretches, numbers, stored) for item_stretches in (before, after))
        for position, version, start, *_ in obsolete - valid:
            self.rows[_DELETE_VALIDITY].append((self.stream_id, position, version, start))
        for validity in valid - obsolete:
            self._add_validity(item, validity, stored[validity.version])

    def _add_stretch(self, item: str, stretch: StretchRow) -> None:
        checksum = row_checksum(self.salt, item, *stretch.columns)
        self.rows[_ADD_STRETCH].append((self.stream_id, self._item_number(item), *stretch.columns, checksum))

    def _add_validity(self, item: str, validity: ValidityRow, version: StoredVersion) -> None:
        checksum = rows.validity_checksum(self.salt, item, validity, version)
        self.rows[_ADD_VALIDITY].append((self.stream_id, *validity, checksum))

    @cached_property
    def dictionary(self) -> Dictionary | None:
        """With what the texts of the stream are packed, if zstandard is there, and texts enough to make it."""
        if not bodies.has_zstandard():
            return None
        known = index.dictionary_of(self.connection, self.fetch.stream)
        if known is None:
            texts = (version.values for versions in self.fetch.items.values() for version in versions)
            content = payloads.dictionary_of(texts)
            if content is not None:
                row = (self.stream_id, content, row_checksum(self.salt, content))
                self.connection.execute("INSERT INTO dictionaries VALUES (?, ?, ?)", row)
                known = Dictionary(content)
        return known

    def _add_version(self, item: str, version: StoredVersion) -> int:
        """Store a version, and return its number."""
        self.last_version += 1
        form, content, available, revised, values = version
        checksum = rows.version_checksum(self.salt, item, version)
        numbers = self.last_version, self._item_number(item), self._form_number(form)
        packed = self.dictionary.pack(values) if len(values) >= payloads.LONG and self.dictionary else values
        row = (*numbers, content, available, revised, packed, checksum)
        self.rows[_ADD_VERSION].append(row)
        return self.last_version

    def _item_number(self, item: str) -> int:
        """Return the number of an item, which is added if it is new."""
        if item not in self.numbers:
            self.last_item += 1
            self.numbers[item], self.names[self.last_item] = self.last_item, item
            checksum = items.item_checksum(self.salt, self.stream_id, item)
            self.rows[_ADD_ITEM].append((self.last_item, self.stream_id, item, checksum))
        return self.numbers[item]

    def _form_number(self, form: Form) -> int:
        """Return the number of a form, which is added if it is new."""
        if form not in self.form_numbers:
            self.last_form += 1
            self.form_numbers[form], self.forms[self.last_form] = self.last_form, form
            self.rows[_ADD_FORM].append((self.last_form, self.stream_id, *form))
        return self.form_numbers[form]

    def _highest_id(self, table: str) -> int:
        (number,) = self.connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
        return int(number)

    def _write(self) -> None:
        """Execute the statements. Raise Damaged if what is to be replaced is not there."""
        for statement, values in self.rows.items():
            done = self.connection.executemany(statement, values)
            if statement == _DELETE_VALIDITY and done.rowcount != len(values):
                raise Damaged(DAMAGED_INDEX)
            values.clear()  # add_absences collects anew

    def _stretches(self, names: Iterable[str], *, latest: bool = False) -> dict[str, list[StretchRow]]:
        """Return the stretches of these items, which the stream has. Raise Damaged."""
        named = {self.numbers[name]: name for name in names}
        return items.stretches(self.connection, self.stream_id, self.salt, named, latest=latest)

    def _look_up_names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the names of items of the stream. Raise Damaged."""
        return items.names(self.connection, self.stream_id, self.salt, [*numbers])

    def _check_new(self) -> None:
        """Raise Damaged if an item that seems to be new has a version in the index: what is known of it was lost."""
        new = [versions for item, versions in self.fetch.items.items() if item not in self.numbers]
        positions = {version.available for versions in new for version in versions if version.available is not None}
        beside = self.connection.execute(_BESIDE, (json.dumps([*positions]), self.stream_id))
        self._look_up_names({item for (item,) in beside} - self.names.keys())

    def _check_latest(self, names: Iterable[str], latest: Mapping[str, object]) -> None:
        """Raise Damaged if an item of the stream has no last stretch."""
        if not latest.keys() >= {*names}:
            raise Damaged(DAMAGED_INDEX)

    def _check_whole(self, stretches: Sequence[StretchRow], stored: Mapping[int, StoredVersion]) -> None:
        """Raise Damaged if a row of the history of an item, or one of its versions, is missing."""
        numbers = {number for stretch in stretches for number in stretch.numbers}
        if {stretch.latest for stretch in stretches} - {0} != {len(stretches)} or not numbers <= stored.keys():
            raise Damaged(DAMAGED_INDEX)

    def _stored(self, numbers: Iterable[int]) -> dict[int, StoredVersion]:
        """Return versions of items of the fetch, or of those that it lacks, by their numbers. Raise Damaged."""
        stored: dict[int, StoredVersion] = {}
        for item, number, checksum, form, *columns in self.connection.execute(_VERSIONS, (json.dumps([*numbers]),)):
            columns[-1] = self.texts(columns[-1])
            version = StoredVersion(self.forms[form], *columns)
            if checksum != rows.version_checksum(self.salt, self.names[item], version):
                raise Damaged(DAMAGED_INDEX)
            stored[number] = version
        return stored


def _available_since(records: Iterable[Record], oldest: int | None) -> list[Record]:
    """Return the records that were available at or after ``oldest`` (None: all), and undated ones."""
    starts = microseconds.from_micros(oldest)
    return [made for made in records if starts is None or made.available_at is None or made.available_at >= starts]
