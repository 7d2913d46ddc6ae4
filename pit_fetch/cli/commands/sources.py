"""``pit_fetch sources [NAME]``: what there is to ask for, how it is dated, and which fields it has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.engine import registry
from pit_fetch.engine.catalog import described, table
from pit_fetch.request.operations import DATINGS

WIDTH = 100


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """The answer of the command. Raises UsageError for an unknown source."""
    parser = Parser("sources", "List the sources, or describe one: its operations, their rules and fields.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a source or one of its aliases")
    parser.add_argument("--json", action="store_true", help="as JSON")
    given = parser.parse_args(list(argv))
    if given.help:
        return CommandResult(parser.format_help())
    if given.name is None:
        if given.json:
            rows = [described(listing, environ, folder) for listing in registry.listings()]
            return CommandResult(json.dumps(rows, indent=2) + "\n")
        return CommandResult(table(registry.listings(), environ, folder, as_json=False))
    provider = registry.load(given.name)
    source = described(registry.Listing(provider.name, provider), environ, folder)
    return CommandResult(json.dumps(source, indent=2) + "\n" if given.json else "\n".join(_text(source)) + "\n")


def _text(source: Mapping[str, Any]) -> Iterator[str]:
    yield f"{source['name']}: {source['summary']}"
    if source["aliases"]:
        yield f"also called {', '.join(source['aliases'])}"
    for one in source["credentials"]:
        yield f"key: {' or '.join(one['variables'])} ({'set' if one['set'] else 'not set'})"
    yield f"hosts: {', '.join(source['hosts']) or 'none'}"
    for one in source["operations"]:
        yield ""
        yield one["name"] or "items"
        rule = one["rule"] if one["dating"] == "record" else f"{DATINGS[one['dating']]} ({one['why']})"
        yield from _lines("dated", rule or "by each item's own stamps")
        if one["dating"] == "record" and one["why"]:
            yield from _lines("because", one["why"])
        for title in ("needs", "takes"):
            if one[title]:
                yield from _lines(title, ", ".join(one[title]))
        if one["fields"]:
            yield from _lines("fields", ", ".join(_field(field) for field in one["fields"]))
    yield ""
    yield f"pit_fetch --source {source['name']} --help lists its options"


def _field(field: Mapping[str, str]) -> str:
    return field["name"] if field["kind"] == "text" else f"{field['name']} ({field['kind']})"


def _lines(title: str, text: str) -> Iterator[str]:
    first, rest = f"  {title:<8} ", " " * 11
    yield from wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)
