"""The kit says what it ran, and fails where it could not run it."""

from __future__ import annotations

import ast
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pit_fetch.testing
from pit_fetch.gaps import Code
from pit_fetch.provider import gap
from pit_fetch.testing import Document, Recording
from pit_fetch.testing.report import advice
from tests.kit import source
from tests.kit.source import PROVIDER, REPLY
from tests.kit.wrong import LEAKS, by_fetch, failure, good, limit_first, suite

TEST = f"test_{LEAKS}"


@pytest.mark.parametrize("indent", [None, 2], ids=["compact", "indented"])
def test_a_recording_may_be_printed_in_any_way(indent: int | None) -> None:
    reply = json.dumps(json.loads(REPLY), indent=indent).encode()
    honest, leaking = (suite(provider, reply) for provider in (PROVIDER, by_fetch(limit_first)))
    assert failure(honest, LEAKS) == ""
    assert honest.worlds_run[TEST] > 100
    assert honest.worlds_skipped.get(TEST, 0) == 0
    assert "never cut to query.limit" in failure(leaking, LEAKS)


def test_a_request_that_the_recording_does_not_know_is_one_that_a_late_row_causes() -> None:
    def asks_for_what_is_late(query: Any, context: Any) -> Any:
        records = good(query, context)
        yield from records
        late = [record for record in records if record.available_at and record.available_at > query.now]
        if late and context.http.get(source.HOST, "/late").status != 200:
            yield gap(Code.RESULT_CAP)

    known = Recording({"/items": REPLY})
    message = failure(suite(by_fetch(asks_for_what_is_late), recording=known), LEAKS)
    assert "a gap truncated comes and goes" in message


def test_a_test_that_skips_more_than_a_tenth_of_its_worlds_fails_and_says_why() -> None:
    def encode(rows: Any) -> bytes:
        if any(row.get("title") not in {item["title"] for item in source.ITEMS} for row in rows):
            raise ValueError("a title that is not in the recording")
        return source.reply_of(rows)

    narrow = suite(PROVIDER, recording=Recording(Document(source.ITEMS, encode)))
    message = failure(narrow, LEAKS)
    assert "worlds were skipped, so nothing is known of them: the documents of the recording cannot hold" in message
    assert "let Document.encode take any row" in message
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


def test_each_finding_has_its_advice_and_each_advice_its_finding() -> None:
    modules = Path(pit_fetch.testing.__file__).parent.glob("*.py")
    nodes = [node for module in modules for node in ast.walk(ast.parse(module.read_text()))]
    constants = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert advice().keys() <= constants
    called = [node.args[1] for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "failure"]
    parts = [part for kind in called for part in ast.walk(kind) if isinstance(part, ast.Constant)]
    named = {part.value for part in parts if isinstance(part.value, str)}
    assert len(named) > 50
    assert named <= advice().keys()
