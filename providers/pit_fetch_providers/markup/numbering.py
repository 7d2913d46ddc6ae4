"""Count the items of a list as a page numbers them. Pure.

>>> items = Numbering.of({"start": "3", "type": "a"})
>>> items.take(None), items.take(None), items.take("27")
('c. ', 'd. ', 'aa. ')
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_STYLES = ("list-style", "list-style-type")
_KIND = re.compile(r"\b(none|disc|circle|square|(?:lower|upper)-(?:alpha|latin|roman))\b", re.IGNORECASE)
_OF_STYLE = {"lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i",
             "upper-roman": "I"}  # fmt: skip
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST_ROMAN = 3_999
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,9}")
BULLET = "- "


class Numbering:
    """The next number of a list, and how its numbers are written; "" if a bullet stands for each."""

    __slots__ = ("following", "kind", "step")

    def __init__(self, kind: str, following: int, step: int = 1) -> None:
        self.kind, self.following, self.step = kind, following, step

    @classmethod
    def of(cls, attributes: Mapping[str, str | None], count: int = 0) -> Numbering:
        """Return the numbering of an ordered list of ``count`` items, which matters if it counts down."""
        is_reversed = "reversed" in attributes
        start = _integer(attributes.get("start"), count if is_reversed else 1)
        return cls(_kind(attributes), start, -1 if is_reversed else 1)

    def take(self, value: str | None) -> str:
        """Return what stands before the next item, which may have a value of its own."""
        number = _integer(value, self.following)
        self.following = number + self.step
        return f"{_written(number, self.kind)}. " if self.kind else BULLET


def _kind(attributes: Mapping[str, str | None]) -> str:
    for declaration in (attributes.get("style") or "").split(";"):
        name, _, value = declaration.partition(":")
        style = _KIND.search(value) if name.strip().lower() in _STYLES else None
        if style is not None:
            return _OF_STYLE.get(style[1].lower(), "")
    return attributes.get("type") or "1"


def _integer(value: str | None, default: int) -> int:
    match = _INTEGER.match(value or "")
    return default if match is None else int(match[0])


def _written(number: int, kind: str) -> str:
    if kind in ("a", "A") and number > 0:
        written = _in_letters(number)
    elif kind in ("i", "I") and 0 < number <= _MOST_ROMAN:
        written = _in_roman(number)
    else:
        return str(number)
    return written.upper() if kind.isupper() else written


def _in_letters(number: int) -> str:
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("a") + place) + letters
    return letters


def _in_roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        written += sign * times
    return written
