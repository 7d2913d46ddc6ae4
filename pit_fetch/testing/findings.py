"""Experiments on a recording: which part of it is which record, and on what its stamps rest.

Both are found by experiment: a part is left out, or a value put in the place of another, and the difference shows. So
no name of a field has to be known, and a row counts as late by its own dates in the recording, also where the provider
makes no record of it.
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
from pit_fetch.testing.documents import Path, containers, field_name, leaves, node_at
from pit_fetch.testing.observe import Case, ObservedRun, PublicVersion, observe, public_from
from pit_fetch.testing.recording import Role
from pit_fetch.testing.records import observe_baseline
from pit_fetch.testing.report import failure
from pit_fetch.testing.source import IMPOSSIBLE, Served, numbers_in
from pit_fetch.testing.timestamps import EARLIEST_ZONE, is_date, postpone
from pit_fetch.times import wall_clock

Change = Callable[[Any], None]

MAX_ROWS = 60
# Rows that are examined one by one: enough to meet every shape of a recording that was made with care.
EXAMINED = 8
# The calendar's end, as sources write it.
_NEVER = 2100
# The name of the keys of rows that lie in a map.
KEY = "(key)"


@dataclass(frozen=True)
class ReplyRow:
    """A part of a document: the path of the list (or map) that holds it, its key there, and the versions it makes."""

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
class Findings:
    """The findings of experiments on a recording.

    baseline  the run on the recording as it is
    rows      the rows that make records
    """

    case: Case
    baseline: ObservedRun
    rows: tuple[ReplyRow, ...]
    _runs: dict[datetime, ObservedRun] = field(default_factory=dict, compare=False, repr=False)

    def run_at(self, pit: datetime) -> ObservedRun:
        """Return the run on the recording at ``pit``, made once: another check is that a second is the same."""
        if pit not in self._runs:
            self._runs[pit] = observe(self.case, pit)
        return self._runs[pit]

    @cached_property
    def tree(self) -> Any:
        return self.case.source.tree()

    @cached_property
    def containers(self) -> list[Path]:
        return list(dict.fromkeys(row.container for row in self.rows))

    @cached_property
    def every(self) -> tuple[ReplyRow, ...]:
        """All rows, also those beside the ones that make records: a provider may have chosen, or merged."""
        known = {row.path: row for row in self.rows}
        paths = [(path, key) for path in self.containers for key in _keys_of(self.tree, path)]
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

    @cached_property
    def moving_sizes(self) -> frozenset[Path]:
        """Where a request says a number that moves with --limit."""
        few, more = (
            [request for request, _ in observe(self.case.with_options(limit=limit), self.case.now).exchanges]
            for limit in (7, 9)  # of which no source has a size
        )
        return frozenset(
            place
            for first, second in zip(few, more, strict=False)
            for place, number in numbers_in(first).items()
            if numbers_in(second).get(place, number) != number
        )

    @cached_property
    def standing(self) -> frozenset[str]:
        """The addresses of documents beside the one with the rows that are asked for whatever rows there are."""
        empty = observe(self.case, self.case.now, world=edited(self.case, partial(drop, rows=self.every)))
        found = (self.case.source.find(request) for request, _ in empty.exchanges)
        return frozenset(address.key for address in found if address in self.case.source.beside)

    def declared(self, field: str) -> Basis | None:
        """Return what the author says of the meaning of a field."""
        return next((basis for basis in reversed(self.operation.dating.basis) if basis.field == field), None)

    def is_role(self, field: str, *roles: Role) -> bool:
        return self.case.source.recording.fields.get(field) in roles

    @property
    def stamps_in_parts(self) -> list[list[str]]:
        """The names of fields that hold a stamp together, as the author declares them."""
        return [names for key in self.case.source.recording.stamps if len(names := key.split()) > 1]

    def form(self, field: str) -> str:
        known = self.case.source.recording.stamps.get(field)
        return known.text if known else ""

    def floor(self, field: str, value: object) -> datetime | None:
        """Return when the stamp of a field is over at the earliest, None for what is no stamp."""
        return self.case.source.floor(field, value)

    def value_at(self, row: ReplyRow, path: Path) -> Any:
        """Return what stands at ``path``, which may be the row's own key."""
        return path[-1] if path == row.path else node_at(self.tree, path)

    def leaves_of(self, row: ReplyRow) -> Iterator[tuple[Path, object]]:
        """Yield the paths and values of everything in a row, and its key, where rows are named."""
        if isinstance(row.key, str) and row.container:
            yield row.path, row.key
        for path, value in leaves(node_at(self.tree, row.path)):
            yield (*row.path, *path), value

    def dates_of(self, row: ReplyRow) -> Iterator[tuple[Path, object]]:
        """Yield the paths and values of a row's date-like leaves, and its key, where rows are named by date."""
        for path, value in self.leaves_of(row):
            instant = self.floor(field_of(path), value)
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
        experiment(examined, self.dates_of, lambda row, path, value: self._later(1, path, value))
        experiment(filter(is_unexplained, examined), lambda row: islice(self.leaves_of(row), 60), self._others)
        return basis

    def rests_elsewhere(self, row: ReplyRow) -> bool:
        """Return whether a date outside the row moves its stamps: one beside the rows, or in one that goes with it."""
        return any(
            self._moves_stamps(put(row, path, later), row.ids)
            for path, value in leaves(self.tree)
            if path[: len(row.path)] != row.path
            for later in self._later(1, path, value)
        )

    def is_dated(self, row: ReplyRow) -> bool:
        """Return whether the row makes records that are dated otherwise than by their receipt."""
        return not row.ids <= self.snapshots

    def sources(self, row: ReplyRow, basis: Mapping[Path, Path] | None = None) -> dict[Path, object]:
        """Return the leaves of a row that move its stamps."""
        known = self.basis if basis is None else basis
        every = dict(self.leaves_of(row))
        moving = {field_of(path) for path in every if row.pattern(path) in known}
        parts = {name for names in self.stamps_in_parts if moving & {*names} for name in names}
        return {path: value for path, value in every.items() if row.pattern(path) in known or field_of(path) in parts}

    def over(self, row: ReplyRow, basis: Mapping[Path, Path] | None = None) -> datetime | None:
        """Return the earliest instant at which what moves the row's stamps is over, None where it cannot be read."""
        sources = self.sources(row, basis)
        named = {field_of(path): value for path, value in self.leaves_of(row)}
        instants = [self.ends(row, path, value) for path, value in sources.items()]
        for names in self.stamps_in_parts:
            if {*names} & {field_of(path) for path in sources}:  # none of them is a stamp by itself
                instants = [self.floor(" ".join(names), " ".join(str(named.get(name)) for name in names))]
        return min((instant for instant in instants if instant is not None), default=None)

    def ends(self, row: ReplyRow, path: Path, value: object) -> datetime | None:
        """Return when what a leaf names is over, or when it was by the author's calendar, if that is earlier."""
        field, basis = field_of(path, row), self.declared(field_of(path, row))
        instant = self.floor(field, value)
        known = self.public_at_earliest(field, value, basis) if basis is not None else None
        return min(instant, known) if instant is not None and known is not None else instant

    def public_at_earliest(self, field: str, value: object, basis: Basis) -> datetime | None:
        """Return when a record can have been public whose field holds ``value``, None for a value that is no stamp."""
        instant, zone = self.floor(field, value), self.case.zone
        if instant is None or basis.means not in ("interval_start", "day") or not is_date(value, self.form(field)):
            return None if instant is None else instant + basis.after
        # A bar that is named by its day begins with it, and so does what a calendar counts.
        there = ZoneInfo(zone) if zone else EARLIEST_ZONE
        naive = instant.astimezone(there).replace(tzinfo=None) - timedelta(days=1) + basis.after
        return wall_clock(naive, there)

    @cached_property
    def validity(self) -> frozenset[Path]:
        """The patterns of dates until which a row's version held: the calendar's end, or where another one begins."""
        instants: dict[Path, list[datetime]] = {}
        starts: set[datetime] = set()
        for row in self.every:
            for path, value in self.dates_of(row):
                pattern, instant = row.pattern(path), self.floor(field_of(path), value)
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
            row.pattern(path) in self.basis and (instant := self.floor(field_of(path, row), value)) and instant > pit
            for path, value in self.dates_of(row)
        )

    def late(self, pit: datetime) -> list[ReplyRow]:
        return [row for row in self.every if self.is_late(row, pit)]

    def _later(self, days: int, path: Path, value: object) -> Iterator[object]:
        form = self.form(field_of(path))
        with contextlib.suppress(ValueError, OverflowError):
            yield postpone(value, days, form)

    def _others(self, row: ReplyRow, path: Path, value: object) -> Iterator[object]:
        """Yield what the source could have put in a value's place: a week later, another row's, the next number."""
        if self.floor(field_of(path), value) is not None:  # another row's date can be what ties a row to that one
            yield from self._later(7, path, value)
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
        """Return whether stamps follow a change of the recording, those of records with ``ids`` or any."""
        then = replace(self.case, now=self.case.now + timedelta(days=2))
        try:
            moved = observe(then, then.now, world=edited(self.case, change))
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


