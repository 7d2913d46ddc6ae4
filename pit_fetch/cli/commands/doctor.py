"""``pit_fetch doctor``: report whether this computer and this project really enforce the PIT."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pit_fetch.claude_code import doctor
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_check import is_served
from pit_fetch.claude_code.openings import Opening, sentence
from pit_fetch.claude_code.session import Session, read_session
from pit_fetch.claude_code.system import THIS_SYSTEM, System
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.errors import ExitStatus
from pit_fetch.support.bundled import gate

_NOT_ENFORCED = "The PIT is NOT enforced here."
_WIRED = "Wired, not proved: pit_fetch doctor --prove has the client itself show it."
_ENFORCED = "The PIT is enforced here. {} No file here gives the session or an agent another tool that may bring data."


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str, system: System = THIS_SYSTEM) -> CommandResult:
    """Examine the project in ``folder``, with ``--prove`` through the client itself, and report every finding."""
    parser = Parser("doctor", "Check whether this machine really enforces the PIT in this project.")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="let Claude Code itself run planted leaks here, offline: it starts this project's own hooks and agents",
    )
    arguments = parser.parse_args(argv)
    if arguments.help:
        return CommandResult(parser.format_help())
    session = read_session(environ, Path(folder))
    findings = list(doctor.examine(session, system))
    if arguments.prove:
        findings += doctor.try_client(session, system)
    fails = any(finding.level == "fail" for finding in findings)
    proved = not fails and _is_proved(findings)
    openings = session.openings
    verdict = _verdict(session, openings) if proved else _NOT_ENFORCED if fails else _WIRED
    text = "".join(map(_line, findings)) + verdict
    if arguments.json:
        where = [{"agent": opening.agent, "tools": opening.tools} for opening in openings]
        report = {"enforced": proved and not openings, "held": proved, "verdict": verdict, "open": where}
        text = json.dumps({**report, "findings": [*map(asdict, findings)]}, indent=2)
    status = ExitStatus.FOUND if not proved else ExitStatus.OPEN if openings else ExitStatus.OK
    return CommandResult(text + "\n", status)


def _is_proved(findings: Sequence[Finding]) -> bool:
    """Return whether the client itself has shown something, and nothing else than it should."""
    return {finding.level for finding in findings if finding.check == "proof"} == {"ok"}


def _verdict(session: Session, openings: Sequence[Opening]) -> str:
    """Return what the client has shown, and where nothing holds: no more than that."""
    ceiling = session.variable(gate.CEILING_VARIABLE)
    names = ", ".join(server.name for server in session.servers if is_served(server))
    held = [f"Every pit_fetch call is held to {ceiling}."] if session.uses_hooks else []
    held += (
        [f"The instant of the server{'s' * (len(names) > 1)} {', '.join(names)} stays where it is."] if names else []
    )
    if not openings:
        return _ENFORCED.format(" ".join(held))
    return f"{' '.join(held)} Other tools are not held: {sentence(openings)}."


def _line(finding: Finding) -> str:
    fix = f"\n      fix: {finding.fix}" if finding.fix else ""
    level = finding.level.upper() if finding.level == "fail" else finding.level
    return f"{level:<5} {finding.check}: {finding.message}{fix}\n"
