"""``pit_fetch doctor``: report whether this computer and this project really enforce the PIT."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pit_fetch.claude_code import doctor
from pit_fetch.claude_code.system import THIS_SYSTEM, Finding, System
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.errors import ExitStatus

_NOT_ENFORCED = "The PIT is NOT enforced here."
_ENFORCED = "The PIT is enforced here, as the client itself has shown."
_OPEN = "{}, as the client itself has shown. Other ways are open: {}."
_WIRED = "Wired, not proved: run pit_fetch doctor --prove, with a ceiling, to have the client itself show it."
_NO_CLIENT = "Wired, not proved: there is no client here that could show it."
_SLOW = "Not proved: the client was too slow to show it. Try again when the machine is idle."
_NOTHING = "Not proved: the client was given nothing to show. See the lines of mcp and proof."


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str, system: System = THIS_SYSTEM) -> CommandResult:
    """Examine the project in ``folder``, with ``--prove`` through the client itself, and report every finding."""
    parser = Parser("doctor", "Check whether this machine really enforces the PIT in this project.")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="let Claude Code itself run planted leaks here, offline: it starts this project's own hooks and agents",
    )
    parser.add_argument(
        "--trust",
        metavar="NAMES",
        default="",
        help='who may see more than pit_fetch shows: "session" (and what it starts), agents or servers, with commas',
    )
    parser.advice = "it examines the working directory: go there first"
    arguments = parser.parse_args(argv)
    trusted = frozenset(name.strip() for name in arguments.trust.split(",") if name.strip())
    project = doctor.Project(environ, Path(folder), trusted)
    findings = list(doctor.examine(project, system))
    if arguments.prove:
        findings += doctor.try_client(project, system)
    verdict = _verdict(findings, arguments.prove, project.proof_clause)
    enforced = verdict == _ENFORCED
    if enforced and trusted:
        verdict += f" Trusted to see more: {', '.join(sorted(trusted))}."
    text = "".join(map(_line, findings)) + verdict
    if arguments.json:
        report = {"enforced": enforced, "verdict": verdict, "findings": [*map(asdict, findings)]}
        text = json.dumps(report, indent=2)
    return CommandResult(text + "\n", ExitStatus.OK if enforced else ExitStatus.FOUND)


def _verdict(findings: Sequence[Finding], is_proof: bool, held: str) -> str:
    if any(finding.level == "fail" for finding in findings):
        return _NOT_ENFORCED
    if not is_proof:
        return _WIRED
    from pit_fetch.claude_code.prove import TOO_SLOW

    if any(finding.check == "proof" and TOO_SLOW in finding.message for finding in findings):
        return _SLOW
    if not any((finding.check, finding.level) == ("proof", "ok") for finding in findings):
        has_client = any(finding.check == "client" and finding.level != "note" for finding in findings)
        return _NOTHING if has_client else _NO_CLIENT
    ways = [finding.message for finding in findings if finding.level == "open"]
    return _OPEN.format(held, "; ".join(ways)) if ways else _ENFORCED


def _line(finding: Finding) -> str:
    fix = f"\n      fix: {finding.fix}" if finding.fix else ""
    level = finding.level.upper() if finding.level in ("open", "fail") else finding.level
    return f"{level:<5} {finding.check}: {finding.message}{fix}\n"
