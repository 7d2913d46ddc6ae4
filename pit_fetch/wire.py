"""Decodes what providers send. Pure; raises UpstreamError("malformed") in words of our own.

One spoilt row must not cost the others: whether it is there may depend on what was published after
the PIT. So :func:`lenient_json` leaves out what it cannot read, row by row, and the verdict on a row
depends on nothing but its own bytes.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pit_fetch.errors import UpstreamError

# Beyond these no source has anything to say; Python itself stops at about 1,000 levels and 4,300 digits.
MAX_DEPTH = 64
MAX_DIGITS = 400

_PUNCTUATION = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]', re.DOTALL)


class _Unreadable:
    """Stands for a value that JSON cannot say, or that nobody could use."""


_UNREADABLE = _Unreadable()


def strict_json(body: bytes) -> Any:
    """The JSON document in ``body`` (UTF-8, with or without a mark). NaN and Infinity are no JSON.

    For what a source says as a whole: a list of tickers, an error. Rows are read by :func:`lenient_json`.
    """

    def constant(name: str) -> Any:
        raise ValueError(name)

    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=constant)
    except (ValueError, RecursionError):
        raise UpstreamError("malformed", problem="it is no JSON document") from None


def lenient_json(body: bytes, rows: int) -> Any:
    """The JSON document in ``body``, whose rows lie ``rows`` levels deep; a row that cannot be read is None.

    ``rows`` counts the containers around a row: 1 for ``[row, …]``, 2 for ``{"data": [row, …]}``. A row
    is unreadable as a whole when it holds NaN, Infinity, a number beyond every use, values nested
    deeper than ``MAX_DEPTH``, or text between its brackets that is no JSON. A byte that is no UTF-8
    reads as U+FFFD, a control character in a text as itself. Raises UpstreamError when the document
    itself is broken: where brackets or quotes do not match, nobody can say where a row ends.
    """
    text = body.decode("utf-8-sig", "replace")
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        value = _loads_row_by_row(text, rows)
    return _readable(value, rows)


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_constant, parse_int=_integer, parse_float=_float, strict=False)


def _loads_row_by_row(text: str, rows: int) -> Any:
    """The document with null for each object or array, ``rows`` levels deep, that cannot be decoded by itself."""
    parts: list[str] = []
    level = start = kept = 0
    for match in _PUNCTUATION.finditer(text):
        if match[0] in "[{":
            level += 1
            if level == rows + 1:
                start = match.start()
        elif match[0] in "]}":
            level -= 1
            if level == rows:
                row = text[start : match.end()]
                parts += [text[kept:start], row if _is_json(row) else "null"]
                kept = match.end()
    parts.append(text[kept:])
    try:
        return _loads("".join(parts))
    except (ValueError, RecursionError):
        raise UpstreamError("malformed", problem="it is not valid JSON") from None


def _is_json(text: str) -> bool:
    try:
        _loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _readable(value: Any, rows: int) -> Any:
    """``value`` with None for each row that holds something unreadable."""
    if rows and isinstance(value, list):
        return [_readable(part, rows - 1) for part in value]
    if rows and isinstance(value, dict):
        return {key: _readable(part, rows - 1) for key, part in value.items()}
    return value if _is_readable(value, MAX_DEPTH) else None


def _is_readable(value: Any, levels: int) -> bool:
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(
            part is not _UNREADABLE if not isinstance(part, (dict, list)) else _is_readable(part, levels - 1)
            for part in parts
        )
    return value is not _UNREADABLE


def _constant(name: str) -> Any:
    return _UNREADABLE


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= MAX_DIGITS else _UNREADABLE


def _float(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else _UNREADABLE
