"""Experiments on a recorded reply: which part of it is which record, and on what its stamps rest.

Both are found by experiment: a part is left out, or a value put in the place of another, and the difference shows. So
no form of a stamp and no name of a field has to be known, and a row counts as late by its own dates in the recording,
also where the provider makes no record of it.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.provider import Basis, Operation
from pit_fetch.testing.baseline import observe_baseline
from pit_fetch.testing.documents import (
    Path,
    containers,
    decode,
    encode_like,
    field_name,
    format_of,
    leaves,
    node_at,
)
from pit_fetch.testing.runner import Case, ObservedRun, PublicVersion, ServerFailed, failure, observe, public_from
from pit_fetch.testing.timestamps import EARLIEST_ZONE, clock_of, floor, is_date, order_of, postpone, stamp_of
from pit_fetch.times import wall_clock

Change = Callable[[Any], None]

MAX_ROWS = 60
# Rows that are examined one by one: enough to meet every shape of a recording that was made with care.
EXAMINED = 8
# The calendar's end, as sources write it.
_NEVER = 2100
# What an edit can come to that neither the format of the reply nor the author's own server can hold.
IMPOSSIBLE = (KeyError, IndexError, TypeError, ValueError, OverflowError, ServerFailed)
# The name of the keys of rows that lie in a map.
KEY = "(key)"
# Edits work on a document in a box, so that a document that is one record can be left out like a row.
_BOX = ""


@dataclass(frozen=True)
class ReplyRow:
    """A part of the reply: the path of the list (or map) that holds it, its key there, and the versions it makes."""

    container: Path
    key: Any
    versions: frozenset[PublicVersion] = frozenset()

    @property
    def path(self) -> Path:
        return (*self.container, self.key)

    @property
    def ids(self) -> set[str]:
        return {version.id for version in self.versions}

    def pattern(self, path: Path) -> Path:
        """Return a path below the row in a form that is equal in every row: list indices count as one."""
        return tuple("*" if isinstance(part, int) else part for part in path[len(self.container) + 1 :])


@dataclass(frozen=True)
class RecordedReply:
    """The findings of experiments on a recorded reply.

    baseline  the run on the reply as it is
    rows      the rows that make records
    """

    case: Case
    baseline: ObservedRun
    rows: tuple[ReplyRow, ...]
    _runs: dict[datetime, ObservedRun] = field(default_factory=dict, compare=False, repr=False)

    def run_at(self, pit: datetime) -> ObservedRun:
        """Return the run on the recorded reply at ``pit``, made once: another check is that a second is the same."""
        if pit not in self._runs:
            self._runs[pit] = observe(self.case, pit)
        return self._runs[pit]

    @cached_property
    def tree(self) -> Any:
        return _tree_of(self.case)

    @property
    def document(self) -> Any:
        return self.tree[_BOX]

    @cached_property
    def containers(self) -> list[Path]:
        return list(dict.fromkeys(row.container for row in self.rows))

    @cached_property
    def every(self) -> tuple[ReplyRow, ...]:
        """All rows, also those beside the ones that make records: a provider may have chosen, or merged."""
        known = {row.path: row for row in self.rows}
        paths = [(path, key) for path in self.containers for key in _keys_of(node_at(self.tree, path))]
        return tuple(known.get((*path, key), ReplyRow(path, key)) for path, key in paths)

    @cached_property
    def snapshots(self) -> frozenset[str]:
        """The ids of records that are dated by their receipt."""
        return frozenset(record.id for record in self.baseline.records if record.at_receipt)

    @property
    def operation(self) -> Operation:
        """The operation that the recorded request asks for."""
        query = self.baseline.query
        return query.operation if query is not None else self.case.provider.operations[0]

    def declared(self, field: str) -> Basis | None:
        """Return what the author says of a field."""
        return next((basis for basis in reversed(self.operation.dating.basis) if basis.field == field), None)

    def value_at(self, row: ReplyRow, path: Path) -> Any:
        """Return what stands at ``path``, which may be the row's own key."""
        return path[-1] if path == row.path else node_at(self.tree, path)

    def leaves_of(self, row: ReplyRow) -> Iterator[tuple[Path, object]]:
        """Yield the paths and values of everything in a row, and its key, where rows are named."""
        if isinstance(row.key, str) and row.key != _BOX:
            yield row.path, row.key
        for path, value in leaves(node_at(self.tree, row.path)):
            yield (*row.path, *path), value

    def dates_of(self, row: ReplyRow) -> Iterator[tuple[Path, object]]:
        """Yield the paths and values of a row's date-like leaves, and its key, where rows are named by date."""
        for path, value in self.leaves_of(row):
            instant = floor(value)
            # A number within some years of the recording's own is an instant, any other an amount.
            is_text = isinstance(value, str) and not value.isdigit()
            if instant is not None and (is_text or abs(instant - self.case.now) < timedelta(days=1_500)):
                yield path, value

    @cached_property
    def basis(self) -> Mapping[Path, Path]:
        """What in a row moves its stamps: the pattern of each leaf, and one path where it was found.

        Dates are tried first, and every other leaf where they do not show how a row came to its stamps.
        """
        basis: dict[Path, Path] = {}

        def experiment(rows: Iterable[ReplyRow], candidates: Any, others: Any) -> None:
            tries: Counter[Path] = Counter()
            for row in rows:
                for path, value in candidates(row):
                    pattern = row.pattern(path)
                    # Each try is a run: what moved no stamp in four rows is taken to move none.
                    if pattern in basis or tries[pattern] >= 4:
                        continue
                    tries[pattern] += 1
                    if any(self._moves_stamps(put(row, path, other)) for other in others(row, path, value)):
                        basis[pattern] = path

        def is_unexplained(row: ReplyRow) -> bool:
            least = self.over(row, basis)
            return self.is_dated(row) and (least is None or any(v.public_from < least for v in row.versions))

        examined = self.rows[:EXAMINED]
        experiment(examined, self.dates_of, lambda row, path, value: _later(1, value))
        experiment(filter(is_unexplained, examined), lambda row: islice(self.leaves_of(row), 60), self._others)
        return basis

    def rests_elsewhere(self, row: ReplyRow) -> bool:
        """Return whether a date outside the row moves its stamps: one beside the rows, or in one that goes with it."""
        return any(
            self._moves_stamps(put(row, path, later), row.ids)
            for path, value in leaves(self.tree)
            if path[: len(row.path)] != row.path and floor(value) is not None
            for later in _later(1, value)
        )

    def is_dated(self, row: ReplyRow) -> bool:
        """Return whether the row makes records that are dated otherwise than by their receipt."""
        return not row.ids <= self.snapshots

    def sources(self, row: ReplyRow, basis: Mapping[Path, Path] | None = None) -> dict[Path, object]:
        """Return the leaves of a row that move its stamps."""
        known = self.basis if basis is None else basis
        return {path: value for path, value in self.leaves_of(row) if row.pattern(path) in known}

    def over(self, row: ReplyRow, basis: Mapping[Path, Path] | None = None) -> datetime | None:
        """Return the earliest instant at which what moves the row's stamps is over, None where it cannot be read.

        What is no date by itself (a clock in a field of its own, or each of a year, a month and a day) is read with
        what is, and with the other parts.
        """
        sources = {path: stamp_of(value) for path, value in self.sources(row, basis).items() if value not in (None, "")}
        dates = {path for path, value in sources.items() if floor(value) is not None}
        parts = [value for path, value in sources.items() if path not in dates]
        if not dates:
            return floor(" ".join(map(str, sources.values())), self.case.zone)
        if not parts or not all(is_date(sources[path]) for path in dates):
            return min((instant for path in dates if (instant := self.ends(row, path, sources[path]))), default=None)
        texts = [" ".join([str(sources[path]), *map(clock_of, parts)]) for path in dates]
        return min((instant for text in texts if (instant := floor(text, self.case.zone))), default=None)

    def ends(self, row: ReplyRow, path: Path, value: object) -> datetime | None:
        """Return when what a leaf names is over, or when it was by the author's calendar, if that is earlier."""
        value, basis = stamp_of(value), self.declared(field_of(path, row))
        instant = floor(value, self.case.zone, self.orders.get(row.pattern(path), ""))
        known = public_at_earliest(value, basis, self.case.zone) if basis is not None else None
        return min(instant, known) if instant is not None and known is not None else instant

    @cached_property
    def orders(self) -> Mapping[Path, str]:
        """Whether dates begin with the day or the month, by the pattern of their leaf, where one of them shows it."""
        columns: dict[Path, list[object]] = {}
        for row in self.every:
            for path, value in self.leaves_of(row):
                columns.setdefault(row.pattern(path), []).append(value)
        return {pattern: order_of(values) for pattern, values in columns.items()}

    @cached_property
    def validity(self) -> frozenset[Path]:
        """The patterns of dates until which a row's version held: the calendar's end, or where another one begins."""
        instants: dict[Path, list[datetime]] = {}
        starts: set[datetime] = set()
        for row in self.every:
            for path, value in self.dates_of(row):
                pattern, instant = row.pattern(path), floor(value)
                if instant is not None:
                    (starts.add if pattern in self.basis else instants.setdefault(pattern, []).append)(instant)
        versions = self.baseline.versions
        has_revisions = len({version.id for version in versions}) < len(versions)
        days = {day for start in starts for day in (start.date(), (start - timedelta(days=1)).date())}
        return frozenset(
            pattern
            for pattern, ends in instants.items()
            if any(end.year >= _NEVER for end in ends) or (has_revisions and all(end.date() in days for end in ends))
        )

    def is_late(self, row: ReplyRow, pit: datetime) -> bool:
        """Return whether the row was not public at ``pit``, by the stamps of its records or else by its own dates."""
        if row.versions:
            return all(version.public_from > pit for version in row.versions)
        return any(
            row.pattern(path) in self.basis and (instant := floor(value, self.case.zone)) and instant > pit
            for path, value in self.dates_of(row)
        )

    def late(self, pit: datetime) -> list[ReplyRow]:
        return [row for row in self.every if self.is_late(row, pit)]

    def _others(self, row: ReplyRow, path: Path, value: object) -> Iterator[object]:
        """Yield what the source could have put in a value's place: a week later, another row's, the next number."""
        if floor(value) is not None:  # another row's date can be what ties a row to that one
            yield from _later(7, value)
            return
        peers = (other for peer in self.every[:EXAMINED] for place, other in self.leaves_of(peer)
                 if peer.pattern(place) == row.pattern(path) and other not in (value, None, ""))  # fmt: skip
        yield from islice(dict.fromkeys(peers), 2)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield value + 1
        elif isinstance(value, str):
            for number in re.finditer("[0-9]+", value):
                yield f"{value[: number.start()]}{int(number[0]) + 1:0{len(number[0])}}{value[number.end() :]}"

    def _moves_stamps(self, change: Change, ids: Collection[str] = ()) -> bool:
        """Return whether stamps follow a change of the reply, those of records with ``ids`` or any."""
        then = replace(self.case, now=self.case.now + timedelta(days=2))
        try:
            moved = observe(then, then.now, reply=edited(self.case, change))
        except IMPOSSIBLE:
            return False
        before, after = (
            Counter(
                public_from(record) for record in run.records if not record.at_receipt and (not ids or record.id in ids)
            )
            for run in (self.baseline, moved)
        )
        # Moved, and not lost: a value can also be what ties a row to another.
        return bool(before - after) and (after - before).total() > after[None] - before[None]


