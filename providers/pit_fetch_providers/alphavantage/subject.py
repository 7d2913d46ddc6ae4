"""Compare the subject that a reply names with the subject of the request. Pure.

A request for one symbol can be answered with rows on others: a calendar that holds the whole market, an article that
names several tickers. Such a row is left out. A reply that is on another subject as a whole is an error. Only what
comes beside the rows decides that, never a row that may be withheld.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Query
from pit_fetch_providers.alphavantage.function import Function, Row
from pit_fetch_providers.alphavantage.reply import Document

# The options that name a subject, and where a reply names it: beside the rows, and in the columns of a row.
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "symbol": ("symbol", "digital_currency_code"),
    "market": ("market_code",),
    "from_symbol": ("from_symbol",),
    "to_symbol": ("to_symbol",),
    "symbols": ("symbols",),
    "quarter": ("quarter",),
}
_IN_A_ROW: Mapping[str, tuple[str, ...]] = {
    "symbol": ("symbol", "Symbol", "ticker"),
    "from_currency": ("from_currency_code",),
    "to_currency": ("to_currency_code",),
    "date": ("date",),
}

# BRK.B, BRK-B and BRK/B are one share.
_SEPARATORS = re.compile(r"[./_\s-]+")


def check(document: Document, function: Function, query: Query) -> None:
    """Raise UpstreamError if the reply names another subject than the request."""
    for option, places in _BESIDE.items():
        requested = _named_in(query, option)
        named = {_plain(part) for place in places for part in document.meta.get(place, "").split(",") if part.strip()}
        if requested and not named <= requested:
            raise _off_subject()
    if function.single and document.rows and not rows(document, query):
        raise _off_subject()


def rows(document: Document, query: Query) -> Sequence[tuple[str, Row | None]]:
    """Return the rows of a reply without those that name another subject."""
    named = ((columns, _named_in(query, option)) for option, columns in _IN_A_ROW.items())
    requested = [(columns, names) for columns, names in named if names]
    tickers = _named_in(query, "tickers")
    return [(kind, row) for kind, row in document.rows if row is None or not _is_on_another(row, requested, tickers)]


def _is_on_another(row: Row, requested: Sequence[tuple[tuple[str, ...], set[str]]], tickers: set[str]) -> bool:
    for columns, names in requested:
        if not {_plain(row[column]) for column in columns if isinstance(row.get(column), str)} <= names:
            return True
    return bool(tickers) and not tickers <= _tickers(row)


def _tickers(row: Row) -> set[str]:
    entries: Any = row.get("ticker_sentiment")
    names = [entry.get("ticker") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return {_plain(name) for name in names if isinstance(name, str)}


def _named_in(query: Query, option: str) -> set[str]:
    value = query.options.get(option)
    parts = value.split(",") if isinstance(value, str) else value or ()
    return {_plain(part) for part in parts if part.strip()}


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().upper())


def _off_subject() -> UpstreamError:
    return UpstreamError(Code.OFF_SUBJECT, problem="it is about something other than what was asked for")
