"""The version that an installed file comes from: an older file may be replaced, an edited one is kept.

``versions.json`` records the files of earlier versions by hash (tests/repo/record.py adds a version).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from pit_fetch.claude_code import bundle

CURRENT = "current"
_MODEL = re.compile(rb"(?m)^model:[^\n]*\n")


@dataclass(frozen=True)
class ReleasedFiles:
    """The files and matchers that earlier versions installed."""

    files: Mapping[str, Mapping[str, str]]  # by version: the digest of each file that it changed, by path
    matchers: Mapping[str, Sequence[str]]  # by event: every matcher that a version wired our hook with

    def version_of(self, name: str, content: bytes) -> str:
        """Return :data:`CURRENT`, the label of an older version, or "" for a file that was edited."""
        hashed, bundled = digest(name, content), bundle.files()
        if name in bundled and hashed == digest(name, bundled[name]):
            return CURRENT
        return next((version for version, files in self.files.items() if files.get(name) == hashed), "")

    def removed_files(self) -> list[str]:
        """Return the files that an older version installed, and the current one does not."""
        return sorted({name for files in self.files.values() for name in files}.difference(bundle.files()))

    def replaced_matchers(self, event: str) -> list[str]:
        """Return the matchers that an older version wired at ``event``, and the current one does not."""
        current = {row.matcher for row in bundle.wiring() if row.event == event}
        return [matcher for matcher in self.matchers.get(event, ()) if matcher not in current]


@cache
def released_files() -> ReleasedFiles:
    """Return the released that ships with this version."""
    return ReleasedFiles(**json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))


def digest(name: str, content: bytes) -> str:
    """Return the hash that identifies a version of a file."""
    if name.startswith("agents/"):
        # The model is the user's choice, and an agent in ~/.claude names the hook files there: neither is an edit.
        content = with_model(content, b"").replace(bundle.USER_HOOKS.encode(), bundle.PROJECT_HOOKS.encode())
    return sha256(content).hexdigest()


def model_of(agent: bytes) -> bytes:
    """Return the line of an agent's frontmatter that names its model; empty if there is none."""
    head = agent.split(b"\n---\n", 1)[0] + b"\n"
    match = _MODEL.search(head)
    return match[0] if match else b""


def with_model(agent: bytes, line: bytes) -> bytes:
    """Return the agent with another line for its model, or without one if ``line`` is empty."""
    old = model_of(agent)
    agent = agent.replace(old, b"", 1) if old else agent
    return agent.replace(b"\npermissionMode:", b"\n" + line + b"permissionMode:", 1)
