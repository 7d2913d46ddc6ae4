"""perplexity: when a page counts as public, what is asked for, and that no answer is served at a PIT."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.errors import ConfigError
from pit_fetch.testing.server import App, as_json
from pit_fetch.transport import HttpRequest
from tests.provider_harness import NOW, Fetched
from tests.provider_harness import ask as ask_source
from tests.providers.perplexity import server as perplexity
from tests.providers.perplexity.server import page

PIT = "2024-02-15T16:00:00-05:00"
PAGES = (
    page("new", "2024-02-13", "2024-02-14"),
    page("edited", "2024-02-01", "2024-02-20"),
    page("old", "2001-10-17", "2024-01-05"),
    page("late", "2024-02-15"),
    {"title": "x", "url": "https://www.example.com/undated", "snippet": "x"},
    page("no update", "2024-02-01", None),
)
URL = "https://www.example.com/"


def ask(app: App | None = None, *, pit: str | None = PIT, **options: Any) -> Fetched:
    values = {"query": "oil", **options}
    return ask_source("perplexity", app or perplexity.app(PAGES), pit=pit, **values)


def body(fetched: Fetched) -> dict[str, Any]:
    (request,) = fetched.requests
    sent: dict[str, Any] = json.loads(request.body or b"")
    return sent


# Pages.


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (("research", "query=oil"), 480),
        (("--op", "research", "--query", "oil", "--timeout", "5"), 5),
        (("reason", "query=oil"), 60),
        (("query=oil",), 60),
    ],
)
def test_research_has_the_time_that_it_takes(words: tuple[str, ...], seconds: float) -> None:
    provider = registry.load("perplexity")
    assert parse(words, provider, {}).timeout == seconds
    assert parse(words, provider, {}, {"timeout": 7}).timeout in (5, 7)


def test_an_item_shows_both_days_and_the_source_s_text() -> None:
    (item, *_) = ask().items
    expected = {"url": f"{URL}new", "title": "Title new", "snippet": "Text of new"}
    assert item[2:] == ("provider_metadata", {**expected, "date": "2024-02-13", "last_updated": "2024-02-14"})


@pytest.mark.parametrize("nested", [False, True])
def test_results_of_several_queries_are_read_flat_and_nested(nested: bool) -> None:
    fetched = ask(perplexity.app(PAGES, nested=nested), query=["oil", "gas, coal"])
    assert fetched.ids == [f"{URL}new", f"{URL}old"]
    assert body(fetched)["query"] == ["oil", "gas, coal"]


# What is asked for.


@pytest.mark.parametrize(
    ("pit", "until", "day"),
    [
        (PIT, None, "2/14/2024"),
        ("2024-02-15T12:00:00Z", None, "2/14/2024"),
        ("2024-02-15T11:59:59Z", None, "2/13/2024"),
        (PIT, "2024-01-10", "1/9/2024"),
        ("2030-01-01T00:00:00Z", None, "10/30/2026"),
    ],
)
def test_the_search_is_narrowed_to_days_that_can_count(pit: str, until: str | None, day: str) -> None:
    """A later page must not take the place of an earlier one among the results."""
    sent = body(ask(pit=pit, date_to=until or ()))
    assert (sent["search_before_date_filter"], sent["last_updated_before_filter"]) == (day, day)


def test_a_request_carries_what_was_asked_and_the_key_in_its_place() -> None:
    fetched = ask(pit=None, mode="sec", domains=["sec.gov", "-example.com"], after_date="2024-01-05", max_results=3)
    assert body(fetched) == {
        "query": "oil",
        "max_results": 3,
        "search_mode": "sec",
        "search_domain_filter": ["sec.gov", "-example.com"],
        "search_after_date_filter": "1/5/2024",
    }
    assert fetched.requests[0].signature.headers == {"Authorization": f"Bearer {perplexity.KEY}"}
    assert body(ask(pit=None, recency="week"))["search_recency_filter"] == "week"


@pytest.mark.parametrize(
    ("domains", "url", "is_kept"),
    [
        ("example.com", "https://www.example.com/a", True),
        ("www.example.com", "https://example.com/a", True),
        ("example.com", "https://news.example.com/a", True),
        ("example.com", "https://notexample.com/a", False),
        ("example.com", "https://example.com.evil.net/a", False),
        (".gov", "https://www.sec.gov/a", True),
        (".gov", "https://gov.example.com/a", False),
        ("Example.com/News", "https://example.com/news/1", True),
        ("example.com/news", "https://example.com/blog/1", False),
        ("-example.com", "https://example.com/a", False),
        ("-example.com", "https://other.org/a", True),
        ("example.com,-blog.example.com", "https://blog.example.com/a", False),
        ("example.com", "http://[broken", False),
    ],
)
def test_domains_are_applied_to_what_comes_back(domains: str, url: str, is_kept: bool) -> None:
    assert ask(perplexity.app([page("x", url=url)]), domains=domains).ids == ([url] if is_kept else [])


def test_after_date_is_applied_to_what_comes_back() -> None:
    careless = perplexity.app(PAGES, careless=True)
    assert ask(careless, after_date="2024-02-13").ids == [f"{URL}new"]
    assert len(ask(careless, pit=None, after_date="2024-02-13").ids) == 3  # one of them has no date


# Answers.


@pytest.mark.parametrize(("op", "preset"), [("ask", "fast"), ("reason", "medium"), ("research", "high")])
def test_an_answer_is_for_open_mode_and_the_pages_it_cites_for_both(op: str, preset: str) -> None:
    app = perplexity.app(PAGES, cited=[f"{URL}new", f"{URL}edited"], text="Oil rose in March.")
    fetched = ask(app, op=op)
    assert fetched.ids == [f"{URL}new"]
    assert fetched.requests[0].path == "/v1/agent"
    filters = {"search_before_date_filter": "2/14/2024", "last_updated_before_filter": "2/14/2024"}
    assert body(fetched) == {"preset": preset, "input": "oil", "tools": [{"type": "web_search", "filters": filters}]}
    opened = ask(app, op=op, pit=None)
    (answer, *cited) = opened.items
    assert answer[1:] == (
        NOW,
        "provider_metadata",
        {"record_type": "synthesis", "answer": "Oil rose in March.", "citations": [f"{URL}new", f"{URL}edited"]},
    )
    assert sorted(citation[0] for citation in cited) == [f"{URL}edited", f"{URL}new"]
    assert "tools" in body(opened)
    assert "filters" not in body(opened)["tools"][0]


@pytest.mark.parametrize("status", ["failed", "in_progress", "requires_action"])
def test_an_answer_that_is_not_complete_is_an_error(status: str) -> None:
    error = ask(lambda request: as_json(perplexity.agent_reply([], [], status=status)), op="ask").error
    assert error is not None
    assert error.reason.startswith("The source sent an unreadable reply: the answer is not complete. Try again later")


# What Perplexity says instead.


@pytest.mark.parametrize(
    ("status", "kind", "code", "tries"),
    [
        (401, "invalid_api_key", "credential_refused", 1),
        (403, "forbidden", "http_status", 1),
        (404, "", "moved", 1),
        (400, "bad_request", "http_status", 1),
        (429, "", "throttled", 4),
        (500, "", "http_status", 4),
    ],
)
def test_errors(status: int, kind: str, code: str, tries: int) -> None:
    def app(request: HttpRequest) -> Any:
        return perplexity.error({"message": f"SECRET {perplexity.KEY}", "type": kind}, status)

    searched, answered = ask(app), ask(app, op="ask")
    assert (searched.error_code, len(searched.requests)) == (code, tries)
    # An answer costs money: it is asked for once.
    assert (answered.error_code, len(answered.requests)) == (code, 1)


def test_a_retired_endpoint_is_a_config_gap() -> None:
    with pytest.raises(ConfigError, match="has retired this endpoint"):
        ask(lambda request: perplexity.error(perplexity.RETIRED, 403), op="ask")


# The call.


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"query": list("abcdef")}, "search takes up to 5 queries"),
        ({"op": "ask", "query": ["a", "b"]}, "ask takes one query"),
        ({"max_results": 21}, "at most 20"),
        ({"domains": [f"{n}.com" for n in range(21)]}, "up to 20 domains"),
        ({"domains": ["https://sec.gov"]}, "without https://"),
        ({"domains": ["sec.gov", "*.example.com"]}, "without https://"),
        ({"domains": ["-"]}, "without https://"),
        ({"recency": "week"}, "counts back from now"),
        ({"pit": None, "recency": "week", "after_date": "2024-01-01"}, "exclude each other"),
    ],
)
def test_a_call_that_makes_no_sense_asks_nothing(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        ask(**options)


def test_what_cannot_be_known_is_said_of_every_answer_at_a_pit() -> None:
    assert "choice of a search engine" in ask().caveats[0]
    assert "choice of a model" in ask(op="ask").caveats[0]
    assert ask(pit=None).caveats == []


def test_saved_replies() -> None:
    results = json.dumps(perplexity.search_reply(PAGES)).encode()
    assert ask(body=results, query=()).ids == [f"{URL}new", f"{URL}old"]
    answer = json.dumps(perplexity.agent_reply(PAGES, [f"{URL}old"])).encode()
    assert ask(body=answer, op="ask").ids == [f"{URL}old"]
    for other in (b"{}", b"[]", b'{"results": 5}', answer):
        assert "input_malformed" in [gap.code for gap in ask(body=other).selection.gaps]
