"""Reads the frontmatter of an agent or a skill: the part of YAML that they use, and nothing more.

Mappings and lists by indentation, ``[a, b]`` lists, plain and quoted scalars, block scalars (``|``
and ``>``) and comments. Every scalar is text. What it cannot read raises ValueError: a client
that read it otherwise would run other hooks than those that were checked.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_KEY = re.compile(r"""(?P<key>[A-Za-z0-9_$.-]+|"[^"]*"|'[^']*')\s*:(?:\s+(?P<rest>.*))?$""")
_LIST_ITEM = re.compile(r"-(?:\s+(?P<rest>.*))?$")


@dataclass(frozen=True)
class _Line:
    indent: int
    text: str
    number: int


def split(text: str) -> tuple[dict[str, Any], str]:
    """The frontmatter as a mapping, and the body. Raises ValueError when there is none, or one that cannot be read."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise ValueError("no frontmatter")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise ValueError("the frontmatter has no end")
    parsed = _block([line for line in map(_line, range(2, end + 1), lines[1:end]) if line], 0)
    if not isinstance(parsed, dict):
        raise ValueError("the frontmatter is no mapping")
    return parsed, "\n".join(lines[end + 1 :])


def as_list(value: Any) -> list[str]:
    """A list of names, which may also be written as ``a, b``."""
    if isinstance(value, list):
        return [str(part) for part in value]
    return [part.strip() for part in str(value).split(",") if part.strip()] if value else []


def _line(number: int, raw: str) -> _Line | None:
    text = _without_comment(raw.rstrip())
    if not text.strip():
        return None
    indent = len(text) - len(text.lstrip(" "))
    if text[indent] == "\t":
        raise ValueError(f"line {number}: a tab indents")
    return _Line(indent, text.strip(), number)


def _without_comment(text: str) -> str:
    quote = ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[position - 1] != "\\" else quote
        elif character in "\"'" and (position == 0 or text[position - 1] in " :[,-"):
            quote = character
        elif character == "#" and (position == 0 or text[position - 1] == " "):
            return text[:position].rstrip()
    return text


def _block(lines: list[_Line], indent: int) -> Any:
    if not lines:
        return {}
    return _sequence(lines, indent) if _LIST_ITEM.match(lines[0].text) else _mapping(lines, indent)


def _mapping(lines: list[_Line], indent: int) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    position = 0
    while position < len(lines):
        line = lines[position]
        match = _KEY.match(line.text)
        if line.indent != indent or match is None:
            raise ValueError(f"line {line.number}: a key is expected")
        key = match["key"].strip("\"'")
        if key in parsed:
            raise ValueError(f"line {line.number}: {key} stands twice")
        inner = _inner(lines, position + 1, indent, same_level_list=True)
        parsed[key] = _value(match["rest"] or "", inner, line)
        position += 1 + len(inner)
    return parsed


def _sequence(lines: list[_Line], indent: int) -> list[Any]:
    parsed: list[Any] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        match = _LIST_ITEM.match(line.text)
        if line.indent != indent or match is None:
            raise ValueError(f"line {line.number}: a list item is expected")
        inner = _inner(lines, position + 1, indent, same_level_list=False)
        rest = match["rest"] or ""
        if rest and _KEY.match(rest):  # "- key: value" opens a mapping at the key's own column
            column = indent + len(line.text) - len(rest)
            parsed.append(_mapping([_Line(column, rest, line.number), *inner], column))
        else:
            parsed.append(_value(rest, inner, line))
        position += 1 + len(inner)
    return parsed


def _inner(lines: list[_Line], start: int, indent: int, same_level_list: bool) -> list[_Line]:
    """The lines that belong to the one before ``start``: deeper ones, or a list at the key's own level."""
    end = start
    while end < len(lines):
        at_level = same_level_list and lines[end].indent == indent and bool(_LIST_ITEM.match(lines[end].text))
        if lines[end].indent <= indent and not at_level:
            break
        end += 1
    return lines[start:end]


def _value(rest: str, inner: list[_Line], line: _Line) -> Any:
    if re.fullmatch(r"[|>][+-]?", rest):
        return ("\n" if rest[0] == "|" else " ").join(part.text for part in inner)
    if not rest:
        return _block(inner, inner[0].indent) if inner else ""
    if inner:
        if any(_KEY.match(part.text) or _LIST_ITEM.match(part.text) for part in inner) or rest[0] in "\"'[{":
            raise ValueError(f"line {inner[0].number}: the value above ends on its own line")
        return " ".join([rest, *(part.text for part in inner)])
    if rest[0] == "[":
        if rest[-1] != "]":
            raise ValueError(f"line {line.number}: the list has no end")
        return [_scalar(part.strip(), line) for part in rest[1:-1].split(",") if part.strip()]
    return _scalar(rest, line)


def _scalar(text: str, line: _Line) -> str:
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            raise ValueError(f"line {line.number}: a quoted value has no end") from None
    if text[0] == "'":
        if len(text) < 2 or text[-1] != "'":
            raise ValueError(f"line {line.number}: a quoted value has no end")
        return text[1:-1].replace("''", "'")
    if text[0] in "{&*!%@`":
        raise ValueError(f"line {line.number}: a value that begins with {text[0]} is not supported")
    return text
