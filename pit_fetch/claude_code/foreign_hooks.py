"""Hooks of others that could undo what the guard and the gate do, and commands that no hook sees.

Of two hooks that rewrite one call, the last to finish wins. ``doctor --prove`` tries those of the settings, in a
session in which Bash is allowed: it tries none of an agent, of a skill, or at PermissionRequest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.agents import AgentHook
from pit_fetch.claude_code.client_settings import WiredHook, matches
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.reach import COMMANDS, SESSION, Scope, denying, opened
from pit_fetch.claude_code.skills import Skill

_REWRITING = ("PermissionRequest", "PreToolUse", "PostToolUse")
# What a hook prints at these events is added to the conversation.
_ADDING = ("SessionStart", "SubagentStart", "UserPromptSubmit")
_FIX = "remove the hook, or see that it never prints updatedInput or updatedToolOutput, and --trust {}"


def foreign_ways(scope: Scope, wired: Sequence[WiredHook], skills: Sequence[Skill]) -> Iterator[Finding]:
    """Yield a finding for each hook that no proof tries, and for each command that no hook sees."""
    if not scope.has_commands:
        return
    session = ["this session"] if SESSION not in scope.trusted else []
    for agent in scope.agents:
        if agent.name not in scope.trusted and any(map(_may_undo, agent.hooks)):
            way = f"a hook of the agent {agent.name} may put back what the guard replaced"
            yield from opened(way, [f"the agent {agent.name}"], _FIX.format(agent.name))
    for skill in skills:
        if skill.name in scope.trusted:
            continue
        if skill.hooks is None or any(map(_may_undo, skill.hooks)):
            way = f"a hook of the skill {skill.name} may put back what the guard replaced"
            yield from opened(way, session, _FIX.format(skill.name))
        if skill.runs_commands:
            fix = f"take its lines with ! out, or {denying(*COMMANDS)}"
            yield from opened(
                f"the skill {skill.name} runs a command as it is loaded, which no hook sees", session, fix
            )
    for hook in wired:
        if hook.event == "PermissionRequest" and matches(hook.matcher, "Bash"):
            way = f"a PermissionRequest hook of {hook.origin} may put back what the guard replaced"
            yield from opened(way, session, "remove it")


def adding_hooks(wired: Sequence[WiredHook]) -> Iterator[Finding]:
    """Yield a warning for each hook whose output the model reads, unjudged."""
    for hook in wired:
        if hook.event in _ADDING:
            message = f"{hook.origin} has a {hook.event} hook: what it prints reaches the model, and nothing judges it"
            yield Finding("warn", "wiring", message, "make sure that it prints nothing from after the PIT")


def _may_undo(hook: AgentHook) -> bool:
    is_ours = bundle.script_of(hook.command) == bundle.SCRIPTS.get(hook.event)
    return hook.event in _REWRITING and not is_ours and any(matches(hook.matcher or "", tool) for tool in COMMANDS)
