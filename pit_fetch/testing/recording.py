"""Which part of a recorded reply is which record, and which of its dates the record's stamps rest on.

Both are found by experiment: a part is left out, or a date put off, and what is different then tells. So a row
counts as late by what the recording says of it, also where the provider makes nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from pit_fetch.testing.case import Case, Seen, Version, failure, public_from
from pit_fetch.testing.documents import Path, at, containers, document, format_of, must_format
from pit_fetch.testing.runner import baseline, look
from pit_fetch.testing.timestamps import a_day_later, floor

MAX_ROWS = 60
# The calendar's end, as sources write it.
_NEVER = 2100
# Rows that are looked at one by one: enough to meet every shape of a recording that was made with care.
LOOKED_AT = 8

# Edits work on a document in a box, so that a document that is one record can be left out like a row.
_BOX = ""


@dataclass(frozen=True)
class Row:
    """A part of the reply: the path of the list (or map) that holds it, its key there, and the versions it makes."""

    container: Path
    key: Any
    versions: frozenset[Version]

    @property
    def path(self) -> Path:
        return (*self.container, self.key)


@dataclass(frozen=True)
class Recording:
    """What experiments found out of a recorded reply.

    seen   the run on the reply as it is
    rows   the rows that make records
    """

    case: Case
    seen: Seen
    rows: tuple[Row, ...]
    _asked: dict[datetime, Seen] = field(default_factory=dict, compare=False, repr=False)

    def seen_at(self, pit: datetime) -> Seen:
        """What the recorded reply comes to at ``pit``: several checks compare with that, and it is asked once.

        That it comes to the same a second time is a check of its own (``runs``).
        """
        if pit not in self._asked:
            self._asked[pit] = look(self.case, pit)
        return self._asked[pit]

    @cached_property
    def tree(self) -> Any:
        return tree_of(self.case)

    @cached_property
    def every(self) -> tuple[Row, ...]:
        """All rows beside those that make records, too: a provider may have chosen, or merged."""
        known = {row.path: row for row in self.rows}
        found = [
            known.get((*path, key), Row(path, key, frozenset()))
            for path in dict.fromkeys(row.container for row in self.rows)
            for key in keys_of(at(self.tree, path))
        ]
        return tuple(found)

    @cached_property
    def basis(self) -> Mapping[Path, Path]:
        """The places in a row on which stamps rest: each date that moves one, by its pattern."""
        found: dict[Path, Path] = {}
        tried: dict[Path, int] = {}
        for row in self.rows[:LOOKED_AT]:
            for path, value in dates_of(self, row):
                pattern = pattern_of(row, path)
                if pattern in found or tried.get(pattern, 0) >= 4:
                    continue
                tried[pattern] = tried.get(pattern, 0) + 1
                if moves(self, row, path, value):
                    found[pattern] = path
        return found

    @cached_property
    def validity(self) -> frozenset[Path]:
        """The places in a row that say until when its version held: the calendar's end, or another's beginning."""
        moments: dict[Path, list[datetime]] = {}
        starts: set[datetime] = set()
        for row in self.every:
            for path, value in dates_of(self, row):
                pattern, moment = pattern_of(row, path), floor(value)
                if moment is not None:
                    (starts.add if pattern in self.basis else moments.setdefault(pattern, []).append)(moment)
        several = len({version.id for version in self.seen.versions}) < len(self.seen.versions)
        days = {day for start in starts for day in (start.date(), (start - timedelta(days=1)).date())}
        return frozenset(
            pattern
            for pattern, found in moments.items()
            if any(one.year >= _NEVER for one in found) or (several and all(one.date() in days for one in found))
        )

    def is_late(self, row: Row, pit: datetime) -> bool:
        """Whether the row was not public at ``pit``: by the stamps of its records, or else by its own dates."""
        if row.versions:
            return all(version.public_from > pit for version in row.versions)
        stamps = [
            moment
            for path, value in dates_of(self, row)
            if pattern_of(row, path) in self.basis and (moment := floor(value, self.case.zone)) is not None
        ]
        return bool(stamps) and max(stamps) > pit

    def late(self, pit: datetime) -> list[Row]:
        return [row for row in self.every if self.is_late(row, pit)]


def record_of(case: Case) -> Recording:
    """The recording of ``case``. Raises AssertionError when there is nothing to test on."""
    seen = baseline(case)
    return Recording(case, seen, tuple(rows_of(case, seen)))


def rows_of(case: Case, seen: Seen) -> list[Row]:
    """The rows of the recorded reply. ``seen`` is the baseline. Raises AssertionError when none can be told."""
    rows: list[Row] = []
    if format_of(case.reply) is not None:
        tree, settled = tree_of(case), list[Path]()
        every = sorted(containers(tree), key=lambda path: (len(at(tree, path)) < 2, len(path)))
        for path in [*every, ()]:
            if any(path[: len(one)] == one or one[: len(path)] == path for one in settled):
                continue
            found = list(_effective(case, seen, tree, path))
            if found:
                rows += found
                settled.append(path)
    if not rows:
        raise failure(
            "no part of the recorded reply can be left out so that just its record is missing",
            "record a reply in JSON, JSON Lines, XML, CSV, SQLite or Parquet, shorter than the provider's page, or "
            "override serve(), so that reply is the list of all records and serve() makes replies of it",
        )
    return rows


def tree_of(case: Case) -> Any:
    """The recorded reply, decoded, in its box."""
    return {_BOX: document(case.reply)}


def edited(case: Case, change: Callable[[Any], None]) -> bytes:
    """The recorded reply after ``change`` on its tree, in place."""
    known = must_format(case.reply)
    tree = tree_of(case)
    empty: Any = [] if isinstance(tree[_BOX], list) else {}
    change(tree)
    return known.encode(tree.get(_BOX, empty))


def drop(tree: Any, rows: Sequence[Row]) -> None:
    """Takes ``rows`` out of ``tree``."""
    for row in sorted(rows, key=lambda row: (str(row.container), row.key), reverse=True):
        del at(tree, row.container)[row.key]


def keys_of(container: Any) -> list[Any]:
    return list(container if isinstance(container, dict) else range(len(container)))[:MAX_ROWS]


def dates_of(recording: Recording, row: Row) -> Iterator[tuple[Path, object]]:
    """The paths and values of a row's date-like leaves; its key, where the rows of a map are named by date."""
    if isinstance(row.key, str) and floor(row.key) is not None:
        yield row.path, row.key
    for path, value in leaves(at(recording.tree, row.path), row.path):
        if floor(value) is not None and (isinstance(value, str) or _is_stamp(recording, value)):
            yield path, value


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar in ``node``, with its path."""
    if isinstance(node, (dict, list)):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(child, (*path, key))
    else:
        yield path, node


def pattern_of(row: Row, path: Path) -> Path:
    """A path below a row, the same in every row: list indices count as one."""
    return tuple("*" if isinstance(part, int) else part for part in path[len(row.container) + 1 :])


def moves(recording: Recording, row: Row, path: Path, value: object) -> bool:
    """Whether the row's stamps rest on this leaf: they follow when it says the next day."""
    case = recording.case
    try:
        change = putting(row, path, a_day_later(value))
    except (ValueError, OverflowError):
        return False
    later = replace(case, now=case.now + timedelta(days=2))
    moved = look(later, later.now, reply=edited(case, change))
    before, after = (
        Counter(public_from(record) for record in seen.records if not record.at_receipt)
        for seen in (recording.seen, moved)
    )
    # Put off, and not lost: a date can also be what ties a row to another.
    return bool(before - after) and len(list((after - before).elements())) > after[None] - before[None]


def putting(row: Row, path: Path, value: object) -> Callable[[Any], None]:
    """A change that puts ``value`` at ``path``, which may be the row's own key."""

    def change(tree: Any) -> None:
        parent = at(tree, path[:-1])
        if path == row.path:
            parent[value] = parent.pop(path[-1])
        else:
            parent[path[-1]] = value

    return change


def _is_stamp(recording: Recording, value: object) -> bool:
    """Whether a number is an instant and not an amount: it lies within some years of the recording's own."""
    moment = floor(value)
    return moment is not None and abs(moment - recording.case.now) < timedelta(days=1_500)


def _effective(case: Case, seen: Seen, tree: Any, path: Path) -> Iterator[Row]:
    keys = keys_of(at(tree, path))
    for key in keys:
        row = Row(path, key, frozenset())
        without = look(case, case.now, reply=edited(case, lambda tree, row=row: drop(tree, [row])))  # type: ignore[misc]
        lost = seen.versions - without.versions
        whole = not without.versions and len(keys) > 1
        broken = "upstream_error" in without.gap_types and path != ()
        if lost and not whole and not without.crash and not broken:
            yield Row(path, key, lost)
