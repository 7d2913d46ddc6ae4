"""Checks of what a provider yields: its form, its stamps, and its revisions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, get_args

from pit_fetch.provider import Record, SourceTag
from pit_fetch.siblings import gate
from pit_fetch.testing.case import MICROSECOND, Case, Seen, failure, instants
from pit_fetch.testing.dates import a_day_later, floor
from pit_fetch.testing.documents import at, must_format, name
from pit_fetch.testing.program import baseline, look
from pit_fetch.testing.rows import Row, edited, rows_of

_REVISION = re.compile(r"updat|modif|revis|edit(?!or)|amend|correct|chang", re.IGNORECASE)
# Rows that are looked at one by one: enough to meet every shape of a recording that was made with care.
LOOKED_AT = 8
_WAITS = (timedelta(seconds=1), timedelta(days=40))


def check_records(case: Case) -> None:
    """Ids, stamps, tags and payloads have the form that the framework takes, and nothing is printed."""
    seen = look(case, case.now)
    for record in seen.records:
        for what, advice in _faults(record):
            raise failure(f"record {record.id!r}: {what}", advice)
    baseline(case)
    if seen.printed:
        raise failure(
            f"the provider prints ({seen.printed[:40]!r})", "take the print out: stdout belongs to the envelope"
        )


def check_independence(case: Case) -> None:
    """A record's stamp is what the source says: no other clock, no other PIT moves it."""
    seen = baseline(case)
    snapshots = {record.id for record in seen.records if record.at_receipt}
    for wait in _WAITS:
        later = _later(case, wait)
        for pit in (case.now, later.now):
            for item, stamp in look(later, pit).stamps.items():
                if item not in snapshots and seen.stamps.get(item, stamp) != stamp:
                    raise failure(
                        f"item {item!r} is stamped {seen.stamps[item]}, and {wait} later {stamp} at the PIT {pit}",
                        "take available_at from the reply alone, never from query.pit, query.now or a clock; what has "
                        "no time of publication is stamped with the instant of its receipt, and at_receipt=True",
                    )
    for pit in instants(seen):
        for item, stamp in look(case, pit).stamps.items():
            known = max((one for name, one in seen.versions if name == item and one <= pit), default=None)
            if stamp != known:
                raise failure(
                    f"item {item!r} is stamped {stamp} at the PIT {pit}, but {known} at {case.now}",
                    "take available_at from the reply alone, never from query.pit or query.now",
                )


def check_floor(case: Case) -> None:
    """No stamp lies before the latest instant that its field in the reply can mean."""
    seen = baseline(case)
    for row in rows_of(case, seen)[:LOOKED_AT]:
        sources = {path: value for path, value in _dates(case, row) if _moves(case, seen, row, path, value)}
        floors = [moment for value in sources.values() if (moment := floor(value, case.zone)) is not None]
        for item, stamp in row.versions:
            if floors and stamp < min(floors):
                fields = ", ".join(f"{_field(path)} = {value!r}" for path, value in sources.items())
                raise failure(
                    f"item {item!r} is available_at {stamp}, before {fields} is over ({min(floors)})",
                    "an imprecise stamp means the latest instant that it can: times.end_of_day for a date, "
                    "times.wall_clock for a reading without an offset, in the zone of the source",
                )


def check_revisions(case: Case, not_revisions: tuple[str, ...] = ()) -> None:
    """A field that tells of a later revision is told as ``revised_at``."""
    seen = baseline(case)
    for row in rows_of(case, seen):
        for path, value in _dates(case, row):
            moment = floor(value, case.zone)
            if moment is None or _field(path) in not_revisions or not _REVISION.search(_field(path)):
                continue
            for item, stamp in row.versions:
                if stamp < moment <= case.now:
                    raise failure(
                        f"item {item!r}: {_field(path)} = {value!r} is later than its stamps ({stamp}), so "
                        "what is served may be a text from after the PIT",
                        f"yield revised_at from {_field(path)} (if that is not a revision, list it in not_revisions)",
                    )


