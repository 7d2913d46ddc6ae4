"""``pit_fetch archive COMMAND``: inspect and maintain an archive.

The commands are for people and scheduled jobs: they show, and delete, what came after any PIT.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from pit_fetch.archive.archived import OnProgress
from pit_fetch.archive.store import microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, archive_error
from pit_fetch.archive.store.microseconds import isoformat
from pit_fetch.archive_admin import maintenance, repair, replay, sample, stats, verification
from pit_fetch.archive_admin.capture import run_log
from pit_fetch.archive_admin.operators import VARIABLE, path_of, require_operator
from pit_fetch.archive_admin.replay import key_of
from pit_fetch.cli import archive_log
from pit_fetch.cli.command import CommandResult, Parser, refusal, to_json, whole_number
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.provider import Option
from pit_fetch.request.options import DATE_TO
from pit_fetch.request.values import parse_value
from pit_fetch.runtime import Runtime
from pit_fetch.support.wording import counted, truncate

_ENDINGS = (".db", ".sqlite")
_NAMED = "--archive PATH (to try one, make it with pit_fetch archive sample PATH)"


# How many lines of a list are printed for people.
_AT_MOST = 10


class Invocation(NamedTuple):
    """A command on the archive at ``path``, with its options, and where it reports its progress."""

    path: str
    options: Namespace
    runtime: Runtime
    progress: Progress

    @property
    def now(self) -> int:
        return microseconds.to_micros(self.runtime.clock.now())

    def on_progress(self, activity: str) -> OnProgress:
        """Return a function that shows on the terminal how many per cent of an activity are done."""
        shown = -1

        def show(done: int, whole: int) -> None:
            nonlocal shown
            if done * 100 // whole != shown:
                shown = done * 100 // whole
                self.progress.show(f"{activity}: {shown} %")

        return show


class ArchiveCommand(NamedTuple):
    """A command of its own parser.

    options  adds what it takes besides --json
    makes    it makes an archive, named FILE; any other takes --archive
    """

    summary: str
    run: Callable[[Invocation], CommandResult]
    options: Callable[[Parser], object] = lambda parser: None
    makes: bool = False


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for broken settings."""
    name = argv[0] if argv else ""
    if name in ("-h", "--help"):
        return CommandResult(_help())
    if name not in COMMANDS:
        from pit_fetch.courtesy.names import hint

        if name.endswith(_ENDINGS):
            return refusal(f"the command comes first, and the archive behind it: info --archive {truncate(name)}")
        is_named = name and not name.startswith("-")
        close = hint(name, COMMANDS)
        problem = f"{truncate(name)} is not one of its commands{close}" if is_named else "say which command first"
        return refusal(f"{problem}: pit_fetch archive {' | '.join(COMMANDS)}")
    command = COMMANDS[name]
    parser = Parser(f"archive {name}", command.summary)
    command.options(parser)
    if not command.makes:
        parser.add_argument("--archive", metavar="PATH", help=f"the archive (default: {VARIABLE})")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(list(argv[1:]))
    runtime = require_operator(runtime, f"archive {name}")
    # What was meant for --archive may stand alone, where a command takes a word.
    alone = next((text for text in vars(options).values() if isinstance(text, str) and text.endswith(_ENDINGS)), "")
    named = f"--archive {truncate(alone)}" if alone else _NAMED
    path = runtime.path(options.file) if command.makes else path_of(options.archive, runtime, named)
    try:
        return command.run(Invocation(path, options, runtime, progress))
    except ArchiveError as error:
        return refusal(f"{path}: {error.problem}")
    except UsageError:  # a ValueError as well
        raise
    except BROKEN as error:
        return refusal(f"{path}: {archive_error(error).problem}")


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    text = "Inspect, verify and maintain an archive. Each command has its own --help."
    return f"usage: pit_fetch archive COMMAND [options]\n\n{text}\n\n" + "\n".join(lines) + "\n"


def _short(number: int) -> str:
    return microseconds.from_micros(number).strftime("%Y-%m-%d %H:%M:%SZ")


# info


def _info(call: Invocation) -> CommandResult:
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        overview, number = stats.overview(connection), schema.format_of(connection)
        future = [*verification.from_the_future(connection, call.now)]
    size = sum(os.path.getsize(call.path + end) for end in ("", "-wal") if os.path.exists(call.path + end))
    if not call.options.json:
        return CommandResult("\n".join([*_about(call.path, size, number, overview), *future]) + "\n")
    times = [{"first": isoformat(source.first), "last": isoformat(source.last)} for source in overview.sources]
    sources = [{**source._asdict(), **ends} for source, ends in zip(overview.sources, times, strict=True)]
    about = {"path": call.path, "format": number, "bytes": size}
    return CommandResult(to_json({**about, **overview._asdict(), "sources": sources, "future": future}))


