"""The operator's mapping of another server's tools: where their items are, and what dates them. Pure.

It is TOML, a table for each tool that is let through:

    [tools.NEWS_SENTIMENT]
    items = "feed"                    # a dotted path; "." is the whole result
    available_at = "time_published"   # a path within an item; "@key" is its key in an object of items
    zone = "UTC"                      # of stamps without an offset
    [tools.NEWS_SENTIMENT.clamp]
    time_to = "compact"               # an argument that may not be after the instant

>>> mapped = parse_mapping('[tools.news]\\navailable_at = "published"\\nkeep = ["title"]')["news"]
>>> mapped.tool, mapped.items, mapped.available_at, mapped.keep
('news', '.', 'published', ('title',))
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.support.bundled import gate
from pit_fetch.support.toml import NotToml, parse_toml
from pit_fetch.support.wording import truncate

Precision = Literal["instant", "minute", "day", "unix", "unix_ms"]
Clamp = Literal["instant", "day", "compact"]
After = Literal["next_business_day"]

TAGS = tuple(sorted(gate.VALID_SOURCES))
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Mapped(NamedTuple):
    """One tool that is let through.

    name          its name for an agent
    tool          its name on the other server
    description   what an agent reads about it
    envelope      the result is an envelope: an item names the kind of its stamp itself
    items         the path of its items
    id            the path of an item's id; "" for a digest of what is shown of it
    available_at  the path of the stamp from which an item was public
    revised_at    the path of the stamp of its last revision; "" if there is none
    zone          of stamps without an offset; None: such a stamp dates nothing
    precision     what a stamp names: an instant, a minute, a day, or seconds or milliseconds since 1970. A minute (the
                  seconds are zero or missing) counts at its end, and midnight at the end of its day, since the hour may
                  be unknown. A day counts at its end in ``zone``; without a zone, when it is over everywhere
    after         how much later an item counts than its day says: at the end of the next business day, or not at all
    source_tag    the kind of the stamp
    keep          names of the fields that are shown; empty for all
    drop          names of fields that are never shown
    only          values by the path of a field: an item with another value, or none, is withheld
    pin           arguments that always have these values
    clamp         arguments that may not lie after the instant, and are put in where absent: each with its form
    numbers       arguments that are numbers alone, such as a CIK: a ticker means whoever has it today
    caveat        what the tool cannot show, whatever is asked: each answer says so
    """

    name: str
    tool: str
    description: str = ""
    envelope: bool = False
    items: str = "."
    id: str = ""
    available_at: str = ""
    revised_at: str = ""
    zone: ZoneInfo | None = None
    precision: Precision = "instant"
    after: After | None = None
    source_tag: str = "provider_metadata"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    only: Mapping[str, Sequence[str | int | bool]] = {}
    pin: Mapping[str, Any] = {}
    clamp: Mapping[str, Clamp] = {}
    numbers: tuple[str, ...] = ()
    caveat: str = ""


# ``envelope = true``: the result is an envelope.
_ENVELOPE = {"items": "data", "id": "id", "available_at": "available_at", "revised_at": "revised_at"}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and (value == "." or all(value.split(".")))


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def _is_pins(value: Any) -> bool:
    """Return whether a value is a table by paths, and can be sent: JSON has neither dates nor NaN."""
    try:
        return isinstance(value, dict) and all(map(_is_path, value)) and bool(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return False


def _is_zone(value: Any) -> bool:
    try:
        return bool(ZoneInfo(value))
    except (KeyError, ValueError, TypeError, OSError):
        return False


def _is_only(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_path(path) and isinstance(values, list) and values and all(isinstance(each, (str, int)) for each in values)
        for path, values in value.items()
    )


def _is_clamps(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_path(path) and form in get_args(Clamp) for path, form in value.items())


# What each key of a table may hold: the check, and how a refusal words it.
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("tool", "description", "caveat"), (_is_text, "a text")),
    **dict.fromkeys(("items", "id", "available_at", "revised_at"), (_is_path, "a dotted path")),
    "zone": (_is_zone, "the name of a zone, such as America/New_York or UTC"),
    "precision": (lambda value: value in get_args(Precision), f"one of {', '.join(get_args(Precision))}"),
    "after": (lambda value: value in get_args(After), f"one of {', '.join(get_args(After))}"),
    "source_tag": (lambda value: value in TAGS, f"one of {', '.join(TAGS)}"),
    "envelope": (lambda value: isinstance(value, bool), "true or false"),
    **dict.fromkeys(("keep", "drop", "numbers"), (_is_names, "a list of names, and not an empty one")),
    "only": (_is_only, "a table of fields, each with a list of texts, whole numbers, true or false"),
    "pin": (_is_pins, "a table of arguments with values that JSON has: a date is written as a text"),
    "clamp": (_is_clamps, f"a table of arguments, each {' or '.join(get_args(Clamp))}"),
}
_MADE: Mapping[str, Callable[[Any], Any]] = {"zone": ZoneInfo, **dict.fromkeys(("keep", "drop", "numbers"), tuple)}


def parse_mapping(text: str) -> dict[str, Mapped]:
    """Return the mapped tools by name. Raise UsageError, which names the table and what is wrong with it."""
    try:
        content = parse_toml(text)
    except NotToml as error:
        raise _mapping_error("the file", f"is not TOML ({error})") from None
    tools = content.pop("tools", None)
    if content or not isinstance(tools, dict) or not tools:
        raise _mapping_error("the file", "needs a table [tools.NAME] for each tool, and nothing beside them")
    return {name: _parse_table(name, table) for name, table in tools.items()}


def _parse_table(name: str, table: Any) -> Mapped:
    place = f"[tools.{truncate(name)}]"
    if not isinstance(table, dict):
        raise _mapping_error(place, "is not a table")
    if not _NAME.fullmatch(name):
        # If one name breaks this rule, the service behind a client refuses all tools.
        raise _mapping_error(place, "is no name of a tool: letters, digits, _ and -, at most 64 of them")
    for key, value in table.items():
        if key not in _RULES:
            raise _mapping_error(place, f"has {truncate(key)}, which is none of {', '.join(_RULES)}")
        is_good, what = _RULES[key]
        if not is_good(value):
            raise _mapping_error(place, f"has a {key} that is not {what}")
    problem = next(_contradictions(table), None)
    if problem:
        raise _mapping_error(place, problem)
    values = {key: _MADE[key](value) if key in _MADE else value for key, value in table.items()}
    values = {"tool": name, **(_ENVELOPE if table.get("envelope") else {}), **values}
    if "available_at" not in values:
        raise _mapping_error(place, "needs available_at, the path of what dates an item, or envelope = true")
    return Mapped(name, **values)


def _contradictions(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with keys that are each right by themselves."""
    paths = [tuple(path.split(".")) for key in ("pin", "clamp") for path in table.get(key, {})]
    for path, other in itertools.permutations(paths, 2):
        if path == other[: len(path)]:
            yield f"pins or clamps {'.'.join(path)} and what is within it: an argument has one value"
    if "keep" in table and "drop" in table:
        yield "has keep and drop: what is not kept is dropped"
    if "after" in table and (table.get("precision"), "zone" in table) != ("day", True):
        yield 'has after, which needs precision = "day" and a zone: a business day follows a day'
    if "." in (table.get("available_at"), table.get("revised_at")):
        yield "has a whole item for a stamp: name the path of the stamp within it"


def _mapping_error(place: str, problem: str) -> UsageError:
    return UsageError(Code.USAGE, text=f"--tools: {place} {problem}")
