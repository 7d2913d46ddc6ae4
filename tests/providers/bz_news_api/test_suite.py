"""bz-news-api passes the standard tests, with a server that pages and honours the window."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from pit_fetch_providers.bz_news_api import PROVIDER

from pit_fetch.testing import Bounds, Pages, ProviderSuite, Recording
from tests.providers.bz_news_api import server as benzinga

_NOON = datetime.fromisoformat("2024-02-15T12:00:00-05:00")
_MINUTE = timedelta(minutes=1)
# Newest first, as the API sorts them.
_ARTICLES = [
    benzinga.article(5, _NOON + 9 * _MINUTE, _NOON + timedelta(days=3), title="Edited days later"),
    benzinga.article(3, _NOON + 2 * _MINUTE, title="Same minute"),
    benzinga.article(4, _NOON + 2 * _MINUTE, title="Same minute, too", tags=[{"name": "Movers"}]),
    benzinga.article(2, _NOON + _MINUTE, _NOON + 5 * _MINUTE, title="Edited four minutes later"),
    benzinga.article(1, _NOON, title="Oil rises"),
]


@pytest.mark.thorough
class TestOneReplyToEveryRequest(ProviderSuite):
    provider = PROVIDER
    reply = json.dumps(_ARTICLES).encode()
    options = {"date_from": "2024-02-01"}


class TestServer(TestOneReplyToEveryRequest):
    zone = "America/New_York"
    recording = Recording(
        _ARTICLES,
        pages=Pages(size="pageSize", number="page", first=0),
        window=Bounds("created", since="dateFrom", to="dateTo"),
    )
