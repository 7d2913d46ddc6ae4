"""sec_full_text passes the standard tests, with the acceptance time of every filing."""

from __future__ import annotations

from pit_fetch_providers.sec_full_text import PROVIDER

from pit_fetch.testing import Document, ProviderSuite, Recording
from tests.providers.sec_full_text import server as sec

FILINGS = [
    sec.Filing(sec.number(3), "8-K", "2024-02-15 16:31:02", written="2024-02-15 16:31:29"),
    sec.Filing(sec.number(2), "10-Q", "2024-02-14 17:45:00", filed="2024-02-15", written="2024-02-15 06:07:57"),
]


class TestExact(ProviderSuite):
    provider = PROVIDER
    zone = "America/New_York"
    recording = Recording(
        {
            "/LATEST/search-index": Document(
                [hit for filing in FILINGS for hit in sec.hits(filing)], lambda hits: sec.text_of(sec.reply(hits))
            ),
            **sec.documents(sec.app(FILINGS), FILINGS),
        }
    )
    options = {"query": "concern", "forms": "8-K,10-Q,10-K", "exact": True, "date_from": "2024-02-01"}
    recorded_at = "2024-02-20T00:00:00Z"
    credentials = {"user_agent": sec.USER_AGENT}
