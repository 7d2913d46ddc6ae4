"""The requests that one fetch needs: usually one; a request a month for intraday bars, one per 1,000 articles.

Whether to go on is decided from public records only, so that neither the answer nor its gaps can
depend on a withheld one. How many requests were made may; only the audit file says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.provider import Context, Query, Record
from pit_fetch_providers.alphavantage import bars, news
from pit_fetch_providers.alphavantage.ask import ask
from pit_fetch_providers.alphavantage.function import Function
from pit_fetch_providers.alphavantage.options import parameters
from pit_fetch_providers.alphavantage.rows import own_date, records

# After so many months in a row without a public bar the symbol is probably not known: a key has few requests.
EMPTY_MONTHS = 2

Select = Callable[[Query, Record], bool]


def one_reply(function: Function, query: Query, context: Context, select: Select) -> Iterator[Record | Gap]:
    """The records of one request. Bars that the source serves for a limited time only may not reach the window."""
    asked = parameters(function, query)
    answer = ask(context, function, asked, query)
    found = list(records(function, answer.document, query, answer.received))
    yield from found
    if answer.gap is not None:
        yield answer.gap
    if function.rule == "bar" and (not function.whole or asked.get("outputsize") == "compact"):
        public = _public(found, query).values()
        reached = query.since is not None and any(moment <= query.since for moment in public)
        if not reached and len(_wanted(found, query, select)) <= query.limit:
            yield gap("reach", host="Alpha Vantage")


def needs_months(query: Query) -> bool:
    """Whether the latest bars, which come without ``month``, may not be the ones that are asked for."""
    asked = (query.pit, query.since, query.until, query.options["month"])
    return any(one is not None for one in asked)


def monthly(function: Function, query: Query, context: Context, select: Select) -> Iterator[Record | Gap]:
    """Intraday bars month by month, newest first, until enough are public or the window is exhausted."""
    asked = parameters(function, query)
    month, last = bars.first_month(query), bars.last_month(query)
    if "month" in asked:
        if str(asked["month"]) <= bars.spelled(month):
            yield from _month(function, query, context, str(asked["month"]))
        return
    wanted, empty = 0, 0
    while month >= last:
        try:
            found = list(_month(function, query, context, bars.spelled(month)))
        except UpstreamError as error:
            if error.gap.code != "bad_call" or not wanted:
                raise
            return  # the months before a symbol's first one are an invalid call
        yield from found
        kept = [one for one in found if isinstance(one, Record)]
        wanted += len(_wanted(kept, query, select))
        empty = 0 if _has_public(kept, query) else empty + 1
        if wanted > query.limit:
            return
        if empty == EMPTY_MONTHS and month > last:
            yield gap("look_back", day=f"{bars.spelled(month)}-01")
            return
        month = bars.before(month)


def _month(function: Function, query: Query, context: Context, month: str) -> Iterator[Record | Gap]:
    answer = ask(context, function, {**parameters(function, query), "month": month}, query)
    yield from records(function, answer.document, query, answer.received)
    if answer.gap is not None:
        yield answer.gap


def articles(function: Function, query: Query, context: Context, select: Select) -> Iterator[Record | Gap]:
    """Articles, newest first; the window's end moves down to the oldest one where 1,000 did not hold them all."""
    first, end = news.window(query)
    public: dict[str, datetime] = {}
    seen: set[str] = set()
    while first <= end:
        asked = {
            **parameters(function, query),
            "time_from": news.spelled(first),
            "time_to": news.spelled(end),
            "sort": "LATEST",
            "limit": str(news.LIMIT),
        }
        answer = ask(context, function, asked, query)
        found = list(records(function, answer.document, query, answer.received))
        yield from found
        if answer.gap is not None:
            yield answer.gap
        stamps = [stamp for _, row in answer.document.rows if row and (stamp := news.stamped(row))]
        if len(answer.document.rows) < news.LIMIT or not stamps:
            return
        oldest = min(stamps).replace(second=0, microsecond=0)
        ids = {one.id for one in found}
        if end < oldest and ids <= seen:  # the window is ignored: no later one would bring anything
            if _public(found, query):
                raise UpstreamError("paging")
            return
        seen |= ids
        public |= _wanted(found, query, select)
        if news.suffices(public.values(), oldest, query.limit + 1):
            return
        if oldest + news.MINUTE < end:
            end = oldest + news.MINUTE  # the oldest minute may be cut in two
            continue
        # A minute with more articles than a reply holds cannot be split. Those with a date only stand last
        # in theirs: where one that is not public yet is among them, none that is public is missing.
        if len(_public(found, query)) == len(found):
            yield gap("provider_ceiling")
        end = min(oldest, end - news.MINUTE)


def _public(found: Sequence[Record], query: Query) -> dict[str, datetime]:
    """The instants, by id, of what is surely public: at the horizon itself --after may leave some out."""
    bound = min(query.horizon, query.started)
    return {
        one.id: one.available_at
        for one in found
        if one.id and one.available_at is not None and one.available_at < bound
    }


def _has_public(found: Sequence[Record], query: Query) -> bool:
    """Whether anything was public at the PIT: above a cursor, too, or a page would end before the whole does."""
    cutoff = min(query.now, query.started)
    return any(one.id and one.available_at is not None and one.available_at <= cutoff for one in found)


def _wanted(found: Sequence[Record], query: Query, select: Select) -> dict[str, datetime]:
    return _public([one for one in found if select(query, one)], query)


def in_window(function: Function, query: Query, record: Record) -> bool:
    """Whether a record's own date lies in --date-from … --date-to. What has none is not left out."""
    moment = own_date(function, record)
    if moment is None:
        return True
    return (query.since is None or moment >= query.since) and (query.until is None or moment <= query.until)
