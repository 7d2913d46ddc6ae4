"""``pit_fetch panel``: one question for many subjects as of many instants, as one table.

It is for people and scheduled jobs, since it shows what was public at the latest of its instants.
"""

from __future__ import annotations

import os
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from tempfile import TemporaryDirectory

from pit_fetch.archive_admin.capture.estimate import duration, source_plan
from pit_fetch.archive_admin.operators import require_operator
from pit_fetch.cli.arguments import read_options
from pit_fetch.cli.command import CommandResult, Parser, whole_number
from pit_fetch.cli.output_file import check_file
from pit_fetch.cli.panel_report import result_of
from pit_fetch.cli.parser import build_parser
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import UsageError
from pit_fetch.formats import PANEL_NAMES, RenderOptions
from pit_fetch.gaps import Code
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.output import PanelFile
from pit_fetch.panels.table import TABLE, format_of
from pit_fetch.provider import Provider
from pit_fetch.request.audience import is_for_a_person
from pit_fetch.request.values import flag_of
from pit_fetch.runtime import Runtime
from pit_fetch.support import process
from pit_fetch.support.terminal import terminal_width
from pit_fetch.support.wording import truncate

_EXAMPLE = """\
  pit_fetch panel --source sec_full_text --forms 8-K --over tickers=@tickers.txt \\
      --pits 'monthly 2024-01..2024-12 16:00[America/New_York]' \\
      --archive filings.db --offline --output panel.csv

Any other option is one of the fetch that each cell is: those of the source, --date-from, --date-to, --limit,
--newest, --max-pages, --timeout, --evidence, --input-file, --archive, --offline and --fields.
Items are complete unless there is a limit. A cell without items has a row as well. Its status and its reason say why.

A run that was broken off, or in which cells failed, is continued by the same command: answered subjects are kept in
FILE.parts until all of them are there.

exit status: 0 every cell was answered, or was never captured; 1 one failed, was refused or is incomplete (not by
--limit), a check is not passed, or with --fail one was never captured; 2 nothing was asked.
"""
# The common options of a fetch that a cell takes.
_OF_A_CELL = (
    *("date_from", "date_to", "limit", "newest", "max_pages", "timeout", "evidence"),
    *("input_file", "archive", "offline", "fields"),
)
# Before so many seconds, nobody knows how long the rest takes.
_SOON = 3


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for what cannot be asked."""
    parser = _parser()
    options, words = _parse(parser, argv, runtime)
    runtime = require_operator(runtime, "panel")
    if options.output == "":  # a variable of the shell that is not set
        raise UsageError(Code.USAGE, text="--output is empty: name a file, or leave it out")
    path = None if options.output is None else _output_path(runtime.path(options.output), options.format)
    form = _format(options, path, runtime)
    over = _over_values(options.over)
    asked = _cell_options(options.source, words, runtime)
    new_folder = os.path.dirname(path) if path and options.output.endswith("/") else ""
    if path is not None and (not new_folder or os.path.exists(new_folder)):
        check_file(path, map(runtime.path, _input_paths(options, asked)))
    grid = grid_of(options.source, [text for each in options.pits for text in _split_list(each)], over, asked, runtime)
    cells = sum(len(subject.pits) for subject in grid.subjects)
    with TemporaryDirectory() if path is None else nullcontext() as folder:
        name = path or f"{folder}/panel"
        file = PanelFile(grid, name, again=options.again)
        plan = _plan(cells, file.kept_cells, runtime.find(options.source), asked, runtime)
        if options.dry_run:
            return CommandResult(f"{plan}\n")
        progress.tell(plan)
        if new_folder:
            os.makedirs(new_folder, exist_ok=True)
        if path:
            process.keep_what_was_done()
        width = 0 if path or runtime.stdout is None else terminal_width(runtime.stdout, runtime.environ)
        layout = RenderOptions(width=width, csv_safe=options.csv_safe)
        shown = _CellProgress(cells, file.kept_cells, progress, runtime)
        written = file.write(form, shown, layout, check=options.check)
        progress.tell(", ".join(f"{count:,} {status}" for status, count in written.statuses.items()))
        result = result_of(written, cells, name, is_kept=path is not None, fail=options.fail)
        return replace(result, notes=(*filter(None, [grid.caution]), *result.notes))


def _parse(parser: Parser, argv: Sequence[str], runtime: Runtime) -> tuple[Namespace, list[str]]:
    """Return the panel's own options, and the words for its cells. Raise UsageError or ArgumentError."""
    options, words = parser.parse_known_args(list(argv))
    provider = runtime.find(options.source) if options.source else None
    if not (options.source and options.pits):
        known = [flag for flag in build_parser(provider).flags if provider or flag != "--pit"]
        parser.parse_args([word for word in words if word[:1] == "-" and word.partition("=")[0] not in known])
    # What is no option, nor name=VALUE, may be of the instants or the subjects.
    if provider and (not options.pits or any(word.startswith("--pit") or "=" not in word[1:] for word in words)):
        from pit_fetch.courtesy.panels import mistake

        if problem := mistake(argv, provider):
            raise UsageError(Code.USAGE, text=problem)
    if not (options.source and options.pits):
        from pit_fetch.courtesy.panels import LINE

        parser.error(f"{parser.advice}: {LINE}")
    return options, words


