"""Choose the requests of a fetch: usually one; one a month for intraday bars, one per 1,000 articles.

Nothing is counted here: the framework stops iterating once it has enough records, and never sees the gaps behind that
point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, Page, Params, Query, Record, Watermark
from pit_fetch.times import NEW_YORK, parse_date, start_of_day
from pit_fetch_providers.alphavantage import news, periods
from pit_fetch_providers.alphavantage.bars import LONGEST
from pit_fetch_providers.alphavantage.client import HOST, DecodedReply, ask
from pit_fetch_providers.alphavantage.function import Function, Stream, is_own_market
from pit_fetch_providers.alphavantage.rows import read

FIRST_MONTH = date(2000, 1, 1)  # the earliest that month= takes (documentation)
# After so many months in a row without a public bar the symbol is probably not known: a key has few requests.
EMPTY_MONTHS = 2

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


def one_reply(function: Function, query: Query, context: Context) -> Stream:
    """Yield the records of one request. Without a PIT they may be the latest ones alone."""
    parameters = function.parameters(query)
    if parameters.get("outputsize") == "compact":
        yield from _latest(function, query, context)
    else:
        yield from _records(function, query, ask(context, function, parameters, query))


def _latest(function: Function, query: Query, context: Context) -> Stream:
    """Yield the latest bars, and a gap if they do not reach back to the window. Only open mode asks for them."""
    records = list(_records(function, query, ask(context, function, function.parameters(query), query)))
    yield from records
    yield Watermark(_BEFORE_ALL)
    if query.since is None or not _public(records, query.since):
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
            yield from _month(function, query, context, named)
        return
    is_known = False
    while month >= last:
        try:
            records = list(_month(function, query, context, f"{month:%Y-%m}"))
        except UpstreamError as error:
            if error.gap.code is not Code.BAD_CALL or not is_known:
                raise
            return  # the months before a symbol's first one are an invalid call
        yield from records
        is_known = is_known or any(isinstance(record, Record) for record in records)
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
        decoded = ask(context, function, parameters, query)
        records = tuple(read(function, decoded.document, query, decoded.received_at))
        yield Page(records, news.order)
        if decoded.gap is not None:
            yield decoded.gap
        if len(decoded.document.rows) < news.LIMIT:
            return
        public = _public(records, min(query.now, query.started))
        # Where none was public, all of them are later, or of no use: nothing that was can be skipped by them.
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
        # A minute with more articles than a reply holds cannot be split. Those with a date only stand last
        # in theirs: where one that is not public yet is among them, none that is public is missing.
        if len(public) == len(records):
            yield gap(Code.RESULT_CAP)
        end = min(oldest, end - news.MINUTE)


def _public(stream: Iterable[Record | Gap], bound: datetime) -> list[Record]:
    # Nothing else may decide on gaps and windows: it could be something withheld.
    records = (record for record in stream if isinstance(record, Record) and record.id)
    return [record for record in records if record.available_at is not None and record.available_at <= bound]


def _records(function: Function, query: Query, decoded: DecodedReply) -> Iterator[Record | Gap]:
    yield from read(function, decoded.document, query, decoded.received_at)
    if decoded.gap is not None:
        yield decoded.gap


def _month(function: Function, query: Query, context: Context, month: str) -> Iterator[Record | Gap]:
    parameters: Params = {**function.parameters(query), "month": month}
    # A month without bars yet is an invalid call, too, so a capture goes on to the month before.
    return _records(function, query, ask(context, function, parameters, query._replace(capture=False)))


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
