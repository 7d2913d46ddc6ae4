"""``pit_fetch capture FILE``: fetch and record every request of a list, so that any later question has an answer.

Made for scheduled jobs: it continues an interrupted run, keeps the rate limits, and exits with 1 if a request failed.
It is refused where only what was public at a ceiling may be seen.
"""

from __future__ import annotations

import json
import os
from argparse import RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin.capture import jobs
from pit_fetch.archive_admin.capture.jobs import CaptureReport
from pit_fetch.archive_admin.capture.request_list import SECONDS
from pit_fetch.archive_admin.capture.results import CaptureResult, in_words, metrics, row, summarize
from pit_fetch.archive_admin.capture.run import CaptureJob, Shown
from pit_fetch.archive_admin.operators import VARIABLE, path_of, require_operator
from pit_fetch.cli.command import CommandResult, Parser, refusal, to_json, whole_number
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ConfigError, ExitStatus, UsageError
from pit_fetch.gaps import Code
from pit_fetch.runtime import Runtime
from pit_fetch.support import process
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.support.whole_file import replacing
from pit_fetch.support.wording import counted

# How many requests are named in one line.
_NAMED = 10
_EXAMPLE = """\
FILE is TOML, a table for each request: its source, optionally a name, and the options of that source by their
names; and date_from, date_to, limit, max_pages and timeout (default {seconds} seconds).

  [[request]]
  name = "IBM's estimates"
  source = "alphavantage"
  op = "EARNINGS_ESTIMATES"
  symbol = "IBM"

over asks for many: over.symbol = ["IBM", "AAPL"], or over.symbol = "@FILE" with one a line, or a CSV file with a
column of that name, in the folder of the list. An option that takes a list takes "@FILE", too, in one request.
Before anything is asked, a terminal (and --dry-run) shows how many calls that is, and how long they take.

A request with a limit or max_pages proves less: what it leaves out depends on what came later.
exit status: 0 everything was captured; 1 a request failed or brought nothing; 2 nothing was asked; 6 everything was
captured, and what came since the capture before is missing.
"""


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for broken settings."""
    parser = Parser("capture", "Ask for everything on a list, and record it in the archive.")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLE.format(seconds=SECONDS)
    parser.advice = 'what to ask for stands in FILE, a table [[request]] with source = "NAME" for each request'
    parser.add_argument("file", metavar="FILE", help="the list of requests")
    parser.add_argument("--archive", metavar="PATH", help=f"the archive (default: {VARIABLE}); created if missing")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--missing", action="store_true", help="ask only for what the last run did not get")
    which.add_argument("--again", action="store_true", help="ask for everything, even if the last run was broken off")
    parser.add_argument("--dry-run", action="store_true", help="only check the list, and show what would be asked")
    parser.add_argument(
        "--parallel", type=whole_number(64), metavar="N", help="requests of a source at once (default: 8)"
    )
    parser.add_argument("--log", metavar="FILE", help="append a line of JSON for each request, and a summary")
    parser.add_argument("--metrics", metavar="FILE", help="write the sums in the text format of Prometheus")
    parser.add_argument("--quiet", action="store_true", help="print nothing, unless a request failed")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(list(argv))
    runtime = require_operator(runtime, "capture")
    path, file = path_of(options.archive, runtime), runtime.path(options.file)
    shown = Shown(progress.show, (lambda text: None) if options.quiet else progress.tell)
    try:
        with process.ClosingJob(), jobs.file_job(file, runtime) as job:
            job = job._replace(again=options.again, missing=options.missing)
            job = job._replace(parallel=options.parallel or job.parallel)
            if options.dry_run:
                return _result(jobs.carry_out(job, path, runtime, shown, is_dry=True), options)
            with _watched(job, options, runtime, shown) as shown:
                return _result(jobs.carry_out(job, path, runtime, shown), options)
    except ArchiveError as error:
        return refusal(f"{path}: {error.problem}")
    except UnicodeDecodeError:
        return refusal(f"{options.file}: it is not UTF-8")
    except UsageError as error:
        return refusal(f"{options.file}: {error.gap.reason}")
    except ConfigError as error:
        return refusal(error.gap.reason)


@contextmanager
def _watched(job: CaptureJob, options: Any, runtime: Runtime, shown: Shown) -> Iterator[Shown]:
    """Write what a capture tells whoever watches it, also if a signal ends it. Raise UsageError for a bad path."""
    results: list[CaptureResult] = []
    started = runtime.clock.now()
    with ExitStack() as stack:
        log = None
        try:
            if options.log:
                log = stack.enter_context(open(runtime.path(options.log), "a", encoding="utf-8"))
        except OSError as error:
            raise UsageError(Code.USAGE, text=f"--log cannot be written ({error.strerror})") from None

        def note(result: CaptureResult) -> None:
            results.append(result)
            if log is not None:
                log.write(row(result))
                log.flush()

        try:
            yield shown._replace(note=note)
        finally:
            summary = summarize(results, started, runtime.clock.now(), len(job.planned) - len(results))
            shown.tell(in_words(summary))
            if log is not None:
                log.write(f"{json.dumps({'summary': summary})}\n")
            if options.metrics:
                with replacing(runtime.path(options.metrics)) as file:  # a collector reads the old one or the new one
                    file.write(metrics(summary, os.path.basename(options.file)).encode())


def _result(report: CaptureReport, options: Any) -> CommandResult:
    results, failed = report.requests, report.failed
    hole = ExitStatus.HOLE if any(result.missing for result in results) else ExitStatus.OK
    status, complaint = ExitStatus.FOUND if failed else hole, _complaint(results, failed)
    if options.json:
        return CommandResult(to_json(report.as_dict()), status, complaint)
    shown = [result for result in results if result in failed or result.missing] if options.quiet else results
    if not shown:
        return CommandResult("")
    width = max(len(escape_unprintable(result.name)) for result in results)
    notes = Counter(result.note for result in shown)
    lines = [_line(result, width, has_note=notes[result.note] == 1) for result in shown]
    lines += [f"Note on {count:,} requests: {note}" for note, count in notes.items() if note and count > 1]
    return CommandResult("\n".join([*lines, *_totals(report)]) + "\n", status, complaint)


def _totals(report: CaptureReport) -> list[str]:
    if report.is_dry:
        return [counted(len(report.requests), "request"), *(planned.in_words for planned in report.plan)]
    counts = report.counts.items()
    return [
        f"{', '.join(f'{count} {state}' for state, count in counts if count or state != 'empty')} ({report.archive})"
    ]


def _complaint(results: Sequence[CaptureResult], failed: Sequence[CaptureResult]) -> str:
    if not failed:
        return ""
    how = "failed or brought nothing" if any(result.state == "empty" for result in failed) else "failed"
    names = [result.name for result in failed[:_NAMED]]
    if len(failed) > len(names):
        names.append(f"and {len(failed) - len(names):,} more")
    return f"{len(failed)} of {len(results)} requests {how}: {', '.join(names)}"


def _line(result: CaptureResult, width: int, *, has_note: bool) -> str:
    extras = [
        f"In part: {result.reason}" if result.state == "captured" and result.reason else "",
        f"MISSING: {result.missing}" if result.missing else "",
        f"Note: {result.note}" if result.note and has_note else "",
    ]
    text = _outcome(result)
    more = " ".join(filter(None, extras))
    end = "." if more and not text.endswith(".") else ""
    return f"{escape_unprintable(result.name):<{width}}  {text}{end} {more}".rstrip()


def _outcome(result: CaptureResult) -> str:
    match result.state:
        case "captured":
            return f"captured: {counted(result.items or 0, 'item')}, {counted(result.exchanges, 'exchange')}"
        case "held":
            return "held: captured earlier in this run"
        case "empty":
            return f"EMPTY: {result.reason} If that is to be expected, write may_be_empty = true."
        case _:
            return f"{result.state.upper()}: {result.reason}" if result.reason else result.request
