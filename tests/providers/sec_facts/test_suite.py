"""sec_facts passes the standard tests, on facts of three filings."""

from __future__ import annotations

from pit_fetch_providers.sec_facts import PROVIDER

from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.recorded import recorded
from tests.providers.sec_facts import server
from tests.providers.sec_facts.server import Reported
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing

YEAR = Filing(sec.number(1), "10-K", "2023-11-02 18:08:27", filed="2023-11-03")
QUARTER = Filing(sec.number(2), "10-Q", "2024-02-01 16:30:01")
AMENDED = Filing(sec.number(3), "10-K/A", "2024-02-14 12:00:05")
FACTS = (
    Reported(YEAR, "NetIncomeLoss", "2023-09-30", 96_995, "2022-09-25"),
    Reported(QUARTER, "NetIncomeLoss", "2023-12-30", 33_916, "2023-10-01"),
    Reported(AMENDED, "NetIncomeLoss", "2023-09-30", 96_990, "2022-09-25"),
)


class TestFacts(ProviderSuite):
    provider = PROVIDER
    zone = "America/New_York"
    recording = Recording(
        {
            f"/api/xbrl/companyfacts/CIK{sec.APPLE:010d}.json": server.document(FACTS),
            **sec.documents(server.app(FACTS), (YEAR, QUARTER, AMENDED)),
            **recorded(server.app(FACTS), [f"/submissions/CIK{sec.APPLE:010d}.json"], sec.USER_AGENT),
        }
    )
    options = {"cik": "320193", "concept": ["NetIncomeLoss"], "vintage": "all"}
    recorded_at = "2024-02-20T00:00:00Z"
    credentials = {"user_agent": sec.USER_AGENT}


# An item that is computed from many rows is another one after each of them. What the suite holds of the item of one
# row, the laws hold of these.
class TestStatement(TestFacts):
    options = {"op": "statement", "cik": "320193"}
    test_versions_are_left_to_the_framework = None  # type: ignore[assignment]


class TestConcepts(TestFacts):
    options = {"op": "concepts", "cik": "320193"}
    test_versions_are_left_to_the_framework = None  # type: ignore[assignment]
    test_stamps_come_from_the_reply_alone = None  # type: ignore[assignment]
    test_what_is_not_public_changes_no_byte = None  # type: ignore[assignment]
