"""tiingo_news passes the standard tests, with a server that pages by offset and honours the window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pit_fetch_providers.tiingo_news import PROVIDER

from pit_fetch.testing import Bounds, Pages, ProviderSuite, Recording
from tests.providers.tiingo_news.server import link

_NOON, _MINUTE = datetime(2024, 2, 15, 17, tzinfo=UTC), timedelta(minutes=1)
# The last crawled first, as the API sorts them by that stamp.
_LINKS = [
    link(4, _NOON + 9 * _MINUTE, _NOON - timedelta(hours=4), tickers=["aapl", "aapl"]),
    link(3, _NOON + 2 * _MINUTE, description="A teaser."),
    link(2, _NOON + _MINUTE, tags=[]),
    link(1, _NOON, tickers=[]),
]


class TestServer(ProviderSuite):
    provider = PROVIDER
    recording = Recording(
        _LINKS,
        pages=Pages(size="limit", start="offset"),
        window=Bounds("crawlDate", since="startDate", to="endDate"),
    )
