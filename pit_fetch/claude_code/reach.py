"""Find what an agent can reach beside calls that are held to the PIT: any command, the web, servers of today.

The session can use every tool that settings do not deny. An agent can use those of them that it lists, or all if it
lists none. What settings deny is denied to agents as well (measured on the client, 2.1.329).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pit_fetch.claude_code.client_settings import Settings, drop_reason
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.lint import Agent
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import Entry
from pit_fetch.support.bundled import load

guard = load("pit_guard")

SESSION = "session"
# The tools that run commands, and those that read the web.
COMMANDS = ("Bash", "Monitor")
WEB = ("WebFetch", "WebSearch")


class Scope(NamedTuple):
    """Who can use which tools.

    agents     of the project and of the user
    denied     tools and servers that the settings deny to all
    is_held    whether every command of the session is held to pit_fetch
    is_guarded whether the guard and the gate are wired for commands
    trusted    names that are not asked about: ``session``, agents, servers
    """

    agents: Sequence[Agent]
    denied: frozenset[str]
    is_held: bool
    is_guarded: bool
    trusted: AbstractSet[str] = frozenset()

    @property
    def has_commands(self) -> bool:
        """Whether some command can run."""
        return not self.denied.issuperset(COMMANDS)

    def users(self, tools: Collection[str], is_held: Callable[[Agent], bool]) -> list[str]:
        """Return who can use one of ``tools`` and is not held, in words; nobody if settings deny all of them."""
        if self.denied.issuperset(tools):
            return []
        names = [f"the agent {agent.name}" for agent in self.agents if self._asks_about(agent, tools, is_held)]
        return ["this session", *names] if SESSION not in self.trusted else names

    def _asks_about(self, agent: Agent, tools: Collection[str], is_held: Callable[[Agent], bool]) -> bool:
        return agent.name not in self.trusted and _lists(agent, tools) and not is_held(agent)


def denied(settings: Sequence[Settings]) -> frozenset[str]:
    """Return the names of tools and servers that some settings file denies as a whole."""
    rules: set[str] = set()
    for file in settings:
        permissions = None if drop_reason(file) else file.get("permissions")
        named = permissions.get("deny") if isinstance(permissions, dict) else None
        rules |= {rule for rule in named if isinstance(rule, str)} if isinstance(named, list) else set()
    return frozenset(rules)


def open_ways(scope: Scope, servers: Sequence[Entry]) -> Iterator[Finding]:
    """Yield a finding for each way past the PIT that is open, with who can go it, and what closes it."""
    if not scope.is_held:
        users = scope.users(COMMANDS, lambda agent: scope.is_guarded and agent.name in guard.ADAPTERS)
        alone = f"set {guard.ONLY_VARIABLE}=1 in the environment that starts the client"
        never = _denying(*COMMANDS)
        yield from _open("any command can be run", users, f"{alone}, or {never}" if scope.is_guarded else never)
    for tool in WEB:
        users = scope.users([tool], lambda agent: False)
        yield from _open(f"{tool} answers for today", users, _denying(tool))
    own = [server for agent in scope.agents if agent.name not in scope.trusted for server in agent.servers]
    others = (server.name for server in [*servers, *own] if server.command and not is_ours(server.command))
    for name in dict.fromkeys(others):
        users = [] if name in scope.trusted else scope.users([f"mcp__{name}"], lambda agent: False)
        fix = f"put pit_fetch mcp-gate in front of it, or {_denying(f'mcp__{name}')}"
        yield from _open(f"the server {name} may answer for today", users, fix)


def _denying(*tools: str) -> str:
    return f"deny it to all: pit_fetch init --deny {','.join(tools)}"


def _open(way: str, users: Sequence[str], fix: str) -> Iterator[Finding]:
    if users:
        yield Finding("open", "scope", f"{way}: {', '.join(users)}", fix)


def _lists(agent: Agent, tools: Collection[str]) -> bool:
    if agent.tools is None or "*" in agent.tools:
        return True
    listed = {tool.partition("(")[0] for tool in agent.tools}
    return any(name == tool or name.startswith(f"{tool}__") for name in listed for tool in tools)
