"""What a function cannot show, in constant statements: from the request alone, whatever the source holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pit_fetch.provider import Query
from pit_fetch.times import parse_date
from pit_fetch_providers.alphavantage.function import MARKETS, Function

_RESTATED_BARS = (
    "{name} serves prices and volumes as they stand today: a bar that was restated without a mark since the PIT "
    "cannot be told from the original (a month's volume was found changed by 24 % years later)."
)
_EARNINGS = (
    "EARNINGS serves dates and figures as they stand today: a reportedDate or an EPS that was restated or adjusted "
    "for a later split since the PIT cannot be told from the original. EPS are in today's shares: beside raw prices "
    "of before a split they are too small. A year that the list begins with may be a year to date."
)
_RESTATED_ROWS = (
    "{name} serves its rows as they stand today: a row that was corrected without a mark since the PIT cannot be "
    "told from the original."
)
_HOLDER = "symbol means today's holder of the symbol: at the PIT it may have been another company's."
_NEWS = (
    "NEWS_SENTIMENT dates an article by its publication: the source may have taken it in later, "
    "and a title that was edited since is served as it stands today."
)
_ADJUSTED_FILE = (
    "TIME_SERIES_INTRADAY in a file has to be asked for with adjusted=false: "
    "prices that are adjusted for later dividends and splits cannot be told from raw ones."
)
_CSV_FILE = (
    "A CSV in a file does not name its symbol, its market, its period and its interval: "
    "they are taken to be those of the request."
)
_NO_INTERVAL = (
    "Without interval= the bars of a CSV count as 60 minutes long, since it does not say: "
    "give interval=5min, or what the file was asked for with."
)
_MARKET = (
    "{name} is unverifiable in other markets than {markets}: prices are converted at the rate of the day of the "
    "fetch. With --pit nothing of them is served; name the market with market=."
)


def statements(function: Function, query: Query) -> Iterator[str]:
    """The statements that belong to a request: most of them with a PIT only."""
    if query.offline and function.period == "intraday" and query.options.get("interval") is None:
        yield _NO_INTERVAL
    if query.pit is None:
        return
    if function.rule == "unverifiable":
        yield f"{function.name} is unverifiable as a whole ({function.why}): with --pit nothing of it is served."
    elif function.rule == "snapshot":
        yield (
            f"{function.name} is a snapshot ({function.why}): it counts as published when it is fetched, "
            "so for a PIT in the past nothing of it is served."
        )
    elif function.rule == "article":
        yield _NEWS
    else:
        yield " ".join(_of_rows(function, query))


def _of_rows(function: Function, query: Query) -> Iterator[str]:
    """In one statement what is to be said of rows with a date: each envelope repeats it."""
    is_coin = "market" in function.needs
    if is_coin and not _is_in_a_market_of_its_own(query):
        yield _MARKET.format(name=function.name, markets=" and ".join(MARKETS))
    if function.rule == "earnings":
        yield _EARNINGS
    else:
        yield (_RESTATED_BARS if function.rule == "bar" else _RESTATED_ROWS).format(name=function.name)
    if "symbol" in function.needs and not is_coin:
        yield _HOLDER
    if query.offline and function.name == "TIME_SERIES_INTRADAY":
        yield _ADJUSTED_FILE
    if query.offline and function.header is not None:
        yield _CSV_FILE


def is_out_of_reach(function: Function, query: Query) -> bool:
    """Whether nothing of the reply could be served, whatever it holds: a request would be wasted."""
    if query.pit is None:
        return False
    if function.rule == "next_day":
        day = parse_date(query.options["date"])
        return day is not None and day > query.pit.date()
    if "market" in function.needs and not query.offline and not _is_in_a_market_of_its_own(query):
        return True
    return function.rule == "unverifiable" or (function.rule == "snapshot" and query.pit < query.started)


def _is_in_a_market_of_its_own(query: Query) -> bool:
    return query.options.get("market") in MARKETS
