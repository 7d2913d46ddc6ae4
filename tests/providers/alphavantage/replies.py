"""One reply in the recorded shape of each function whose rows carry no date, and how many rows it has."""

from __future__ import annotations

from typing import Any

from pit_fetch_providers.alphavantage import FUNCTIONS

BARS = [name for name, function in FUNCTIONS.items() if function.series]
INTRADAY = [name for name in BARS if "{}" in FUNCTIONS[name].series]
COINS = [name for name in BARS if "market" in FUNCTIONS[name].operation.needs]
UNDATED = [name for name, function in FUNCTIONS.items() if function.operation.dating.by != "record"]
SNAPSHOTS = [name for name in UNDATED if FUNCTIONS[name].operation.dating.by == "receipt"]

_REPORTS = {
    "symbol": "IBM",
    "annualReports": [{"fiscalDateEnding": "2025-12-31", "netIncome": "1", "ebit": "None"}],
    "quarterlyReports": [{"fiscalDateEnding": "2025-12-31"}, {"fiscalDateEnding": "2025-09-30"}],
}
_LEVEL = {"symbol": "IBM", "bid": "1"}
_RATE = {"Realtime Currency Exchange Rate": {"1. From_Currency Code": "USD", "3. To_Currency Code": "JPY"}}
REPLIES: dict[str, list[tuple[Any, int]]] = {
    "GLOBAL_QUOTE": [
        ({"Global Quote": {"01. symbol": "IBM", "05. price": "219.3000"}}, 1),
        ("symbol,open,price,latestDay\nIBM,218.2,219.3,2026-05-15\n", 1),
        ({"Global Quote": {}}, 0),
    ],
    "REALTIME_BULK_QUOTES": [({"endpoint": "Realtime Bulk Quotes", "message": "success", "data": [_LEVEL]}, 1)],
    "REALTIME_BULK_BID_ASK_PRICES": [({"data": [_LEVEL]}, 1)],
    "CURRENCY_EXCHANGE_RATE": [(_RATE, 1)],
    "GOLD_SILVER_SPOT": [({"nominal": "XAU", "price": "1"}, 1)],
    "REALTIME_OPTIONS": [({"endpoint": "x", "message": "success", "data": [{"contractID": "A"}]}, 1)],
    "REALTIME_PUT_CALL_RATIO": [({"symbol": "IBM", "put_call_ratio": "0.6"}, 1)],
    "SYMBOL_SEARCH": [
        ({"bestMatches": [{"1. symbol": "TSCO.LON"}, {"1. symbol": "TSCDF"}]}, 2),
        ("symbol,name\nTSCO.LON,Tesco PLC\n", 1),
    ],
    "MARKET_STATUS": [({"endpoint": "x", "markets": [{"market_type": "Equity", "region": "Canada", "notes": ""}]}, 1)],
    "TOP_GAINERS_LOSERS": [
        (
            {
                "metadata": "Top", "last_updated": "2026-05-15 16:16:00 US/Eastern",
                "top_gainers": [{"ticker": "A"}], "top_losers": [{"ticker": "B"}],
                "most_actively_traded": [{"ticker": "A"}],
            },
            3,
        )
    ],
    "INDEX_CATALOG": [({"data": [{"symbol": "SPX"}]}, 1)],
    "OVERVIEW": [({"Symbol": "IBM", "LatestQuarter": "2026-03-31", "DividendDate": "None"}, 1), ({}, 0)],
    "ETF_PROFILE": [({"net_assets": "1", "sectors": [{"sector": "X"}], "holdings": [{"symbol": "A"}]}, 1)],
    "EARNINGS": [
        (
            {
                "symbol": "IBM",
                "annualEarnings": [{"fiscalDateEnding": "2025-12-31", "reportedEPS": "11.57"}],
                "quarterlyEarnings": [{"fiscalDateEnding": "2025-12-31", "reportedDate": "2026-01-28"}],
            },
            2,
        )
    ],
    "EARNINGS_ESTIMATES": [
        (
            {
                "symbol": "IBM",
                "estimates": [
                    {"date": "2025-12-31", "horizon": "fiscal year"},
                    {"date": "2025-12-31", "horizon": "fiscal quarter"},
                ],
            },
            2,
        )
    ],
    "EARNINGS_CALENDAR": [
        ("symbol,name,reportDate,fiscalDateEnding,estimate,currency\nIBM,IBM,2026-07-22,2026-06-30,,USD\n", 1),
        ("symbol,name,reportDate,fiscalDateEnding,estimate,currency,timeOfTheDay\n", 0),
    ],
    "IPO_CALENDAR": [("symbol,name,ipoDate,priceRangeLow\nCVGD,Elevation,2026-05-18,0\n", 1)],
    "LISTING_STATUS": [
        ("symbol,name,exchange,ipoDate,delistingDate,status\nA,Agilent,NYSE,1999-11-18,null,Active\n", 1)
    ],
    "INCOME_STATEMENT": [(_REPORTS, 3)],
    "BALANCE_SHEET": [(_REPORTS, 3)],
    "CASH_FLOW": [(_REPORTS, 3)],
    "SHARES_OUTSTANDING": [
        ("date,shares_outstanding_diluted,shares_outstanding_basic\n2026-03-31,7445000000,7445000000\n", 1),
        ({"symbol": "IBM", "data": [{"date": "2026-03-31", "shares_outstanding_basic": "1"}]}, 1),
    ],
    "INSIDER_TRANSACTIONS": [({"data": [{"transaction_date": "2026-03-31", "executive": "A"}] * 2}, 2)],
    "CONGRESS_TRADES": [({"data": [{"symbol": "AAPL"}]}, 1)],
    "POLITICIAN_METADATA": [({"data": [{"bioguide_id": "S000510"}]}, 1)],
    "EARNINGS_CALL_TRANSCRIPT": [
        ({"symbol": "IBM", "quarter": "2024Q1", "transcript": [{"speaker": "A", "content": "Hello"}]}, 1)
    ],
    "HISTORICAL_PUT_CALL_RATIO": [({"symbol": "IBM", "data": [{"expiration": "2026-01-01"}]}, 1)],
    "INDEX_DATA": [("timestamp,open,close\n2026-05-15,1,2\n", 1)],
    "ANALYTICS_FIXED_WINDOW": [({"meta_data": {"symbols": "IBM"}, "payload": {"MEAN": {"A": 0.1}}}, 1)],
    "ANALYTICS_SLIDING_WINDOW": [({"meta_data": {"symbols": "IBM"}, "payload": {"RETURNS_CALCULATIONS": {}}}, 1)],
}  # fmt: skip
SERIES: list[tuple[Any, int]] = [
    ({"name": "CPI", "interval": "monthly", "unit": "index", "data": [{"date": "2026-04-01", "value": "333.020"}]}, 1),
    ("timestamp,value\n2026-04-01,333.020\n2025-10-01,.\n", 2),
]
INDICATOR: list[tuple[Any, int]] = [
    (
        {
            "Meta Data": {"1: Symbol": "IBM", "4: Interval": "daily", "7: Time Zone": "US/Eastern"},
            "Technical Analysis: SMA": {"2026-05-15": {"SMA": "1.0"}, "2026-05-14": {"SMA": "2.0"}},
        },
        2,
    ),
    ("time,SMA\n2026-05-15,1.0\n2026-05-14,2.0\n", 2),
]

_CHOICES = {
    "interval": "daily", "quarter": "2024Q1", "from_currency": "USD", "to_currency": "JPY", "keywords": "tesco",
    "range": "2month", "calculations": "MEAN",
}  # fmt: skip


# One of each kind: the economic series are one row of a table, and so are the indicators.
SOME_UNDATED = [*REPLIES, "CPI", "GOLD_SILVER_HISTORY", "SMA"]


def replies(name: str) -> list[tuple[Any, int]]:
    if name in REPLIES:
        return REPLIES[name]
    return SERIES if "start of its period" in FUNCTIONS[name].operation.dating.why else INDICATOR


def words(name: str) -> list[str]:
    """Return the request that these replies answer."""
    return [name, *(f"{option}={_CHOICES.get(option, 'IBM')}" for option in FUNCTIONS[name].operation.needs)]
