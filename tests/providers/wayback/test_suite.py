"""wayback passes the standard tests: the index, and pages with the index that leads to them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pit_fetch_providers.wayback import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.providers.wayback import server as wayback
from tests.providers.wayback.server import Capture

_STAMPS = ("20240115120000", "20240214093000", "20240215210007", "20240301000000")
_CONTACT = {"contact": "tests@example.com"}


class _Suite(ProviderSuite):
    """Tests of a list of captures, as JSON, since the kit does not edit lines of the index."""

    provider = PROVIDER
    credentials = _CONTACT
    zone = "UTC"

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        try:
            rows = json.loads(reply)["captures"]
        except (ValueError, RecursionError, KeyError, TypeError):
            return Response(reply)
        captures = [_capture(row) if isinstance(row, dict) else str(row) for row in rows]
        return wayback.app([capture for capture in captures if capture is not None])(request)


def _capture(row: dict[str, Any]) -> Any:
    stamp, date = str(row.get("timestamp")), row.get("date")
    is_capture = len(stamp) == 14 and stamp.isdigit() and isinstance(row.get("body"), str)
    try:
        made = Capture(stamp, str(row.get("url")), str(row.get("body")).encode("utf-8", "replace"))
        _ = made.at
    except ValueError:
        is_capture = False
    if not is_capture:
        return f"com,example)/news {stamp} {row.get('url')} text/html 200 X 1"
    return made._replace(status=row.get("status", 200), date=date if isinstance(date, str) else None)


def _rows(*statuses: int) -> bytes:
    rows = [
        {
            "timestamp": stamp,
            "url": "https://www.example.com/news",
            "status": status,
            "date": wayback.http_date(datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)),
            "body": f"<html><title>News {number}</title><p>Text {number}.",
        }
        for number, (stamp, status) in enumerate(zip(_STAMPS, statuses, strict=True))
    ]
    return json.dumps({"captures": rows}).encode()


@pytest.mark.thorough
class TestCaptures(_Suite):
    options = {"op": "captures", "url": "www.example.com/news"}
    reply = _rows(200, 301, 404, 200)


class TestPage(_Suite):
    """All but the oldest capture show something else, so that the answer has several items."""

    options = {"op": "page", "url": "www.example.com/news"}
    reply = _rows(200, 410, 404, 301)
