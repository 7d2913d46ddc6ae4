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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pit_fetch.mcp.answers import EXPLAINED
from pit_fetch.mcp.instant import Moment
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.operations import OPTION
from pit_fetch.request.options import COMMON_OPTIONS

# So many operations, or values of an argument, are named in a list of tools. The tool `sources` names all.
_FEW = 8
# A client cuts a description after so many bytes.
MAX_DESCRIPTION_BYTES = 2_000

SOURCES = "sources"

Shape = Literal["items", "columns"]
# What a model is told of each shape of an answer.
_SHAPES: Mapping[Shape, str] = {
    "items": "An answer is an envelope: `data` holds the items, newest first.",
    "columns": (
        "An answer is a table: each of `rows` is an item, newest first, with a cell for each of `columns`; `shared` "
        "holds what all items have alike."
    ),
}
_GAPS = (
    " `gaps` says what is missing, and why: an answer without items is no proof that nothing happened. Where a gap "
    "names an option such as --date-from, it means the argument `date_from`. If it has a `cursor`, repeat the call "
    "with `after` set to it for the rest."
)
# The common options that are arguments, each with what a model is told of it.
_COMMON = {
    "fields": "only these fields of each item, such as a title first: many more items fit into an answer",
    "limit": "so many items at most",
    "after": "see above",
    "date_from": "published at or after: a New York date or a full timestamp",
    "date_to": "published at or before; a date includes the whole day",
    "max_pages": "so many pages of the source are read at most",
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


def tools_for(providers: Iterable[Provider], phrase: str) -> dict[str, Tool]:
    """Return the tools by name: one for each source, and one that lists them. ``phrase`` is the instant, in words."""
    tools = [_source_tool(provider, phrase) for provider in providers]
    names = [tool.name for tool in tools]
    return {tool.name: tool for tool in (*tools, _sources_tool(names, phrase))}


def form_of_answers(shape: Shape, *, of_sources: bool = True) -> str:
    """Return what a model is told once of all answers, and of the arguments that the tools of sources have."""
    codes = "".join(f"\n- {code}: {text}" for code, text in EXPLAINED.items()) if shape == "columns" else ""
    explained = f"\nA gap with a `code` alone says:{codes}" if codes else ""
    common = "".join(f"\n- {name}: {text}" for name, text in _COMMON.items())
    arguments = f"\nArguments of every source:{common}" if of_sources else ""
    return f"{_SHAPES[shape]}{_GAPS}{explained}{arguments}"


def name_of(provider: Provider) -> str:
    """Return the name of a source's tool."""
    return provider.name.replace("-", "_")


def dated_operations(provider: Provider) -> list[Operation]:
    """Return the operations that can serve records as of an instant."""
    return [operation for operation in provider.operations if operation.dating.by != "never"]


def _sources_tool(names: list[str], phrase: str) -> Tool:
    text = (
        f"How the other tools answer as of {phrase}: of one source the operations, what each needs, takes and returns, "
        "what its arguments mean, and the rule by which items are dated; without a name, each source in a line. "
        "Ask it before the first call of a source."
    )
    return Tool(SOURCES, text, object_schema({"name": {"type": "string", "enum": names}}))


def _source_tool(provider: Provider, phrase: str) -> Tool:
    operations = dated_operations(provider)
    taken = {OPTION, *(name for operation in operations for name in (*operation.needs, *operation.takes))}
    takes_all = not any(operation.needs or operation.takes for operation in operations)
    needed = {name for operation in operations for name in operation.needs} if len(operations) <= _FEW else ()
    properties = {
        option.name: _property(option, operations, is_described=option.name in needed)
        for option in provider.all_options
        if takes_all or option.name in taken
    }
    properties |= {option.name: dict(_TYPES[option.kind]) for option in COMMON_OPTIONS if option.name in _COMMON}
    always = set.intersection(*(set(operation.needs) for operation in operations)) if operations else set()
    option = next((option for option in provider.all_options if option.name == OPTION), None)
    if len(provider.operations) > 1 and option is not None and option.default is None:
        always.add(OPTION)
    required = [name for name in properties if name in always]
    needs = _needs_text(operations, required)
    description = f"{provider.summary}; as of {phrase}.{needs}"
    return Tool(name_of(provider), description, object_schema(properties, required), provider)


def object_schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of arguments. None counts as absent: some models set every argument."""
    return {
        "type": "object",
        "properties": dict(properties),
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def _property(option: Option, operations: Sequence[Operation], *, is_described: bool) -> dict[str, Any]:
    schema = dict(_TYPES["list" if option.repeatable else option.kind])
    choices = option.choices or ()
    if option.name == OPTION:
        choices = tuple(operation.name for operation in operations)
    if 0 < len(choices) <= _FEW:
        schema |= {"items": {"type": "string", "enum": list(choices)}} if "items" in schema else {"enum": list(choices)}
    if option.default not in (None, False, ()):
        schema["default"] = option.default
    if is_described:
        schema["description"] = option.help
    return schema


def _needs_text(operations: Sequence[Operation], required: Collection[str]) -> str:
    """Return what single operations need besides the required arguments."""
    if len(operations) > _FEW:
        return f" `{SOURCES}` tells what `op` can be."
    needs = ((each.name, [name for name in each.needs if name not in required]) for each in operations)
    return "".join(f" {name} needs {', '.join(names)}." for name, names in needs if names)
