"""Examine the hooks that a client would run here: whether ours are wired, do their work, and are not undone."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.client_settings import (
    Settings,
    WiredHook,
    drop_reason,
    hook_faults,
    matches,
    user_folder,
)
from pit_fetch.claude_code.install import PERMISSION
from pit_fetch.claude_code.mcp_servers import PROGRAM, USUAL_NAME, Neo4jServer
from pit_fetch.claude_code.system import TIMED_OUT, Finding, System
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

INIT = "run pit_fetch init"


# Switches of a settings file with which the client does not run a project's hooks. The last two are an administrator's.
_SWITCHES = ("disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization")

# What another hook could undo at each event, and by which field of its answer.
_REWRITING = {"PreToolUse": ("the command", "updatedInput"), "PostToolUse": ("output", "updatedToolOutput")}


def check_settings(settings: Sequence[Settings], environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    for file in settings:
        fault = drop_reason(file)
        if fault:
            message = f"{file.path} {fault}: the client drops its hooks, and says nothing"
            yield Finding("fail", "settings", message, "correct it")
        for switch in _SWITCHES:
            if file.get(switch):
                yield Finding("fail", "settings", f"{file.path} sets {switch}", "remove it, or ask who administers it")
        if file.path == project / "hooks" / "hooks.json":
            fix = "start the client with --plugin-dir and this folder, or install the plugin"
            yield Finding("note", "settings", "this folder is the plugin: its hooks run where a session loads it", fix)
    folder = project.resolve()
    if not (folder / ".claude").is_dir():
        above = next((parent for parent in folder.parents if (parent / ".claude" / "settings.json").is_file()), None)
        if above is not None and above / ".claude" != user_folder(environ).resolve():
            message = f"sessions that start here find the agents of {above}, but do not run the hooks of its settings"
            yield Finding("fail", "settings", message, f"start them in {above}, or install the plugin")
    if environ.get("CLAUDE_CODE_SIMPLE", "") not in ("", "0", "false"):
        yield Finding("fail", "settings", "CLAUDE_CODE_SIMPLE is set: the client runs no hooks", "unset it")


def check_trust(settings: Sequence[Settings], project: Path) -> Iterator[Finding]:
    """Yield a warning if only the project's own rules allow calls of pit_fetch: nobody has trusted the folder yet."""
    allowing = [file for file in settings if not {"Bash", PERMISSION}.isdisjoint(file.rules("allow"))]
    if allowing and all(file.path.is_relative_to(project) for file in allowing):
        message = "this folder is not trusted yet: claude -p ignores the rules that allow calls here, so none would run"
        fix = f"start claude here once and accept, or give it --allowedTools '{PERMISSION}'"
        yield Finding("warn", "settings", message, fix)


def guards_commands(wired: Sequence[WiredHook]) -> bool:
    """Return whether guard and gate are wired for commands."""
    return all(_hooks_of(row, wired) for row in bundle.wiring() if _is_for_commands(row))


def check_wiring(
    wired: Sequence[WiredHook], servers: Collection[str] = (), *, commands: bool = True
) -> Iterator[Finding]:
    """Yield a finding for each row of the shipped wiring, and for each other hook that could undo what ours do.

    servers   names of the servers that are configured; the hooks of another one are missed only if it has some of them
    commands  whether hooks on commands are needed
    """
    rows = list(bundle.wiring())
    begun = {_server_of(row) for row in rows if not _is_for_commands(row) and _hooks_of(row, wired)}
    for row in rows:
        name, hooks = f"{row.script} at {row.event} on {row.matcher}", _hooks_of(row, wired)
        if hooks:
            yield Finding("ok", "wiring", f"{name} ({hooks[0].origin})")
        elif _is_for_commands(row):
            if commands:
                yield Finding("fail", "wiring", f"{name} is not wired", f"{INIT}, or install the plugin")
        elif _server_of(row) in begun.union(servers):
            yield Finding("warn", "wiring", f"{name} is not wired", f"{INIT}, if a server of this name is in use")
        for hook in hooks:
            yield from hook_faults(hook.script, hook.event, hook.hook)
    for hook in wired:
        if not hook.script and hook.event in _REWRITING and matches(hook.matcher, "Bash"):
            target, field = _REWRITING[hook.event]
            other = f"{hook.origin} has another {hook.event} hook on Bash"
            fix = f"make sure that it never prints {field}"
            yield Finding("warn", "wiring", f"{other}: if it rewrites {target}, the last to finish wins", fix)


