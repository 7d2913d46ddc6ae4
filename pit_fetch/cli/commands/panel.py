"""``pit_fetch panel``: one question for many subjects as of many instants, as one table.

It is for people and scheduled jobs, since it shows what was public at the latest of its instants.
"""

from __future__ import annotations

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence

from pit_fetch import api
from pit_fetch.archive_admin.operators import require_operator
from pit_fetch.cli.arguments import read_options
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.cli.output_file import check_file, write_file
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.gaps import FAILURES, Code, GapType
from pit_fetch.panels import table
from pit_fetch.panels.panel import Cell, counted
from pit_fetch.request.values import flag_of
from pit_fetch.runtime import Runtime

_EXAMPLE = """\
  pit_fetch panel --source sec_full_text --forms 8-K --over tickers=@tickers.txt \\
      --pits 'monthly 2024-01..2024-12 16:00[America/New_York]' \\
      --archive filings.db --offline --output panel.csv

Any other option is one of the fetch that each cell is: those of the source, --date-from, --date-to, --limit,
--max-pages, --timeout, --evidence, --fields, --archive and --offline. Items are complete unless there is a limit.
A cell without items has a row as well, whose status says why.

exit status: 0 every cell was answered; 1 one failed, was refused or is incomplete; 2 nothing was asked.
"""
# The common options of a fetch that a cell takes.
_OF_A_CELL = frozenset(
    ["date_from", "date_to", "limit", "max_pages", "timeout", "evidence", "fields", "archive", "offline"]
)
_UNANSWERED = ("failed", "refused", "incomplete")


def run(argv: Sequence[str], runtime: Runtime, progress: Progress) -> CommandResult:
    """Run the command. Raise UsageError under a ceiling, or for what cannot be asked."""
    parser = _parser()
    if {"-h", "--help"} & set(argv):
        return CommandResult(parser.format_help())
    options, words = parser.parse_known_args(list(argv))
    if not (options.source and options.pits):
        parser.parse_args(list(argv))  # a misspelling of one of the two
        parser.error(parser.advice)
    runtime = require_operator(runtime, "panel")
    path = None if options.output is None else runtime.path(options.output)
    form = _format(options, path)
    if path is not None:
        check_file(path)
    asked = _asked(options.source, words, runtime)
    panel = api.panel(options.source, _pits(options.pits), _over(options.over), asked, runtime)
    cells = []
    for cell in panel:
        cells.append(cell)
        progress.show(f"{len(cells):,} of {len(panel):,} cells")
    progress.tell(", ".join(f"{count:,} {status}" for status, count in counted(cells).items()))
    return _written(table.render(panel, cells, form), cells, path)


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
        '"daily|weekly fri|monthly FROM..TO HH:MM[Zone]". May be repeated',
    )
    parser.add_argument(
        "--over",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="the values of an option of the source, with commas between them; or NAME=@FILE with one a line, or a CSV "
        "file with a column of that name, and maybe from and to. May be repeated, for every combination",
    )
    parser.add_argument("--output", metavar="FILE", help="write into FILE, whole or not at all")
    parser.add_argument("--format", choices=table.FORMATS, help="default: by the name of FILE, or else csv")
    return parser


def _asked(source: str, words: Sequence[str], runtime: Runtime) -> Mapping[str, object]:
    """Return the options of every cell. Raise UsageError for one that a cell does not take."""
    provider = runtime.find(source)
    given, _ = read_options(words, provider)
    own = {option.name for option in provider.options}
    foreign = next((name for name in given if name not in own | _OF_A_CELL), None)
    if foreign is not None:
        fix = ": give --pits" if foreign == "pit" else ""
        raise UsageError(Code.USAGE, text=f"{flag_of(foreign)} is not an option of a panel{fix}")
    return given


def _pits(given: Sequence[str]) -> list[str]:
    return [text for each in given for text in _listed(each)]


def _over(given: Sequence[str]) -> dict[str, object]:
    over: dict[str, object] = {}
    for text in given:
        name, is_pair, values = text.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not is_pair or name in over:
            problem = f"{name} is given twice" if is_pair else "write --over symbol=IBM,AAPL or --over symbol=@FILE"
            raise UsageError(Code.USAGE, text=f"--over: {problem}")
        over[name] = values if values.startswith("@") else _listed(values)
    return over


def _listed(text: str) -> list[str]:
    return [text] if text.startswith("@") else [part.strip() for part in text.split(",") if part.strip()]


def _format(options: Namespace, path: str | None) -> str:
    ending = "" if path is None else path.rpartition(".")[2].lower()
    form: str = options.format or next((name for name in table.FORMATS if name == ending), "csv")
    if form == "parquet" and path is None:
        raise UsageError(Code.USAGE, text="--format parquet needs --output FILE")
    return form


def _written(content: str | bytes, cells: Sequence[Cell], path: str | None) -> CommandResult:
    unanswered = [cell for cell in cells if cell.status in _UNANSWERED]
    status, complaint = (ExitStatus.FOUND, _complaint(unanswered, cells)) if unanswered else (ExitStatus.OK, "")
    if path is None:
        return CommandResult(str(content), status, complaint, exact=True)
    if all(cell.status in ("failed", "refused") for cell in cells):
        return CommandResult("", status, f"Nothing was written. {complaint}")
    write_file(path, content)
    return CommandResult("", status, complaint)


def _complaint(unanswered: Sequence[Cell], cells: Sequence[Cell]) -> str:
    reasons = (gap["reason"] for gap in unanswered[0].envelope.gaps if gap["type"] in (*FAILURES, GapType.TRUNCATED))
    reason = next(reasons, "something was never captured.")
    return f"{len(unanswered):,} of {len(cells):,} cells failed, or are incomplete. The first of them: {reason}"
