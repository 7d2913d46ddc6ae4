"""``pit_fetch diff``: the items that became public, changed or went between two instants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import fetch, parser
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.times import parse_pit

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime

FORM = parser.FetchForm(
    "diff",
    "What became public, changed or went between two instants: the same question is asked at both.\n"
    "Each item has a change: new, changed (with what it held before), repeated (by a newer filing, say) or gone.",
    pits="--pit EARLIER --pit LATER",
    has_pages=False,
)


def run(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Fetch at both PITs and write the difference. Raise UsageError if the command line is refused."""
    from pit_fetch.inspect import diff

    fetch.inspect(argv, FORM, diff.diff, runtime, output, lambda words: _split(words, diff.TWO_PITS))


def _split(argv: list[str], needed: str) -> list[list[str]]:
    """Return the command line once for each of its two PITs, with that one alone.

    Raise UsageError, whose text is ``needed``, for another number of them.
    """
    words = argv[: argv.index("--")] if "--" in argv else argv
    places = [place for place, word in enumerate(words) if word == "--pit" or word.startswith("--pit=")]
    if len(places) != 2:
        instants = [part for word in words for part in re.split("[,=]", word) if parse_pit(part)]
        fix = f": write --pit {instants[0]} --pit {instants[1]}" if len(set(instants)) == 2 == len(instants) else ""
        raise UsageError(Code.USAGE, text=f"{needed.partition(':')[0]}{fix}" if fix else needed)
    first, second = ({place, place + (words[place] == "--pit")} for place in places)
    return [[word for place, word in enumerate(argv) if place not in other] for other in (second, first)]
