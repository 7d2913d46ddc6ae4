"""The law of doctor's verdict: whoever can run another command here, or read the web, is named as a way past pit_fetch.

What an agent can run is what the guard itself lets it run, and what it has is what its file and the settings say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.doctor import Project
from pit_fetch.claude_code.reach import open_ways
from pit_fetch.support.bundled import gate, load
from tests.memory_folder import scratch

guard = load("pit_guard")

_CEILING = {gate.CEILING_VARIABLE: "2024-02-15T16:00:00-05:00"}
_WAYS = ("Bash", "Monitor", "WebFetch", "WebSearch")
_TOOLS = (*_WAYS, "Bash(ls *)", "Read", "Grep")
_RULES = (*_WAYS, "Bash(curl *)", "WebFetch(domain:example.com)", "Read")
_VALUES = (None, "", "0", "1", "true")


class Actor(NamedTuple):
    """The session (without a name), or an agent: the tools that it lists, or None, and those that its file denies."""

    name: str
    tools: list[str] | None = None
    denied: tuple[str, ...] = ()


def named_ways(rng: Random) -> int:
    """Return how many ways were open; each of them is named with who can go it."""
    settings: dict[str, Any] = {"hooks": _hooks(), "permissions": {"deny": rng.sample(_RULES, rng.randrange(4))}}
    value, own = rng.choice(_VALUES), rng.choice(_VALUES)
    environ = {**_CEILING, **({} if own is None else {guard.ONLY_VARIABLE: own})}
    settings["env"] = {} if value is None else {guard.ONLY_VARIABLE: value}
    is_enabled = rng.random() < 0.5
    settings["enabledPlugins"] = {"tools@market": is_enabled}
    names = rng.sample(("fred", "yahoo", "researcher", "fred-helper", "Fred", "analyst"), 4)
    agents = [Actor(name, *_tools(rng)) for name in names]
    with scratch("enforcement-") as folder:
        root = Path(folder)
        environ["HOME"] = str(root / "home")
        _write(root, agents, settings)
        project = Project(environ, root / "project")
        said = {way.message for way in open_ways(project.scope, project.servers, [])}
    of_plugin = agents.pop()
    agents += [of_plugin._replace(name=f"tools:{of_plugin.name}")] if is_enabled else []
    variables, rules = {**environ, **settings["env"]}, settings["permissions"]["deny"]
    opened = [(actor, way) for actor in (Actor(""), *agents) for way in _ways(actor, rules, variables)]
    for actor, way in opened:
        who = f"the agent {actor.name}" if actor.name else "this session"
        clauses = [message.split(": ") for message in said]
        assert any(what.startswith(way) and who in users.split(", ") for what, users in clauses), (actor, way, said)
    return len(opened)


def _ways(actor: Actor, rules: list[str], environ: dict[str, str]) -> Iterator[str]:
    """Yield the ways that an actor can go, in the words with which they are named."""
    lost = {*rules, *actor.denied}
    has = [way for way in _WAYS if actor.tools is None or way in {tool.partition("(")[0] for tool in actor.tools}]
    for way in has:
        is_lost = way in lost or ("Bash" in lost and way == "Monitor")
        if not is_lost and (way.startswith("Web") or _runs(way, actor.name, environ)):
            yield way if way.startswith("Web") else "any command"


def _runs(tool: str, agent: str, environ: dict[str, str]) -> bool:
    """Return whether the guard leaves another command alone."""
    call = {"tool_name": tool, "tool_input": {"command": "curl https://example.com"}, "agent_type": agent, "cwd": "/"}
    try:
        return guard.decide(call, environ, gate) is None
    except guard.Refusal:
        return False


def _tools(rng: Random) -> tuple[list[str] | None, tuple[str, ...]]:
    listed = rng.choice((None, rng.sample(_TOOLS, rng.randrange(1, 4))))
    return listed, tuple(rng.sample(_RULES, rng.randrange(3))) if rng.random() < 0.3 else ()


def _write(root: Path, agents: list[Actor], settings: dict[str, Any]) -> None:
    """Write an agent each of a project, of the folder above it, of the user, and of a plugin, which may be off."""
    plugins = root / "home" / ".claude" / "plugins"
    homes = (root / "project" / ".claude", root / ".claude", root / "home" / ".claude", root / "tools")
    for home, actor in zip(homes, agents, strict=True):
        (home / "agents").mkdir(parents=True)
        listed = "" if actor.tools is None else f"tools: [{', '.join(map(json.dumps, actor.tools))}]\n"
        lost = f"disallowedTools: [{', '.join(map(json.dumps, actor.denied))}]\n"
        text = f"---\nname: {actor.name}\ndescription: x\n{listed}{lost}---\nAsk.\n"
        (home / "agents" / f"{actor.name}.md").write_text(text)
    plugins.mkdir()
    installed = {"plugins": {"tools@market": [{"installPath": str(root / "tools")}]}}
    (plugins / "installed_plugins.json").write_text(json.dumps(installed))
    (homes[0] / "settings.json").write_text(json.dumps(settings))


def _hooks() -> dict[str, list[Any]]:
    hooks: dict[str, list[Any]] = {}
    for row in bundle.wiring():
        hooks.setdefault(row.event, []).append({"matcher": row.matcher, "hooks": [row.command]})
    return hooks
