"""gdelt passes the standard tests, with a server that ignores the window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pit_fetch_providers.gdelt import PROVIDER

from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.gdelt.server import article

_NOON, _BATCH = datetime(2024, 2, 15, 17, tzinfo=UTC), timedelta(minutes=15)
_ARTICLES = [article(number, _NOON + number * _BATCH) for number in (9, 4, 2, 0)]


class TestServer(ProviderSuite):
    provider = PROVIDER
    options = {"query": "oil", "date_from": "2024-02-01"}
    recording = Recording({"articles": _ARTICLES}, id="url")
