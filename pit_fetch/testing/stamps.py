"""Checks of what a provider yields: its stamps, and its revisions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from pit_fetch.provider import Basis
from pit_fetch.testing.baseline import check_stream
from pit_fetch.testing.documents import Path, field_name, leaves, node_at
from pit_fetch.testing.findings import (
    EXAMINED,
    KEY,
    Findings,
    ReplyRow,
    field_of,
    observe_world,
    put,
)
from pit_fetch.testing.observe import (
    MICROSECOND,
    Case,
    PublicVersion,
    failure,
    instants,
    observe,
    public_from,
    versions_of,
)
from pit_fetch.testing.timestamps import (
    LATEST_ZONE,
    earliest,
    floor,
    format_like,
    is_date,
    is_naive,
    more_precise,
    postpone,
    repeated_hour,
)
from pit_fetch.testing.worlds import PLANNED

_REVISION = re.compile(r"updat|modif|revis|edit(?!or)|amend|correct|chang", re.IGNORECASE)
_STARTS = re.compile(
    r"conference|meeting|(^|_)call|call(_|$)|event_(date|time)|^(start|begin)(s|_?(at|on|time|date))?$|period|fiscal|ending",
    re.IGNORECASE,
)
_ADJUSTED = re.compile(r"adj(usted|_|$|\W)", re.IGNORECASE)
_BAR = (r"open|^o$|\bo$", r"high|^h$|\bh$", r"low|^l$|\bl$", r"close|^c$|\bc$")
_MOMENT = timedelta(minutes=2)
_WAITS = (timedelta(seconds=1), timedelta(days=40))
_LATEST = (
    "an imprecise stamp means the latest instant that it can: times.end_of_day for a date, times.parse_wall_clock for "
    "a reading without an offset, in the zone of the source (a minute lasts until its end, a repeated hour means its "
    "second time); and no stamp is ever moved to the PIT, or to now"
)
_PARTS = (
    "what is a stamp together with another field has to be read with it: say so in the recording, "
    'stamps = {"day clock": Form("%Y-%m-%d %H:%M")}, with the names of the fields'
)


def check_never(case: Case) -> None:
    """Check that an operation declared to be without proof has records, and serves none at a PIT."""
    for pit in (None, case.now):
        run = observe(case, pit)
        check_stream(run)
        if pit is None and not run.ids:
            raise failure("the recorded reply gives no record without a PIT", "check options and credentials")
        if pit is not None and run.ids:
            raise failure(
                f"item {run.ids[0]!r} is served at {pit}, though by the operation nothing shows when it was public",
                'yield available_at=None, or date the operation otherwise than by="never"',
            )


def check_independence(findings: Findings) -> None:
    """Check that a record's stamp is the one in the reply: no other clock and no other PIT moves it."""
    case, baseline = findings.case, findings.baseline
    for wait in _WAITS:
        later = replace(case, now=case.now + wait)
        for pit in (case.now, later.now):
            for item, stamp in observe(later, pit).stamps.items():
                if item not in findings.snapshots and baseline.stamps.get(item, stamp) != stamp:
                    raise failure(
                        f"item {item!r} is stamped {baseline.stamps[item]}, and {wait} later {stamp} at the PIT {pit}",
                        f"take {case.stamp} from the reply alone, never from query.pit, query.now or a clock; what has "
                        "no time of publication is stamped with the instant of its receipt, and at_receipt=True",
                    )


def check_floor(findings: Findings) -> None:
    """Check that no stamp lies before the latest instant that its field in the reply can mean, whatever its value."""
    case = findings.case
    for row in findings.rows[:EXAMINED]:
        least = findings.over(row)
        if early := min((stamp for stamp in row.versions if least and stamp.public_from < least), default=None):
            raise failure(
                f"item {early.id!r} is {case.stamp} {early.public_from}, before {_named(findings, row)} is over "
                f"({least})",
                _LATEST
                if all(findings.floor(field_of(at), part) for at, part in findings.sources(row).items() if part)
                else _PARTS,
            )
    for pattern, path in findings.basis.items():
        row = next(row for row in findings.rows if path[: len(row.path)] == row.path)
        value, field = findings.value_at(row, path), field_of(path, row)
        form, parts = (
            findings.form(field),
            {place: part for place, part in findings.sources(row).items() if place != path},
        )
        last = floor(value, LATEST_ZONE, form)
        has_zone = case.zone or (form and case.source.recording.stamps[field].zone)
        if is_naive(value, form) and not has_zone and last and any(stamp < last for _, stamp in row.versions):
            raise failure(
                f"{field_name(pattern)} = {value!r} names no zone, and neither does the test, so nothing shows when "
                "that was",
                'set zone = "America/New_York" in the test, or the zone that the source documents; if it documents '
                "none, a day is over when it is everywhere (times.end_of_day_anywhere), and a clock is undated (None)",
            )
        if any(findings.floor(field_of(place), part) is None for place, part in {**parts, path: value}.items()):
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
                raise failure(
                    f"where {field_of(path)} is {label} ({value!r}), item {record.id!r} is stamped {stamp}, and not "
                    f"{least} or later",
                    _LATEST,
                )


