"""Yahoo Finance: prices, news, earnings dates, upgrades and the consensus, by the requests of its own pages.

No interface of Yahoo's is documented, and its pages show today's state: prices are adjusted for later splits, the times
of upgrades are changed afterwards, and the consensus is that of the moment. These are snapshots: with a PIT in the past
they come from an archive, or not at all. A row with a time of its own is dated by the latest instant that it can mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from pit_fetch.paging import numbered
from pit_fetch.provider import Basis, Context, Field, Operation, Option, Page, Provider, Query, Record
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.shared import evening_caveats, fields, refuse, with_a_pit
from pit_fetch_providers.yahoo import api, earnings, news, prices, ratings

SYMBOL = r"[A-Z0-9^][A-Z0-9.^=&_-]{0,31}"
_SHARE_CLASSES = (".A", ".B")  # no exchange has such a suffix
_SPELLING = "AAPL, BRK-B, VOD.L, ^GSPC, EURUSD=X or BTC-USD"
_HOLDER = "symbol means {holder}."
_NEWEST = (
    "Yahoo keeps only the newest articles: what was published before them is missing, and the further back the PIT, "
    "the more of it. "
)
_RESTATED = (
    "Earnings are figures of past reports {stand}, restated for later splits and corrections without a mark, and their "
    "dates are Yahoo's: one that was never corrected cannot be told from one that was. "
)


def fetch(query: Query, context: Context) -> Iterable[Record | Page]:
    """Return the records of the operation on the symbol."""
    symbol = query.options["symbol"]
    match query.operation.name:
        case "prices":
            reply = api.chart(context, symbol, prices.parameters(query))
        case "news":
            reply = api.news(context, symbol, query.options["tab"])
        case "earnings":
            page = api.earnings(context, symbol)
            return numbered(lambda row: earnings.read(page(row).body, query), size=api.PAGE_ROWS, step=api.PAGE_ROWS)
        case name:
            reply = api.summary(context, symbol, ratings.MODULES[name])
    return () if reply is None else _records(reply.body, query, reply.received_at)


def read(body: bytes, query: Query) -> Iterable[Record]:
    """Return the records of one raw reply of the operation's endpoint; for earnings that is a page."""
    return _records(body, query, query.started)


def _records(body: bytes, query: Query, received: datetime) -> Iterable[Record]:
    match query.operation.name:
        case "prices":
            return prices.read(body, query, received)
        case "news":
            return news.read(body)
        case "earnings":
            return earnings.read(body, query)
        case "upgrades":
            return ratings.upgrades(body, query, received)
        case _:
            return ratings.consensus(body, query, received)


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
    return query._replace(operation=query.operation._replace(window="start", reach="newest", claims=""))


def _claim_caveats(query: Query) -> Iterable[str]:
    return with_a_pit(_HOLDER)(query) if query.accepts_claims else ()


def _price_caveats(query: Query) -> Iterable[str]:
    evening = evening_caveats(query) if query.options["interval"] == "1d" else ()
    return (*evening, *_claim_caveats(query))


_SYMBOL_OPERATION = Operation(needs=("symbol",), normalize_query=_check_symbol)
_PRICES = _SYMBOL_OPERATION._replace(
    name="prices",
    rule="when it is fetched, and not before the bar is over: a day by 20:00 of its exchange, or by its end",
    why="every price is divided by the splits that came later, and adjclose by later dividends (recorded)",
    claims="of shares in dollars, closes as traded: the splits of today's chart are undone; a day by 20:00 New York, a "
    "longer bar or a split by the end of its last day; Yahoo may have corrected both since, or not divided by a split",
    caveats=_price_caveats,
    dating="receipt",
    takes=("interval",),
    period="start",
    search_terms="bars ohlc ohlcv candles chart history quote quotes daily intraday",
    fields=(
        *fields("record_type symbol currency", date="date", instant="start"),
        *fields(number="open high low close adjclose", integer="volume"),
        *fields(number="amount numerator denominator"),
    ),
    window="date",
    normalize_query=_price_query,
)
_NEWS = _SYMBOL_OPERATION._replace(
    name="news",
    rule="the later of pubDate and displayTime, on a whole minute its end; both are needed",
    why="displayTime can be days after pubDate, and the text is that of then (recorded)",
    claims="pubDate, on a whole minute its end; the text is that of displayTime (recorded: three days later)",
    takes=("tab",),
    reach="some",
    fields=fields("title summary url publisher contentType", instant="pubDate displayTime", required="title"),
    caveats=with_a_pit(_NEWEST + _HOLDER),
)
_EARNINGS = _SYMBOL_OPERATION._replace(
    name="earnings",
    search_terms="eps",
    rule="the end of the New York day five hours after the row's hour; never on a weekend or without reportedEPS",
    why="hours are up to five hours early, and a day without time is the evening before (users' reports)",
    fields=fields("symbol company date", number="epsEstimate reportedEPS surprisePercent"),
    window="date",
    period="date",
    basis=(Basis("date", "start", after=timedelta(hours=5)),),
    caveats=with_a_pit(_RESTATED + _HOLDER),
)
_UPGRADES = _SYMBOL_OPERATION._replace(
    name="upgrades",
    rule="when it is fetched",
    why="of 1,309 actions recorded in 2021 none had the same time in 2025, and 805 had an earlier one",
    claims="gradeDate, at midnight the end of that New York day; Yahoo changes it afterwards (of 1,309 actions in four "
    "years all, 805 to an earlier time, 6 of them by more than six hours), and leaves actions out",
    caveats=_claim_caveats,
    dating="receipt",
    fields=(
        *fields(instant="gradeDate"),
        *fields("firm toGrade fromGrade action priceTargetAction", number="currentPriceTarget priorPriceTarget"),
    ),
    window="gradeDate",
    period="gradeDate",
)
_CONSENSUS = _SYMBOL_OPERATION._replace(
    name="consensus",
    rule="when it is fetched",
    why="votes, targets and estimates are those of the moment, and carry no time",
    dating="receipt",
    fields=(
        *fields("record_type period", integer="strongBuy buy hold sell strongSell"),
        *fields(
            number="targetHighPrice targetLowPrice targetMeanPrice targetMedianPrice", integer="numberOfAnalystOpinions"
        ),
        *fields(number="recommendationMean"),
        *fields("recommendationKey financialCurrency", date="endDate", number="growth"),
        *(Field(name, "object") for name in ratings.ESTIMATES),
    ),
    window=None,
)

PROVIDER = Provider(
    name="yahoo",
    summary="Yahoo Finance: news and earnings dates; prices, upgrades and the consensus as they are when fetched",
    aliases=("yahoo-finance", "yfinance"),
    fetch=fetch,
    parse_reply=read,
    when_empty=when_empty,
    hosts=(api.QUERY, api.WEB, api.COOKIES),
    options=(
        Option("op", "prices, news, earnings, upgrades or consensus", positional="one", metavar="OP"),
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
    packages=("curl_cffi",),
    agents=("yahoo",),
    help="""\
Needs the package curl_cffi, since Yahoo answers browsers only: pit_fetch sources yahoo says how to install it.
prices are served newest first. prices, upgrades and consensus are snapshots: with a PIT in the past they come
from an archive (PIT_FETCH_ARCHIVE), or not at all. A bar that is still running is none yet.
""",
)
