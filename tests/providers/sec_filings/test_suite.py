"""sec_filings passes the standard tests, on a list of three filings."""

from __future__ import annotations

import json
from typing import Any

from pit_fetch_providers.sec_filings import PROVIDER

from pit_fetch import testing
from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.sec_filings import server
from tests.providers.sec_filings.server import Document, Filed
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing

YEAR = Filing(sec.number(1), "10-K", "2023-11-02 18:08:27", filed="2023-11-03")
RESULTS = Filing(sec.number(2), "8-K", "2024-02-01 16:30:01", items=("2.02", "9.01"))
AMENDED = Filing(sec.number(3), "10-K/A", "2024-02-14 12:00:05")
FILED = tuple(
    Filed(filing, (Document(filing.form, "main.htm", "<html><body><p>A going concern.</p></body></html>"),))
    for filing in (YEAR, RESULTS, AMENDED)
)


LIST = f"/submissions/CIK{sec.APPLE:010d}.json"


def listed(filed: tuple[Filed, ...]) -> Recording:
    """Return the list of ``filed``, and what is kept of each."""
    document = {"cik": "320193", "filings": {"recent": server.columns(filed, true_utc=False), "files": []}}
    return Recording({LIST: document, **server.documents(filed)})


def by_rows(filed: tuple[Filed, ...]) -> Recording:
    """Return the same, of rows: one that is left out of columns leaves a part of itself."""

    def encode(rows: list[dict[str, Any]]) -> bytes:
        return json.dumps({"filings": {"recent": server.raw_rows(rows), "files": []}}).encode()

    return Recording({LIST: testing.Document(server.rows(filed), encode), **server.documents(filed)})


class TestFilings(ProviderSuite):
    provider = PROVIDER
    zone = "America/New_York"
    recording = listed(FILED)
    options = {"cik": "320193"}
    recorded_at = "2024-02-20T00:00:00Z"
    credentials = {"user_agent": sec.USER_AGENT}


class TestText(TestFilings):
    recording = by_rows(FILED[1:2])
    options = {"op": "text", "form": "8-K", "cik": "320193"}


FORMS = tuple(
    Filed(Filing(sec.number(n), "4", accepted), (server.ownership("4", [{"date": "2024-01-30"}]),))
    for n, accepted in enumerate(("2024-02-01 16:30:01", "2024-02-14 12:00:05"), 11)
)


class TestInsiders(TestFilings):
    recording = listed(FORMS)._replace(fields={"transaction_date": "planned"})
    options = {"op": "insiders", "cik": "320193"}


REPORTS = (
    Filed(
        Filing(sec.number(21), "13F-HR", "2024-02-14 12:00:05"),
        server.report("13F-HR", "2023-12-31", [("ACME", 5_000, 100)]),
        "2023-12-31",
    ),
)


class TestHoldings(TestText):
    recording = by_rows(REPORTS)
    options = {"op": "holdings", "cik": "320193"}


class TestHoldingsOfAQuarter(TestHoldings):
    options = {"op": "holdings", "period": "2023-12-31", "cik": "320193"}
