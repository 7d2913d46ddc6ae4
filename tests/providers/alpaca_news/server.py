"""Alpaca's ``GET /v1beta1/news``: two headers as the key, a window and an order by ``updated_at``, pages by token."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pit_fetch_providers.shared import utc_seconds

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES = {"APCA_API_KEY_ID": "PK0123456789ABCDEFGH", "APCA_API_SECRET_KEY": "alpaca-0123456789abcdef"}


def article(number: int, public: datetime, revised: datetime | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return an article in the shape of the wire, by default saved again a second after its publication."""
    item = {
        "author": "Newsdesk",
        "content": f"<p>Body of {number}</p>",
        "created_at": utc_seconds(public),
        "headline": f"Headline {number}",
        "id": number,
        "images": [{"size": "thumb", "url": f"https://cdn.example.com/{number}.jpeg"}],
        "source": "benzinga",
        "summary": "It&#39;s short.",
        "symbols": ["AAPL", "BTCUSD"],
        "updated_at": utc_seconds(revised or public),
        "url": f"https://www.benzinga.com/news/{number}/headline",
    }
    return {**item, **changes}


def app(articles: Sequence[Any], careless: bool = False) -> App:
    """Return the server of ``articles``, which stand in any order. ``careless``: it ignores the window."""

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/v1beta1/news":
            return as_json({"message": "endpoint not found."}, 404)
        if any(
            request.header(name.replace("APCA_", "APCA-").replace("_", "-")) != key for name, key in VARIABLES.items()
        ):
            return as_json({"message": "forbidden."}, 403)
        if int(query["limit"]) > 50 or query["sort"] != "asc":
            return as_json({"message": "invalid limit"}, 422)
        start = int(base64.b64decode(query.get("page_token", "MA==")))
        found = sorted((row for row in articles if _is_asked(row, query, careless)), key=_updated)
        end = start + int(query["limit"])
        token = base64.b64encode(str(end).encode()).decode() if end < len(found) else None
        return Response(body_of({"news": found[start:end], "next_page_token": token}))

    return answer


def _updated(row: Any) -> str:
    return str(row.get("updated_at")) if isinstance(row, dict) else ""


def _is_asked(row: Any, query: Mapping[str, str], careless: bool) -> bool:
    """Return whether a row is in the window and about one of the symbols. What cannot be read always is."""
    if not isinstance(row, dict):
        return True
    at, named, wanted = _updated(row), row.get("symbols"), query.get("symbols")
    is_in = careless or not at[:4].isdigit() or query["start"] <= at <= query["end"]
    return is_in and (not wanted or not isinstance(named, list) or not {*wanted.split(",")}.isdisjoint(map(str, named)))
