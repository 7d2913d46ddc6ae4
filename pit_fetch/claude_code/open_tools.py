"""Which tools of a session and of its agents are open: nothing holds to the PIT what they bring. Pure.

What a tool does that is not known here may bring anything, so it is open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pit_fetch.claude_code.agents import Agent
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import Entry, tool_prefix
from pit_fetch.claude_code.mixed_tools import ALL, OF_NO_TIME
from pit_fetch.support.bundled import load

guard = load("pit_guard")

_COMMANDS = ("Bash", "Monitor")
_OF_SESSION = (*_COMMANDS, "WebSearch", "WebFetch")
_ASKING_AGENTS = ("Agent", "Task", "Workflow")  # the client's own agents have the tools of the session


@dataclass(frozen=True)
class Holds:
    """What holds the tools of a session to the PIT, or takes them away.

    is_guarded       the guard is wired
    is_wrapper_only  Bash is for pit_fetch alone in the whole session
    held             servers that are held, by the prefix of their tools (``mcp__NAME``)
    others           the servers that are not
    denied           the rules of ``permissions.deny`` in the client's settings
    """

    is_guarded: bool = False
    is_wrapper_only: bool = False
    held: Collection[str] = ()
    others: Sequence[str] = ()
    denied: Collection[str] = ()


def of_session(holds: Holds) -> list[str]:
    """Return the open tools of the main session."""
    return _named(tool for tool in _every(holds) if _is_open(tool, holds, holds.is_wrapper_only, ()))


def of_agent(agent: Agent, holds: Holds) -> list[str]:
    """Return the open tools of an agent."""
    names = [ALL] if agent.tools is None else [tool.partition("(")[0] for tool in agent.tools]
    own = {tool_prefix(server.name): _is_own_held(server, holds) for server in agent.servers}
    holds = Holds(**{**vars(holds), "held": {*holds.held, *(name for name, is_held in own.items() if is_held)}})
    has_one_call = holds.is_wrapper_only or agent.name.rpartition(":")[2] in guard.ADAPTERS
    tools = [tool for name in names for tool in _meant(name, holds)]
    brought = [name for name, is_held in own.items() if not is_held and not _is_in(name, holds.denied)]
    return _named([*(tool for tool in tools if _is_open(tool, holds, has_one_call, agent.disallowed)), *brought])


def _is_own_held(server: Entry, holds: Holds) -> bool:
    """Return whether a server that an agent brings is held: ours, or one that is configured elsewhere and held."""
    return is_ours(server.command) if server.command else tool_prefix(server.name) in holds.held


def _every(holds: Holds) -> Sequence[str]:
    return (*_OF_SESSION, *holds.others)


def _meant(name: str, holds: Holds) -> Sequence[str]:
    if name == ALL:
        return _every(holds)
    return holds.others if name == "mcp__*" else [name]


def _is_open(tool: str, holds: Holds, has_one_call: bool, disallowed: Collection[str]) -> bool:
    if tool in OF_NO_TIME or _is_in(tool, holds.denied) or _is_in(tool, disallowed):
        return False
    if tool in _COMMANDS:
        return not (holds.is_guarded and has_one_call)
    if tool in _ASKING_AGENTS:
        return bool(of_session(holds))
    if tool in guard.RESOURCE_TOOLS:
        return any(_is_open(server, holds, has_one_call, disallowed) for server in holds.others)
    return not any(_is_of(tool, server) for server in holds.held)


def _is_in(tool: str, rules: Collection[str]) -> bool:
    """Return whether rules take a tool away as a whole. One of Bash is one of Monitor, too (measured)."""
    wide = {tool, f"{tool}(*)", *(("Bash", "Bash(*)") if tool in _COMMANDS else ())}
    servers = (rule.removesuffix("__*") for rule in rules if rule.startswith("mcp__"))
    return not wide.isdisjoint(rules) or any(_is_of(tool, server) for server in servers)


def _is_of(tool: str, server: str) -> bool:
    return tool == server or tool.startswith(f"{server}__")


def _named(tools: Iterator[str] | Sequence[str]) -> list[str]:
    """Return each tool once. Whoever has Bash needs no Monitor."""
    names = list(dict.fromkeys(tools))
    return [name for name in names if name != "Monitor" or "Bash" not in names]
