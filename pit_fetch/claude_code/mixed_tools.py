"""Find agents that mix two kinds of tools: some that answer as of a fixed instant, and others that answer for today."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pit_fetch.claude_code.mcp_entry import NAME, is_ours
from pit_fetch.claude_code.mcp_servers import Entry, entries_in

# Tools of the client that read and write files, keep lists, and ask its user. Any other may tell of today: it runs a
# command, reads the web or another server's resources, or asks another agent.
OF_NO_TIME = {
    *("Edit", "Glob", "Grep", "LS", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Write"),
    *("TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite"),
    *("AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillShell", "Skill", "ToolSearch"),
}
ALL = "*"


def gated_names(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the names of servers whose instant is fixed."""
    return frozenset(entry.name for entry in entries if is_ours(entry.command))


def own_servers(front: Any) -> tuple[Entry, ...]:
    """Return the servers in an agent's frontmatter; one that is configured elsewhere has no command."""
    parts = front if isinstance(front, list) else [front]
    return tuple(entry for part in parts for entry in _own_servers(part))


def _own_servers(part: Any) -> Iterator[Entry]:
    if isinstance(part, dict):
        yield from entries_in({"mcpServers": part})
    elif isinstance(part, str):
        yield Entry(part)


def of_today(
    tools: Sequence[str] | None, own: Sequence[Entry], configured: AbstractSet[str], exempt: AbstractSet[str]
) -> list[str]:
    """Return the tools and servers of an agent that answer for today, if it has others as of an instant.

    tools       as its frontmatter lists them; None for every tool of the session
    own         the servers that it brings along
    configured  names of the project's servers whose instant is fixed
    exempt      tools that hooks judge
    """
    names = [ALL] if tools is None else [tool.partition("(")[0] for tool in tools]
    known = configured | gated_names(own)
    gated = known | {NAME}
    servers = {name: name.split("__")[1] for name in names if name.startswith("mcp__")}
    has_all = not {ALL, "mcp__*"}.isdisjoint(names)
    if gated.isdisjoint(servers.values()) and not (has_all and known):
        return []
    others = [name for name in names if name not in OF_NO_TIME | exempt and servers.get(name) not in gated]
    return others + [server.name for server in own if server.name not in gated]
