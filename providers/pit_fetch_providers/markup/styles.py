"""Read from an element's declarations whether it is seen, how it stands in its line, and what parts it. Pure.

>>> shift_of("vertical-align: super").sign == RAISED, shift_of("font-size: 9pt")
(True, None)

Of one property the last declaration counts that a browser takes:

>>> is_unseen("display:none; display:block; display:nothing"), is_unseen("display:/* */none; --x-display:block")
(False, True)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from pit_fetch_providers.markup.marks import BACK, LOWERED, RAISED

# No sign within these parts declarations: comments, quotations, which end with their line, and addresses.
_NO_SIGNS = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\b[uU][rR][lL]\(\s*+[^\s"')][^)]*\)?""", re.DOTALL
)
_BRACKETS = re.compile(r"[(\[][^()\[\]{}]*(?:[)\]]|\Z)")
LONGEST = 20_000  # a style of more than so many characters is none

_NUMBER = r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,2})?"
# The least gap that a reader takes for a blank, in heights of letters: the blank of the usual type. Less is kerning.
# What is given in other units is of letters of ten points. A hundredth of a page is wider than that.
_BLANK = 0.25
_SMALL = 85  # percent of the usual size
_OF_LETTERS = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
_EMS = {
    **_OF_LETTERS,
    **{f"r{unit}": ems for unit, ems in _OF_LETTERS.items()},
    **{of + side: 1.0 for of in ("v", "sv", "lv", "dv", "cq") for side in ("w", "h", "i", "b", "min", "max")},
    "": 0.075, "px": 0.075, "pt": 0.1, "pc": 1.2, "in": 7.2, "cm": 2.83, "mm": 0.283, "q": 0.071, "%": 0.5,
}  # fmt: skip
_FUNCTIONS = ("calc", "min", "max", "clamp")  # which come to a gap, as far as anybody says here
_SIZED = rf"{_NUMBER}(?:{'|'.join(_EMS)})"
_LENGTH = re.compile(rf"({_NUMBER})([a-z]*|%)")
_SIZE = re.compile(rf"(?<![\w.#-]){_NUMBER}(?:[a-z]+|%)?|\b(?:xx?-small|small|medium|large|xx?x?-large)\b")
_GLOBAL = r"inherit|initial|unset|revert(?:-layer)?|var"
_BY_LENGTH = re.compile(rf"{_SIZED}|auto|{'|'.join(_FUNCTIONS)}|{_GLOBAL}")
_INNER = r"(?:block|inline|run-in|flow|flow-root|table|flex|grid|ruby|math|list-item)"
# The values that a browser takes. It passes over any other one.
_TAKEN = {
    "display": re.compile(
        r"none|contents|inline|block|list-item|flow-root|run-in|(?:inline-)?(?:block|table|flex|grid)|table-[a-z-]+"
        rf"|ruby[a-z-]*|-webkit-(?:inline-)?(?:box|flex)|math|{_INNER}(?:\s+{_INNER}){{1,2}}|{_GLOBAL}"
    ),
    "visibility": re.compile(rf"visible|hidden|collapse|{_GLOBAL}"),
    "font-size": re.compile(rf"{_SIZED}|[a-z-]+"),
    "float": re.compile(rf"left|right|none|inline-start|inline-end|{_GLOBAL}"),
    "position": re.compile(rf"static|relative|absolute|fixed|(?:-webkit-)?sticky|{_GLOBAL}"),
    "vertical-align": re.compile(rf"{_SIZED}|[a-z-]+"),
    "text-align": re.compile(rf"left|right|center|justify|start|end|{_GLOBAL}"),
    **dict.fromkeys(("top", "right", "bottom", "left", "width", "min-width"), _BY_LENGTH),
    **dict.fromkeys(
        (f"{box}-{side}" for box in ("margin", "padding", "border") for side in ("right", "left")), _BY_LENGTH
    ),
}
_WIDTHS = frozenset({"width", "min-width"})
_SIDES = ("top", "right", "bottom", "left")
# What stands for four sides, or for the two ends of a line.
_BOXES = {"margin": "margin-", "padding": "padding-", "inset": "", "margin-inline": "margin-",
          "padding-inline": "padding-"}  # fmt: skip
_LOGICAL = {f"{box}-inline-{end}": f"{box}-{side}" for box in ("margin", "padding", "border")
            for end, side in (("start", "left"), ("end", "right"))}  # fmt: skip
_LINED = re.compile(r"\b(?:solid|double|dashed|dotted|groove|ridge|inset|outset)\b")
# Of another size than what is around it, but of none if that is of none.
_RELATIVE_UNITS = ("em", "%", "ex", "ch", "cap", "ic")
_RELATIVE_SIZES = frozenset({"inherit", "unset", "revert", "revert-layer", "larger", "smaller"})
JOINING = frozenset({"inline", "contents", "initial", "math", "inline flow", "ruby", "ruby-base", "ruby-text",
                     "ruby-base-container", "ruby-text-container"})  # fmt: skip
