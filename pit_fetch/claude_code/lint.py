"""``pit_fetch lint [DIR]``: do a project's data agents keep the rules that PIT safety depends on?

    R1  every data agent loads the skill evidence-standards
    R2  none of its hooks has a catch-all or wildcard matcher
    R3  a PIT-complete agent loads pit-envelope and is wired as its kind requires
    R5  files named by an agent or one of its skills exist
    R6  a hook command that names project files goes through $CLAUDE_PROJECT_DIR
    R7  no agent loads a deprecated skill
    R8  Cypher that an agent is to run is Cypher that the guard lets run
    R9  a PIT-complete agent has exactly the tool that its hooks judge
    R10 an agent that may run commands has a name that the guard knows, and no two agents have one name

Reads files only. A project keeps agents and skills in ``.claude/``, a plugin at its root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code import bundle, frontmatter
from pit_fetch.claude_code.client_settings import odd_fields
from pit_fetch.claude_code.cypher import blocks
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.errors import ExitStatus
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

# Agents whose name, skills or hooks say that they retrieve data.
DATA_AGENTS = re.compile(r"neo4j-.*|perplexity-.*|alphavantage(-.*)?|bz-news-api|sec_full_text|fred|earningscall|yahoo")

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
    "bz-news-api": "Bash",
    "alphavantage": "Bash",
    "sec_full_text": "Bash",
    "fred": "Bash",
    "earningscall": "Bash",
    "yahoo": "Bash",
    **{f"perplexity-{name}": "Bash" for name in ("search", "ask", "reason", "research", "sec")},
}
DEPRECATED_SKILLS = frozenset({"filtered-data"})

_PROJECT_FILE = re.compile(
    r"(?<![\w./$~-])(?:\$CLAUDE_PROJECT_DIR/|\$\{CLAUDE_PROJECT_DIR\}/)?"
    r"(?P<path>(?:\.claude|scripts)/[\w./-]*\w\.\w+)"
)
_NAMES_PROJECT = re.compile(r"(?<!\w)(?:\.claude|scripts)/")
_PROJECT_DIR = re.compile(r"\$CLAUDE_PROJECT_DIR\b|\$\{CLAUDE_PROJECT_DIR\}|\$HOME\b")


@dataclass(frozen=True)
class Problem:
    """One line of the report."""

    severity: Literal["ERROR", "WARN"]
    rule: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity:<5} [{self.rule}] {self.path}: {self.message}"


@dataclass(frozen=True)
class Agent:
    """An agent file: its parsed frontmatter, and the body. Without ``tools`` it has every tool of the session."""

    name: str
    path: str
    tools: tuple[str, ...] | None
    skills: tuple[str, ...]
    hooks: tuple[HookEntry, ...]
    body: str


@dataclass(frozen=True)
class HookEntry:
    """One hook of an agent; ``fault`` says why the client would not wait for its verdict, or go by it."""

    event: str
    matcher: str | None
    command: str
    fault: str = ""


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """Lints the data agents of a project or a plugin."""
    parser = Parser("lint", "Check a project's data agents (.claude/agents) against the PIT safety rules.")
    parser.add_argument("dir", nargs="?", default=folder, metavar="DIR", help="the project (the working directory)")
    given = parser.parse_args(argv)
    if given.help:
        return CommandResult(parser.format_help())
    project = Path(folder, given.dir)
    home = project / ".claude" if (project / ".claude" / "agents").is_dir() else project
    if not (home / "agents").is_dir():
        return CommandResult(
            "", ExitStatus.REFUSED, f"{given.dir} has no .claude/agents folder: name a project that has one"
        )
    checked, problems = lint(project, home)
    errors = sum(problem.severity == "ERROR" for problem in problems)
    names = ", ".join(checked) or "none"
    summary = (
        f"{'FAIL' if errors else 'PASS'}: {_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')}, "
    )
    summary += f"{_count(len(checked), 'agent')} checked ({names})\n"
    return CommandResult(
        "".join(f"{problem}\n" for problem in problems) + summary, ExitStatus.FOUND if errors else ExitStatus.OK
    )


def lint(project: Path, home: Path) -> tuple[list[str], list[Problem]]:
    """The names of the checked agents, and all problems; ``home`` holds ``agents`` and ``skills``."""
    named: dict[str, str] = {}  # every agent, and its file
    checked: list[str] = []
    problems: list[Problem] = []
    for path in sorted((home / "agents").rglob("*.md")):
        shown = path.relative_to(project).as_posix()
        try:
            agent = _read(path, shown)
        except (ValueError, AttributeError, TypeError) as error:
            if DATA_AGENTS.fullmatch(path.stem):
                checked.append(path.stem)
                problems.append(Problem("ERROR", "R3", shown, f"the frontmatter cannot be read ({error})"))
            continue
        first = named.setdefault(agent.name, shown)
        is_data_agent = _is_data_agent(agent) or agent.name in checked
        if first != shown and is_data_agent:
            message = f"{first} is an agent of this name, too, and the client takes one of them: rename or remove it"
            problems.append(Problem("ERROR", "R10", shown, message))
        if is_data_agent:
            checked.append(agent.name)
            problems += _check(agent, project, home)
    return checked, problems


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _read(path: Path, shown: str) -> Agent:
    front, body = frontmatter.split(path.read_text(encoding="utf-8"))
    name = str(front.get("name") or path.stem)
    tools = tuple(frontmatter.as_list(front["tools"])) if "tools" in front else None
    return Agent(name, shown, tools, tuple(frontmatter.as_list(front.get("skills"))), tuple(_hooks(front)), body)


def adapters(home: Path) -> list[str]:
    """The names of the data agents in ``home`` that may run commands: all that they may run is pit_fetch."""
    names = []
    for path in sorted((home / "agents").rglob("*.md")):
        try:
            agent = _read(path, path.name)
        except (ValueError, AttributeError, TypeError):
            continue
        if _is_data_agent(agent) and _runs_commands(agent):
            names.append(agent.name)
    return names


def _runs_commands(agent: Agent) -> bool:
    return agent.tools is None or not {"Bash", "*"}.isdisjoint(tool.partition("(")[0] for tool in agent.tools)


def _hooks(front: Mapping[str, Any]) -> Iterator[HookEntry]:
    for event, entries in (front.get("hooks") or {}).items():
        for entry in entries:
            for hook in entry.get("hooks") or [{}]:
                yield HookEntry(event, entry.get("matcher"), str(hook.get("command", "")), _fault_of(event, hook))


def _fault_of(event: str, hook: Mapping[str, Any]) -> str:
    """Why a client would not wait for a hook's verdict, or go by it; "" for nothing."""
    timeout = hook.get("timeout", 10)
    if hook.get("type") != "command":
        return "is not of type command"
    if str(hook.get("async", "")).lower() == "true":
        return "is async"
    if hook.get("if"):
        return "has an if filter"
    odd = odd_fields(hook)
    if odd:
        return f"has {odd}, with which a client may not run it each time, or not wait for it"
    if not re.fullmatch(r"\d+", str(timeout)) or int(timeout) <= gate.ALARM_SECONDS + gate.LOG_SECONDS:
        return "has a timeout that ends before its own alarm: write 10"
    if event == "PreToolUse" and "pit_guard.py" in str(hook.get("command")) and hook.get("onFailure") != "block":
        return "lacks onFailure: block"
    return ""


