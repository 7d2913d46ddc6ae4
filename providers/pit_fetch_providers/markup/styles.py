"""Read from an element's style how it stands in its line, and whether it is seen. Pure.

>>> shift_of("vertical-align: super").sign == RAISED, shift_of("font-size: 9pt")
(True, None)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pit_fetch_providers.markup.marks import LOWERED, RAISED

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_ALIGNED = re.compile(rf"vertical-align\s*:\s*(super|sub|(?:text-)?(?:top|bottom)|[+-]?{_NUMBER})", re.IGNORECASE)
_MOVED = re.compile(rf"(?<![\w-])(top|bottom)\s*:\s*([+-]?{_NUMBER})", re.IGNORECASE)
_RELATIVE = re.compile(r"position\s*:\s*relative", re.IGNORECASE)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class Shift(NamedTuple):
    """How an element stands in its line. If that is not sure, all of the line may stand so, of one size."""

    sign: str
    is_sure: bool = True


def is_unseen(style: str) -> bool:
    """Return whether a style hides its element."""
    return _UNSEEN.search(style) is not None


def shift_of(style: str, *, is_sized: bool = False) -> Shift | None:
    """Return how a style raises or lowers its element, whose size its attributes may change; None if it does not."""
    return _moved(style) or _aligned(style, is_sized)


def _moved(style: str) -> Shift | None:
    for side, length in _MOVED.findall(style) if _RELATIVE.search(style) else ():
        if float(length):
            return Shift(RAISED if (side.lower() == "bottom") == (float(length) > 0) else LOWERED)
    return None


def _aligned(style: str, is_sized: bool) -> Shift | None:
    match = _ALIGNED.search(style)
    if match is None:
        return None
    word = match[1].lower()
    if word.endswith(("top", "bottom")):
        is_sized |= "size" in style.lower()
        return Shift(RAISED if word.endswith("top") else LOWERED, is_sure=False) if is_sized else None
    if word in ("super", "sub"):
        return Shift(RAISED if word == "super" else LOWERED)
    return Shift(RAISED if float(word) > 0 else LOWERED) if float(word) else None
