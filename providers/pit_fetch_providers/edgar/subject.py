"""The one company that a request is about: by its number, or by the ticker that it has today."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Caveat, Context, Option, Query, UpstreamError
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.edgar import companies
from pit_fetch_providers.shared import refuse

SYMBOL = Option(
    "symbol",
    "the company that has this ticker today",
    metavar="AAPL",
    uppercase=True,
    stands_for="cik",
    search_terms=search_terms.SYMBOL,
)
CIK = Option("cik", "the company by its number, which does not change", metavar="320193", search_terms="company ciks")

EITHER = "Give either cik=320193 or symbol=AAPL."
SYMBOLS = "A symbol is one of the SEC's list, such as AAPL or BRK-B."
WITHOUT_LIST = "What a symbol stands for is known from a request by symbol or tickers alone: without one, ask by cik."
_HOLDER = "symbol means its holder on the day of the fetch: give cik=."


def normalize(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the SEC spells them. Raise ConfigError for what cannot be a number or a symbol."""
    cik = companies.parse_cik(options["cik"]) if options["cik"] else None
    if options["cik"] and cik is None:
        refuse("cik is a number of up to ten digits, e.g. 320193; a ticker is written symbol=AAPL.")
    if options["symbol"] and str(options["symbol"]).isdigit():
        refuse("symbol is a ticker, e.g. AAPL; a number of the SEC is written cik=320193.")
    symbols.check("symbol", filter(None, [options["symbol"]]), companies.TICKER, "AAPL or BRK-B")
    symbol = companies.spelled(options["symbol"]) if options["symbol"] else None
    return {**options, "symbol": symbol, "cik": None if cik is None else str(cik)}


def resolve(query: Query, context: Context) -> Query:
    """Return the query with the number of the company in the place of its symbol, which stays if the SEC has none.

    Raise UpstreamError. An unlisted symbol raises it in a capture only, which would otherwise record a company without
    filings.
    """
    if query.options["symbol"] is None:
        return query
    listed = companies.ciks_of([query.options["symbol"]], context, must_be_listed=query.capture)
    return query._replace(options={**query.options, "symbol": None, "cik": str(min(listed))}) if listed else query


def cik_of(query: Query) -> int | None:
    """Return the number of the company; None for a symbol that the SEC does not list, or without either."""
    cik = query.options["cik"]
    return None if cik is None else int(cik)


def check_offline(query: Query) -> None:
    """Raise ConfigError for a symbol beside --input-file: what the file says of it is today's, if anything."""
    if query.offline and query.options["symbol"]:
        refuse("symbol cannot be compared with --input-file: give cik=320193, or neither.")


def check_saved(query: Query, ciks: Collection[int]) -> None:
    """Raise UpstreamError if a saved reply is not shown to be of the company that was asked for; it is of ``ciks``."""
    asked = query.options["cik"]
    if asked is not None and not ciks:
        raise UpstreamError(Code.MALFORMED, problem="it does not show whose it is (leave out cik)")
    if asked is not None and int(asked) not in ciks:
        raise UpstreamError(Code.MALFORMED, problem="it is of another company than cik says")


def holder_caveats(query: Query) -> Iterator[Caveat]:
    """Yield the caveat that a symbol means the company that has it today."""
    if query.options["symbol"]:
        yield Caveat(_HOLDER, of_today=True)
