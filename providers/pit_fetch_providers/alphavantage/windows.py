"""Choose the requests of a fetch: usually one; one a month for intraday bars, one per 1,000 articles.

Nothing is counted here: the framework stops iterating once it has enough records, and never sees the gaps behind that
point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, Page, Params, Query, Record, Watermark
from pit_fetch.times import NEW_YORK, parse_date, start_of_day
from pit_fetch_providers.alphavantage import news, periods
from pit_fetch_providers.alphavantage.bars import LONGEST
from pit_fetch_providers.alphavantage.client import HOST, ask
from pit_fetch_providers.alphavantage.function import Function, Stream, is_own_market
from pit_fetch_providers.alphavantage.rows import read

FIRST_MONTH = date(2000, 1, 1)  # the earliest that month= takes (documentation)
# After so many months in a row without a public bar the symbol is probably not known: a key has few requests.
EMPTY_MONTHS = 2

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


class ReplyRecords(NamedTuple):
    """The records of a reply, the number of its rows, and a gap if it may be falsely empty."""

    records: tuple[Record, ...]
    row_count: int
    gaps: tuple[Gap, ...] = ()

    @property
    def parts(self) -> tuple[Record | Gap, ...]:
        return *self.records, *self.gaps


def one_reply(function: Function, query: Query, context: Context) -> Stream:
    """Yield the records of one request. Without a PIT they may be the latest ones alone."""
    parameters = function.parameters(query)
    if parameters.get("outputsize") == "compact":
        yield from _latest(function, query, context)
    else:
        yield from read_reply(function, query, context, parameters).parts


def _latest(function: Function, query: Query, context: Context) -> Stream:
    """Yield the latest bars, and a gap if they do not reach back to the window. Only open mode asks for them."""
    reading = read_reply(function, query, context, function.parameters(query))
    yield from reading.parts
    yield Watermark(_BEFORE_ALL)
    if query.since is None or not _public(reading.records, query.since):
        yield gap(Code.HISTORY_LIMIT, host=HOST.name)


def one_day(function: Function, query: Query, context: Context) -> Stream:
    """Yield the records of one day, unless nothing of it can be public."""
    day = parse_date(query.options["date"])
    if day is None or day <= query.horizon.date():
        yield from one_reply(function, query, context)


def one_market(function: Function, query: Query, context: Context) -> Stream:
    """Yield the bars of one market, unless only open mode shows them."""
    if query.open_mode or is_own_market(query.options["market"]):
        yield from one_reply(function, query, context)


def monthly(function: Function, query: Query, context: Context) -> Stream:
    """Yield intraday bars month by month, newest first; without month and window, the latest ones in one reply."""
    named = query.options["month"]
    if query.open_mode and named is None and query.since is None and query.until is None:
        yield from _latest(function, query, context)
        return
    month, last = _first_month(query), _last_month(query)
    if named is not None:
        if named <= f"{month:%Y-%m}":
            yield from _month(function, query, context, named).parts
        return
    is_known = False
    while month >= last:
        try:
            reading = _month(function, query, context, f"{month:%Y-%m}")
        except UpstreamError as error:
            if error.gap.code is not Code.BAD_CALL or not is_known:
                raise
            return  # the months before a symbol's first one are an invalid call
        yield from reading.parts
        is_known = is_known or bool(reading.records)
        begins = start_of_day(month, NEW_YORK)
        month = periods.months_before(month, 1)
        if begins is not None and month >= last:
            yield Watermark(begins + LONGEST, max_empty_slices=EMPTY_MONTHS)


def articles(function: Function, query: Query, context: Context) -> Stream:
    """Yield articles, newest first. If 1,000 did not hold them all, the end of the window moves down to the oldest."""
    first, end = news.window(query)
    while first <= end:
        window = {"time_from": news.spelled(first), "time_to": news.spelled(end)}
        parameters = {**function.parameters(query), **window, "sort": "LATEST", "limit": str(news.LIMIT)}
        reading = read_reply(function, query, context, parameters)
        records = reading.records
        yield Page(records, newest_first=True, slack=news.SLACK)
        yield from reading.gaps
        if reading.row_count < news.LIMIT:
            return
        public = _public(records, min(query.now, query.started))
        # If none of them was public, going back to the oldest of all skips nothing that was.
        reached = news.reached(public or [record for record in records if record.available_at is not None])
        if reached is None:
            return
        oldest = reached.replace(second=0, microsecond=0)
        if end < oldest:  # the window is ignored: no later one would bring anything
            if public:
                raise UpstreamError(Code.PAGING)
            return
        if oldest + news.MINUTE < end:
            end = oldest + news.MINUTE  # the oldest minute may be cut in two
            continue
        # A minute with more articles than a reply holds cannot be split. Those of it that have only a date come last.
        # If the reply reaches one that is not public yet, it holds every public one.
        if len(public) == len(records):
            yield gap(Code.RESULT_CAP)
        end = min(oldest, end - news.MINUTE)


def _without_claims(records: tuple[Record, ...]) -> tuple[Record, ...]:
    return records


def read_reply(
    function: Function,
    query: Query,
    context: Context,
    parameters: Params,
    claimed: Callable[[tuple[Record, ...]], tuple[Record, ...]] = _without_claims,
) -> ReplyRecords:
    """Return what a reply holds; that of a second one, if there was nothing in the first. Raise UpstreamError.

    ``claimed`` gives the records their claims, if they have any.

    Under load the source sends well-formed empty replies for symbols that it knows (108 of 796 at 70 requests a
    minute). With a PIT, a reply of later rows and a message that there is no data are asked for once more, too: the
    number of requests, which counts against the key's quota, must not show which of them it was.
    """
    for _ in range(2):
        decoded = ask(context, function, parameters, query)
        rows, message = decoded.document.rows, decoded.document.message
        records = claimed(tuple(read(function, decoded.document, query, decoded.received_at)))
        if rows or message if query.open_mode else _public(records, min(query.now, decoded.received_at)):
            return ReplyRecords(records, len(rows))
    return ReplyRecords(records, len(rows), (gap(Code.EMPTY_TWICE, host=HOST.name),) if query.may_report_today else ())


def _public(records: Iterable[Record], bound: datetime) -> list[Record]:
    # Nothing else may decide on gaps, windows and requests: it could be something withheld.
    dated = ((record, record.claimed_at or record.available_at) for record in records if record.id)
    return [record for record, at in dated if at is not None and at <= bound]


def _month(function: Function, query: Query, context: Context, month: str) -> ReplyRecords:
    # A month without bars yet is an invalid call, too, so a capture goes on to the month before.
    return read_reply(function, query._replace(capture=False), context, {**function.parameters(query), "month": month})


def _first_month(query: Query) -> date:
    """Return the first day of the latest month of which a bar can be wanted.

    A month whose first bar is not over yet holds none.
    """
    local = query.horizon.astimezone(NEW_YORK)
    month = date(local.year, local.month, 1)
    begins = start_of_day(month, NEW_YORK)
    has_no_bar = begins is not None and query.horizon < begins + timedelta(minutes=1)
    return periods.months_before(month, 1) if has_no_bar else month


def _last_month(query: Query) -> date:
    """Return the first day of the month of the earliest wanted bar. A bar may end in the month after its own."""
    if query.since is None:
        return FIRST_MONTH
    local = (query.since - LONGEST).astimezone(NEW_YORK)
    return max(FIRST_MONTH, date(local.year, local.month, 1))
