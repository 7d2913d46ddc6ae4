"""Read the XML of a filing. Pure.

A value that EDGAR's schema would not take raises :class:`Unreadable`: it is never corrected, and never left out.

>>> form = parse_xml("<a xmlns='urn:x'><b><value>5.50</value></b><c>1,000</c></a>")
>>> number(form, "b"), number(form, "d")
(5.5, None)
>>> number(form, "c")
Traceback (most recent call last):
pit_fetch_providers.sec_filings.elements.Unreadable: c
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from pit_fetch.gaps import Code
from pit_fetch.provider import UpstreamError
from pit_fetch.times import parse_date
from pit_fetch_providers.shared import parse_xml as parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})")
_DATE = re.compile(r"(.{10})(?:Z|[-+][0-9]{2}:[0-9]{2})?")
_FLAGS = {"1": True, "true": True, "y": True, "0": False, "false": False, "n": False}
# The elements that may stand in that of a value. A price can be a footnote alone.
_BESIDE = frozenset({"value", "footnoteId"})
T = TypeVar("T")


class Unreadable(ValueError):
    """A value cannot be read. The text of the error is the name of its element."""


@contextmanager
def malformed_if_unreadable(what: str) -> Iterator[None]:
    """Raise UpstreamError that names ``what`` cannot be read, in the place of :class:`Unreadable`."""
    try:
        yield
    except Unreadable as error:
        raise UpstreamError(Code.MALFORMED, problem=f"{what} has a value that cannot be read ({error})") from None


def name(element: Element) -> str:
    """Return the name of an element without its namespace: forms differ in their prefixes."""
    return element.tag.rpartition("}")[2]


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield the children of an element that have one of ``names``."""
    return (child for child in (() if element is None else element) if name(child) in names)


def find(element: Element | None, path: str) -> Element | None:
    """Return the element at a path of names, ``a/b``; None if there is none. Raise Unreadable if there are several."""
    for step in path.split("/"):
        found = list(children(element, step))
        if len(found) > 1:
            raise Unreadable(step)
        element = found[0] if found else None
    return element


def table_rows(root: Element, tables: Iterable[Element | None], *names: str) -> list[Element]:
    """Return the rows of tables. Raise Unreadable if one stands elsewhere, or a table holds anything else."""
    held = [row for table in tables if table is not None for row in table]
    every = [element for element in root.iter() if name(element) in names]
    if set(held) != set(every):
        raise Unreadable(name(root))
    return held


def text(element: Element | None, path: str) -> str | None:
    """Return the text at a path, of its ``<value>`` if it has one; None if there is none.

    Raise Unreadable for a text that elements divide: its first part can be another number.
    """
    leaf = find(element, path)
    if leaf is None:
        return None
    value = find(leaf, "value")
    words = ((leaf if value is None else value).text or "").split()
    if len(leaf) and not _is_in_one_piece(leaf, words):
        raise Unreadable(name(leaf))
    return " ".join(words) or None


def _is_in_one_piece(leaf: Element, words: list[str]) -> bool:
    inside = [name(part) for part in leaf.iter() if part is not leaf]
    return _BESIDE.issuperset(inside) and "".join(leaf.itertext()).split() == words


def parse_value(element: Element | None, path: str, parse: Callable[[str], T | None]) -> T | None:
    """Return the text at a path, parsed; None if there is none. Raise Unreadable if ``parse`` returns None."""
    words = text(element, path)
    found = None if words is None else parse(words)
    if words is not None and found is None:
        raise Unreadable(path.rpartition("/")[2])
    return found


def number(element: Element | None, path: str) -> int | float | None:
    """Return the number at a path; None if there is none. Raise Unreadable, as for "1,000", which can mean 1."""
    return parse_value(element, path, parse_number)


def flag(element: Element | None, path: str) -> bool | None:
    """Return the flag at a path, however EDGAR writes it; None if there is none. Raise Unreadable."""
    return parse_value(element, path, lambda words: _FLAGS.get(words.lower()))


def day(element: Element | None, path: str) -> str | None:
    """Return the date at a path, also of ``2026-09-10-04:00``; None if there is none. Raise Unreadable."""
    return parse_value(element, path, _parse_day)


def parse_number(words: str) -> int | float | None:
    """Return a number; None if a float would change the whole part of one that has a fraction."""
    if not _NUMBER.fullmatch(words):
        return None
    whole, _, fraction = words.partition(".")
    has_whole = bool(whole.strip("+-"))
    if has_whole and not fraction.strip("0"):
        return int(whole)
    value = float(words)
    return value if not has_whole or int(value) == int(whole) else None


def _parse_day(words: str) -> str | None:
    match = _DATE.fullmatch(words)
    date = parse_date(match[1]) if match else None
    return None if date is None else date.isoformat()
