"""The functions of Alpha Vantage, one row each, and how the rows of their replies are dated.

To add a function, add a row to :data:`FUNCTIONS`. What it needs is the rule that shows when its rows
were public, and the reason; a function without such a rule is ``unverifiable``, and nothing of it is
served with a PIT. "Recorded" below means: seen in replies recorded in November 2025 and May 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, tzinfo
from typing import Literal, NamedTuple

from pit_fetch.times import NEW_YORK

# How a reply's rows are dated: five ways by row, then available when fetched, then not at all.
Rule = Literal["bar", "earnings", "article", "declared", "day", "next_day", "snapshot", "unverifiable"]
Period = Literal["", "intraday", "day", "week", "month"]

MINUTES: Mapping[str, int] = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}


class Function(NamedTuple):
    """One function.

    rule       how its rows are dated
    how, why   the same in words, and the reason with its source: --help and the docs show them
    needs      options without which there is no request; takes: the others that it knows
    period     what one bar spans; zone: of its labels, where the reply does not say; weekends: traded, too
    whole      one request (or one a month) reaches all of the history
    date       the column with the row's own date, which --date-from and --date-to compare
    lists      (key of the reply, record_type) of its rows; empty: whatever list or series there is;
               the key "" takes the whole reply as one row
    identity   the columns that tell one row from another; "#" is its place in the reply
    newer      columns that older replies lack: null there
    """

    name: str
    rule: Rule
    how: str
    why: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    period: Period = ""
    zone: tzinfo = NEW_YORK
    weekends: bool = False
    whole: bool = True
    date: str = ""
    lists: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()


# Columns and record types.

_STATEMENT = (("annualReports", "annual_report"), ("quarterlyReports", "quarterly_report"))
_MOVERS = (("top_gainers", "top_gainer"), ("top_losers", "top_loser"), ("most_actively_traded", "most_active"))
_INDICATOR_OPTIONS = (
    "month", "entitlement", "time_period", "series_type", "fastlimit", "slowlimit", "fastperiod", "slowperiod",
    "signalperiod", "fastmatype", "slowmatype", "signalmatype", "fastkperiod", "slowkperiod", "slowdperiod",
    "fastdperiod", "slowkmatype", "slowdmatype", "fastdmatype", "matype", "timeperiod1", "timeperiod2", "timeperiod3",
    "nbdevup", "nbdevdn", "acceleration", "maximum",
)  # fmt: skip

_INDICATORS = (
    "SMA", "EMA", "WMA", "DEMA", "TEMA", "TRIMA", "KAMA", "MAMA", "VWAP", "T3", "MACD", "MACDEXT", "STOCH", "STOCHF",
    "RSI", "STOCHRSI", "WILLR", "ADX", "ADXR", "APO", "PPO", "MOM", "BOP", "CCI", "CMO", "ROC", "ROCR", "AROON",
    "AROONOSC", "MFI", "TRIX", "ULTOSC", "DX", "MINUS_DI", "PLUS_DI", "MINUS_DM", "PLUS_DM", "BBANDS", "MIDPOINT",
    "MIDPRICE", "SAR", "TRANGE", "ATR", "NATR", "AD", "ADOSC", "OBV", "HT_TRENDLINE", "HT_SINE", "HT_TRENDMODE",
    "HT_DCPERIOD", "HT_DCPHASE", "HT_PHASOR",
)  # fmt: skip
_COMMODITIES = (
    "WTI", "BRENT", "NATURAL_GAS", "COPPER", "ALUMINUM", "WHEAT", "CORN", "COTTON", "SUGAR", "COFFEE",
    "ALL_COMMODITIES",
)  # fmt: skip
_ECONOMY = (
    "REAL_GDP", "REAL_GDP_PER_CAPITA", "TREASURY_YIELD", "FEDERAL_FUNDS_RATE", "CPI", "INFLATION", "RETAIL_SALES",
    "DURABLES", "UNEMPLOYMENT", "NONFARM_PAYROLL",
)  # fmt: skip

# Reasons that several functions share.

_TODAY = "the reply is the state of the day on which it is asked for"
_RESTATED = "figures carry the end of their fiscal period only, weeks before they are published, and are restated"
_UTC_DAY = "the end of its UTC day, and not before 20:00 New York"
_PERIOD_END = "20:00 New York of the last weekday of its period"
_RUNNING = "the row of a running period is labelled with its latest day (recorded), so the label is no end"
_UTC = "labels are UTC (recorded meta data)"
_TRAILING = "the source reaches back a limited time only: a truncated gap says so"
_VINTAGE = "a row is labelled with the start of its period, months before its release, and holds the latest vintage"
_BACK_ADJUSTED = "values are computed from prices that are adjusted for later dividends and splits"
_UNRECORDED = "no reply was ever recorded, so nothing shows when its rows were public"

_EQUITY = ("symbol",)
_PAIR = ("from_symbol", "to_symbol")
_COIN = ("symbol", "market")


_CLOSE = "the close is known at 16:00, the official volume later"
_ADJUSTED = "; adjusted closes look ahead (all of them changed within six months, recorded) and are left out"

# What the functions of one rule have in common; a row of the table says what is its own.
_INTRADAY = Function(
    "", "bar", "label + interval, whichever end of the bar the label marks", "",
    period="intraday", date="timestamp", identity=("timestamp",),
)  # fmt: skip
_DAY = _INTRADAY._replace(how="20:00 New York of its day", why=_CLOSE, period="day")
_WEEK = _DAY._replace(how=_PERIOD_END, why=_RUNNING, period="week")
_MONTH = _WEEK._replace(period="month")
_COIN_BARS = _DAY._replace(how=_UTC_DAY, why=f"{_UTC}; {_TRAILING}", needs=_COIN, zone=UTC, weekends=True, whole=False)
_SNAPSHOT = Function("", "snapshot", "when it is fetched", _TODAY)
_UNVERIFIABLE = Function("", "unverifiable", "not at all", "")

_ROWS: tuple[Function, ...] = (
    # Time series of equities. Labels are US/Eastern (recorded meta data).
    _INTRADAY._replace(
        name="TIME_SERIES_INTRADAY",
        needs=("symbol", "interval"),
        whole=False,
        takes=("month", "outputsize", "extended_hours", "entitlement"),
        why="labels meant the end of a bar in 2020 and mean its start since 2025 (recorded); asked with adjusted=false",
    ),
    _DAY._replace(name="TIME_SERIES_DAILY", needs=_EQUITY, takes=("outputsize", "entitlement")),
    _DAY._replace(
        name="TIME_SERIES_DAILY_ADJUSTED", needs=_EQUITY, takes=("outputsize", "entitlement"), why=_CLOSE + _ADJUSTED
    ),
    _WEEK._replace(name="TIME_SERIES_WEEKLY", needs=_EQUITY, takes=("entitlement",)),
    _WEEK._replace(name="TIME_SERIES_WEEKLY_ADJUSTED", needs=_EQUITY, takes=("entitlement",), why=_RUNNING + _ADJUSTED),
    _MONTH._replace(name="TIME_SERIES_MONTHLY", needs=_EQUITY, takes=("entitlement",)),
    _MONTH._replace(
        name="TIME_SERIES_MONTHLY_ADJUSTED", needs=_EQUITY, takes=("entitlement",), why=_RUNNING + _ADJUSTED
    ),
    # Currencies and coins.
    _INTRADAY._replace(
        name="FX_INTRADAY",
        needs=(*_PAIR, "interval"),
        takes=("outputsize",),
        zone=UTC,
        whole=False,
        why=f"{_UTC}; {_TRAILING}",
    ),
    _DAY._replace(name="FX_DAILY", needs=_PAIR, takes=("outputsize",), zone=UTC, how=_UTC_DAY, why=_UTC),
    _WEEK._replace(name="FX_WEEKLY", needs=_PAIR, zone=UTC),
    _MONTH._replace(name="FX_MONTHLY", needs=_PAIR, zone=UTC),
    _INTRADAY._replace(
        name="CRYPTO_INTRADAY",
        needs=(*_COIN, "interval"),
        takes=("outputsize",),
        zone=UTC,
        whole=False,
        why=f"{_UTC}; {_TRAILING}",
    ),
    _COIN_BARS._replace(name="DIGITAL_CURRENCY_DAILY"),
    _COIN_BARS._replace(
        name="DIGITAL_CURRENCY_WEEKLY",
        period="week",
        why=f"{_RUNNING}; {_TRAILING}",
        how="the end of its UTC week, and not before Sunday 20:00 New York",
    ),
    _COIN_BARS._replace(
        name="DIGITAL_CURRENCY_MONTHLY",
        period="month",
        why=f"{_RUNNING}; {_TRAILING}",
        how="the end of its UTC month, and not before 20:00 New York",
    ),
    # By their own date.
    Function(
        "EARNINGS",
        "earnings",
        "end of reportedDate, New York; a year by its last quarter's",
        "reportTime has no clock and is no evidence (one value for decades of rows, recorded)",
        _EQUITY,
        date="reportedDate",
        lists=(("annualEarnings", "annual_earnings"), ("quarterlyEarnings", "quarterly_earnings")),
    ),
    Function(
        "DIVIDENDS",
        "declared",
        "end of declaration_date, New York; without one, end of ex_dividend_date",
        "a dividend is public once it is declared, and at the latest when shares trade without it",
        _EQUITY,
        date="ex_dividend_date",
        lists=(("data", "dividend"),),
        identity=("ex_dividend_date", "amount"),
    ),
    Function(
        "SPLITS",
        "day",
        "end of effective_date, New York",
        "a split is announced before; the day it takes effect is the late reading",
        _EQUITY,
        date="effective_date",
        lists=(("data", "split"),),
        identity=("effective_date",),
    ),
    Function(
        "HISTORICAL_OPTIONS",
        "next_day",
        "end of the weekday after date, New York",
        "open interest is settled after the close",
        _EQUITY,
        ("date",),
        date="date",
        lists=(("data", "option"),),
        identity=("contractID", "date"),
    ),
    Function(
        "NEWS_SENTIMENT",
        "article",
        "time_published, UTC; T000000 means the end of that day",
        "a feed held stamps ahead of New York time (recorded); scores and summaries are computed later",
        (),
        ("tickers", "topics"),
        date="time_published",
        lists=(("feed", "article"),),
    ),
    # Snapshots.
    _SNAPSHOT._replace(name="GLOBAL_QUOTE", needs=_EQUITY, takes=("entitlement",), identity=("symbol",)),
    _SNAPSHOT._replace(name="REALTIME_BULK_QUOTES", needs=_EQUITY, takes=("entitlement",), identity=("symbol",)),
    _SNAPSHOT._replace(
        name="REALTIME_BULK_BID_ASK_PRICES", needs=_EQUITY, takes=("entitlement",), identity=("symbol",)
    ),
    _SNAPSHOT._replace(
        name="CURRENCY_EXCHANGE_RATE",
        needs=("from_currency", "to_currency"),
        identity=("from_currency_code", "to_currency_code"),
    ),
    _SNAPSHOT._replace(name="GOLD_SILVER_SPOT", needs=_EQUITY),
    _SNAPSHOT._replace(
        name="REALTIME_OPTIONS",
        needs=_EQUITY,
        takes=("contract", "expiration", "require_greeks", "entitlement"),
        identity=("contractID",),
    ),
    _SNAPSHOT._replace(name="REALTIME_PUT_CALL_RATIO", needs=_EQUITY),
    _SNAPSHOT._replace(name="SYMBOL_SEARCH", needs=("keywords",), identity=("symbol",)),
    _SNAPSHOT._replace(name="MARKET_STATUS", identity=("market_type", "region")),
    _SNAPSHOT._replace(name="TOP_GAINERS_LOSERS", takes=("entitlement",), lists=_MOVERS, identity=("ticker",)),
    _SNAPSHOT._replace(name="INDEX_CATALOG", identity=("symbol",)),
    _SNAPSHOT._replace(name="OVERVIEW", needs=_EQUITY, lists=(("", "overview"),)),
    _SNAPSHOT._replace(name="ETF_PROFILE", needs=_EQUITY, lists=(("", "etf_profile"),)),
    _SNAPSHOT._replace(
        name="EARNINGS_ESTIMATES",
        why="a past period's consensus is the one at its report, weeks after the period's end",
        needs=_EQUITY,
        date="date",
        lists=(("estimates", "estimate"),),
        identity=("date", "horizon"),
    ),
    _SNAPSHOT._replace(
        name="EARNINGS_CALENDAR",
        takes=("symbol", "horizon"),
        date="reportDate",
        lists=(("", "earnings_calendar"),),
        identity=("symbol", "fiscalDateEnding", "reportDate"),
        newer=("timeOfTheDay",),
    ),
    _SNAPSHOT._replace(
        name="IPO_CALENDAR",
        date="ipoDate",
        lists=(("", "ipo_calendar"),),
        identity=("symbol", "ipoDate"),
    ),
    _SNAPSHOT._replace(
        name="LISTING_STATUS",
        why="names and dates are today's, for past dates too",
        takes=("date", "state"),
        lists=(("", "listing"),),
        identity=("symbol", "ipoDate", "status"),
    ),
    *(
        _SNAPSHOT._replace(
            name=name,
            why=_RESTATED,
            needs=_EQUITY,
            date="fiscalDateEnding",
            lists=_STATEMENT,
            identity=("fiscalDateEnding",),
        )
        for name in ("INCOME_STATEMENT", "BALANCE_SHEET", "CASH_FLOW")
    ),
    _SNAPSHOT._replace(name="SHARES_OUTSTANDING", why=_RESTATED, needs=_EQUITY, date="date", identity=("date",)),
    # Nothing shows when these were public.
    _UNVERIFIABLE._replace(
        name="INSIDER_TRANSACTIONS",
        why="rows carry the day of the transaction; the filing follows days later, or more",
        needs=_EQUITY,
        date="transaction_date",
        identity=(
            "transaction_date",
            "executive",
            "security_type",
            "acquisition_or_disposal",
            "shares",
            "share_price",
        ),
    ),
    _UNVERIFIABLE._replace(name="CONGRESS_TRADES", why=_UNRECORDED, takes=("symbol", "bioguide_id")),
    _UNVERIFIABLE._replace(name="POLITICIAN_METADATA", why=_UNRECORDED),
    _UNVERIFIABLE._replace(
        name="EARNINGS_CALL_TRANSCRIPT",
        why="a transcript carries no date (recorded)",
        needs=("symbol", "quarter"),
        lists=(("transcript", "transcript_part"),),
        identity=("#",),
    ),
    _UNVERIFIABLE._replace(name="HISTORICAL_PUT_CALL_RATIO", why=_UNRECORDED, needs=_EQUITY, takes=("date",)),
    _UNVERIFIABLE._replace(
        name="INDEX_DATA", why=_UNRECORDED, needs=("symbol", "interval"), date="timestamp", identity=("timestamp",)
    ),
    *(
        _UNVERIFIABLE._replace(
            name=name,
            why=_BACK_ADJUSTED,
            needs=("symbols", "range", "interval", "calculations"),
            takes=takes,
            lists=(("", "analytics"),),
        )
        for name, takes in (
            ("ANALYTICS_FIXED_WINDOW", ("ohlc",)),
            ("ANALYTICS_SLIDING_WINDOW", ("ohlc", "window_size")),
        )
    ),
    *(
        _UNVERIFIABLE._replace(name=name, why=_VINTAGE, takes=takes, date="date", identity=("date",))
        for names, takes in ((_ECONOMY, ("interval", "maturity")), (_COMMODITIES, ("interval",)))
        for name in names
    ),
    _UNVERIFIABLE._replace(
        name="GOLD_SILVER_HISTORY", why=_VINTAGE, needs=_EQUITY, takes=("interval",), date="date", identity=("date",)
    ),
    *(
        _UNVERIFIABLE._replace(
            name=name,
            why=_BACK_ADJUSTED,
            needs=("symbol", "interval"),
            takes=_INDICATOR_OPTIONS,
            date="timestamp",
            identity=("timestamp",),
        )
        for name in _INDICATORS
    ),
)

FUNCTIONS: Mapping[str, Function] = {row.name: row for row in _ROWS}

_TITLES: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    (
        "Dated by row: --pit serves what was public",
        ("bar", "earnings", "declared", "day", "next_day", "article"),
    ),
    ("Snapshots: public when they are fetched, so not at all for a PIT in the past", ("snapshot",)),
    ("Unverifiable: nothing is served with --pit", ("unverifiable",)),
)  # fmt: skip


def by_rule() -> Iterator[tuple[str, list[Function]]]:
    """The functions under the titles of --help and of the docs."""
    for title, rules in _TITLES:
        yield title, [row for row in FUNCTIONS.values() if row.rule in rules]


def help_text() -> str:
    """The table as plain ASCII text for --help: each function with its rule, and what it needs."""
    width = max(len(name) for name in FUNCTIONS)
    lines = []
    for title, rows in by_rule():
        lines.append(f"{title}:")
        for row in rows:
            says = row.how if row.rule not in ("snapshot", "unverifiable") else row.rule
            needs = f" (needs {', '.join(row.needs)})" if row.needs else ""
            lines.append(f"  {row.name:<{width}}  {says}{needs}")
    return "\n".join(lines) + "\n"
