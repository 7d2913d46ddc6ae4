"""``pit_fetch archive COMMAND``: what keeps an archive, and looks into it.

For people and scheduled jobs: it shows, and deletes, what came after any PIT.
"""

from __future__ import annotations

import json
import os
import sqlite3
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from pit_fetch.archive.store import microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, of_broken
from pit_fetch.archive_admin import maintenance, replay, stats
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.engine import settings_files
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.provider import Option
from pit_fetch.request import audience
from pit_fetch.request.values import parse_value
from pit_fetch.runtime import Runtime

VARIABLE = "PIT_FETCH_ARCHIVE"


class Call(NamedTuple):
    """A command on the archive at ``path``, with its options, and where it shows how far it is."""

    path: str
    given: Namespace
    runtime: Runtime
    progress: Progress

    def told(self, what: str) -> maintenance.Told:
        """Shows on the terminal how much of ``what`` is done, per cent by per cent."""
        shown = -1

        def tell(done: int, whole: int) -> None:
            nonlocal shown
            if done * 100 // whole != shown:
                shown = done * 100 // whole
                self.progress.show(f"{what}: {shown} %")

        return tell


class Command(NamedTuple):
    """``options`` adds to the parser what the command takes besides --archive and --json."""

    summary: str
    run: Callable[[Call], CommandResult]
    options: Callable[[Parser], object] = lambda parser: None


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """The answer of the command. Raises UsageError under a ceiling, or for settings that are broken."""
    name = argv[0] if argv else ""
    if name in ("-h", "--help"):
        return CommandResult(_help())
    if name not in COMMANDS:
        from pit_fetch.support.suggest import name as closest
        from pit_fetch.support.suggest import shown

        close = closest(name, COMMANDS) if name else ""
        hint = f" (did you mean {close}?)" if close else ""
        is_named = name and not name.startswith("-")
        said = f"{shown(name)} is not one of its commands{hint}" if is_named else "say which command first"
        return _refused(f"{said}: pit_fetch archive {' | '.join(COMMANDS)}")
    command = COMMANDS[name]
    parser = Parser(f"archive {name}", command.summary)
    command.options(parser)
    parser.add_argument("--archive", metavar="PATH", help=f"the archive (default: {VARIABLE})")
    parser.add_argument("--json", action="store_true", help="as JSON")
    if {"-h", "--help"} & set(argv):
        return CommandResult(parser.format_help())
    given = parser.parse_args(list(argv[1:]))
    runtime = operated(runtime, f"archive {name}")
    path = path_of(given.archive, runtime)
    try:
        return command.run(Call(path, given, runtime, progress))
    except ArchiveError as error:
        return _refused(f"{path}: {error.problem}")
    except UsageError:  # a ValueError as well
        raise
    except BROKEN as error:
        return _refused(f"{path}: {of_broken(error).problem}")


def operated(runtime: Runtime, command: str) -> Runtime:
    """``runtime`` with the settings of files. Raises UsageError where an agent might make this call."""
    runtime, _ = settings_files.with_settings(runtime)
    if audience.is_bound(runtime.environ):
        raise UsageError("people_only", command=command)
    return runtime


def path_of(given: str | None, runtime: Runtime) -> str:
    """The archive's path: as given, or as set. Raises UsageError if neither says one."""
    path = given or runtime.environ.get(VARIABLE)
    if not path:
        raise UsageError("usage", text=f"which archive? Set {VARIABLE}, or give --archive PATH")
    return os.path.join(runtime.folder, path)


def _refused(problem: str) -> CommandResult:
    return CommandResult("", ExitStatus.REFUSED, problem)


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    text = "Inspect, verify and maintain an archive. Each command has its own --help."
    return f"usage: pit_fetch archive COMMAND [options]\n\n{text}\n\n" + "\n".join(lines) + "\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _time(number: int | None) -> str | None:
    return None if number is None else microseconds.moment(number).isoformat()


def _short(number: int) -> str:
    return microseconds.moment(number).strftime("%Y-%m-%d %H:%M:%SZ")


# info


