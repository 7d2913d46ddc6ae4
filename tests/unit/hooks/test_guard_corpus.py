"""The guard and a corpus of commands: what is hostile does not run, and what is honest does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pit_fetch.support.bundled import gate, load
from tests.corpus.commands import CALLS, HOSTILE, LEFT_ALONE, LISTINGS, PIT, RUN_BY_BASH

guard = load("pit_guard")
ONLY = {"PIT_FETCH_WRAPPER_ONLY": "1"}
CEILING = {"PIT_FETCH_CEILING": PIT}


def said(command: str, environ: dict[str, str], **more: Any) -> str:
    hook = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/nowhere", **more}
    try:
        call = guard.decide(hook, environ, gate)
    except guard.Refusal:
        return "refused"
    return "alone" if call is None else "released" if call.private else "rebuilt"


def test_there_are_commands_enough() -> None:
    assert len(HOSTILE) >= 300
    assert len({*CALLS, *LISTINGS, *LEFT_ALONE}) >= 100


def test_the_document_says_how_many() -> None:
    counted = f"{len(HOSTILE)} hostile and {len({*CALLS, *LISTINGS, *LEFT_ALONE})} honest commands"
    assert counted in (Path(__file__).parents[3] / "docs" / "enforcement.md").read_text()


@pytest.mark.parametrize("environ", [ONLY, ONLY | CEILING])
def test_what_is_hostile_does_not_run(environ: dict[str, str]) -> None:
    ran = {command: family for command, family in HOSTILE.items() if said(command, environ) != "refused"}
    assert ran == {}
    assert {
        command for command in HOSTILE if said(command, {}, agent_type="pit-fetch:bz-news-api") != "refused"
    } == set()


def test_an_honest_call_is_released_wherever_the_guard_rules() -> None:
    for environ in (ONLY, CEILING, ONLY | CEILING):
        assert {command for command in CALLS if said(command, environ) != "released"} == set()
        assert {command for command in LISTINGS if said(command, environ) != "rebuilt"} == set()
    assert {command for command in (*CALLS, *LISTINGS, *LEFT_ALONE) if said(command, {}) != "alone"} == set()


def test_what_only_mentions_pit_fetch_is_left_alone_in_an_ordinary_session() -> None:
    assert {command for command in LEFT_ALONE if said(command, CEILING) != "alone"} == set()
    assert {command for command in LEFT_ALONE if said(command, ONLY) != "refused"} == set()


def test_what_bash_runs_is_no_mention() -> None:
    assert {command for command in RUN_BY_BASH if said(command, CEILING) != "refused"} == set()


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_the_gate_leaves_it_alone_as_well(command: str) -> None:
    hook = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"stdout": "text", "stderr": ""}}
    assert gate.respond(hook, PIT) == gate.respond(hook) == {}
