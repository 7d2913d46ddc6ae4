"""``mcp-gate``: each tool of another server as a source, whose items the operator's mapping dates.

The items of a result are filtered, ordered, cut and judged like any source's records. Of what the server says of its
tools, only the names and types of arguments pass.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp.instant import Moment
from pit_fetch.mcp.mapping import Clamp, Mapped
from pit_fetch.mcp.tools import MAX_DESCRIPTION_BYTES, Tool, object_schema
from pit_fetch.mcp.upstream_items import records
from pit_fetch.provider import Context, Field, Operation, Option, Provider, Query, Record
from pit_fetch.times import LAST_ZONE, NEW_YORK, next_business_day, parse_date, parse_pit

# A call of another server's tool: its name and arguments, seconds, and what is set once its caller has gone; it raises
# UpstreamError.
CallTool = Callable[[str, Mapping[str, Any], float, threading.Event], Mapping[str, Any]]

# What a call has besides the other server's arguments.
_OWN = {
    "fields": {"type": "array", "items": {"type": "string"}, "description": "only these fields of each item"},
    "after": {"type": "string", "description": "the cursor of a truncated gap: the next part of that answer"},
}
# The name of an argument or a tool that passes. A longer one, or one with spaces, could carry a message. If one has
# other characters, the service behind a client refuses every tool.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SECOND = timedelta(seconds=1)
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
# More items than any result has: what does not fit is continued.
_ALL = 1_000_000

_CAVEAT = (
    "The answer holds the items of another server's result that it dates. Whatever else that server says is not shown, "
    "and an item whose time it does not state is left out."
)
_ARGUMENTS = Option("arguments", "the arguments of the other server's tool, as JSON", default="{}")


def tools_for(
    mapped: Iterable[Mapped], schemas: Mapping[str, Mapping[str, Any]], call: CallTool, phrase: str, seconds: float
) -> dict[str, Tool]:
    """Return the tools by name. Raise UsageError for one that the other server does not have."""
    return {each.name: _tool(each, schemas, call, phrase, seconds) for each in mapped}


def _tool(
    mapped: Mapped, schemas: Mapping[str, Mapping[str, Any]], call: CallTool, phrase: str, seconds: float
) -> Tool:
    if mapped.tool not in schemas:
        names = ", ".join(filter(_NAME.fullmatch, schemas))
        raise UsageError(Code.USAGE, text=f"--tools: the server has no tool {mapped.tool}; it has {names or 'none'}")
    properties = _properties(schemas[mapped.tool], mapped)
    own = {_free_name(name, properties): name for name in _OWN}
    every: dict[str, Any] = {**properties, **{free: _OWN[name] for free, name in own.items()}}
    required = _required(schemas[mapped.tool], properties, mapped)
    for name in every.keys() - set(required):
        every[name] = {**every[name], "nullable": True}  # some models set every argument
    schema = object_schema(every, required)

    def values(arguments: Mapping[str, Any], moment: Moment) -> dict[str, Any]:
        passed = {name: value for name, value in arguments.items() if name in properties and value is not None}
        text = json.dumps(_bound_arguments(passed, mapped, moment), sort_keys=True)
        given = {name: arguments[free] for free, name in own.items() if arguments.get(free) is not None}
        return {**given, "arguments": text, "limit": _ALL, "max_pages": _ALL}

    provide = partial(_provider, mapped, call, seconds)
    return Tool(mapped.name, _description(mapped, phrase), schema, provide(threading.Event()), values, provide)


def _free_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"envelope_{name}"
    return name


def _properties(schema: Mapping[str, Any], mapped: Mapped) -> dict[str, dict[str, Any]]:
    """Return the other server's arguments that an agent may set, each with its type alone."""
    declared = schema.get("properties")
    names = declared if isinstance(declared, dict) else {}
    return {name: _type(part) for name, part in names.items() if name not in mapped.pin and _NAME.fullmatch(name)}


def _required(schema: Mapping[str, Any], properties: Iterable[str], mapped: Mapped) -> list[str]:
    declared = schema.get("required")
    names = declared if isinstance(declared, list) else []
    return [name for name in properties if name in names and name not in mapped.clamp]


def _type(part: Any) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    words = [word for word in (kind if isinstance(kind, list) else [kind]) if isinstance(word, str)]
    kinds = [word for word in dict.fromkeys(words) if word in _TYPES]
    elements = {"items": _type(part.get("items"))} if "array" in kinds else {}  # some services require it
    return {"type": kinds[0] if len(kinds) == 1 else kinds, **elements} if kinds else {}


