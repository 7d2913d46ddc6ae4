"""The requests that one fetch needs: usually one; a request a month for intraday bars, one per 1,000 articles.

Nothing is counted here: the framework stops asking once it has enough, and what is said behind that
point is not heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.provider import Context, Page, Params, Query, Record, Watermark
from pit_fetch.times import NEW_YORK, parse_date, start_of_day
from pit_fetch_providers.alphavantage import months, news
from pit_fetch_providers.alphavantage.bars import LONGEST
from pit_fetch_providers.alphavantage.client import HOST, Said, ask
from pit_fetch_providers.alphavantage.function import Function, is_own_market
from pit_fetch_providers.alphavantage.rows import read

Stream = Iterator[Record | Page | Watermark | Gap]

FIRST_MONTH = date(2000, 1, 1)  # the earliest that month= takes, says the documentation
# After so many months in a row without a public bar the symbol is probably not known: a key has few requests.
EMPTY_MONTHS = 2

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


def one_reply(function: Function, query: Query, context: Context) -> Stream:
    """The records of one request. Bars that the source serves for a limited time only may not reach the window."""
    asked = function.parameters(query)
    said = ask(context, function, asked, query)
    found = list(_records(function, query, said))
    yield from found
    if function.whole and asked.get("outputsize") != "compact":
        return
    yield Watermark(_BEFORE_ALL)
    if query.since is None or not _public(found, min(query.since, query.horizon, query.started)):
        yield gap("reach", host=HOST.name)


def one_day(function: Function, query: Query, context: Context) -> Stream:
    """The same for the rows of one day, unless nothing of it can be wanted."""
    day = parse_date(query.options["date"])
    if day is None or day <= query.horizon.date():
        yield from one_reply(function, query, context)


def one_market(function: Function, query: Query, context: Context) -> Stream:
    """The same for the bars of one market, unless only open mode shows them."""
    if query.open_mode or is_own_market(query.options["market"]):
        yield from one_reply(function, query, context)


def monthly(function: Function, query: Query, context: Context) -> Stream:
    """Intraday bars month by month, newest first; the latest ones in one reply where they are what is asked for."""
    named = query.options["month"]
    if query.open_mode and all(bound is None for bound in (named, query.since, query.until)):
        yield from one_reply(function, query, context)
        return
    month, last = _first_month(query), _last_month(query)
    if named is not None:
        if named <= f"{month:%Y-%m}":
            yield from _month(function, query, context, named)
        return
    is_known = False
    while month >= last:
        try:
            found = list(_month(function, query, context, f"{month:%Y-%m}"))
        except UpstreamError as error:
            if error.gap.code != "bad_call" or not is_known:
                raise
            return  # the months before a symbol's first one are an invalid call
        yield from found
        is_known = is_known or any(isinstance(record, Record) for record in found)
        begins = start_of_day(month, NEW_YORK)
        month = months.before(month, 1)
        if begins is not None and month >= last:
            yield Watermark(begins + LONGEST, patience=EMPTY_MONTHS)


def articles(function: Function, query: Query, context: Context) -> Stream:
    """Articles, newest first; the window's end moves down to the oldest one where 1,000 did not hold them all."""
    first, end = news.window(query)
    while first <= end:
        window = {"time_from": news.spelled(first), "time_to": news.spelled(end)}
        asked = {**function.parameters(query), **window, "sort": "LATEST", "limit": str(news.LIMIT)}
        said = ask(context, function, asked, query)
        found = tuple(read(function, said.document, query, said.received))
        yield Page(found, news.order)
        if said.gap is not None:
            yield said.gap
        if len(said.document.rows) < news.LIMIT:
            return
        public = _public(found, min(query.now, query.started))
        # Where none was public, all of them are later, or of no use: nothing that was can be skipped by them.
        reached = news.reached(public or [record for record in found if record.available_at is not None])
        if reached is None:
            return
        oldest = reached.replace(second=0, microsecond=0)
        if end < oldest:  # the window is ignored: no later one would bring anything
            if public:
                raise UpstreamError("paging")
            return
        if oldest + news.MINUTE < end:
            end = oldest + news.MINUTE  # the oldest minute may be cut in two
            continue
        # A minute with more articles than a reply holds cannot be split. Those with a date only stand last
        # in theirs: where one that is not public yet is among them, none that is public is missing.
        if len(public) == len(found):
            yield gap("provider_ceiling")
        end = min(oldest, end - news.MINUTE)


def _public(found: Iterable[Record | Gap], bound: datetime) -> list[Record]:
    """What was public at ``bound``. Nothing else may decide what is said: it could be something withheld."""
    records = (record for record in found if isinstance(record, Record) and record.id)
    return [record for record in records if record.available_at is not None and record.available_at <= bound]


def _records(function: Function, query: Query, said: Said) -> Iterator[Record | Gap]:
    yield from read(function, said.document, query, said.received)
    if said.gap is not None:
        yield said.gap


def _month(function: Function, query: Query, context: Context, month: str) -> Iterator[Record | Gap]:
    asked: Params = {**function.parameters(query), "month": month}
    return _records(function, query, ask(context, function, asked, query))


def _first_month(query: Query) -> date:
    """The first day of the last month of which a bar can be wanted. One whose first bar is not over yet holds none."""
    local = query.horizon.astimezone(NEW_YORK)
    month = date(local.year, local.month, 1)
    begins = start_of_day(month, NEW_YORK)
    return months.before(month, 1) if begins is not None and query.horizon < begins + timedelta(minutes=1) else month


def _last_month(query: Query) -> date:
    """The first day of the month of the first bar that can be wanted. A bar that begins in it may end in the next."""
    if query.since is None:
        return FIRST_MONTH
    local = (query.since - LONGEST).astimezone(NEW_YORK)
    return max(FIRST_MONTH, date(local.year, local.month, 1))
