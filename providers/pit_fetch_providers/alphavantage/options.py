"""The options of the functions, their checks, and the parameters of a request. Pure."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

from pit_fetch.provider import Option, Params, Query
from pit_fetch.times import parse_date
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.alphavantage.function import MARKETS, MINUTES
from pit_fetch_providers.shared import refuse

_NUMBER = "of a technical indicator, see Alpha Vantage's documentation"
INDICATOR_NUMBERS = (
    "fastlimit", "slowlimit", "fastperiod", "slowperiod", "signalperiod", "fastmatype", "slowmatype",
    "signalmatype", "fastkperiod", "slowkperiod", "slowdperiod", "fastdperiod", "slowkmatype", "slowdmatype",
    "fastdmatype", "matype", "timeperiod1", "timeperiod2", "timeperiod3", "nbdevup", "nbdevdn", "acceleration",
    "maximum",
)  # fmt: skip

OPTIONS: tuple[Option, ...] = (
    Option("symbol", "the ticker", metavar="AAPL", uppercase=True, search_terms=search_terms.SYMBOL),
    Option("tickers", "NEWS_SENTIMENT: articles that name all of these; elsewhere one ticker, as symbol does",
           kind="list", metavar="AAPL,CRYPTO:BTC", uppercase=True, search_terms=search_terms.TICKERS),
    Option("topics", "NEWS_SENTIMENT: articles on all of these", kind="list", metavar="technology,ipo",
           search_terms="theme themes"),
    Option("interval", "of bars, indicators and series", metavar="5min",
           choices=(*MINUTES, "daily", "weekly", "monthly", "quarterly", "semiannual", "annual"),
           search_terms=search_terms.INTERVAL),
    Option("month", "intraday: this month only; with --pit the months before the PIT are chosen", metavar="YYYY-MM"),
    Option("outputsize", "with --pit always full", choices=("compact", "full"), affects_records=False),
    Option("adjust", "TIME_SERIES_DAILY_ADJUSTED: adjust prices for splits (total: also dividends) public at the PIT",
           choices=("splits", "total"), affects_records=False),
    Option("extended_hours", "TIME_SERIES_INTRADAY: bars before and after regular hours", choices=("true", "false")),
    Option("entitlement", "delayed or realtime, for plans that have it", choices=("delayed", "realtime")),
    Option("horizon", "EARNINGS_CALENDAR: how far ahead", choices=("3month", "6month", "12month")),
    Option("from_symbol", "FX: the base currency", metavar="EUR", uppercase=True),
    Option("to_symbol", "FX: the quote currency", metavar="USD", uppercase=True),
    Option("from_currency", "CURRENCY_EXCHANGE_RATE", metavar="BTC", uppercase=True),
    Option("to_currency", "CURRENCY_EXCHANGE_RATE", metavar="EUR", uppercase=True),
    Option("market", f"coins: the quote currency; with --pit {' or '.join(MARKETS)}", metavar="EUR",
           uppercase=True),
    Option("keywords", "SYMBOL_SEARCH: what to look for", search_terms=search_terms.KEYWORDS),
    Option("quarter", "EARNINGS_CALL_TRANSCRIPT: the fiscal quarter", metavar="2024Q1", uppercase=True),
    Option("date", "HISTORICAL_OPTIONS, LISTING_STATUS: the day", metavar="YYYY-MM-DD"),
    Option("state", "LISTING_STATUS", choices=("active", "delisted")),
    Option("contract", "REALTIME_OPTIONS: this contract only", uppercase=True),
    Option("expiration", "REALTIME_OPTIONS: the day of expiry", metavar="YYYY-MM-DD"),
    Option("require_greeks", "REALTIME_OPTIONS: with Greeks and implied volatility", choices=("true", "false")),
    Option("bioguide_id", "CONGRESS_TRADES", uppercase=True),
    Option("maturity", "TREASURY_YIELD", choices=("3month", "2year", "5year", "7year", "10year", "30year")),
    Option("series_type", "of a technical indicator", choices=("close", "open", "high", "low")),
    Option("symbols", "ANALYTICS", kind="list", uppercase=True),
    Option("range", "ANALYTICS: a span (2month) or two days", kind="list", metavar="DATE,DATE"),
    Option("ohlc", "ANALYTICS", choices=("open", "high", "low", "close")),
    Option("window_size", "ANALYTICS_SLIDING_WINDOW", kind="integer", minimum=10),
    Option("calculations", "ANALYTICS", kind="list", metavar="MEAN,STDDEV"),
    *(Option(name, _NUMBER, metavar="N") for name in ("time_period", *INDICATOR_NUMBERS)),
)  # fmt: skip

HUNDRED_SESSIONS = timedelta(days=130)  # so many days have fewer than a hundred weekdays

_MONTH = re.compile(r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])")
_QUARTER = r"[0-9]{4}Q[1-4]"
SYMBOL = r"[A-Z0-9^][A-Z0-9.:^=/&_-]*"
_CODE = r"[A-Z0-9]+"


def check_query(query: Query, many: bool = False) -> Query:
    """Return the query, with ``--tickers AAPL`` as ``--symbol AAPL`` for a function that takes a symbol only.

    Raise ConfigError for a value that no request can carry. ``many``: the symbol is a list of symbols.
    """
    operation, options = query.operation, query.options
    tickers = options["tickers"]
    if tickers and "symbol" in {*operation.needs, *operation.takes}:
        if options["symbol"] is not None:
            refuse(f"{operation.name} takes symbol or tickers, not both.")
        if len(tickers) > 1 and not many:
            refuse(f"{operation.name} takes one symbol: ask once for each ticker.")
        query = query._replace(options={**options, "symbol": ",".join(tickers), "tickers": None})
    if not many and "," in str(query.options["symbol"]):
        refuse(f"{operation.name} takes one symbol: ask once for each ticker.")
    options = query.options
    if options["month"] is not None and not _MONTH.fullmatch(options["month"]):
        refuse("month is YYYY-MM, e.g. 2009-01.")
    for name in ("date", "expiration"):
        if options[name] is not None and parse_date(options[name]) is None:
            refuse(f"{name} is YYYY-MM-DD.")
    if options["quarter"] is not None and not re.fullmatch(_QUARTER, options["quarter"]):
        refuse("quarter is YYYYQ1 to YYYYQ4, e.g. 2024Q1.")
    for name in ("from_symbol", "to_symbol", "market", "from_currency", "to_currency"):
        symbols.check(name, filter(None, [options[name]]), _CODE, "EUR, USD or BTC: one currency")
    listed = options["symbol"].split(",") if options["symbol"] else ()
    symbols.check("symbol", listed, SYMBOL, "AAPL, BRK-B or TSCO.LON")
    symbols.check("--tickers", options["tickers"] or (), SYMBOL, "AAPL, CRYPTO:BTC or FOREX:USD")
    return query


def when_empty(query: Query) -> str:
    """Return a hint on how symbols and topics are spelt. It depends on the request alone."""
    if query.options["topics"]:
        return "Topics are Alpha Vantage's own, such as technology, ipo or mergers_and_acquisitions."
    is_asked = query.options["symbol"] or query.options["tickers"]
    return (
        "Alpha Vantage writes AAPL, BRK-B, TSCO.LON and, of coins, BTC: SYMBOL_SEARCH finds symbols."
        if is_asked
        else ""
    )


check_many = partial(check_query, many=True)


def check_minutes(query: Query) -> Query:
    """Check the query of bars of minutes."""
    if query.options["interval"] not in (None, *MINUTES):
        refuse(f"interval of {query.operation.name} is one of {', '.join(MINUTES)}.")
    return check_query(query)


def check_day(query: Query) -> Query:
    """Check the query of a function that serves one day, and its latest day if none is named."""
    name, is_named = query.operation.name, query.options["date"] is not None
    if not (is_named or query.open_mode or query.offline):
        refuse(f"{name} needs date=YYYY-MM-DD with --pit: the source serves its latest day without it.")
    return check_query(query)


def parameters(query: Query) -> Params:
    """Return the parameters of a request without key and window. Rows come as JSON, which names its zone."""
    operation = query.operation
    carried: dict[str, str | tuple[str, ...]] = {"function": operation.name}
    for name in (*operation.needs, *operation.takes):
        value = query.options[name]
        if value is not None and name != "adjust":  # which is done here
            carried[name] = ",".join(value) if isinstance(value, tuple) and name != "range" else value
    return {**carried, "outputsize": _size(query)} if "outputsize" in operation.takes else carried


def unadjusted_parameters(query: Query) -> Params:
    """Return the parameters that ask for raw prices of minutes: adjusted ones look ahead."""
    return {**parameters(query), "adjusted": "false"}


def capital_parameters(query: Query) -> Params:
    """Return the parameters as the analytics spell them: names in capitals, and an interval that is not of minutes."""
    interval = str(query.options["interval"])
    carried = {**parameters(query), "interval": interval if interval.endswith("min") else interval.upper()}
    return {name if name == "function" else name.upper(): value for name, value in carried.items()}


def _size(query: Query) -> str:
    """Return the output size: compact only if the latest 100 bars are surely enough. They may not reach back to a PIT.

    A free key gets no other size of daily bars (since 2025).
    """
    options, since = query.options, query.since
    if not query.open_mode or options["month"] is not None:
        return "full"
    if "interval" not in query.operation.needs and since is not None and query.now - since <= HUNDRED_SESSIONS:
        return "compact"
    if since is not None or query.until is not None or query.limit > 100:
        return "full"
    return options["outputsize"] or "compact"