# --- the meaning of the fields on which stamps rest


def check_meaning(findings: Findings) -> None:
    """Check that a stamp rests on a date of publication, not on the start of something that was still to come."""
    _check_rests(findings)
    if findings.case.stamp == "available_at":
        _check_adjusted(findings)
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
            raise failure(
                f"item {item!r} is stamped {stamp}, which rests on {_named(findings, row)}: no test can read that, so "
                "nothing holds the stamp to it",
                f'say in the recording how it is written, stamps = {{"{min(fields)}": Form("%d/%m/%Y")}}, or what it '
                f'means: Dating(basis=(Basis("{min(fields)}"),)); or see whether the source has another date',
            )
        names = {field_of(path, row) for path, _ in findings.leaves_of(row)}
        # What is declared and stands in the row has been tried, and moves nothing.
        if not fields and not declared - names and not findings.rests_elsewhere(row):
            raise failure(
                f"item {item!r} is stamped {stamp}, which rests on nothing in the reply: no value of its row, and no "
                "date beside it, moves the stamp",
                "stamp it by what the source says of it; if that comes otherwise (in a header, by another reply), name "
                'it: Dating(basis=(Basis("last-modified"),))',
            )


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
            raise failure(
                f"item {early[0]!r} is public before {field} and {basis.after}, as Dating.basis declares",
                f"stamp it at {field} and {basis.after} at the earliest, or correct Dating.basis",
            )
        if too_early and basis.means == "interval_start":
            raise failure(
                f"{bars} sooner than that after their {field}",
                "stamp a bar at the end of the interval that was asked for; where the recording holds too few "
                "neighbours to show it, record some that follow each other",
            )
    elif too_early:
        raise failure(
            f"{bars} at their {field}",
            f"a bar that is labelled with its start is public {step} later; if the label is its end, say "
            f'Dating(basis=(Basis("{field}", "interval_end"),))',
        )
    elif _are_period_ends([value for _, value in dated]):
        raise failure(
            f"stamps rest on {field}, of which every value is the first or the last day of a month: that is a "
            "period, and not when its figure was published",
            "stamp records with the day of publication; without one, nothing shows when they were public "
            f'(Dating(by="never")). If {field} is the day of publication, say Dating(basis=(Basis("{field}"),))',
        )
    elif _STARTS.search(field) and all(
        version.public_from - instant < _MOMENT for row, instant in starts for version in row.versions
    ):
        raise failure(
            f"stamps rest on {field}, which by its name is when something begins or is due",
            "take the field that says when the text was published, or add how long that takes at least, and say "
            f'so: Dating(basis=(Basis("{field}", "start", after=timedelta(…)),))',
        )


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


def _check_adjusted(findings: Findings) -> None:
    """Check that figures that are overwritten without a mark are not served as proved."""
    proved = (item for item in findings.baseline.data if item["id"] not in findings.snapshots)
    if fields := sorted({key for item in proved for key in item if _ADJUSTED.search(key)}):
        raise failure(
            f"{', '.join(fields)}: figures that are adjusted later carry no mark of it, so what is served for an early "
            "PIT is today's",
            "serve the raw figures; where the source has none, give the instant as claimed_at in the place of "
            "available_at, and say in Dating.claims what may have changed",
        )


# --- revisions, and the instant itself


