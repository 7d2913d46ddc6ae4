"""finnhub passes the standard tests: its news, which are claims, and its calendar, as received."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pit_fetch_providers.finnhub import PROVIDER

from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.finnhub.server import article, report

_NOON, _HOUR = datetime(2024, 2, 15, 17, 0, 7, tzinfo=UTC), timedelta(hours=1)


class TestNews(ProviderSuite):
    provider = PROVIDER
    options = {"op": "news", "symbol": "AAPL", "date_from": "2024-02-14"}
    recording = Recording(
        [article(number, _NOON + number * _HOUR) for number in (9, 4, 2, 0)],
    )


class TestEarnings(ProviderSuite):
    provider = PROVIDER
    options = {"op": "earnings", "symbol": "AAPL"}
    recording = Recording(
        {"earningsCalendar": [report("2024-05-02", 2), report("2024-02-01", 1, 2.18), report("2023-11-02", 4, 1.46)]},
        fields={"date": "planned"},
    )