def _is_data_agent(agent: Agent) -> bool:
    return (
        DATA_AGENTS.fullmatch(agent.name) is not None
        or "pit-envelope" in agent.skills
        or any("pit_gate.py" in hook.command for hook in agent.hooks)
    )


def _check(agent: Agent, project: Path, home: Path) -> Iterator[Problem]:
    yield from _check_skills(agent)
    yield from _check_hooks(agent)
    yield from _check_name(agent)
    if agent.name in PIT_DONE:
        yield from _check_complete(agent, PIT_DONE[agent.name])
    # A plugin's agents name files of the project they are copied into, which are not here.
    commands = [hook.command for hook in agent.hooks] if home != project else []
    yield from _check_files("\n".join([agent.body, *commands]), agent.path, project)
    yield from _check_cypher(agent.body, agent.path, home)
    for skill in agent.skills:
        path = home / "skills" / skill / "SKILL.md"
        if path.is_file():
            text, shown = path.read_text(encoding="utf-8"), path.relative_to(project).as_posix()
            yield from _check_files(text, shown, project)
            yield from _check_cypher(text, shown, home)
        elif ":" not in skill:  # "plugin:skill" is elsewhere
            yield Problem(
                "WARN", "R5", agent.path, f"skill {skill} is not in this project: the client skips it silently"
            )


