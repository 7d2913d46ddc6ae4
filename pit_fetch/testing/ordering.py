"""Checks of what a provider promises of its records as a whole: their order, and which versions there are."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from functools import partial
from itertools import pairwise

from pit_fetch.gaps import Code, gap
from pit_fetch.provider import Page
from pit_fetch.testing.findings import Findings, drop, edited, observe_world
from pit_fetch.testing.observe import Case, failure, observe, pits_before, versions_of
from pit_fetch.testing.worlds import LateRows
from pit_fetch.times import is_aware

_ORDER = (
    "say newest_first of a page only where the source sorts by the stamp that you yield as "
    "available_at, from page to page without an exception; where it does not, leave it out. For slices of time yield "
    "a Watermark after each"
)
# More records than a recorded reply holds.
_ALL = 100_000


def check_order(case: Case) -> None:
    """Check that pages come in the order that they promise."""
    run = observe(case, case.now)
    for page in run.yielded:  # before the baseline, which would only report that a broken order gave nothing
        if isinstance(page, Page) and page.newest_first:
            _check_page(page)
    if gap(Code.ORDER_BROKEN).reason in run.reasons:
        raise failure("records come that are newer than what was promised of them", _ORDER)
    if not all(is_aware(instant) for instant in run.watermarks):
        raise failure("a Watermark is naive", "give it an aware instant, from a function of pit_fetch.times")


def check_watermarks(findings: Findings) -> None:
    """Check that no watermark rests on a record that may be withheld."""
    case = findings.case
    for pit in pits_before(findings.baseline) if findings.baseline.watermarks else ():
        expected = findings.run_at(pit).watermarks
        for world, (edit, *_) in LateRows(findings, pit).quick().items():
            run = observe_world(case, pit, edit.change)
            if run and (promised := run.watermarks) != expected:
                moved = min(set(promised) ^ set(expected), default=None)
                raise failure(
                    f"a Watermark ({moved}) rests on records that were not public at {pit}: it is another one when "
                    f"they are {world}",
                    "take Watermark.at from the request alone (the first instant of the slice that was asked for), "
                    "never from a record's stamp",
                )


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
            raise failure(
                f"item {item!r} is stamped {min(moved)}, and {min(stamps)} where no other row is in the reply",
                "stamp a record by its own row: the rows beside it may be late",
            )
        if len(yielded) < len(stamps):
            hidden = min(stamps - yielded)
            raise failure(
                f"of item {item!r} the reply holds {len(stamps)} versions, and {len(yielded)} are yielded: not the one "
                f"that was public from {hidden} on",
                "yield every version as a record of its own, under one id: the framework serves the newest one that "
                "was public at the PIT, and a choice made before that rests on versions that may be late",
            )
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
            raise failure(
                f"item {lost.id!r} (public from {lost.public_from} on) is yielded at the PIT {pit}, and no more at a "
                "later one: the request leaves something to choose",
                "yield all that is public of what the request names, or leave the option out of "
                f"Archiving.chooses_unless, which is {query.operation.archiving.chooses_unless}: a capture answers for "
                "the time before it if nothing was chosen",
            )


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
        raise failure(
            f"item {several!r} has several versions, and what the source is asked for moves with --after: continued, "
            "an answer would bring superseded versions back",
            "declare Archiving(versions=True): query.horizon is then the PIT, whatever part of the answer is wanted",
        )


def _check_page(page: Page) -> None:
    """Check that the promise holds after each row: a page may end after any of them."""
    oldest: datetime | None = None
    for record in page.records:
        stamp = record.available_at
        if not is_aware(stamp):
            continue
        oldest = oldest or stamp
        if stamp - oldest > page.slack:
            raise failure(
                f"record {record.id!r} ({stamp}) comes after one of {oldest}, and the page promises another order",
                _ORDER,
            )
        oldest = min(oldest, stamp)
