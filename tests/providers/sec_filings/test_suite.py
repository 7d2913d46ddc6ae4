"""sec_filings passes the standard tests, on a list of three filings."""

from __future__ import annotations

import json

from pit_fetch_providers.sec_filings import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
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


class TestFilings(ProviderSuite):
    provider = PROVIDER
    zone = "America/New_York"
    reply = json.dumps(
        {"cik": "320193", "filings": {"recent": server.columns(FILED, true_utc=False), "files": []}}
    ).encode()
    options = {"cik": "320193"}
    recorded_at = "2024-02-20T00:00:00Z"
    credentials = {"user_agent": sec.USER_AGENT}

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        return server.app(FILED, body=reply)(request)


class TestText(TestFilings):
    # The row of the form that is asked for, by itself: left out of columns, it leaves a part of itself.
    reply = json.dumps(server.rows(FILED[1:2])).encode()
    options = {"op": "text", "form": "8-K", "cik": "320193"}

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        rows = json.loads(reply)
        columns = server.raw_rows(row for row in rows if isinstance(row, dict))
        return server.app(FILED, body=json.dumps({"filings": {"recent": columns, "files": []}}).encode())(request)


FORMS = tuple(
    Filed(Filing(sec.number(n), "4", accepted), (server.ownership("4", [{"date": "2024-01-30"}]),))
    for n, accepted in enumerate(("2024-02-01 16:30:01", "2024-02-14 12:00:05"), 11)
)


class TestInsiders(TestFilings):
    reply = json.dumps({"filings": {"recent": server.columns(FORMS, true_utc=False), "files": []}}).encode()
    options = {"op": "insiders", "cik": "320193"}
    not_revisions = ("transaction_date",)

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        return server.app(FORMS, body=reply)(request)


REPORTS = (
    Filed(
        Filing(sec.number(21), "13F-HR", "2024-02-14 12:00:05"),
        server.report("13F-HR", "2023-12-31", [("ACME", 5_000, 100)]),
        "2023-12-31",
    ),
)


class TestHoldings(TestText):
    reply = json.dumps(server.rows(REPORTS)).encode()
    options = {"op": "holdings", "cik": "320193"}

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        columns = server.raw_rows(row for row in json.loads(reply) if isinstance(row, dict))
        return server.app(REPORTS, body=json.dumps({"filings": {"recent": columns, "files": []}}).encode())(request)


class TestHoldingsOfAQuarter(TestHoldings):
    options = {"op": "holdings", "period": "2023-12-31", "cik": "320193"}
