"""Find what an agent can reach beside calls that are held to the PIT: any command, the web, servers of today.

The session can use every tool that settings do not deny. An agent can use those of them that it lists, or all if it
lists none. What settings deny is denied to agents as well (measured on the client, 2.1.329).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.agents import Agent, AgentHook, Skill
from pit_fetch.claude_code.client_settings import Settings, WiredHook, drop_reason, matches
from pit_fetch.claude_code.mcp_entry import NAME, is_ours
from pit_fetch.claude_code.mcp_servers import Neo4jServer, ServerEntry, tool_prefix
from pit_fetch.claude_code.system import Finding
from pit_fetch.support.bundled import load

guard = load("pit_guard")

SESSION = "session"
# Tools of the client that read and write files, keep lists, and ask its user. Any other may tell of today: it runs a
# command, reads the web or another server's resources, or asks another agent.
OF_NO_TIME = {
    *("Edit", "Glob", "Grep", "LS", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Write"),
    *("TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite"),
    *("AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillShell", "Skill", "ToolSearch"),
}
ALL = "*"
# The tools that run commands, and those that read the web.
COMMANDS = ("Bash", "Monitor")
WEB = ("WebFetch", "WebSearch")
# Tools that reach no further than their agents and servers, which are looked at themselves.
_THROUGH_OTHERS = {"Agent", "Task", "SendMessage", "ListAgents", *guard.RESOURCE_TOOLS}
# The tools of the client that are known here.
TOOLS = frozenset({*OF_NO_TIME, *COMMANDS, *WEB, *_THROUGH_OTHERS})


class Scope(NamedTuple):
    """Who can use which tools.

    agents     of the project, of the user, of plugins and of an administrator
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
        """Return whether some command can run."""
        return not self.denied.issuperset(COMMANDS)

    @property
    def session(self) -> list[str]:
        """The session in words, unless it is trusted."""
        return [] if SESSION in self.trusted else ["this session"]

    def users(self, *tools: str) -> list[str]:
        """Return who can use one of ``tools``, in words; nobody if settings deny all of them."""
        if self.denied.issuperset(tools):
            return []
        asked = (agent for agent in self.agents if agent.name not in self.trusted and _lists(agent, tools))
        return [*self.session, *(f"the agent {agent.name}" for agent in asked)]


def denied_tools(settings: Sequence[Settings]) -> frozenset[str]:
    """Return the names of tools and servers that some settings file denies as a whole."""
    rules = {rule for file in settings if not drop_reason(file) for rule in file.rules("deny")}
    of_bash = COMMANDS if "Bash" in rules else ()  # a rule on Bash is one on Monitor, too (measured)
    return frozenset(rules.union(of_bash))


def open_ways(scope: Scope, servers: Sequence[ServerEntry], judged: Sequence[Neo4jServer]) -> Iterator[Finding]:
    """Yield a finding for each way past the PIT that is open, with who can go it, and what closes it.

    servers  those that are configured
    judged   those of them whose tools the hooks judge
    """
    if not scope.is_held:
        free = [agent for agent in scope.agents if not (scope.is_guarded and guard.is_adapter(agent.name))]
        users = scope._replace(agents=free).users(*COMMANDS)
        alone = f"set {guard.ONLY_VARIABLE}=1 in the environment that starts the client"
        never = denial_fix(*COMMANDS)
        yield from open_finding("any command can be run", users, f"{alone}, or {never}" if scope.is_guarded else never)
    for tool in WEB:
        yield from open_finding(f"{tool} answers for today", scope.users(tool), denial_fix(tool))
    if users := scope.users("SendMessage"):
        message = f"SendMessage may ask another session on this machine, which may see more: {', '.join(users)}"
        yield Finding("warn", "scope", message, denial_fix("SendMessage"))
    held = {server.name for server in judged}
    own = [server for agent in scope.agents for server in agent.servers]
    configured = {server.name for server in servers if _may_answer_for_today(server)}
    for name in dict.fromkeys(server.name for server in [*servers, *own] if _may_answer_for_today(server)):
        tools = tool_prefix(name)
        users = scope.users(tools) if name in configured else []
        # An agent has every tool of a server that it brings, whatever it lists (measured, 2.1.330).
        bringing = [f"the agent {agent.name}" for agent in scope.agents if _brings(agent, name, configured)]
        trusted = {f"the agent {agent.name}" for agent in scope.agents if agent.name in scope.trusted}
        users += [] if tools in scope.denied else [agent for agent in bringing if agent not in trusted.union(users)]
        fix = f"put pit_fetch mcp-gate in front of it, or {denial_fix(tools)}"
        yield from open_finding(
            f"the server {name} may answer for today", [] if name in scope.trusted | held else users, fix
        )
    judged_tools = {row.matcher for row in bundle.wiring()}
    known = judged_tools | {tool_prefix(name) for name in (NAME, *held, *(server.name for server in [*servers, *own]))}
    for tool in dict.fromkeys(tool for agent in scope.agents for tool in _unknown_tools(agent, known)):
        yield from open_finding(f"{tool} is not known to be held to the PIT", scope.users(tool), denial_fix(tool))


