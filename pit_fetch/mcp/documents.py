"""Find the JSON documents in a text, so that a late one costs no other. Pure.

A server may write one a line or one after the other, and cut its text off at a size. What is broken in a document is
marked, as :func:`json_tree` does, and what came before it stays.

>>> list(documents('Two rows: {"id": 1}\\n{"id": 2}'))
[{'id': 1}, {'id': 2}]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pit_fetch.mcp.lines import document

# What may stand before a document, and between two: prose, and nothing that a part of an item could follow.
_FIRST = re.compile(r'(?:[^]["{}]|"(?!\s*:))*+([{\[])')
_FOLLOWING = re.compile(r'[^]["{}]*+([{\[])')
# What stands behind a bracket that closed an item too early.
_CONTINUED = re.compile(r'\s*,\s*"[^"]*"\s*:')
_PART = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[][{},]', re.DOTALL)
# A line that begins with a bracket is within a document only behind one of [ { , :
_NEXT = re.compile(r"(?<=[^\s{\[,:])\s++(?<=\n)(?=[{\[])")
_CLOSING = {"[": "]", "{": "}"}


def documents(text: str) -> Iterator[Any]:
    """Yield the arrays and objects in a text; what stands between them is skipped."""
    whole = _tree(text)
    if whole is not None:
        yield from [whole] if isinstance(whole, (dict, list)) else []
        return
    for segment in _NEXT.split(text):
        yield from _documents_in(segment)


def _documents_in(text: str) -> Iterator[Any]:
    opening = _FIRST.match(text)
    while opening:
        start = opening.start(1)
        end = _end(text, start)
        tree = _tree(text[start:end]) if end and not _CONTINUED.match(text, end) else None
        # After a broken document, or a quote, comes a part of an item, which could pass for an item.
        opening = None if tree is None else _FOLLOWING.match(text, end)
        if tree is None:
            tree = _tree(_close_brackets(text[start : start + _readable_length(text[start:])]))
        if tree is not None:
            yield tree


def _tree(text: str) -> Any:
    return document(text.encode("utf-8", "replace"))


def _end(text: str, start: int) -> int:
    """Return where the brackets that open at ``start`` are closed; 0 if they are not."""
    depth = 0
    for part in _PART.finditer(text, start):
        depth += (part[0] in ("[", "{")) - (part[0] in ("]", "}"))
        if not depth:
            return part.end()
    return 0


def _readable_length(text: str) -> int:
    """Return how much of a broken document is the beginning of one."""
    try:
        json.loads(text, strict=False, parse_int=float)
    except json.JSONDecodeError as error:
        return error.pos
    except RecursionError:
        pass
    return len(text)


def _close_brackets(text: str) -> str:
    """Return the beginning of a document with an end, and NaN, which no item may hold, where it broke off; or ""."""
    stack: list[str] = []
    end = 0
    for part in _PART.finditer(text):
        match part[0]:
            case "[" | "{":
                stack.append(part[0])
            case "]" | "}" if stack:
                stack.pop()
            case ",":
                pass
            case _:
                continue
        end = part.end()
    if not stack:  # it does not break off
        return ""
    comma = "" if text[end - 1] in "[{," else ","
    mark = "NaN" if stack[-1] == "[" else '"": NaN'
    return f"{text[:end]}{comma}{mark}{''.join(_CLOSING[bracket] for bracket in reversed(stack))}"