def analyze(case: Case) -> RecordedReply:
    """Run the experiments on the reply of ``case``. Raise AssertionError when there is nothing to test on."""
    baseline = observe_baseline(case)
    rows = _rows_of(case, baseline) if format_of(case.reply) is not None else []
    if not rows:
        raise failure(
            "no part of the recorded reply can be left out so that just its record is missing",
            "record a reply in JSON, JSON Lines, XML, CSV, SQLite or Parquet, shorter than the provider's page, or "
            "override serve(), so that reply is the list of all records and serve() makes replies of it",
        )
    return RecordedReply(case, baseline, tuple(rows))


def _rows_of(case: Case, baseline: ObservedRun) -> list[ReplyRow]:
    tree = _tree_of(case)
    known = list(containers(tree))
    if case.own_server and len(baseline.exchanges) > 1:
        # A page that the author's server sends by itself looks like a row: without it records are missing. But the
        # lists inside of pages have them all, each in one row.
        rows = _effective_rows(case, baseline, tree, sorted(known, key=len, reverse=True))
        if sorted(version for row in rows for version in row.versions) == sorted(baseline.versions):
            return rows
    # Lists of several rows first, the outermost before those inside its rows.
    ordered = sorted(known, key=lambda path: (len(node_at(tree, path)) < 2, len(path)))
    return _effective_rows(case, baseline, tree, [*ordered, ()])


