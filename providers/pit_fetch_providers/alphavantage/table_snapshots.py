"""The functions whose reply is the state of the day on which it is asked for. "Recorded": see table_bars."""

from __future__ import annotations

from pit_fetch_providers.alphavantage.function import EQUITY, SNAPSHOT, Function

_STATEMENT = (("annualReports", "annual_report"), ("quarterlyReports", "quarterly_report"))
_MOVERS = (("top_gainers", "top_gainer"), ("top_losers", "top_loser"), ("most_actively_traded", "most_active"))
_RESTATED = "figures carry the end of their fiscal period only, weeks before they are published, and are restated"

ROWS: tuple[Function, ...] = (
    SNAPSHOT._replace(
        name="GLOBAL_QUOTE",
        needs=EQUITY,
        takes=("entitlement",),
        identity=("symbol",),
        columns=("symbol",),
        header=("price",),
        single=True,
    ),
    SNAPSHOT._replace(
        name="REALTIME_BULK_QUOTES",
        needs=EQUITY,
        takes=("entitlement",),
        identity=("symbol",),
        columns=("symbol",),
        header=(),
    ),
    SNAPSHOT._replace(
        name="REALTIME_BULK_BID_ASK_PRICES",
        needs=EQUITY,
        takes=("entitlement",),
        identity=("symbol",),
        columns=("symbol",),
        header=(),
    ),
    SNAPSHOT._replace(
        name="CURRENCY_EXCHANGE_RATE",
        needs=("from_currency", "to_currency"),
        identity=("from_currency_code", "to_currency_code"),
        columns=("from_currency_code",),
        single=True,
    ),
    SNAPSHOT._replace(name="GOLD_SILVER_SPOT", needs=EQUITY),
    SNAPSHOT._replace(
        name="REALTIME_OPTIONS",
        needs=EQUITY,
        takes=("contract", "expiration", "require_greeks", "entitlement"),
        identity=("contractID",),
        columns=("contractID",),
        header=(),
    ),
    SNAPSHOT._replace(name="REALTIME_PUT_CALL_RATIO", needs=EQUITY),
    SNAPSHOT._replace(
        name="SYMBOL_SEARCH",
        needs=("keywords",),
        identity=("symbol",),
        columns=("symbol",),
        header=("name",),
        foreign=("reportDate", "ipoDate"),
    ),
    SNAPSHOT._replace(name="MARKET_STATUS", identity=("market_type", "region"), columns=("market_type",)),
    SNAPSHOT._replace(
        name="TOP_GAINERS_LOSERS", takes=("entitlement",), lists=_MOVERS, identity=("ticker",), columns=("ticker",)
    ),
    SNAPSHOT._replace(name="INDEX_CATALOG", identity=("symbol",), columns=("symbol",), header=()),
    SNAPSHOT._replace(name="OVERVIEW", needs=EQUITY, lists=(("", "overview"),), columns=("Symbol",), single=True),
    SNAPSHOT._replace(name="ETF_PROFILE", needs=EQUITY, lists=(("", "etf_profile"),), columns=("net_assets",)),
    SNAPSHOT._replace(
        name="EARNINGS_ESTIMATES",
        why="a past period's consensus is the one at its report, weeks after the period's end",
        needs=EQUITY,
        date="date",
        lists=(("estimates", "estimate"),),
        identity=("date", "horizon"),
        columns=("date", "horizon"),
    ),
    SNAPSHOT._replace(
        name="EARNINGS_CALENDAR",
        takes=("symbol", "horizon"),
        date="reportDate",
        lists=(("", "earnings_calendar"),),
        identity=("symbol", "fiscalDateEnding", "reportDate"),
        newer=("timeOfTheDay",),
        columns=("symbol", "reportDate"),
        header=("fiscalDateEnding",),
    ),
    SNAPSHOT._replace(
        name="IPO_CALENDAR",
        date="ipoDate",
        lists=(("", "ipo_calendar"),),
        identity=("symbol", "ipoDate"),
        columns=("symbol", "ipoDate"),
        header=("name",),
        foreign=("status",),
    ),
    SNAPSHOT._replace(
        name="LISTING_STATUS",
        why="names and dates are today's, for past dates too",
        takes=("date", "state"),
        lists=(("", "listing"),),
        identity=("symbol", "ipoDate", "status"),
        columns=("symbol", "status"),
        header=("ipoDate",),
    ),
    *(
        SNAPSHOT._replace(
            name=name,
            why=_RESTATED,
            needs=EQUITY,
            date="fiscalDateEnding",
            lists=_STATEMENT,
            identity=("fiscalDateEnding",),
            columns=("fiscalDateEnding",),
        )
        for name in ("INCOME_STATEMENT", "BALANCE_SHEET", "CASH_FLOW")
    ),
    SNAPSHOT._replace(
        name="SHARES_OUTSTANDING",
        why=_RESTATED,
        needs=EQUITY,
        date="date",
        identity=("date",),
        columns=("date",),
        header=("shares_outstanding_basic",),
    ),
)
