"""perplexity passes the standard tests: its search, and answers with what they cite."""

from __future__ import annotations

import json

import pytest
from pit_fetch_providers.perplexity import PROVIDER

from pit_fetch.testing import ProviderSuite
from tests.providers.perplexity import server as perplexity
from tests.providers.perplexity.server import page

_PAGES = [
    page("fresh", "2024-02-13", "2024-02-14"),
    page("old", "2001-10-17", "2024-02-12"),
    page("still", "2024-02-10"),
    page("ahead", "2024-02-11", "2024-02-09"),
]


class TestSearch(ProviderSuite):
    provider = PROVIDER
    options = {"query": "oil"}
    reply = json.dumps(perplexity.search_reply(_PAGES)).encode()


@pytest.mark.thorough
class TestSeveralQueries(TestSearch):
    options = {"query": ["oil", "gas, and more", "coal", "wind"]}
    reply = json.dumps(perplexity.search_reply([[page] for page in _PAGES])).encode()


@pytest.mark.thorough
class TestAnswer(ProviderSuite):
    provider = PROVIDER
    options = {"op": "ask", "query": "oil"}
    reply = json.dumps(perplexity.agent_reply(_PAGES, [page["url"] for page in _PAGES])).encode()


class TestReason(TestAnswer):
    options = {"op": "reason", "query": "oil"}


class TestResearch(TestAnswer):
    options = {"op": "research", "query": "oil"}
