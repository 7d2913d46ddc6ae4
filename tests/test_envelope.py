"""The envelope: its form, its budget, and what is left out of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch import gaps as gap_table
from pit_fetch.credentials import redactor
from pit_fetch.envelope import Form, judge, render
from pit_fetch.gaps import gap
from pit_fetch.pit import parse_cursor, position
from pit_fetch.provider import Record
from pit_fetch.request import MIN_MAX_CHARS

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
GAPS = [gap("late"), gap("undated")]


def record(number: int, **payload: Any) -> Record:
    return Record(f"id-{number:03}", PIT - timedelta(minutes=number), "provider_metadata", payload)


def form(**changes: Any) -> Form:
    return Form(**{"query": "--source x", "clean": str, "clean_data": str, "pit": PIT, **changes})


def test_the_form() -> None:
    revised = Record("7", PIT - timedelta(hours=1), "edgar_accepted", {"title": "é", "n": [1, None]}, PIT)
    text, count = render([revised], GAPS[:1], form())
    assert count == 1
    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "data": [
            {
                "available_at": "2024-02-15T15:00:00-05:00",
                "available_at_source": "edgar_accepted",
                "revised_at": "2024-02-15T16:00:00-05:00",
                "id": "7",
                "title": "é",
                "n": [1, None],
            }
        ],
        "gaps": [{"type": "pit_excluded", "reason": GAPS[0].reason, "query": "--source x"}],
    }


def test_a_payload_cannot_replace_a_stamp() -> None:
    text, _ = render([record(1, available_at="2001-01-01T00:00:00Z", revised_at=None, id="other")], [], form())
    item = json.loads(text)["data"][0]
    assert (item["available_at"], item["id"]) == ("2024-02-15T15:59:00-05:00", "id-001")


def test_forbidden_keys_are_left_out_at_any_depth_in_pit_mode_only() -> None:
    payload = {"daily_return": 1, "a": [{"b": {"Hourly_Stock": 2, "c": 3}}]}
    text, _ = render([record(1, **payload)], GAPS, form())
    assert json.loads(text)["data"][0]["a"] == [{"b": {"c": 3}}]
    assert "daily_return" not in text
    assert judge(text, form()) is None
    assert "daily_return" in render([record(1, **payload)], [], form(pit=None))[0]


def test_fields_keep_the_stamps() -> None:
    text, _ = render([record(1, title="t", body="b")], [], form(fields=("title",)))
    assert set(json.loads(text)["data"][0]) == {"available_at", "available_at_source", "id", "title"}


def test_secrets_are_redacted_in_data_and_in_gaps() -> None:
    secrets = ("k-123456789&x", "demo")
    shown = form(query="--q demo", clean=redactor(secrets), clean_data=redactor(secrets, 12))
    text, _ = render([record(1, url="u?key=k-123456789%26x", k="k-123456789&x", t="a demo")], GAPS, shown)
    item = json.loads(text)["data"][0]
    assert (item["url"], item["k"], item["t"]) == ("u?key=[redacted]", "[redacted]", "a demo")
    assert json.loads(text)["gaps"][0]["query"] == "--q [redacted]"


@given(st.integers(0, 30), st.integers(1, 900), st.integers(MIN_MAX_CHARS, 12_000), st.booleans())
def test_a_budget_keeps_whole_items_from_the_front_and_says_how_to_continue(
    count: int, size: int, budget: int, pretty: bool
) -> None:
    records = [record(n, body="x" * size) for n in range(count)]
    text, kept = render(records, [*GAPS, gap("limit", limit=50, cursor="c")], form(max_chars=budget, pretty=pretty))
    envelope = json.loads(text)
    assert len(text) <= budget
    assert [item["body"] for item in envelope["data"]] == ["x" * size] * kept
    if kept < count:
        assert len(render(records[: kept + 1], GAPS, form(pretty=pretty))[0]) > budget - 400, "room was left"
        reason = next(one["reason"] for one in envelope["gaps"] if one["type"] == "truncated")
        parsed = parse_cursor(reason.split("--after ")[1])
        assert parsed is not None
        assert parsed[0] == position(records[kept - 1])


def test_an_item_that_is_too_large_alone_loses_its_longest_texts() -> None:
    records = [record(1, title="t", teaser="y" * 5_000, body="x" * 9_000), record(2, title="u")]
    text, kept = render(records, GAPS, form(max_chars=MIN_MAX_CHARS))
    envelope = json.loads(text)
    assert (kept, len(text) <= MIN_MAX_CHARS) == (1, True)
    assert envelope["data"][0] | {"available_at": 0} == {
        "available_at": 0, "available_at_source": "provider_metadata", "id": "id-001",
        "title": "t", "teaser": None, "body": None,
    }  # fmt: skip
    assert "body, teaser" in envelope["gaps"][-1]["reason"]
    assert "--after id-001@" in envelope["gaps"][-2]["reason"]


def test_a_long_request_does_not_fill_the_budget() -> None:
    text, _ = render([], GAPS, form(query="--tickers " + "A," * 5_000, max_chars=MIN_MAX_CHARS))
    assert len(text) <= MIN_MAX_CHARS


def test_the_gate_judges_the_final_text() -> None:
    late = Record("1", PIT + timedelta(microseconds=1), "provider_metadata", {})
    assert judge(render([late], [], form())[0], form()) == "PIT_VIOLATION_GT_CUTOFF"
    nested = record(1, note={"available_at": "2024-02-16T00:00:00Z"})
    assert judge(render([nested], [], form())[0], form()) == "PIT_VIOLATION_GT_CUTOFF"


def test_every_reason_is_of_a_known_type_and_short() -> None:
    known = {
        "no_data", "pit_excluded", "unverifiable", "config", "invalid_pit", "upstream_error", "input_error",
        "internal_error", "truncated",
    }  # fmt: skip
    for code, (kind, template) in gap_table.REASONS.items():
        assert kind in known, code
        assert len(template) <= 200, code


def test_a_gap_outside_the_table_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        gap("something_else")
    with pytest.raises(KeyError):
        gap("limit", limit=1)
