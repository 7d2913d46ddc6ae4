"""The gate's judgement: the cases T01 to T37 of its contract, and the stricter rules."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pit_fetch.support.bundled import gate
from tests.unit.hooks.calls import LATE, PIT, PUBLIC, bash, blocks, envelope, mcp


def at(stamp: str, **more: Any) -> dict[str, Any]:
    return {**PUBLIC, "available_at": stamp, **more}


WRAPPER = f"python3 scripts/pit_fetch.py --pit {PIT} --source alphavantage"
RECORD = json.dumps([{"data": [PUBLIC], "gaps": []}])

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("T01 no PIT", mcp("some response", {"query": "MATCH (n:News) RETURN n"}), ""),
    ("T03 parameters.pit", mcp(envelope(), {"query": "MATCH", "parameters": {"pit": PIT}}), ""),
    ("T04 flat pit", mcp(envelope()), ""),
    ("T05 Bash --pit", bash(envelope(), WRAPPER), ""),
    ("T06 a PIT that is no time", mcp(envelope(), {"pit": "not-a-date"}), "PIT_INVALID_PIT"),
    ("T07 a PIT that is a date", mcp(envelope(), {"pit": "2024-02-15"}), "PIT_INVALID_PIT"),
    ("T08 Bash without the wrapper", mcp({"stdout": "a.txt\nb.txt"}, {"command": "ls", "pit": PIT}, "Bash"), ""),
    ("T09 Bash with the wrapper", bash(envelope(PUBLIC), WRAPPER), ""),
    ("T10 empty output", mcp(""), "PIT_INVALID_JSON"),
    ("T11 no JSON", mcp("This is not JSON"), "PIT_INVALID_JSON"),
    ("T12 no object", mcp("[1, 2, 3]"), "PIT_INVALID_JSON"),
    ("T13 no data", mcp(json.dumps({"gaps": ["no news found"]})), "PIT_MISSING_ENVELOPE"),
    ("T14 data is no array", mcp(json.dumps({"data": "not an array"})), "PIT_MISSING_ENVELOPE"),
    ("T15 empty data", mcp(json.dumps({"data": []})), ""),
    ("T16 item is no object", mcp(envelope("string_item")), "PIT_INVALID_ITEM_TYPE"),
    ("T17 no available_at", mcp(envelope({"available_at_source": "neo4j_created"})), "PIT_MISSING_AVAILABLE_AT"),
    ("T18 date only", mcp(envelope(at("2024-02-15"))), "PIT_INVALID_AVAILABLE_AT_FORMAT"),
    ("T19 no offset", mcp(envelope(at("2024-02-15T16:00:00"))), "PIT_MISSING_TZ"),
    ("T20 unknown source", mcp(envelope({**PUBLIC, "available_at_source": "x"})), "PIT_INVALID_AVAILABLE_AT_SOURCE"),
    ("T21 after the PIT", mcp(envelope(LATE)), "PIT_VIOLATION_GT_CUTOFF"),
    ("T22 all clean", mcp(envelope(PUBLIC, at("2024-02-14T08:00:00-05:00", title="..."))), ""),
    ("T23 forbidden key", mcp(envelope({**PUBLIC, "daily_stock": 5.2})), "PIT_FORBIDDEN_FIELD"),
    ("T24 forbidden key, nested", mcp(envelope({**PUBLIC, "r": {"daily_return": 3.1}})), "PIT_FORBIDDEN_FIELD"),
    ("T25 forbidden word in a value", mcp(envelope({**PUBLIC, "title": "daily_stock improves"})), ""),
    ("T26 Z", mcp(envelope(at("2024-02-15T20:00:00Z")), {"pit": "2024-02-15T21:00:00+00:00"}), ""),
    ("T27 the same instant elsewhere", mcp(envelope(at("2024-02-15T22:00:00+01:00"))), ""),
    ("T28 a minute later elsewhere", mcp(envelope(at("2024-02-15T22:01:00+01:00"))), "PIT_VIOLATION_GT_CUTOFF"),
    ("T30 the second item", mcp(envelope(PUBLIC, LATE)), "PIT_VIOLATION_GT_CUTOFF: data[1]"),
    ("T31 fractional seconds", mcp(envelope(at("2024-02-15T15:59:59.123-05:00"))), ""),
    ("T32 PIT not propagated", mcp(envelope(LATE), {"query": "MATCH ..."}), ""),
    ("T33 params.pit", mcp(envelope(LATE), {"params": {"ticker": "NOG", "pit": PIT}}), "PIT_VIOLATION_GT_CUTOFF"),
    ("T34 MCP text block", mcp(blocks(RECORD)), ""),
    ("T35 MCP text block, late", mcp(blocks(RECORD.replace("-15T", "-16T"))), "PIT_VIOLATION_GT_CUTOFF"),
    ("T36 one record", mcp(RECORD), ""),
    ("T37 several records", mcp(json.dumps([{"data": []}, {"data": []}])), "PIT_MISSING_ENVELOPE"),
    ("stringified MCP blocks", mcp(json.dumps(blocks(RECORD))), ""),
    ("stringified MCP blocks, late", mcp(json.dumps(blocks(envelope(LATE)))), "PIT_VIOLATION_GT_CUTOFF"),
    ("MCP result", mcp({"result": blocks(envelope(LATE))}), "PIT_VIOLATION_GT_CUTOFF"),
    ("stringified MCP result", mcp(json.dumps({"result": blocks(envelope(LATE))})), "PIT_VIOLATION_GT_CUTOFF"),
    ("stringified MCP text", mcp(json.dumps({"result": envelope(PUBLIC)})), ""),
    (
        "a server with bash in its name",
        mcp(blocks(envelope(LATE)), tool="mcp__bashdb__query"),
        "PIT_VIOLATION_GT_CUTOFF",
    ),
    ("MCP content", mcp({"content": blocks(envelope(PUBLIC))}), ""),
    ("an object as it is", mcp({"data": [LATE], "gaps": []}), "PIT_VIOLATION_GT_CUTOFF"),
    ("two blocks, the second late", mcp(blocks(envelope(PUBLIC), envelope(LATE))), "PIT_VIOLATION_GT_CUTOFF"),
    ("two clean blocks", mcp(blocks(envelope(PUBLIC), envelope())), ""),
    ("gaps is no array", mcp(json.dumps({"data": [], "gaps": {}})), "PIT_MISSING_ENVELOPE"),
    ("nested stamp", mcp(envelope(PUBLIC, {**PUBLIC, "a": [LATE]})), "PIT_VIOLATION_GT_CUTOFF: data[1]"),
    ("stamp in a gap", mcp(json.dumps({"data": [], "gaps": [LATE]})), "PIT_VIOLATION_GT_CUTOFF: gaps"),
    ("other digits", mcp(envelope(at("２024-02-10T10:00:00-05:00"))), "PIT_INVALID_AVAILABLE_AT_FORMAT"),
    ("too deep", mcp('{"data": ' + "[" * 100_000 + "]" * 100_000 + "}"), "PIT_INVALID_JSON"),
    (
        "forbidden key, deep",
        mcp('{"data": [' + '{"a":[' * 300 + '{"Daily_Stock": 1}' + "]}" * 300 + "]}"),
        "PIT_FORBIDDEN",
    ),
]


@pytest.mark.parametrize(("hook", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_contract(hook: dict[str, Any], code: str) -> None:
    reason = gate.respond(hook).get("reason", "")
    assert reason.startswith(code)
    assert bool(reason) == bool(code)
    assert "2024-02-16" not in reason


@given(st.text("0123456789", min_size=7, max_size=12))
def test_digits_beyond_the_microsecond_never_let_more_through(digits: str) -> None:
    text = f"2024-02-15T16:00:00.{digits}Z"
    down, up = gate.parse_iso8601(text), gate.parse_iso8601(text, round_up=True)
    assert down is not None
    assert up is not None
    exact = int(digits) * 10 ** (12 - len(digits))
    start = datetime(2024, 2, 15, 16, tzinfo=UTC)
    assert (down - start) / timedelta(microseconds=1) * 1_000_000 <= exact
    assert exact <= (up - start) / timedelta(microseconds=1) * 1_000_000


WRITTEN = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            ["2024-02-15", "T", " ", "16:00:00", "24:00:00", "16:00:60", ".5", ".", "1234567", "Z", "z", "W"]
        )
        | st.sampled_from(["+05:30", "-05:60", "+24:00", "-0500", "+05", "\n", "\u0664", "\uff12", "00"]),
        max_size=6,
    ),
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
WELL_WRITTEN = re.compile(rf"\s*[0-9]{{4}}(?:-[0-9]{{2}}){{2}}T{_CLOCK}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{_CLOCK})\s*")


@given(WRITTEN)
@example("2024-02-15T16:00:00.1234567+05:30 ")
@example("2024-02-15T16:00:00+00:00Z")
def test_an_instant_is_written_in_one_way(text: str) -> None:
    assert (gate.parse_iso8601(text) is not None) == bool(WELL_WRITTEN.fullmatch(text)), text


@pytest.mark.parametrize("sign", ["\\", " ", '"', "[", '{"a":', "\\u0041"])
def test_a_long_run_of_a_sign_in_a_text_is_read_in_one_pass(sign: str) -> None:
    text = sign * 100_000
    assert gate.check(envelope({**PUBLIC, "text": text}), datetime.fromisoformat(PIT)) is None


QUOTED = json.dumps({"data": [{"Available_At": LATE["available_at"]}]})


@pytest.mark.parametrize(
    "text",
    [
        f"available_at: {LATE['available_at']}",
        f"note: {QUOTED}",
        f"{QUOTED}\n{QUOTED}",
        str({"available_at": LATE["available_at"]}),
        f"<available_at>{LATE['available_at']}</available_at>",
        "[Update] available_at",
        '{"daily_stock": 1',
    ],
)
def test_in_any_other_text_nothing_is_looked_for(text: str) -> None:
    """What an article mentions is not when it became public."""
    assert gate.check(envelope({**PUBLIC, "text": text}), datetime.fromisoformat(PIT)) is None
