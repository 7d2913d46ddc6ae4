"""The law of doctor's verdict: each way past pit_fetch is named, with everyone who can go it.

The ways are to run another command, to read the web, to ask a server of one's own, and to edit what runs as pit_fetch.

What an agent can run is what the guard itself lets it run, and what it has is what its file and the settings say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.doctor import Project
from pit_fetch.claude_code.editable_files import editable_ways
from pit_fetch.claude_code.reach import open_ways
from pit_fetch.support.bundled import gate, load
from tests.memory_folder import scratch

guard = load("pit_guard")

_CEILING = {gate.CEILING_VARIABLE: "2024-02-15T16:00:00-05:00"}
_WAYS = ("Bash", "Monitor", "WebFetch", "WebSearch")
_EDITS = ("Edit", "NotebookEdit", "Write")
_TOOLS = (*_WAYS, *_EDITS, "Bash(ls *)", "Read", "Grep")
_RULES = (*_WAYS, *_EDITS, "Bash(curl *)", "WebFetch(domain:example.com)", "Read", "mcp__news")
_VALUES = (None, "", "0", "1", "true")


class Actor(NamedTuple):
    """The session (without a name), or an agent.

    tools    those that it lists, or None
    denied   those that its file denies
    servers  those that it brings
    """

    name: str
    tools: list[str] | None = None
    denied: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()


def named_ways(rng: Random) -> int:
    """Return how many ways were open; each of them is named with who can go it."""
    settings: dict[str, Any] = {"hooks": _hooks(), "permissions": {"deny": rng.sample(_RULES, rng.randrange(4))}}
    value, own = rng.choice(_VALUES), rng.choice(_VALUES)
    environ = {**_CEILING, **({} if own is None else {guard.ONLY_VARIABLE: own})}
    settings["env"] = {} if value is None else {guard.ONLY_VARIABLE: value}
    is_enabled = rng.random() < 0.5
    settings["enabledPlugins"] = {"tools@market": is_enabled}
    names = rng.sample(("fred", "yahoo", "researcher", "fred-helper", "Fred", "analyst"), 4)
    agents = [Actor(name, *_tools(rng), ("news",) if rng.random() < 0.3 else ()) for name in names]
    has_open_path = rng.random() < 0.5
    with scratch("enforcement-") as folder:
        root = Path(folder)
        environ |= {"HOME": str(root / "home"), "PATH": f"{root}/project/bin" if has_open_path else f"{root}/bin"}
        _write(root, agents, settings)
        project = Project(environ, root / "project")
        found = [
            *open_ways(project.scope, project.servers, []),
            *editable_ways(project.scope, project.settings, project.wired, [], environ, project.folder),
        ]
        said = {way.message for way in found if way.level == "open"}
    of_plugin = agents.pop()
    agents += [of_plugin._replace(name=f"tools:{of_plugin.name}")] if is_enabled else []
    variables, rules = {**environ, **settings["env"]}, settings["permissions"]["deny"]
    actors = (Actor(""), *agents)
    opened = [(actor, way) for actor in actors for way in _ways(actor, rules, variables)]
    opened += [(actor, "a folder of PATH") for actor in actors if has_open_path and _has(actor, _EDITS, rules)]
    for actor, way in opened:
        who = f"the agent {actor.name}" if actor.name else "this session"
        clauses = [message.split(": ") for message in said]
        assert any(what.startswith(way) and who in users.split(", ") for what, users in clauses), (actor, way, said)
    return len(opened)


def _ways(actor: Actor, rules: list[str], environ: dict[str, str]) -> Iterator[str]:
    """Yield the ways that an actor can go, in the words with which they are named."""
    lost = {*rules, *actor.denied}
    if "news" in actor.servers and "mcp__news" not in lost:
        yield "the server news"
    for way in _has(actor, _WAYS):
        is_lost = way in lost or ("Bash" in lost and way == "Monitor")
        if not is_lost and (way.startswith("Web") or _runs(way, actor.name, environ)):
            yield way if way.startswith("Web") else "any command"


def _has(actor: Actor, tools: Sequence[str], rules: Sequence[str] | None = None) -> list[str]:
    """Return those of ``tools`` that an actor's list has; with ``rules``, without those that are taken from it."""
    listed = None if actor.tools is None else {tool.partition("(")[0] for tool in actor.tools}
    lost = () if rules is None else {*rules, *actor.denied}
    return [tool for tool in tools if (listed is None or tool in listed) and tool not in lost]


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
        servers = "".join(f"mcpServers: [{{{name}: {{command: npx}}}}]\n" for name in actor.servers)
        text = f"---\nname: {actor.name}\ndescription: x\n{listed}{lost}{servers}---\nAsk.\n"
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
