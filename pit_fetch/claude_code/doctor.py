"""Examine whether this computer and a project really enforce the PIT.

Looks at the machine, the hooks that a client would run and their files, the environment, the MCP servers and what an
agent can reach beside all of them, and sends a planted leak through each wired command. Every finding names its fix.
Nothing is changed, and no credential's value is shown.

Files alone never show that the PIT is enforced: only the client can, when it runs planted leaks in this project
(:func:`try_client`).
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from pit_fetch.claude_code import environment_check, lint, machine_check, mcp_check, wiring_check
from pit_fetch.claude_code.agents import Agent, agent_or_any, agents_in, skills_in
from pit_fetch.claude_code.client_settings import (
    MANAGED,
    WiredHook,
    agent_folders,
    enabled_plugins,
    hooks_in,
    read_settings,
    user_folder,
)
from pit_fetch.claude_code.editable_files import editable_ways
from pit_fetch.claude_code.file_permissions import effective_value
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import ServerEntry, broken_files, entries, is_trusted, neo4j_servers
from pit_fetch.claude_code.reach import Scope, adding_hooks, denied_tools, foreign_ways, open_ways
from pit_fetch.claude_code.system import THIS_SYSTEM, Finding, System
from pit_fetch.support.bundled import gate, load
from pit_fetch.support.version import __version__

guard = load("pit_guard")


class Project:
    """What the client would find in a session in ``folder``."""

    def __init__(self, environ: Mapping[str, str], folder: Path, trusted: AbstractSet[str] = frozenset()) -> None:
        self.environ, self.folder = environ, folder
        self.settings = read_settings(environ, folder)
        self.wired: list[WiredHook] = [hook for file in self.settings for hook in hooks_in(file)]
        self.servers: list[ServerEntry] = list(entries(environ, folder))
        self.ours = [entry for entry in self.servers if mcp_check.is_served(entry)]
        self.ceiling = effective_value(self.settings, environ, gate.CEILING_VARIABLE)
        self.homes = (folder / ".claude", user_folder(environ))
        is_guarded = wiring_check.guards_commands(self.wired)
        only = effective_value(self.settings, environ, guard.ONLY_VARIABLE) or ""  # as the guard sees it
        is_held = is_guarded and guard.is_wrapper_only({}, {guard.ONLY_VARIABLE: only})
        # Of the project and of the folders above it, of the user and of an administrator.
        own = [*agent_folders(folder), self.homes[1].resolve(), *(place / ".claude" for place in MANAGED)]
        homes = [("", home) for home in dict.fromkeys(own)]
        plugins = list(enabled_plugins(user_folder(environ), self.settings))
        self.own_agents, agents = _agents_of(homes), _agents_of([*homes, *plugins])
        self.skills = [skill for _, home in [*homes, *plugins] for skill in skills_in(home)]
        self.scope = Scope(agents, denied_tools(self.settings), is_held, is_guarded, trusted)

    @property
    def needs_hooks(self) -> bool:
        """Return whether calls of pit_fetch go through commands. Servers alone need no hooks."""
        has_any = bool(self.adapters) or any(hook.script for hook in self.wired)
        has_server = any(is_ours(server.command) for server in self.servers)
        return self.scope.has_commands and (has_any or not has_server)

    @property
    def proof_clause(self) -> str:
        """Return what a proof here shows, as a clause."""
        if self.needs_hooks:
            return f"Every pit_fetch call is held to {self.ceiling} here"
        return f"No argument moves the instant of {', '.join(server.name for server in self.ours)} here"

    @property
    def held_agents(self) -> list[str]:
        """Return who can run commands, and may run only pit_fetch: agents, and "" for the session itself."""
        if not self.scope.is_held:
            return self.adapters
        # An agent's own servers would be started with it.
        names = [agent.name for agent in self.own_agents if agent.has_bash and not agent.servers]
        return ["", *dict.fromkeys(names)]

    @property
    def untried_agents(self) -> list[str]:
        """The agents that a proof leaves out, since their own servers would be started with them."""
        if not self.scope.is_held:
            return []
        return list(dict.fromkeys(agent.name for agent in self.own_agents if agent.has_bash and agent.servers))

    @property
    def adapters(self) -> list[str]:
        """The names of data agents that can run commands. They may run only pit_fetch."""
        return list(dict.fromkeys(name for home in self.homes for name in lint.adapters(home)))


def _agents_of(homes: Iterable[tuple[str, Path]]) -> list[Agent]:
    """Return the agents in folders, each given with the name of its plugin, or "" for none."""
    found = ((name, agent_or_any(*file)) for name, home in homes for file in agents_in(home / "agents"))
    return [
        replace(agent, name=f"{name.partition('@')[0]}:{agent.name}") if name else agent
        for name, agent in found
        if agent
    ]


def examine(project: Project, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Yield every finding that files and hooks alone can show. Child processes run side by side."""
    environ, folder, settings, wired = project.environ, project.folder, project.settings, project.wired
    with ThreadPoolExecutor() as pool:
        client = pool.submit(machine_check.check_client, environ, system)
        python = pool.submit(machine_check.check_python, environ, system)
        zones = pool.submit(machine_check.check_zones, environ, system)
        trials = [pool.submit(wiring_check.try_hook, hook, environ, system) for hook in wiring_check.distinct(wired)]
        gates = {hook.path.with_name("pit_gate.py") for hook in wired if hook.script and hook.path}
        caches = [pool.submit(machine_check.check_cache, path, environ, system) for path in sorted(gates)]
        yield Finding("ok", "pit_fetch", f"{__version__} on Python {machine_check.dotted(sys.version_info[:3])}")
        yield from machine_check.check_command(environ, project.adapters)
        yield python.result()
        yield from zones.result()
        yield from wiring_check.check_settings(settings, environ, folder)
        names = [server.name for server in project.servers]
        yield from wiring_check.check_wiring(wired, names, commands=project.needs_hooks)
        of_neo4j = list(neo4j_servers(project.servers))
        yield from wiring_check.check_servers(of_neo4j, wired)
        find = partial(shutil.which, path=effective_value(settings, environ, "PATH"))
        variables, now = [name for file in settings for name in file.variables], system.now()
        installed, ceiling = mcp_check.installed_sdk, project.ceiling
        for file in broken_files(folder):
            message = f"{file} is not JSON with an object mcpServers: the client starts none of its servers"
            yield Finding("warn", "mcp", message, "correct it")
        yield from mcp_check.check_entries(project.servers, ceiling, now, installed, find, variables)
        for future in [*trials, *caches]:
            yield from future.result()
        yield from machine_check.check_files(environ, folder)
        if not project.scope.is_held:
            yield from check_agents(project.adapters)
        if project.needs_hooks and not is_trusted(environ, folder):
            yield from wiring_check.check_trust(settings, folder)
        yield from adding_hooks(wired)
        yield from open_ways(project.scope, project.servers, of_neo4j)
        yield from foreign_ways(project.scope, wired, project.skills)
        yield from editable_ways(project.scope, settings, wired, project.servers, environ, folder)
        yield from environment_check.check_names(settings, environ)
        if ceiling is not None or project.scope.has_commands:
            yield from environment_check.check_ceiling(settings, environ, folder, now)
        yield from environment_check.check_operator_files(settings, environ, folder, project.servers)
        yield from environment_check.check_cache_folder(settings, environ, folder)
        yield from environment_check.check_credentials(environ, folder)
        yield client.result()