def _info(call: Call) -> CommandResult:
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        found = stats.overview(connection)
    size = sum(os.path.getsize(call.path + end) for end in ("", "-wal") if os.path.exists(call.path + end))
    if not call.given.json:
        return CommandResult("\n".join(_about(call.path, size, found)) + "\n")
    sources = [
        {
            "source": one.source,
            "fetches": one.fetches,
            "exchanges": one.exchanges,
            "first": _time(one.first),
            "last": _time(one.last),
        }
        for one in found.sources
    ]
    return CommandResult(
        _json({"path": call.path, "format": schema.FORMAT, "bytes": size, **found._asdict(), "sources": sources})
    )


def _about(path: str, size: int, found: stats.Overview) -> Iterator[str]:
    yield f"{path}: {_bytes(size)}, format {schema.FORMAT}"
    yield f"fetches    {found.fetches:,}"
    yield f"exchanges  {found.exchanges:,}"
    ratio = f", {found.size / found.packed:.1f} times smaller than they are" if found.packed else ""
    zstandard = "; reading them needs zstandard" if found.by_zstandard else ""
    yield f"bodies     {found.bodies:,} ({_bytes(found.packed)} packed{ratio}{zstandard})"
    yield f"origins    {found.origins:,}"
    yield f"drops      {found.drops:,}"
    for one in found.sources:
        yield f"{one.source}: {one.fetches:,} fetches from {_short(one.first)} to {_short(one.last)}"


def _bytes(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"


# log


def _log_options(parser: Parser) -> None:
    parser.add_argument("--source", default="", help="only the fetches of this source")
    parser.add_argument("--limit", type=_count, metavar="N", help="at most this many (default: all)")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) > 0):
        raise ArgumentTypeError("write a whole number of at least 1")
    return int(text)


def _log(call: Call) -> CommandResult:
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        source = _source(call.given.source, connection, call.runtime) if call.given.source else ""
        rows = list(stats.fetches(connection, source, call.given.limit))
    if call.given.json:
        return CommandResult(_json([_row(one) for one in rows]))
    return CommandResult("".join(f"{_line(one)}\n" for one in rows))


def _source(name: str, connection: sqlite3.Connection, runtime: Runtime) -> str:
    """The name under which a source is recorded. Raises UsageError for one that is neither there nor installed."""
    if connection.execute("SELECT 1 FROM fetches WHERE source = ? LIMIT 1", (name,)).fetchone():
        return name
    return runtime.find(name).name


def _row(one: stats.Row) -> Mapping[str, Any]:
    return {
        "id": str(one.key),
        "time": _time(one.began),
        "source": one.source,
        "request": one.request,
        "exchanges": one.exchanges,
        "kind": one.kind,
        "pit": _time(one.pit),
        "plan": one.plan,
        "version": one.version,
        "ended": _time(one.seen),
        "complete": one.complete,
        "status": one.status,
        "answer_deleted": _time(one.withdrawn),
    }


def _line(one: stats.Row) -> str:
    end = "did not end" if one.seen is None else "complete" if one.complete else "in part"
    text = "" if one.withdrawn is None else "  (its answer was deleted)"
    count = f"{one.exchanges} exchange{'' if one.exchanges == 1 else 's'}"
    return f"{one.key}  {_short(one.began)}  {one.kind:<7}  {count:<12}  {end:<11}  {one.request}{text}"


# verify, rebuild


def _verify(call: Call) -> CommandResult:
    try:
        with closing(schema.open_to_read(call.path)) as connection:
            report = maintenance.verify(connection, call.told("verifying"))
    except Damaged as error:
        report = maintenance.Report(0, 0, (f"the file: {error.problem}",))
    is_sound = not report.damage
    if call.given.json:
        text = _json({"sound": is_sound, **report._asdict()})
    else:
        counts = f"{report.entries:,} entries and {report.bodies:,} bodies"
        verdict = f"sound: {counts}" if is_sound else f"DAMAGED, of {counts}: {len(report.damage)} findings"
        text = "".join(f"{line}\n" for line in (*report.damage, verdict))
    return CommandResult(text, ExitStatus.OK if is_sound else ExitStatus.FOUND)


def _rebuild(call: Call) -> CommandResult:
    with closing(existing(call.path)) as connection:
        count = maintenance.rebuild(connection, call.runtime.find, call.told("rebuilding"))
    return CommandResult(
        _json({"fetches": count}) if call.given.json else f"the index was made again from {count:,} fetches\n"
    )


