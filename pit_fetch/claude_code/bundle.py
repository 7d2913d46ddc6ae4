"""What ships for Claude Code: hook files, their wiring, agents and skills.

A checkout keeps them at its root, where Claude Code finds them as a plugin. A wheel installs the hook
files beside this package and the rest in ``pit_fetch/claude_code/data``. There is one copy of each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

HOOK_FILES = ("pit_gate.py", "pit_guard.py")

# What can be installed apart from the rest. Neo4j is across the others: its agents, its skills, its servers' hooks.
PARTS = ("hooks", "agents", "skills", "neo4j")

# What serves Neo4j alone: agents, their skills, and the rows of the wiring, by file or by matcher.
NEO4J = (
    "agents/neo4j-*.md",
    "skills/neo4j-schema/*",
    "skills/news-queries/*",
    "skills/report-queries/*",
    "skills/transcript-queries/*",
    "skills/xbrl-queries/*",
    "skills/entity-queries/*",
    "mcp__neo4j-cypher__*",
)

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "claude_code" / "data"
_ROOT = _PACKAGE.parent

_PLUGIN_HOOKS = "${CLAUDE_PLUGIN_ROOT}/hooks"
PROJECT_HOOKS = "$CLAUDE_PROJECT_DIR/.claude/hooks"
USER_HOOKS = "$HOME/.claude/hooks"  # for every session of a user, in whatever folder it starts


@dataclass(frozen=True)
class Hook:
    """One row of the wiring: on ``event``, for the tool ``matcher``, ``command`` runs the file ``script``."""

    event: str
    matcher: str
    script: str
    command: dict[str, Any]

    @property
    def parts(self) -> tuple[str, ...]:
        return parts_of_matcher(self.matcher)


@cache
def files(folder: str = PROJECT_HOOKS) -> Mapping[str, bytes]:
    """Every file that a project gets, by its path under ``.claude``; agents name the hook files in ``folder``."""
    hooks = _ROOT if _IN_WHEEL.is_dir() else _ROOT / "hooks"
    found = {f"hooks/{name}": (hooks / name).read_bytes() for name in HOOK_FILES}
    found["hooks/.gitignore"] = b"pit_gate.log*\n__pycache__/\n"  # the gate's log, and its compiled form for the guard
    for kind in ("agents", "skills"):
        top = _data() / kind
        for path in sorted(top.rglob("*.md")):
            content = path.read_bytes().replace(PROJECT_HOOKS.encode(), folder.encode())
            found[f"{kind}/{path.relative_to(top).as_posix()}"] = content
    return MappingProxyType(found)


def wiring(hooks: str = PROJECT_HOOKS) -> Iterator[Hook]:
    """The rows of ``hooks.json``, as settings write them whose hook files are in the folder ``hooks``."""
    path = _data() / ("hooks.json" if _IN_WHEEL.is_dir() else "hooks/hooks.json")
    for event, entries in json.loads(path.read_text(encoding="utf-8"))["hooks"].items():
        for entry in entries:
            for command in entry["hooks"]:
                text = command["command"].replace(_PLUGIN_HOOKS, hooks)
                yield Hook(event, entry["matcher"], script_of(text), {**command, "command": text})


def parts_of(name: str) -> tuple[str, ...]:
    """The parts that a file belongs to, of which none may be left out; ``name`` is its path under ``.claude``."""
    kind = name.partition("/")[0]
    return (kind, "neo4j") if is_neo4j(name) else (kind,)


def parts_of_matcher(matcher: str) -> tuple[str, ...]:
    """The parts that a row of the wiring belongs to."""
    return ("hooks", "neo4j") if is_neo4j(matcher) else ("hooks",)


def is_neo4j(name: str) -> bool:
    """Whether a file of the bundle, or a matcher of the wiring, is there for Neo4j alone."""
    return any(fnmatchcase(name, pattern) for pattern in NEO4J)


def script_of(command: str) -> str:
    """Which of our hook files a command runs; "" for none."""
    return next((name for name in HOOK_FILES if name in command), "")


def _data() -> Path:
    return _IN_WHEEL if _IN_WHEEL.is_dir() else _ROOT
