"""Finnhub's ``company-news``, by days, and its ``calendar/earnings``; plans and keys that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

KEY = "finnhub-0123456789abcdef"
VARIABLES = {"FINNHUB_API_KEY": KEY}


def article(number: int, published: datetime, /, **changes: Any) -> dict[str, Any]:
    """Return an article in the shape of the wire."""
    item = {
        "category": "company",
        "datetime": int(published.timestamp()),
        "headline": f"Headline {number}",
        "id": 140_000_000 + number,
        "image": f"https://example.com/{number}.png",
        "related": "AAPL",
        "source": "Yahoo",
        "summary": "A teaser.",
        "url": f"https://finnhub.io/api/news?id={number}",
    }
    return {**item, **changes}


def report(date: str, quarter: int, actual: float | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return a row of the calendar."""
    figures = {"epsActual": actual, "epsEstimate": 1.9316, "revenueActual": actual, "revenueEstimate": 110771401872}
    return {"date": date, **figures, "hour": "amc", "quarter": quarter, "symbol": "AAPL", "year": 2024, **changes}


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of articles. ``careless``: it ignores the days that are asked for."""

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.header("X-Finnhub-Token") != KEY:
            return as_json({"error": "Invalid API key"}, 401)
        if request.path != "/api/v1/company-news":
            return as_json({"error": "You don't have access to this resource."}, 403)
        return Response(body_of([row for row in rows if careless or query["from"] <= _day(row) <= query["to"]]))

    return answer


def _day(row: Any) -> str:
    at = row.get("datetime") if isinstance(row, dict) else None
    return datetime.fromtimestamp(at, UTC).date().isoformat() if isinstance(at, int) else "2024-02-15"
