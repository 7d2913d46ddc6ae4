"""Examine the entries of our MCP server: what fixes the instant of each, and who could move it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import Entry
from pit_fetch.support.bundled import gate
from pit_fetch.support.install import install_command

_CHECK = "mcp"


def check_entries(entries: Sequence[Entry], ceiling: str | None, installed: Callable[[], str]) -> Iterator[Finding]:
    """Yield a finding for each entry of ours. ``ceiling`` is that of the client; ``installed`` the SDK's version."""
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
    instants = {_value(entry, "--pit") or _value(entry, "--pit-file") or ceiling for entry in ours}
    if len(instants) > 1:
        names = ", ".join(f"{entry.name} of {entry.origin}" for entry in ours)
        message = f"several servers answer as of different instants ({names}): an agent may ask each of them"
        yield Finding("warn", _CHECK, message, "keep one of them, or lower the ceiling")


def is_served(entry: Entry) -> bool:
    """Return whether an entry is one of ``pit_fetch mcp``, which can be asked for its instant; a gate cannot."""
    return is_ours(entry.command) and "mcp-gate" not in entry.command


def _on_entry(entry: Entry, ceiling: str | None) -> Finding:
    name = f"server {entry.name} of {entry.origin}"
    own = entry.environ.get(gate.CEILING_VARIABLE, ceiling)
    if own != ceiling and _is_later(own, ceiling):
        fix = "take it out of the env of the entry"
        return Finding("fail", _CHECK, f"{name} has a {gate.CEILING_VARIABLE} of its own, after the client's", fix)
    pit, file = _value(entry, "--pit"), _value(entry, "--pit-file")
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
    """Return the value of an option in an entry's command; None if it is not there."""
    for place, word in enumerate(entry.command):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag:
            return next(iter(entry.command[place + 1 :]), "")
    return None


def installed_sdk() -> str:
    """Return the version of the SDK in this environment; "" for none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp")
    except PackageNotFoundError:
        return ""
