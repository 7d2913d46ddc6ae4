"""The option that a bare word was probably meant for. Loaded only where a command line is refused. Pure.

>>> example(["EarningsPerShareDiluted"], {"cik"}, sec_facts)
'concept=EarningsPerShareDiluted'
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from pit_fetch.provider import Option, Provider
from pit_fetch.request.operations import OPTION

# What a word looks like. The first row whose pattern matches counts.
_SHAPES = (
    ("symbol", r"\$?[A-Z]{1,6}(?:[.-][A-Z]{1,2})?|\^[A-Z0-9]{1,6}"),
    ("number", r"[0-9]{1,10}"),
    ("form", r"[0-9]{1,2}-[A-Z](?:/A)?"),
    ("quarter", r"[0-9]{4}Q[1-4]"),
    ("day", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("concept", r"(?:[a-z-]{1,20}:)?(?:[A-Z][a-z]{1,20}){1,8}"),
    ("address", r"(?:https?://)?[a-z0-9-]{1,40}(?:\.[a-z]{2,20}){1,3}/?"),
    ("text", r"[A-Za-z][a-z]{0,19}"),
)
# What stands for a value in the help, where that is no example of one.
_STANDS_FOR = {"TEXT": "text", "WORDS": "text", "TITLE": "text", "URL": "address", "YYYY-MM-DD": "day"}
_NO_EXAMPLES = frozenset(["NUMBER", "TYPE", "NAME", "N", "OP", "FUNCTION", "PERIOD", "VINTAGE"])
_MOST_WORDS = 8


def example(words: Sequence[str], given: Collection[str], provider: Provider) -> str:
    """Return how to write the bare ``words`` that are no operation, as in "symbol=AAPL"; "" if that is not obvious.

    ``given`` are the options that the command line has. A word is repeated only if it looks like a value of its
    option: any other may be a key.
    """
    operations = {operation.name.casefold(): operation for operation in provider.operations}
    named = words[0].casefold() if words else ""
    rest = list(words[1:] if named in operations else words)
    default = next((str(option.default) for option in provider.options if option.name == OPTION), "")
    operation = operations.get(named) or operations.get(default)
    names = [*operation.needs, *operation.takes] if operation else []
    options = [option for option in provider.options if not option.positional and option.kind != "flag"]
    options.sort(key=lambda option: names.index(option.name) if option.name in names else len(names))
    if rest and any(_is_one(rest[0], option) for option in options if option.name in given):
        return ""  # what it looks like is there already
    free = [option for option in options if option.name not in given and (option.name in names or not names)]
    return " ".join(_written(rest, free, operation.needs if operation else ()))


def _written(words: Sequence[str], options: Sequence[Option], needs: Collection[str]) -> Iterator[str]:
    free = list(options)
    while words and free:
        option = next((option for option in free if _is_one(words[0], option)), None)
        if option is None:
            is_text = _shape(words[0]) != ""
            option = next((o for o in free if o.name in needs or (is_text and _shape_of(o) == "text")), None)
            yield from () if option is None else (f"{option.name}={_value(words, option)}",)
            return
        same = [word for word in words if option.kind == "list" and _is_one(word, option)] or words[:1]
        yield f"{option.name}={','.join(map(shlex.quote, same))}"
        words = [word for word in words if word not in same]
        free.remove(option)


def _is_one(word: str, option: Option) -> bool:
    """Return whether a word looks like a value of an option. Anything looks like text."""
    if option.choices:
        return word.casefold() in map(str.casefold, option.choices)
    return _shape(word) not in ("", "text") and _shape(word) == _shape_of(option)


def _value(words: Sequence[str], option: Option) -> str:
    """Return the words as the value of an option, or what its help has if they do not look like one."""
    is_text = _shape_of(option) == "text" and all(_shape(word) in ("text", "concept", "symbol") for word in words)
    if is_text and len(words) <= _MOST_WORDS:
        return shlex.quote(" ".join(words))
    capitals = words[0].upper()
    is_alike = _shape(capitals) == _shape_of(option) and len(capitals) <= 5
    return capitals if is_alike else option.metavar or "VALUE"


def _shape(word: str) -> str:
    return next((shape for shape, pattern in _SHAPES if re.fullmatch(pattern, word)), "")


def _shape_of(option: Option) -> str:
    """Return what the values of an option look like; "" if its help has no example."""
    if option.choices or option.metavar in _NO_EXAMPLES:
        return ""
    if option.metavar is None:
        return "text" if "keyword" in option.search_terms.split() else ""
    return _STANDS_FOR.get(option.metavar) or _shape(option.metavar.partition(",")[0])
