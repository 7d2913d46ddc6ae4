"""The gate as a hook: the strict rules, what is put in the place of a blocked output, and its laws.

The reason codes are tabled elsewhere; here stands what a client, a careless server or a broken
machine can do to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.support.bundled import gate
from tests.corpus.commands import LISTINGS
from tests.examples import examples
from tests.unit.hooks.calls import CALL, CANARY, LATE, PIT, PUBLIC, bash, blocks, envelope, mcp, start

GATE = Path(gate.__file__ or "")


def code(answer: dict[str, Any]) -> str:
    return str(answer.get("reason", "allowed")).partition(":")[0]


# What the model sees instead.


def test_a_blocked_bash_result_is_replaced_by_an_object_the_client_takes() -> None:
    answer = gate.respond(bash(envelope(PUBLIC, LATE)))
    assert answer == {
        "decision": "block",
        "reason": "PIT_VIOLATION_GT_CUTOFF: data[1].available_at is after the PIT",
        "hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": {
                "stdout": "PIT_VIOLATION_GT_CUTOFF: data[1].available_at is after the PIT (output withheld)",
                "stderr": "",
                "interrupted": False,
                "isImage": False,
            },
        },
    }


@pytest.mark.parametrize("response", [blocks(envelope(LATE)), {"result": blocks(envelope(LATE))}, None])
def test_a_blocked_mcp_result_is_replaced_by_a_block(response: Any) -> None:
    (block,) = gate.respond(mcp(response))["hookSpecificOutput"]["updatedToolOutput"]
    assert (block["type"], block["text"].endswith("(output withheld)")) == ("text", True)


# Outputs that are not one envelope, or not all of it.


@pytest.mark.parametrize(
    "response",
    [
        *({"persistedOutputPath": "/tmp/out"}, {"persistedOutputSize": 40_000}, {"backgroundTaskId": "b1"}),
        *({"interrupted": True}, {"timedOutAfterMs": 120_000}, {"isImage": True}, {"stderr": "a warning"}),
        *({"structuredContent": [{"type": "text", "text": CANARY}]}, {"aFieldOfTomorrow": CANARY}),
    ],
)
def test_a_result_that_is_incomplete_or_more_than_the_envelope_is_withheld(response: dict[str, Any]) -> None:
    answer = gate.respond(bash(envelope(PUBLIC), **response))
    assert code(answer) == "PIT_INVALID_JSON"
    assert CANARY not in json.dumps(answer)


@pytest.mark.parametrize(
    "response",
    [
        {"noOutputExpected": False, "returnCodeInterpretation": "nothing found"},
        {"stderr": "\nShell cwd was reset to /project"},
        {"aFlagOfTomorrow": True, "aNumberOfTomorrow": 3, "aTextOfTomorrow": ""},
    ],
)
def test_what_the_client_says_of_itself_is_no_noise(response: dict[str, Any]) -> None:
    assert gate.respond(bash(envelope(PUBLIC), **response)) == {}


@pytest.mark.parametrize(
    "stdout",
    [
        "warning: slow\n" + envelope(PUBLIC),
        envelope(PUBLIC) + "\npit_fetch: something",
        envelope(PUBLIC) + envelope(PUBLIC),
        envelope(PUBLIC)[:-3],
        '{"data": [{"a": 1, "a": 2}]}',
        "",
        " \n",
    ],
)
def test_anything_but_one_strict_envelope_is_withheld(stdout: str) -> None:
    assert gate.respond(bash(stdout))["decision"] == "block"


def test_a_background_run_is_withheld() -> None:
    hook = bash("")
    hook["tool_input"]["run_in_background"] = True
    assert "background" in gate.respond(hook)["reason"]


@pytest.mark.parametrize(
    "response",
    [
        [*blocks(envelope(PUBLIC)), {"type": "image", "data": CANARY}],
        [{"type": "text", "text": envelope(PUBLIC), "more": CANARY}],
        {"content": blocks(envelope(PUBLIC)), "structuredContent": {"result": CANARY}},
        {"content": blocks(envelope(PUBLIC)), "result": envelope(LATE)},
        json.dumps({"result": envelope(LATE)}),
        '{"content": [{"type": "text", "text": "x"}], "content": ' + json.dumps(blocks(envelope(PUBLIC))) + "}",
        [{"data": [], "gaps": []}, {"data": [LATE], "gaps": []}],
        7,
        None,
    ],
)
def test_every_part_of_an_mcp_result_must_be_clean(response: Any) -> None:
    answer = gate.respond(mcp(response))
    assert answer["decision"] == "block"
    assert CANARY not in json.dumps(answer)


# Which call is judged, and at which PIT.


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pit_fetch --source x", "allowed"),
        ("git log", "allowed"),
        (f"echo --pit {PIT}", "allowed"),
        (f"python3 -m pit_fetch --pit={PIT}", "PIT_VIOLATION_GT_CUTOFF"),
        (f"/opt/tools/pit_fetch.py --pit '{PIT}'", "PIT_VIOLATION_GT_CUTOFF"),
        (f'pit_fetch --pit "{PIT}" | cat', "PIT_VIOLATION_GT_CUTOFF"),
        (f"pit_fe'tch' --p\"it\" {PIT}", "PIT_VIOLATION_GT_CUTOFF"),
        (f"pit_fetch --pit 2030-01-01T00:00:00Z --pit {PIT}", "PIT_VIOLATION_GT_CUTOFF"),
        ("pit_fetch --pit 2030-01-01T00:00:00Z", "allowed"),
        ("pit_fetch --pit $PIT", "PIT_INVALID_PIT"),
        ("pit_fetch --pit ''", "PIT_INVALID_PIT"),
        ("pit_fetch --pit", "PIT_INVALID_PIT"),
        ("pit_fetch --pit 2024-02-15", "PIT_INVALID_PIT"),
    ],
)
def test_the_pit_of_a_command(command: str, expected: str) -> None:
    assert code(gate.respond(bash(envelope(LATE), command))) == expected


@pytest.mark.parametrize(
    "command", [*LISTINGS, f"python3 -I -m pit_fetch --source x --pit {PIT} -h", "./pit_fetch.py --version"]
)
def test_one_plain_listing_passes(command: str) -> None:
    assert gate.respond(bash("usage: pit_fetch …", command), ceiling=PIT) == {}


@pytest.mark.parametrize(
    "command",
    [
        *("pit_fetch --help; cat late.json", "pit_fetch --help\ncat late.json", "pit_fetch --help $(cat late.json)"),
        *("pit_fetch --help <(cat late.json)", 'pit_fetch --source x --keywords "foo --help bar"'),
        *("pit_fetch --source x -- --help", "time pit_fetch --help"),
    ],
)
def test_what_only_looks_like_a_listing_is_judged(command: str) -> None:
    assert gate.respond(bash("some text", command), ceiling=PIT)["decision"] == "block"


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [
        ({"params": {"pit": "2030-01-01T00:00:00Z"}, "pit": PIT}, "PIT_VIOLATION_GT_CUTOFF"),
        ({"params": json.dumps({"pit": PIT})}, "PIT_VIOLATION_GT_CUTOFF"),
        ({"params": '{"pit": '}, "PIT_INVALID_PIT"),
        ({"pit": 1_708_030_800}, "PIT_INVALID_PIT"),
        ({"pit": [PIT]}, "PIT_INVALID_PIT"),
        ({"pit": ""}, "PIT_INVALID_PIT"),
        ({"parameters": {"pit": ""}, "params": {"pit": PIT}}, "PIT_INVALID_PIT"),
        ({"params": {"filter": [{"pit": PIT}]}}, "PIT_VIOLATION_GT_CUTOFF"),
        ({"params": {"PIT": PIT}}, "PIT_VIOLATION_GT_CUTOFF"),
        ({"params": {" pit ": ""}}, "PIT_INVALID_PIT"),
        ({"params": '{"\\u0070it": ""}'}, "PIT_INVALID_PIT"),
        ({"params": '{"pit": "", "pit": "2024-02-15T16:00:00Z"}'}, "PIT_INVALID_PIT"),
        ({"params": [json.dumps({"a": json.dumps({"pit": PIT})})]}, "PIT_VIOLATION_GT_CUTOFF"),
        ({"params": "{'pit': ''}"}, "PIT_INVALID_PIT"),
        ({"params": '\ufeff{"pit": ""}'}, "PIT_INVALID_PIT"),
        ({"params": json.dumps(json.dumps({"pit": ""}))}, "PIT_INVALID_PIT"),
        (json.dumps({"params": {"pit": PIT}}), "PIT_VIOLATION_GT_CUTOFF"),
        ([{"pit": ""}], "PIT_INVALID_PIT"),
        ({"query": "MATCH (n {pit: $pit}) RETURN n", "params": {"ticker": "PIT"}}, "allowed"),
        ({"query": "[a pit stop", "params": "{}"}, "allowed"),
        ({"params": {}}, "allowed"),
    ],
)
def test_the_pit_of_a_tool_input(tool_input: dict[str, Any], expected: str) -> None:
    assert code(gate.respond(mcp(blocks(envelope(LATE)), tool_input))) == expected


@pytest.mark.parametrize(
    ("hook", "ceiling", "expected"),
    [
        (bash(envelope(LATE), "pit_fetch --source x"), PIT, "PIT_VIOLATION_GT_CUTOFF"),
        (bash(envelope(LATE), "pit_fetch --pit 2030-01-01T00:00:00Z"), PIT, "PIT_VIOLATION_GT_CUTOFF"),
        (bash(envelope(PUBLIC), "pit_fetch --source x"), PIT, "PIT_NOT_RELEASED"),
        (bash(envelope(PUBLIC), "pit_fetch --source x"), "", "PIT_INVALID_PIT"),
        (bash(envelope(PUBLIC), "pit_fetch --source x"), "tomorrow", "PIT_INVALID_PIT"),
        (mcp(blocks(envelope(LATE)), {"query": "x"}), PIT, "PIT_VIOLATION_GT_CUTOFF"),
        (bash("total 0", "ls"), PIT, "allowed"),
    ],
)
def test_the_ceiling_judges_a_call_without_a_pit_or_with_a_later_one(
    hook: dict[str, Any], ceiling: str, expected: str
) -> None:
    assert code(gate.respond(hook, ceiling)) == expected


def test_a_misspelt_ceiling_lets_nothing_pass() -> None:
    for hook in (bash(envelope(PUBLIC), "pit_fetch --source x"), mcp(blocks(envelope(PUBLIC)), {"query": "x"})):
        answer = start(GATE, hook, {"PIT_FETCH_CELING": PIT})
        assert code(answer) == "PIT_INVALID_PIT"
        assert "PIT_FETCH_CELING is not a variable of pit_fetch: write PIT_FETCH_CEILING" in answer["reason"]
    assert start(GATE, bash("total 0", "ls"), {"PIT_FETCH_CELING": PIT}) == {}


CEILING, ONLY = RESTRICTIONS = ("PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY")
# What others call theirs, a plugin's source of any name among them.
FOREIGN = """PIT_FETCH_CEILING PIT_FETCH_WRAPPER_ONLY PIT_FETCH_ARCHIVE PIT_FETCH_AUDIT PIT_FETCH_MAX_CHARS
    PIT_FETCH_EVIDENCE PIT_FETCH_ADAPTER_OPTIONS PIT_FETCH_CONTACT PIT_FETCH_RATE_API_CEILING_COM PIT_GATE_LOG
    PIT_FETCH_CEILING_URL PIT_FETCH_CELING_URL PIT_FETCH_CEILINGS_KEY PIT_FETCH_FILING_URL
    PIT_FETCH_WRAPPER_ONLY_URL PIT_FETCH_WRAPPER_URL PIT_FETCH_FILING PIT_FETCH_MAILING PIT_FETCH_PRICING CEILING
    WRAPPER_ONLY PIT FETCH PATH"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        # One letter is missing, added, wrong, or swapped with the next.
        ("PIT_FETCH_CELING", CEILING),
        ("PIT_FETCH_CEILINGS", CEILING),
        ("PIT_FETCH_CIELING", CEILING),
        ("PIT_FECTH_CEILING", CEILING),
        ("PIT_FETCH_WRAPPERS_ONLY", ONLY),
        # Two of them.
        ("PIT_FETCH_CIELNG", CEILING),
        # Case and separators.
        ("pit_fetch_ceiling", CEILING),
        ("PITFETCH_CEILING", CEILING),
        ("PIT_FETCH_CEILING ", CEILING),
        ("PIT_FETCH_WRAPPERONLY", ONLY),
        # A part.
        ("PIT_CEILING", CEILING),
        ("PIT_FETCH_CEIL", CEILING),
        ("PIT_FETCH_WRAPPER", ONLY),
        *((name, "") for name in FOREIGN.split()),
    ],
)
def test_a_variable_is_a_slip_of_a_restriction_or_none_of_ours(name: str, meant: str) -> None:
    assert gate.misspelt_variables([name], RESTRICTIONS) == ([(name, meant)] if meant else [])


