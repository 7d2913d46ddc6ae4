"""Run a wired hook as the client does, on a planted leak that it must stop."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pit_fetch.claude_code.client_settings import WiredHook, matches
from pit_fetch.claude_code.mcp_servers import USUAL_NAME
from pit_fetch.claude_code.system import TIMED_OUT, System
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

_UNDER_CEILING = {gate.CEILING_VARIABLE: "2024-01-01T00:00:00Z"}


@dataclass(frozen=True)
class Trial:
    """A call that a hook must stop, and how its answer shows that it does."""

    call: Mapping[str, Any]  # the hook's input
    variables: Mapping[str, str]  # beside the environment of the session
    passes: Callable[[Any], bool]
    promise: str


def trial_for(hook: WiredHook) -> Trial:
    """Return a trial of a tool that the hook is wired for: of Bash, if it is wired for that."""
    tool = "Bash" if matches(hook.matcher, "Bash") else re.split(r"\s*[|,]\s*", hook.matcher)[0]
    if hook.script == "pit_gate.py":
        leak = guard.planted_leak()
        if tool == "Bash":
            return Trial(leak, {}, guard.withholds, "withholds a planted leak")
        # The call of another tool names no PIT, so that only the ceiling can show that the answer is late.
        leak = {**leak, "tool_name": tool, "tool_input": {}, "tool_response": leak["tool_response"]["stdout"]}
        return Trial(leak, _UNDER_CEILING, _withholds, f"withholds a planted leak of {tool}")
    if tool == "Bash":
        call = {"tool_name": tool, "tool_input": {"command": "pit_fetch --help; cat /dev/null"}}
        return Trial(call, {guard.ONLY_VARIABLE: "1"}, _denies, "refuses a compound command")
    call = {"tool_name": tool, "tool_input": {"query": "RETURN 1 AS data", "server": USUAL_NAME}}
    return Trial(call, _UNDER_CEILING, _denies, f"refuses a call of {tool} without a PIT")


def run(trial: Trial, hook: WiredHook, environ: Mapping[str, str], system: System) -> bool | None:
    """Return whether the hook passes the trial; None if it does not answer in time."""
    variables = {**environ, **hook.variables, "PIT_GATE_LOG": "", **trial.variables}
    printed = system.output([shutil.which("sh") or "/bin/sh", "-c", hook.command], variables, json.dumps(trial.call))
    try:
        return trial.passes(json.loads(printed))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None if printed == TIMED_OUT else False


def _withholds(answer: Any) -> bool:
    replacement = answer["hookSpecificOutput"]["updatedToolOutput"]
    return bool(answer["decision"] == "block" and replacement and "planted" not in json.dumps(answer))


def _denies(answer: Any) -> bool:
    return bool(answer["hookSpecificOutput"]["permissionDecision"] == "deny")
