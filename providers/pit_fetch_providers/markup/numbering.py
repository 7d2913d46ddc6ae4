"""Count the items of a list as a page numbers them. Pure.

>>> items = Numbering.of("ol", {"start": "3", "type": "a"})
>>> items.take({}), items.take({}), items.take({"value": "27"}), items.take({"style": "list-style: none"})
('c. ', 'd. ', 'aa. ', '')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from pit_fetch_providers.markup.styles import LONGEST, values_of, without_nested

_STYLE = re.compile(r"(?:^|;)\s*list-style(-type)?\s*:([^;!]*)(!?)")
_POSITIONS = frozenset({"inside", "outside"})
_AS_AROUND = frozenset({"inherit", "unset", "revert", "revert-layer"})
_DECIMAL, _WITH_ZERO, _GREEK = "1", "01", "\u03b1"
_UNMARKED = "none"  # a dash before a figure would be a minus
_OF_STYLE = {"lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i",
             "upper-roman": "I", "lower-greek": _GREEK, "decimal-leading-zero": _WITH_ZERO,
             "none": _UNMARKED, **dict.fromkeys(("disc", "circle", "square", "initial", "url"), "")}  # fmt: skip
_OF_TYPE = {"a": "a", "A": "A", "i": "i", "I": "I", "1": _DECIMAL}
_BULLETS = {"none": _UNMARKED, **dict.fromkeys(("disc", "circle", "square"), "")}
# The letters in which numbers of a kind are written.
_LETTERS = {
    "a": "abcdefghijklmnopqrstuvwxyz",
    _GREEK: "".join(chr(number) for number in range(0x3B1, 0x3CA) if number != 0x3C2),  # no sigma of a word's end
}
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST_ROMAN = 3_999
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,10}(?![0-9])")
BULLET = "- "
# By its own style an item may be none: it has no marker, and is not counted.
_ITEMS = frozenset({"list-item", *_AS_AROUND})


class Numbering:
    """The next number of a list, and how its numbers are written; "" if a bullet stands for each."""

    __slots__ = ("following", "kind", "step")

    def __init__(self, kind: str, following: int, step: int = 1) -> None:
        self.kind, self.following, self.step = kind, following, step

    @classmethod
    def of(cls, tag: str, attributes: Mapping[str, str | None], count: int = 0) -> Numbering:
        """Return the numbering of a list of ``count`` items, which matters if it counts down."""
        is_ordered = tag == "ol"
        is_reversed = is_ordered and "reversed" in attributes
        start = _integer(attributes.get("start") if is_ordered else None, count if is_reversed else 1)
        word = attributes.get("type") or ""
        by_type = _OF_TYPE.get(word, _DECIMAL) if is_ordered else _BULLETS.get(word.lower() if tag == "ul" else "", "")
        return cls(_of_style(attributes.get("style") or "", by_type), start, -1 if is_reversed else 1)

    def take(self, attributes: Mapping[str, str | None]) -> str:
        """Return what stands before the next item, which may have a value and a style of its own."""
        if values_of(attributes.get("style") or "").get("display", "list-item") not in _ITEMS:
            return ""
        number = _integer(attributes.get("value"), self.following)
        self.following = number + self.step
        word = attributes.get("type") or ""
        by_type = _OF_TYPE.get(word, _BULLETS.get(word.lower(), self.kind))
        kind = _of_style(attributes.get("style") or "", by_type)
        if kind == _UNMARKED:
            return ""
        return f"{_written(number, kind)}. " if kind else BULLET


@lru_cache(maxsize=1_024)
def _of_style(style: str, kind: str) -> str:
    """Return how numbers are written by an element's own style; ``kind`` if it does not say."""
    declared = (
        _STYLE.findall(without_nested(style).lower()) if len(style) <= LONGEST and "list" in style.lower() else []
    )
    for longhand, value, _ in sorted(declared, key=lambda declaration: declaration[2]):  # the important ones last
        words = value.split()  # without quotations and addresses, which are no bullets
        named = [word for word in words if word not in _POSITIONS]
        if len(named) > (1 if longhand else 2):
            continue  # as a browser does
        # Of two words, one says that there is no picture.
        word = next((word for word in named if word != "none"), "none" if named or not words else "disc")
        kind = kind if word in _AS_AROUND else _OF_STYLE.get(word, _DECIMAL)
    return kind


def _integer(value: str | None, default: int) -> int:
    match = _INTEGER.match(value or "")
    return default if match is None else int(match[0])


def _written(number: int, kind: str) -> str:
    letters = _LETTERS.get(kind.lower())
    if letters is not None and number > 0:
        written = _in_letters(number, letters)
    elif kind in ("i", "I") and 0 < number <= _MOST_ROMAN:
        written = _in_roman(number)
    else:
        return f"{number:02d}" if kind == _WITH_ZERO else str(number)
    return written.upper() if kind.isupper() else written


def _in_letters(number: int, letters: str) -> str:
    written = ""
    while number:
        number, place = divmod(number - 1, len(letters))
        written = letters[place] + written
    return written


def _in_roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        written += sign * times
    return written
