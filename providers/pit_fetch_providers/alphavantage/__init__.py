"""Alpha Vantage (``GET /query?function=…``): prices, earnings, corporate actions, news, by one table of rules.

``functions`` says how the rows of each function are dated, ``options`` what a request needs,
``windows`` which requests one fetch makes, ``ask`` sends one, ``reply`` and ``messages`` read what
comes back, and ``rows``, ``bars``, ``earnings`` and ``news`` make records of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pit_fetch.provider import Context, Credential, Gap, Host, Provider, Query, Rate, Record
from pit_fetch.times import parse_date
from pit_fetch_providers.alphavantage import windows
from pit_fetch_providers.alphavantage.ask import HOST, KEY_VARIABLE, check_message
from pit_fetch_providers.alphavantage.functions import Function, help_text
from pit_fetch_providers.alphavantage.options import OPTIONS, checked, function_of
from pit_fetch_providers.alphavantage.reply import decode
from pit_fetch_providers.alphavantage.rows import records

_EARNINGS = (
    "EARNINGS serves dates and figures as they stand today: a reportedDate or an EPS that was restated or adjusted "
    "for a later split since the PIT cannot be told from the original."
)
_NEWS = (
    "NEWS_SENTIMENT dates an article by its publication: the source may have taken it in later, "
    "and a title that was edited since is served as it stands today."
)
_ADJUSTED_FILE = (
    "TIME_SERIES_INTRADAY in a file has to be asked for with adjusted=false: "
    "prices that are adjusted for later dividends and splits cannot be told from raw ones."
)


def fetch(query: Query, context: Context) -> Iterable[Record | Gap]:
    """The records of one fetch. No request is made for what could not be served with the PIT."""
    function = checked(query)
    if _is_out_of_reach(function, query):
        return ()
    if function.name == "NEWS_SENTIMENT":
        return windows.articles(function, query, context, select)
    if function.name == "TIME_SERIES_INTRADAY" and windows.needs_months(query):
        return windows.monthly(function, query, context, select)
    return windows.one_reply(function, query, context, select)


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The records of one raw reply, JSON or CSV. A file was there when it was read, and for longer nothing speaks."""
    function = checked(query)
    if _is_out_of_reach(function, query):
        return
    document = decode(body, function)
    if document.message:
        check_message(document.message, function, query)
    yield from records(function, document, query, query.started)


def select(query: Query, record: Record) -> bool:
    return windows.in_window(function_of(query), query, record)


def caveats(query: Query) -> Iterator[str]:
    """What the function cannot show under a PIT; from the request alone."""
    if query.pit is None:
        return
    function = checked(query)
    if function.rule == "unverifiable":
        yield f"{function.name} is unverifiable as a whole ({function.why}): with --pit nothing of it is served."
    elif function.rule == "snapshot":
        yield (
            f"{function.name} is a snapshot ({function.why}): it counts as published when it is fetched, "
            "so for a PIT in the past nothing of it is served."
        )
    elif function.rule == "earnings":
        yield _EARNINGS
    elif function.rule == "article":
        yield _NEWS
    elif function.name == "TIME_SERIES_INTRADAY" and query.offline:
        yield _ADJUSTED_FILE


def _is_out_of_reach(function: Function, query: Query) -> bool:
    """Whether nothing of the reply could be served, whatever it holds: a request would be wasted."""
    if query.pit is None:
        return False
    if function.rule == "next_day":
        day = parse_date(query.options["date"])
        return day is not None and day > query.pit.date()
    return function.rule == "unverifiable" or (function.rule == "snapshot" and query.pit < query.started)


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