_AS_ITS_TAG = frozenset({"inherit", "unset", "revert", "revert-layer", "var"})
_BLANKS = " \t\r\n\f"
_VISIBLE = {"visible": True, "initial": True, "hidden": False, "collapse": False}

# A line of its own, a piece of one, or as its words are.
Display = Literal["line", "piece", "inline"]
Gap = str  # "", a blank, or a seam, which parts figures alone
SEAM: Gap = BACK


class Shift(NamedTuple):
    """How an element stands in its line. It is not sure if its letters are as large as those around it."""

    sign: str
    is_sure: bool = True


class Room(NamedTuple):
    """How wide a box is, in heights of letters. One that ``grows`` is as wide as its text, if that is wider."""

    width: float
    grows: bool


class Look(NamedTuple):
    """How an element is shown, as far as it says so itself. None stands for what is around it, or its tag."""

    is_gone: bool = False
    is_collapsed: bool = False  # a row of a table is gone, then
    is_left_out: bool = False  # it is shown, but is no text: what parts it from its neighbours stays
    is_visible: bool | None = None
    has_size: bool | None = None
    is_sized: bool = False  # its letters may have another size than those around it
    is_small: bool = False
    display: Display | None = None
    shift: Shift | None = None
    before: Gap = ""
    behind: Gap = ""
    room_before: Room | None = None  # of a box that may be wider than its text: before the text, or behind it
    room_behind: Room | None = None
    is_initial: bool = False  # it stands at the left of all that follows: a large first letter may


PLAIN = Look()