def analyze(case: Case) -> Findings:
    """Run the experiments on the recording of ``case``. Raise AssertionError when there is nothing to test on."""
    baseline = observe_baseline(case)
    tree = case.source.tree()
    main = (case.source.main,)
    known = [(*main, *path) for path in containers(tree[case.source.main])] if case.source.can_be_edited else []
    # Lists of several rows first, the outermost before those inside its rows.
    ordered = sorted(known, key=lambda path: (len(node_at(tree, path)) < 2, len(path)))
    rows: list[ReplyRow] = []
    for path in (*ordered, ()) if case.source.can_be_edited else ():
        if not any(_is_around(path, row.container) or _is_around(row.container, path) for row in rows):
            rows += _rows_in(case, baseline, tree, path)
    if not rows:
        problem = "no part of the recorded reply can be left out so that just its record is missing"
        raise failure(problem, "formats-of-a-recording")
    findings = Findings(case, baseline, tuple(rows))
    return replace(findings, case=replace(case, sizes=findings.moving_sizes))


def observe_world(case: Case, pit: datetime | None, *changes: Change, size: int = 1, **how: Any) -> ObservedRun | None:
    """Run one fetch in the world of ``changes``, and count it. Return None where the format cannot hold them.

    A world of several edits that it cannot hold is not counted: its parts will be.
    """
    try:
        world = edited(case, *changes) if changes else None
    except IMPOSSIBLE:
        case.worlds.skipped[case.worlds.test] += size == 1
        return None
    case.worlds.run[case.worlds.test] += size
    return observe(case, pit, world=world, **how)


