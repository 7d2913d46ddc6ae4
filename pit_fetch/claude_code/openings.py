"""Where a project is open: the main session, and the agents, that have tools which nothing holds to the PIT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pit_fetch.claude_code import bundle, open_tools
from pit_fetch.claude_code.agents import Agent, agents_in
from pit_fetch.claude_code.client_settings import (
    MANAGED,
    Settings,
    WiredHook,
    denied_rules,
    enabled_plugins,
    user_folder,
)
from pit_fetch.claude_code.mcp_entry import NAME, is_ours
from pit_fetch.claude_code.mcp_servers import Entry, tool_prefix
from pit_fetch.claude_code.open_tools import Holds
from pit_fetch.claude_code.readable_files import effective_value
from pit_fetch.support.bundled import load

guard = load("pit_guard")

_MOST = 10  # that a sentence names


@dataclass(frozen=True)
class Opening:
    """Open tools of the main session, or of the agent ``agent``, which the file ``origin`` describes."""

    tools: tuple[str, ...]
    agent: str = ""
    origin: Path = Path()


def holds_of(
    settings: Sequence[Settings], environ: Mapping[str, str], servers: Sequence[Entry], wired: Sequence[WiredHook]
) -> Holds:
    """Return what holds the tools of a session, as its files and its environment say."""
    only = effective_value(settings, environ, guard.ONLY_VARIABLE) or ""
    foreign = dict.fromkeys(tool_prefix(server.name) for server in servers if not is_ours(server.command))
    ours = {tool_prefix(server.name) for server in servers} | {tool_prefix(NAME)}
    held = (ours - foreign.keys()) | set(_judged(wired))
    return Holds(
        is_guarded=any(hook.runs_for("PreToolUse", "pit_guard.py", "Bash") for hook in wired),
        is_wrapper_only=guard.is_wrapper_only({}, {guard.ONLY_VARIABLE: only}),
        held=held,
        others=[name for name in foreign if name not in held],
        denied={rule for file in settings for rule in denied_rules(file)},
    )


def _judged(wired: Sequence[WiredHook]) -> Iterator[str]:
    """Yield the servers whose tools the hooks judge: those of the shipped wiring, if each row of theirs is wired."""
    rows = [row for row in bundle.wiring() if row.matcher.startswith("mcp__")]
    for prefix in {row.matcher.rpartition("__")[0] for row in rows}:
        own = [row for row in rows if row.matcher.startswith(f"{prefix}__")]
        if all(any(hook.runs_for(row.event, row.script, row.matcher) for hook in wired) for row in own):
            yield prefix


def agents_of_session(
    environ: Mapping[str, str], project: Path, settings: Sequence[Settings]
) -> Iterator[tuple[Path, Agent | Exception]]:
    """Yield the agents of the project, of the user, of an administrator and of plugins, each with its file."""
    folders = [project / ".claude", user_folder(environ), *(folder / ".claude" for folder in MANAGED)]
    for folder in dict.fromkeys(folders):
        yield from agents_in(folder / "agents")
    for plugin, root in enabled_plugins(user_folder(environ), settings):
        for path, agent in agents_in(root / "agents"):
            name = f"{plugin.partition('@')[0]}:"
            yield path, replace(agent, name=name + agent.name) if isinstance(agent, Agent) else agent


def openings(agents: Iterable[tuple[Path, Agent | Exception]], holds: Holds) -> Iterator[Opening]:
    """Yield where a session with these agents is open."""
    tools = open_tools.of_session(holds)
    if tools:
        yield Opening(tuple(tools))
    yield from openings_of(agents, holds)


def openings_of(agents: Iterable[tuple[Path, Agent | Exception]], holds: Holds) -> Iterator[Opening]:
    """Yield which agents are open. One that cannot be read here may have any tool."""
    for path, agent in agents:
        if isinstance(agent, Exception) and not _has_frontmatter(path):
            continue
        readable = agent if isinstance(agent, Agent) else Agent(path.stem, None, (), (), "")
        tools = open_tools.of_agent(readable, holds)
        if tools:
            yield Opening(tuple(tools), readable.name, path)


def _has_frontmatter(path: Path) -> bool:
    return path.read_text("utf-8", "replace").lstrip("\ufeff \t\r\n").startswith("---")


def advice(opening: Opening, holds: Holds) -> str:
    """Return how to close an opening."""
    commands = [tool for tool in opening.tools if tool in ("Bash", "Monitor") and holds.is_guarded]
    others = [tool for tool in opening.tools if tool not in commands]
    steps = [f"set {guard.ONLY_VARIABLE}=1"] if commands else []
    if others and opening.agent:
        steps.append(f"take {', '.join(others)} away from it")
    elif others:
        steps.append(f"deny {', '.join(others)} in the permissions of .claude/settings.json")
    return ", and ".join(steps)


def sentence(where: Sequence[Opening]) -> str:
    """Return where a session is open, as the end of a sentence."""
    agents = [f"{opening.agent} ({', '.join(opening.tools)})" for opening in where if opening.agent]
    more = f" and {len(agents) - _MOST} more" if len(agents) > _MOST else ""
    places = [f"in the main session ({', '.join(opening.tools)})" for opening in where if not opening.agent]
    if agents:
        places.append(f"in the agent{'s' if agents[1:] else ''} {', '.join(agents[:_MOST])}{more}")
    return ", and ".join(places)
