"""Decodes what providers send. Pure; raises UpstreamError in words of our own.

One unreadable row must not cost the others: its presence may depend on what was published after
the PIT. So :func:`lenient_json` leaves out what it cannot read, row by row, and the verdict on a row
depends on nothing but its own bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import UpstreamError
from pit_fetch.transport import HttpReply

if TYPE_CHECKING:
    from html.parser import HTMLParser

__all__ = ["body_of", "columns_in", "lenient_json", "read_html", "record_in", "rows_in", "strict_json"]

# No real data exceeds these; Python itself stops at about 1,000 levels and 4,300 digits.
MAX_DEPTH = 64
MAX_DIGITS = 400

# A string, a bracket, a separator, or what is between them: numbers, names, and anything else.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{}\s,:"]+|"', re.DOTALL)
# Inside a row: strings, and brackets as many as stand together.
_INSIDE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]+|[\]}]+|"', re.DOTALL)
_SYNTAX = frozenset("[]{},:")
_CLOSES = {"]": "[", "}": "{"}
_KEY = re.compile(r"\s*:")
# The end of a row, inside what looks like a string.
_END_OF_ROW = re.compile(r'"\s*[]}][]}\s]*,')


def body_of(reply: HttpReply, host: str, nothing: Collection[int] = (404,)) -> bytes | None:
    """The body of a successful reply; None for a status in ``nothing``, which says that there is no such thing.

    Raises UpstreamError for any other status. Nothing of what the server said is repeated.
    """
    if reply.status in nothing:
        return None
    if not 200 <= reply.status < 300:
        raise UpstreamError("http_status", host=host, status=reply.status)
    return reply.body


def rows_in(body: bytes, *keys: str) -> Iterator[dict[str, Any]]:
    """The rows of the array that lies at ``keys`` in a JSON document; at the top without.

    ``rows_in(body, "response", "docs")`` reads ``{"response": {"docs": [row, …]}}``. What is not a row, or
    cannot be read, comes as ``{}``: it fails alone, and the count of rows stays. Raises UpstreamError if there
    is no such array.
    """
    node = lenient_json(body, rows=len(keys) + 1)
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise UpstreamError("malformed", problem=f"it has no array {'.'.join(keys)}".rstrip())
    return (row if isinstance(row, dict) else {} for row in node)


def record_in(body: bytes, *keys: str) -> dict[str, Any]:
    """The object that lies at ``keys`` in a JSON document (the document itself without), for one record to a reply.

    ``{}`` where it cannot be read: it fails alone, as a record without a stamp. Raises UpstreamError if something
    else lies there.
    """
    node = lenient_json(body, rows=len(keys))
    for key in keys:
        if not isinstance(node, dict) or key not in node:
            raise UpstreamError("malformed", problem=f"it has no object {'.'.join(keys)}")
        node = node[key]
    if node is not None and not isinstance(node, dict):
        raise UpstreamError("malformed", problem=f"it has no object {'.'.join(keys)}".rstrip())
    return node or {}


def columns_in(body: bytes, *names: str) -> Iterator[dict[str, Any]]:
    """The rows of a JSON document that holds its columns as arrays of one length: ``{"t": […], "c": […]}``.

    Raises UpstreamError if one of ``names`` is not an array, or if they differ in length.
    """
    document = lenient_json(body, rows=2)
    columns = [document.get(name) if isinstance(document, dict) else None for name in names]
    if not all(isinstance(column, list) for column in columns) or len({len(column or ()) for column in columns}) > 1:
        raise UpstreamError("malformed", problem=f"it has not the columns {', '.join(names)}, of one length")
    return (dict(zip(names, row, strict=True)) for row in zip(*(column or () for column in columns), strict=True))


class _Unreadable:
    """Marks a value that JSON cannot express, or that nobody could use."""


_UNREADABLE = _Unreadable()


def read_html(parser: HTMLParser, text: str) -> None:
    """Feeds a whole page to ``parser``. Raises UpstreamError if it is none that can be read.

    A tag without an end is closed: over 60 kB of those, Python 3.11's parser takes three minutes (measured). And what
    it refuses, a marked section that it does not know, is a comment, as it is to browsers and newer parsers: one row
    of a table must not cost the others.
    """
    marked = parser.parse_marked_section

    def section(i: int, report: bool = True) -> int:
        try:
            return marked(i, report)
        except AssertionError:
            return parser.parse_bogus_comment(i, report)

    parser.parse_marked_section = section  # type: ignore[method-assign]
    try:
        parser.feed(text + ">")
        parser.close()
    except AssertionError:  # the parser's, of a declaration that it does not know
        raise UpstreamError("malformed", problem="it is not HTML") from None


def strict_json(body: bytes) -> Any:
    """The JSON document in ``body`` (UTF-8, with or without a byte order mark). NaN and Infinity are not JSON.

    For replies that are read as a whole: a list of tickers, an error. Rows are read by :func:`lenient_json`.
    """

    def constant(name: str) -> Any:
        raise ValueError(name)

    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=constant)
    except (ValueError, RecursionError):
        raise UpstreamError("malformed", problem="it is not a JSON document") from None


def lenient_json(body: bytes, rows: int, least: int | None = None) -> Any:
    """The JSON document in ``body``, whose rows lie ``rows`` levels deep; a row that cannot be read is None.

    ``rows`` counts the containers around a row: 1 for ``[row, …]``, 2 for ``{"data": [row, …]}``. A row
    is unreadable as a whole if it holds NaN, Infinity, an absurdly long number, a key twice, values
    nested deeper than ``MAX_DEPTH``, or invalid JSON between its brackets, or if its label appears twice.
    Text between rows is passed over. A byte that is not UTF-8 reads as U+FFFD, a control character
    in a string as itself. A single value less deep that cannot be read is None as well, since a document
    may hold rows at several depths. Where the least deep of them lie ``least`` levels deep, invalid JSON in
    one of them costs no other either. Raises UpstreamError if the document itself is broken: if brackets or
    quotes do not match, nobody can say where a row ends.
    """
    text = body.decode("utf-8-sig", "replace")
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        value = _loads_row_by_row(text, rows, rows if least is None else least)
    return _readable(value, rows)


def _loads(text: str) -> Any:
    return json.loads(
        text,
        object_pairs_hook=_object,
        parse_constant=_constant,
        parse_int=_integer,
        parse_float=_float,
        strict=False,
    )


def _loads_row_by_row(text: str, rows: int, least: int) -> Any:
    """The document, with null for each value ``least`` to ``rows`` levels deep that cannot be decoded by itself.

    Anything between such values that means nothing by itself is left out: it would break its neighbours.
    """
    parts: list[str] = []
    opened: list[str] = []
    slots: list[_Slot] = []
    place = 0
    while match := _TOKEN.search(text, place):
        token, place = match[0], match.end()
        if token in ("[", "{"):
            if len(opened) == rows:
                place = _end_of_row(text, match.start())
                if place < 0 or not slots:
                    break
                slots[-1].value(text[match.start() : place])
                continue
            opened.append(token)
            if len(opened) >= least:
                slots.append(_Slot(token))
        elif token in ("]", "}"):
            if not opened or opened.pop() != _CLOSES[token]:
                raise _broken()
            if slots:
                closed = slots.pop().container() + token
                if slots:
                    slots[-1].value(closed, is_readable=True)
                else:
                    parts.append(closed)
                continue
        elif token == '"':  # noqa: S105 - an unclosed quote
            raise _broken()
        elif slots:
            slots[-1].word(token)
        if not slots:
            is_value = opened and token not in _SYNTAX and not (token[0] == '"' and _KEY.match(text, match.end()))
            parts.append("null" if is_value and not _is_row(token) else token)
    try:
        return _loads(" ".join(parts))
    except (ValueError, RecursionError):
        raise _broken() from None


def _end_of_row(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed; -1 if it never is. Raises UpstreamError if they cross."""
    opened: list[str] = []
    for match in _INSIDE.finditer(text, start):
        token = match[0]
        if token[0] in "[{":
            opened += token
        elif token[0] in "]}":
            for place, bracket in enumerate(token, match.start() + 1):
                if opened.pop() != _CLOSES[bracket]:
                    raise _broken()
                if not opened:
                    return place
        elif token == '"':  # noqa: S105 - an unclosed quote
            raise _broken()
    return -1


