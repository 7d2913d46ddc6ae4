"""What another service sends is not served as a source's own: rows without what its page of the manual promises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pit_fetch.gaps import FAILURES
from pit_fetch.testing.server import as_json
from tests.laws.worlds import always
from tests.provider_harness import NOW, Fetched, ask

AT = "2024-02-15T10:00:00Z"
ARRAYS: Mapping[str, Any] = {
    "Alpaca's news": [
        {"id": 1, "headline": "H", "author": "A", "created_at": AT, "updated_at": AT, "summary": "", "content": "",
         "url": "https://a.example/1", "symbols": ["AAPL"], "source": "benzinga"},
    ],
    "issues of GitHub": [
        {"id": 1, "number": 7, "title": "An issue", "body": "b", "url": "https://a.example/1", "state": "open",
         "labels": [], "created_at": AT, "updated_at": AT},
    ],
    "tweets": [{"id": "1", "text": "t", "created_at": AT}],
    "messages of a stream": [
        {"id": "1", "api_version": "websocket/v1", "kind": "News/v1",
         "data": {"action": "Created", "content": {"id": 1, "title": "t", "created_at": AT}, "timestamp": AT}},
    ],
}  # fmt: skip

# An operation of each source, and where its reply has the rows; "" for a bare array.
OPERATIONS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "bz-news-api": ("bz-news-api", {}, ""),
    "alphavantage, news": ("alphavantage", {"op": "NEWS_SENTIMENT"}, "feed"),
    "alphavantage, dividends": ("alphavantage", {"op": "DIVIDENDS", "symbol": "IBM"}, "data"),
    "alphavantage, bars": ("alphavantage", {"op": "TIME_SERIES_DAILY", "symbol": "IBM"}, "Time Series (Daily)"),
    "alphavantage, earnings": ("alphavantage", {"op": "EARNINGS", "symbol": "IBM"}, "quarterlyEarnings"),
    "sec_full_text": ("sec_full_text", {"query": "x"}, "hits.hits"),
    "fred": ("fred", {"series_id": "GNP"}, "observations"),
    "perplexity": ("perplexity", {"query": ["x"]}, "results"),
    "earningscall, events": ("earningscall", {"op": "events", "symbol": "MSFT", "exchange": "NASDAQ"}, "events"),
    "earningscall, calendar": ("earningscall", {"op": "calendar", "date": "2024-02-15"}, ""),
    "earningscall, transcript": ("earningscall", {"op": "transcript", "symbol": "MSFT", "exchange": "NASDAQ"}, ""),
    "yahoo, news": ("yahoo", {"op": "news", "symbol": "AAPL"}, "data.tickerStream.stream"),
    "yahoo, search": ("yahoo", {"op": "news", "symbol": "AAPL"}, "news"),
    "yahoo, upgrades": ("yahoo", {"op": "upgrades", "symbol": "AAPL"}, "quoteSummary"),
    "yahoo, prices": ("yahoo", {"op": "prices", "symbol": "AAPL"}, "chart"),
}


def _within(rows: Any, keys: str) -> Any:
    for key in reversed(keys.split(".") if keys else []):
        rows = {key: rows}
    return rows


def _failures(made: Fetched) -> list[str]:
    return [gap.type for gap in made.selection.gaps if gap.type in FAILURES]


@pytest.mark.parametrize("rows", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_bare_array_of_something_else_is_an_error(operation: str, rows: Any) -> None:
    """Public rows, and all of open mode, decide that; of withheld ones nothing is said."""
    source, options, _ = OPERATIONS[operation]
    for pit in (None, NOW) if operation != "yahoo, prices" else (None,):  # a snapshot: with a PIT nothing is read
        saved = ask(source, always(as_json({})), body=json.dumps(rows).encode(), pit=pit, **options)
        assert (saved.ids, _failures(saved)) == ([], ["input_error"])
        sent = ask(source, always(as_json(rows)), pit=pit, **options)
        assert (sent.ids, _failures(sent)[:1]) == ([], ["upstream_error"])


@pytest.mark.parametrize("rows", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("operation", [name for name, (*_, keys) in OPERATIONS.items() if keys])
def test_rows_of_something_else_where_the_source_has_its_own_are_not_served(operation: str, rows: Any) -> None:
    source, options, keys = OPERATIONS[operation]
    body = json.dumps(_within(rows, keys)).encode()
    for pit in (None, NOW):
        saved = ask(source, always(as_json({})), body=body, pit=pit, **options)
        assert saved.ids == []
        assert saved.selection.scanned == 0
