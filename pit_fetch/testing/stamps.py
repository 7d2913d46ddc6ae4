"""Checks of stamps: each is the latest instant that its field can mean, and rests on publication."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from pit_fetch.provider import Basis
from pit_fetch.testing.documents import Path, field_name, node_at
from pit_fetch.testing.findings import EXAMINED, KEY, Findings, ReplyRow, field_of, observe_world, put
from pit_fetch.testing.observe import MICROSECOND, PublicVersion, instants, observe, public_from, versions_of
from pit_fetch.testing.report import failure
from pit_fetch.testing.timestamps import (
    LATEST_ZONE,
    floor,
    format_like,
    is_date,
    is_naive,
    more_precise,
    postpone,
    repeated_hour,
)  # fmt: skip

_STARTS = re.compile(
    r"conference|meeting|(^|_)call|call(_|$)|event_(date|time)|^(start|begin)(s|_?(at|on|time|date))?$|period|fiscal|ending",
    re.IGNORECASE,
)
_ADJUSTED = re.compile(r"adj(usted|_|$|\W)", re.IGNORECASE)
_BAR = (r"open|^o$|\bo$", r"high|^h$|\bh$", r"low|^l$|\bl$", r"close|^c$|\bc$")
_MOMENT = timedelta(minutes=2)
_WAITS = (timedelta(seconds=1), timedelta(days=40))


def check_independence(findings: Findings) -> None:
    """Check that a record's stamp is the one in the reply: no other clock and no other PIT moves it."""
    case, baseline = findings.case, findings.baseline
    for wait in _WAITS:
        later = replace(case, now=case.now + wait)
        for pit in (case.now, later.now):
            for item, stamp in observe(later, pit).stamps.items():
                if item not in findings.snapshots and baseline.stamps.get(item, stamp) != stamp:
                    before = baseline.stamps[item]
                    problem = f"item {item!r} is stamped {before}, and {wait} later {stamp} at the PIT {pit}"
                    raise failure(problem, "stamp-from-the-reply", stamp=case.stamp)


def check_floor(findings: Findings) -> None:
    """Check that no stamp lies before the latest instant that its field in the reply can mean, whatever its value."""
    case = findings.case
    for row in findings.rows[:EXAMINED]:
        least = findings.over(row)
        if early := min((stamp for stamp in row.versions if least and stamp.public_from < least), default=None):
            is_whole = all(findings.floor(field_of(at), part) for at, part in findings.sources(row).items() if part)
            problem = f"item {early.id!r} is {case.stamp} {early.public_from}, before {_named(findings, row)} is over"
            raise failure(f"{problem} ({least})", "latest-instant" if is_whole else "stamp-in-parts")
    for pattern, path in findings.basis.items():
        row = next(row for row in findings.rows if path[: len(row.path)] == row.path)
        value, field = findings.value_at(row, path), field_of(path, row)
        form, parts = findings.form(field), {**findings.sources(row), path: value}
        last = floor(value, LATEST_ZONE, form)
        has_zone = case.zone or (form and case.source.recording.stamps[field].zone)
        if is_naive(value, form) and not has_zone and last and any(stamp < last for _, stamp in row.versions):
            problem = f"{field_name(pattern)} = {value!r} names no zone, and neither does the test"
            raise failure(f"{problem}, so nothing shows when that was", "zone-of-the-source")
        if any(findings.floor(field_of(place), part) is None for place, part in parts.items()):
            continue  # a part of a stamp: no other can be written
        # A provider that stamps another instant than the field's may know better: some offsets are constants.
        exact = any(version.public_from == findings.floor(field, value) for version in row.versions)
        for label, other in (
            *_other_stamps(findings, field, value),
            *(more_precise(value) if exact and not form else ()),
        ):
            _check_stamp(findings, row, path, label, other)