# What the guard prepared: the output is in a private file, and shown from there.


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder


def prepared(
    store: Path, text: str | bytes, call: str = CALL, stdout: str = gate.SENTINEL, **more: Any
) -> dict[str, Any]:
    """The hook input after a call that wrote ``text``."""
    path = store / f"toolu_1.{'0' * 32}"
    path.touch(0o600)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    hook = bash(stdout, f"{call} --release {path}{gate.ENDING}", **more)
    return {**hook, "tool_use_id": "toolu_1"}


def shown(answer: dict[str, Any]) -> str:
    replacement = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert replacement.keys() == {"stdout", "stderr", "interrupted", "isImage"}
    return str(replacement["stdout"])


def test_a_clean_envelope_is_put_in_front_of_the_model_and_its_file_is_gone(store: Path) -> None:
    answer = gate.respond(prepared(store, envelope(PUBLIC) + "\n"))
    assert (shown(answer), "decision" in answer) == (envelope(PUBLIC), False)
    assert list(store.iterdir()) == []


def test_of_two_gates_one_answers(store: Path) -> None:
    hook = prepared(store, envelope(PUBLIC))
    assert shown(gate.respond(hook)) == envelope(PUBLIC)
    assert gate.respond(hook) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (envelope(PUBLIC, LATE), "PIT_VIOLATION_GT_CUTOFF"),
        (f"noise {CANARY}", "PIT_INVALID_JSON"),
        ("", "PIT_NOT_RELEASED"),
        (b"\xff" + CANARY.encode(), "PIT_PARSE_ERROR"),
    ],
)
def test_what_may_not_be_shown_is_withheld_and_its_file_is_gone(store: Path, text: str, expected: str) -> None:
    answer = gate.respond(prepared(store, text))
    assert code(answer) == expected
    assert CANARY not in json.dumps(answer)
    assert list(store.iterdir()) == []


