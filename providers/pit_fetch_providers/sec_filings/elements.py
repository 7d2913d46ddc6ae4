"""Read the XML of a filing. Pure.

A document type is refused, and with it every entity of a document's own: none of EDGAR's forms has one. Forms differ in
their prefixes, so elements are found by their names without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pit_fetch.wire import limited

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})")
_TRUE, _FALSE = frozenset({"1", "true", "y"}), frozenset({"0", "false", "n"})


def parse(source: str) -> Element | None:
    """Return the root of a document; None if it is not well formed, or declares a type.

    Raise UpstreamError for one that would take memory out of all proportion to its size.
    """
    from xml.etree import ElementTree

    class Builder(ElementTree.TreeBuilder):
        def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
            raise ElementTree.ParseError("a document type")

    limited(source.encode("utf-8", "surrogatepass"))
    parser = ElementTree.XMLParser(target=Builder())  # noqa: S314 - see above
    try:
        parser.feed(source.strip())
        root: Element = parser.close()
    except (ElementTree.ParseError, ValueError):
        return None
    return root


def name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield the children of an element that have one of ``names``."""
    return (child for child in (() if element is None else element) if name(child) in names)


def at(element: Element | None, path: str) -> Element | None:
    """Return the first element at a path of names, ``a/b``; None if there is none."""
    for step in path.split("/"):
        element = next(children(element, step), None)
    return element


def text(element: Element | None, path: str) -> str | None:
    """Return the text at a path, of its ``<value>`` if it has one; None for an empty one."""
    leaf = at(element, path)
    value = at(leaf, "value")
    words = " ".join(((leaf if value is None else value).text or "").split()) if leaf is not None else ""
    return words or None


def number(element: Element | None, path: str) -> int | float | None:
    """Return the number at a path; None for anything else.

    So for one with a fraction that is so large that a float has no place for its whole part.
    """
    words = (text(element, path) or "").replace(",", "")
    if not _NUMBER.fullmatch(words):
        return None
    whole, _, fraction = words.partition(".")
    has_whole = bool(whole.strip("+-"))
    if has_whole and not fraction.strip("0"):
        return int(whole)
    value = float(words)
    return value if not has_whole or int(value) == int(whole) else None


def flag(element: Element | None, path: str) -> bool | None:
    """Return the flag at a path, as whichever of EDGAR's words; None for anything else."""
    words = (text(element, path) or "").lower()
    return True if words in _TRUE else False if words in _FALSE else None
