"""``pit_fetch diff``: what became public, changed or went between two instants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import fetch, parser

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime

FORM = parser.Form(
    "diff",
    "What became public, changed or went between two instants: the same question is asked at both.\n"
    "Each item has a change: new, changed (with what it held before) or gone.",
    pits="--pit EARLIER --pit LATER",
    has_pages=False,
)


def run(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Ask at both PITs and write the difference. Raise UsageError if the command line is refused."""
    from pit_fetch.inspect import diff

    def split(words: list[str]) -> list[list[str]]:
        return parser.each_with_one(words, "--pit", count=2, needed=diff.TWO_PITS)

    fetch.inspect(argv, FORM, diff.run, runtime, output, split)
