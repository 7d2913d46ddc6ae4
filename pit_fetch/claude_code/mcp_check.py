"""Examine the entries of our MCP server: what fixes the instant of each, and who could move it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_entry import is_ours, start_of
from pit_fetch.claude_code.mcp_servers import Entry
from pit_fetch.support.bundled import gate
from pit_fetch.support.install import install_command

_CHECK = "mcp"


def check_entries(
    entries: Sequence[Entry], ceiling: str | None, installed: Callable[[], str], find: Callable[[str], str | None]
) -> Iterator[Finding]:
    """Yield a finding for each entry of ours.

    ceiling    that of the client
    installed  returns the SDK's version
    find       returns the path of a program; None if there is none
    """
    ours = [entry for entry in entries if is_ours(list(entry.command))]
    if not ours:
        return
    version = installed()
    if not version or int(version.partition(".")[0]) < 2:
        state = f"is {version}" if version else "is not installed"
        fix = install_command("'mcp>=2'") + ", in an environment without mcp-neo4j-cypher, which needs an older one"
        yield Finding("fail", _CHECK, f"the SDK mcp {state}: the server does not start", fix)
    for entry in ours:
        yield _on_entry(entry, ceiling)
        program = entry.command[0]
        if "PATH" not in entry.environ and find(program) is None:
            message = f"server {entry.name} of {entry.origin} does not start: there is no program {program} on PATH"
            yield Finding("warn", _CHECK, message, "add its folder to the PATH of the client, or write its whole path")
    instants = {_value(entry, "--pit") or _value(entry, "--pit-file") or ceiling for entry in ours}
    if len(instants) > 1:
        names = ", ".join(f"{entry.name} of {entry.origin}" for entry in ours)
        message = f"several servers answer as of different instants ({names}): an agent may ask each of them"
        yield Finding("warn", _CHECK, message, "keep one of them, or lower the ceiling")


def is_served(entry: Entry) -> bool:
    """Return whether an entry is one of ``pit_fetch mcp``, which can be asked for its instant; a gate cannot."""
    start = start_of(entry.command)
    return start is not None and start.server == "mcp"


def _on_entry(entry: Entry, ceiling: str | None) -> Finding:
    name = f"server {entry.name} of {entry.origin}"
    start = start_of(entry.command)
    if start is None or not start.is_plain:
        fix = "let its command be pit_fetch, and its args begin with mcp or mcp-gate"
        return Finding("fail", _CHECK, f"{name} starts through another program, which may set another instant", fix)
    own = entry.environ.get(gate.CEILING_VARIABLE, ceiling)
    if own != ceiling and _is_later(own, ceiling):
        fix = "take it out of the env of the entry"
        return Finding("fail", _CHECK, f"{name} has a {gate.CEILING_VARIABLE} of its own, after the client's", fix)
    pit, file = _value(entry, "--pit"), _value(entry, "--pit-file")
    if pit is not None and file is not None:
        return Finding("fail", _CHECK, f"{name} has both --pit and --pit-file: it does not start", "keep one of them")
    if pit is None and file is None and own is None:
        fix = f"give it --pit, or set {gate.CEILING_VARIABLE} in the environment that starts the client"
        return Finding("fail", _CHECK, f"{name} has no instant: it does not start", fix)
    if pit is not None and (gate.parse_pit(pit) is None or _is_later(pit, own)):
        return Finding("fail", _CHECK, f"{name} has a --pit that is no instant, or above the ceiling", "correct it")
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


def _value(entry: Entry, flag: str) -> str | None:
    """Return the value of an option of our server; None if it is not there. Two of them, and it does not start."""
    start = start_of(entry.command)
    options = () if start is None else start.options
    for place, word in enumerate(options):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag:
            return next(iter(options[place + 1 :]), "")
    return None


def installed_sdk() -> str:
    """Return the version of the SDK in this environment; "" for none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp")
    except PackageNotFoundError:
        return ""
