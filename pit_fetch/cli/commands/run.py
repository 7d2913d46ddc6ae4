"""``pit_fetch run --pit T -- CMD``: a command that sees only what was public at T, whatever it is written in."""

from __future__ import annotations

import json
import os
import signal
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin.operators import VARIABLE, require_operator
from pit_fetch.cli.command import CommandResult, Parser, to_json
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.request import evidence
from pit_fetch.request.audience import is_for_an_agent, is_offline
from pit_fetch.request.options import require_pit
from pit_fetch.runs import RECORD_VARIABLE
from pit_fetch.runs.record import Record
from pit_fetch.runtime import Environment, Runtime
from pit_fetch.support.whole_file import replacing

_COMMAND = "write the command behind --, as in -- python3 backtest.py"
_EPILOG = """\
The exit status, the streams and the signals are those of CMD; what was refused is in the report. docs/run.md.
"""


def run(argv: Sequence[str], runtime: Runtime) -> CommandResult:
    """Run a command. Raise UsageError under a ceiling, for wrong options, and for what is missing here."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    options, command = _parser().parse_args(words[:end]), words[end + 1 :]
    runtime = require_operator(runtime, "run")
    if options.views:
        from pit_fetch.views import views_table

        rows = views_table()
        lines = (f"{row['source']:15} {row['host']:30} {row['path']}: {row['rule']}\n" for row in rows)
        return CommandResult(to_json(rows) if options.json else "".join(lines))
    if not command or options.pit is None:
        raise UsageError(
            Code.USAGE, text=_COMMAND if not command else "run needs --pit ISO8601, the instant of CMD's world"
        )
    return _run(options, command, runtime)


def _parser() -> Parser:
    parser = Parser("run", "Run a command that sees only what was public at an instant.")
    parser.usage = "pit_fetch run --pit ISO8601 [options] -- CMD ARG ..."
    parser.epilog = _EPILOG
    parser.advice = _COMMAND
    parser.add_argument("--pit", metavar="ISO8601", help="the instant")
    parser.add_argument("--archive", metavar="PATH", help="record every reply in this file")
    parser.add_argument("--offline", action="store_true", help="answer from the archive alone, and ask no source")
    parser.add_argument(
        "--allow", metavar="HOST,...", default="", help="hosts that pass as they are: HOST, or HOST:PORT"
    )
    parser.add_argument("--web", choices=("none", "wayback"), default="none", help="what answers for other pages")
    parser.add_argument(
        "--clock", metavar="T|off", default="T", help="CMD's clock: that of the instant, or the machine's"
    )
    text = "no way out but through a view, or a proxy that a program can go around"
    parser.add_argument("--network", choices=("sealed", "proxy"), default="sealed", help=text)
    parser.add_argument("--evidence", metavar="GRADE", help="proved, claimed, or one by source: yahoo=claimed")
    parser.add_argument("--record", metavar="FILE", help="record what CMD was shown, as pit_fetch runs reads it")
    parser.add_argument("--report", metavar="FILE", help="write what was asked and refused, once CMD has ended")
    parser.add_argument("--views", action="store_true", help="list what is understood, and run nothing")
    parser.add_argument("--json", action="store_true", help="with --views: as JSON")
    return parser


def _run(options: Namespace, command: Sequence[str], runtime: Runtime) -> CommandResult:
    try:
        from pit_fetch.views import ViewOptions
        from pit_fetch.world.archived import ArchivedTransport
        from pit_fetch.world.exchanges import World, moving_clock, parse_allowed
        from pit_fetch.world.run import run_command
    except ModuleNotFoundError as error:
        raise ConfigError(Code.DEPENDENCY_MISSING, package=str(error.name)) from None
    if options.clock not in ("T", "off"):
        raise UsageError(Code.USAGE, text="--clock is T or off")
    pit, environ = require_pit(options.pit), dict(runtime.environ)
    archive, record = options.archive or environ.get(VARIABLE), options.record or environ.get(RECORD_VARIABLE)
    offline = options.offline or is_offline(environ)
    if offline and not archive:
        raise ConfigError(Code.OFFLINE_WITHOUT_ARCHIVE)
    if evidence.parse_grades(options.evidence or "") is None:
        raise ConfigError(Code.EVIDENCE_MALFORMED)
    if is_for_an_agent(environ):  # whom its client restricts
        if options.report:
            raise UsageError(Code.OPERATORS_ONLY, what="--report shows what is withheld")
        if options.evidence is not None:
            raise ConfigError(Code.EVIDENCE_NOT_GRANTED, source="SOURCE")
    report = runtime.path(options.report) if options.report else None
    network = None
    with ExitStack() as opened:
        # What is wrong with a file is told before CMD starts. An archive stays open all along, so that the files beside
        # it stay those that are hidden.
        hidden = [report] if report else []
        if record:
            environ[RECORD_VARIABLE] = runtime.path(record)
            opened.enter_context(Record(environ[RECORD_VARIABLE]))
            hidden.append(environ[RECORD_VARIABLE])
        if archive:
            path = environ[VARIABLE] = runtime.path(archive)
            opened.enter_context(closing(_open_archive(path, offline)))
            hidden += [f"{path}{ending}" for ending in ("", "-wal", "-shm", "-journal")]
            network = ArchivedTransport(None if offline else runtime.transport, path, pit, runtime.clock.now())
            runtime = runtime._replace(transport=network)
        clock = moving_clock(pit, runtime.clock.monotonic)
        runtime = runtime._replace(environ=Environment(environ))
        world = World(
            pit,
            clock,
            runtime,
            ViewOptions(web=options.web, evidence=options.evidence or ""),
            parse_allowed(options.allow),
        )
        if options.network == "proxy" and runtime.stderr is not None:
            runtime.stderr.write("pit_fetch: a program can go around --network proxy: it is no seal\n")
            runtime.stderr.flush()
        moves_clock = options.clock == "T"
        status, told = run_command(command, world, options.network, moves_clock=moves_clock, hidden=hidden)
    if network is not None:
        network.finish(status)
        told["archive"] = network.problem or ("answered" if offline else "recorded")
    if report:
        with replacing(report) as file:
            file.write(f"{json.dumps(told, indent=2)}\n".encode())
    if status < 0:
        _die(-status)
    return CommandResult("", status)


def _open_archive(path: str, offline: bool) -> Any:
    try:
        return schema.open_to_read(path) if offline else schema.open_to_write(path)
    except ArchiveError as error:
        raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from None


def _die(number: int) -> Any:
    """End this process by the signal that ended the command."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # SIGKILL
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