def _hooks_of(row: bundle.WiringRow, wired: Sequence[WiredHook]) -> list[WiredHook]:
    tools = row.matcher.split("|")
    return [hook for hook in wired if all(hook.runs_for(row.event, row.script, tool) for tool in tools)]


def _is_for_commands(row: bundle.WiringRow) -> bool:
    return "Bash" in row.matcher.split("|")


def _server_of(row: bundle.WiringRow) -> str:
    """Return the server whose tools a row is about. The rows on resources count as Neo4j's."""
    return row.matcher.split("__")[1] if "__" in row.matcher else USUAL_NAME


def check_servers(servers: Sequence[Neo4jServer], wired: Sequence[WiredHook]) -> Iterator[Finding]:
    """Yield a finding for each MCP server of Neo4j: its tools must have the names that the hooks are wired for."""
    if not servers:
        yield Finding("note", "neo4j", f"no {PROGRAM} server is configured here, so its tools were not checked")
    for server in servers:
        needed = [("PreToolUse", server.tool(name)) for name in guard.NEO4J_TOOLS]
        needed.append(("PostToolUse", server.tool(guard.NEO4J_READ)))
        needed += [("PreToolUse", tool) for tool in guard.RESOURCE_TOOLS]
        missing = [
            f"{bundle.SCRIPTS[event]} on {tool}"
            for event, tool in needed
            if not any(hook.runs_for(event, bundle.SCRIPTS[event], tool) for hook in wired)
        ]
        if missing:
            message = f"server {server.name} of {server.origin}: {', '.join(missing)} is not wired"
            fix = f"call the server {USUAL_NAME}, without a namespace, and {INIT}"
            yield Finding("fail", "neo4j", message, fix)
        else:
            yield Finding("ok", "neo4j", f"the tools of server {server.name} ({server.origin}) match the wiring")


def distinct(wired: Sequence[WiredHook]) -> list[WiredHook]:
    """Return the hooks of ours, each command once: the client runs a command once, however many entries name it."""
    ours = [hook for hook in wired if hook.script == bundle.SCRIPTS.get(hook.event)]
    return list({(hook.event, hook.command, hook.root): hook for hook in reversed(ours)}.values())[::-1]


def try_hook(hook: WiredHook, environ: Mapping[str, str], system: System) -> list[Finding]:
    """Run a wired command on a planted leak, which it must stop."""
    trial = trial_for(hook)
    passes = is_passed(trial, hook, environ, system)
    name = f"{hook.script} of {hook.origin}"
    if passes:
        findings = [Finding("ok", "trial", f"{name} {trial.promise}")]
    elif passes is None:
        message = f"{name} gave no answer in {system.seconds} s"
        findings = [Finding("fail", "trial", message, "run it again on a calmer machine")]
    elif hook.path and not hook.path.is_file():
        findings = [Finding("fail", "trial", f"{name}: there is no file {hook.path}", INIT)]
    else:
        findings = [Finding("fail", "trial", f"{name} does not do this: {trial.promise}", f"{INIT} --upgrade")]
    if hook.path and hook.path.is_file() and not os.access(hook.path, os.X_OK):
        findings.append(Finding("warn", "files", f"{hook.path} is not executable", f"chmod +x {hook.path}"))
    return findings


# Trials of a wired hook.


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


def is_passed(trial: Trial, hook: WiredHook, environ: Mapping[str, str], system: System) -> bool | None:
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
