"""A call without the protocol: what an agent may write for an argument, and what every answer is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pit_fetch.mcp.answers import release_answer
from pit_fetch.provider import Caveat, Operation, Option
from tests.demo_source import PIT, PIT_TEXT, demo, record
from tests.unit.mcp.in_memory import call, server_of

OPTIONS = (
    Option("symbol", "the ticker"),
    Option("tags", "tags", kind="list"),
    Option("year", "the year", kind="integer"),
    Option("exact", "exactly", kind="flag", default=False),
)
SOURCE = demo([record("1", title="t", body="b"), record("2", minutes=-1)], options=OPTIONS)


def test_an_answer_is_the_envelope_as_text_and_as_values() -> None:
    answer = call(SOURCE)
    assert json.loads(answer.text) == answer.content
    assert [item["id"] for item in answer.content["data"]] == ["1"]
    assert PIT_TEXT in answer.content["gaps"][0]["query"]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"symbol": "IBM"}, "--symbol IBM"),
        ({"symbol": 5}, "--symbol 5"),
        ({"tags": ["a", "b,c"]}, "--tags 'a,\"b,c\"'"),
        ({"tags": "a,b"}, "--tags a,b"),
        ({"year": "2024"}, "--year 2024"),
        ({"exact": True}, "--exact"),
        ({"symbol": None, "exact": False}, ""),
        ({"fields": ["title"]}, "--fields title"),
    ],
)
def test_values_are_taken_as_an_agent_may_write_them(arguments: dict[str, Any], query: str) -> None:
    answer = call(SOURCE, **arguments)
    assert not answer.is_error
    assert query in answer.content["gaps"][0]["query"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"pit": "2030-01-01T00:00:00Z"}, "whoever started this server"),
        ({"archive": "/tmp/x"}, "archive is not an argument of demo"),
        ({"timeout": 3}, "timeout is not an argument"),
        ({"symbl": "IBM"}, "did you mean symbol?"),
        ({"x" * 900: 1}, "xxx..."),
        ({"year": 1.5}, "year is a whole number"),
        ({"symbol": {"a": 1}}, "symbol"),
        ({"tags": [["a"]]}, "tags"),
        ({"limit": 10**30}, "limit"),
        ({"fields": []}, "fields"),
        ({"after": "nonsense"}, "cursor"),
    ],
)
def test_a_bad_argument_is_refused_with_the_fix(arguments: dict[str, Any], reason: str) -> None:
    answer = call(SOURCE, **arguments)
    assert (answer.is_error, answer.content["data"]) == (True, [])
    [gap] = answer.content["gaps"]
    assert (gap["type"], reason in gap["reason"], "--" in gap["reason"]) == ("config", True, False)
    assert len(answer.text) < 1_000


def test_an_operation_that_is_left_out_is_asked_for_as_an_argument() -> None:
    operations = tuple(Operation(f"operation{number}") for number in range(9))  # fewer have a default
    answer = call(demo([], operations=operations))
    assert answer.content["gaps"][0]["reason"] == "demo needs op: `sources` says what each operation needs"


def test_a_server_with_an_instant_is_a_ceiling() -> None:
    """What a name means today is withheld, although no variable sets a ceiling."""
    named = Operation(
        caveats=lambda query: [Caveat("a name of today's", of_today=True)] if query.options["symbol"] else []
    )
    source = demo([record("1")], options=OPTIONS, operations=(named,))
    answer = call(source, symbol="META")
    assert (answer.content["data"], [gap["type"] for gap in answer.content["gaps"]]) == ([], ["config"])
    assert "a name of today's" in answer.text
    assert len(call(source).content["data"]) == 1


def test_a_source_that_fails_says_nothing_of_its_own() -> None:
    def fails(query: object, context: object) -> Any:
        raise ValueError("SECRET")

    answer = call(demo(fails))
    assert (answer.is_error, "SECRET" in answer.text) == (True, False)
    assert [gap["type"] for gap in answer.content["gaps"]] == ["internal_error"]


def test_the_operators_settings_are_defaults() -> None:
    import threading

    from pit_fetch.mcp.calls import answer

    several = demo([record(str(number), minutes=number + 1) for number in range(5)])
    server = server_of(several, limit=2, format="csv", timeout=0.001)
    assert len(answer(server, "demo", {}, threading.Event()).content["data"]) == 2
    assert len(answer(server, "demo", {"limit": 3}, threading.Event()).content["data"]) == 3


def test_the_last_door_is_the_gate() -> None:
    late = {"available_at": "2024-02-15T16:00:01-05:00", "available_at_source": "provider_metadata", "id": "SECRET"}
    answer = release_answer(json.dumps({"data": [late], "gaps": []}), PIT)
    assert (answer.is_error, "SECRET" in answer.text, answer.content["data"]) == (True, False, [])
