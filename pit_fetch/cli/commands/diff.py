"""``pit_fetch diff``: what became public, changed or went between two instants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import parser
from pit_fetch.cli.fetch import help_text, source_of, with_settings, write_result

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
    words = list(argv[1:])
    if parser.listing_of(words):
        output.set(help_text(words, runtime, FORM))
        return
    from pit_fetch.cli.arguments import parse
    from pit_fetch.inspect import diff

    runtime, defaults = with_settings(runtime)
    provider = runtime.find(source_of(words, FORM.name))
    each = parser.each_with_one(words, "--pit", count=2, needed=diff.TWO_PITS)
    earlier, later = (parse(one_pit, provider, runtime.environ, defaults) for one_pit in each)
    write_result(later, lambda asked, log: diff.run(earlier, asked, runtime, log, list(argv)), runtime, output)
