"""The functions whose rows are dated: bars by their labels, other rows by the dates that they carry.

"Recorded" means: seen in replies recorded in November 2025 and May 2026.
"""

from __future__ import annotations

from datetime import UTC

from pit_fetch.provider import Basis, Dating, Field, Operation
from pit_fetch.times import NEW_YORK
from pit_fetch_providers.alphavantage import bars, caveats, earnings, news, options, periods, rows, windows
from pit_fetch_providers.alphavantage.adjust import FIELDS as AS_OF
from pit_fetch_providers.alphavantage.function import MARKETS, SYMBOL, Function
from pit_fetch_providers.shared import fields

_UTC_DAY = "the end of its UTC day, and not before 20:00 New York"
_PERIOD_END = "20:00 New York of the last weekday of its period"
_LABELS = "labels meant the end of a bar in 2020 and mean its start since 2025 (recorded); asked with adjusted=false"
_RUNNING = "the row of a running period is labelled with its latest day (recorded), so the label does not mark the end"
_UTC = "labels are UTC (recorded meta data)"
_TRAILING = "the source reaches back a limited time only, as a gap says"
_VOLUMES = (
    "volumes are restated without a mark (recorded: the weeks of a month add up to its volume as it was changed years "
    "later) and are left out"
)
_CLOSE = f"the close is known at 16:00, extended trading ends at 20:00; {_VOLUMES}"
_WEEKS = f"{_RUNNING}; {_VOLUMES}"
_ADJUSTED = "; adjusted closes look ahead (all of them changed within six months, recorded) and are left out"
_MARKET = (
    f"; with a PIT in the markets {' and '.join(MARKETS)} only: other prices are converted at the rate of the day "
    "of the fetch (recorded)"
)

_SIZED = ("outputsize", "entitlement")
_PAIR = ("from_symbol", "to_symbol")
_COIN = ("symbol", "market")

# Columns besides the prices. Amounts and split factors stand as they were paid; what is adjusted carries later ones
# back.
_VOLUME = fields(integer="volume")
_DIVIDEND = (*_VOLUME, *fields(number="adjusted_close dividend_amount"))
_SPLIT = (*_DIVIDEND, *fields(number="split_coefficient"))
_PARTS = fields(number="volume")  # of coins


def _add_columns(function: Function, *more: Field) -> Function:
    """Return ``function`` with further columns. Which of them it has distinguishes its CSV from others."""
    head = fields("record_type timestamp") if "{}" in function.series else fields("record_type", "timestamp")
    has, all_there_are = {field.name for field in more}, [field.name for field in _SPLIT]
    return function.but(
        fields=(*head, *fields(number="open high low close"), *more),
        header=tuple(name for name in all_there_are if name in has),
        foreign=tuple(name for name in all_there_are if name not in has),
    )


