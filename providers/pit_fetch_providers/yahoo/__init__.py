"""Yahoo Finance: prices, news, earnings dates, upgrades and the consensus, by the requests of its own pages.

No interface of Yahoo's is documented, and its pages show today's state: prices are adjusted for later splits, the times
of upgrades are changed afterwards, and the consensus is that of the moment. These are snapshots: with a PIT in the past
they come from an archive, or not at all. A row with a time of its own is dated by the latest instant that it can mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Archiving,
    Caveat,
    Context,
    Dating,
    Field,
    HttpReply,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
)
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.shared import evening_caveats, fields, refuse, views_of, with_a_pit
from pit_fetch_providers.yahoo import api, earnings, news, prices, ratings

Parse = Callable[[bytes, Query, datetime], Iterable[Record]]

SYMBOL = r"[A-Z0-9^][A-Z0-9.^=&_-]{0,31}"
_SHARE_CLASSES = (".A", ".B")  # no exchange has such a suffix
_SPELLING = "AAPL, BRK-B, VOD.L, ^GSPC, EURUSD=X or BTC-USD"
_HOLDER = "symbol means its holder on the day of the fetch."
_NEWEST = (
    "Yahoo keeps only the newest articles: what was published before them is missing, and the further back the PIT, "
    "the more of it. "
)
_AS_FILED = "sec_facts proves a company's figures as they were filed. "


def _fetching(ask: Callable[[Query, Context], HttpReply | None], parse: Parse) -> dict[str, Any]:
    """Return the functions of an operation that takes one request."""

    def fetch(query: Query, context: Context) -> Iterable[Record]:
        reply = ask(query, context)
        return () if reply is None else parse(reply.body, query, reply.received_at)

    return {"fetch": fetch, "parse_reply": lambda body, query: parse(body, query, query.started)}


def _asking_module(name: str) -> Callable[[Query, Context], HttpReply | None]:
    return lambda query, context: api.summary(context, query.options["symbol"], ratings.MODULES[name])


def fetch_earnings(query: Query, context: Context) -> Iterable[Page]:
    page = api.earnings(context, query.options["symbol"])

    def rows(first: int) -> Sequence[Record]:
        reply = page(first)
        return earnings.parse(reply.body, query, reply.received_at)

    return numbered(rows, size=api.PAGE_ROWS, step=api.PAGE_ROWS)


def when_empty(query: Query) -> str:
    """Return the hint on what is never served, or on symbols; it depends on the request alone."""
    own = f"Yahoo writes symbols as in {_SPELLING}."
    if query.open_mode or query.operation.name != "news":
        return own
    return f"Yahoo keeps the newest articles alone: for a PIT that is some days old there may be none left. {own}"


def _check_symbol(query: Query) -> Query:
    symbol = query.options["symbol"]
    symbols.check("symbol", filter(None, [symbol]), SYMBOL, f"{_SPELLING}, one a call")
    if symbol is not None and symbol.endswith(_SHARE_CLASSES):
        refuse(f"symbol: write {symbol[:-2]}-{symbol[-1]} in place of {symbol}.")
    return query


def _price_query(query: Query) -> Query:
    """Return the query of prices. Bars of less than a day are compared by when they begin, and reach back less far."""
    query = _check_symbol(query)
    if not prices.is_intraday(query.options["interval"]):
        return query
    # Some of their closes have four decimals, which cannot be told from what was divided: they have no claim.
    dating = query.operation.dating._replace(claims="")
    return query._replace(
        operation=query.operation._replace(window="start", dating=dating, archiving=Archiving(reach="newest"))
    )


def _claim_caveats(query: Query) -> Iterable[str]:
    return with_a_pit(_HOLDER)(query) if query.accepts_claims else ()


def _price_caveats(query: Query) -> Iterable[str | Caveat]:
    evening = evening_caveats(query) if query.options["interval"] == "1d" else ()
    return (*evening, *_claim_caveats(query))


_SYMBOL_OPERATION = Operation(needs=("symbol",), normalize=_check_symbol)
_PRICES = _SYMBOL_OPERATION._replace(
    name="prices",
    **_fetching(
        lambda query, context: api.chart(context, query.options["symbol"], prices.parameters(query)), prices.read
    ),
    dating=Dating(
        rule="when it is fetched, and not before the bar is over: a day by 20:00 of its exchange, or by its end",
        why="every price is divided by the splits that came later, and adjclose by later dividends (recorded)",
        claims="of shares in dollars, closes as traded: the splits of today's chart are undone; a day by 20:00 New "
        "York, a longer bar or a split by the end of its last day; Yahoo may have corrected both since, or not divided "
        "by a split",
        by="receipt",
    ),
    caveats=_price_caveats,
    takes=("interval",),
    period="start",
    search_terms="bars ohlc ohlcv candles chart history quote quotes daily intraday",
    fields=(
        *fields("record_type symbol currency", date="date", instant="start"),
        *fields(number="open high low close adjclose", integer="volume"),
        *fields(number="amount numerator denominator"),
    ),
    window="date",
    normalize=_price_query,
)
_NEWS = _SYMBOL_OPERATION._replace(
    name="news",
    **_fetching(
        lambda query, context: api.news(context, query.options["symbol"], query.options["tab"]),
        lambda body, query, received: news.read(body),
    ),
    dating=Dating(
        rule="the later of pubDate and displayTime, on a whole minute its end; both are needed",
        why="displayTime can be days after pubDate, and the text is that of then (recorded)",
        claims="pubDate, on a whole minute its end; the text is that of displayTime (recorded: three days later)",
    ),
    takes=("tab",),
    archiving=Archiving(reach="some"),
    fields=fields("title summary url publisher contentType", instant="pubDate displayTime", required="title"),
    caveats=with_a_pit(_NEWEST + _HOLDER),
)
_EARNINGS = _SYMBOL_OPERATION._replace(
    name="earnings",
    fetch=fetch_earnings,
    parse_reply=lambda body, query: earnings.parse(body, query, query.started),
    search_terms="eps",
    dating=Dating(
        rule="when it is fetched",
        why="figures are divided by the splits that came later, without a mark, and dates are moved (users' reports)",
        claims="the end of the New York day five hours after the row's hour, never on a weekend or without "
        "reportedEPS: hours are up to five hours early; figures are in today's shares, and dates those that Yahoo has "
        "now",
        by="receipt",
    ),
    fields=fields("symbol company date", number="epsEstimate reportedEPS surprisePercent"),
    window="date",
    period="date",
    caveats=with_a_pit(_AS_FILED + _HOLDER),
)
_UPGRADES = _SYMBOL_OPERATION._replace(
    name="upgrades",
    **_fetching(_asking_module("upgrades"), ratings.upgrades),
    dating=Dating(
        rule="when it is fetched",
        why="of 1,309 actions recorded in 2021 none had the same time in 2025, and 805 had an earlier one",
        claims="gradeDate, at midnight the end of that New York day; Yahoo changes it afterwards (of 1,309 actions in "
        "four years all, 805 to an earlier time, 6 of them by more than six hours), and leaves actions out",
        by="receipt",
    ),
    caveats=_claim_caveats,
    fields=(
        *fields(instant="gradeDate"),
        *fields("firm toGrade fromGrade action priceTargetAction", number="currentPriceTarget priorPriceTarget"),
    ),
    window="gradeDate",
    period="gradeDate",
)
_CONSENSUS = _SYMBOL_OPERATION._replace(
    name="consensus",
    **_fetching(_asking_module("consensus"), ratings.consensus),
    dating=Dating(
        rule="when it is fetched",
        why="votes, targets and estimates are those of the moment, and carry no time",
        by="receipt",
    ),
    fields=(
        *fields("record_type period", integer="strongBuy buy hold sell strongSell"),
        *fields(
            number="targetHighPrice targetLowPrice targetMeanPrice targetMedianPrice", integer="numberOfAnalystOpinions"
        ),
        *fields(number="recommendationMean"),
        *fields("recommendationKey financialCurrency", date="endDate", number="growth"),
        *(Field(name, "object") for name in ratings.ESTIMATES),
    ),
    window="",
)


PROVIDER = Provider(
    views=views_of(__name__),
    name="yahoo",
    summary="Yahoo Finance: news; prices, earnings, upgrades and the consensus as they are when fetched",
    aliases=("yahoo-finance", "yfinance"),
    when_empty=when_empty,
    hosts=(api.QUERY, api.WEB, api.COOKIES),
    options=(
        Option("symbol", "one of Yahoo's symbols", metavar="AAPL", uppercase=True, search_terms=search_terms.SYMBOL),
        Option(
            "interval",
            "prices: how long a bar is",
            choices=tuple(prices.INTERVALS),
            default="1d",
            synonyms=prices.SYNONYMS,
            metavar="INTERVAL",
            search_terms=search_terms.INTERVAL,
        ),
        Option("tab", "news: which articles", choices=tuple(api.TABS), default="news", metavar="TAB"),
    ),
    operations=(_PRICES, _NEWS, _EARNINGS, _UPGRADES, _CONSENSUS),
    page_size=100,
    listing=Listing(packages=("curl_cffi",)),
    help="""\
Needs the package curl_cffi, since Yahoo answers browsers only: pit_fetch sources yahoo says how to install it.
prices are served newest first. All but news are snapshots: with a PIT in the past they come from an archive
(PIT_FETCH_ARCHIVE), on a claim, or not at all. A bar that is still running is none yet.
""",
)
