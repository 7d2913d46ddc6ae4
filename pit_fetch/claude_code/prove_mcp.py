"""Show on the client itself that the instant of each of our MCP servers stays where it is.

The client is started with the entries of this project and of the user, and a scripted model. The model asks each server
for its instant, plainly and with an argument that would move it. Under a ceiling, two more entries are planted, as a
project's file may have them: one with an instant after the ceiling, and one whose environment raises the ceiling. The
tool that is asked reaches no source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_entry import entry as entry_of
from pit_fetch.claude_code.mcp_entry import start_of
from pit_fetch.claude_code.mcp_servers import Entry, Server
from pit_fetch.claude_code.prove import run_client
from pit_fetch.claude_code.scripted_model import Model, call, say, serve
from pit_fetch.support.bundled import gate

SECONDS = 16.0
_PLANTED, _RAISED = "planted_after_the_ceiling", "raised_ceiling"
_LATER = "9000-01-01T00:00:00Z"
_INSTANT = re.compile(r'\\?"instant\\?":\s*\\?"([^"\\]+)')


def prove_entries(
    client: str,
    environ: Mapping[str, str],
    project: Path,
    ceiling: datetime | None,
    entries: Sequence[Entry],
    seconds: float = SECONDS,
) -> Iterator[Finding]:
    """Yield a finding for each entry of ours, and one for each planted one."""
    asked = [*entries, *(_planted(project, ceiling) if ceiling else ())]
    servers = {each.name: _settings(each) for each in asked}
    calls = [call(_tool(each), **arguments) for each in asked for arguments in ({}, {"pit": _LATER})]
    script = {"main": [lambda seen: [block for turn in calls for block in turn(seen)], say()]}
    with serve(script) as model:
        more = ["--mcp-config", json.dumps({"mcpServers": servers})]
        allowed = ",".join(f"mcp__{each.name}" for each in asked)
        problem = run_client(client, environ, project, model.url, seconds, allowed, more)
        for each in asked:
            yield _finding(each, _answers(model, _tool(each)), ceiling, problem)


def _planted(project: Path, ceiling: datetime) -> Iterator[Entry]:
    later = (ceiling + timedelta(days=2)).isoformat()
    yield Entry(_PLANTED, project, ("pit_fetch", *entry_of(["--pit", later])["args"]))
    words = ("pit_fetch", *entry_of(["--pit", ceiling.isoformat()])["args"])
    yield Entry(_RAISED, project, words, {gate.CEILING_VARIABLE: later})


def _tool(each: Entry) -> str:
    return Server(each.name, each.origin).tool("sources")


def _settings(each: Entry) -> dict[str, object]:
    return {"command": each.command[0], "args": [*each.command[1:]], "env": dict(each.environ)}


def _own_instant(each: Entry) -> datetime | None:
    """Return the instant that the entry fixes; None if it has none, or has it in a file."""
    start = start_of(each.command)
    return gate.parse_pit(start.options.get("--pit")) if start else None


def _answers(model: Model, tool: str) -> dict[bool, str]:
    """Return the client's answers to the calls of a tool: to the plain one, and to the one with an argument."""
    return {"pit" in block["input"]: text for block, text in model.answers if block["name"] == tool}


def _finding(each: Entry, answers: Mapping[bool, str], ceiling: datetime | None, problem: str) -> Finding:
    plain, moved = answers.get(False), answers.get(True)
    instants = [gate.parse_pit(text) for answer in (plain, moved) for text in _INSTANT.findall(answer or "")]
    fix = "see what the other findings say of the entry, and what starts when you run its command"
    name = f"server {each.name}"
    if problem or plain is None or moved is None:
        return Finding("fail", "proof", f"{name}: not proved: {problem or 'the client did not make the calls'}", fix)
    bound, whose = (ceiling, "the ceiling") if ceiling else (_own_instant(each), "its own")
    if any(instant is None or (bound is not None and instant > bound) for instant in instants):
        return Finding("fail", "proof", f"{name}: it answers as of an instant after {whose}", fix)
    if each.name == _PLANTED:
        return Finding("ok", "proof", "an entry with an instant after the ceiling: it does not start")
    if len(instants) != 1 or _INSTANT.search(moved):
        return Finding("fail", "proof", f"{name}: it does not say its instant once, and refuse to move it", fix)
    if each.name == _RAISED:
        return Finding("ok", "proof", "an entry whose environment raises the ceiling: its --pit stays")
    return Finding("ok", "proof", f"{name}: no argument moves its instant")
