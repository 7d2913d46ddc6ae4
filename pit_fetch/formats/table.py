"""``--format table``: the items as lines of text for a person at a terminal, then the gaps worth reading."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pit_fetch.formats.columns import Column, columns
from pit_fetch.gaps import Code
from pit_fetch.pipeline.envelope import Envelope
from pit_fetch.provider import STAMPS
from pit_fetch.support.terminal import visible

WIDTH = 120  # where there is no terminal to ask
_GAP = "  "
# How wide a text may be before it is cut, and a headline; what is left of the line goes to the texts that are cut.
_TEXT, _HEADLINE = 28, 64
# What an explanation begins with is enough to understand it: "published 40 minutes after the PIT". It takes the place
# from the headline beside it: so much for both, on a line of so many characters.
_BESIDE = ((100, 34, 24), (0, 30, 10))
_FIRST = ("verdict", "change", "title", "headline", "name")
_CONSTANT = frozenset({Code.LATE.about.type.value, Code.UNDATED.about.template})


def render(envelope: Envelope, pretty: bool = False, width: int = WIDTH) -> str:
    """At most ``width`` characters to a line; columns that do not fit are named below. ``pretty`` changes nothing."""
    if not envelope.data:
        return "No items.\n" + _gaps(envelope)
    found = columns(envelope.data, envelope.provenance.kinds)
    kept, hidden = _fitting(_ordered(found, width), width)
    lines = [_GAP.join(one.head.rjust(one.width) if one.right else one.head.ljust(one.width) for one in kept).rstrip()]
    lines.append(_GAP.join("-" * one.width for one in kept))
    for place in range(len(envelope.data)):
        lines.append(_GAP.join(_padded(one.cells[place], one) for one in kept).rstrip())
    more = f"\nNot shown: {', '.join(hidden)} (--fields chooses, --format json has everything)\n" if hidden else ""
    return "\n".join(lines) + "\n" + more + _gaps(envelope)


class _Shown:
    """A column as text. ``width`` is what it is given, ``wanted`` what it would take."""

    def __init__(self, column: Column) -> None:
        self.head = column.name
        self.right = column.kind in ("number", "integer")
        self.cells = [visible(_text(value, column)) for value in column.values]
        self.wanted = max(_length(self.head), *map(_length, self.cells))
        most = self.wanted if self.right or column.kind in ("instant", "date") else _TEXT
        self.width = min(self.wanted, _HEADLINE if self.head in _FIRST else max(most, len(self.head)))

    @property
    def is_cut(self) -> bool:
        return self.width < self.wanted


def _ordered(found: Sequence[Column], width: int) -> list[_Shown]:
    """Time first, then what the item is, its short fields, its id; long texts last. What is empty is left out."""
    held = {one.name: _Shown(one) for one in found if any(value not in (None, "", [], {}) for value in one.values)}
    first = [name for name in ("available_at", *_FIRST, "because") if name in held]
    if "because" in held:
        _, because, headline = next(one for one in _BESIDE if width >= one[0])
        held["because"].width = min(held["because"].wanted, because)
        for name in _FIRST:
            if name in held:
                held[name].width = min(held[name].width, headline)
    fields = [name for name in held if name not in (*STAMPS, *first)]
    instants = {one.name for one in found if one.kind == "instant"}
    short = [name for name in fields if name not in instants and not held[name].is_cut and not name.endswith("url")]
    last = [name for name in (*short, "id", "revised_at", "first_seen_at", *fields) if name in held]
    return [held[name] for name in dict.fromkeys((*first, *last))]


def _fitting(shown: Sequence[_Shown], width: int) -> tuple[list[_Shown], list[str]]:
    """The columns that fit, with the texts among them given what is left of the line, and the names of the others."""
    kept, left = [shown[0]], width - shown[0].width
    for one in shown[1:]:
        if one.head in _FIRST:  # what an item is must be there, however narrow the terminal
            one.width = min(one.width, max(left - len(_GAP), len(one.head)))
        if one.width + len(_GAP) <= left or one.head in _FIRST:
            kept.append(one)
            left -= one.width + len(_GAP)
    for one in sorted(kept, key=lambda one: one.head not in _FIRST):
        more = max(min(left, one.wanted - one.width), 0)
        one.width, left = one.width + more, left - more
    return kept, [one.head for one in shown if one not in kept]


def _text(value: Any, column: Column) -> str:
    if value is None:
        return ""
    if column.kind == "instant" and isinstance(value, datetime):
        day = f"{value:%a} " if column.name == "available_at" else ""
        return f"{day}{value.replace(tzinfo=None).isoformat(' ')} {value:%Z}"
    if column.kind == "number":
        return f"{value:.10g}"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, str):
        return " ".join(value[: 8 * _HEADLINE].split())
    return str(value) if column.kind in ("integer", "date") else json.dumps(value)


def _padded(text: str, one: _Shown) -> str:
    if _length(text) > one.width:
        while text and _length(text) > one.width - 1:
            text = text[: -max(1, (_length(text) - one.width + 1) // 2)]
        text += "…"
    blank = " " * (one.width - _length(text))
    return blank + text if one.right else text + blank


def _length(text: str) -> int:
    """How many columns of a terminal ``text`` takes: some scripts take two, an accent by itself takes none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def _gaps(envelope: Envelope) -> str:
    """The gaps, but for the two of every answer with a PIT that say nothing about this one."""
    said = [one for one in envelope.gaps if not {one["type"], one["reason"]} & _CONSTANT]
    return "".join(f"\n{one['type']}: {visible(str(one['reason']))}\n" for one in said)
