"""State what a function cannot show, in constant sentences that depend on the request alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from pit_fetch.provider import Caveat, Query
from pit_fetch_providers.alphavantage.function import MARKETS, is_own_market
from pit_fetch_providers.shared import evening_caveats, with_a_pit

_RESTATED_BARS = (
    "{name} serves prices as they stood when they were fetched: a bar that was restated without a mark between the PIT "
    "and the fetch cannot be told from the original (a month's volume was found changed by 24 % years later; volumes "
    "of shares are served of months, on a claim)."
)
_AS_FILED = "sec_facts proves a company's figures as they were filed."
_EARNINGS = (
    "EARNINGS serves dates and figures as they stood when they were fetched, EPS in the shares of that day: next to "
    f"raw prices from before a split, they look too small. {_AS_FILED} A year that the list begins with may be a year "
    "to date."
)
_RESTATED_ROWS = (
    "{name} serves its rows as they stood when they were fetched: a row that was corrected without a mark between the "
    "PIT and the fetch cannot be told from the original."
)
_HOLDER = "symbol means its holder on the day of the fetch: at the PIT it may have been another company's."
_STATEMENTS = (
    "{name} serves the newest 20 years and 81 quarters alone. Its claims suppose that companies file with the SEC in "
    "time: one that files late, or elsewhere, published later. A file has no claims, since EARNINGS is not in it."
)
_NEWS = (
    "NEWS_SENTIMENT dates an article by its publication: the source may have taken it in later, "
    "and a title that was edited since is served as it stood when it was fetched."
)
_ADJUSTED = (
    "adjust= scales bars by the splits and dividends that the bars themselves name: where the source lacks a bar, "
    "what happened on its day is missing from all older prices."
)
_ADJUSTED_FILE = (
    "TIME_SERIES_INTRADAY in a file has to be asked for with adjusted=false: "
    "prices that are adjusted for later dividends and splits cannot be told from raw ones."
)
_SAVED_BARS = "A file does not say when it was saved: its newest bar may have been running then, and counts as over."
_CSV_FILE = (
    "A CSV in a file does not name its symbol, its market, its period and its interval: "
    "they are taken to be those of the request."
)
_NO_INTERVAL = (
    "Without interval= the bars of a CSV count as 60 minutes long, since it does not say: "
    "give interval=5min, or what the file was asked for with."
)
_MARKET = (
    f"{{name}} is unverifiable in other markets than {' and '.join(MARKETS)}: prices are converted at the rate of the "
    "day of the fetch. With --pit nothing of them is served; name the market with market=."
)


def bar_caveats(query: Query, in_a_file: Sequence[str] = ()) -> Iterator[str | Caveat]:
    """Yield the caveats of bars; ``in_a_file`` are further ones for a reply in a file."""
    operation, options = query.operation, query.options
    if query.offline and "interval" in operation.needs and options["interval"] is None:
        yield _NO_INTERVAL
    statements = [_RESTATED_BARS]
    if "market" not in operation.needs:
        statements += [_HOLDER] if "symbol" in operation.needs else []
    elif not is_own_market(options["market"]):
        statements.insert(0, _MARKET)
    statements += [_ADJUSTED] if options["adjust"] else []
    if query.offline:
        statements += [*in_a_file, _SAVED_BARS, _CSV_FILE]
    if operation.dating.rule.startswith("20:00 New York"):
        yield from evening_caveats(query)
    yield from with_a_pit(" ".join(statements))(query)  # as one statement, since each envelope repeats it


def row_caveats(query: Query) -> Iterable[str]:
    """Return the caveats of rows that are dated by a day."""
    csv = (_CSV_FILE,) if query.offline else ()
    return with_a_pit(" ".join((_RESTATED_ROWS, _HOLDER, *csv)))(query)


def statement_caveats(query: Query) -> Iterable[str]:
    """Return the caveats of statements, which are served on a claim."""
    return with_a_pit(f"{_AS_FILED} {_STATEMENTS} {_HOLDER}" if query.accepts_claims else _AS_FILED)(query)


intraday_caveats = partial(bar_caveats, in_a_file=(_ADJUSTED_FILE,))
earnings_caveats = with_a_pit(f"{_EARNINGS} {_HOLDER}")
news_caveats = with_a_pit(_NEWS)