_MINUTES = Function(
    Operation(
        dating=Dating(rule="label + interval: the label may be either end of the bar"),
        caveats=caveats.bar_caveats,
        normalize=options.check_minutes,
    ),
    dates=bars.end_of_interval,
    records=bars.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
    identity=("timestamp",),
    later=("adjusted_close", "volume"),
    series="Time Series ({})",
    columns=("timestamp", "open", "high", "low", "close"),
)
_DAY = _MINUTES.but(
    # The key of a row in JSON, and its first column in CSV.
    basis=tuple(Basis(name, "interval_start", after=bars.EVENING) for name in ("(key)", "timestamp")),
    rule="20:00 New York of its day", why=_CLOSE, needs=SYMBOL, takes=_SIZED, normalize=options.check_query,
    dates=bars.evening(periods.own_day), series="Time Series (Daily)",
)  # fmt: skip
_WEEK = _DAY.but(
    rule=_PERIOD_END,
    why=_WEEKS,
    takes=("entitlement",),
    dates=bars.evening(periods.friday),
    series="Weekly Time Series",
)
_MONTH = _WEEK.but(
    rule="when it is fetched", why="a month's volume was changed by 24 % within four years, without a mark (recorded)",
    claims=f"{_PERIOD_END}; volumes are today's (recorded: 1 of 259 changed within four years, and no price)",
    by="receipt", window="timestamp", period="timestamp", dates=bars.evening(periods.last_weekday_of_month),
    later=("adjusted_close",),
    series="Monthly Time Series",
)  # fmt: skip
_FX_DAY = _DAY.but(
    rule=_UTC_DAY, why=_UTC, needs=_PAIR, takes=("outputsize",), zones=(UTC,), series="Time Series FX (Daily)"
)
_FX_WEEK = _WEEK.but(
    why=f"{_RUNNING}; {_TRAILING}", needs=_PAIR, takes=(), reach="newest", zones=(UTC,),
    series="Time Series FX (Weekly)",
)  # fmt: skip
_COIN_DAY = _DAY.but(
    rule=_UTC_DAY, why=f"{_UTC}; {_TRAILING}{_MARKET}", needs=_COIN, takes=(), period="timestamp",
    later=(), reach="newest", fetch=windows.one_market, zones=(UTC,), series="Time Series (Digital Currency Daily)",
)  # fmt: skip
_COIN_WEEK = _COIN_DAY.but(
    rule="the end of its UTC week, and not before Sunday 20:00 New York", why=f"{_RUNNING}; {_TRAILING}{_MARKET}",
    dates=bars.evening(periods.sunday), series="Time Series (Digital Currency Weekly)",
)  # fmt: skip

_BARS: tuple[Function, ...] = (
    # Equities. Labels are US/Eastern (recorded meta data).
    _add_columns(_MINUTES.but(
        name="TIME_SERIES_INTRADAY", why=f"{_LABELS}; {_VOLUMES}", needs=("symbol", "interval"),
        takes=("month", "outputsize", "extended_hours", "entitlement"),
        caveats=caveats.intraday_caveats, fetch=windows.monthly, parameters=options.unadjusted_parameters,
    ), *_VOLUME),
    _add_columns(_DAY.but(name="TIME_SERIES_DAILY"), *_VOLUME),
    _add_columns(_DAY.but(
        name="TIME_SERIES_DAILY_ADJUSTED", why=_CLOSE + _ADJUSTED, takes=(*_SIZED, "adjust"),
        ours=("record_type", *(field.name for field in AS_OF)),
    ), *_SPLIT, *AS_OF),
    _add_columns(_WEEK.but(name="TIME_SERIES_WEEKLY"), *_VOLUME),
    _add_columns(_WEEK.but(
        name="TIME_SERIES_WEEKLY_ADJUSTED", why=_WEEKS + _ADJUSTED, series="Weekly Adjusted Time Series",
    ), *_DIVIDEND),
    _add_columns(_MONTH.but(name="TIME_SERIES_MONTHLY"), *_VOLUME),
    _add_columns(_MONTH.but(
        name="TIME_SERIES_MONTHLY_ADJUSTED", why=_MONTH.operation.dating.why + _ADJUSTED,
        series="Monthly Adjusted Time Series",
    ), *_DIVIDEND),
    # Currencies: no volumes.
    _add_columns(_MINUTES.but(
        name="FX_INTRADAY", why=f"{_UTC}; {_TRAILING}", needs=(*_PAIR, "interval"), takes=("outputsize",),
        reach="newest", zones=(UTC,), series="Time Series FX ({})",
    )),
    _add_columns(_FX_DAY.but(name="FX_DAILY")),
    _add_columns(_FX_WEEK.but(name="FX_WEEKLY")),
    _add_columns(_FX_WEEK.but(name="FX_MONTHLY", dates=_MONTH.dates, series="Time Series FX (Monthly)")),
    # Coins. A CSV of minutes has the header of an equity's and names no zone, so it is read in the later one.
    _add_columns(_MINUTES.but(
        name="CRYPTO_INTRADAY", needs=(*_COIN, "interval"), takes=("outputsize",),
        why=f"{_UTC}; a CSV names no zone and is read as New York time, which is later; {_TRAILING}{_MARKET}",
        later=(), period="timestamp", reach="newest", fetch=windows.one_market, zones=(UTC, NEW_YORK),
        series="Time Series Crypto ({})",
    ), *_PARTS),
    _add_columns(_COIN_DAY.but(name="DIGITAL_CURRENCY_DAILY"), *_PARTS),
    _add_columns(_COIN_WEEK.but(name="DIGITAL_CURRENCY_WEEKLY"), *_PARTS),
    _add_columns(_COIN_WEEK.but(
        name="DIGITAL_CURRENCY_MONTHLY", rule="the end of its UTC month, and not before 20:00 New York",
        dates=bars.evening(periods.last_of_month), series="Time Series (Digital Currency Monthly)",
    ), *_PARTS),
)  # fmt: skip