@pytest.mark.parametrize(
    "more",
    [
        *({"stdout": f"{gate.SENTINEL}\n{CANARY}"}, {"stdout": ""}, {"stderr": CANARY}, {"backgroundTaskId": "b1"}),
        *({"persistedOutputPath": "/tmp/out"}, {"timedOutAfterMs": 1_000}, {"interrupted": True}),
    ],
)
def test_a_prepared_call_that_shows_anything_else_is_withheld(store: Path, more: dict[str, Any]) -> None:
    answer = gate.respond(prepared(store, envelope(PUBLIC), **more))
    assert answer["decision"] == "block"
    assert CANARY not in json.dumps(answer)
    assert list(store.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("toolu_1.", "toolu_2."),
        ("0" * 32, "0" * 31),
        (" --release", " --releases"),
        ("--pit", "--release /tmp/toolu_1.x --pit"),
        (" >/dev/null", "; cat x >/dev/null"),
        (gate.SENTINEL, "done"),
    ],
)
def test_what_only_looks_prepared_is_no_release(store: Path, old: str, new: str) -> None:
    hook = prepared(store, envelope(PUBLIC))
    hook["tool_input"]["command"] = hook["tool_input"]["command"].replace(old, new)
    assert gate.respond(hook, PIT)["decision"] == "block"


