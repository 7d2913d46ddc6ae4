"""GDELT's ``GET /api/v2/doc/doc``: up to 250 articles of a window, newest first, and sentences with status 200."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES: dict[str, str] = {}
SENTENCE = b"Queries containing OR'd terms must be surrounded by ()."


def article(number: int, seen: datetime, /, **changes: Any) -> dict[str, Any]:
    """Return an article in the shape of the wire, of the batch ``seen``."""
    item = {
        "url": f"https://www.Example.com:443/{number}",
        "url_mobile": "",
        "title": f"Title {number} , tokenised",
        "seendate": seen.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"),
        "socialimage": f"https://www.example.com/{number}.jpg",
        "domain": "example.com",
        "language": "English",
        "sourcecountry": "United States",
    }
    return {**item, **changes}


def app(articles: Sequence[Any], careless: bool = False) -> App:
    """Return the server of ``articles``, which stand in any order. ``careless``: it ignores the end of the window."""
    by_batch = sorted(articles, key=_seen, reverse=True)

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/api/v2/doc/doc" or query["mode"] != "artlist" or query["sort"] != "datedesc":
            return as_json({}, 404)
        first, last = query["startdatetime"], "~" if careless else query["enddatetime"]
        found = [row for row in by_batch if not _seen(row)[:4].isdigit() or first <= _seen(row) <= last]
        return Response(body_of({"articles": found[: int(query["maxrecords"])]} if found else {}))

    return answer


def _seen(row: Any) -> str:
    return str(row.get("seendate")).translate({ord("T"): None, ord("Z"): None}) if isinstance(row, dict) else ""