def _description(mapped: Mapped, phrase: str) -> str:
    text = (
        f"{mapped.name}, as of {phrase}, which no argument changes: a complete envelope, `data` with the items that "
        "were public by then, and `gaps`, which say what is missing.\n"
        f"{mapped.description}\n"
        "If a gap of type `truncated` has a `cursor`, repeat the call with `after` set to it."
    )
    return text.encode()[:MAX_DESCRIPTION_BYTES].decode(errors="ignore")


def _provider(mapped: Mapped, call: CallTool, seconds: float, stop: threading.Event) -> Provider:
    def fetch(query: Query, context: Context) -> Iterator[Record]:
        arguments = json.loads(query.options["arguments"])
        yield from records(call(mapped.tool, arguments, seconds, stop), mapped)

    fields, caveats = tuple(Field(name) for name in mapped.keep), (_CAVEAT, *filter(None, (mapped.caveat,)))
    return Provider(
        name=mapped.name,
        summary=mapped.description,
        operations=(
            Operation(fetch=fetch, parse_reply=lambda body, query: (), fields=fields, caveats=lambda query: caveats),
        ),
        options=(_ARGUMENTS,),
        page_size=_ALL,
    )


# Arguments.


def _bound_arguments(arguments: Mapping[str, Any], mapped: Mapped, moment: Moment) -> dict[str, Any]:
    """Return the arguments that are sent: pinned ones put in, and none of the clamped ones after the instant."""
    bounded: dict[str, Any] = json.loads(json.dumps(arguments))  # a copy, at every depth
    for path, value in mapped.pin.items():
        _put(bounded, path, value)
    for path, form in mapped.clamp.items():
        _put(bounded, path, _clamp_argument(_get(bounded, path), form, _last_instant(moment.at, mapped, form), path))
    for path in mapped.numbers:
        _check_number(_get(bounded, path), path)
    return bounded


_IS_FORM: Mapping[Clamp, Callable[[str], bool]] = {
    "instant": lambda text: parse_pit(text) is not None,
    "day": lambda text: parse_date(text) is not None,
    "compact": lambda text: re.fullmatch(r"[0-9]{8}T[0-9]{4}", text) is not None,
}


def _last_instant(at: datetime, mapped: Mapped, form: Clamp) -> datetime:
    """Return the last instant up to which an argument may ask, on the clock of the mapping.

    If the items or the argument name a day or a minute, it is asked for once it is over. Before that, its items are
    withheld, but would take the places of public ones in a list of limited length, which would then be shorter.
    """
    is_by_day = "day" in (mapped.precision, form)
    local = at.astimezone(mapped.zone or (LAST_ZONE if is_by_day or form == "compact" else NEW_YORK))
    if is_by_day:
        last = local.replace(hour=0, minute=0, second=0, microsecond=0) - _SECOND
        while mapped.after and next_business_day(last.date()) >= local.date():  # is that day not over, either?
            last -= timedelta(days=1)
        return last
    if mapped.precision == "minute" or form == "compact":
        return (local + timedelta(microseconds=1)).replace(second=0, microsecond=0) - _SECOND
    return local


def _clamp_argument(given: Any, form: Clamp, last: datetime, path: str) -> str:
    """Return a clamped argument: the one given, or ``last`` if it is later or absent. Raise UsageError."""
    bound = _SPELLINGS[form](last)
    if given is None:
        return bound
    if not isinstance(given, str) or not _IS_FORM[form](given):
        raise UsageError(Code.USAGE, text=f"{path} is written like {bound}")
    moment = parse_pit(given) if form == "instant" else None
    is_after = given > bound if moment is None else moment > last
    return bound if is_after else given


_SPELLINGS: Mapping[Clamp, Callable[[datetime], str]] = {
    "instant": lambda last: last.isoformat(),
    "day": lambda last: last.date().isoformat(),
    "compact": lambda last: f"{last:%Y%m%dT%H%M}",
}


def _get(tree: Any, path: str) -> Any:
    for name in path.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Put a value in at a dotted path. Raise UsageError if something on the way is no object."""
    *parents, name = path.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise UsageError(Code.USAGE, text=f"{parent} is an object, as JSON and not as a text")
    tree[name] = value


def _check_number(given: Any, path: str) -> None:
    """Raise UsageError for an argument that is no number: a ticker means whoever has it today, not at the instant."""
    if given is not None and (isinstance(given, bool) or not re.fullmatch("[0-9]{1,10}", str(given))):
        text = f"{path} is a number, such as a CIK: a ticker or a name would mean whoever has it today"
        raise UsageError(Code.USAGE, text=text)
