"""The gate and the guard as callbacks for the Claude Agent SDK: the decisions of the hook files, without a subprocess.

>>> from claude_agent_sdk import ClaudeAgentOptions
>>> from pit_fetch.claude_code.sdk import make_hooks
>>> options = ClaudeAgentOptions(hooks=make_hooks(), allowed_tools=["Bash(pit_fetch *)"])

The callbacks are wired as the plugin's ``hooks.json`` wires the files. The SDK keeps a tool's output if a PostToolUse
callback raises or is late (measured on 0.2.186, docs/enforcement.md), so these callbacks do neither. If the host blocks
its event loop, the model sees no output: the guard has prepared the call so that it prints none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pit_fetch.claude_code import bundle
from pit_fetch.support.bundled import gate, load
from pit_fetch.support.wording import truncate

if TYPE_CHECKING:
    from claude_agent_sdk import HookMatcher

guard = load("pit_guard")

Callback = Callable[[Any, Any, Any], Awaitable[Any]]

# What the hooks go by.
HOOK_VARIABLES = (
    *(gate.CEILING_VARIABLE, guard.ONLY_VARIABLE, guard.OPTIONS_VARIABLE, gate.LOG_VARIABLE),
    "PIT_FETCH_EVIDENCE",
)

JUDGE_SECONDS = 7.0  # less than the 10 s after which the client stops waiting


def make_hooks(environ: Mapping[str, str] | None = None) -> dict[str, list[HookMatcher]]:
    """Return the value for ``ClaudeAgentOptions(hooks=…)``: the guard before each call, the gate after it.

    environ    where PIT_FETCH_CEILING, PIT_FETCH_WRAPPER_ONLY and PIT_FETCH_ADAPTER_OPTIONS are looked up on
               each call; default: this process's environment. Give ``ClaudeAgentOptions(env=…)`` the same
               values, so that pit_fetch itself has them too.

    Raise ValueError if they would hold nothing, or are misspelt, and RuntimeError if the installed gate does not
    withhold a planted leak.
    """
    from claude_agent_sdk import HookMatcher

    if environ is not None:
        _check_variables(environ)
    if not guard.withholds(gate.respond(guard.planted_leak())):
        raise RuntimeError("the installed pit_gate.py does not withhold a planted leak: reinstall pit_fetch")
    callbacks = {"pit_gate.py": gate_callback(environ), "pit_guard.py": guard_callback(environ)}
    known = {field.name for field in fields(HookMatcher)}  # an older SDK has no on_failure
    hooks: dict[str, list[HookMatcher]] = {}
    for row in bundle.wiring():
        options = {"timeout": row.command["timeout"], "on_failure": row.command["onFailure"]}
        options = {name: value for name, value in options.items() if name in known}
        matcher = HookMatcher(matcher=row.matcher, hooks=[callbacks[row.script]], **options)
        hooks.setdefault(row.event, []).append(matcher)
    return hooks


def _check_variables(environ: object) -> None:
    """Raise ValueError for variables that the hooks would not go by. Others than theirs are none of their business."""
    form = f'make_hooks takes variables such as {{"{gate.CEILING_VARIABLE}": "2024-02-15T16:00:00-05:00"}}'
    if not isinstance(environ, Mapping) or not all(isinstance(word, str) for pair in environ.items() for word in pair):
        raise ValueError(f"{form}: a mapping of texts")
    foreign = [(name, HOOK_VARIABLES[0]) for name in environ if re.match("(?i)pit_(?!fetch_)", name)]
    for name, meant in (*gate.misspelt_variables(environ, HOOK_VARIABLES), *foreign):
        if name not in HOOK_VARIABLES:
            raise ValueError(f"make_hooks does not know {truncate(name)}: write {meant}")
    if {gate.CEILING_VARIABLE, guard.ONLY_VARIABLE}.isdisjoint(environ):
        advice = "without an argument the hooks go by this process's environment"
        raise ValueError(f"{form}, and {guard.ONLY_VARIABLE}: neither is given ({advice})")
    ceiling = environ.get(gate.CEILING_VARIABLE)
    if ceiling is not None and gate.parse_pit(ceiling) is None:
        raise ValueError(f"{gate.CEILING_VARIABLE} is not {gate.PIT_FORM}")


def guard_callback(environ: Mapping[str, str] | None = None) -> Callback:
    """Return the guard as one PreToolUse callback."""

    async def before(hook: Any, tool_use_id: Any, context: Any) -> Any:
        return guard.respond(hook, os.environ if environ is None else environ, gate)

    return before


def gate_callback(environ: Mapping[str, str] | None = None) -> Callback:
    """Return the gate as one PostToolUse callback. It judges in a thread, and withholds the output if it is late.

    Its verdicts are written to the file that PIT_GATE_LOG names, and nowhere without it.
    """

    async def after(hook: Any, tool_use_id: Any, context: Any) -> Any:
        import asyncio

        variables = os.environ if environ is None else environ
        tool_name = hook.get("tool_name", "unknown")
        try:
            judged = asyncio.to_thread(gate.respond, hook, gate.ceiling_of(variables))
            answer = await asyncio.wait_for(judged, JUDGE_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
            violation = gate.Violation(gate.PIT_PARSE_ERROR, f"The gate failed: {type(error).__name__}")
            answer = gate.block_output(violation, str(tool_name), hook.get("tool_response"))
        log = variables.get(gate.LOG_VARIABLE, "")
        asyncio.get_running_loop().run_in_executor(None, gate.log_verdict, log, tool_name, answer)  # waits for no disk
        return answer

    return after
