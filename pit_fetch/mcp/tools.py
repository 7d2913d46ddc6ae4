"""The tools of the server, from what the sources declare: a name, a description and a schema of arguments each. Pure.

Nothing here knows a source. A tool has the source's own options, and the common ones that choose among public items. It
has none for the instant, the place that is asked, or the format.

>>> source = Provider("my-source", "demo", options=(Option("symbol", "the company"),))
>>> tool = tools_for([source], "2024-02-15T21:00:00Z")["my_source"]
>>> "symbol" in tool.arguments, "date_from" in tool.arguments, "pit" in tool.arguments
(True, True, False)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any, Literal, NamedTuple

from pit_fetch.mcp.instant import Moment
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.operations import OPTION
from pit_fetch.request.options import COMMON_OPTIONS

# A client cuts a description after so many bytes.
MAX_DESCRIPTION_BYTES = 2_000

SOURCES = "sources"

Shape = Literal["items", "columns"]
# Of each shape of an answer: where the items are, and what a model is told of it.
_SHAPES: Mapping[Shape, tuple[str, str]] = {
    "items": ("data", "a complete envelope: `data` holds the items, newest first"),
    "columns": (
        "rows",
        "a complete table: each of `rows` is an item, newest first, with a cell for each of `columns`; `shared` holds "
        "what all items have alike",
    ),
}

# The common options that are arguments, each with its description.
_COMMON = {
    "fields": "only these fields of each item, such as a title first: ten times as many items fit into a result",
    "limit": "at most so many items, the newest first",
    "after": "the cursor of a truncated gap, with the other arguments unchanged: the next part of that answer",
    "date_from": "published at or after: a New York date or a full timestamp",
    "date_to": "published at or before; a date includes the whole day",
    "max_pages": "how many pages of the source to read at most",
}
_TYPES: Mapping[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "list": {"type": "array", "items": {"type": "string"}},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "instant": {"type": "string"},
    "flag": {"type": "boolean"},
}


class Tool(NamedTuple):
    """One tool. ``schema`` is the JSON Schema of its arguments; ``provider`` is None for the tool that lists them.

    ``values`` returns the values of the provider's options for the arguments of a call, as of its instant. ``provide``
    returns the provider of a call that ends once an event is set, if the network alone does not end it.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    provider: Provider | None = None
    values: Callable[[Mapping[str, Any], Moment], Mapping[str, Any]] = lambda arguments, moment: arguments
    provide: Callable[[threading.Event], Provider] | None = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The schema of each argument, by name."""
        properties: Mapping[str, Any] = self.schema["properties"]
        return properties


def tools_for(providers: Iterable[Provider], phrase: str, shape: Shape = "items") -> dict[str, Tool]:
    """Return the tools by name: one for each source, and one that lists them.

    ``phrase`` is the instant, in words; ``shape`` is that of an answer.
    """
    tools = [_source_tool(provider, phrase, shape) for provider in providers]
    names = [tool.name for tool in tools]
    return {tool.name: tool for tool in (*tools, _sources_tool(names, phrase))}


def name_of(provider: Provider) -> str:
    """Return the name of a source's tool."""
    return provider.name.replace("-", "_")


def dated_operations(provider: Provider) -> list[Operation]:
    """Return the operations that can serve records as of an instant."""
    return [operation for operation in provider.operations if operation.dating.by != "never"]


def _sources_tool(names: list[str], phrase: str) -> Tool:
    text = (
        f"How the other tools answer as of {phrase}: for one source its operations, what each needs and takes, its "
        "fields, and the rule by which its items are dated; without a name, all sources in a line each. "
        "Ask it before the first call of a source whose operations you do not know."
    )
    names_schema = {"type": "string", "enum": names, "description": "the tool to describe"}
    return Tool(SOURCES, text, object_schema({"name": names_schema}))


def _source_tool(provider: Provider, phrase: str, shape: Shape) -> Tool:
    operations = dated_operations(provider)
    taken = {OPTION, *(name for operation in operations for name in (*operation.needs, *operation.takes))}
    takes_all = not any(operation.needs or operation.takes for operation in operations)
    properties = {
        option.name: _property(option, operations)
        for option in provider.all_options
        if takes_all or option.name in taken
    }
    common = {option.name: option for option in COMMON_OPTIONS}
    properties |= {name: {**_property(common[name], ()), "description": text} for name, text in _COMMON.items()}
    needed = set.intersection(*(set(operation.needs) for operation in operations)) if operations else set()
    option = next((option for option in provider.all_options if option.name == OPTION), None)
    if len(provider.operations) > 1 and option is not None and option.default is None:
        needed.add(OPTION)
    required = [name for name in properties if name in needed]
    return Tool(
        name_of(provider),
        _description(provider, operations, phrase, shape),
        object_schema(properties, required),
        provider,
    )


def object_schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of arguments. An optional one may be null: some models set every argument."""
    return {
        "type": "object",
        "properties": {
            name: part if name in required else {**part, "nullable": True} for name, part in properties.items()
        },
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def _property(option: Option, operations: Iterable[Operation]) -> dict[str, Any]:
    schema = dict(_TYPES["list" if option.repeatable else option.kind])
    choices = option.choices or ()
    if option.name == OPTION and operations:
        names = [operation.name for operation in operations]
        choices = tuple(name for name in choices if name in names) or tuple(names)
    if choices:
        schema |= {"items": {"type": "string", "enum": list(choices)}} if "items" in schema else {"enum": list(choices)}
    if option.kind == "integer":
        schema["minimum"] = option.minimum
    if option.default not in (None, False, ()):
        schema["default"] = option.default
    is_of_all = option.name == OPTION and bool(operations)
    return {
        **schema,
        "description": f"what is asked for: `{SOURCES}` tells what each needs" if is_of_all else option.help,
    }


def _description(provider: Provider, operations: list[Operation], phrase: str, shape: Shape) -> str:
    items, form = _SHAPES[shape]
    head = (
        f"What {provider.name} had made public by {phrase}, which no argument changes, as {form}, "
        "and `gaps` names everything that is missing and why.\n"
        f"{provider.summary}.\n"
        "To save room, ask with `fields` for a title or a value first, then for single items in full. If a gap of type "
        "`truncated` has a `cursor`, repeat the call with `after` set to it. "
        f"An empty `{items}` is no proof that nothing happened: read the gaps.\n"
    )
    lines = "".join(_operation_lines(operations))
    if len(head.encode()) + len(lines.encode()) > MAX_DESCRIPTION_BYTES:
        lines = f"What each operation (`op`) needs, takes and returns: the tool `{SOURCES}`.\n"
    return (head + lines).rstrip("\n")


def _operation_lines(operations: list[Operation]) -> Iterator[str]:
    for operation in operations:
        fields = ", ".join(field.name for field in operation.fields)
        if not operation.name:
            yield f"Fields: {fields}.\n" if fields else ""
            continue
        needs = f" (needs {', '.join(operation.needs)})" if operation.needs else ""
        yield shorten(f"{operation.name}{needs}: {fields}", 200, placeholder=" …") + "\n"
