"""Examine the entries of our MCP server: what fixes the instant of each, and who could move it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pit_fetch.claude_code.mcp_entry import NAME, Start, is_ours, names_us, start_of
from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.claude_code.system import Finding
from pit_fetch.support.bundled import gate
from pit_fetch.support.install import install_command

_CHECK = "mcp"
_SPELLING = "let its command be pit_fetch, or its whole path, and its args mcp or mcp-gate and their options"
# Variables that decide which code a program runs.
_DECIDES = re.compile(r"(LD|DYLD|PYTHON)_?[A-Z_]*|GCONV_PATH|OPENSSL_CONF")


def check_entries(
    entries: Sequence[ServerEntry],
    ceiling: str | None,
    now: datetime,
    installed: Callable[[], str],
    find: Callable[[str], str | None],
    inherited: Iterable[str] = (),
) -> Iterator[Finding]:
    """Yield a finding for each entry of ours, and for each that may be one.

    ceiling    that of the client
    now        the time
    installed  returns the SDK's version
    find       returns the path of a program; None if there is none
    inherited  names of the variables that the client's settings set for its servers
    """
    named = [entry for entry in entries if names_us(_text(entry))]
    if any(is_ours(entry.command) for entry in named):
        yield from _check_sdk(installed())
    for entry in named:
        yield from _check_entry(entry, ceiling, now, find, frozenset(inherited))
    ours = [(entry, start) for entry in named if (start := start_of(entry.command))]
    instants = {start.options.get("--pit") or start.options.get("--pit-file") or ceiling for _, start in ours}
    if len(instants) > 1:
        names = ", ".join(f"{entry.name} of {entry.origin}" for entry, _ in ours)
        message = f"several servers answer as of different instants ({names}): an agent may ask each of them"
        yield Finding("warn", _CHECK, message, "keep one of them, or lower the ceiling")


def is_served(entry: ServerEntry) -> bool:
    """Return whether an entry is one of ``pit_fetch mcp``, which can be asked for its instant; a gate cannot."""
    return is_ours(entry.command) and "mcp-gate" not in entry.command


def _text(entry: ServerEntry) -> str:
    return " ".join([*entry.command, entry.url, *map(str, entry.environ.values())])


def _check_sdk(version: str) -> Iterator[Finding]:
    if not version or int(version.partition(".")[0]) < 2:
        state = f"is {version}" if version else "is not installed"
        fix = install_command("mcp>=2") + ", in an environment without mcp-neo4j-cypher, which needs an older one"
        yield Finding("fail", _CHECK, f"the SDK mcp {state}: the server does not start", fix)


def _check_entry(
    entry: ServerEntry, ceiling: str | None, now: datetime, find: Callable[[str], str | None], inherited: frozenset[str]
) -> Iterator[Finding]:
    name, program = f"server {entry.name} of {entry.origin}", entry.command[0]
    if not is_ours(entry.command):
        message = f"{name} names pit_fetch: what it starts cannot be judged by its words"
        yield Finding("warn", _CHECK, message, f"if that is a server of ours, {_SPELLING}")
        return
    start = start_of(entry.command)
    if start is None:
        message = f"{name} cannot be judged: it starts pit_fetch in a way that may set another instant"
        yield Finding("fail", _CHECK, message, _SPELLING)
        return
    names = {variable for variable in {*entry.environ} | inherited if _DECIDES.fullmatch(variable)}
    if program == NAME and "PATH" in entry.environ:
        names.add("PATH")
    if names:
        message = f"{name} cannot be judged: {', '.join(sorted(names))} in its environment may have it run other code"
        yield Finding("fail", _CHECK, message, "take it out of the env, and let the command be a whole path")
        return
    path = find(program)
    if path is None:
        message = f"{name} does not start: there is no program {program} on PATH"
        yield Finding("warn", _CHECK, message, "add its folder to the PATH of the client, or write its whole path")
        return
    if Path(path).resolve() not in _own_programs(find):
        message = f"{name} cannot be judged: it starts {path}, which is not the pit_fetch that this doctor is part of"
        yield Finding("warn", _CHECK, message, "see what it is, and run the doctor of that one")
        return
    yield _check_instant(name, entry, start, ceiling, now)


def _own_programs(find: Callable[[str], str | None]) -> set[Path]:
    """Return the program that pip put beside this interpreter, and the one on PATH."""
    return {Path(path).resolve() for path in (Path(sys.executable).with_name(NAME), find(NAME)) if path}


def _check_instant(name: str, entry: ServerEntry, start: Start, ceiling: str | None, now: datetime) -> Finding:
    own = entry.environ.get(gate.CEILING_VARIABLE, ceiling)
    if own != ceiling and _is_later(own, ceiling):
        fix = "take it out of the env of the entry"
        return Finding("fail", _CHECK, f"{name} has a {gate.CEILING_VARIABLE} of its own, after the client's", fix)
    pit, file = start.options.get("--pit"), start.options.get("--pit-file")
    if pit is not None and file is not None:
        return Finding("fail", _CHECK, f"{name} has both --pit and --pit-file: it does not start", "keep one of them")
    if pit is None and file is None and own is None:
        fix = f"give it --pit, or set {gate.CEILING_VARIABLE} in the environment that starts the client"
        return Finding("fail", _CHECK, f"{name} has no instant: it does not start", fix)
    moment = gate.parse_pit(pit)
    if pit is not None and moment is None:
        fix = f"write {gate.PIT_FORM}"
        return Finding("fail", _CHECK, f"{name} has a --pit that is no instant ({pit}): it does not start", fix)
    if _is_later(pit or own, own):
        message = f"{name} has the --pit {pit}, which is after the ceiling, {own}: it does not start"
        return Finding("fail", _CHECK, message, "lower that --pit, or raise the ceiling")
    if moment is not None and moment > now:
        message = f"{name} answers as of {pit}, which is yet to come: it withholds nothing that is public today"
        return Finding("warn", _CHECK, message, "correct its year, if it is for a back-test")
    instant = pit or (f"the instant in {file}" if file else own)
    if ceiling is None:
        place = f"{entry.origin} and {file}" if file else str(entry.origin)
        fix = f"set {gate.CEILING_VARIABLE} in the environment that starts the client"
        return Finding("warn", _CHECK, f"{name} answers as of {instant}, which moves with who may write {place}", fix)
    return Finding("ok", _CHECK, f"{name} answers as of {instant}, and of nothing after {ceiling}")


def _is_later(text: object, ceiling: str | None) -> bool:
    """Return whether an instant is after the ceiling; also if one of them cannot be read."""
    if ceiling is None:
        return False
    moment, bound = gate.parse_pit(text), gate.parse_pit(ceiling)
    return moment is None or bound is None or moment > bound


def installed_sdk() -> str:
    """Return the version of the SDK in this environment; "" for none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp")
    except PackageNotFoundError:
        return ""
