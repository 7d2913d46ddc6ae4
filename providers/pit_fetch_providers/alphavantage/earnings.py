"""EARNINGS: quarters dated by the day of their report, years by the report of their last quarter. Pure.

Three traps, all recorded. ``reportTime`` is not evidence of a time of day. The newest annual row may be the year to
date (IBM's "2026-03-31", 1.91). And dates and figures are today's: they are restated without a mark, which the
their day is a claim. IBM's report of Q2 2012 moved by ten days, from a Sunday: on a weekend, which was seen in one of
325 rows, no report appears.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from pit_fetch.provider import Field, Record
from pit_fetch.times import parse_date
from pit_fetch_providers.alphavantage import periods
from pit_fetch_providers.alphavantage.function import FunctionReply, Row
from pit_fetch_providers.alphavantage.rows import end_of_business, prefix
from pit_fetch_providers.shared import UNREADABLE, fields

QUARTERLY, ANNUAL = "quarterly_earnings", "annual_earnings"
YEAR = fields(date="fiscalDateEnding", number="reportedEPS")
QUARTER = (
    *fields(date="fiscalDateEnding reportedDate", number="reportedEPS estimatedEPS surprise surprisePercentage"),
    *fields("reportTime"),
)

# Quarters that end so many months before the year's end, or fewer, are the year's own: the first one ends
# nine before it, the last one of the year before twelve, or some days beside in years of 52 and 53 weeks.
_MONTHS_OF_ITS_QUARTERS = 11
_EPS_TOLERANCE = Decimal("0.005")

_MAX_DIGITS = 9  # beyond it no EPS, but a number whose sum could overflow


class _FiscalPeriod(NamedTuple):
    """A row: a fiscal period that ends on ``ends``, with its EPS, reported by ``reported_at``."""

    ends: date
    eps: Decimal | None
    reported_at: datetime | None
    row: Row


def records(reply: FunctionReply) -> Iterator[Record]:
    """Yield one record for each quarter and each whole year. A row without a readable fiscal date has no identity."""
    periods.load_relativedelta()
    name = prefix(reply)
    quarters = [_period(row, reply) for kind, row in reply.rows if kind == QUARTERLY]
    known = [quarter for quarter in quarters if quarter is not None]
    for quarter in quarters:
        yield _record(quarter, f"{name}:quarterly", QUARTERLY, QUARTER, reply.received)
    years = [_year(row, reply, known) for kind, row in reply.rows if kind == ANNUAL]
    for year in years:
        if year is None or not _is_year_to_date(year, [y for y in years if y is not None], known):
            yield _record(year, f"{name}:annual", ANNUAL, YEAR, reply.received)


def reported(row: Row, reply: FunctionReply) -> datetime | None:
    """Return the end of a quarter's ``reportedDate``; None on a weekend, and without a reported EPS.

    The row of the next quarter may be there before its report, with the day on which the report is expected.
    """
    return None if row.get("reportedEPS") is None else end_of_business("reportedDate")(row, reply)


def _record(period: _FiscalPeriod | None, name: str, kind: str, columns: Sequence[Field], received: datetime) -> Record:
    if period is None:
        return UNREADABLE
    values = {field.name: period.row.get(field.name) for field in columns}
    payload = {name: None if isinstance(value, (dict, list)) else value for name, value in values.items()}
    return Record(
        f"{name}:{period.ends}", received, {"record_type": kind, **payload}, at_receipt=True,
        claimed_at=period.reported_at,
    )  # fmt: skip


def _period(row: Row | None, reply: FunctionReply) -> _FiscalPeriod | None:
    ends = None if row is None else parse_date(row.get("fiscalDateEnding"))
    if row is None or ends is None:
        return None
    return _FiscalPeriod(ends, _number(row), reply.function.dates(row, reply), row)


def _year(row: Row | None, reply: FunctionReply, quarters: Sequence[_FiscalPeriod]) -> _FiscalPeriod | None:
    """Return an annual row, public since the report of the quarter with which it ends."""
    year = _period(row, reply)
    if year is None:
        return None
    # The first of two reports of one quarter: the later one must not decide, it may not be public yet.
    reports = [q.reported_at for q in quarters if q.ends == year.ends and q.reported_at is not None]
    is_reported = reports and year.row.get("reportedEPS") is not None
    return year._replace(reported_at=min(reports) if is_reported else None)


def _is_year_to_date(year: _FiscalPeriod, years: Sequence[_FiscalPeriod], quarters: Sequence[_FiscalPeriod]) -> bool:
    """Return whether the row is not a full year, judged only by rows that were public when this one became so.

    A full year ends a whole number of years after the one before it (or a month more or less, for years of 52 and 53
    weeks). The oldest row has none before it. It is a year to date if its EPS is the sum of its last one, two or
    three quarters, and leaves out a quarter of that year which is listed as well. If it is the sum of all that are
    listed, it is the whole year: lists begin within a year (Tesla's with 2010, the year of its listing, Salesforce's
    with that of January 2005).
    """

    def known(period: _FiscalPeriod) -> bool:
        if year.reported_at is None:
            return True
        return period.reported_at is not None and period.reported_at <= year.reported_at

    older = [other.ends for other in years if other.ends < year.ends and known(other)]
    if older:
        distance = periods.months_between(max(older), year.ends)
        return distance < 11 or distance % 12 not in (0, 1, 11)
    listed = [quarter for quarter in quarters if _is_of(year, quarter) and known(quarter)]
    newest_first = sorted(listed, key=lambda quarter: quarter.ends, reverse=True)
    sums, total = [], Decimal(0)
    for quarter in newest_first[:4]:
        if quarter.eps is None or year.eps is None:
            return False
        total += quarter.eps
        sums.append(abs(total - year.eps) < _EPS_TOLERANCE)
    return any(sums[:-1]) and not sums[-1]


def _is_of(year: _FiscalPeriod, quarter: _FiscalPeriod) -> bool:
    try:
        before = periods.months_before(year.ends, _MONTHS_OF_ITS_QUARTERS)
    except ValueError:  # in the first year of the calendar
        return False
    return before < quarter.ends <= year.ends


def _number(row: Row) -> Decimal | None:
    value: Any = row.get("reportedEPS")
    try:
        number = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and number.adjusted() < _MAX_DIGITS else None
