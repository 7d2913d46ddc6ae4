"""The guard and a corpus of commands: what is hostile does not run, and what is honest does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.support.bundled import gate, load
from tests.corpus.commands import CALLS, HOSTILE, LEFT_ALONE, LISTINGS, RUN_BY_BASH
from tests.unit.hooks.calls import CEILING, ONLY, PIT, bash

guard = load("pit_guard")


def verdict(command: str, environ: dict[str, str], **more: Any) -> str:
    hook = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/nowhere", **more}
    try:
        call = guard.decide(hook, environ, gate)
    except guard.Refusal:
        return "refused"
    return "alone" if call is None else "released" if call.private else "rebuilt"


def others(commands: Iterable[str], expected: str, environ: dict[str, str], **more: Any) -> list[str]:
    """Return the commands of which the guard's verdict is another than ``expected``."""
    return [command for command in commands if verdict(command, environ, **more) != expected]


def test_there_are_commands_enough_and_the_document_states_how_many() -> None:
    honest = {*CALLS, *LISTINGS, *LEFT_ALONE}
    assert (len(HOSTILE) >= 300, len(honest) >= 100) == (True, True)
    counted = f"{len(HOSTILE)} hostile and {len(honest)} honest commands"
    assert counted in (Path(__file__).parents[3] / "docs" / "enforcement.md").read_text()


def test_what_is_hostile_does_not_run() -> None:
    for environ in (ONLY, ONLY | CEILING):
        assert others(HOSTILE, "refused", environ) == []
    assert others(HOSTILE, "refused", {}, agent_type="pit-fetch:bz-news-api") == []


def test_an_honest_call_is_released_wherever_the_guard_rules() -> None:
    for environ in (ONLY, CEILING, ONLY | CEILING):
        assert others(CALLS, "released", environ) == others(LISTINGS, "rebuilt", environ) == []
    assert others((*CALLS, *LISTINGS, *LEFT_ALONE), "alone", {}) == []


def test_what_only_mentions_pit_fetch_is_left_alone_in_an_ordinary_session() -> None:
    assert others(LEFT_ALONE, "alone", CEILING) == others(LEFT_ALONE, "refused", ONLY) == []


def test_what_bash_runs_is_no_mention() -> None:
    assert others(RUN_BY_BASH, "refused", CEILING) == []


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_the_gate_leaves_a_mention_alone_as_well(command: str) -> None:
    hook = bash("docs/a.md: pit_fetch --pit", command)
    assert gate.respond(hook, PIT) == gate.respond(hook) == {}
