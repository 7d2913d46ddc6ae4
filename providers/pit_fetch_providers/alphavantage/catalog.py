"""The functions of Alpha Vantage by name, from the two tables of how the rows of their replies are dated.

To add a function, add a row to one of the tables. What it needs is the rule that shows when its rows were public, and
the reason. A function without such a rule is unverifiable, and nothing of it is served with a PIT.
"""

from __future__ import annotations

from collections.abc import Mapping

from pit_fetch_providers.alphavantage import table_dated, table_undated
from pit_fetch_providers.alphavantage.function import Function

# The names of functions in other tools, and in the words of users.
_SEARCH_TERMS = {
    "TIME_SERIES_DAILY": "price prices daily bars ohlc ohlcv candles candle history historical eod close time-series",
    "TIME_SERIES_INTRADAY": "intraday minute minutes",
    "GLOBAL_QUOTE": "quote quotes latest last",
    "NEWS_SENTIMENT": "news sentiment headlines articles",
    "OVERVIEW": "fundamentals company profile info",
    "INCOME_STATEMENT": "income revenue financials",
    "EARNINGS": "eps",
    "EARNINGS_CALL_TRANSCRIPT": "transcript transcripts",
    "LISTING_STATUS": "listings listing tickers symbols",
    "CURRENCY_EXCHANGE_RATE": "fx forex exchange-rate",
    "TREASURY_YIELD": "treasury treasuries yield yields",
    "NONFARM_PAYROLL": "payroll payrolls jobs nfp",
}

FUNCTIONS: Mapping[str, Function] = {
    row.operation.name: row.but(search_terms=_SEARCH_TERMS.get(row.operation.name, ""))
    for row in (*table_dated.ROWS, *table_undated.ROWS)
}