def denial_fix(*tools: str) -> str:
    """Return the fix that takes tools from the session and from every agent."""
    return f"deny it to all: pit_fetch init --deny {','.join(tools)}"


def open_finding(way: str, users: Sequence[str], fix: str) -> Iterator[Finding]:
    """Yield the finding on a way that somebody can go."""
    if users:
        yield Finding("open", "scope", f"{way}: {', '.join(users)}", fix)


def _may_answer_for_today(server: ServerEntry) -> bool:
    return bool(server.command or server.url) and not is_ours(server.command)


def _brings(agent: Agent, name: str, configured: Collection[str]) -> bool:
    """Return whether an agent's file has the server, or names one that is configured."""
    named = (server for server in agent.servers if server.name == name)
    return any(_may_answer_for_today(server) or name in configured for server in named) and (
        tool_prefix(name) not in agent.disallowed
    )


def _lists(agent: Agent, tools: Collection[str]) -> bool:
    taken = {*agent.disallowed, *(COMMANDS if "Bash" in agent.disallowed else ())}
    if taken.issuperset(tools):
        return False
    if agent.tools is None:
        return True
    listed = _names(agent)
    has_servers = "mcp__*" in listed and any(tool.startswith("mcp__") for tool in tools)
    return ALL in listed or has_servers or any(_is_tool_of(name, tool) for name in listed for tool in tools)


def _unknown_tools(agent: Agent, known: Collection[str]) -> Iterator[str]:
    """Yield the tools that an agent lists and that are neither the client's, as known here, nor a known server's."""
    for name in _names(agent).difference(OF_NO_TIME, COMMANDS, WEB, _THROUGH_OTHERS, {ALL, "mcp__*"}):
        if not any(_is_tool_of(name, server) for server in known):
            yield name


def _names(agent: Agent) -> set[str]:
    return {tool.partition("(")[0] for tool in agent.tools or ()}


def _is_tool_of(name: str, tool: str) -> bool:
    """Return whether ``name`` is the tool ``tool``, or a tool of the server ``tool``."""
    return name == tool or name.startswith(f"{tool}__")


# Hooks of others, and commands that no hook sees.


_REWRITING = ("PermissionRequest", "PreToolUse", "PostToolUse")
# What a hook prints at these events is added to the conversation.
_ADDING = ("SessionStart", "SubagentStart", "UserPromptSubmit")
_FIX = "remove the hook, or see that it never prints updatedInput or updatedToolOutput, and --trust {}"


def foreign_ways(scope: Scope, wired: Sequence[WiredHook], skills: Sequence[Skill]) -> Iterator[Finding]:
    """Yield a finding for each hook that no proof tries, and for each command that no hook sees."""
    if not scope.has_commands:
        return
    for agent in scope.agents:
        if agent.name not in scope.trusted and any(map(_may_undo, agent.hooks)):
            way = f"a hook of the agent {agent.name} may put back what the guard replaced"
            yield from open_finding(way, [f"the agent {agent.name}"], _FIX.format(agent.name))
    for skill in skills:
        if skill.name in scope.trusted:
            continue
        if skill.hooks is None or any(map(_may_undo, skill.hooks)):
            way = f"a hook of the skill {skill.name} may put back what the guard replaced"
            yield from open_finding(way, scope.session, _FIX.format(skill.name))
        if skill.runs_commands:
            fix = f"take its lines with ! out, or {denial_fix(*COMMANDS)}"
            way = f"the skill {skill.name} runs a command as it is loaded, which no hook sees"
            yield from open_finding(way, scope.session, fix)
    for hook in wired:
        if hook.event == "PermissionRequest" and matches(hook.matcher, "Bash"):
            way = f"a PermissionRequest hook of {hook.origin} may put back what the guard replaced"
            yield from open_finding(way, scope.session, "remove it")


def adding_hooks(wired: Sequence[WiredHook]) -> Iterator[Finding]:
    """Yield a warning for each hook whose output the model reads, unjudged."""
    for hook in wired:
        if hook.event in _ADDING:
            message = f"{hook.origin} has a {hook.event} hook: what it prints reaches the model, and nothing judges it"
            yield Finding("warn", "wiring", message, "make sure that it prints nothing from after the PIT")


def _may_undo(hook: AgentHook) -> bool:
    is_ours = bundle.script_of(hook.command) == bundle.SCRIPTS.get(hook.event)
    return hook.event in _REWRITING and not is_ours and any(matches(hook.matcher or "", tool) for tool in COMMANDS)
