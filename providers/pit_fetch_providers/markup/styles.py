"""Read from an element's style how it stands in its line, and whether it is seen. Pure.

>>> shift_of("vertical-align: super").sign == RAISED, shift_of("font-size: 9pt")
(True, None)
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from pit_fetch_providers.markup.marks import LOWERED, RAISED

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_ALIGNED = re.compile(rf"vertical-align\s*:\s*(super|sub|(?:text-)?(?:top|bottom)|[+-]?{_NUMBER})", re.IGNORECASE)
_MOVED = re.compile(rf"(?<![\w-])(top|bottom)\s*:\s*([+-]?{_NUMBER})", re.IGNORECASE)
_RELATIVE = re.compile(r"position\s*:\s*relative", re.IGNORECASE)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


_SIZED = re.compile(r"size|(?<![\w-])font\s*:", re.IGNORECASE)
_DISPLAY = re.compile(r"(?<![\w-])display\s*:\s*([\w-]+)", re.IGNORECASE)
_IN_LINE = frozenset({"inline", "none", "contents", "initial", "inherit", "unset", "revert", "ruby"})

# A line of its own, or a piece of one.
Display = Literal["line", "piece"]


class Shift(NamedTuple):
    """How an element stands in its line. It is not sure if its letters are as large as those around it."""

    sign: str
    is_sure: bool = True


def is_unseen(style: str) -> bool:
    """Return whether a style hides its element."""
    return _UNSEEN.search(style) is not None


def sizes(style: str) -> bool:
    """Return whether a style may change the size of letters."""
    return _SIZED.search(style) is not None


def display_of(style: str) -> Display | None:
    """Return whether a style makes its element a line of its own, or a piece of one; None if it is as its words are."""
    match = _DISPLAY.search(style)
    word = "inline" if match is None else match[1].lower()
    return None if word in _IN_LINE else "piece" if word.startswith("inline") else "line"


def shift_of(style: str) -> Shift | None:
    """Return how a style raises or lowers its element; None if it does not."""
    return _moved(style) or _aligned(style)


def _moved(style: str) -> Shift | None:
    for side, length in _MOVED.findall(style) if _RELATIVE.search(style) else ():
        if float(length):
            return Shift(RAISED if (side.lower() == "bottom") == (float(length) > 0) else LOWERED)
    return None


def _aligned(style: str) -> Shift | None:
    match = _ALIGNED.search(style)
    if match is None:
        return None
    word = match[1].lower()
    if word.endswith(("top", "bottom")):
        return Shift(RAISED if word.endswith("top") else LOWERED, is_sure=False)
    if word in ("super", "sub"):
        return Shift(RAISED if word == "super" else LOWERED)
    return Shift(RAISED if float(word) > 0 else LOWERED) if float(word) else None
