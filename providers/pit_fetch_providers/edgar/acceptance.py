"""Date a filing by EDGAR's account of its acceptance. Pure.

    available_at = max(acceptance, 06:00 of the filing date) + 3 minutes,
                   or the end of the header date, where the filing became public later

All times are New York wall clock. A filing accepted after 17:30 gets the next business day as its filing date and is
invisible until then (17 CFR 232.13): the acceptance time alone would be up to 12 hours early, or 60 over a weekend. A
letter or a draft carries ``<PRIVATE-TO-PUBLIC>``, or at least a date in the first line of its header that is later
than its filing date: the day on which it was released (UPLOAD 0000000000-24-003505: accepted on 2 April 2024,
released on 14 June).
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from pit_fetch.times import NEW_YORK, end_of_day, wall_clock

# "Usually 1-3 minutes" after the EDGAR timestamp (SEC webmaster FAQ); recorded feeds list filings 24-74 s old.
DISSEMINATION = timedelta(minutes=3)
# EDGAR's opening: of 4,063 timed releases in July 2025, none came before 06:00.
OPENING, CLOSING = time(6), time(22)
# Anything accepted later gets the next business day as its filing date, except insiders' reports.
END_OF_FILING_DAY = time(17, 30)
_FRIDAY = 4
# No weekend is longer, even with holidays.
LONGEST_CLOSURE = timedelta(days=5)
# Until about 2017, what was accepted after hours was reported to arrive as late as 07:30 (Calcbench).
LATE_OPENING = time(7, 30)
LATE_OPENING_YEARS = range(2013, 2018)


class Acceptance(NamedTuple):
    """EDGAR's account of one filing."""

    accepted: datetime | None  # naive New York wall clock; None if the header has none (before 2002)
    filed: date
    released: date | None = None  # in the header's first line: of the (last) dissemination; None from an index page
    private: bool = False  # the filing was not public at first
    day_only: bool = False  # only the day of ``accepted`` means anything, not the time
    names: tuple[str, ...] = ()  # filers, subjects and issuers, as the header names them
    coarse: bool = False  # ``accepted`` may be hours late: not to be shown


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


def _bounds(acceptance: Acceptance, filed: date, evening: bool) -> list[datetime | None]:
    """Return instants before which the filing was not public; None stands for one that is unknown."""
    bounds: list[datetime | None] = []
    if acceptance.accepted is not None:
        bounds += [_sent(accepted_at(acceptance)), _sent(_opening(filed, acceptance, evening))]
        if acceptance.day_only:
            bounds.append(end_of_day(acceptance.accepted.date(), NEW_YORK))
    uncertain = acceptance.private or acceptance.day_only or acceptance.accepted is None
    released = acceptance.released
    if uncertain or (released is not None and released > filed):
        bounds.append(None if released is None else end_of_day(max(released, filed), NEW_YORK))
    return bounds


def _sent(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment + DISSEMINATION


def _opening(filed: date, acceptance: Acceptance, evening: bool) -> datetime | None:
    """Return when dissemination starts on the day on which this filing was, or may have been, sent out."""
    accepted, released = acceptance.accepted, acceptance.released
    if accepted is None:
        return None
    arrived, clock = accepted.date(), accepted.time()
    if filed < arrived and clock > END_OF_FILING_DAY and not evening and (released is None or released < arrived):
        # Its filing date was moved back; when it was sent out, it still was the next business day.
        day, opening = arrived + LONGEST_CLOSURE, LATE_OPENING
    else:
        first = arrived if clock < CLOSING else arrived + timedelta(days=1)
        day, opening = filed if first <= filed else _weekday(first), OPENING
        # By the clock, not by the day: a coarse one may read an evening as the small hours of the next day.
        if accepted < datetime.combine(day, OPENING) and {day.year, arrived.year} & set(LATE_OPENING_YEARS):
            opening = LATE_OPENING
    return wall_clock(datetime.combine(day, opening), NEW_YORK)


def _weekday(day: date) -> date:
    """Return ``day``, or the Monday after it.

    No filing is known to be sent out on a weekend, which has no daily index.
    """
    return day + timedelta(days=7 - day.weekday() if day.weekday() > _FRIDAY else 0)
