"""alphavantage passes the standard tests: one function of each rule that dates its rows."""

from __future__ import annotations

import pytest
from pit_fetch_providers.alphavantage import PROVIDER

from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.alphavantage import server as av


@pytest.mark.thorough
class TestEarnings(ProviderSuite):
    provider = PROVIDER
    options = {"op": "EARNINGS", "symbol": "IBM"}
    zone = "America/New_York"
    reply = av.body(
        av.earnings(
            [],
            [
                av.quarter("2023-12-31", "2024-01-24"),
                av.quarter("2023-09-30", "2023-10-25"),
                av.quarter("2023-06-30", "2023-07-19"),
            ],
        )
    )


class TestDailyBars(ProviderSuite):
    provider = PROVIDER
    options = {"op": "TIME_SERIES_DAILY", "symbol": "IBM"}
    zone = "US/Eastern"
    reply = av.body(
        av.series_document(
            "TIME_SERIES_DAILY", [av.bar("2024-02-15"), av.bar("2024-02-14"), av.bar("2024-02-13")], "US/Eastern"
        )
    )


@pytest.mark.thorough
class TestNews(ProviderSuite):
    provider = PROVIDER
    options = {"op": "NEWS_SENTIMENT", "tickers": "AAPL"}
    zone = "UTC"
    reply = av.body(
        {
            "items": "3",
            "sentiment_score_definition": "x",
            "feed": [av.article("20240215T150000"), av.article("20240214T150000"), av.article("20240213T150000")],
        }
    )


@pytest.mark.thorough
class TestStatement(ProviderSuite):
    """A snapshot whose claims come from a second reply, which is the same throughout."""

    provider = PROVIDER
    options = {"op": "BALANCE_SHEET", "symbol": "IBM"}
    zone = "America/New_York"
    recording = Recording(
        {
            "/query?function=BALANCE_SHEET": {
                "symbol": "IBM",
                "annualReports": [{"fiscalDateEnding": "2022-12-31", "totalAssets": "1"}],
                "quarterlyReports": [
                    {"fiscalDateEnding": "2023-06-30", "totalAssets": "3"},
                    {"fiscalDateEnding": "2023-03-31", "totalAssets": "2"},
                ],
            },
            "/query?function=EARNINGS": av.earnings(
                [],
                [
                    av.quarter("2022-12-31", "2023-01-25"),
                    av.quarter("2023-03-31", "2023-04-19"),
                    av.quarter("2023-06-30", "2023-07-19"),
                ],
            ),
        }
    )
