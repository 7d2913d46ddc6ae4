"""The entry of ``pit_fetch mcp`` in a project's ``.mcp.json``: put in and taken out, with nothing else changed."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.claude_code.install import Step, dump
from pit_fetch.claude_code.mcp_servers import entries_in

FILE = ".mcp.json"
NAME = "pit_fetch"
_KEY = "mcpServers"

# The options of each server, with a value but for the flags. Behind "--" is the command of another server.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "mcp": ("--pit", "--pit-file", "--moving", "--sources", "--archive", "--offline"),
    "mcp-gate": ("--pit", "--pit-file", "--moving", "--tools"),
}
_FLAGS = frozenset({"--offline", "--moving"})
_NAMED = re.compile(r"pit[_-]fetch", re.IGNORECASE)
_STARTED = re.compile(rf"{_NAMED.pattern}.*\bmcp\b", re.IGNORECASE | re.DOTALL)


def entry(words: Sequence[str], program: str = NAME) -> dict[str, Any]:
    """Return the entry of a server with these options. Without an instant among them, the ceiling is the instant."""
    return {"command": program, "args": ["mcp", *words]}


class Start(NamedTuple):
    """How a command starts one of our servers: which of them, and with which options."""

    server: str
    options: Mapping[str, str]


def start_of(command: Sequence[str]) -> Start | None:
    """Return how a command starts one of our servers, if it is spelt as :func:`entry` spells one; None for another.

    Another program, a shell or a variable of the client may change the words. Only running the command would show how.
    """
    match command:
        case [program, ("mcp" | "mcp-gate") as server, *words] if program == NAME or _is_whole_path(program):
            options = _options(list(itertools.takewhile(lambda word: word != "--", words)), OPTIONS[server])
            return None if options is None else Start(server, options)
    return None


def is_ours(command: Sequence[str]) -> bool:
    """Return whether a command seems to start one of our servers, however it is spelt."""
    return _STARTED.search(" ".join(command)) is not None


def names_us(text: str) -> bool:
    """Return whether a text has our name in it."""
    return _NAMED.search(text) is not None


def _is_whole_path(program: str) -> bool:
    return Path(program).is_absolute() and Path(program).name == NAME and "$" not in program


def _options(words: Sequence[str], known: Sequence[str]) -> dict[str, str] | None:
    """Return the values of options by flag; None if one is not known, comes twice, or is left to a variable."""
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        flag, has_value, value = word.partition("=")
        if word in _FLAGS:
            value = "yes"
        elif not has_value:
            value = next(rest, "$")
        if flag not in known or flag in options or "$" in value:
            return None
        options[flag] = value
    return options


def plan(project: Path, wanted: Mapping[str, Any], *, force: bool = False) -> Step:
    """Return the step that puts the entry in. Raise ValueError if the file cannot be merged."""
    path = project / FILE
    content = _content(path)
    servers = content.get(_KEY, {})
    present = servers.get(NAME)
    if present == wanted:
        return Step("same", path)
    if present is not None and not force:
        return Step("keep", path, note=f"another entry is called {NAME}: --force replaces it")
    merged = {**content, _KEY: {**servers, NAME: wanted}}
    return Step("merge" if path.exists() else "create", path, dump(merged))


def present_instant(project: Path) -> str:
    """Return, in words, the instant as of which the project's own entry answers."""
    start = start_of(_own_command(_content(project / FILE)))
    if start is None:
        return "an instant that its words do not show"
    file = start.options.get("--pit-file")
    return start.options.get("--pit") or (
        f"the instant in {file}" if file else "the ceiling of the client's environment"
    )


def plan_removal(project: Path) -> Step | None:
    """Return the step that takes our entry out; None if there is none. Raise ValueError if the file cannot be read."""
    path = project / FILE
    content = _content(path)
    if not is_ours(_own_command(content)):
        return None
    servers = {name: settings for name, settings in content[_KEY].items() if name != NAME}
    rest = {**content, _KEY: servers}
    return Step("merge", path, dump(rest)) if servers or len(content) > 1 else Step("remove", path)


def _own_command(content: Mapping[str, Any]) -> Sequence[str]:
    return next((found.command for found in entries_in(content) if found.name == NAME), ())


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}
    except ValueError:
        content = None
    if not isinstance(content, dict) or not isinstance(content.get(_KEY, {}), dict):
        raise ValueError(f"{path} cannot be merged: it is not a JSON object, or its mcpServers is none")
    return content