def check_agents(adapters: Sequence[str]) -> Iterator[Finding]:
    """Yield a failure for each data agent that the guard should know, and does not."""
    for name in adapters:
        if not guard.is_adapter(name):
            message = f"the agent {name} may run any command: the guard does not know its name"
            fix = f"give it the name of a bundled one, or set {guard.ONLY_VARIABLE}=1 for the session"
            yield Finding("fail", "agents", message, fix)


def try_client(project: Project, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Run planted leaks through the client itself, and yield a finding for each."""
    environ, folder = project.environ, project.folder
    ceiling = gate.parse_pit(project.ceiling)
    if ceiling is None and project.needs_hooks:
        fix = f"set {gate.CEILING_VARIABLE} in the environment that starts the client, and here"
        yield Finding("fail", "proof", "without a ceiling, a call without --pit is open mode: nothing to prove", fix)
    has_hooks = ceiling is not None and project.needs_hooks
    if not has_hooks and not project.ours:
        if ceiling is not None:
            message = "nothing to prove: commands are denied here, and no server of pit_fetch mcp is configured"
            yield Finding(
                "warn", "proof", message, "run pit_fetch init --mcp, or allow Bash, which the hooks then judge"
            )
        return
    client = system.find_client(environ)
    if not client:
        fix = "install Claude Code, or claude-agent-sdk, whose wheel bundles it"
        yield Finding("warn", "proof", "not proved: no Claude Code client was found to prove it with", fix)
        return
    system.announce(f"starting {client} here with planted leaks, and with it this project's own hooks and agents")
    from pit_fetch.claude_code import prove  # an examination without a proof never loads it

    with ThreadPoolExecutor() as pool:
        served = pool.submit(lambda: [*prove.prove_entries(client, environ, folder, ceiling, project.ours)])
        if ceiling is not None and has_hooks:
            path = effective_value(project.settings, environ, "PATH")
            own = environ if path is None else {**environ, "PATH": path}
            yield from _prove_hooks(client, own, folder, ceiling, project.held_agents)
            if project.untried_agents:
                names = ", ".join(project.untried_agents)
                message = f"not tried, since the client would start their own MCP servers: {names}"
                fix = (
                    "the hooks hold them as they hold the others: to see it, try a copy of the agent without mcpServers"
                )
                yield Finding("note", "proof", message, fix)
        yield from served.result()


def _prove_hooks(
    client: str, environ: Mapping[str, str], folder: Path, ceiling: datetime, held: Sequence[str]
) -> Iterator[Finding]:
    from pit_fetch.claude_code import prove

    proof = prove.prove(client, environ, folder, ceiling, held)
    fix = "mend what the other findings name; settings of the user, a plugin or an administrator count as well"
    for result in proof.results:
        if result.is_expected:
            yield Finding("ok", "proof", f"{result.step.name}: {result.seen}")
        else:
            seen = f"{result.seen}, and what was planted reached the model" if result.leaked else result.seen
            message = f"{result.step.name}: {seen} instead of {result.step.expected}"
            yield Finding("fail", "proof", message, fix)
    if proof.problem:
        yield prove.unproved_finding("not proved", proof.problem, fix)
