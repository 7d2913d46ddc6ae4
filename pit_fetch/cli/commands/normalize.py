"""``pit_fetch normalize``: a transformer's items, answered like a fetch that reads them from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import fetch, parser

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime

FORM = parser.FetchForm("normalize", asks_source=False)


def run(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Read the items and write the envelope. Raise UsageError if the command line is refused."""
    from pit_fetch.cli.arguments import parse
    from pit_fetch.normalize import PROVIDER

    words = list(argv[1:])
    if parser.listing_of(words) == "help":
        output.set(parser.build_parser(PROVIDER, FORM).format_help())
        return
    runtime, defaults = fetch.apply_settings(runtime)
    request = parse(words, PROVIDER, runtime.environ, {"input_file": "-", **defaults}, FORM)
    fetch.write_answer([request], argv, runtime, output)