def _about(path: str, size: int, number: int, overview: stats.Overview) -> Iterator[str]:
    yield f"{path}: {_bytes(size)}, format {number}"
    yield f"fetches    {overview.fetches:,}"
    yield f"replies    {overview.exchanges:,}"
    ratio = f", {overview.size / overview.packed:.1f} times smaller than they are" if overview.packed else ""
    zstandard = "; reading them needs zstandard" if overview.by_zstandard else ""
    yield f"texts      {overview.bodies:,} ({_bytes(overview.packed)} packed{ratio}{zstandard})"
    yield f"files      {overview.origins:,} that were written to"
    yield f"deletions  {overview.drops:,}"
    for source in overview.sources:
        yield f"{source.source}: {source.fetches:,} fetches from {_short(source.first)} to {_short(source.last)}"


def _bytes(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"


# log


_FROM = Option("date_from", "made at or after: a New York date or a full timestamp", kind="instant")


def _log_options(parser: Parser) -> None:
    parser.add_argument("--source", default="", help="only the fetches of this source")
    parser.add_argument("--symbol", default="", help="only those about this symbol, ticker, series or the like")
    parser.add_argument("--date-from", metavar="DATE", help=_FROM.help)
    parser.add_argument("--date-to", metavar="DATE", help="made at or before; a date includes the whole day")
    parser.add_argument("--offline", action="store_true", help="also what the archive alone answered, as with --json")
    parser.add_argument("--limit", type=whole_number(10**9), metavar="N", help="at most this many (default: all)")


def _log(call: Invocation) -> CommandResult:
    options = call.options
    wanted = stats.Filter(symbol=options.symbol, with_offline=options.offline or options.json, limit=options.limit)
    if options.date_from:
        wanted = wanted._replace(since=microseconds.to_micros(parse_value(_FROM, options.date_from)))
    if options.date_to:
        wanted = wanted._replace(until=microseconds.to_micros(parse_value(DATE_TO, options.date_to)))
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        if options.source:
            wanted = wanted._replace(source=_source(options.source, connection, call.runtime))
        fetches, names = list(stats.fetches(connection, wanted)), run_log.names(connection)
    if options.json:
        return CommandResult(to_json([*archive_log.rows(fetches, names)]))
    return CommandResult(archive_log.table(fetches, names))


def _source(name: str, connection: sqlite3.Connection, runtime: Runtime) -> str:
    """Return the name under which a source is recorded. Raise UsageError if it is neither recorded nor installed."""
    if connection.execute("SELECT 1 FROM fetches WHERE source = ? LIMIT 1", (name,)).fetchone():
        return name
    return runtime.find(name).name


# verify, rebuild


def _verify_options(parser: Parser) -> None:
    parser.add_argument("--since", metavar="ENTRY", help='only what was recorded after this fetch, as "log" lists it')


def _verify(call: Invocation) -> CommandResult:
    try:
        with closing(schema.open_to_read(call.path)) as connection:
            on_progress = call.on_progress("verifying")
            if call.options.since:
                report = verification.verify_since(connection, key_of(connection, call.options.since), on_progress)
            else:
                report = verification.verify(connection, call.runtime.find, on_progress, now=call.now)
    except Damaged as error:
        report = verification.Report(0, 0, (f"the file: {error.problem}",))
    is_sound = not report.damage
    if call.options.json:
        text = to_json({"sound": is_sound, **report._asdict()})
    else:
        text = "".join(f"{line}\n" for line in (*report.damage, _verdict(report)))
    return CommandResult(text, ExitStatus.OK if is_sound else ExitStatus.FOUND)


def _verdict(report: verification.Report) -> str:
    counts = f"{report.entries:,} entries and {report.bodies:,} bodies"
    if report.damage:
        is_of_index = all(line.startswith("index") for line in report.damage)
        advice = "rebuild makes its index again" if is_of_index else "repair [OTHER] --into FILE saves the rest"
        return f"DAMAGED, of {counts}: {counted(len(report.damage), 'finding')} (pit_fetch archive {advice})"
    underived = f" (no source here can derive {report.underived:,} of its fetches again)" if report.underived else ""
    return f"sound: {counts}{underived}"


def _rebuild(call: Invocation) -> CommandResult:
    with closing(schema.open_existing(call.path)) as connection:
        count = maintenance.rebuild(connection, call.runtime.find, call.on_progress("rebuilding"))
    return CommandResult(
        to_json({"fetches": count}) if call.options.json else f"the index was made again from {count:,} fetches\n"
    )


# repair, backup


def _repair_options(parser: Parser) -> None:
    parser.add_argument(
        "other", metavar="OTHER", nargs="?", help="an archive that may hold what is damaged in this one"
    )
    parser.add_argument("--into", required=True, metavar="FILE", help="the archive to make; it must not exist")


def _repair(call: Invocation) -> CommandResult:
    other = ""
    if call.options.other:
        _open_other(call).close()
        other = call.runtime.path(call.options.other)
    into, on_progress = call.runtime.path(call.options.into), call.on_progress("rebuilding")
    repaired = repair.repair(call.path, into, other, call.runtime.find, on_progress, call.now)
    status = ExitStatus.FOUND if repaired.lost else ExitStatus.OK
    if call.options.json:
        return CommandResult(to_json(repaired._asdict()), status)
    lines = [f"LOST: {line}" for line in repaired.lost[:_AT_MOST]]
    if len(repaired.lost) > _AT_MOST:
        lines.append(f"... and {len(repaired.lost) - _AT_MOST:,} more (--json has all)")
    lines.append(f"{call.options.into}: {counted(repaired.fetches, 'fetch', 'es')} saved, {len(repaired.lost):,} lost")
    return CommandResult("".join(f"{line}\n" for line in lines), status)


def _backup_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="the copy to make; it must not exist")


