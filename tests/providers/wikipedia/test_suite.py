"""wikipedia passes the standard tests: its revisions, and the article among them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pit_fetch_providers.wikipedia import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.providers.wikipedia.server import Revision

_TIMES = ("2024-01-15T12:00:00Z", "2024-02-14T09:30:00Z", "2024-02-15T21:00:07Z", "2024-03-01T00:00:00Z")
_ROWS = [Revision(100 + n, at, f"Text {n}.", f"Edit {n}").row(with_text=True) for n, at in enumerate(_TIMES)]


def _reply(rows: list[dict[str, Any]]) -> dict[str, Any]:
    page = {"pageid": 65643135, "ns": 0, "title": "Acme", "revisions": rows}
    return {"batchcomplete": True, "query": {"pages": [page]}}


@pytest.mark.thorough
class TestRevisions(ProviderSuite):
    provider = PROVIDER
    credentials = {"contact": "tests@example.com"}
    zone = "UTC"
    options = {"op": "revisions", "title": "Acme"}
    reply = json.dumps(_reply(_ROWS)).encode()

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        """Answer with the revisions in the window, of a page that never was elsewhere."""
        try:
            document = json.loads(reply)
            page = dict(next(iter(document["query"]["pages"]), {"title": "Acme", "missing": True}))
            document["query"]["pages"] = [page]
            rows = list(page.get("revisions", ()))
        except (ValueError, RecursionError, KeyError, TypeError):
            return Response(reply)
        query, is_newer = request.query, request.query["rvdir"] == "newer"
        dated = [row for row in rows if isinstance(row, dict) and isinstance(row.get("timestamp"), str)]
        others = [row for row in rows if row not in dated] if is_newer else []
        # A revision's number has one time: what the kit adds as a later version of one is none.
        first = {row.get("revid"): row for row in sorted(dated, key=lambda row: row["timestamp"], reverse=True)}
        dated = [row for row in dated if row is first[row.get("revid")]]
        dated.sort(key=lambda row: (row["timestamp"], str(row.get("revid"))), reverse=not is_newer)
        kept = [row for row in dated if _is_in(row, query["rvstart"], is_newer)]
        start, limit = int(query.get("rvcontinue", "0")), int(query["rvlimit"])
        if "missing" in page:
            return Response(json.dumps(document).encode())
        page["revisions"] = [*kept, *others][start : start + limit]
        document["continue"] = {"rvcontinue": str(start + limit)} if len(kept) > start + limit else None
        return Response(json.dumps(document).encode())


def _is_in(row: dict[str, Any], start: str, is_newer: bool) -> bool:
    at: str = row["timestamp"]
    return at >= start if is_newer else at <= start


class TestArticle(TestRevisions):
    """One revision: of several, an article is the one that stood."""

    options = {"op": "article", "title": "Acme"}
    reply = json.dumps(_reply(_ROWS[1:2])).encode()
