"""The files that ship for Claude Code: hook files, their wiring, agents and skills.

A checkout keeps them at its root, where Claude Code finds them as a plugin. A wheel installs the hook
files beside this package and the rest in ``pit_fetch/claude_code/data``. There is one copy of each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pit_fetch.support.bundled import load

# The hook file that runs at each event.
SCRIPTS = {"PostToolUse": "pit_gate.py", "PreToolUse": "pit_guard.py"}
HOOK_FILES = tuple(SCRIPTS.values())

# The file beside the hooks that names the program, for the guard.
RECORD: str = load("pit_guard").RECORD

# The parts that can be installed alone. Neo4j has agents and skills of its own, which few projects need.
PARTS = ("hooks", "agents", "skills", "neo4j")
USUAL_PARTS = ("hooks", "agents", "skills")

# Files, and matchers of the wiring, that serve Neo4j alone.
NEO4J = (
    "agents/neo4j-*.md",
    "skills/neo4j-schema/*",
    *(f"skills/{topic}-queries/*" for topic in ("news", "report", "transcript", "xbrl", "entity")),
    "skills/*-patterns/*",
    "mcp__neo4j-cypher__*",
)

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "claude_code" / "data"
_ROOT = _PACKAGE.parent
_DATA = _IN_WHEEL if _IN_WHEEL.is_dir() else _ROOT

_PLUGIN_HOOKS = "${CLAUDE_PLUGIN_ROOT}/hooks"
PROJECT_HOOKS = "$CLAUDE_PROJECT_DIR/.claude/hooks"
USER_HOOKS = "$HOME/.claude/hooks"  # works in every session of a user, whatever folder it starts in


@dataclass(frozen=True)
class WiringRow:
    """One row of the wiring: on ``event``, for the tool ``matcher``, ``command`` runs the file ``script``."""

    event: str
    matcher: str
    script: str
    command: dict[str, Any]


@cache
def files(folder: str = PROJECT_HOOKS) -> Mapping[str, bytes]:
    """Return every file that a project gets, by its path under ``.claude``; agents run the hooks in ``folder``."""
    hooks = _ROOT if _IN_WHEEL.is_dir() else _ROOT / "hooks"
    contents = {f"hooks/{name}": (hooks / name).read_bytes() for name in HOOK_FILES}
    # The gate's log, its compiled form, and the paths of programs of this machine.
    contents["hooks/.gitignore"] = f"pit_gate.log*\n__pycache__/\n{RECORD}\n".encode()
    for kind in ("agents", "skills"):
        for path in sorted((_DATA / kind).rglob("*.md")):
            content = path.read_bytes().replace(PROJECT_HOOKS.encode(), folder.encode())
            contents[path.relative_to(_DATA).as_posix()] = content
    return MappingProxyType(contents)


def programs() -> list[str]:
    """Return the paths by which this program is called: the command that pip installed, and a checkout's script."""
    beside = Path(sys.executable).absolute().with_name("pit_fetch")
    return [str(path) for path in (beside, _ROOT / "pit_fetch.py") if path.is_file()]


def wiring(hooks: str = PROJECT_HOOKS) -> Iterator[WiringRow]:
    """Yield the rows of ``hooks.json`` as settings contain them when the hook files are in the folder ``hooks``."""
    path = _DATA / ("hooks.json" if _IN_WHEEL.is_dir() else "hooks/hooks.json")
    for event, entries in json.loads(path.read_text(encoding="utf-8"))["hooks"].items():
        for entry in entries:
            for command in entry["hooks"]:
                text = command["command"].replace(_PLUGIN_HOOKS, hooks)
                yield WiringRow(event, entry["matcher"], script_of(text), {**command, "command": text})


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts that a file belongs to, by its path under ``.claude``."""
    return ("neo4j",) if is_neo4j(name) else (name.partition("/")[0],)


def parts_of_matcher(matcher: str) -> tuple[str, ...]:
    """Return the parts that a row of the wiring belongs to. The guard is wired for Neo4j's server in any project."""
    return ("hooks", "neo4j") if is_neo4j(matcher) else ("hooks",)


def is_neo4j(name: str) -> bool:
    """Return whether a file of the bundle, or a matcher of the wiring, serves Neo4j alone."""
    return any(fnmatchcase(name, pattern) for pattern in NEO4J)


def script_of(command: str) -> str:
    """Return the name of the hook file that a command runs; "" for a command that runs none."""
    return next((name for name in HOOK_FILES if name in command), "")