def _backup(call: Invocation) -> CommandResult:
    target = call.runtime.path(call.options.file)
    report = maintenance.backup(call.path, target, call.runtime.find, call.on_progress("verifying"))
    text = to_json(report._asdict()) if call.options.json else f"{call.options.file}: {_verdict(report)}\n"
    return CommandResult(text)


def _open_other(call: Invocation) -> sqlite3.Connection:
    """Open the other archive to read it. Raise ArchiveError, which names it."""
    other = call.runtime.path(call.options.other)
    if os.path.exists(call.path) and os.path.exists(other) and os.path.samefile(call.path, other):
        raise ArchiveError("that is the same archive twice: name another one to take over from")
    try:
        return schema.open_to_read(other)
    except ArchiveError as error:
        raise ArchiveError(f"the other one ({call.options.other}): {error.problem}") from None


# replay


def _replay_options(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help='the fetch, as "archive log" lists it, or "last"')
    parser.add_argument(
        "--no-compare", action="store_true", help="do not compare it with what today's code makes of the same replies"
    )


def _replay(call: Invocation) -> CommandResult:
    with closing(schema.open_to_read(call.path)) as connection, schema.snapshot(connection):
        key = key_of(connection, call.options.id)
        replayed = replay.recorded_answer(connection, key)
        same: bool | None = None
        why = "not compared"
        if not call.options.no_compare:
            call.progress.show(f"comparing {key} with today's code ...")
            same, why = replay.compare(connection, key, replayed, call.runtime.find)
    if call.options.json:
        fetch = {
            "id": str(key),
            "time": isoformat(replayed.fetch.began),
            "request": replayed.fetch.request,
        }
        text = to_json({**fetch, "status": replayed.status, "answer": replayed.text, "same_today": same, "why": why})
        return CommandResult(text)
    complaint = f"today's code would say otherwise: {why}" if same is False else ""
    return CommandResult(replayed.text, replayed.status, complaint, exact=True)


# export


