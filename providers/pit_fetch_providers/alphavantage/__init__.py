"""Alpha Vantage (``GET /query?function=…``): prices, earnings, corporate actions, news, by one table of rules.

``functions`` and the tables behind it say how the rows of each function are dated and what its reply
looks like, ``options`` what a request needs, ``caveats`` what it cannot show, ``windows`` which requests
one fetch makes. ``ask`` sends one, ``reply`` and ``messages`` read what comes back, ``subject`` looks
whether it is about what was asked for, and ``rows``, ``bars``, ``earnings`` and ``news`` make records of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pit_fetch.provider import Context, Credential, Gap, Host, Provider, Query, Rate, Record
from pit_fetch_providers.alphavantage import windows
from pit_fetch_providers.alphavantage.ask import HOST, KEY_VARIABLE, check_message
from pit_fetch_providers.alphavantage.caveats import is_out_of_reach, statements
from pit_fetch_providers.alphavantage.functions import help_text
from pit_fetch_providers.alphavantage.options import OPTIONS, checked, function_of, understood
from pit_fetch_providers.alphavantage.reply import decode
from pit_fetch_providers.alphavantage.rows import records


def fetch(query: Query, context: Context) -> Iterable[Record | Gap]:
    """The records of one fetch. No request is made for what could not be served with the PIT."""
    query = understood(query)
    function = checked(query)
    if is_out_of_reach(function, query):
        return ()
    if function.name == "NEWS_SENTIMENT":
        return windows.articles(function, query, context, select)
    if function.name == "TIME_SERIES_INTRADAY" and windows.needs_months(query):
        return windows.monthly(function, query, context, select)
    return windows.one_reply(function, query, context, select)


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The records of one raw reply, JSON or CSV. A file was there when it was read, and for longer nothing speaks."""
    query = understood(query)
    function = checked(query)
    if is_out_of_reach(function, query):
        return
    document = decode(body, function)
    if document.message:
        check_message(document.message, function, query)
    yield from records(function, document, query, query.started)


def select(query: Query, record: Record) -> bool:
    return windows.in_window(function_of(query), query, record)


def caveats(query: Query) -> Iterable[str]:
    """What the function cannot show; from the request alone."""
    query = understood(query)
    return statements(checked(query), query)


PROVIDER = Provider(
    name="alphavantage",
    summary="Alpha Vantage: prices, earnings, dividends, splits, news, estimates, fundamentals, by function",
    aliases=("alpha-vantage", "av"),
    fetch=fetch,
    read=read,
    select=select,
    caveats=caveats,
    hosts=(Host(HOST, "https://www.alphavantage.co", "PIT_FETCH_ALPHAVANTAGE_URL", Rate(calls=1)),),
    credentials=(
        Credential(
            name="key",
            variables=(KEY_VARIABLE,),
            hint="A free key (25 requests a day) comes from https://www.alphavantage.co/support/#api-key.",
        ),
    ),
    options=OPTIONS,
    # One reply is a page: a month of 1-minute bars has some 20,000.
    page_size=5_000,
    help=help_text(),
)
