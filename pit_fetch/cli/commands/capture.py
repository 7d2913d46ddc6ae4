"""``pit_fetch capture FILE``: fetch and record every request of a list, so that any later question has an answer.

Made for scheduled jobs: it continues an interrupted run, keeps the rate limits, and exits with 1 if a request failed.
It is refused where only what was public at a ceiling may be seen.
"""

from __future__ import annotations

import contextlib
import sqlite3
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError, archive_error
from pit_fetch.archive_admin import capture, capture_list, capture_runs
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.cli.commands.archive import VARIABLE, counted, path_of, refused, require_operator, to_json
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.gaps import Code
from pit_fetch.runtime import Runtime
from pit_fetch.support.terminal import escape_unprintable

_EXAMPLE = """\
FILE is TOML, a table for each request: its source, optionally a name, and the options of that source by their
names; and date_from, date_to, limit, max_pages and timeout (default {seconds} seconds).

  [[request]]
  name = "IBM's estimates"
  source = "alphavantage"
  op = "EARNINGS_ESTIMATES"
  symbol = "IBM"

A request with a limit or max_pages proves less: what it leaves out depends on what came later.
exit status: 0 everything was captured; 1 a request failed; 2 nothing was asked.
"""


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for broken settings."""
    parser = Parser("capture", "Ask for everything on a list, and record it in the archive.")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLE.format(seconds=capture_list.SECONDS)
    parser.advice = 'what to ask for stands in FILE, a table [[request]] with source = "NAME" for each request'
    parser.add_argument("file", metavar="FILE", help="the list of requests")
    parser.add_argument("--archive", metavar="PATH", help=f"the archive (default: {VARIABLE}); created if missing")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--missing", action="store_true", help="ask only for what the last run did not get")
    which.add_argument("--again", action="store_true", help="ask for everything, even if the last run was broken off")
    parser.add_argument("--dry-run", action="store_true", help="only check the list, and show what would be asked")
    parser.add_argument("--quiet", action="store_true", help="print nothing, unless a request failed")
    parser.add_argument("--json", action="store_true", help="as JSON")
    if {"-h", "--help"} & set(argv):
        return CommandResult(parser.format_help())
    options = parser.parse_args(list(argv))
    runtime = require_operator(runtime, "capture")
    path, file = path_of(options.archive, runtime), runtime.path(options.file)
    runtime = runtime._replace(environ={**runtime.environ, VARIABLE: path})
    try:
        with _locked(file) as text:
            wanted = capture_list.parse(text, runtime)
            if options.dry_run:
                return _report([capture.planned(request, runtime) for request in wanted], path, options)
            with closing(schema.open_to_write(path)) as connection:
                name = capture_runs.name_of(file)
                results = capture.run(wanted, connection, name, runtime, progress, options.again, options.missing)
                return _report([*results], path, options)
    except ArchiveError as error:
        return refused(f"{path}: {error.problem}")
    except sqlite3.Error as error:
        return refused(f"{path}: {archive_error(error).problem}")
    except UnicodeDecodeError:
        return refused(f"{options.file}: it is not UTF-8")
    except UsageError as error:
        return refused(f"{options.file}: {error.gap.reason}")


@contextlib.contextmanager
def _locked(file: str) -> Iterator[str]:
    """Yield the text of a file. Raise OSError, or UsageError if another capture of it is under way."""
    with open(file, encoding="utf-8-sig") as stream:  # with or without a byte order mark
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(Code.USAGE, text="another capture of it is under way") from None
        except (ImportError, OSError):  # Windows, or a file system without locks
            pass
        yield stream.read()


def _report(results: Sequence[capture.CaptureResult], path: str, options: Any) -> CommandResult:
    failures = ("failed",) if options.dry_run else ("failed", "not asked", "empty")
    failed = [result for result in results if result.state in failures]
    counts = {state: sum(result.state == state for result in results) for state in ("captured", "empty", "held")}
    counts["failed"] = len(failed) - counts["empty"]
    status = ExitStatus.FOUND if failed else ExitStatus.OK
    if options.json:
        rows = [result._asdict() for result in results]
        return CommandResult(
            to_json({"archive": path, **counts, "requests": rows}), status, _complaint(results, failed)
        )
    shown = [result for result in results if result in failed or result.missing] if options.quiet else results
    if not shown:
        return CommandResult("")
    width = max(len(escape_unprintable(result.name)) for result in results)
    lines = [_line(result, width) for result in shown]
    total = ", ".join(f"{count} {state}" for state, count in counts.items() if count or state != "empty")
    lines.append(counted(len(results), "request") if options.dry_run else f"{total} ({path})")
    return CommandResult("\n".join(lines) + "\n", status, _complaint(results, failed))


def _complaint(results: Sequence[capture.CaptureResult], failed: Sequence[capture.CaptureResult]) -> str:
    if not failed:
        return ""
    how = "failed or brought nothing" if any(result.state == "empty" for result in failed) else "failed"
    return f"{len(failed)} of {len(results)} requests {how}: {', '.join(result.name for result in failed)}"


def _line(result: capture.CaptureResult, width: int) -> str:
    extras = [
        f"In part: {result.reason}" if result.state == "captured" and result.reason else "",
        f"MISSING: {result.missing}" if result.missing else "",
        f"Note: {result.note}" if result.note else "",
    ]
    text = _outcome(result)
    more = " ".join(filter(None, extras))
    end = "." if more and not text.endswith(".") else ""
    return f"{escape_unprintable(result.name):<{width}}  {text}{end} {more}".rstrip()


def _outcome(result: capture.CaptureResult) -> str:
    match result.state:
        case "captured":
            return f"captured: {counted(result.items or 0, 'item')}, {counted(result.exchanges, 'exchange')}"
        case "held":
            return "held: captured earlier in this run"
        case "empty":
            return f"EMPTY: {result.reason} If that is to be expected, write may_be_empty = true."
        case _:
            return f"{result.state.upper()}: {result.reason}" if result.reason else result.request
