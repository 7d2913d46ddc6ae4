"""wayback passes the standard tests with its index. Pages, which lead to the nearest one, are asked in the laws."""

from __future__ import annotations

from typing import Any

from pit_fetch_providers.wayback import PROVIDER

from pit_fetch.testing import Bounds, Document, Pages, ProviderSuite, Recording
from tests.providers.wayback import server as wayback
from tests.providers.wayback.server import Capture

_STAMPS = ("20240115120000", "20240214093000", "20240215210007", "20240301000000")
_COLUMNS = ("timestamp", "original", "mimetype", "statuscode", "digest", "length")
_ROWS = [
    dict(zip(wayback.COLUMNS, Capture(stamp, status=status).row.split(" "), strict=True))
    for stamp, status in zip(_STAMPS, (200, 301, 404, 200), strict=True)
]


def _index(rows: list[dict[str, Any]]) -> bytes:
    return "".join(" ".join(str(row.get(name) or "-") for name in _COLUMNS) + "\n" for row in rows).encode()


class TestCaptures(ProviderSuite):
    provider = PROVIDER
    credentials = {"contact": "tests@example.com"}
    zone = "UTC"
    options = {"op": "captures", "url": "www.example.com/news"}
    recording = Recording(
        Document(_ROWS, _index),
        id="timestamp",
        pages=Pages(size="limit", start="resumeKey"),
        window=Bounds("timestamp", since="from", to="to"),
    )
