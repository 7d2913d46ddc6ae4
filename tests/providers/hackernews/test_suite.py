"""hackernews passes the standard tests: its search, and its items, which are claims."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pit_fetch_providers.hackernews import PROVIDER

from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.hackernews.server import hit, item

_NOON, _HOUR = datetime(2024, 2, 15, 17, 0, 7, tzinfo=UTC), timedelta(hours=1)
_HITS = [
    hit(9, _NOON + 9 * _HOUR, _NOON + timedelta(days=85)),
    hit(4, _NOON + 4 * _HOUR, _NOON + 11 * _HOUR, _tags=["comment"], comment_text="So it is.", parent_id=3),
    hit(3, _NOON + 3 * _HOUR, _NOON + 10 * _HOUR, story_text="It&#x27;s so."),
    hit(1, _NOON, _NOON + 7 * _HOUR),
]


class TestSearch(ProviderSuite):
    provider = PROVIDER
    options = {"op": "search", "query": "oil"}
    recording = Recording({"hits": _HITS}, id="objectID", fields={"story_id": "fixed", "parent_id": "fixed"})


class TestItem(ProviderSuite):
    provider = PROVIDER
    options = {"op": "item", "ids": ["8863", "8864", "8865"]}
    recording = Recording(
        {f"/v0/item/{number}.json": item(number, _NOON + number * _HOUR) for number in (8863, 8864, 8865)}
    )
