"""alpaca_news passes the standard tests, with a server that pages by token and honours the window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pit_fetch_providers.alpaca_news import PROVIDER

from pit_fetch.testing import Bounds, Pages, ProviderSuite, Recording
from tests.providers.alpaca_news.server import article

_NOON = datetime(2024, 2, 15, 17, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
# Oldest update first, as the API sorts them.
_ARTICLES = [
    article(1, _NOON, _NOON + timedelta(seconds=1)),
    article(3, _NOON + 2 * _MINUTE, symbols=["MSFT"]),
    article(4, _NOON + 2 * _MINUTE, headline="Same minute"),
    article(2, _NOON + _MINUTE, _NOON + 5 * _MINUTE),
    article(5, _NOON + 9 * _MINUTE, _NOON + timedelta(hours=29), headline="Edited the next day"),
]


class TestServer(ProviderSuite):
    provider = PROVIDER
    options = {"date_from": "2024-02-14"}
    recording = Recording(
        {"news": _ARTICLES, "next_page_token": None},
        rows="news",
        pages=Pages(size="limit", cursor="page_token", next="next_page_token"),
        window=Bounds("updated_at", since="start", to="end"),
    )