def check_revisions(findings: Findings) -> None:
    """Check that a date later than an item's stamps, in its row or in its payload, is yielded as ``revised_at``."""
    case = findings.case
    for row in filter(findings.is_dated, findings.rows):
        latest = max(row.versions, key=lambda version: version.public_from)
        for path, value in findings.dates_of(row):
            field, is_listed = field_of(path), any(isinstance(part, int) for part in path[len(row.path) :])
            is_revision = _is_revision(findings, field)
            instant = findings.floor(field, value) if is_revision else earliest(value, findings.form(field))
            is_plan = _is_plan(findings, field) or row.pattern(path) in findings.validity
            if is_listed or instant is None or (is_plan and not is_revision):
                continue
            if latest.public_from < instant <= case.now:
                raise failure(
                    f"item {latest.id!r}: {field} = {value!r} is later than its stamps ({latest.public_from}), so "
                    "what is served may be a text from after the PIT",
                    _tell(field),
                )
    _check_readable(findings)
    _check_revisions_to_come(findings)
    for record in findings.baseline.records:
        stamp = public_from(record)
        for path, value in leaves(dict(record.payload)) if stamp is not None and not record.at_receipt else ():
            field, when = field_of(path), earliest(value) if isinstance(value, str) else None
            if not _is_plan(findings, field) and when is not None and stamp is not None and when > stamp:
                raise failure(
                    f"item {record.id!r} shows {field} = {value!r}, which is later than its stamps ({stamp})",
                    f"leave {field} out of the payload, or yield it as revised_at; if it tells of something planned, "
                    f'say so in the recording: fields = {{"{field}": "planned"}}',
                )


def _is_revision(findings: Findings, field: str) -> bool:
    is_named = _REVISION.search(field) is not None and not findings.is_role(field, "fixed", "planned")
    return is_named or findings.is_role(field, "revision")


def _is_plan(findings: Findings, field: str) -> bool:
    is_named = PLANNED.search(field) is not None and not findings.is_role(field, "revision")
    return is_named or findings.is_role(field, "fixed", "planned")


def _tell(field: str) -> str:
    return (
        f"yield revised_at from {field}; if that is no revision, say so in the recording: "
        f'fields = {{"{field}": "fixed"}}, or "planned"'
    )


def _check_readable(findings: Findings) -> None:
    """Check that what is named like a time of revision can be read as one."""
    for row in findings.rows[:EXAMINED]:
        for path, value in findings.leaves_of(row):
            field = field_of(path)
            has_digits = isinstance(value, str) and re.search(r"\d\D*\d\D*\d\D*\d", value)
            if has_digits and _is_revision(findings, field) and findings.floor(field, value) is None:
                raise failure(
                    f"{field} = {value!r} is named like a time of revision, and no test can read it",
                    f'say in the recording how it is written: stamps = {{"{field}": Form("%d/%m/%Y")}}; if it is no '
                    f'revision, fields = {{"{field}": "fixed"}}',
                )


def _check_revisions_to_come(findings: Findings) -> None:
    """Check that a field named like a revision's moves a stamp, also where the recording has no later one."""
    case = findings.case
    then = replace(case, now=case.now + timedelta(days=90))
    for row in findings.rows[:EXAMINED]:
        node = node_at(findings.tree, row.path)
        for field, value in node.items() if isinstance(node, dict) else ():
            is_revision = _is_revision(findings, field) and not _is_plan(findings, field)
            if findings.floor(field, value) is None or not is_revision or (field,) in findings.basis:
                continue
            with contextlib.suppress(ValueError, OverflowError):
                later = postpone(value, 60, findings.form(field))
                run = observe_world(then, then.now, put(row, (*row.path, field), later))
                if run and row.versions and row.versions <= versions_of(run.records):
                    raise failure(
                        f"item {min(row.versions).id!r} keeps its stamps when {field} says 60 days later, so what is "
                        "served may be a text from after the PIT",
                        _tell(field),
                    )


def check_boundary(findings: Findings) -> None:
    """Check that a version is there at its instant and absent a microsecond before, in whatever window is requested."""
    for instant in instants(findings.baseline):
        due = {item for item, stamp in findings.baseline.versions if stamp == instant}
        then, before = (findings.run_at(pit).stamps for pit in (instant, instant - MICROSECOND))
        if missing := sorted(item for item in due if then.get(item) != instant):
            raise failure(
                f"item {missing[0]!r} is public from {instant} on, and missing at that very PIT",
                "widen the window that fetch asks for (query.horizon is inclusive; zones and date-only bounds "
                "need a day more), and let select() keep the last instant",
            )
        if early := sorted(item for item in due if before.get(item) == instant):
            raise failure(
                f"item {early[0]!r} is public from {instant} on, and served a microsecond before",
                "take available_at and revised_at from the reply alone, never from query.pit or query.now",
            )
