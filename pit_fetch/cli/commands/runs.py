"""``pit_fetch runs COMMAND``: look up what was shown in a run, compare runs, and ask for all of it again.

For operators: a record holds what every agent of a run was shown.
"""

from __future__ import annotations

import base64
import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.archive_admin import operators
from pit_fetch.cli.command import CommandResult, Parser, to_json
from pit_fetch.engine import settings_files
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult
from pit_fetch.errors import ConfigError, ExitStatus, UsageError
from pit_fetch.formats import Text
from pit_fetch.gaps import Code
from pit_fetch.mcp.answers import in_columns, release_answer
from pit_fetch.request.audience import is_bound
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runs import RECORD_VARIABLE, replay
from pit_fetch.runs.record import Entry, entries
from pit_fetch.runtime import Runtime
from pit_fetch.support.wording import counted, truncate

# How many findings are printed for people.
_AT_MOST = 10


class Invocation(NamedTuple):
    """A command on the record at ``path``, with its options."""

    path: str
    options: Namespace
    runtime: Runtime

    def calls(self, run: str) -> list[Entry]:
        """Return the calls of a run. Raise UsageError if the record has none."""
        found = entries(self.path, run)
        if not found:
            from pit_fetch.courtesy.names import hint

            known = {call.run for call in entries(self.path)}
            raise UsageError(Code.USAGE, text=f"there is no run {truncate(run)}{hint(run, known)}: see runs list")
        return found


