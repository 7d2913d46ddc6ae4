"""The functions whose rows carry a date from which it follows when they were public. "Recorded": see table_bars."""

from __future__ import annotations

from pit_fetch.provider import Operation
from pit_fetch_providers.alphavantage import caveats, earnings, news, options, rows, windows
from pit_fetch_providers.alphavantage.function import SYMBOL, Function, fields

# The keys of an economic series, whose rows lie under "data" as those of corporate actions do.
_SERIES_KEYS = ("name", "interval", "unit", "value")

_DATED = Function(
    Operation(needs=SYMBOL, window="available_on", caveats=caveats.of_rows, normalize_query=options.understood),
    dates=rows.undated,
    records=rows.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
    foreign=_SERIES_KEYS,
)

ROWS: tuple[Function, ...] = (
    _DATED.but(
        name="EARNINGS",
        rule="end of reportedDate, New York; a year by its last quarter's",
        why="reportTime has no clock and is not evidence (one value for decades of rows, recorded)",
        fields=(*fields("record_type"), *earnings.QUARTER),
        caveats=caveats.of_earnings,
        dates=earnings.reported,
        records=earnings.records,
        lists=(("annualEarnings", earnings.ANNUAL), ("quarterlyEarnings", earnings.QUARTERLY)),
        columns=("fiscalDateEnding",),
        foreign=(),
    ),
    _DATED.but(
        name="DIVIDENDS",
        rule="end of declaration_date, New York; without one, end of ex_dividend_date",
        why="a dividend is public once it is declared, and at the latest when shares trade without it",
        fields=fields("record_type", "ex_dividend_date declaration_date record_date payment_date", "amount"),
        dates=rows.end_of("declaration_date", "ex_dividend_date"),
        lists=(("data", "dividend"),),
        identity=("ex_dividend_date", "amount"),
        columns=("ex_dividend_date",),
        header=("amount",),
    ),
    _DATED.but(
        name="SPLITS",
        rule="end of effective_date, New York",
        why="a split is announced before; the day it takes effect is the late reading",
        fields=fields("record_type", "effective_date", "split_factor"),
        dates=rows.end_of("effective_date"),
        lists=(("data", "split"),),
        identity=("effective_date",),
        columns=("effective_date",),
        header=("split_factor",),
    ),
    _DATED.but(
        name="HISTORICAL_OPTIONS",
        rule="end of the weekday after date, New York",
        why="open interest is settled after the close",
        takes=("date",),
        fields=fields(
            "record_type contractID symbol type",
            date="date expiration",
            number="strike last mark bid ask implied_volatility delta gamma theta vega rho",
            integer="bid_size ask_size volume open_interest",
        ),
        window="date",
        normalize_query=options.by_day,
        dates=rows.end_of_next_weekday,
        fetch=windows.one_day,
        lists=(("data", "option"),),
        identity=("contractID", "date"),
        columns=("contractID", "date"),
        header=(),
    ),
    _DATED.but(
        name="NEWS_SENTIMENT",
        rule="time_published, UTC; T000000 means the end of that day",
        why="a feed held stamps ahead of New York time (recorded); scores and summaries are computed later",
        needs=(),
        takes=("tickers", "topics"),
        fields=(*fields("record_type"), *news.PLAIN, *news.NAMES, *news.COMPUTED),
        window="",
        caveats=caveats.of_news,
        dates=news.published,
        records=news.records,
        fetch=windows.articles,
        lists=(("feed", "article"),),
        columns=("url",),
        foreign=(),
    ),
)
