"""JSON-LD in a saved page: the addresses that it calls its own, and its values, with what they are times of. Pure.

Every pair counts, also of a key that appears twice: an object is read as a tuple of pairs.

>>> page = document('{"mainEntityOfPage": "https://example.com/a", "datePublished": "2024-02-15"}')
>>> list(main_entities(page))
['https://example.com/a']
>>> [(value.value, sorted(value.places)) for value in values(page)]
[('https://example.com/a', []), ('2024-02-15', ['datepublished'])]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pit_fetch.normalize.stamps import known

_WRAPPING = re.compile(r"^\s*(?://\s*)?<!(?:\[CDATA\[|--)|(?:(?://\s*)?\]\]>|-->|;)\s*$")


def document(text: str) -> Any:
    """Return the document of a script, None for an empty one. Raise ValueError or RecursionError."""
    text = _WRAPPING.sub("", _WRAPPING.sub("", text)).strip()
    return json.loads(text, strict=False, object_pairs_hook=tuple) if text else None


def main_entities(document: Any) -> Iterator[str]:
    """Yield the addresses of the page itself, and not those of what it lists."""
    tops = document if isinstance(document, list) else [document]
    for top in tops:
        if not isinstance(top, tuple):
            continue
        for name, value in top:
            if name == "@graph":
                yield from main_entities(value)
            elif name == "mainEntityOfPage":
                identifiers = [identifier for key, identifier in _pairs_in(value) if key == "@id"]
                entries = [*(value if isinstance(value, list) else [value]), *identifiers]
                yield from (entry for entry in entries if isinstance(entry, str))


class Value(NamedTuple):
    """A value in JSON-LD that is neither an object nor an array.

    places    the names of times, as the table has them, that it is a value of, at any depth
    is_named  it is the value of a name itself, and not one of several
    """

    value: Any
    places: frozenset[str]
    is_named: bool


def values(document: Any) -> Iterator[Value]:
    """Yield the values of a document in order. What an object calls its type is no time."""
    pending = [Value(document, frozenset(), False)]
    while pending:
        value, places, _ = current = pending.pop()
        if isinstance(value, list):
            pending += [Value(member, places, False) for member in reversed(value)]
        elif isinstance(value, tuple):
            pending += [Value(member, _places(places, name), True) for name, member in reversed(value)]
        elif value is not None:
            yield current


def _places(places: frozenset[str], name: str) -> frozenset[str]:
    place = known("json-ld", name)
    return frozenset() if name == "@type" else places if place is None else places | {place}


def _pairs_in(node: Any) -> Iterator[tuple[str, Any]]:
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += reversed(node)
        elif isinstance(node, tuple):
            yield from node
            pending += [value for _, value in reversed(node)]
