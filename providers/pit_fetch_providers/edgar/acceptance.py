"""Date a filing by EDGAR's account of its acceptance, and by when its own files were written. Pure.

    available_at = acceptance + 1 hour,
                   or 09:00 of the day on which it was sent out, if it was accepted before that day's opening,
                   or the end of the header date, where the filing became public later

All times are New York wall clock. A filing accepted after 17:30 gets the next business day as its filing date and is
invisible until then (17 CFR 232.13): the acceptance time alone would be up to 12 hours early, or 60 over a weekend. A
letter or a draft carries ``<PRIVATE-TO-PUBLIC>``, or at least a date in the first line of its header that is later
than its filing date: the day on which it was released (UPLOAD 0000000000-24-003505: accepted on 2 April 2024,
released on 14 June).

The margins are measured: ``Last-Modified`` of a filing's own files shows when they were written. Of 52 recorded ones
49 were written within 3 minutes of acceptance, 51 within 8, and the last after 21. Two that had waited for the next
morning were written at 06:08 and 07:15. Where that time is read, it takes the place of the margins (:func:`proof`).

>>> day = date(2024, 2, 15)
>>> str(available_at(Acceptance(datetime(2024, 2, 15, 16, 30), day), day))
'2024-02-15 22:30:00+00:00'
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from pit_fetch.times import NEW_YORK, end_of_day, start_of_day, wall_clock
from pit_fetch_providers.shared import weekday_from

# Three times the longest that was recorded (20 min 38 s). EDGAR can be slower on its busiest days.
DISSEMINATION = timedelta(hours=1)
# EDGAR's opening: of 4,063 timed releases in July 2025, none came before 06:00.
OPENING, CLOSING = time(6), time(22)
# When the night's filings count as public. Until about 2017 they were reported to arrive as late as 07:30 (Calcbench).
MORNING = time(9)
# Anything accepted later gets the next business day as its filing date, except insiders' reports and the like.
END_OF_FILING_DAY = time(17, 30)
# What was begun before then is accepted under that day's date by now. Of 10,955 filings by 15 companies 60 were, the
# last at 17:33:40, and 12 came later under that day's date, up to 21:27: of such, the date may have been moved back.
_BEGUN_IN_TIME = time(17, 35)
# No closure is longer: in 2020 EDGAR was closed on the 24th of December, too, from Wednesday night to Monday. Such
# days, and days of mourning, are announced shortly before, so no calendar has them.
LONGEST_CLOSURE = timedelta(days=5)
# All recorded files of before then were written anew within this month, which shows nothing about their release.
_REWRITTEN = datetime(2017, 10, 1, tzinfo=UTC), datetime(2017, 11, 1, tzinfo=UTC)


class Acceptance(NamedTuple):
    """EDGAR's account of one filing."""

    accepted: datetime | None  # naive New York wall clock; None if the header has none (before 2002)
    filed: date
    released: date | None = None  # in the header's first line: of the (last) dissemination; None from an index page
    private: bool = False  # the filing was not public at first
    day_only: bool = False  # only the day of ``accepted`` means anything, not the time
    names: tuple[str, ...] = ()  # filers, subjects and issuers, as the header names them
    coarse: bool = False  # ``accepted`` may be hours late: not to be shown
    written: datetime | None = None  # when a file of the filing was, by its ``Last-Modified`` (UTC)
    form: str = ""  # as filed, in capitals; "" from an index page or a submissions file


def accepted_at(acceptance: Acceptance) -> datetime | None:
    """Return the UTC instant of the acceptance; an hour that a clock change repeats means its second occurrence."""
    return None if acceptance.accepted is None else wall_clock(acceptance.accepted, NEW_YORK)


