"""The kit says what it ran: an author's own server neither switches a test off nor hides a leak."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pit_fetch.gaps import Code
from pit_fetch.provider import gap
from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.kit import score, source
from tests.kit.bases import BASES
from tests.kit.source import PROVIDER, REPLY
from tests.kit.wrong import LEAKS, by_fetch, failure, good, limit_first, suite

TEST = f"test_{LEAKS}"


def strict(self: ProviderSuite, reply: bytes, request: HttpRequest) -> Response:
    """Answer as a server that takes well-formed rows alone, and knows one path."""
    document = json.loads(reply)
    assert request.path == "/items"
    rows = sorted(document["items"], key=lambda row: row["id"], reverse=True)
    return Response(json.dumps({**document, "items": rows}).encode())


@pytest.mark.parametrize(
    "reply", [REPLY, json.dumps(json.loads(REPLY), indent=2).encode()], ids=["compact", "indented"]
)
def test_a_server_of_the_author_s_own_switches_nothing_off(reply: bytes) -> None:
    """Whatever it cannot serve is tried without it, and a recording may be printed in any way."""
    honest, leaking = (suite(provider, reply, serve=strict) for provider in (PROVIDER, by_fetch(limit_first)))
    assert failure(honest, LEAKS) == ""
    assert honest.worlds_run[TEST] > 150
    assert honest.worlds_skipped.get(TEST, 0) == 0
    assert "never cut to query.limit" in failure(leaking, LEAKS)


def test_a_request_that_the_server_does_not_know_is_one_that_a_late_row_causes() -> None:
    def asks_for_what_is_late(query: Any, context: Any) -> Any:
        records = good(query, context)
        yield from records
        late = [record for record in records if record.available_at and record.available_at > query.now]
        if late and context.http.get(source.HOST, "/late").status != 200:
            yield gap(Code.RESULT_CAP)

    message = failure(suite(by_fetch(asks_for_what_is_late), serve=strict), LEAKS)
    assert "a gap truncated comes and goes" in message
    assert "correct the test's own server" not in message


def test_a_test_that_skips_more_than_a_tenth_of_its_worlds_fails_and_says_why() -> None:
    recorded = BASES["calls"].make()
    texts = {row["text"] for row in recorded.rows}

    def serve(self: ProviderSuite, reply: bytes, request: HttpRequest) -> Response:
        unknown = [row for row in json.loads(reply)["events"] if row["text"] not in texts]
        if unknown:
            raise ValueError("a text that is not in the recording")
        return recorded.serve(reply, request)

    narrow = type("TestNarrow", (type(score.suite(recorded)),), {"serve": serve})()
    message = failure(narrow, LEAKS)
    assert "worlds were skipped, so nothing is known of them: serve() fails: ValueError: a text that is not" in message
    assert "let serve() take whatever a reply can hold" in message
    assert narrow.worlds_skipped[TEST] > narrow.worlds_run[TEST] / 9


def test_the_certificate_has_the_worlds_of_each_test() -> None:
    honest = suite(PROVIDER)
    assert "worlds_run: none" in honest.certificate()
    getattr(honest, TEST)()
    assert f"{TEST} {honest.worlds_run[TEST]}" in " ".join(honest.certificate().split())


def test_a_gap_by_the_wall_clock_is_found() -> None:
    def gap_where_the_pit_is_long_ago(query: Any, context: Any) -> Any:
        yield from good(query, context)
        if query.started - query.now > timedelta(days=90):
            yield gap(Code.RESULT_CAP)

    message = failure(suite(by_fetch(gap_where_the_pit_is_long_ago)), "the_answer_is_the_same_at_any_hour_and_anywhere")
    assert "asked 100 days, 7:13:00 later, has another answer" in message