class _CellProgress:
    """The progress of a panel: how many cells are done, and how long the others take."""

    def __init__(self, whole: int, done: int, progress: Progress, runtime: Runtime) -> None:
        self.whole, self.kept, self.done = whole, done, done
        self.progress, self.clock = progress, runtime.clock
        self.began = self.last = self.clock.monotonic()

    def __call__(self, done: int) -> None:
        now = self.clock.monotonic()
        if done < self.done:  # all is asked anew
            self.kept, self.began = 0, self.last
        self.done, self.last = done, now
        seconds = now - self.began
        left = seconds / (self.done - self.kept) * (self.whole - self.done)
        ending = f", about {duration(left)} left" if seconds > _SOON else ""
        self.progress.show(f"{self.done:,} of {self.whole:,} cells{ending}")


def _parser() -> Parser:
    parser = Parser("panel", "Ask one question for many subjects, as of many instants.")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLE
    parser.advice = "a panel needs --source SOURCE and --pits INSTANTS"
    parser.add_argument("--source", metavar="SOURCE", help="the source")
    parser.add_argument(
        "--pits",
        metavar="INSTANTS",
        action="append",
        help="the instants, with commas between them; @FILE with one a line; or a rule: "
        '"daily|weekly fri|monthly FROM..TO HH:MM[Zone]" or "sessions XNYS FROM..TO close+15min". May be repeated',
    )
    parser.add_argument(
        "--over",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="the values of an option of the source, with commas between them; or NAME=@FILE with one a line, or a CSV "
        "file with a column of that name, and maybe from and to. May be repeated, for every combination",
    )
    parser.add_argument(
        "--output",
        "--out",
        metavar="FILE",
        help="write into FILE, whole or not at all; into panel.FORMAT if it is a folder, or ends with /",
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="in CSV, write ' before what a spreadsheet would run: cells of text that begin with =, +, - or @",
    )
    parser.add_argument("--again", action="store_true", help="ask anew what an earlier run has kept in FILE.parts")
    parser.add_argument("--fail", action="store_true", help="exit with 1 also if a cell was never captured")
    parser.add_argument(
        "--check",
        metavar="N",
        type=whole_number(10**9),
        default=0,
        help="once all is written, ask N cells again, each as a single fetch, and say whether the rows are the same",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show how many cells are to be asked")
    parser.add_argument(
        "--format",
        choices=(*PANEL_NAMES, TABLE),
        help="default: by the name of FILE; without it table on a terminal, else csv",
    )
    return parser


def _cell_options(source: str, words: Sequence[str], runtime: Runtime) -> Mapping[str, object]:
    """Return the options of every cell. Raise UsageError for one that a cell does not take."""
    provider = runtime.find(source)
    given, _ = read_options(words, provider)
    taken = {*_OF_A_CELL, *(option.name for option in provider.all_options)}
    foreign = next((name for name in given if name not in taken), None)
    if foreign is not None:
        fix = "give --pits" if foreign == "pit" else f"a cell takes {', '.join(map(flag_of, _OF_A_CELL))}"
        raise UsageError(Code.USAGE, text=f"{flag_of(foreign)} is not an option of a panel: {fix}")
    return given


def _input_paths(options: Namespace, asked: Mapping[str, object]) -> Iterator[str]:
    """Yield the files that a panel reads."""
    lists = [*options.pits, *(text.partition("=")[2] for text in options.over)]
    yield from (text.removeprefix("@") for text in lists if text.startswith("@"))
    if asked.get("input_file"):
        yield str(asked["input_file"])


def _over_values(given: Sequence[str]) -> dict[str, object]:
    over: dict[str, object] = {}
    for text in given:
        name, is_pair, values = text.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not is_pair or name in over:
            fix = f"{name} is given twice" if is_pair else f"{truncate(text)} has no values"
            raise UsageError(Code.USAGE, text=f"--over: {fix}: write --over NAME=A,B or NAME=@FILE")
        over[name] = values if values.startswith("@") else _split_list(values)
    return over


def _split_list(text: str) -> list[str]:
    return [text] if text.startswith("@") else [part.strip() for part in text.split(",") if part.strip()]


def _format(options: Namespace, path: str | None, runtime: Runtime) -> str:
    is_read = path is None and not options.csv_safe and is_for_a_person(runtime)
    form: str = options.format or (TABLE if is_read else format_of(path or ""))
    if options.csv_safe and form != "csv":
        raise UsageError(Code.USAGE, text=f"--csv-safe is of CSV: leave it out, or let the panel be no {form}")
    if form == "parquet" and path is None:
        raise UsageError(Code.USAGE, text="--format parquet needs --output FILE")
    return form


def _plan(cells: int, kept: int, provider: Provider, asked: Mapping[str, object], runtime: Runtime) -> str:
    """Return how many cells there are and, of a source, how many calls that takes."""
    whole, due = f"{cells:,} cell{'s' if cells != 1 else ''}", cells - kept
    text = f"{whole}, of which {kept:,} are kept of an earlier run" if kept else whole
    if asked.get("offline") or asked.get("input_file") or not due or not provider.hosts:
        return text
    plan = source_plan(provider.name, provider.hosts[0], [1] * due, runtime.environ)
    return f"{text}. {plan.calls_in_words}. A capture asks once for all instants: see docs/capture.md"


def _output_path(path: str, form: str | None) -> str:
    """Return the file to write; that in a folder has the name of the command."""
    return os.path.join(path, f"panel.{form or 'csv'}") if path.endswith("/") or os.path.isdir(path) else path