def _is_around(outer: Path, inner: Path) -> bool:
    return inner[: len(outer)] == outer


def _rows_in(case: Case, baseline: ObservedRun, tree: Any, path: Path) -> Iterator[ReplyRow]:
    """Yield the rows without which versions are missing."""
    keys = [case.source.main] if path == () else _keys_of(tree, path)
    for key in keys:
        without = observe(case, case.now, world=edited(case, partial(drop, rows=[ReplyRow(path, key)])))
        lost = baseline.versions - without.versions
        lost_all = not without.versions and len(keys) > 1
        broken = "upstream_error" in without.gap_types and path != ()
        if lost and not lost_all and not without.crash and not broken:
            yield ReplyRow(path, key, lost)


def _keys_of(tree: Any, path: Path) -> list[Any]:
    container = node_at(tree, path)
    if path == ():
        return list(container)[:1]
    return list(container if isinstance(container, dict) else range(len(container)))[:MAX_ROWS]


# --- edits of a tree


def edited(case: Case, *changes: Change) -> Served:
    """Return the recording after ``changes`` of its tree. Raise one of IMPOSSIBLE where it cannot hold them."""
    tree = case.source.tree()
    for change in changes:
        change(tree)
    return Served(case.source, tree)


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
        if path == row.path and row.container:
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