def existing(path: str) -> sqlite3.Connection:
    """An archive that is there, to write. Raises ArchiveError."""
    schema.open_to_read(path).close()
    return schema.open_to_write(path)


# replay


def _replay_options(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help='the fetch, as "archive log" lists it, or "last"')
    parser.add_argument(
        "--no-compare", action="store_true", help="do not compare it with what today's code makes of the same replies"
    )


def _replay(call: Call) -> CommandResult:
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        key = replay.key_of(connection, call.given.id)
        found = replay.recorded(connection, key)
        same: bool | None = None
        why = "not compared"
        if not call.given.no_compare:
            from pit_fetch.archive_admin.recheck import verdict

            call.progress.show(f"comparing {key} with today's code ...")
            same, why = verdict(connection, key, found, call.runtime.find)
    if call.given.json:
        said = {"id": str(key), "time": _time(found.fetch.began), "request": found.fetch.request}
        text = _json({**said, "status": found.status, "answer": found.text, "same_today": same, "why": why})
        return CommandResult(text)
    complaint = f"today's code would say otherwise: {why}" if same is False else ""
    return CommandResult(found.text, found.status, complaint, exact=True)


# merge, drop


def _merge_options(parser: Parser) -> None:
    parser.add_argument("other", metavar="OTHER", help="the archive to copy from; it is only read")


def _merge(call: Call) -> CommandResult:
    other = os.path.join(call.runtime.folder, call.given.other)
    if os.path.exists(call.path) and os.path.exists(other) and os.path.samefile(call.path, other):
        return _refused("that is the same archive twice: name another one to take over from")
    try:
        source = schema.open_to_read(other)
    except ArchiveError as error:
        return _refused(f"{other}: {error.problem}")
    with closing(source), closing(schema.open_to_write(call.path)) as connection:
        count = maintenance.merge(connection, source, call.runtime.find, call.told("merging"))
    return CommandResult(_json({"entries": count}) if call.given.json else f"{count:,} entries were taken over\n")


_BEFORE = Option("before", "what began before: a New York date or a full timestamp", kind="instant")


def _drop_options(parser: Parser) -> None:
    parser.add_argument("--source", required=True, help="the source whose fetches are deleted")
    parser.add_argument(
        "--before", required=True, metavar="DATE", help="only fetches that began before a New York date or a timestamp"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show how much would be deleted")


def _drop(call: Call) -> CommandResult:
    """Deletes, or counts, what licences demand."""
    given = call.given
    before = microseconds.number(parse_value(_BEFORE, given.before))
    opened = schema.open_to_read if given.dry_run else existing
    with closing(opened(call.path)) as connection:
        source = _source(given.source, connection, call.runtime)
        if given.dry_run:
            with schema.snapshot(connection):
                gone = maintenance.to_drop(connection, source, before, call.runtime.find, call.told("comparing"))
        else:
            now, told = microseconds.number(call.runtime.clock.now()), call.told("rebuilding")
            gone = maintenance.drop(connection, call.path, source, before, now, call.runtime.find, told)
    if given.json:
        said = {"source": source, "before": _time(before), "fetches": gone.fetches, "later_answers": gone.answers}
        return CommandResult(_json({**said, "dry_run": given.dry_run}))
    done = "would be deleted" if given.dry_run else "deleted, for good"
    fetches = f"{gone.fetches:,} fetch{'' if gone.fetches == 1 else 'es'} of {source}"
    text = f"{fetches} that began before {_short(before)}: {done}\n"
    if gone.answers:
        repeating = "later answer that repeats" if gone.answers == 1 else "later answers that repeat"
        text += f"{gone.answers:,} {repeating} what was deleted: {done}\n"
    return CommandResult(text)


COMMANDS: Mapping[str, Command] = {
    "info": Command("Show how much it holds, from which sources, and since when.", _info),
    "log": Command("List its fetches, newest first.", _log, _log_options),
    "replay": Command("Print the recorded answer of a fetch again, byte for byte.", _replay, _replay_options),
    "verify": Command("Recompute every hash and chain; exit 1 if anything is damaged.", _verify),
    "merge": Command("Copy what another archive holds and this one lacks.", _merge, _merge_options),
    "rebuild": Command("Derive the versions again with the providers' current code.", _rebuild),
    "drop": Command("Delete a source's fetches for good; the deletion stays on record.", _drop, _drop_options),
}