def _effective_rows(case: Case, baseline: ObservedRun, tree: Any, paths: Iterable[Path]) -> list[ReplyRow]:
    """Return the rows without which versions are missing, neither inside nor around others."""
    rows: list[ReplyRow] = []
    for path in paths:
        if not any(_is_around(path, row.container) or _is_around(row.container, path) for row in rows):
            rows += _rows_in(case, baseline, tree, path)
    return rows


def _is_around(outer: Path, inner: Path) -> bool:
    return inner[: len(outer)] == outer


def _rows_in(case: Case, baseline: ObservedRun, tree: Any, path: Path) -> Iterator[ReplyRow]:
    keys = _keys_of(node_at(tree, path))
    for key in keys:
        try:
            without = observe(case, case.now, reply=edited(case, partial(drop, rows=[ReplyRow(path, key)])))
        except ServerFailed:
            continue  # what the author's own server needs is no row
        lost = baseline.versions - without.versions
        lost_all = not without.versions and len(keys) > 1
        broken = "upstream_error" in without.gap_types and path != ()
        if lost and not lost_all and not without.crash and not broken:
            yield ReplyRow(path, key, lost)


# --- edits of a tree


def _tree_of(case: Case) -> Any:
    return {_BOX: decode(case.reply)}


def edited(case: Case, *changes: Change) -> bytes:
    """Return the recorded reply after ``changes`` of its tree, in place."""
    tree = _tree_of(case)
    empty: Any = [] if isinstance(tree[_BOX], list) else {}
    for change in changes:
        change(tree)
    return encode_like(case.reply, tree.get(_BOX, empty))


