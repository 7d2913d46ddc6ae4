"""Tiingo's ``GET /tiingo/news``: a token, an order by the crawl, pages by offset, and a window by days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

KEY = "tiingo-0123456789abcdef"
VARIABLES = {"TIINGO_API_KEY": KEY}


def link(number: int, crawled: datetime, published: datetime | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return a row in the shape of the wire, by default published five minutes before its crawl."""
    at = (published or crawled - timedelta(minutes=5)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    item = {
        "id": number,
        "publishedDate": at,
        "title": f"Title {number}",
        "url": f"https://www.example.com/{number}",
        "description": None,
        "source": "example.com",
        "tags": ["Stock"],
        "crawlDate": crawled.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "tickers": ["aapl"],
    }
    return {**item, **changes}


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of ``rows``, which stand in any order. ``careless``: it ignores the days that are asked for."""
    by_crawl = sorted(rows, key=_crawled, reverse=True)

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.header("Authorization") != f"Token {KEY}":
            return as_json({"detail": "Invalid token."}, 401)
        if request.path != "/tiingo/news" or query["sortBy"] != "crawlDate":
            return as_json({"detail": "Not found."}, 404)
        first, last = query.get("startDate", ""), query["endDate"] + "~"
        found = [
            row for row in by_crawl if careless or not _crawled(row)[:4].isdigit() or first <= _crawled(row) <= last
        ]
        start, size = int(query["offset"]), int(query["limit"])
        return Response(body_of(found[start : start + size]))

    return answer


def _crawled(row: Any) -> str:
    return str(row.get("crawlDate")) if isinstance(row, dict) else ""
