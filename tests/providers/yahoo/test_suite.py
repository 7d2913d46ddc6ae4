"""yahoo passes the standard tests, operation by operation; prices and the consensus are snapshots."""

from __future__ import annotations

from typing import ClassVar

import pytest
from pit_fetch_providers.yahoo import PROVIDER

from pit_fetch.testing import Document, Form, Pages, ProviderSuite, Recording
from tests.providers.recorded import recorded
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


_KEYS = recorded(yahoo.app({}), ("/", "/v1/test/getcrumb"))
_KEYS["/v1/test/getcrumb"] = Document(yahoo.CRUMB.encode())


class _Keyed(ProviderSuite):
    """A suite whose recorded reply answers requests with a cookie and a crumb; these have replies of their own."""

    provider = PROVIDER
    max_requests: ClassVar[int] = 200


class TestNews(_Keyed):
    options = {"op": "news", "symbol": "ACME"}
    recording = Recording({"": yahoo.news(_COMPANY), **_KEYS})


@pytest.mark.thorough
class TestUpgrades(_Keyed):
    options = {"op": "upgrades", "symbol": "ACME"}
    recording = Recording({"": yahoo.summary(_COMPANY, "upgradeDowngradeHistory"), **_KEYS})


@pytest.mark.thorough
class TestEarnings(_Keyed):
    options = {"op": "earnings", "symbol": "ACME"}
    recording = Recording(
        {"": yahoo.page("ACME", _COMPANY.calendar), **_KEYS},
        rows="html.body.table.tbody.tr",
        pages=Pages(size="size", start="offset"),
        stamps={"td.(text)": Form("%B %d, %Y at %I %p %Z")},
    )
