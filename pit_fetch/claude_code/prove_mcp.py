"""Show on the client itself that the instant of each of our MCP servers stays where it is.

The client is started with the entries of this project and of the user, and a scripted model. The model asks each server
for its instant, plainly and with an argument that would move it. Two more entries are planted, as a project's file may
have them: one with an instant after the ceiling, and one whose environment raises the ceiling. The tool that is asked
reaches no source.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
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
_INSTANT = re.compile(r'\\?"instant\\?":\s*\\?"([^"\\]+)')


def prove_entries(
    client: str,
    environ: Mapping[str, str],
    project: Path,
    ceiling: datetime | None,
    entries: Sequence[Entry],
    seconds: float = SECONDS,
) -> Iterator[Finding]:
    """Yield a finding for each entry of ours; under a ceiling, also one for each planted entry."""
    bounds = [(each, _bound(each, project, ceiling)) for each in entries]
    later = (max([bound for _, bound in bounds if bound] or [datetime.now(UTC)]) + timedelta(days=2)).isoformat()
    if ceiling is not None:
        later = (ceiling + timedelta(days=2)).isoformat()
        bounds += [(each, ceiling) for each in _planted(project, ceiling, later)]
    asked = [each for each, _ in bounds]
    servers = {each.name: _settings(each) for each in asked}
    calls = [call(_tool(each), **arguments) for each in asked for arguments in ({}, {"pit": later})]
    script = {"main": [lambda seen: [block for turn in calls for block in turn(seen)], say()]}
    with serve(script) as model:
        more = ["--mcp-config", json.dumps({"mcpServers": servers})]
        allowed = ",".join(f"mcp__{each.name}" for each in asked)
        problem = run_client(client, environ, project, model.url, seconds, allowed, more)
        for each, bound in bounds:
            yield _finding(each, _answers(model, _tool(each)), bound, problem)


def _planted(project: Path, ceiling: datetime, later: str) -> list[Entry]:
    after = ("pit_fetch", *entry_of(["--pit", later])["args"])
    at = ("pit_fetch", *entry_of(["--pit", ceiling.isoformat()])["args"])
    return [Entry(_PLANTED, project, after), Entry(_RAISED, project, at, {gate.CEILING_VARIABLE: later})]


def _bound(each: Entry, project: Path, ceiling: datetime | None) -> datetime | None:
    """Return the latest instant as of which an entry may answer; None if its words do not show one."""
    start = start_of(each.command)
    options = start.options if start else {}
    pit = options.get("--pit")
    if "--pit-file" in options:
        with contextlib.suppress(OSError, ValueError):
            pit = (project / options["--pit-file"]).read_text(encoding="utf-8").strip()
    return min(filter(None, (gate.parse_pit(pit), ceiling)), default=None)


def _tool(each: Entry) -> str:
    return Server(each.name, each.origin).tool("sources")


def _settings(each: Entry) -> dict[str, object]:
    return {"command": each.command[0], "args": [*each.command[1:]], "env": dict(each.environ)}


def _answers(model: Model, tool: str) -> dict[bool, str]:
    """Return the client's answers to the calls of a tool: to the plain one, and to the one with an argument."""
    return {"pit" in block["input"]: text for block, text in model.answers if block["name"] == tool}


def _finding(each: Entry, answers: Mapping[bool, str], bound: datetime | None, problem: str) -> Finding:
    plain, moved = answers.get(False), answers.get(True)
    parsed = [gate.parse_pit(text) for answer in (plain, moved) for text in _INSTANT.findall(answer or "")]
    fix = "see what the other findings say of the entry, and what starts when you run its command"
    name = f"server {each.name}"
    if problem or plain is None or moved is None:
        return Finding("fail", "proof", f"{name}: not proved: {problem or 'the client did not make the calls'}", fix)
    instants = [instant for instant in parsed if instant and bound and instant <= bound]
    if len(instants) < len(parsed):
        limit = bound.isoformat() if bound else "its entry, which has none"
        return Finding("fail", "proof", f"{name}: it answers as of an instant after {limit}", fix)
    if each.name == _PLANTED:
        return Finding("ok", "proof", "an entry with an instant after the ceiling: it does not start")
    if len(instants) != 1 or _INSTANT.search(moved):
        return Finding("fail", "proof", f"{name}: it does not say its instant once, and refuse to move it", fix)
    if each.name == _RAISED:
        return Finding("ok", "proof", "an entry whose environment raises the ceiling: its --pit stays")
    return Finding("ok", "proof", f"{name}: it answers as of {instants[0].isoformat()}, which no argument moves")
