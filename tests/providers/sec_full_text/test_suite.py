"""sec_full_text passes the standard tests, with the acceptance time of every filing."""

from __future__ import annotations

import json

from pit_fetch_providers.sec_full_text import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.providers.sec_full_text import server as sec

FILINGS = [
    sec.Filing(sec.number(3), "8-K", "2024-02-15 16:31:02", written="2024-02-15 16:31:29"),
    sec.Filing(sec.number(2), "10-Q", "2024-02-14 17:45:00", filed="2024-02-15", written="2024-02-15 06:07:57"),
]


class TestExact(ProviderSuite):
    provider = PROVIDER
    zone = "America/New_York"
    reply = sec.text_of(sec.reply([hit for filing in FILINGS for hit in sec.hits(filing)]))
    options = {"query": "concern", "forms": "8-K,10-Q,10-K", "exact": True, "date_from": "2024-02-01"}
    recorded_at = "2024-02-20T00:00:00Z"
    credentials = {"user_agent": sec.USER_AGENT}

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        if request.path == "/LATEST/search-index":
            document = json.loads(reply)
            hits = document["hits"]["hits"]
            return Response(sec.text_of(sec.reply(hits)) if isinstance(hits, list) else reply)
        return sec.app(FILINGS)(request)
