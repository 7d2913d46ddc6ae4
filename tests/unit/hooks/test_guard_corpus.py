"""The guard and two corpora of commands: what is hostile does not run, what is honest does, and calls are seen."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.support.bundled import gate, load
from tests.corpus import session_commands
from tests.corpus.commands import CALLS, HOSTILE, LISTINGS, OTHER_PROGRAMS
from tests.corpus.session_commands import BEYOND, ELSEWHERE, IMPORTED, UNREADABLE
from tests.laws import sessions
from tests.unit.hooks.calls import CEILING, ONLY, PIT, bash

guard = load("pit_guard")

MENTIONS = [command for commands in session_commands.MENTIONS.values() for command in commands]
SESSION_CALLS = [command for commands in session_commands.CALLS.values() for command in commands]


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
    assert (len(HOSTILE) >= 400, len(SESSION_CALLS) >= 100, len(MENTIONS) >= 200) == (True, True, True)
    counts = (
        f"a corpus of {len(HOSTILE)} hostile and {len({*CALLS, *LISTINGS})} honest commands is part",
        f"{len(OTHER_PROGRAMS)} that call another program of the name",
        f"{len(set(SESSION_CALLS))} commands that call it and {len(set(MENTIONS))} that do not",
    )
    document = " ".join((Path(__file__).parents[3] / "docs" / "guard-and-gate.md").read_text().split())
    assert [counted for counted in counts if counted not in document] == []


def test_what_is_hostile_does_not_run() -> None:
    for environ in (ONLY, ONLY | CEILING):
        assert others([*HOSTILE, *SESSION_CALLS, *BEYOND], "refused", environ) == []
    assert others(HOSTILE, "refused", {}, agent_type="pit-fetch:bz-news-api") == []


def test_another_program_of_the_name_does_not_run_where_bash_is_for_pit_fetch_alone() -> None:
    for environ in (ONLY, ONLY | CEILING):
        assert others(OTHER_PROGRAMS, "refused", environ) == []
    assert others(OTHER_PROGRAMS, "refused", CEILING, agent_type="pit-fetch:bz-news-api") == []
    assert others(OTHER_PROGRAMS, "released", CEILING) == others(OTHER_PROGRAMS, "alone", {}) == []


def test_an_honest_call_is_released_wherever_the_guard_rules() -> None:
    for environ in (ONLY, CEILING, ONLY | CEILING):
        assert others(CALLS, "released", environ) == others(LISTINGS, "rebuilt", environ) == []
    assert others((*CALLS, *LISTINGS, *MENTIONS), "alone", {}) == []


def test_what_only_mentions_pit_fetch_is_left_alone_in_an_ordinary_session() -> None:
    assert others(MENTIONS, "alone", CEILING) == others(MENTIONS, "refused", ONLY) == []


def test_a_call_is_no_mention_and_what_is_beyond_is_left_alone() -> None:
    assert others(SESSION_CALLS, "refused", CEILING) == others(BEYOND, "alone", CEILING) == []


@pytest.mark.parametrize("command", MENTIONS)
def test_the_gate_leaves_a_mention_alone_as_well(command: str) -> None:
    hook = bash("docs/a.md: pit_fetch --pit", command)
    assert gate.respond(hook, PIT) == gate.respond(hook) == {}


# The programs that run others are real in this sandbox, the wrapper and all others only record.


@pytest.mark.parametrize("family", [name for name in session_commands.CALLS if name not in (ELSEWHERE, UNREADABLE)])
def test_a_real_bash_runs_the_wrapper_in_what_counts_as_a_call(family: str) -> None:
    assert [command for command in session_commands.CALLS[family] if not sessions.started(command)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("family", [name for name in session_commands.MENTIONS if name != IMPORTED])
def test_a_real_bash_runs_no_wrapper_in_what_counts_as_a_mention(family: str) -> None:
    assert [command for command in session_commands.MENTIONS[family] if sessions.started(command)] == []


# Half as long, a command takes half the time: these took a pattern an exponential or a quadratic time.
LONG = {
    "options": "env " + "-i " * 33_000 + "pit_fetch | cat",
    "options of Python": "python3 " + "-X dev " * 14_000 + "pit_fetch.py | cat",
    "programs": "env " * 25_000 + "pit_fetch",
    "evals": "eval " * 20_000 + "pit_fetch",
    "assignments": "a[0]=1 " * 14_000 + "pit_fetch | cat",
    "substitutions": "$(" * 50_000 + "pit_fetch",
    "quotes": "'" * 99_999 + "pit_fetch",
    "backquotes": "`a`" * 33_000 + "; ls pit_fetch",
    "here-documents": "cat <<a\na\n" * 10_000 + "ls pit_fetch",
    "here-documents to come": "cat " + "<<a " * 25_000 + "\n" + "a\n" * 25_000 + "ls pit_fetch",
    "nested here-documents": "cat <<a\n$(" * 10_000 + "pit_fetch",
    "arithmetic": "((a" * 33_000 + "; ls pit_fetch",
    "a message": "git commit -m \"$(cat <<'EOF'\n" + "See pit_fetch --pit T; it's `plain`.\n" * 2_700 + 'EOF\n)"',
}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
def test_a_long_command_is_read_in_time(command: str) -> None:
    begun = time.process_time()
    gate.runs_wrapper(command)
    assert time.process_time() - begun < 3  # 0.3 s at most here; the hooks' own alarm rings after 7
