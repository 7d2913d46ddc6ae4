"""Check the data agents of a project against the rules that PIT safety depends on.

    R1  every data agent loads the skill evidence-standards
    R2  none of its hooks has a catch-all or wildcard matcher
    R3  a PIT-complete agent loads pit-envelope and is wired as its kind requires
    R5  files named by an agent or one of its skills exist
    R6  a hook command that names project files goes through $CLAUDE_PROJECT_DIR
    R7  no agent loads a deprecated skill
    R8  Cypher that an agent is to run is Cypher that the guard lets run
    R9  a PIT-complete agent has exactly the tool that its hooks judge
    R10 an agent that may run commands has a name that the guard knows, and no two agents have one name
    R11 no agent has a way past pit_fetch, as ``doctor`` finds them

Reads files, and of the environment whether a session is for pit_fetch alone. A project keeps agents and skills in
``.claude/``, a plugin at its root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.agents import Agent, AgentHook, agent_or_any, agents_in
from pit_fetch.claude_code.client_settings import Settings, read_json
from pit_fetch.claude_code.file_permissions import effective_value
from pit_fetch.claude_code.mcp_servers import neo4j_servers, project_entries
from pit_fetch.claude_code.reach import SESSION, Scope, denied_tools, open_ways
from pit_fetch.engine.registry import BUNDLED_NAMES
from pit_fetch.support.bundled import load

guard = load("pit_guard")

WRITE_TOOL = "mcp__neo4j-cypher__write_neo4j_cypher"
READ_TOOL = "mcp__neo4j-cypher__read_neo4j_cypher"

# PIT-complete agents, and the tool whose output the gate must judge. An agent that migrates is added here.
PIT_DONE: Mapping[str, str] = {
    "neo4j-news": READ_TOOL,
    "neo4j-vector-search": READ_TOOL,
    "neo4j-report": READ_TOOL,
    "neo4j-transcript": READ_TOOL,
    "neo4j-xbrl": READ_TOOL,
    "neo4j-entity": READ_TOOL,
    **dict.fromkeys(guard.ADAPTERS, "Bash"),
}
DEPRECATED_SKILLS = frozenset({"filtered-data"})

_PROJECT_FILE = re.compile(
    r"(?<![\w./$~-])(?:\$CLAUDE_PROJECT_DIR/|\$\{CLAUDE_PROJECT_DIR\}/)?"
    r"(?P<path>(?:\.claude|scripts)/[\w./-]*\w\.\w+)"
)
_NAMES_PROJECT = re.compile(r"(?<!\w)(?:\.claude|scripts)/")
_PROJECT_DIR = re.compile(r"\$CLAUDE_PROJECT_DIR\b|\$\{CLAUDE_PROJECT_DIR\}|\$HOME\b")

# A rule and a message: an error in the agent's own file.
Error = tuple[str, str]


@dataclass(frozen=True)
class Problem:
    """A broken rule, and the file that breaks it."""

    severity: Literal["ERROR", "OPEN", "WARN"]
    rule: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity:<5} [{self.rule}] {self.path}: {self.message}"


def is_data_agent(agent: Agent) -> bool:
    """Return whether an agent is one of ours, or borrows a skill or a hook of theirs."""
    return (
        _has_data_name(agent.name)
        or "pit-envelope" in agent.skills
        or any("pit_gate.py" in hook.command for hook in agent.hooks)
    )


def _has_data_name(name: str) -> bool:
    """Return whether an agent's name is one of ours, or begins with that of a source."""
    return name in PIT_DONE or name.startswith(("neo4j-", *(f"{source}-" for source in BUNDLED_NAMES)))


def check_agents(
    project: Path, home: Path, environ: Mapping[str, str], trusted: AbstractSet[str] = frozenset()
) -> tuple[list[str], list[Problem]]:
    """Return the names of the checked agents, and all problems; ``home`` contains ``agents`` and ``skills``.

    ``trusted`` are agents and servers that may see more than pit_fetch shows.
    """
    first_files: dict[str, str] = {}
    data_names: set[str] = set()
    checked: list[str] = []
    problems: list[Problem] = []
    servers = list(project_entries(project))
    settings = [Settings(home, project, read_json(home / "settings.json"))]
    only = effective_value(settings, environ, guard.ONLY_VARIABLE) or ""
    is_held = guard.is_wrapper_only({}, {guard.ONLY_VARIABLE: only})
    scope = Scope([], denied_tools(settings), is_held, is_guarded=True, trusted=trusted | {SESSION})
    for path, agent in agents_in(home / "agents"):
        file = path.relative_to(project).as_posix()
        if isinstance(agent, Exception) and _has_data_name(path.stem):
            checked.append(path.stem)
            problems.append(Problem("ERROR", "R3", file, f"the frontmatter cannot be read ({agent})"))
            continue
        readable = agent_or_any(path, agent)
        if readable is None:
            continue
        checked.append(readable.name)
        ways = open_ways(scope._replace(agents=[readable]), servers, list(neo4j_servers(servers)))
        problems += [Problem("OPEN", "R11", file, f"{way.message}; {way.fix}") for way in ways if way.level == "open"]
        first = first_files.setdefault(readable.name, file)
        if not is_data_agent(readable) and readable.name not in data_names:
            continue
        data_names.add(readable.name)
        if first != file:
            message = f"{first} is an agent of this name, too, and the client takes one of them: rename or remove it"
            problems.append(Problem("ERROR", "R10", file, message))
        problems += [Problem("ERROR", rule, file, message) for rule, message in _errors(readable)]
        problems += _check_files(readable, file, project, home)
    return checked, problems


