"""The functions whose rows carry a date from which it follows when they were public. "Recorded": see table_bars."""

from __future__ import annotations

from pit_fetch_providers.alphavantage.function import EQUITY, Function

# The keys of an economic series, whose rows lie under "data" as those of corporate actions do.
_SERIES_KEYS = ("name", "interval", "unit", "value")

ROWS: tuple[Function, ...] = (
    Function(
        "EARNINGS",
        "earnings",
        "end of reportedDate, New York; a year by its last quarter's",
        "reportTime has no clock and is no evidence (one value for decades of rows, recorded)",
        EQUITY,
        date="reportedDate",
        lists=(("annualEarnings", "annual_earnings"), ("quarterlyEarnings", "quarterly_earnings")),
        columns=("fiscalDateEnding",),  # what else passes: earnings.QUARTER_FIELDS
    ),
    Function(
        "DIVIDENDS",
        "declared",
        "end of declaration_date, New York; without one, end of ex_dividend_date",
        "a dividend is public once it is declared, and at the latest when shares trade without it",
        EQUITY,
        date="ex_dividend_date",
        lists=(("data", "dividend"),),
        identity=("ex_dividend_date", "amount"),
        columns=("ex_dividend_date",),
        header=("amount",),
        foreign=_SERIES_KEYS,
        passes=("declaration_date", "record_date", "payment_date", "amount"),
    ),
    Function(
        "SPLITS",
        "day",
        "end of effective_date, New York",
        "a split is announced before; the day it takes effect is the late reading",
        EQUITY,
        date="effective_date",
        lists=(("data", "split"),),
        identity=("effective_date",),
        columns=("effective_date",),
        header=("split_factor",),
        foreign=_SERIES_KEYS,
        passes=("split_factor",),
    ),
    Function(
        "HISTORICAL_OPTIONS",
        "next_day",
        "end of the weekday after date, New York",
        "open interest is settled after the close",
        EQUITY,
        ("date",),
        date="date",
        lists=(("data", "option"),),
        identity=("contractID", "date"),
        columns=("contractID", "date"),
        header=(),
        foreign=_SERIES_KEYS,
        passes=(
            "symbol", "expiration", "strike", "type", "last", "mark", "bid", "bid_size", "ask", "ask_size", "volume",
            "open_interest", "implied_volatility", "delta", "gamma", "theta", "vega", "rho",
        ),
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
        columns=("url",),  # what else passes: news.PLAIN_FIELDS
    ),
)  # fmt: skip