def available_at(acceptance: Acceptance, filed: date, evening: bool = False) -> datetime | None:
    """Return the UTC instant from which the filing was public; None if that cannot be shown.

    ``filed`` is the filing date in the search index; if the two differ, the later one counts. ``evening`` marks a
    form that is disseminated until 22:00.
    """
    try:
        bounds = _bounds(acceptance, max(filed, acceptance.filed), evening)
    except OverflowError:  # a date at the end of the calendar
        return None
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def proof(acceptance: Acceptance, filed: date, evening: bool = False) -> datetime | None:
    """Return ``acceptance.written`` if that shows when the filing was public; otherwise None.

    Some of EDGAR's files repeat the acceptance, and the files of before October 2017 were written anew then.
    """
    written, filed = acceptance.written, max(filed, acceptance.filed)
    public = available_at(acceptance, filed, evening)
    try:
        earliest = _earliest(acceptance, filed, evening)
    except OverflowError:
        return None
    if written is None or any(bound is None or bound >= written for bound in earliest):
        return None
    first, last = _REWRITTEN
    is_rewritten = first <= written < last and (public is None or public < first)
    return None if is_rewritten else written


def _earliest(acceptance: Acceptance, filed: date, evening: bool) -> list[datetime | None]:
    """Return instants after which the filing was sent out."""
    released = max(acceptance.released or filed, filed)
    if acceptance.accepted is None:
        return [start_of_day(released, NEW_YORK)]
    first = _first_day(acceptance, filed, evening)
    return [accepted_at(acceptance), _clock(first, OPENING), start_of_day(released, NEW_YORK)]


def _bounds(acceptance: Acceptance, filed: date, evening: bool) -> list[datetime | None]:
    """Return instants before which the filing was not public; None stands for one that is unknown."""
    bounds: list[datetime | None] = []
    if acceptance.accepted is not None:
        bounds += [_sent(accepted_at(acceptance)), *_after_the_night(acceptance, filed, evening)]
        if acceptance.day_only:
            bounds.append(end_of_day(acceptance.accepted.date(), NEW_YORK))
    uncertain = acceptance.private or acceptance.day_only or acceptance.accepted is None
    released = acceptance.released
    if uncertain or (released is not None and released > filed):
        bounds.append(None if released is None else end_of_day(max(released, filed), NEW_YORK))
    return bounds


def _sent(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment + DISSEMINATION


def _after_the_night(acceptance: Acceptance, filed: date, evening: bool) -> list[datetime | None]:
    """Return the morning for which a filing waited; nothing for one that was sent out when it was accepted."""
    accepted = acceptance.accepted
    if accepted is None:
        return []
    if _is_moved_back(acceptance, filed, evening) or _may_be_moved_back(acceptance, filed, evening):
        # When it was sent out, its filing date still was the next business day.
        return [_clock(accepted.date() + LONGEST_CLOSURE, MORNING)]
    day = _first_day(acceptance, filed, evening)
    # By the clock, not by the day: a coarse one may read an evening as the small hours of the next day.
    return [_clock(day, MORNING)] if accepted < datetime.combine(day, OPENING) else []


def _first_day(acceptance: Acceptance, filed: date, evening: bool) -> date:
    """Return the first day on which the filing, which has an acceptance, can have been sent out."""
    accepted = acceptance.accepted
    if accepted is None:
        return filed
    is_late = accepted.time() >= CLOSING or _is_moved_back(acceptance, filed, evening)
    first = accepted.date() + timedelta(days=1) if is_late else accepted.date()
    # No filing is known to be sent out on a weekend, which has no daily index.
    return filed if first <= filed else weekday_from(first)


def _is_moved_back(acceptance: Acceptance, filed: date, evening: bool) -> bool:
    """Return whether an evening's filing had its filing date moved back, and its header names no release."""
    accepted, released = acceptance.accepted, acceptance.released
    if accepted is None or evening or accepted.time() <= END_OF_FILING_DAY:
        return False
    return filed < accepted.date() and (released is None or released < accepted.date())


def _may_be_moved_back(acceptance: Acceptance, filed: date, evening: bool) -> bool:
    """Return whether a filing came so late under its day's date that this may have been the next business day."""
    accepted, released = acceptance.accepted, acceptance.released
    if accepted is None or evening or not _BEGUN_IN_TIME < accepted.time() < CLOSING:
        return False
    return filed == accepted.date() and (released is None or released <= filed)


def _clock(day: date, clock: time) -> datetime | None:
    return wall_clock(datetime.combine(day, clock), NEW_YORK)
