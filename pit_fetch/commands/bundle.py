"""What ships for Claude Code: hook files, their wiring, agents and skills.

A checkout keeps them at its root, where Claude Code finds them as a plugin. A wheel installs the hook
files beside this package and the rest in ``pit_fetch/claude``. There is one copy of each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

HOOK_FILES = ("pit_gate.py", "pit_guard.py")

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
_IN_WHEEL = _PACKAGE / "claude"
_ROOT = _PACKAGE.parent

_PLUGIN_HOOKS = "${CLAUDE_PLUGIN_ROOT}/hooks"
PROJECT_HOOKS = "$CLAUDE_PROJECT_DIR/.claude/hooks"


@dataclass(frozen=True)
class Hook:
    """One row of the wiring: on ``event``, for the tool ``matcher``, ``command`` runs the file ``script``."""

    event: str
    matcher: str
    script: str
    command: dict[str, Any]


def files() -> dict[str, bytes]:
    """Every file that a project gets, by its path under ``.claude``."""
    hooks = _ROOT if _IN_WHEEL.is_dir() else _ROOT / "hooks"
    found = {f"hooks/{name}": (hooks / name).read_bytes() for name in HOOK_FILES}
    found["hooks/.gitignore"] = b"pit_gate.log*\n"  # the gate's log is beside it
    for kind in ("agents", "skills"):
        top = _data() / kind
        for path in sorted(top.rglob("*.md")):
            found[f"{kind}/{path.relative_to(top).as_posix()}"] = path.read_bytes()
    return found


def wiring() -> Iterator[Hook]:
    """The rows of ``hooks.json``, as a project's own settings would write them."""
    path = _data() / ("hooks.json" if _IN_WHEEL.is_dir() else "hooks/hooks.json")
    for event, entries in json.loads(path.read_text(encoding="utf-8"))["hooks"].items():
        for entry in entries:
            for command in entry["hooks"]:
                text = command["command"].replace(_PLUGIN_HOOKS, PROJECT_HOOKS)
                yield Hook(event, entry["matcher"], script_of(text), {**command, "command": text})


def is_neo4j(name: str) -> bool:
    """Whether a file of the bundle, or a matcher of the wiring, is there for Neo4j alone."""
    return any(fnmatchcase(name, pattern) for pattern in NEO4J)


def script_of(command: str) -> str:
    """Which of our hook files a command runs; "" for none."""
    return next((name for name in HOOK_FILES if name in command), "")


def _data() -> Path:
    return _IN_WHEEL if _IN_WHEEL.is_dir() else _ROOT
