"""Algolia's ``search_by_date``, with its window and its 1,000 hits, and Firebase's items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES: dict[str, str] = {}


def hit(number: int, created: datetime, written: datetime | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return a hit in the shape of the wire, by default not written again."""
    at, updated = (moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for moment in (created, written or created))
    row = {
        "objectID": str(number),
        "created_at": at,
        "created_at_i": int(created.timestamp()),
        "updated_at": updated,
        "author": "pg",
        "title": f"Title {number}",
        "url": f"https://example.com/{number}",
        "points": 57 + number,
        "num_comments": 3,
        "story_id": number,
        "_tags": ["story", "author_pg", f"story_{number}"],
        "_highlightResult": {"title": {"value": "<em>Title</em>", "matchLevel": "full"}},
    }
    return {**row, **changes}


def item(number: int, created: datetime, /, **changes: Any) -> dict[str, Any]:
    """Return an item of Firebase's."""
    row = {"by": "pg", "descendants": 71, "id": number, "kids": [9_000_000 + number], "score": 104}
    return {**row, "time": int(created.timestamp()), "title": f"Title {number}", "type": "story", **changes}


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of hits, or of items. ``careless``: the search ignores the window."""
    by_time = sorted(rows, key=_created, reverse=True)

    def answer(request: HttpRequest) -> Response:
        if number := re.fullmatch(r"/v0/item/([0-9]+)\.json", request.path):
            found = [row for row in rows if isinstance(row, dict) and str(row.get("id")) == number[1]]
            return Response(body_of(found[0] if found else None))
        if request.path != "/api/v1/search_by_date":
            return as_json({"message": "Not Found", "status": 404}, 404)
        query = request.query
        last = int(re.findall(r"<=(\d+)", query["numericFilters"])[0])
        first = int((re.findall(r">=(\d+)", query["numericFilters"]) or [0])[0])
        size = min(1_000, int(query["hitsPerPage"]))
        found = [row for row in by_time if careless or not _created(row) or first <= _created(row) <= last]
        return Response(body_of({"hits": found[:size], "nbHits": len(found), "exhaustiveNbHits": False, "page": 0}))

    return answer


def _created(row: Any) -> int:
    at = row.get("created_at_i") if isinstance(row, dict) else 0
    return at if isinstance(at, int) else 0
