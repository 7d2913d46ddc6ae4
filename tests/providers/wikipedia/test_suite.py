"""wikipedia passes the standard tests: its revisions, and the article among them."""

from __future__ import annotations

from typing import Any

import pytest
from pit_fetch_providers.wikipedia import PROVIDER

from pit_fetch.testing import Bounds, Pages, ProviderSuite, Recording
from tests.providers.wikipedia.server import Revision

_TIMES = ("2024-01-15T12:00:00Z", "2024-02-14T09:30:00Z", "2024-02-15T21:00:07Z", "2024-03-01T00:00:00Z")
_ROWS = [Revision(100 + n, at, f"Text {n}.", f"Edit {n}").row(with_text=True) for n, at in enumerate(_TIMES)]


def _reply(rows: list[dict[str, Any]]) -> dict[str, Any]:
    page = {"pageid": 65643135, "ns": 0, "title": "Acme", "revisions": rows}
    return {"batchcomplete": True, "query": {"pages": [page]}}


def _recording(rows: list[dict[str, Any]]) -> Recording:
    """Return what is asked for down from an instant, and of a page that never was elsewhere, what came after it."""
    return Recording(
        {"/w/api.php?rvdir=older": _reply(rows[::-1]), "/w/api.php?rvdir=newer": _reply([])},
        id="revid",
        pages=Pages(size="rvlimit", start="rvcontinue"),
        window=Bounds("timestamp", to="rvstart"),
    )


@pytest.mark.thorough
class TestRevisions(ProviderSuite):
    provider = PROVIDER
    credentials = {"contact": "tests@example.com"}
    zone = "UTC"
    options = {"op": "revisions", "title": "Acme"}
    recording = _recording(_ROWS)


class TestArticle(TestRevisions):
    """One revision: of several, an article is the one that stood."""

    options = {"op": "article", "title": "Acme"}
    recording = _recording(_ROWS[1:2])