def test_a_private_file_that_is_not_private_is_withheld(store: Path, tmp_path: Path) -> None:
    hook = prepared(store, envelope(PUBLIC))
    path = next(store.iterdir())
    path.chmod(0o644)
    assert code(gate.respond(hook)) == "PIT_NOT_RELEASED"
    (tmp_path / "mine").write_text(envelope(PUBLIC))
    path.symlink_to(tmp_path / "mine")
    assert code(gate.respond(hook)) == "PIT_PARSE_ERROR"
    os.mkfifo(path, 0o600)
    assert code(gate.respond(hook)) == "PIT_NOT_RELEASED"
    assert list(store.iterdir()) == []
    hook = prepared(store, envelope(PUBLIC))
    store.chmod(0o755)
    assert code(gate.respond(hook)) == "PIT_NOT_RELEASED"


# The process: whatever happens, exit 0 and an answer that withholds.


@pytest.mark.parametrize("stdin", [b"not json", b"[1]", b'"x"', b"\xff\xfe{", b'{"tool_name": "Bash"', b"[" * 100_000])
def test_input_that_cannot_be_read_is_blocked(stdin: bytes) -> None:
    answer = start(GATE, stdin)
    assert code(answer) == "PIT_PARSE_ERROR"
    assert set(answer["hookSpecificOutput"]["updatedToolOutput"]) == {"stdout", "stderr", "interrupted", "isImage"}


