"""``pit_fetch capture FILE``: asks for everything on a list and records it, so that any later question has an answer.

Made for scheduled jobs: it continues where it was broken off, keeps to the rate limits, and exits with 1 if a request
failed. For people: it is refused where only what was public at a ceiling may be seen.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError, of_sqlite
from pit_fetch.archive_admin import capture
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.cli.commands.archive import VARIABLE, operated, path_of
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ExitStatus, UsageError
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
    """The answer of the command. Raises UsageError under a ceiling, or for settings that are broken."""
    parser = Parser("capture", "Ask for everything on a list, and record it in the archive.")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLE.format(seconds=capture.SECONDS)
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
    given = parser.parse_args(list(argv))
    runtime = operated(runtime, "capture")
    path, file = path_of(given.archive, runtime), os.path.join(runtime.folder, given.file)
    runtime = runtime._replace(environ={**runtime.environ, VARIABLE: path})
    try:
        with _alone(file) as text:
            wanted = capture.read(text, runtime)
            if given.dry_run:
                return _told([_planned(one, runtime) for one in wanted], path, given)
            with closing(schema.open_to_write(path)) as connection:
                name = capture.name_of(file)
                done = capture.run(wanted, connection, name, runtime, progress, given.again, given.missing)
                return _told(list(done), path, given)
    except ArchiveError as error:
        return _refused(f"{path}: {error.problem}")
    except sqlite3.Error as error:
        return _refused(f"{path}: {of_sqlite(error).problem}")
    except UnicodeDecodeError:
        return _refused(f"{given.file}: it is not UTF-8")
    except UsageError as error:
        return _refused(f"{given.file}: {error.gap.reason}")


@contextlib.contextmanager
def _alone(file: str) -> Iterator[str]:
    """The text of a file, of which this is the only capture under way. Raises OSError or UsageError."""
    with open(file, encoding="utf-8-sig") as stream:  # a byte order mark says nothing
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError("usage", text="another capture of it is under way") from None
        except (ImportError, OSError):  # Windows, or a file system without locks
            pass
        yield stream.read()


def _planned(one: capture.Wanted, runtime: Runtime) -> capture.Done:
    request = capture.request_of(one, runtime, runtime.clock.now())
    return capture.Done(one.name, request.provider.name, capture.plain(request.canonical), "not asked")


def _told(done: Sequence[capture.Done], path: str, given: Any) -> CommandResult:
    """What there is now, and what failed."""
    failed = [one for one in done if one.state == "failed" or (one.state == "not asked" and not given.dry_run)]
    counts = {
        "captured": sum(one.state == "captured" for one in done),
        "held": sum(one.state == "held" for one in done),
        "failed": len(failed),
    }
    status = ExitStatus.FOUND if failed else ExitStatus.OK
    complaint = (
        f"{len(failed)} of {len(done)} requests failed: {', '.join(one.name for one in failed)}" if failed else ""
    )
    if given.json:
        rows = [one._asdict() for one in done]
        return CommandResult(
            json.dumps({"archive": path, **counts, "requests": rows}, indent=2) + "\n", status, complaint
        )
    if given.quiet and not failed:
        return CommandResult("")
    width = max(len(escape_unprintable(one.name)) for one in done)
    lines = [_line(one, width) for one in (failed if given.quiet else done)]
    total = ", ".join(f"{count} {state}" for state, count in counts.items())
    return CommandResult(
        "\n".join([*lines, f"{total} ({path})" if not given.dry_run else _counted(len(done), "request")]) + "\n",
        status,
        complaint,
    )


def _line(one: capture.Done, width: int) -> str:
    if one.state == "captured":
        counts = f"{_counted(one.items or 0, 'item')}, {_counted(one.exchanges, 'exchange')}"
        said = f"captured: {counts}" + (f". In part: {one.reason}" if one.reason else "")
    elif one.state == "held":
        said = "held: captured earlier in this run"
    elif one.reason:
        said = f"{one.state.upper()}: {one.reason}"
    else:
        said = one.request
    return f"{escape_unprintable(one.name):<{width}}  {said}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _refused(problem: str) -> CommandResult:
    return CommandResult("", ExitStatus.REFUSED, problem)
