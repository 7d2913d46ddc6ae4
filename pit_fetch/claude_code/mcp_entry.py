"""The entry of ``pit_fetch mcp`` in a project's ``.mcp.json``: put in and taken out, with nothing else changed."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.claude_code.install import Step

FILE = ".mcp.json"
SERVERS = ("mcp", "mcp-gate")
NAME = "pit_fetch"
_SERVERS = "mcpServers"

# Programs that start another one as it is, unless they are told of a file with an environment.
_LAUNCHER = re.compile(r"python[0-9.]*|pypy[0-9.]*|uvx?|pipx")
_ENVIRONMENT = frozenset({"--env-file", "-c"})
_OF_A_SHELL = re.compile(rf"{NAME}\S*\s+({'|'.join(SERVERS)})\b")

Entry = dict[str, Any]


def entry(words: Sequence[str], program: str = "pit_fetch") -> Entry:
    """Return the entry of a server with these options. Without an instant among them, the ceiling is the instant."""
    return {"command": program, "args": ["mcp", *words]}


class Start(NamedTuple):
    """How a command starts one of our servers: through which ``launchers``, which of them, and its own options."""

    launchers: tuple[str, ...]
    server: str
    options: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether the launchers, if any, start a program and do nothing else that could matter."""
        first, *others = self.launchers or ("",)
        return not first or (_LAUNCHER.fullmatch(Path(first).name) is not None and not _ENVIRONMENT & {*others})


def start_of(command: Sequence[str]) -> Start | None:
    """Return how a command starts ``pit_fetch mcp`` or ``mcp-gate``; None if it does not."""
    words = [part for word in command for part in _words(word)]
    for place, (word, following) in enumerate(itertools.pairwise(words)):
        if Path(word).name.startswith(NAME) and following in SERVERS:
            options = list(itertools.takewhile(lambda word: word != "--", words[place + 2 :]))
            shell = command[:1] if len(words) > len(command) else []  # a word of several is for a shell
            return Start((*shell, *words[:place]), following, tuple(options))
    return None


def is_ours(command: Sequence[str]) -> bool:
    """Return whether a command starts ``pit_fetch mcp`` or ``mcp-gate``, however it does."""
    return start_of(command) is not None


def _words(word: str) -> list[str]:
    return word.split() if _OF_A_SHELL.search(word) else [word]


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
