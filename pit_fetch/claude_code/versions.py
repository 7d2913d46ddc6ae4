"""Which version of pit_fetch a file in a project comes from: an older one may be replaced, an edited one is kept.

Older versions are recorded by hash in ``shipped.json`` (tests/repo/record.py writes it). Which model
an agent runs on is the user's choice, so that line of an agent counts for nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle

CURRENT = "current"
_MODEL = re.compile(rb"(?m)^model:[^\n]*\n")


def digest(name: str, content: bytes) -> str:
    """The hash that stands for a file; of an agent without its model, wherever its hook files are."""
    if name.startswith("agents/"):
        content = without_model(content).replace(bundle.USER_HOOKS.encode(), bundle.PROJECT_HOOKS.encode())
    return sha256(content).hexdigest()


# Of each file the labels of its versions by hash, and the matchers of each script by event, see shipped.json.
Older = Mapping[str, Mapping[str, Any]]


def version_of(name: str, content: bytes, older: Older | None = None) -> str:
    """The version that a file comes from: :data:`CURRENT`, the label of an older one, or "" where it was edited."""
    found, files = digest(name, content), bundle.files()
    if name in files and found == digest(name, files[name]):
        return CURRENT
    return str((older or recorded())["files"].get(name, {}).get(found, ""))


def names(older: Older | None = None) -> list[str]:
    """Every file that this version or an older one installs, by its path under ``.claude``."""
    return [*bundle.files(), *(name for name in (older or recorded())["files"] if name not in bundle.files())]


def matchers(event: str, script: str, older: Older | None = None) -> list[str]:
    """The matchers with which older versions wired a script, and this one does not."""
    now = {row.matcher for row in bundle.wiring() if (row.event, row.script) == (event, script)}
    return [one for one in (older or recorded())["matchers"].get(event, {}).get(script, []) if one not in now]


def model_of(content: bytes) -> bytes:
    """The line of an agent that names its model; empty if there is none."""
    head = content.split(b"\n---\n", 1)[0] + b"\n"
    found = _MODEL.search(head)
    return found[0] if found else b""


def without_model(content: bytes) -> bytes:
    """An agent without the line that names its model."""
    line = model_of(content)
    return content.replace(line, b"", 1) if line else content


def with_model(content: bytes, line: bytes) -> bytes:
    """An agent with another line for its model, before its skills; without one if ``line`` is empty."""
    return without_model(content).replace(b"\npermissionMode:", b"\n" + line + b"permissionMode:", 1)


@cache
def recorded() -> Older:
    loaded: Older = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return loaded
