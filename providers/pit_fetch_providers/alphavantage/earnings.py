"""EARNINGS: quarters by the day of their report, years by the report of their last quarter. Pure.

Three traps, all recorded. ``reportTime`` is no evidence of a time of day. The newest annual row may
be the year to date (IBM's "2026-03-31", 1.91). And dates and figures are today's: they are restated
without a mark (IBM's report of Q2 2012 moved by ten days), which the provider's caveat says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from pit_fetch.provider import Record
from pit_fetch.times import NEW_YORK, end_of_day, parse_date
from pit_fetch_providers.alphavantage.reply import Row

QUARTER_FIELDS = (
    "fiscalDateEnding", "reportedDate", "reportedEPS", "estimatedEPS", "surprise", "surprisePercentage", "reportTime",
)  # fmt: skip
YEAR_FIELDS = ("fiscalDateEnding", "reportedEPS")

# Quarters that end so many months before the year's end, or fewer, are the year's own: the first one ends
# nine before it, the last one of the year before twelve, or some days beside in years of 52 and 53 weeks.
_MONTHS_OF_ITS_QUARTERS = 11
_EPS_TOLERANCE = Decimal("0.005")

_MAX_DIGITS = 9  # beyond it no EPS, but a number whose sum could overflow


class _Period(NamedTuple):
    """One row: a fiscal period that ends on ``ends``, with its EPS, public since ``available_at``."""

    ends: date
    eps: Decimal | None
    available_at: datetime | None
    row: Row


def records(rows: Iterable[tuple[str, Row | None]], subject: str) -> Iterator[Record]:
    """The records of a reply's rows. What has no readable fiscal date has no identity."""
    found = list(rows)
    quarters = [_quarter(row) for kind, row in found if kind == "quarterly_earnings"]
    known = [quarter for quarter in quarters if quarter is not None]
    for quarter in quarters:
        yield _record(quarter, "quarterly", subject)
    years = [_year(row, known) for kind, row in found if kind == "annual_earnings"]
    for year in years:
        if year is None or not _is_year_to_date(year, [y for y in years if y is not None], known):
            yield _record(year, "annual", subject)


def _record(period: _Period | None, kind: str, subject: str) -> Record:
    if period is None:
        return Record("", None, "provider_metadata", {})
    fields = QUARTER_FIELDS if kind == "quarterly" else YEAR_FIELDS
    payload = {"record_type": f"{kind}_earnings", **{name: _plain(period.row.get(name)) for name in fields}}
    name = ":".join(part for part in ("EARNINGS", subject, kind, period.ends.isoformat()) if part)
    return Record(name, period.available_at, "provider_metadata", payload)


def _plain(value: Any) -> Any:
    return None if isinstance(value, (dict, list)) else value


def _quarter(row: Row | None) -> _Period | None:
    ends = _ends(row)
    if row is None or ends is None:
        return None
    reported = parse_date(row.get("reportedDate"))
    # The next quarter's row may stand there before its report, with the day that is expected of it.
    public = None if reported is None or row.get("reportedEPS") is None else end_of_day(reported, NEW_YORK)
    return _Period(ends, _number(row), public, row)


def _year(row: Row | None, quarters: Sequence[_Period]) -> _Period | None:
    """An annual row, public since the report of the quarter with which it ends."""
    ends = _ends(row)
    if row is None or ends is None:
        return None
    # The first of two reports of one quarter: the later one must not decide, it may not be public yet.
    reports = [q.available_at for q in quarters if q.ends == ends and q.available_at is not None]
    public = min(reports) if reports and row.get("reportedEPS") is not None else None
    return _Period(ends, _number(row), public, row)


def _is_year_to_date(year: _Period, years: Sequence[_Period], quarters: Sequence[_Period]) -> bool:
    """Whether the row is not a full year, from rows only that were public when this one became so.

    A full year ends a whole number of years after the one before it (or a month beside, for years of
    52 and 53 weeks). The oldest row has none before it. It is a year to date if its EPS is that of its
    last one, two or three quarters, and leaves out a quarter of that year which is listed as well.
    Where it is the sum of all that are listed, it is the whole year: lists begin within a year
    (Tesla's with 2010, the year of its listing, Salesforce's with that of January 2005).
    """

    def known(one: _Period) -> bool:
        if year.available_at is None:
            return True
        return one.available_at is not None and one.available_at <= year.available_at

    older = [one.ends for one in years if one.ends < year.ends and known(one)]
    if older:
        months = _months_between(max(older), year.ends)
        return months < 11 or months % 12 not in (0, 1, 11)
    listed = [one for one in quarters if _is_of(year, one) and known(one)]
    newest_first = sorted(listed, key=_by_end, reverse=True)
    sums, total = [], Decimal(0)
    for quarter in newest_first[:4]:
        if quarter.eps is None or year.eps is None:
            return False
        total += quarter.eps
        sums.append(abs(total - year.eps) < _EPS_TOLERANCE)
    return any(sums[:-1]) and not sums[-1]


def _is_of(year: _Period, quarter: _Period) -> bool:
    """Whether ``quarter`` ends within the fiscal year that ends with ``year``."""
    from dateutil.relativedelta import relativedelta

    try:
        before: date = year.ends - relativedelta(months=_MONTHS_OF_ITS_QUARTERS)
    except ValueError:  # in the first year of the calendar
        return False
    return before < quarter.ends <= year.ends


def _months_between(first: date, last: date) -> int:
    """Whole calendar months, whatever the days."""
    from dateutil.relativedelta import relativedelta

    distance = relativedelta(last.replace(day=1), first.replace(day=1))
    return int(distance.years) * 12 + int(distance.months)


def _by_end(period: _Period) -> date:
    return period.ends


def _ends(row: Row | None) -> date | None:
    return None if row is None else parse_date(row.get("fiscalDateEnding"))


def _number(row: Row) -> Decimal | None:
    value: Any = row.get("reportedEPS")
    try:
        number = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and number.adjusted() < _MAX_DIGITS else None
