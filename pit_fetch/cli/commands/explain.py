"""``pit_fetch explain``: each record that a fetch shows or withholds, and the reason. For operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import fetch, parser

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime

FORM = parser.FetchForm(
    "explain",
    "What a fetch at --pit shows and withholds, and why: each record that the source sends, up to a day\n"
    "after the PIT or to --date-to, with its verdict (public, late, revised, undated, unusable) and the reason.\n"
    "For operators: refused under a ceiling, PIT_FETCH_WRAPPER_ONLY or an agent's client.",
    pits="--pit ISO8601",
    has_pages=False,
)


def run(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Explain the fetch that ``argv`` asks for. Raise UsageError if the command line is refused."""
    from pit_fetch.inspect import explain

    fetch.inspect(argv, FORM, explain.explain, runtime, output)
