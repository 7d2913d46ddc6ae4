"""The gate's contract: the cases T01 to T37, the stricter rules, and the process itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pit_fetch.support.bundled import gate

PIT = "2024-02-15T16:00:00-05:00"
NEO4J = "mcp__neo4j-cypher__read_neo4j_cypher"
CLEAN = {"available_at": "2024-02-10T10:00:00-05:00", "available_at_source": "neo4j_created"}
LATE = {**CLEAN, "available_at": "2024-02-20T10:00:00-05:00"}


def hook(response: Any, tool_input: dict[str, Any] | None = None, tool: str = NEO4J) -> dict[str, Any]:
    return {
        "tool_name": tool,
        "tool_input": {"pit": PIT} if tool_input is None else tool_input,
        "tool_response": response,
    }


def bash(command: str, stdout: str, **more: Any) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command, **more}, "tool_response": {"stdout": stdout}}


def envelope(*items: Any, **more: Any) -> str:
    return json.dumps({"data": list(items), "gaps": [], **more})


def blocks(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def at(stamp: str, **more: Any) -> dict[str, Any]:
    return {**CLEAN, "available_at": stamp, **more}


WRAPPER = f"python3 scripts/pit_fetch.py --pit {PIT} --source alphavantage"
RECORD = json.dumps([{"data": [CLEAN], "gaps": []}])

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("T01 no PIT", hook("some response", {"query": "MATCH (n:News) RETURN n"}), ""),
    ("T03 parameters.pit", hook(envelope(), {"query": "MATCH", "parameters": {"pit": PIT}}), ""),
    ("T04 flat pit", hook(envelope()), ""),
    ("T05 Bash --pit", bash(WRAPPER, envelope()), ""),
    ("T06 a PIT that is no time", hook(envelope(), {"pit": "not-a-date"}), "PIT_INVALID_PIT"),
    ("T07 a PIT that is a date", hook(envelope(), {"pit": "2024-02-15"}), "PIT_INVALID_PIT"),
    ("T08 Bash without the wrapper", bash("ls -la", "file1.txt\nfile2.txt", pit=PIT), ""),
    ("T09 Bash with the wrapper", bash(WRAPPER, envelope(CLEAN)), ""),
    ("T10 empty output", hook(""), "PIT_INVALID_JSON"),
    ("T11 no JSON", hook("This is not JSON"), "PIT_INVALID_JSON"),
    ("T12 no object", hook("[1, 2, 3]"), "PIT_INVALID_JSON"),
    ("T13 no data", hook(json.dumps({"gaps": ["no news found"]})), "PIT_MISSING_ENVELOPE"),
    ("T14 data is no array", hook(json.dumps({"data": "not an array"})), "PIT_MISSING_ENVELOPE"),
    ("T15 empty data", hook(json.dumps({"data": []})), ""),
    ("T16 item is no object", hook(envelope("string_item")), "PIT_INVALID_ITEM_TYPE"),
    ("T17 no available_at", hook(envelope({"available_at_source": "neo4j_created"})), "PIT_MISSING_AVAILABLE_AT"),
    ("T18 date only", hook(envelope(at("2024-02-15"))), "PIT_INVALID_AVAILABLE_AT_FORMAT"),
    ("T19 no offset", hook(envelope(at("2024-02-15T16:00:00"))), "PIT_MISSING_TZ"),
    ("T20 unknown source", hook(envelope({**CLEAN, "available_at_source": "x"})), "PIT_INVALID_AVAILABLE_AT_SOURCE"),
    ("T21 after the PIT", hook(envelope(LATE)), "PIT_VIOLATION_GT_CUTOFF"),
    ("T22 all clean", hook(envelope(CLEAN, at("2024-02-14T08:00:00-05:00", title="..."))), ""),
    ("T23 forbidden key", hook(envelope({**CLEAN, "daily_stock": 5.2})), "PIT_FORBIDDEN_FIELD"),
    ("T24 forbidden key, nested", hook(envelope({**CLEAN, "r": {"daily_return": 3.1}})), "PIT_FORBIDDEN_FIELD"),
    ("T25 forbidden word in a value", hook(envelope({**CLEAN, "title": "daily_stock improves"})), ""),
    ("T26 Z", hook(envelope(at("2024-02-15T20:00:00Z")), {"pit": "2024-02-15T21:00:00+00:00"}), ""),
    ("T27 the same instant elsewhere", hook(envelope(at("2024-02-15T22:00:00+01:00"))), ""),
    ("T28 a minute later elsewhere", hook(envelope(at("2024-02-15T22:01:00+01:00"))), "PIT_VIOLATION_GT_CUTOFF"),
    ("T30 the second item", hook(envelope(CLEAN, LATE)), "PIT_VIOLATION_GT_CUTOFF: data[1]"),
    ("T31 fractional seconds", hook(envelope(at("2024-02-15T15:59:59.123-05:00"))), ""),
    ("T32 PIT not propagated", hook(envelope(LATE), {"query": "MATCH ..."}), ""),
    ("T33 params.pit", hook(envelope(LATE), {"params": {"ticker": "NOG", "pit": PIT}}), "PIT_VIOLATION_GT_CUTOFF"),
    ("T34 MCP text block", hook(blocks(RECORD)), ""),
    ("T35 MCP text block, late", hook(blocks(RECORD.replace("-10T", "-20T"))), "PIT_VIOLATION_GT_CUTOFF"),
    ("T36 one record", hook(RECORD), ""),
    ("T37 several records", hook(json.dumps([{"data": []}, {"data": []}])), "PIT_MISSING_ENVELOPE"),
    ("stringified MCP blocks", hook(json.dumps(blocks(RECORD))), ""),
    ("stringified MCP blocks, late", hook(json.dumps(blocks(envelope(LATE)))), "PIT_VIOLATION_GT_CUTOFF"),
    ("MCP result", hook({"result": blocks(envelope(LATE))}), "PIT_VIOLATION_GT_CUTOFF"),
    ("stringified MCP result", hook(json.dumps({"result": blocks(envelope(LATE))})), "PIT_VIOLATION_GT_CUTOFF"),
    ("MCP content", hook({"content": blocks(envelope(CLEAN))}), ""),
    ("an object as it is", hook({"data": [LATE], "gaps": []}), "PIT_VIOLATION_GT_CUTOFF"),
    ("two blocks, the second late", hook(blocks(envelope(CLEAN), envelope(LATE))), "PIT_VIOLATION_GT_CUTOFF"),
    ("two clean blocks", hook(blocks(envelope(CLEAN), envelope())), ""),
    ("the earliest of two PITs", bash(f"{WRAPPER} --pit 2024-01-01T00:00:00Z", envelope(CLEAN)), "PIT_VIOLATION"),
    ("the console command", bash(f"pit_fetch --pit={PIT}", envelope(LATE)), "PIT_VIOLATION_GT_CUTOFF"),
    ("a quoted PIT", bash(f"pit_fetch --pit '{PIT}'", envelope(LATE)), "PIT_VIOLATION_GT_CUTOFF"),
    ("a PIT that is no string", hook(envelope(), {"pit": 20240215}), "PIT_INVALID_PIT"),
    ("duplicate key", hook('{"data": [], "data": []}'), "PIT_INVALID_JSON"),
    ("NaN", hook('{"data": [], "gaps": [NaN]}'), "PIT_INVALID_JSON"),
    ("unknown top-level key", hook(envelope(meta={})), "PIT_MISSING_ENVELOPE"),
    ("gaps is no array", hook(json.dumps({"data": [], "gaps": {}})), "PIT_MISSING_ENVELOPE"),
    ("revised after the PIT", hook(envelope({**CLEAN, "revised_at": "2024-02-16T00:00:00Z"})), "PIT_VIOLATION"),
    ("nested stamp", hook(envelope(CLEAN, {**CLEAN, "a": [LATE]})), "PIT_VIOLATION_GT_CUTOFF: data[1]"),
    ("stamp in a gap", hook(json.dumps({"data": [], "gaps": [LATE]})), "PIT_VIOLATION_GT_CUTOFF: gaps"),
    ("a tenth of a microsecond late", hook(envelope(at("2024-02-15T16:00:00.0000001-05:00"))), "PIT_VIOLATION"),
    ("other digits", hook(envelope(at("２024-02-10T10:00:00-05:00"))), "PIT_INVALID_AVAILABLE_AT_FORMAT"),
    ("too deep", hook('{"data": ' + "[" * 100_000 + "]" * 100_000 + "}"), "PIT_INVALID_JSON"),
    (
        "forbidden key very deep",
        hook('{"data": [' + '{"a":' * 200 + '{"Daily_Stock": 1}' + "}" * 200 + "]}"),
        "PIT_FORB",
    ),
]


@pytest.mark.parametrize(("name", "given_hook", "code"), CASES, ids=[case[0] for case in CASES])
def test_the_contract(name: str, given_hook: dict[str, Any], code: str) -> None:
    answer = gate.respond(given_hook)
    if code:
        assert answer["reason"].startswith(code), name
        assert "2024-02-2" not in answer["reason"]
    else:
        assert answer == {}, name


def process(stdin: bytes, **env: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", gate.__file__],
        input=stdin,
        capture_output=True,
        env={"PIT_GATE_LOG": "", **env},
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_process_allows_and_blocks() -> None:
    assert process(json.dumps(bash(WRAPPER, envelope(CLEAN))).encode()) == {}
    answer = process(json.dumps(bash(WRAPPER, envelope(LATE))).encode())
    assert answer["decision"] == "block"
    assert answer["reason"].startswith("PIT_VIOLATION_GT_CUTOFF: data[0]")


def test_t02_empty_stdin_is_allowed() -> None:
    assert process(b"") == {}


def test_t29_garbage_on_stdin_is_blocked() -> None:
    assert process(b"not json at all")["reason"].startswith("PIT_PARSE_ERROR")


def test_a_ceiling_judges_a_call_without_a_pit() -> None:
    stdin = json.dumps(bash("pit_fetch --source x", envelope(LATE))).encode()
    assert process(stdin) == {}
    assert process(stdin, PIT_FETCH_CEILING=PIT)["reason"].startswith("PIT_VIOLATION_GT_CUTOFF")


@pytest.mark.parametrize(
    ("pit", "code"),
    [
        ("2024-02-15T16:00:00[America/New_York]", ""),
        ("2024-02-15T16:00:00-05:00[America/New_York]", ""),
        ("2024-02-09T16:00:00[America/New_York]", "PIT_VIOLATION_GT_CUTOFF"),
        ("2024-02-15T16:00:00-04:00[America/New_York]", "PIT_INVALID_PIT"),
        ("2024-02-15T16:00:00[Nowhere/Else]", "PIT_INVALID_PIT"),
    ],
)
def test_a_pit_may_name_its_zone(pit: str, code: str) -> None:
    called = bash(f"pit_fetch --source x --pit '{pit}'", envelope(CLEAN))
    for seen in (called, hook(envelope(CLEAN), {"params": {"pit": pit}})):
        assert gate.respond(seen).get("reason", "").partition(":")[0] == code
    under = gate.respond(bash("pit_fetch --source x", envelope(CLEAN)), pit)
    assert under.get("reason", "").partition(":")[0] == (code or "PIT_NOT_RELEASED")


def test_the_process_finds_the_zones() -> None:
    """Isolated, and without the packages of the program."""
    zoned = f"{PIT[:19]}[America/New_York]"
    assert process(json.dumps(bash(f"pit_fetch --pit '{zoned}'", envelope(CLEAN))).encode()) == {}
    under = process(json.dumps(bash("pit_fetch", envelope(CLEAN))).encode(), PIT_FETCH_CEILING=zoned)
    assert under["reason"].startswith("PIT_NOT_RELEASED")


def test_without_a_zone_database_a_zone_is_refused_and_without_a_zone_none_is_loaded() -> None:
    path = gate.__file__
    code = (
        "import sys, zoneinfo; zoneinfo.reset_tzpath(to=[])\n"
        f"gate = {{'__name__': 'gate', '__file__': {path!r}}}; exec(open({path!r}).read(), gate)\n"
        "print(gate['parse_pit']('2024-02-15T16:00:00[America/New_York]'), gate['parse_pit']('2024-02-15T16:00:00Z'))"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "None 2024-02-15 16:00:00+00:00\n"
    code = f"import sys; __file__ = {path!r}; exec(open({path!r}).read().replace('sys.exit(main())', 'main()'))"
    code += "\nprint('zoneinfo' in sys.modules)"
    given = json.dumps(bash(f"pit_fetch --source x --pit {PIT}", envelope(CLEAN)))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=given, capture_output=True, text=True, check=True,
        env={"PIT_GATE_LOG": ""},
    )  # fmt: skip
    assert ran.stdout == "{}\nFalse\n"


INSTANTS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(INSTANTS, st.integers(-3, 3), st.sampled_from([0, 60, -300, 330]))
def test_an_item_passes_exactly_up_to_the_pit(pit: datetime, late: int, offset: int) -> None:
    stamp = (pit + timedelta(microseconds=late)).astimezone(
        datetime.strptime(f"{offset // 60:+03d}{abs(offset) % 60:02d}", "%z").tzinfo
    )
    violation = gate.check(envelope(at(stamp.isoformat())), pit)
    assert (violation is None) == (late <= 0)


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
    assert gate.check(envelope({**CLEAN, "text": text}), datetime.fromisoformat(PIT)) is None


QUOTED = json.dumps({"data": [{"Available_At": LATE["available_at"]}]})
INNOCENT = QUOTED.replace(LATE["available_at"], CLEAN["available_at"])


def with_text(raw: str) -> str:
    """An envelope whose item has a text that is written as ``raw`` in JSON."""
    return envelope({**CLEAN, "text": "TEXT"}).replace("TEXT", raw)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize(
    "write",
    [
        lambda raw: raw,
        *(lambda raw, blank=blank: blank + raw + " " for blank in (" ", "\ufeff", "\\uFEFF", "\\n", "\\u000D \\t")),
        lambda raw: raw.replace("{", "\\u007b"),
        lambda raw: raw.replace("{", "[{").replace("}", "}]"),
        lambda raw: f'{{\\"a\\": 1, \\"a\\": {raw}}}' if raw.startswith("{") else raw,
        lambda raw: json.dumps(json.dumps({json.loads(f'"{raw}"'): 1}))[1:-1],  # in a key
    ],
)
def test_a_text_that_is_json_is_read(write: Callable[[str], str], times: int) -> None:
    pit = datetime.fromisoformat(PIT)
    for document, code in ((QUOTED, gate.PIT_VIOLATION_GT_CUTOFF), ('{"Daily_Stock": 1}', gate.PIT_FORBIDDEN_FIELD)):
        raw, innocent = document, INNOCENT
        for _ in range(times):
            raw, innocent = json.dumps(raw), json.dumps(innocent)
        violation = gate.check(with_text(write(raw[1:-1])), pit)
        assert violation is not None
        assert violation.code == code
        assert gate.check(with_text(write(raw[1:-1])), pit, quoted=False) is None
        assert gate.check(with_text(write(innocent[1:-1])), pit) is None


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
    assert gate.check(envelope({**CLEAN, "text": text}), datetime.fromisoformat(PIT)) is None