@pytest.mark.parametrize("stdin", [b"", b" \n", b"{}"])
def test_no_input_is_allowed(stdin: bytes) -> None:
    assert start(GATE, stdin) == {}


def test_the_ceiling_comes_from_the_environment_and_zones_are_found_by_the_isolated_process() -> None:
    zoned = f"{PIT[:19]}[America/New_York]"
    assert start(GATE, bash(envelope(PUBLIC), f"pit_fetch --pit '{zoned}'")) == {}
    hook = bash(envelope(LATE), "pit_fetch --source x")
    assert start(GATE, hook) == {}
    for ceiling in (PIT, zoned):
        assert code(start(GATE, hook, {"PIT_FETCH_CEILING": ceiling})) == "PIT_VIOLATION_GT_CUTOFF"


def run_isolated(program: str, stdin: str = "") -> str:
    command, env = [sys.executable, "-I", "-S", "-c", program], {"PIT_GATE_LOG": ""}
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, env=env).stdout


def test_without_a_zone_database_a_zone_is_refused_and_without_a_zone_none_is_loaded() -> None:
    path = str(GATE)
    program = (
        "import sys, zoneinfo; zoneinfo.reset_tzpath(to=[])\n"
        f"gate = {{'__name__': 'gate', '__file__': {path!r}}}; exec(open({path!r}).read(), gate)\n"
        "print(gate['parse_pit']('2024-02-15T16:00:00[America/New_York]'), gate['parse_pit']('2024-02-15T16:00:00Z'))"
    )
    assert run_isolated(program) == "None 2024-02-15 16:00:00+00:00\n"
    program = f"import sys; __file__ = {path!r}; exec(open({path!r}).read().replace('sys.exit(main())', 'main()'))"
    program += "\nprint('zoneinfo' in sys.modules)"
    assert run_isolated(program, json.dumps(bash(envelope(PUBLIC)))) == "{}\nFalse\n"


