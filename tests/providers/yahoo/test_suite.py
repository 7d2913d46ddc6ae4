"""yahoo passes the standard tests, operation by operation; prices and the consensus are snapshots."""

from __future__ import annotations

import json
from typing import ClassVar
from xml.etree import ElementTree as Xml

import pytest
from pit_fetch_providers.yahoo import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.providers.yahoo import server as yahoo
from tests.providers.yahoo.server import Company

_COMPANY = Company(
    articles=(
        ("a1", "2024-02-14T14:00:00Z", "2024-02-14T14:00:00Z", "First"),
        ("b2", "2024-02-15T09:30:00Z", "2024-02-15T18:00:07Z", "Second, shown again"),
        ("c3", "2024-02-15T20:59:59Z", "2024-02-15T20:59:59Z", "Third"),
        ("d4", "2024-02-16T12:00:00Z", "2024-02-17T12:00:00Z", "Fourth"),
    ),
    calendar=(
        ("May 1, 2025 at 4 PM EDT", "1.62", "-", "-"),
        ("February 1, 2024 at 4 PM EST", "2.1", "2.18", "3.9"),
        ("November 2, 2023 at 12 PM EDT", "1.39", "1.46", "4.87"),
        ("August 2, 2023 at 8 PM EDT", "1.19", "1.26", "5.49"),
        ("May 3, 2023 at 8 PM EDT", "1.43", "1.52", "6.1"),
    ),
    grades=(
        (1707998400, "A Bank", "Buy", "Hold", "up"),
        (1707912345, "Another Bank", "Neutral", "Neutral", "main"),
        (1707480180, "A Third Bank", "Buy", "", "init"),
        (1706745661, "A Bank", "Hold", "Buy", "down"),
    ),
)


class _Keyed(ProviderSuite):
    """A suite whose recorded reply answers requests with a cookie and a crumb; these have replies of their own."""

    provider = PROVIDER
    max_requests: ClassVar[int] = 200

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        if request.path in ("/", "/v1/test/getcrumb"):
            return yahoo.app({})(request)
        return Response(reply)


class TestNews(_Keyed):
    options = {"op": "news", "symbol": "ACME"}
    reply = json.dumps(yahoo.news(_COMPANY)).encode()


@pytest.mark.thorough
class TestUpgrades(_Keyed):
    options = {"op": "upgrades", "symbol": "ACME"}
    reply = json.dumps(yahoo.summary(_COMPANY, "upgradeDowngradeHistory")).encode()


@pytest.mark.thorough
class TestEarnings(_Keyed):
    options = {"op": "earnings", "symbol": "ACME"}
    reply = yahoo.page("ACME", _COMPANY.calendar)

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        """Answer with as many of the rows of the page as are asked for."""
        whole = super().serve(reply, request)
        if request.path != "/calendar/earnings":
            return whole
        try:
            document = Xml.fromstring(reply)
        except Xml.ParseError:
            return whole
        first, size = int(request.query["offset"]), int(request.query["size"])
        for body in document.iter("tbody"):
            for place, row in enumerate(list(body)):
                if not first <= place < first + size:
                    body.remove(row)
        return Response(Xml.tostring(document))