class RunsCommand(NamedTuple):
    """``names`` are the metavars of the runs that it takes."""

    summary: str
    run: Callable[[Invocation], CommandResult]
    names: tuple[str, ...] = ()


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for broken settings."""
    name = argv[0] if argv else ""
    if name in ("-h", "--help"):
        lines = "".join(f"  {name:8} {command.summary}\n" for name, command in COMMANDS.items())
        usage = (
            "usage: pit_fetch runs COMMAND ...\n\nLook up, compare and verify what was shown in a run.\n\ncommands:\n"
        )
        return CommandResult(f"{usage}{lines}\npit_fetch runs COMMAND --help says what it takes.\n")
    if name not in COMMANDS:
        from pit_fetch.courtesy.names import hint

        problem = f"{truncate(name)} is not one of its commands{hint(name, COMMANDS)}" if name else "say which command"
        raise UsageError(Code.USAGE, text=f"{problem}: pit_fetch runs {' | '.join(COMMANDS)}")
    command = COMMANDS[name]
    parser = Parser(f"runs {name}", command.summary)
    for metavar in command.names:
        parser.add_argument(metavar.lower(), metavar=metavar, help="the name of a run, as runs list shows it")
    parser.add_argument("--record", metavar="FILE", help=f"the record (default: {RECORD_VARIABLE})")
    if command.run is _verify:
        parser.add_argument("--archive", metavar="PATH", help=f"the archive (default: {operators.VARIABLE})")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(list(argv[1:]))
    runtime = settings_files.with_settings(runtime)[0]
    if is_bound(runtime.environ):
        raise UsageError(Code.OPERATORS_ONLY, what="runs shows what all agents were shown")
    path = options.record or runtime.environ.get(RECORD_VARIABLE)
    if not path:
        raise UsageError(Code.USAGE, text=f"which record? Set {RECORD_VARIABLE}, or give --record FILE")
    try:
        return command.run(Invocation(runtime.path(path), options, runtime))
    except ConfigError as error:
        return CommandResult("", ExitStatus.REFUSED, f"{path}: {error.gap.params.get('problem', error)}")


def _list(call: Invocation) -> CommandResult:
    runs: dict[str, list[Entry]] = {}
    for entry in entries(call.path):
        runs.setdefault(entry.run, []).append(entry)
    rows = [
        {
            "run": name,
            "calls": len(calls),
            "steps": len({entry.step for entry in calls}),
            "agents": sorted({entry.agent for entry in calls if entry.agent}),
            "first": min(_moments(calls)).isoformat(),
            "last": max(_moments(calls)).isoformat(),
            "bytes": sum(len(entry.shown) for entry in calls),
        }
        for name, calls in runs.items()
    ]
    lines = (f"{row['run']}  {row['calls']:,} calls, {row['steps']:,} steps, last {row['last']}" for row in rows)
    return _printed(call, rows, lines)


def _moments(calls: Iterable[Entry]) -> list[datetime]:
    return [datetime.fromisoformat(entry.at) for entry in calls]


def _show(call: Invocation) -> CommandResult:
    rows = [entry.row() for entry in call.calls(call.options.run)]
    lines = [f"{row['call']}  {row['at']}  {counted(len(row['items']), 'item')}  {row['request']}" for row in rows]
    gated = [str(row["call"]) for row in rows if "gated" in row]
    if gated:
        text = "A client's gate may have withheld what these calls showed (PIT_GATE_LOG says it)"
        lines.append(f"{text}: {', '.join(gated[:_AT_MOST])}{', …' if len(gated) > _AT_MOST else ''}")
    return _printed(call, rows, lines)


def _export(call: Invocation) -> CommandResult:
    lines = (json.dumps({**entry.row(), **_answer(entry)}) for entry in call.calls(call.options.run))
    return CommandResult("".join(f"{line}\n" for line in lines), exact=True)


def _answer(entry: Entry) -> dict[str, str]:
    try:
        return {"answer": entry.shown.decode()}
    except UnicodeDecodeError:  # of a binary format
        return {"answer_base64": base64.b64encode(entry.shown).decode()}


def _diff(call: Invocation) -> CommandResult:
    one, other = call.calls(call.options.a), call.calls(call.options.b)
    found = list(replay.differences(one, other))
    lines = [f"{row['change']}: {row['request']}" for row in found[:_AT_MOST]]
    lines.append(f"{counted(len(found), 'difference')} in {len(one):,} and {len(other):,} calls")
    return _printed(call, found, lines, is_good=not found)


def _verify(call: Invocation) -> CommandResult:
    archive = operators.path_of(call.options.archive, call.runtime)
    report = replay.verify(call.calls(call.options.run), call.runtime, archive, _shown_again)
    lines = [
        *(f"different: {row['request']}" for row in report.different[:_AT_MOST]),
        *(f"not answerable: {row['request']} ({row['reason']})" for row in report.not_answerable[:_AT_MOST]),
        f"{report.same:,} of {counted(report.calls, 'call')} are answered with the same bytes",
    ]
    return _printed(call, {"run": call.options.run, **report._asdict()}, lines, is_good=report.same == report.calls)


def _shown_again(call: Entry, request: FetchRequest, result: FetchResult) -> Text:
    if call.form["shape"] is None or call.pit is None:
        return result.text
    released = release_answer(str(result.text), datetime.fromisoformat(call.pit))
    if call.form["shape"] == "items":
        return released.text
    return in_columns(released, json.loads(call.shown)["pit"], result.gaps, request.fields).text


def _printed(call: Invocation, content: Any, lines: Iterable[str], *, is_good: bool = True) -> CommandResult:
    text = to_json(content) if call.options.json else "".join(f"{line}\n" for line in lines)
    return CommandResult(text, ExitStatus.OK if is_good else ExitStatus.FOUND)


COMMANDS: Mapping[str, RunsCommand] = {
    "list": RunsCommand("List the runs of a record.", _list),
    "show": RunsCommand("List the calls of a run: who asked what, and what was shown.", _show, ("RUN",)),
    "diff": RunsCommand("List what differs between two runs; exit 1 if anything does.", _diff, ("A", "B")),
    "verify": RunsCommand(
        "Ask every request again, of the archive alone; exit 1 unless all bytes are the same.", _verify, ("RUN",)
    ),
    "export": RunsCommand("Write the calls of a run as JSON lines, with what was shown.", _export, ("RUN",)),
}
