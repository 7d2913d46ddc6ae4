"""A session of the client in a project, as the files of the project, its user and an administrator make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pit_fetch.claude_code import bundle, lint, openings
from pit_fetch.claude_code.agents import Agent
from pit_fetch.claude_code.client_settings import Settings, WiredHook, hooks_in, read_settings, user_folder
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import Entry, entries
from pit_fetch.claude_code.open_tools import Holds
from pit_fetch.claude_code.openings import Opening, agents_of_session
from pit_fetch.claude_code.readable_files import effective_value


@dataclass(frozen=True)
class Session:
    """What a session has: settings files, the strongest first, hooks, servers and agents; and what holds its tools."""

    environ: Mapping[str, str]
    project: Path
    settings: Sequence[Settings]
    wired: Sequence[WiredHook]
    servers: Sequence[Entry]
    agents: Sequence[tuple[Path, Agent | Exception]]
    holds: Holds

    @property
    def openings(self) -> list[Opening]:
        """Return where the session is open."""
        return list(openings.openings(self.agents, self.holds))

    @property
    def adapters(self) -> list[str]:
        """Return the names of the data agents of the project and of the user that can run commands."""
        return [agent.name for agent in self._own_agents if lint.is_data_agent(agent) and agent.can_run_commands]

    @property
    def held(self) -> list[str]:
        """Return which agents may run only pit_fetch, and have Bash; "" for the session itself."""
        if not self.holds.is_wrapper_only:
            return self.adapters
        # An agent's own servers would be started with it.
        return ["", *(agent.name for agent in self._own_agents if agent.has_bash and not agent.servers)]

    @property
    def uses_hooks(self) -> bool:
        """Return whether the hooks are to hold this session, and not the instants of its servers alone."""
        folders = (self.project / ".claude", user_folder(self.environ))
        files = any((folder / "hooks" / name).exists() for folder in folders for name in bundle.HOOK_FILES)
        has_server = any(is_ours(server.command) for server in self.servers)
        return files or not has_server or bool(self.adapters) or any(hook.script for hook in self.wired)

    @property
    def _own_agents(self) -> list[Agent]:
        # A plugin may lie in the user's folder, but not among the user's agents.
        folders = (self.project / ".claude" / "agents", user_folder(self.environ) / "agents")
        own = {
            agent.name: agent
            for path, agent in self.agents
            if isinstance(agent, Agent) and any(path.is_relative_to(folder) for folder in folders)
        }
        return list(own.values())

    def variable(self, name: str) -> str | None:
        """Return a variable as a process of the client sees it."""
        return effective_value(self.settings, self.environ, name)


def read_session(environ: Mapping[str, str], project: Path) -> Session:
    """Read what a session in ``project`` would have."""
    settings = read_settings(environ, project)
    wired = [hook for file in settings for hook in hooks_in(file)]
    servers = list(entries(environ, project))
    holds = openings.holds_of(settings, environ, servers, wired)
    agents = list(agents_of_session(environ, project, settings))
    return Session(environ, project, settings, wired, servers, agents, holds)