class _Slot:
    """A container of rows as it is read, with the words of the row that has just begun."""

    def __init__(self, bracket: str) -> None:
        self._bracket = bracket
        self._rows: list[str] = []
        self._words: list[str] = []
        self._key = ""
        self._has_row = False

    def word(self, text: str) -> None:
        """A string, a number, a name, or what separates them."""
        if text == ",":
            self._end()
        elif text == ":" and len(self._words) == 1 and self._words[0].startswith('"') and not self._key:
            self._key = self._words.pop()
        else:
            self._words.append(text)

    def value(self, row: str, *, is_readable: bool = False) -> None:
        """A row in brackets: it begins and ends by itself, whatever is beside it."""
        self._words.clear()
        self._add(row if is_readable or _is_row(row) else "null")
        self._has_row = True

    def container(self) -> str:
        self._end()
        return self._bracket + ",".join(self._rows)

    def _end(self) -> None:
        if self._words and not self._has_row:
            value = " ".join(self._words)
            self._add(value if _is_row(value) else "null")
        self._words.clear()
        self._key, self._has_row = "", False

    def _add(self, value: str) -> None:
        if self._bracket == "[":
            self._rows.append(value)
        elif self._key and _is_row(self._key):  # without a label nobody knows what it is
            self._rows.append(f"{self._key}:{value}")
        self._key = ""


def _is_row(text: str) -> bool:
    """Whether a value can be decoded by itself.

    Raises UpstreamError if nobody can say that it ends there: if quotes do not match, several rows look
    like one, with the end of a row inside what looks like a string.
    """
    try:
        _loads(text)
    except RecursionError:
        return False
    except ValueError:
        if any(_END_OF_ROW.match(token[0]) for token in _TOKEN.finditer(text)):
            raise _broken() from None
        return False
    return True


def _broken() -> UpstreamError:
    return UpstreamError("malformed", problem="it is not valid JSON")


def _readable(value: Any, rows: int) -> Any:
    """``value`` with None for each row that holds something unreadable."""
    if rows and isinstance(value, list):
        return [_readable(part, rows - 1) for part in value]
    if rows and isinstance(value, dict):
        return {key: _readable(part, rows - 1) for key, part in value.items()}
    return value if _is_readable(value, MAX_DEPTH) else None


def _is_readable(value: Any, levels: int) -> bool:
    if isinstance(value, _Twice):
        return False
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(
            part is not _UNREADABLE if not isinstance(part, (dict, list)) else _is_readable(part, levels - 1)
            for part in parts
        )
    return value is not _UNREADABLE


class _Twice(dict[str, Any]):
    """An object with a key twice, which could mean either value: as a row unreadable, as a container at that key."""


def _object(pairs: list[tuple[str, Any]]) -> Any:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    times = Counter(key for key, _ in pairs)
    return _Twice({key: value if times[key] == 1 else _UNREADABLE for key, value in pairs})


def _constant(name: str) -> Any:
    return _UNREADABLE


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= MAX_DIGITS else _UNREADABLE


def _float(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else _UNREADABLE