def _check_skills(agent: Agent) -> Iterator[Problem]:
    if "evidence-standards" not in agent.skills:
        yield Problem("ERROR", "R1", agent.path, "evidence-standards is missing from skills")
    for skill in DEPRECATED_SKILLS.intersection(agent.skills):
        yield Problem("ERROR", "R7", agent.path, f"skill {skill} is deprecated: remove it")


def _check_hooks(agent: Agent) -> Iterator[Problem]:
    for hook in agent.hooks:
        if hook.fault and bundle.script_of(hook.command):
            yield Problem("ERROR", "R3", agent.path, f"{bundle.script_of(hook.command)} at {hook.event} {hook.fault}")
        if _is_wildcard(hook.matcher):
            yield Problem(
                "ERROR", "R2", agent.path, f"{hook.event} matcher {hook.matcher!r} is a wildcard: name the tool"
            )
        if _NAMES_PROJECT.search(hook.command) and not _PROJECT_DIR.search(hook.command):
            yield Problem(
                "ERROR", "R6", agent.path, f"{hook.event} command names project files without $CLAUDE_PROJECT_DIR"
            )


def _check_name(agent: Agent) -> Iterator[Problem]:
    if _runs_commands(agent) and agent.name not in guard.ADAPTERS:
        known = ", ".join(sorted(guard.ADAPTERS))
        message = f"the guard lets it run any command: it knows {known}; give it one of these names, or take Bash away"
        yield Problem("ERROR", "R10", agent.path, message)


def _is_wildcard(matcher: str | None) -> bool:
    """Whether a matcher accepts tools that it does not name. The client reads it as a name, ``A|B`` or a regex."""
    if not matcher or "*" in matcher:
        return True
    try:
        return re.search(matcher, "\N{WHITE SQUARE}") is not None
    except re.error:
        return False


def _check_complete(agent: Agent, tool: str) -> Iterator[Problem]:
    if "pit-envelope" not in agent.skills:
        yield Problem("ERROR", "R3", agent.path, "pit-envelope is missing from skills")
    if not _has(agent, "PostToolUse", tool, "pit_gate.py"):
        yield Problem("ERROR", "R3", agent.path, f"no PostToolUse hook runs pit_gate.py on {tool}")
    if agent.tools is None or set(agent.tools) != {tool}:
        has = "no tools list, so every tool" if agent.tools is None else f"the tools {', '.join(agent.tools) or 'none'}"
        yield Problem("ERROR", "R9", agent.path, f"it has {has}: list {tool} and nothing else")
    if tool == "Bash" and not _has(agent, "PreToolUse", tool, "pit_guard.py"):
        yield Problem("ERROR", "R3", agent.path, f"no PreToolUse hook runs pit_guard.py on {tool}")
    if tool == READ_TOOL and not any(_has(agent, "PreToolUse", WRITE_TOOL, word) for word in ("block", "pit_guard.py")):
        yield Problem("ERROR", "R3", agent.path, f"no PreToolUse hook blocks {WRITE_TOOL}")


def _has(agent: Agent, event: str, tool: str, script: str) -> bool:
    return any(
        hook.event == event and tool in re.split(r"[|,]\s*", hook.matcher or "") and _runs(hook.command, script)
        for hook in agent.hooks
    )


def _runs(command: str, script: str) -> bool:
    """Whether a command runs one of our scripts, and does not only name it; or has any other word."""
    if script not in bundle.HOOK_FILES:
        return script in command
    return script in re.sub(r"(^|\s)#.*", "", command) and not command.lstrip().startswith(("true", "echo", ":"))


def _check_files(text: str, shown: str, project: Path) -> Iterator[Problem]:
    for path in dict.fromkeys(match["path"] for match in _PROJECT_FILE.finditer(text)):
        if not (project / path).exists():
            yield Problem("ERROR", "R5", shown, f"{path} does not exist")


def _check_cypher(text: str, shown: str, home: Path) -> Iterator[Problem]:
    """Queries that the guard would refuse: with a PIT any but a known pattern, without one what is not for reading."""
    for block in blocks(text):
        refusal = guard.refuse_query(block.query, with_pit=block.is_pattern, folder=str(home / "hooks"))
        if refusal:
            yield Problem("WARN", "R8", shown, f"the guard will refuse {block.heading!r}: {refusal}")