def test_foreign_modules_in_the_working_directory_are_not_imported(tmp_path: Path) -> None:
    for name in ("json", "re", "pit_gate", "datetime", "signal"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('foreign')")
    assert code(start(GATE, bash(envelope(LATE)), cwd=tmp_path)) == "PIT_VIOLATION_GT_CUTOFF"


def test_a_gate_that_runs_out_of_time_withholds(tmp_path: Path) -> None:
    impatient = tmp_path / "pit_gate.py"
    impatient.write_text(GATE.read_text().replace("ALARM_SECONDS = 7", "ALARM_SECONDS = 1"))
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(impatient)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:  # stdin stays open: the input never ends
        answer = json.loads(process.stdout.read())
        assert process.wait(timeout=30) == 0
    assert answer["reason"] == "PIT_PARSE_ERROR: The gate ran out of time"
    assert "withheld" in answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def test_a_log_that_stalls_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    hook = bash(envelope(LATE))
    assert code(start(GATE, hook, {"PIT_GATE_LOG": str(tmp_path / "log")})) == "PIT_VIOLATION_GT_CUTOFF"


def test_the_log_names_verdicts_and_no_content(tmp_path: Path) -> None:
    log = tmp_path / "gate.log"
    for hook in (bash(envelope(LATE)), bash(envelope(PUBLIC)), {**bash(envelope(LATE)), "tool_name": "Bash\n\ud800"}):
        start(GATE, hook, {"PIT_GATE_LOG": str(log)})
    lines = [line.partition("] ")[2] for line in log.read_text().splitlines()]
    assert lines == [
        "BLOCK tool=Bash PIT_VIOLATION_GT_CUTOFF: data[0].available_at is after the PIT",
        "ALLOW tool=Bash",
        "BLOCK tool=Bash\\n\\ud800 PIT_VIOLATION_GT_CUTOFF: data[0].available_at is after the PIT",
    ]


def test_a_full_log_starts_anew_and_an_unwritable_one_is_off(tmp_path: Path) -> None:
    log = tmp_path / "gate.log"
    log.write_text("x" * (gate.LOG_MAX_BYTES + 1))
    hook = bash(envelope(PUBLIC))
    assert start(GATE, hook, {"PIT_GATE_LOG": str(log)}) == {}
    assert log.stat().st_size < 100
    assert (tmp_path / "gate.log.1").stat().st_size == gate.LOG_MAX_BYTES + 1
    assert start(GATE, hook, {"PIT_GATE_LOG": str(tmp_path / "no" / "such" / "folder")}) == {}


# Anything that JSON can say. Of envelopes, the law "gate: judges" holds.

_KEYS = st.sampled_from(["available_at", "revised_at", "available_at_source", "data", "gaps", "title", "daily_stock"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(PIT),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS | st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@examples(4)
@given(
    st.dictionaries(st.sampled_from(["tool_name", "tool_input", "tool_response", "x"]), _JSON),
    st.none() | st.text(max_size=8) | st.just(PIT),
)
def test_for_any_hook_input_the_answer_is_allow_or_a_complete_block(hook: dict[str, Any], ceiling: str | None) -> None:
    answer = json.loads(json.dumps(gate.respond(hook, ceiling)))
    assert answer == {} or (
        answer["decision"] == "block"
        and answer["reason"].startswith("PIT_")
        and answer["hookSpecificOutput"]["updatedToolOutput"]
    )


@examples(2)
@given(st.text(min_size=1, max_size=12), st.timedeltas(timedelta(microseconds=1), timedelta(days=900)), _KEYS)
def test_no_answer_quotes_what_it_withholds(secret: str, delay: timedelta, key: str) -> None:
    canary = f"canary {secret}"
    item = {**LATE, "title": canary, "available_at": (datetime.fromisoformat(PIT) + delay).isoformat()}
    item[f"{key} of {canary}"] = canary
    answer = json.dumps(gate.respond(bash(envelope(PUBLIC, item))), ensure_ascii=False)
    assert "PIT_" in answer
    assert canary not in answer
    assert item["available_at"] not in answer
