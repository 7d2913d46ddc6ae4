"""Checks of versions: all of them are yielded, and a revision is told, so that the newest public one can be chosen."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

from pit_fetch.testing.documents import leaves, node_at
from pit_fetch.testing.findings import EXAMINED, Findings, drop, edited, field_of, observe_world, put
from pit_fetch.testing.observe import observe, pits_before, public_from, versions_of
from pit_fetch.testing.report import failure
from pit_fetch.testing.timestamps import earliest, postpone
from pit_fetch.testing.worlds import PLANNED

_REVISION = re.compile(r"updat|modif|revis|edit(?!or)|amend|correct|chang", re.IGNORECASE)
# More records than a recorded reply holds.
_ALL = 100_000


def check_versions(findings: Findings) -> None:
    """Check that every version of an item is yielded, so that the newest one public at the PIT can be chosen."""
    _check_choice(findings)
    case = findings.case
    alone: dict[str, set[datetime]] = defaultdict(set)
    for row in findings.every:
        others = [other for other in findings.every if other.container == row.container and other is not row]
        for item, stamp in observe(case, case.now, world=edited(case, partial(drop, rows=others))).versions:
            alone[item].add(stamp)
    for item, stamps in alone.items():
        yielded = {version.public_from for version in findings.baseline.versions if version.id == item}
        if moved := yielded - stamps if len(yielded) == len(stamps) == 1 else set():
            problem = f"item {item!r} is stamped {min(moved)}, and {min(stamps)} where no other row is in the reply"
            raise failure(problem, "stamped-by-other-rows")
        if len(yielded) < len(stamps):
            problem = f"of item {item!r} the reply holds {len(stamps)} versions, and {len(yielded)} are yielded"
            hidden = min(stamps - yielded)
            raise failure(f"{problem}: not the one that was public from {hidden} on", "every-version")
    _check_declared(findings)


def _check_choice(findings: Findings) -> None:
    """Check that a request that names what is wanted is answered with all of it, whenever it is asked.

    A capture of it answers for the time before it.
    """
    case, query = findings.case, findings.baseline.query
    if query is None or query.chooses or not query.operation.archiving.chooses:
        return
    later = versions_of(observe(case.with_options(limit=_ALL), case.now).records)
    for pit in pits_before(findings.baseline):
        public = {version for version in versions_of(findings.run_at(pit).records) if version.public_from <= pit}
        if lost := min(public - later, default=None):
            problem = f"item {lost.id!r} (public from {lost.public_from} on) is yielded at the PIT {pit}, and no more"
            unless = query.operation.archiving.chooses_unless
            event = "at a later one: the request leaves something to choose"
            raise failure(f"{problem} {event}", "chooses-unless", unless=unless)


def _check_declared(findings: Findings) -> None:
    """Check that a provider that narrows its request by ``query.horizon`` and has versions declares them.

    --after moves the horizon back, so page two would bring superseded versions of what stood on page one.
    """
    case, baseline = findings.case, findings.baseline
    items = sorted(version.id for version in baseline.versions)
    several = next((item for item, next_item in pairwise(items) if item == next_item), None)
    if several is None or baseline.query is None or baseline.query.operation.archiving.versions:
        return
    last, stamp = min(baseline.stamps.items(), key=lambda item_and_stamp: item_and_stamp[1])
    below = observe(case.with_options(after=f"{last}@{stamp.isoformat()}"), case.now)
    if below.requests != baseline.requests:
        problem = f"item {several!r} has several versions, and what the source is asked for moves with --after"
        event = "continued, an answer would bring superseded versions back"
        raise failure(f"{problem}: {event}", "undeclared-versions")


# --- revisions


def check_revisions(findings: Findings) -> None:
    """Check that a date later than an item's stamps, in its row or in its payload, is yielded as ``revised_at``."""
    case, served = findings.case, "what is served may be a text from after the PIT"
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
                problem = f"item {latest.id!r}: {field} = {value!r} is later than its stamps ({latest.public_from})"
                raise failure(f"{problem}, so {served}", "revision-not-told", field=field)
    for row in findings.rows[:EXAMINED]:
        for path, value in findings.leaves_of(row):
            field = field_of(path)
            has_digits = isinstance(value, str) and re.search(r"\d\D*\d\D*\d\D*\d", value)
            if has_digits and _is_revision(findings, field) and findings.floor(field, value) is None:
                problem = f"{field} = {value!r} is named like a time of revision, and no test can read it"
                raise failure(problem, "unreadable-stamp", field=field)
    _check_revisions_to_come(findings)
    for record in findings.baseline.records:
        stamp = public_from(record)
        for path, value in leaves(dict(record.payload)) if stamp is not None and not record.at_receipt else ():
            field, when = field_of(path), earliest(value) if isinstance(value, str) else None
            if not _is_plan(findings, field) and when is not None and stamp is not None and when > stamp:
                problem = f"item {record.id!r} shows {field} = {value!r}, which is later than its stamps ({stamp})"
                raise failure(problem, "later-date-in-a-payload", field=field)


def _is_revision(findings: Findings, field: str) -> bool:
    is_named = _REVISION.search(field) is not None and not findings.is_role(field, "fixed", "planned")
    return is_named or findings.is_role(field, "revision")


def _is_plan(findings: Findings, field: str) -> bool:
    is_named = PLANNED.search(field) is not None and not findings.is_role(field, "revision")
    return is_named or findings.is_role(field, "fixed", "planned")


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
                    problem = f"item {min(row.versions).id!r} keeps its stamps when {field} says 60 days later"
                    event = "what is served may be a text from after the PIT"
                    raise failure(f"{problem}, so {event}", "revision-not-told", field=field)
