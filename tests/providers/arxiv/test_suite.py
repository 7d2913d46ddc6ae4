"""arxiv passes the standard tests: its papers and their versions are claims."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pit_fetch_providers.arxiv import PROVIDER, announced

from pit_fetch.testing import ProviderSuite
from tests.providers.arxiv.server import feed, version

_NOON, _DAY = datetime(2024, 2, 12, 17, tzinfo=UTC), timedelta(days=1)


class TestNamed(ProviderSuite):
    provider = PROVIDER
    options = {"ids": ["2402.00001", "2402.00002", "2402.00003"]}
    reply = feed(
        [
            version(1, _NOON + 9 * _DAY, 2, _NOON),
            version(1, _NOON),
            version(2, _NOON + _DAY),
            version(3, _NOON + 3 * _DAY),
        ]
    )


# By the table of arXiv's schedule, in New York: submitted -> announced.
@pytest.mark.parametrize(
    ("submitted", "slot"),
    {
        "2024-02-12T13:59:59-05:00": "2024-02-12T20:00:00-05:00",
        "2024-02-12T14:00:00-05:00": "2024-02-13T20:00:00-05:00",
        "2024-02-15T13:59:59-05:00": "2024-02-15T20:00:00-05:00",
        "2024-02-15T14:00:00-05:00": "2024-02-18T20:00:00-05:00",
        "2024-02-16T13:59:59-05:00": "2024-02-18T20:00:00-05:00",
        "2024-02-16T14:00:00-05:00": "2024-02-19T20:00:00-05:00",
        "2024-02-18T12:00:00-05:00": "2024-02-19T20:00:00-05:00",
        "2024-03-08T15:00:00-05:00": "2024-03-11T20:00:00-04:00",
    }.items(),
)
def test_an_announcement_is_the_first_that_was_possible(submitted: str, slot: str) -> None:
    assert announced(datetime.fromisoformat(submitted)) == datetime.fromisoformat(slot)