def adapters(home: Path) -> list[str]:
    """Return the names of the data agents in ``home`` that can run commands. They may run only pit_fetch."""
    agents = [agent for _, agent in agents_in(home / "agents") if isinstance(agent, Agent)]
    return [agent.name for agent in agents if is_data_agent(agent) and agent.can_run_commands]


# The rules for an agent itself.


def _errors(agent: Agent) -> Iterator[Error]:
    if "evidence-standards" not in agent.skills:
        yield "R1", "evidence-standards is missing from skills"
    for skill in DEPRECATED_SKILLS.intersection(agent.skills):
        yield "R7", f"skill {skill} is deprecated: remove it"
    for hook in agent.hooks:
        yield from _hook_errors(hook)
    if agent.can_run_commands and not guard.is_adapter(agent.name):
        advice = f"it knows {', '.join(sorted(guard.ADAPTERS))}; give it one of these names, or take Bash away"
        yield "R10", f"the guard lets it run any command: {advice}"
    if agent.name in PIT_DONE:
        yield from _completeness_errors(agent, PIT_DONE[agent.name])


def _hook_errors(hook: AgentHook) -> Iterator[Error]:
    if hook.fault and bundle.script_of(hook.command):
        yield "R3", hook.fault
    if _is_wildcard(hook.matcher):
        yield "R2", f"{hook.event} matcher {hook.matcher!r} is a wildcard: name the tool"
    if _NAMES_PROJECT.search(hook.command) and not _PROJECT_DIR.search(hook.command):
        yield "R6", f"{hook.event} command names project files without $CLAUDE_PROJECT_DIR"


def _is_wildcard(matcher: str | None) -> bool:
    """Return whether a matcher accepts tools that it does not name. The client reads a name, ``A|B`` or a regex."""
    if not matcher or "*" in matcher:
        return True
    try:
        return re.search(matcher, "\N{WHITE SQUARE}") is not None
    except re.error:
        return False


def _completeness_errors(agent: Agent, tool: str) -> Iterator[Error]:
    if "pit-envelope" not in agent.skills:
        yield "R3", "pit-envelope is missing from skills"
    if not _has_hook(agent, "PostToolUse", tool, "pit_gate.py"):
        yield "R3", f"no PostToolUse hook runs pit_gate.py on {tool}"
    if agent.tools is None:
        yield "R9", f"it has no tools list, so every tool: list {tool} and nothing else"
    elif set(agent.tools) != {tool}:
        yield "R9", f"it has the tools {', '.join(agent.tools) or 'none'}: list {tool} and nothing else"
    if tool == "Bash" and not _has_hook(agent, "PreToolUse", tool, "pit_guard.py"):
        yield "R3", f"no PreToolUse hook runs pit_guard.py on {tool}"
    # A hook that only prints a decision to block is enough.
    blocks_writes = any(_has_hook(agent, "PreToolUse", WRITE_TOOL, text) for text in ("block", "pit_guard.py"))
    if tool == READ_TOOL and not blocks_writes:
        yield "R3", f"no PreToolUse hook blocks {WRITE_TOOL}"


def _has_hook(agent: Agent, event: str, tool: str, text: str) -> bool:
    return any(
        hook.event == event and tool in re.split(r"[|,]\s*", hook.matcher or "") and _runs(hook.command, text)
        for hook in agent.hooks
    )


def _runs(command: str, text: str) -> bool:
    """Return whether a command runs ``text``, one of our scripts, and does not only name it; or contains other text."""
    if text not in bundle.HOOK_FILES:
        return text in command
    return text in re.sub(r"(^|\s)#.*", "", command) and not command.lstrip().startswith(("true", "echo", ":"))


# The files and queries that an agent or its skills name.


def _check_files(agent: Agent, path: str, project: Path, home: Path) -> Iterator[Problem]:
    # A plugin's agents name files of the project they are copied into, which are not here.
    commands = [hook.command for hook in agent.hooks] if home != project else []
    yield from _check_text("\n".join([agent.body, *commands]), path, project, home)
    for skill in agent.skills:
        file = home / "skills" / skill / "SKILL.md"
        if file.is_file():
            text, name = file.read_text(encoding="utf-8"), file.relative_to(project).as_posix()
            yield from _check_text(text, name, project, home)
        elif ":" not in skill:  # the client finds "plugin:skill" elsewhere
            yield Problem("WARN", "R5", path, f"skill {skill} is not in this project: the client skips it silently")


def _check_text(text: str, path: str, project: Path, home: Path) -> Iterator[Problem]:
    for name in dict.fromkeys(match["path"] for match in _PROJECT_FILE.finditer(text)):
        if not (project / name).exists():
            yield Problem("ERROR", "R5", path, f"{name} does not exist")
    for block in blocks(text):
        try:
            guard.check_query(block.query, with_pit=block.is_pattern, folder=str(home / "hooks"))
        except guard.Refusal as refusal:
            yield Problem("WARN", "R8", path, f"the guard will refuse {block.heading!r}: {refusal}")


# The Cypher queries in agents and skills.


_HEADING = re.compile(r"#+ (.*)")


class Block(NamedTuple):
    """One query, and its heading."""

    heading: str
    query: str

    @property
    def is_pattern(self) -> bool:
        """Return whether the query takes a PIT; any other is for open mode."""
        return re.search(r"\$pit\b", self.query) is not None

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(re.findall(r"\$(\w+)", self.query))


def blocks(text: str) -> Iterator[Block]:
    """Yield the queries of one agent or skill, in order."""
    heading, lines = "", list[str]()
    inside = False
    for line in text.split("\n"):
        if inside and line.strip() == "```":
            inside = False
            yield Block(heading, "\n".join(lines))
        elif inside:
            lines.append(line)
        elif line.strip() == "```cypher":
            inside, lines = True, []
        elif match := _HEADING.match(line):
            heading = match[1]
