"""Alpha Vantage (``GET /query?function=…``): prices, earnings, corporate actions and news, by one table of rules.

The two tables state for each function how its rows are dated and what its reply looks like. To add a function, add a
row to one of them. What it needs is the rule that shows when its rows were public, and the reason. A function without
such a rule is unverifiable, and nothing of it is served with a PIT.

``windows`` chooses the requests of a fetch, ``options`` their parameters, and ``client`` sends them. ``reply`` decodes
what comes back, ``subject`` compares it with the request, and ``rows``, ``bars``, ``earnings`` and ``news`` turn it
into records. ``adjust`` scales daily bars, and ``caveats`` states what a function cannot show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from pit_fetch.provider import Context, Provider, Query, Record, Stage
from pit_fetch_providers.alphavantage import rows, table_dated, table_undated
from pit_fetch_providers.alphavantage.client import HOST, KEY, check_message
from pit_fetch_providers.alphavantage.function import Function, Stream
from pit_fetch_providers.alphavantage.options import OPTIONS, when_empty
from pit_fetch_providers.alphavantage.reply import decode
from pit_fetch_providers.shared import views_of

# The names of functions in other tools, and in the words of users.
_SEARCH_TERMS = {
    "TIME_SERIES_DAILY": "price prices daily bars ohlc ohlcv candles candle history historical eod close time-series",
    "TIME_SERIES_INTRADAY": "intraday minute minutes",
    "GLOBAL_QUOTE": "quote quotes latest last",
    "NEWS_SENTIMENT": "news sentiment headlines articles",
    "OVERVIEW": "fundamentals company profile info",
    "INCOME_STATEMENT": "income revenue financials",
    "EARNINGS": "eps",
    "EARNINGS_CALENDAR": "calendar",
    "EARNINGS_ESTIMATES": "estimates",
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


def fetch(query: Query, context: Context) -> Stream:
    """Yield the records of a fetch, by the requests that its function needs."""
    function = FUNCTIONS[query.operation.name]
    return function.fetch(function, query, context)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the records of one raw reply, JSON or CSV.

    A snapshot counts from the moment of reading: nothing shows how long the file had been there.
    """
    function = FUNCTIONS[query.operation.name]
    document = decode(body, function)
    check_message(document.message, function, query)
    yield from rows.read(function, document, query, query.started)


def derive(query: Query) -> Stage | None:
    """Return the stage that expresses daily bars in the shares of the newest public one; None without ``adjust``."""
    mode = query.options["adjust"]
    if mode is None:
        return None
    from pit_fetch_providers.alphavantage.adjust import adjusted

    return partial(adjusted, mode=mode)


PROVIDER = Provider(
    views=views_of(__name__),
    name="alphavantage",
    summary="Alpha Vantage: prices, earnings, dividends, splits, news, estimates, fundamentals, by function",
    aliases=("alpha-vantage", "av"),
    derive=derive,
    when_empty=when_empty,
    hosts=(HOST,),
    credentials=(KEY,),
    options=OPTIONS,
    operations=tuple(
        function.operation._replace(fetch=fetch, parse_reply=parse_reply) for function in FUNCTIONS.values()
    ),
    # One reply is a page: a month of 1-minute bars has some 20,000.
    page_size=5_000,
)