def _export_options(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder to write; it must not exist")


def _export(call: Invocation) -> CommandResult:
    from pit_fetch.archive_admin import export

    with closing(schema.open_to_read(call.path)) as connection:
        folder = call.runtime.path(call.options.folder)
        if os.path.splitext(folder)[1] in (".parquet", ".csv", ".json", ".jsonl"):
            return refusal(f"{folder}: DIR is a folder of several Parquet files: give it a folder's name")
        exported = export.export(connection, folder, call.runtime.find, call.on_progress("exporting"))
    if call.options.json:
        return CommandResult(to_json(exported._asdict()))
    text = f"{counted(exported.rows, 'row')} in {counted(exported.files, 'file')} of {call.options.folder}\n"
    if exported.left_out:
        text += f"without versions, and left out: {', '.join(exported.left_out)}\n"
    if exported.of_past_pits:
        text += f"answers as of a past PIT, and left out: {', '.join(exported.of_past_pits)}\n"
    return CommandResult(text)


# merge, drop


def _merge_options(parser: Parser) -> None:
    parser.add_argument("other", metavar="OTHER", help="the archive to copy from; it is only read")


def _merge(call: Invocation) -> CommandResult:
    with closing(_open_other(call)) as source, closing(schema.open_to_write(call.path)) as connection:
        count = maintenance.merge(connection, source, call.runtime.find, call.on_progress("merging"), call.now)
    return CommandResult(to_json({"entries": count}) if call.options.json else f"{count:,} entries were taken over\n")


_BEFORE = Option("before", "what began before: a New York date or a full timestamp", kind="instant")
_AFTER = Option("after", "what is from after it", kind="instant")


def _drop_options(parser: Parser) -> None:
    parser.add_argument("--source", help="the source whose fetches are deleted; with --after, without it all of them")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--before", metavar="DATE", help="fetches that began before a New York date or a timestamp")
    which.add_argument("--after", metavar="DATE", help="what a clock that was ahead has dated after that instant")
    parser.add_argument("--dry-run", action="store_true", help="only show how much would be deleted")


def _drop(call: Invocation) -> CommandResult:
    options = call.options
    if options.before and not options.source:
        return refusal("--before deletes the fetches of one source: name it with --source")
    given = {
        name: microseconds.to_micros(parse_value(option, value))
        for name, option, value in (("before", _BEFORE, options.before), ("after", _AFTER, options.after))
        if value
    }
    opened = schema.open_to_read if options.dry_run else schema.open_existing
    with closing(opened(call.path)) as connection:
        source = _source(options.source, connection, call.runtime) if options.source else ""
        deletion = maintenance.Deletion(source, **given)
        if options.dry_run:
            with schema.snapshot(connection):
                dropped = maintenance.to_drop(connection, deletion)
        else:
            on_progress = call.on_progress("rebuilding")
            dropped = maintenance.drop(connection, deletion, call.now, call.runtime.find, on_progress)
    if options.json:
        counts = {"fetches": dropped.fetches, "later_answers": dropped.answers, "dry_run": options.dry_run}
        instants = {name: isoformat(number) for name, number in given.items()}
        return CommandResult(to_json({"source": source, **instants, **counts}))
    done = "would be deleted" if options.dry_run else "deleted, for good"
    of, ((word, instant),) = f" of {source}" * bool(source), given.items()
    when = f"that began before {_short(instant)}" if word == "before" else f"after {_short(instant)}"
    text = f"{counted(dropped.fetches, 'fetch', 'es')}{of} {when}: {done}\n"
    if dropped.answers:
        text += f"{counted(dropped.answers, 'later answer')} that may repeat what was deleted: {done}\n"
    return CommandResult(text)


# sample


def _sample_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="the archive to make; it must not exist")


def _sample(call: Invocation) -> CommandResult:
    call.progress.show("making the sample ...")
    made = sample.make(call.path, call.runtime)
    place = f"--archive {shlex.quote(call.options.file)} --offline"
    questions = [f"pit_fetch {question} {place}" for question in made.questions]
    if call.options.json:
        return CommandResult(to_json({"path": call.path, "about": made.about, "questions": questions}))
    lines = "".join(f"  {question}\n" for question in questions)
    return CommandResult(f"{call.options.file} is made. {made.about}\n{lines}")


COMMANDS: Mapping[str, ArchiveCommand] = {
    "info": ArchiveCommand("Show how much it holds, from which sources, and since when.", _info),
    "log": ArchiveCommand("List its fetches, newest first.", _log, _log_options),
    "replay": ArchiveCommand("Print the recorded answer of a fetch again, byte for byte.", _replay, _replay_options),
    "verify": ArchiveCommand(
        "Check every hash, and the index against them; exit 1 if anything is damaged.", _verify, _verify_options
    ),
    "merge": ArchiveCommand("Copy what another archive holds and this one lacks.", _merge, _merge_options),
    "repair": ArchiveCommand(
        "Make a new archive of what can be read of a damaged one, and of OTHER.", _repair, _repair_options
    ),
    "backup": ArchiveCommand("Copy it while others record, and verify the copy.", _backup, _backup_options),
    "export": ArchiveCommand(
        "Write every version, with when it was the answer, as Parquet files.", _export, _export_options
    ),
    "rebuild": ArchiveCommand("Derive the versions again with the providers' current code.", _rebuild),
    "drop": ArchiveCommand("Delete a source's fetches for good; the deletion stays on record.", _drop, _drop_options),
    "sample": ArchiveCommand(
        "Make a small archive of invented companies, to try it.", _sample, _sample_options, makes=True
    ),
}
