"""The entry of ``pit_fetch mcp`` in a project's ``.mcp.json``: put in and taken out, with nothing else changed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pit_fetch.claude_code.install import Step

FILE = ".mcp.json"
NAME = "pit_fetch"
_SERVERS = "mcpServers"

Entry = dict[str, Any]


def entry(words: Sequence[str], program: str = "pit_fetch") -> Entry:
    """Return the entry of a server with these options. Without an instant among them, the ceiling is the instant."""
    return {"command": program, "args": ["mcp", *words]}


def is_ours(command: Sequence[str]) -> bool:
    """Return whether a command starts ``pit_fetch mcp`` or ``mcp-gate``, by that name or with an interpreter."""
    return any(
        Path(word).name.startswith(NAME) and following in ("mcp", "mcp-gate")
        for word, following in itertools.pairwise(command)
    )


def plan(project: Path, wanted: Entry, *, force: bool = False) -> Step:
    """Return the step that puts the entry in. Raise ValueError if the file cannot be merged."""
    path = project / FILE
    content = _content(path)
    servers = content.get(_SERVERS, {})
    present = servers.get(NAME)
    if present == wanted:
        return Step("same", path)
    if present is not None and not force:
        return Step("keep", path, note=f"another entry is called {NAME}: --force replaces it")
    merged = {**content, _SERVERS: {**servers, NAME: wanted}}
    return Step("merge" if path.exists() else "create", path, _text(merged))


def plan_removal(project: Path) -> Step | None:
    """Return the step that takes our entry out; None if there is none. Raise ValueError if the file cannot be read."""
    path = project / FILE
    content = _content(path)
    servers = dict(content.get(_SERVERS, {}))
    present = servers.pop(NAME, None)
    if not isinstance(present, dict) or not is_ours([str(present.get("command")), *map(str, present.get("args", ()))]):
        return None
    rest = {**content, _SERVERS: servers}
    return Step("merge", path, _text(rest)) if servers or len(content) > 1 else Step("remove", path)


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}
    except ValueError:
        content = None
    if not isinstance(content, dict) or not isinstance(content.get(_SERVERS, {}), dict):
        raise ValueError(f"{path} cannot be merged: it is not a list of servers in JSON")
    return content


def _text(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
