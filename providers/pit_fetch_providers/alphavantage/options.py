"""The options of the functions, and whether a request makes sense, before one is sent. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from pit_fetch.errors import ConfigError
from pit_fetch.provider import Option, Query
from pit_fetch.times import parse_date
from pit_fetch_providers.alphavantage.function import MARKETS, MINUTES, Function
from pit_fetch_providers.alphavantage.functions import FUNCTIONS, SYNONYMS

_NUMBER = "of a technical indicator, see Alpha Vantage's documentation"
_NUMBERS = (
    "time_period", "fastlimit", "slowlimit", "fastperiod", "slowperiod", "signalperiod", "fastmatype", "slowmatype",
    "signalmatype", "fastkperiod", "slowkperiod", "slowdperiod", "fastdperiod", "slowkmatype", "slowdmatype",
    "fastdmatype", "matype", "timeperiod1", "timeperiod2", "timeperiod3", "nbdevup", "nbdevdn", "acceleration",
    "maximum",
)  # fmt: skip

OPTIONS: tuple[Option, ...] = (
    Option("op", "the function, e.g. EARNINGS; all of them are listed below", metavar="FUNCTION", positional="one",
           upper=True, synonyms=SYNONYMS),
    Option("symbol", "the ticker", metavar="AAPL", upper=True),
    Option("tickers", "NEWS_SENTIMENT: articles that name all of these; elsewhere one ticker, as symbol does",
           kind="list", metavar="AAPL,CRYPTO:BTC", upper=True),
    Option("topics", "NEWS_SENTIMENT: articles on all of these", kind="list", metavar="technology,ipo"),
    Option("interval", "of bars, indicators and series", metavar="5min",
           choices=(*MINUTES, "daily", "weekly", "monthly", "quarterly", "semiannual", "annual")),
    Option("month", "intraday: this month only; with --pit the months before the PIT are chosen", metavar="YYYY-MM"),
    Option("outputsize", "compact or full; with --pit always full", choices=("compact", "full")),
    Option("extended_hours", "TIME_SERIES_INTRADAY: true or false", choices=("true", "false")),
    Option("entitlement", "delayed or realtime, for plans that have it", choices=("delayed", "realtime")),
    Option("horizon", "EARNINGS_CALENDAR: how far ahead", choices=("3month", "6month", "12month")),
    Option("from_symbol", "FX: the currency that is priced", metavar="EUR", upper=True),
    Option("to_symbol", "FX: the currency it is priced in", metavar="USD", upper=True),
    Option("from_currency", "CURRENCY_EXCHANGE_RATE", metavar="BTC", upper=True),
    Option("to_currency", "CURRENCY_EXCHANGE_RATE", metavar="EUR", upper=True),
    Option("market", f"coins: the currency they are priced in; with --pit {' or '.join(MARKETS)}", metavar="EUR",
           upper=True),
    Option("keywords", "SYMBOL_SEARCH"),
    Option("quarter", "EARNINGS_CALL_TRANSCRIPT", metavar="2024Q1", upper=True),
    Option("date", "HISTORICAL_OPTIONS, LISTING_STATUS: the day", metavar="YYYY-MM-DD"),
    Option("state", "LISTING_STATUS", choices=("active", "delisted")),
    Option("contract", "REALTIME_OPTIONS", upper=True),
    Option("expiration", "REALTIME_OPTIONS", metavar="YYYY-MM-DD"),
    Option("require_greeks", "REALTIME_OPTIONS", choices=("true", "false")),
    Option("bioguide_id", "CONGRESS_TRADES", upper=True),
    Option("maturity", "TREASURY_YIELD", choices=("3month", "2year", "5year", "7year", "10year", "30year")),
    Option("series_type", "of a technical indicator", choices=("close", "open", "high", "low")),
    Option("symbols", "ANALYTICS", kind="list", upper=True),
    Option("range", "ANALYTICS: a span (2month) or two days", kind="list", metavar="DATE,DATE"),
    Option("ohlc", "ANALYTICS", choices=("open", "high", "low", "close")),
    Option("window_size", "ANALYTICS_SLIDING_WINDOW", kind="integer", minimum=10),
    Option("calculations", "ANALYTICS", kind="list", metavar="MEAN,STDDEV"),
    *(Option(name, _NUMBER, metavar="N") for name in _NUMBERS),
)  # fmt: skip

HUNDRED_SESSIONS = timedelta(days=130)  # surely fewer than a hundred weekdays

# The functions whose symbol is a list of them.
_MANY_SYMBOLS = frozenset({"REALTIME_BULK_QUOTES", "REALTIME_BULK_BID_ASK_PRICES"})

_MONTH = re.compile(r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])")
_SYMBOL = re.compile(r"[A-Z0-9^][A-Z0-9.,:^=/&_-]*")


def function_of(query: Query) -> Function:
    """The function that is asked for. Raises ConfigError, whose text names the fix."""
    name = query.options["op"]
    if name is None:
        raise ConfigError("operation", text="alphavantage needs a function, e.g. EARNINGS symbol=AAPL; see --help.")
    if name not in FUNCTIONS:
        raise ConfigError("operation", text=f"{name} is no function of alphavantage; --help lists them.")
    return FUNCTIONS[name]


def understood(query: Query) -> Query:
    """The query with ``--tickers AAPL`` as ``--symbol AAPL``, for a function that takes a symbol and no tickers."""
    function, options = FUNCTIONS.get(query.options["op"]), query.options
    tickers = options["tickers"]
    if function is None or not tickers or "symbol" not in {*function.needs, *function.takes}:
        return query
    if options["symbol"] is not None:
        _refuse(f"{function.name} takes symbol or tickers, not both.")
    if len(tickers) > 1 and function.name not in _MANY_SYMBOLS:
        _refuse(f"{function.name} takes one symbol: ask once for each ticker.")
    return query._replace(options={**options, "symbol": ",".join(tickers), "tickers": None})


def checked(query: Query) -> Function:
    """The function, once its options make a well-formed request. Raises ConfigError.

    A reply in a file needs no parameters. Options that the function does not know are refused: a
    filter that is silently left out would answer another question.
    """
    function, options = function_of(query), query.options
    given = {option.name for option in OPTIONS if options[option.name] is not None} - {"op"}
    missing = [name for name in function.needs if name not in given]
    if missing and not query.offline:
        _refuse(f"{function.name} needs {', '.join(missing)}: {function.name} {missing[0]}=...")
    surplus = sorted(given - {*function.needs, *function.takes})
    if surplus:
        _refuse(f"{function.name} takes no {', '.join(surplus)}; see --help.")
    if function.rule == "next_day" and query.pit is not None and "date" not in given and not query.offline:
        _refuse(f"{function.name} needs date=YYYY-MM-DD with --pit: without it the source serves its latest day.")
    _check_values(function, options)
    return function


def _check_values(function: Function, options: Mapping[str, object]) -> None:
    interval, month = options["interval"], options["month"]
    if function.period == "intraday" and interval is not None and interval not in MINUTES:
        _refuse(f"interval of {function.name} is one of {', '.join(MINUTES)}.")
    if month is not None and not _MONTH.fullmatch(str(month)):
        _refuse("month is YYYY-MM, e.g. 2009-01.")
    for name in ("date", "expiration"):
        if options[name] is not None and parse_date(options[name]) is None:
            _refuse(f"{name} is YYYY-MM-DD.")
    for name in ("symbol", "from_symbol", "to_symbol", "market", "from_currency", "to_currency"):
        if options[name] is not None and not _SYMBOL.fullmatch(str(options[name])):
            _refuse(f"{name} is a ticker, e.g. AAPL or TSCO.LON.")


def _refuse(text: str) -> None:
    raise ConfigError("operation", text=text)


def parameters(function: Function, query: Query) -> dict[str, str | Sequence[str]]:
    """What the request carries besides the key, before windows are chosen. Rows come as JSON, which names its zone."""
    found: dict[str, str | Sequence[str]] = {"function": function.name}
    for name in (*function.needs, *function.takes):
        value = query.options[name]
        if value is not None:
            found[name] = ",".join(value) if isinstance(value, tuple) and name != "range" else value
    if function.name.startswith("ANALYTICS_"):
        if not str(found["interval"]).endswith("min"):
            found["interval"] = str(found["interval"]).upper()
        return {name if name == "function" else name.upper(): value for name, value in found.items()}
    if "outputsize" in function.takes:
        found["outputsize"] = _size(function, query)
    if function.name == "TIME_SERIES_INTRADAY":
        found["adjusted"] = "false"
    return found


def _size(function: Function, query: Query) -> str:
    """The compact size holds the latest 100 bars, which need not reach back to a PIT or a window.

    It is chosen where it does: a free key gets no other size of daily bars (since 2025).
    """
    options, since = query.options, query.since
    if query.pit is not None or options["month"] is not None:
        return "full"
    if function.period == "day" and since is not None and query.now - since <= HUNDRED_SESSIONS:
        return "compact"
    if since is not None or query.until is not None or query.limit > 100:
        return "full"
    return options["outputsize"] or "compact"
