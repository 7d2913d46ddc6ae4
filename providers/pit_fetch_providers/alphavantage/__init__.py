"""Alpha Vantage (``GET /query?function=…``): prices, earnings, corporate actions, news, by one table of rules.

``functions`` and the tables behind it say how the rows of each function are dated and what its reply
looks like, ``options`` what a request carries, ``caveats`` what it cannot show, ``windows`` which requests
one fetch makes. ``ask`` sends one, ``reply`` and ``messages`` read what comes back, ``subject`` looks
whether it is about what was asked for, and ``rows``, ``bars``, ``earnings`` and ``news`` make records of it.
``adjust`` scales daily bars by what was public.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pit_fetch.provider import Context, Gap, Page, Provider, Query, Record, Stage, Watermark
from pit_fetch_providers.alphavantage.catalog import FUNCTIONS
from pit_fetch_providers.alphavantage.client import HOST, KEY, check_message
from pit_fetch_providers.alphavantage.options import OPTIONS
from pit_fetch_providers.alphavantage.reply import decode
from pit_fetch_providers.alphavantage.rows import read as read_rows


def fetch(query: Query, context: Context) -> Iterator[Record | Page | Watermark | Gap]:
    """The records of one fetch, by the requests that its function needs."""
    function = FUNCTIONS[query.operation.name]
    return function.fetch(function, query, context)


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The records of one raw reply, JSON or CSV. A file was there when it was read, and for longer nothing speaks."""
    function = FUNCTIONS[query.operation.name]
    document = decode(body, function)
    check_message(document.message, function, query)
    yield from read_rows(function, document, query, query.started)


def derive(query: Query) -> Stage | None:
    """Daily bars in the shares of the newest one that is public, where that is asked for."""
    mode = query.options["adjust"]
    if mode is None:
        return None
    from pit_fetch_providers.alphavantage.adjust import adjusted

    return partial(adjusted, mode=mode)


PROVIDER = Provider(
    name="alphavantage",
    summary="Alpha Vantage: prices, earnings, dividends, splits, news, estimates, fundamentals, by function",
    aliases=("alpha-vantage", "av"),
    fetch=fetch,
    parse_reply=read,
    derive=derive,
    hosts=(HOST,),
    credentials=(KEY,),
    options=OPTIONS,
    operations=tuple(function.operation for function in FUNCTIONS.values()),
    # One reply is a page: a month of 1-minute bars has some 20,000.
    page_size=5_000,
    agents=("alphavantage",),
)