def drop(tree: Any, rows: Sequence[ReplyRow]) -> None:
    """Take ``rows`` out of ``tree``."""
    for row in sorted(rows, key=lambda row: (str(row.container), row.key), reverse=True):
        del node_at(tree, row.container)[row.key]


def repeat(tree: Any, container: Path, size: int) -> None:
    """Repeat the rows of a list until it has ``size``. A map of rows has each name once."""
    rows = node_at(tree, container)
    if isinstance(rows, list):
        rows.extend(copy.deepcopy(rows[number % len(rows)]) for number in range(size - len(rows)))


def put(row: ReplyRow, path: Path, value: object) -> Change:
    """Return the change that puts ``value`` at ``path``, which may be the row's own key."""

    def change(tree: Any) -> None:
        parent = node_at(tree, path[:-1])
        if path == row.path:
            parent[value] = parent.pop(path[-1])
        else:
            parent[path[-1]] = value

    return change


def field_of(path: Path, row: ReplyRow | None = None) -> str:
    """Return the name of a field as the author reads it. A row's own key has none."""
    if row is not None and path == row.path:
        return KEY
    named = [part for part in path if isinstance(part, str) and part != "*"]
    return field_name(tuple(named[-2:] if named and named[-1] == "" else named[-1:])) or "the row"


def public_at_earliest(value: object, basis: Basis, zone: str) -> datetime | None:
    """Return when a record can have been public whose field holds ``value``, None for a value that is no stamp."""
    value = stamp_of(value)
    instant = floor(value, zone)
    if instant is None or basis.means not in ("interval_start", "day") or not is_date(value):
        return None if instant is None else instant + basis.after
    # A bar that is named by its day begins with it, and so does what a calendar counts.
    there = ZoneInfo(zone) if zone else EARLIEST_ZONE
    naive = instant.astimezone(there).replace(tzinfo=None) - timedelta(days=1) + basis.after
    return wall_clock(naive, there)


def _keys_of(container: Any) -> list[Any]:
    return list(container if isinstance(container, dict) else range(len(container)))[:MAX_ROWS]


def _later(days: int, value: object) -> Iterator[object]:
    with contextlib.suppress(ValueError, OverflowError):
        yield postpone(value, days)
