"""federal_register passes the standard tests: its documents by issue, and the desk of public inspection."""

from __future__ import annotations

from datetime import datetime, timedelta

from pit_fetch_providers.federal_register import PROVIDER

from pit_fetch.testing import Bounds, Pages, ProviderSuite, Recording
from tests.providers.federal_register.server import ZONE, filed, printed

_MORNING, _HOUR = datetime(2024, 2, 15, 8, 45, tzinfo=ZONE), timedelta(hours=1)


class TestDocuments(ProviderSuite):
    provider = PROVIDER
    options = {"op": "documents"}
    zone = "America/New_York"
    recording = Recording(
        {
            "/api/v1/documents.json": {
                "results": [printed(number, f"2024-02-{number}") for number in (16, 15, 14, 13)],
            }
        },
        rows="results",
        id="document_number",
        pages=Pages(size="per_page", number="page"),
        window=Bounds("publication_date", to="conditions[publication_date][lte]"),
    )


class TestPublicInspection(ProviderSuite):
    provider = PROVIDER
    options = {"op": "public_inspection", "date_from": "2024-02-13"}
    zone = "America/New_York"
    recording = Recording(
        {
            "results": [
                filed(4, _MORNING + 7.5 * _HOUR),
                filed(3, _MORNING, _MORNING + 30 * _HOUR),
                filed(2, _MORNING - 3 * _HOUR, filing_type="regular"),
                filed(1, _MORNING - 16.5 * _HOUR),
            ]
        },
        rows="results",
        id="document_number",
    )