# The keys of an economic series, whose rows lie under "data" as those of corporate actions do.
_SERIES_KEYS = ("name", "interval", "unit", "value")

_DATED = Function(
    Operation(needs=SYMBOL, window="available_on", caveats=caveats.row_caveats, normalize=options.check_query),
    dates=rows.undated,
    records=rows.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
    foreign=_SERIES_KEYS,
)

EARNINGS = _DATED.but(
    name="EARNINGS",
    period="fiscalDateEnding",
    rule="when it is fetched",
    why="figures are restated in new shares after a split, and reportedDate is corrected, without a mark (recorded)",
    claims="the end of reportedDate, New York, unless that is on a weekend, and of a year that of its last quarter; "
    "figures are today's (recorded: after a split 53 of 53 EPS differ, and of 140 rows 2 dates changed in six months)",
    by="receipt",
    fields=(*fields("record_type"), *earnings.QUARTER),
    caveats=caveats.earnings_caveats,
    dates=earnings.reported,
    records=earnings.records,
    lists=(("annualEarnings", earnings.ANNUAL), ("quarterlyEarnings", earnings.QUARTERLY)),
    columns=("fiscalDateEnding",),
    foreign=(),
)

ROWS: tuple[Function, ...] = (
    *_BARS,
    EARNINGS,
    _DATED.but(
        name="DIVIDENDS",
        period="ex_dividend_date",
        rule="end of declaration_date, New York; without one, or on a weekend, end of ex_dividend_date, if a weekday",
        why="a dividend is public once it is declared, and at the latest when shares trade without it",
        fields=fields(
            "record_type", "ex_dividend_date declaration_date record_date payment_date", "amount", required="amount"
        ),
        dates=rows.declared,
        lists=(("data", "dividend"),),
        identity=("ex_dividend_date", "amount"),
        columns=("ex_dividend_date",),
        header=("amount",),
    ),
    _DATED.but(
        name="SPLITS",
        period="effective_date",
        rule="end of effective_date, New York, unless that is on a weekend",
        why="a split is announced before; the day it takes effect is the late reading",
        fields=fields("record_type", "effective_date", "split_factor", required="split_factor"),
        dates=rows.end_of_business("effective_date"),
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
        normalize=options.check_day,
        dates=rows.end_of_next_weekday,
        fetch=windows.one_day,
        lists=(("data", "option"),),
        identity=("contractID", "date"),
        columns=("contractID", "date"),
        header=(),
    ),
    _DATED.but(
        name="NEWS_SENTIMENT",
        rule="time_published, UTC; a whole minute means its end, T000000 the end of that day",
        why="a feed held stamps ahead of New York time (recorded); scores and summaries are computed later",
        needs=(),
        takes=("tickers", "topics"),
        fields=(*fields("record_type"), *news.PLAIN, *news.NAMES, *news.COMPUTED),
        window="available_at",
        caveats=caveats.news_caveats,
        dates=news.published,
        records=news.records,
        fetch=windows.articles,
        lists=(("feed", "article"),),
        columns=("url",),
        foreign=(),
    ),
)
