"""The options that every source has, as :class:`~pit_fetch.provider.Option` values like a provider's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from pit_fetch.errors import UsageError
from pit_fetch.formats import NAMES, SYNONYMS
from pit_fetch.gaps import Code
from pit_fetch.pipeline.claims import GRADES
from pit_fetch.pipeline.cursor import Cursor, parse_cursor
from pit_fetch.provider import Option
from pit_fetch.request.values import parse_instant
from pit_fetch.times import parse_pit, window_end

MIN_MAX_CHARS = 4_000


def require_pit(text: str, words: Sequence[str] = ()) -> datetime:
    """Return the PIT that ``text`` states, in UTC. Raise UsageError, which names the fault and the fix.

    ``words`` are the command line's bare words: of a PIT with a space in it, the second half is among them.
    """
    pit = parse_pit(text)
    if pit is None:
        from pit_fetch.courtesy.timestamps import problem

        raise UsageError(Code.PIT_MALFORMED, problem=problem(text, words))
    return pit


def _cursor(text: str) -> Cursor:
    cursor = parse_cursor(text)
    if cursor is None:
        raise UsageError(Code.USAGE, text="--after is not a cursor: copy one from a truncated gap")
    return cursor


def _window_end(text: str) -> datetime:
    return parse_instant(DATE_TO, text, window_end)


def _max_chars(text: str) -> int:
    return parse_budget("--max-chars", text)


def parse_budget(name: str, text: str) -> int:
    """Return a number of characters, 0 for no limit. Raise UsageError, which names the option or variable ``name``."""
    if not re.fullmatch("[0-9]{1,12}", text) or 0 < int(text) < MIN_MAX_CHARS:
        raise UsageError(Code.USAGE, text=f"{name} is 0 (no limit) or a whole number of at least {MIN_MAX_CHARS}")
    return int(text)


FORMAT = Option(
    "format",
    "output format, on a terminal table",
    choices=NAMES,
    default="json",
    metavar="FORMAT",
    synonyms=SYNONYMS,
)
OUTPUT = Option("output", "write to this file instead; .csv, .html and the like choose the format", metavar="FILE")
DATE_TO = Option("date_to", "published at or before; a date includes the whole day", metavar="DATE", parse=_window_end)

# The options of every source, in the groups of --help.
COMMON: Mapping[str, tuple[Option, ...]] = {
    "what to ask": (
        Option("source", "the provider; see --list-sources", metavar="SOURCE"),
        Option(
            "pit",
            "only what was public at this instant: 2024-02-15T16:00:00-05:00",
            metavar="ISO8601",
            parse=require_pit,
            kind="instant",
        ),
        Option("date_from", "published at or after: a New York date or a full timestamp", kind="instant"),
        DATE_TO,
        Option("limit", "maximum number of items, after filtering", kind="integer", default=50),
        Option("newest", "of each series, the items of so many newest periods", kind="integer", default=0, metavar="N"),
        Option("after", "resume from the cursor in a truncated gap", metavar="CURSOR", parse=_cursor),
        Option("max_pages", "maximum number of pages of public records to read", kind="integer", default=10),
        Option("timeout", "time limit for the whole fetch", kind="number", default=60.0),
        Option(
            "evidence",
            "claimed: also serve what only a claim dates, marked, where the source has an honest one",
            choices=GRADES,
            metavar="GRADE",
        ),
        Option("input_file", "read a raw provider reply instead of the network; - is stdin", metavar="PATH"),
        Option("archive", "record every reply in this file, and answer from it too", metavar="PATH"),
        Option("offline", "answer from the archive alone, without the network", kind="flag", default=False),
    ),
    "what to print": (
        Option("fields", "only these fields of each item; id and timestamps are always kept", kind="list"),
        FORMAT,
        OUTPUT,
        Option("open", "show the page in a browser; without --output, in a temporary file", kind="flag", default=False),
        Option(
            "max_chars",
            "maximum size of the output; a longer item is continued; 0 means no limit",
            metavar="N",
            parse=_max_chars,
        ),
        Option(
            "csv_safe",
            "as CSV, with ' before what a spreadsheet would run: cells of text that begin with =, +, - or @",
            kind="flag",
            default=False,
        ),
        Option("pretty", "indent the JSON", kind="flag", default=False),
        Option("fail", "exit 3, 4 or 5 on a config, input or upstream gap", kind="flag", default=False),
        Option("verbose", "log progress to stderr", kind="flag", default=False),
    ),
}

COMMON_OPTIONS: tuple[Option, ...] = tuple(option for group in COMMON.values() for option in group)