def _other_stamps(findings: Findings, field: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield what the field could hold in another row: the other half of the year, the far future, a doubled hour."""
    case, form = findings.case, findings.form(field)
    with contextlib.suppress(ValueError, OverflowError):
        # What is read in a zone with a summer time is right for half a year.
        yield "in the other half of the year", postpone(value, 182, form)
    with contextlib.suppress(ValueError, OverflowError):
        days = (case.now - (findings.floor(field, value) or case.now)).days
        yield "in the future", postpone(value, 400 + max(0, days), form)
    with contextlib.suppress(ValueError, OverflowError):
        # Read the wrong way round, it is nine months earlier.
        yield "a day that could be a month", format_like(value, datetime(case.now.year + 1, 11, 2, 12), form)  # noqa: DTZ001
    if case.zone and is_naive(value, form) and not is_date(value, form):
        with contextlib.suppress(ValueError):
            if reading := repeated_hour(ZoneInfo(case.zone), case.now):
                yield "in the hour that the clock repeats", format_like(value, reading, form)


def _check_stamp(findings: Findings, row: ReplyRow, path: Path, label: str, value: object) -> None:
    """Check that the records of ``row`` are not stamped before ``value``, put at ``path``, is over."""
    case = findings.case
    least = findings.ends(row, path, value)
    if least is None:
        return
    known = versions_of(findings.baseline.records)
    # Once when all of it has come, and once before: a stamp may be cut to the PIT, or to now.
    for then, pit in ((replace(case, now=least + timedelta(days=2)), least + timedelta(days=1)), (case, case.now)):
        run = observe_world(then, pit, put(row, path, value))
        records = run.records if run else []
        # In a tree a row holds others: of its records those that do not move rest on rows of their own.
        moved = {version.id for version in versions_of(records) - known} & row.ids
        unmoved = known if moved else known - row.versions
        for record in records:
            stamp = public_from(record)
            if record.at_receipt or PublicVersion(record.id, stamp or least) in unmoved:
                continue
            if stamp is not None and stamp < least:
                event = f"where {field_of(path)} is {label} ({value!r}), item {record.id!r}"
                raise failure(f"{event} is stamped {stamp}, and not {least} or later", "latest-instant")


# --- the meaning of the fields on which stamps rest


def check_meaning(findings: Findings) -> None:
    """Check that a stamp rests on a date of publication, not on the start of something that was still to come."""
    _check_rests(findings)
    proved = (item for item in findings.baseline.data if item["id"] not in findings.snapshots)
    adjusted = sorted({key for item in proved for key in item if _ADJUSTED.search(key)})
    if adjusted and findings.case.stamp == "available_at":
        problem = "figures that are adjusted later carry no mark of it, so what is served for an early PIT is today's"
        raise failure(f"{', '.join(adjusted)}: {problem}", "adjusted-figures")
    for pattern in findings.basis:
        dated = [
            (row, value)
            for row in findings.rows
            for place, value in findings.sources(row).items()
            if row.pattern(place) == pattern
        ]
        field = next((str(part) for part in reversed(pattern) if part != "*"), KEY)
        _check_field(findings, field, dated)


def _check_rests(findings: Findings) -> None:
    """Check that it is known of each stamp on what it rests: by what moves it, or by what the author declares."""
    declared = {basis.field for basis in findings.operation.dating.basis}
    for row in filter(findings.is_dated, findings.rows[:EXAMINED]):
        if findings.over(row) is not None:
            continue
        item, stamp = min(row.versions)
        fields = {field_of(path, row) for path in findings.sources(row)}
        if fields and not fields & declared:
            problem = f"item {item!r} is stamped {stamp}, which rests on {_named(findings, row)}: no test can read that"
            raise failure(f"{problem}, so nothing holds the stamp to it", "unreadable-stamp", field=min(fields))
        names = {field_of(path, row) for path, _ in findings.leaves_of(row)}
        # What is declared and stands in the row has been tried, and moves nothing.
        if not fields and not declared - names and not findings.rests_elsewhere(row):
            problem = "rests on nothing in the reply: no value of its row, and no date beside it, moves the stamp"
            raise failure(f"item {item!r} is stamped {stamp}, which {problem}", "stamp-that-rests-on-nothing")


def _named(findings: Findings, row: ReplyRow) -> str:
    return ", ".join(f"{field_of(path, row)} = {value!r}" for path, value in findings.sources(row).items())


def _check_field(findings: Findings, field: str, dated: list[tuple[ReplyRow, object]]) -> None:
    """Check the meaning of a field on which stamps rest. ``dated`` are the rows that have it, each with its value."""
    basis = findings.declared(field)
    starts = [(row, instant) for row, value in dated if (instant := findings.floor(field, value)) is not None]
    step = _bar_length(findings, [instant for _, instant in starts]) if findings.case.as_recorded else None
    too_early = step is not None and any(
        version.public_from < instant + step and len(row.versions) == 1
        for row, instant in starts
        for version in row.versions
    )
    bars = f"the rows look like bars (a low, a high, and prices between), one every {step}, and are public"
    if basis is not None:
        early = _public_too_early(findings, field, dated, basis)
        if early and basis.means != "publication":
            problem = f"item {early[0]!r} is public before {field} and {basis.after}, as Dating.basis declares"
            raise failure(problem, "stamp-before-its-basis", field=field, after=basis.after)
        if too_early and basis.means == "interval_start":
            raise failure(f"{bars} sooner than that after their {field}", "bar-before-its-end", field=field, step=step)
    elif too_early:
        raise failure(f"{bars} at their {field}", "bar-before-its-end", field=field, step=step)
    elif _are_period_ends([value for _, value in dated]):
        problem = "of which every value is the first or the last day of a month: that is a period, and not when its"
        raise failure(f"stamps rest on {field}, {problem} figure was published", "period-for-a-stamp", field=field)
    elif _STARTS.search(field) and all(
        version.public_from - instant < _MOMENT for row, instant in starts for version in row.versions
    ):
        problem = f"stamps rest on {field}, which by its name is when something begins or is due"
        raise failure(problem, "start-for-a-stamp", field=field)


def _public_too_early(
    findings: Findings, field: str, dated: Sequence[tuple[ReplyRow, object]], basis: Basis
) -> list[str]:
    """Return the ids of items that are public before their field, as the basis declares its meaning, lets them be."""
    return [
        min(row.versions).id
        for row, value in dated
        if row.versions
        and (least := findings.public_at_earliest(field, value, basis)) is not None
        and min(version.public_from for version in row.versions) < least
    ]


def _bar_length(findings: Findings, starts: list[datetime]) -> timedelta | None:
    """Return the time from bar to bar, None where the rows do not look like bars or come daily or less often."""
    rows = [node_at(findings.tree, row.path) for row in findings.rows]
    if len(rows) < 3 or not all(_is_bar(row) for row in rows):
        return None
    steps = [after - before for before, after in pairwise(sorted(set(starts)))]
    return min(steps) if steps and min(steps) < timedelta(hours=20) else None


def _is_bar(row: object) -> bool:
    """Return whether of a row's figures two lie between two others: open and close between low and high."""
    figures: dict[str, float] = {}
    for key, value in row.items() if isinstance(row, dict) else ():
        with contextlib.suppress(TypeError, ValueError):
            if not isinstance(value, bool) and floor(value) is None:
                figures[str(key).casefold()] = float(value)
    prices = [figures[key] for word in _BAR for key in [key for key in figures if re.search(word, key)][:1]]
    if len(prices) < len(_BAR):
        return False
    opened, high, low, close = prices
    return low <= min(opened, close) and high >= max(opened, close)


def _are_period_ends(values: Iterable[object]) -> bool:
    values = list(values)
    days = {value for value in values if is_date(value)}
    if len(days) < 2 or len(days) != len(set(values)):
        return False
    parsed = [(end - timedelta(days=1)).date() for day in days if (end := floor(day, "UTC")) is not None]
    return all(day.day == 1 for day in parsed) or all((day + timedelta(days=1)).day == 1 for day in parsed)


def check_boundary(findings: Findings) -> None:
    """Check that a version is there at its instant and absent a microsecond before, in whatever window is requested."""
    for instant in instants(findings.baseline):
        due = {item for item, stamp in findings.baseline.versions if stamp == instant}
        then, before = (findings.run_at(pit).stamps for pit in (instant, instant - MICROSECOND))
        if missing := sorted(item for item in due if then.get(item) != instant):
            problem = f"item {missing[0]!r} is public from {instant} on, and missing at that very PIT"
            raise failure(problem, "lost-at-its-instant")
        if early := sorted(item for item in due if before.get(item) == instant):
            problem = f"item {early[0]!r} is public from {instant} on, and served a microsecond before"
            raise failure(problem, "stamp-from-the-reply", stamp=findings.case.stamp)
