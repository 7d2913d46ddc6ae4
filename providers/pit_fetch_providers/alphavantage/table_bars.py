"""The functions that serve bars. "Recorded" means: seen in replies recorded in November 2025 and May 2026."""

from __future__ import annotations

from datetime import UTC

from pit_fetch.times import NEW_YORK
from pit_fetch_providers.alphavantage.function import EQUITY, MARKETS, Function

_PAIR = ("from_symbol", "to_symbol")
_COIN = ("symbol", "market")

_UTC_DAY = "the end of its UTC day, and not before 20:00 New York"
_PERIOD_END = "20:00 New York of the last weekday of its period"
_RUNNING = "the row of a running period is labelled with its latest day (recorded), so the label is no end"
_UTC = "labels are UTC (recorded meta data)"
_TRAILING = "the source reaches back a limited time only: a truncated gap says so"
_CLOSE = "the close is known at 16:00, the official volume later"
_ADJUSTED = "; adjusted closes look ahead (all of them changed within six months, recorded) and are left out"
_MARKET = (
    f"; with a PIT in the markets {' and '.join(MARKETS)} only: other prices are converted at the rate of the day "
    "of the fetch (recorded)"
)

# Names in a CSV, and in JSON once its numbers are off. What is adjusted has no place in a closed list of raw
# columns; amounts and split factors stand as they were paid, and as-of adjustment needs them.
_PRICES = ("timestamp", "open", "high", "low", "close")
_EVENTS = ("dividend_amount", "split_coefficient")
_ADJUSTED_CLOSE = ("adjusted_close",)

_INTRADAY = Function(
    "", "bar", "label + interval, whichever end of the bar the label marks", "",
    period="intraday", date="timestamp", identity=("timestamp",), series="Time Series ({})",
    columns=_PRICES, header=("volume",), foreign=(*_ADJUSTED_CLOSE, *_EVENTS), passes=("volume",),
)  # fmt: skip
_DAY = _INTRADAY._replace(how="20:00 New York of its day", why=_CLOSE, period="day", series="Time Series (Daily)")
_WEEK = _DAY._replace(how=_PERIOD_END, why=_RUNNING, period="week", series="Weekly Time Series")
_MONTH = _WEEK._replace(period="month", series="Monthly Time Series")
_DAY_ADJUSTED = _DAY._replace(
    why=_CLOSE + _ADJUSTED,
    header=("volume", *_ADJUSTED_CLOSE, *_EVENTS),
    foreign=(),
    passes=("volume", *_EVENTS),
)
_WEEK_ADJUSTED = _WEEK._replace(
    why=_RUNNING + _ADJUSTED,
    header=("volume", *_ADJUSTED_CLOSE, "dividend_amount"),
    foreign=("split_coefficient",),
    passes=("volume", *_EVENTS),
    series="Weekly Adjusted Time Series",
)
_MONTH_ADJUSTED = _WEEK_ADJUSTED._replace(period="month", series="Monthly Adjusted Time Series")
_FX = _DAY._replace(
    needs=_PAIR, zones=(UTC,), header=(), foreign=("volume", *_ADJUSTED_CLOSE, *_EVENTS), passes=()
)  # fmt: skip
_COIN_BARS = _DAY._replace(
    how=_UTC_DAY, why=f"{_UTC}; {_TRAILING}{_MARKET}", needs=_COIN, zones=(UTC,), weekends=True, whole=False,
    series="Time Series (Digital Currency Daily)",
)  # fmt: skip

ROWS: tuple[Function, ...] = (
    # Equities. Labels are US/Eastern (recorded meta data).
    _INTRADAY._replace(
        name="TIME_SERIES_INTRADAY",
        needs=("symbol", "interval"),
        whole=False,
        takes=("month", "outputsize", "extended_hours", "entitlement"),
        why="labels meant the end of a bar in 2020 and mean its start since 2025 (recorded); asked with adjusted=false",
    ),
    _DAY._replace(name="TIME_SERIES_DAILY", needs=EQUITY, takes=("outputsize", "entitlement")),
    _DAY_ADJUSTED._replace(name="TIME_SERIES_DAILY_ADJUSTED", needs=EQUITY, takes=("outputsize", "entitlement")),
    _WEEK._replace(name="TIME_SERIES_WEEKLY", needs=EQUITY, takes=("entitlement",)),
    _WEEK_ADJUSTED._replace(name="TIME_SERIES_WEEKLY_ADJUSTED", needs=EQUITY, takes=("entitlement",)),
    _MONTH._replace(name="TIME_SERIES_MONTHLY", needs=EQUITY, takes=("entitlement",)),
    _MONTH_ADJUSTED._replace(name="TIME_SERIES_MONTHLY_ADJUSTED", needs=EQUITY, takes=("entitlement",)),
    # Currencies: no volumes.
    _FX._replace(
        name="FX_INTRADAY",
        how=_INTRADAY.how,
        period="intraday",
        needs=(*_PAIR, "interval"),
        takes=("outputsize",),
        whole=False,
        why=f"{_UTC}; {_TRAILING}",
        series="Time Series FX ({})",
    ),
    _FX._replace(name="FX_DAILY", takes=("outputsize",), how=_UTC_DAY, why=_UTC, series="Time Series FX (Daily)"),
    _FX._replace(name="FX_WEEKLY", how=_PERIOD_END, why=_RUNNING, period="week", series="Time Series FX (Weekly)"),
    _FX._replace(name="FX_MONTHLY", how=_PERIOD_END, why=_RUNNING, period="month", series="Time Series FX (Monthly)"),
    # Coins. A CSV of minutes has the header of an equity's and names no zone, so it is read in the later one.
    _INTRADAY._replace(
        name="CRYPTO_INTRADAY",
        needs=(*_COIN, "interval"),
        takes=("outputsize",),
        zones=(UTC, NEW_YORK),
        whole=False,
        why=f"{_UTC}; a CSV names no zone and is read as New York time, which is later; {_TRAILING}{_MARKET}",
        series="Time Series Crypto ({})",
    ),
    _COIN_BARS._replace(name="DIGITAL_CURRENCY_DAILY"),
    _COIN_BARS._replace(
        name="DIGITAL_CURRENCY_WEEKLY",
        period="week",
        why=f"{_RUNNING}; {_TRAILING}{_MARKET}",
        how="the end of its UTC week, and not before Sunday 20:00 New York",
        series="Time Series (Digital Currency Weekly)",
    ),
    _COIN_BARS._replace(
        name="DIGITAL_CURRENCY_MONTHLY",
        period="month",
        why=f"{_RUNNING}; {_TRAILING}{_MARKET}",
        how="the end of its UTC month, and not before 20:00 New York",
        series="Time Series (Digital Currency Monthly)",
    ),
)
