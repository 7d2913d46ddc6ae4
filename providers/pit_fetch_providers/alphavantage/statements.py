"""Statements on a claim: a fiscal period's figures, from its report in EARNINGS and the SEC's deadline on.

A statement carries the end of its fiscal period alone. EARNINGS has the day of the report, in one more request, but a
press release often leaves out cash flow and balance sheet, which come with the filing: so the later of that day and
the filing's deadline counts. The figures are those of today all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from pit_fetch.provider import Context, Query, Record
from pit_fetch.times import NEW_YORK, end_of_day, parse_date
from pit_fetch_providers.alphavantage import earnings, periods, windows
from pit_fetch_providers.alphavantage.function import Function, Stream
from pit_fetch_providers.shared import weekday_from

ANNUAL, QUARTERLY = "annual_report", "quarterly_report"

# The longest of the SEC's deadlines for a 10-Q and for a 10-K.
_QUARTER, _YEAR = timedelta(days=45), timedelta(days=90)


class _ClaimedPeriod(NamedTuple):
    """A fiscal period that ends on ``ends``, claimed to be public ``at``."""

    ends: date
    at: datetime


def fetch(reports: Function, function: Function, query: Query, context: Context) -> Stream:
    """Yield the statements of a symbol, with their claims where these are accepted; ``reports`` is EARNINGS."""
    if query.open_mode or not query.accepts_claims:
        yield from windows.one_reply(function, query, context)
        return
    about = query._replace(operation=reports.operation)
    reported = windows.read_reply(reports, about, context, reports.parameters(about))
    date_rows = partial(claimed, reported=_report_dates(reported.records), columns=function.passes)
    yield from windows.read_reply(function, query, context, function.parameters(query), date_rows).parts


def claimed(
    records: Sequence[Record], reported: Mapping[date, datetime], columns: frozenset[str]
) -> tuple[Record, ...]:
    """Return the statements with their claims. ``reported`` is when each fiscal period was, by its last day."""
    periods.load_relativedelta()
    years = [_claim(record, reported, _YEAR) for record in records if _kind(record) == ANNUAL]
    known = [year for year in years if year is not None]

    def add_claim(record: Record) -> Record:
        period = _claim(record, reported, _YEAR)
        if period is not None and _kind(record) == QUARTERLY:
            early = _claim(record, reported, _QUARTER)
            period = early if early is not None and _is_within_a_year(early, known) else period
        if period is None:
            return record
        shown = {name: value for name, value in record.payload.items() if name in columns or name == "record_type"}
        return record._replace(claimed_at=period.at, claimed_payload=shown)

    return tuple(map(add_claim, records))


def _is_within_a_year(quarter: _ClaimedPeriod, years: Sequence[_ClaimedPeriod]) -> bool:
    """Return whether a quarter is not the last of its year, by the newest year that was public when it became so.

    Years of 52 and 53 weeks end a month earlier or later. What is of a later day must not decide.
    """
    before = [year.ends for year in years if year.ends < quarter.ends and year.at <= quarter.at]
    return bool(before) and periods.months_between(max(before), quarter.ends) % 12 not in (0, 1, 11)


def _claim(record: Record, reported: Mapping[date, datetime], deadline: timedelta) -> _ClaimedPeriod | None:
    ends = parse_date(record.payload.get("fiscalDateEnding"))
    at = None if ends is None else reported.get(ends)
    if ends is None or at is None:
        return None
    due = end_of_day(weekday_from(ends + deadline), NEW_YORK)
    return None if due is None else _ClaimedPeriod(ends, max(at, due))


def _report_dates(records: Sequence[Record]) -> Mapping[date, datetime]:
    """Return when each quarter was reported. The first of two reports counts: the later may not be public yet."""
    reported: dict[date, datetime] = {}
    for record in records:
        ends = parse_date(record.payload.get("fiscalDateEnding"))
        if _kind(record) == earnings.QUARTERLY and ends is not None and record.claimed_at is not None:
            reported[ends] = min(record.claimed_at, reported.get(ends, record.claimed_at))
    return reported


def _kind(record: Record) -> object:
    return record.payload.get("record_type")
