"""``pit_fetch lint [DIR]``: check a project's data agents against the PIT safety rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pit_fetch.claude_code.lint import check_agents
from pit_fetch.cli.command import CommandResult, Parser, refusal
from pit_fetch.errors import ExitStatus
from pit_fetch.support.wording import counted


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """Check the data agents of a project or a plugin, and report one problem a line."""
    parser = Parser("lint", "Check a project's data agents (.claude/agents) against the PIT safety rules.")
    parser.add_argument("dir", nargs="?", default=folder, metavar="DIR", help="the project (the working directory)")
    parser.add_argument("--trust", metavar="NAMES", default="", help="agents or servers that may see more, with commas")
    arguments = parser.parse_args(argv)
    project = Path(folder, arguments.dir)
    home = project / ".claude" if (project / ".claude" / "agents").is_dir() else project
    if not (home / "agents").is_dir():
        return refusal(f"{arguments.dir} has no .claude/agents folder: name a project that has one")
    trusted = frozenset(name.strip() for name in arguments.trust.split(",") if name.strip())
    checked, problems = check_agents(project, home, environ, trusted)
    found: Counter[str] = Counter(problem.severity for problem in problems)
    verdict = "FAIL" if found["ERROR"] else "OPEN" if found["OPEN"] else "PASS"
    ways = f", {counted(found['OPEN'], 'way')} open" if found["OPEN"] else ""
    counts = f"{counted(found['ERROR'], 'error')}, {counted(found['WARN'], 'warning')}{ways}"
    summary = f"{verdict}: {counts}, {counted(len(checked), 'agent')} checked ({', '.join(checked) or 'none'})\n"
    text = "".join(f"{problem}\n" for problem in problems) + summary
    return CommandResult(text, ExitStatus.OK if verdict == "PASS" else ExitStatus.FOUND)