def check_boundary(case: Case) -> None:
    """A version is there at its instant and absent a microsecond before, whatever window the provider asks for."""
    seen = baseline(case)
    for moment in instants(seen):
        due = {item for item, stamp in seen.versions if stamp == moment}
        at, before = look(case, moment).stamps, look(case, moment - MICROSECOND).stamps
        missing = sorted(item for item in due if at.get(item) != moment)
        if missing:
            raise failure(
                f"item {missing[0]!r} is public from {moment} on, and missing at that very PIT",
                "widen the window that fetch asks for (query.horizon is inclusive; zones and date-only bounds "
                "need a day more), and let select() keep the last instant",
            )
        early = sorted(item for item in due if before.get(item) == moment)
        if early:
            raise failure(
                f"item {early[0]!r} is public from {moment} on, and served a microsecond before",
                "take available_at and revised_at from the reply alone, never from query.pit or query.now",
            )


def _faults(record: Record) -> Iterator[tuple[str, str]]:
    if not isinstance(record.id, str):
        yield f"its id is a {type(record.id).__name__}", 'make it a text: str(row["id"])'
    for field in ("available_at", "revised_at"):
        stamp: Any = getattr(record, field)
        if stamp is None:
            continue
        if not isinstance(stamp, datetime):
            yield f"{field} is a {type(stamp).__name__}", "parse it with a function of pit_fetch.times"
        elif stamp.utcoffset() is None:
            yield (
                f"{field} is naive, so nothing shows when it was public, and the record is withheld for ever",
                "parse it with a function of pit_fetch.times (wall_clock(naive, zone) for a reading without an offset)",
            )
    if record.available_at_source not in get_args(SourceTag):
        yield f"available_at_source is {record.available_at_source!r}", f"use one of {', '.join(get_args(SourceTag))}"
    try:
        json.dumps(dict(record.payload), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"its payload is not JSON ({error})", "put text, numbers, lists and dicts into it; no NaN, no datetime"
    hidden = sorted(key for key in record.payload if key.lower() in gate.FORBIDDEN_KEYS)
    if hidden:
        yield f"{', '.join(hidden)} in its payload is hindsight and never leaves in PIT mode", "leave the field out"
    shadowed = sorted({"id", "available_at", "available_at_source", "revised_at"} & set(record.payload))
    if shadowed:
        yield f"{', '.join(shadowed)} in its payload is the framework's own", "rename the field, or leave it out"


def _later(case: Case, wait: timedelta) -> Case:
    return replace(case, now=case.now + wait)


def _dates(case: Case, row: Row) -> Iterator[tuple[tuple[Any, ...], object]]:
    """The paths and values of a row's date-like leaves; its key, where the rows of a map are named by date."""
    if isinstance(row.key, str) and floor(row.key) is not None:
        yield row.path, row.key
    yield from _leaves(at(must_format(case.reply).decode(case.reply), row.path), row.path)


def _leaves(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], object]]:
    if isinstance(node, (dict, list)):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _leaves(child, (*path, key))
    elif floor(node) is not None:
        yield path, node


def _moves(case: Case, seen: Seen, row: Row, path: tuple[Any, ...], value: object) -> bool:
    """Whether the row's stamps come from this leaf: they follow when it says the next day."""

    def change(tree: Any) -> None:
        parent = at(tree, path[:-1])
        if path == row.path:
            parent[a_day_later(value)] = parent.pop(path[-1])
        else:
            parent[path[-1]] = a_day_later(value)

    later = _later(case, timedelta(days=2))
    return not row.versions <= look(later, later.now, reply=edited(case, change)).versions


def _field(path: tuple[Any, ...]) -> str:
    named = [part for part in path if isinstance(part, str)]
    return name(tuple(named[-2:] if named and named[-1] == "" else named[-1:])) or "the row"
