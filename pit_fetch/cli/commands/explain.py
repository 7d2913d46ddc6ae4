"""``pit_fetch explain``: what a fetch shows and withholds, and why. For operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import parser
from pit_fetch.cli.fetch import help_text, source_of, with_settings, write_result

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime

FORM = parser.Form(
    "explain",
    "What a fetch at --pit shows and withholds, and why: each record that the source sends, up to a day\n"
    "after the PIT or to --date-to, with its verdict (public, late, revised, undated, unusable) and the reason.\n"
    "For operators: refused under a ceiling, PIT_FETCH_WRAPPER_ONLY or an agent's client.",
    pits="--pit ISO8601",
    has_pages=False,
)


def run(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Explain the fetch that ``argv`` asks for. Raise UsageError if the command line is refused."""
    words = list(argv[1:])
    if parser.listing_of(words):
        output.set(help_text(words, runtime, FORM))
        return
    from pit_fetch.cli.arguments import parse
    from pit_fetch.inspect import explain

    runtime, defaults = with_settings(runtime)
    request = parse(words, runtime.find(source_of(words, FORM.name)), runtime.environ, defaults)
    write_result(request, lambda asked, log: explain.run(asked, runtime, log, list(argv)), runtime, output)