def declarations(style: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each declaration that says how an element is shown: property, value, and whether it is important."""
    if len(style) > LONGEST:
        return
    for declaration in without_nested(style).split(";"):
        name, colon, value = declaration.partition(":")
        name, value = name.strip(_BLANKS).lower(), value.strip(_BLANKS).lower()
        if not colon:
            continue
        is_important = value.endswith("important") and value[:-9].rstrip().endswith("!")
        value = value[:-9].rstrip()[:-1].rstrip() if is_important else value
        for longhand, part in _longhands(name, value):
            if longhand in _TAKEN and _TAKEN[longhand].fullmatch(part):
                yield longhand, part, is_important


def without_nested(style: str, brackets: str = "") -> str:
    """Return a style, or a sheet, without comments and quotations, and with ``brackets`` for what stands in such."""
    style = _NO_SIGNS.sub(" ", style) if any(sign in style for sign in ("/*", '"', "'", "(")) else style
    return _BRACKETS.sub(brackets, style) if "(" in style or "[" in style else style


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield a declaration as those that it stands for. Lines are taken to begin at the left."""
    name = _LOGICAL.get(name, name)
    if name in _BOXES:
        yield from _of_box(name, value.split())
    elif name == "font":
        size = _SIZE.search(value)
        yield "font-size", value if size is None else size[0]
    elif name in ("border", "border-left", "border-right"):
        size = _SIZE.search(value) if _LINED.search(value) else None
        for side in ("left", "right") if name == "border" else (name[7:],):
            yield f"border-{side}", "0" if size is None else size[0]
    elif name == "all":
        yield from ((longhand, value) for longhand in _TAKEN)
    else:
        yield name, value


def _of_box(name: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    count = len(parts)
    if name.endswith("-inline") and count in (1, 2):
        parts, count = ["", parts[-1], "", parts[0]], 4
    for place, side in enumerate(_SIDES) if 0 < count <= 4 else ():
        yield _BOXES[name] + side, parts[place if place < count else place % 2 * (count > 1)]


@lru_cache(maxsize=4_096)
def values_of(style: str) -> Mapping[str, str]:
    """Return the value that counts of each property of a style."""
    return {name: value for name, value, _ in winning(style)}


def winning(style: str) -> Iterable[tuple[str, str, bool]]:
    """Return the declaration that counts of each property: the last one of those that are as important as any."""
    ranked = sorted(declarations(style), key=lambda declaration: declaration[2])
    return {declaration[0]: declaration for declaration in ranked}.values()


def look_of(values: Mapping[str, str]) -> Look:
    """Return how an element is shown that has such values."""
    if not values:
        return PLAIN
    size = values.get("font-size", "")
    display = _display(values.get("display", ""))
    before, behind = _gaps(values)
    room_before, room_behind = _rooms(values) if display == "piece" else (None, None)
    return Look(
        is_gone=values.get("display") == "none",
        is_collapsed=values.get("visibility") == "collapse",
        is_visible=_VISIBLE.get(values.get("visibility", "")),
        has_size=_has_size(size),
        is_sized=bool(size),
        is_small=_is_small(size),
        display=display,
        shift=_moved(values) or _aligned(values),
        before=before,
        behind=behind,
        room_before=room_before,
        room_behind=room_behind,
        is_initial=values.get("float") == "left",
    )


def is_unseen(style: str) -> bool:
    """Return whether a style hides its element."""
    return is_hiding(values_of(style))


def is_hiding(values: Mapping[str, str]) -> bool:
    """Return whether such values hide their element."""
    is_gone, is_seen = values.get("display") == "none", _VISIBLE.get(values.get("visibility", ""))
    return is_gone or is_seen is False or _has_size(values.get("font-size", "")) is False


def sizes(style: str) -> bool:
    """Return whether a style may change the size of letters."""
    return "font-size" in values_of(style)


def shift_of(style: str) -> Shift | None:
    """Return how a style raises or lowers its element; None if it does not."""
    return look_of(values_of(style)).shift


def gaps_of(style: str) -> tuple[Gap, Gap]:
    """Return what a page shows before an element with such a style, and behind it."""
    return _gaps(values_of(style))


def _display(word: str) -> Display | None:
    if not word or word in _AS_ITS_TAG or word == "none":
        return None
    if word in JOINING:
        return "inline"
    return "piece" if word.startswith(("inline", "-webkit-inline")) else "line"


def _has_size(size: str) -> bool | None:
    """Return whether letters of such a size are seen; None if that is as what is around them."""
    length = _LENGTH.fullmatch(size)
    if length is None:
        return None if not size or size in _RELATIVE_SIZES else True
    if not float(length[1]):
        return False
    return None if length[2] in _RELATIVE_UNITS else True


def _is_small(size: str) -> bool:
    """Return whether letters of such a size are smaller than the usual ones, as those of a note are."""
    length = _LENGTH.fullmatch(size)
    if length is None:
        return "small" in size
    return float(length[1]) < _SMALL if length[2] == "%" else float(length[1]) * _EMS.get(length[2], 1) < _SMALL / 100


def _gaps(values: Mapping[str, str]) -> tuple[Gap, Gap]:
    """Return what a page shows before an element of a line, and behind it."""
    side = values.get("float")
    if side in ("right", "inline-end") or values.get("position") in ("absolute", "fixed"):
        return " ", " "
    moved = _ems(values, "left") - _ems(values, "right") if values.get("position") == "relative" else 0
    before, behind = (
        sum(_ems(values, f"{box}-{at}") for box in ("margin", "padding", "border")) for at in ("left", "right")
    )
    if side in ("left", "inline-start"):
        return _gap(before) or SEAM, " " if values.keys() & _WIDTHS else _gap(behind) or SEAM
    return _gap(before + moved), _gap(behind - moved)


def _rooms(values: Mapping[str, str]) -> tuple[Room | None, Room | None]:
    """Return the room of a box before its text, and behind it; None if there is none."""
    width, least, aligned = _ems(values, "width"), _ems(values, "min-width"), values.get("text-align", "")
    room = Room(max(width, least), grows=least >= width) if max(width, least) >= _BLANK else None
    return room if aligned in ("right", "center", "end") else None, room if aligned not in ("right", "end") else None


def is_filled(room: Room, words: Sequence[str]) -> bool:
    """Return whether a text leaves no gap in a box. In one that does not grow, several words may be several lines."""
    letters = sum(map(len, words)) + max(0, len(words) - 1)
    return (room.grows or len(words) == 1) and not _gap(room.width - letters * _OF_LETTERS["ch"])


def _gap(ems: float) -> Gap:
    return " " if ems >= _BLANK else ""


def _ems(values: Mapping[str, str], name: str) -> float:
    value = values.get(name, "")
    length = _LENGTH.fullmatch(value)
    if length is None:
        return _BLANK if value in _FUNCTIONS else 0
    return float(length[1]) * _EMS.get(length[2], 0)


def _moved(values: Mapping[str, str]) -> Shift | None:
    for side in ("top", "bottom") if values.get("position") == "relative" else ():
        length = _LENGTH.fullmatch(values.get(side, ""))
        if length is not None and float(length[1]):
            return Shift(RAISED if (side == "bottom") == (float(length[1]) > 0) else LOWERED)
    return None


def _aligned(values: Mapping[str, str]) -> Shift | None:
    word = values.get("vertical-align", "")
    if word in ("super", "sub"):
        return Shift(RAISED if word == "super" else LOWERED)
    if word in ("top", "text-top", "bottom", "text-bottom"):
        return Shift(RAISED if word.endswith("top") else LOWERED, is_sure=False)
    length = _LENGTH.fullmatch(word)
    if length is None or not float(length[1]):
        return None
    return Shift(RAISED if float(length[1]) > 0 else LOWERED)
