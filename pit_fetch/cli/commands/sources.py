"""``pit_fetch sources [NAME]``: the sources, or the operations of one, with their dating rules and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from pit_fetch.cli.command import CommandResult, Parser, to_json
from pit_fetch.engine import registry
from pit_fetch.engine.catalog import describe, markdown, package_text, table
from pit_fetch.request.operations import DATINGS

WIDTH = 100


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """List the sources, or describe the named one. Raise UsageError for an unknown name."""
    parser = Parser("sources", "List the sources, or describe one: its operations, their rules and fields.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a source or one of its aliases")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--markdown", action="store_true", help="of one source: the tables of a page about it")
    parser.advice = "one source is described by its name alone: pit_fetch sources fred"
    arguments = parser.parse_args(list(argv))
    if arguments.markdown and (arguments.name is None or arguments.json):
        parser.error("--markdown is of one source, and no JSON: pit_fetch sources NAME --markdown")
    if arguments.name is None:
        if arguments.json:
            rows = [describe(listing, environ, folder) for listing in registry.listings()]
            return CommandResult(to_json(rows))
        return CommandResult(table(registry.listings(), environ, folder, as_json=False))
    provider = registry.load(arguments.name)
    if arguments.markdown:
        return CommandResult(markdown(provider))
    source = describe(registry.Listing(provider.name, provider), environ, folder)
    return CommandResult(to_json(source) if arguments.json else "\n".join(_text(source)) + "\n")


def _text(source: Mapping[str, Any]) -> Iterator[str]:
    yield f"{source['name']}: {source['summary']}"
    if source["aliases"]:
        yield f"also called {', '.join(source['aliases'])}"
    for credential in source["credentials"]:
        yield f"key: {' or '.join(credential['variables'])} ({'set' if credential['set'] else 'not set'})"
    yield from (f"package: {package_text(package)}" for package in source["packages"])
    yield f"hosts: {', '.join(source['hosts']) or 'none'}"
    for operation in source["operations"]:
        yield ""
        yield operation["name"] or "items"
        if operation["dating"] == "record":
            yield from _lines("dated", operation["rule"] or "by each item's own stamps")
            yield from _lines("because", operation["why"])
        else:
            yield from _lines("dated", f"{DATINGS[operation['dating']]} ({operation['why']})")
        yield from _lines("claimed", operation["claims"])
        for title in ("needs", "takes"):
            yield from _lines(title, ", ".join(operation[title]))
        kinds = {field["name"]: field["kind"] for field in operation["fields"]}
        fields = (name if kind == "text" else f"{name} ({kind})" for name, kind in kinds.items())
        yield from _lines("fields", ", ".join(fields))
    yield ""
    yield f"pit_fetch --source {source['name']} --help lists its options"


def _lines(title: str, text: str) -> Iterator[str]:
    """Yield ``text`` under its title; nothing if it is empty."""
    yield from wrap(text, WIDTH, initial_indent=f"  {title:<8} ", subsequent_indent=" " * 11)
