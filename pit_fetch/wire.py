"""Decode what sources send. Pure; raises UpstreamError, whose text repeats nothing of a reply.

One unreadable row of a JSON document must not cost the others: its presence may depend on what was published after
the PIT. So :func:`lenient_json` leaves out the rows that hold something unusable, and judges each by its own bytes. A
reply that is not JSON is refused as a whole.

>>> list(rows_in(b'{"data": [{"id": 1}, {"id": 2, "x": NaN}, {"id": 3}]}', "data"))
[{'id': 1}, {}, {'id': 3}]
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.support.encoding import decode_page
from pit_fetch.transport import HttpReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from html.parser import HTMLParser

__all__ = [
    "body_of",
    "check_rows",
    "columns_in",
    "decode_page",
    "lenient_json",
    "limited",
    "page_in",
    "read_html",
    "record_in",
    "rows_in",
    "strict_json",
    "text",
    "unescape",
]

# No real data exceeds these. Python itself stops at about 1,000 levels, and a float holds no number of 310 digits.
MAX_DEPTH = 64
MAX_DIGITS = 308

# The most values that a reply may have. Each takes up to 100 bytes of memory, be it of two characters: 64 MB of empty
# lists took 1.8 GB. Of the recorded replies none has more than 250,000.
MAX_VALUES = 4_000_000
_BEFORE_A_VALUE = (b"[", b"{", b",", b"\n", b"<")

# Stands for a value that JSON cannot express, or that no caller could use.
_UNREADABLE = object()

# A string or a bracket. A quote that is never closed takes the rest, so that it is not looked for again and again.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[][{}]', re.DOTALL)

# A character reference of so many digits stands for no character, and Python refuses to read the longest of them.
_LONG_REFERENCE = re.compile(r"&#[0-9]{100,}")


def body_of(reply: HttpReply, host: str, nothing: Collection[int] = (404,)) -> bytes | None:
    """Return the body of a successful reply, or None for a status in ``nothing``: the source has no such thing.

    Raise UpstreamError for any other status.
    """
    if reply.status in nothing:
        return None
    if not 200 <= reply.status < 300:
        raise UpstreamError(Code.HTTP_STATUS, host=host, status=reply.status)
    return reply.body


def limited(body: bytes) -> bytes:
    """Return ``body``. Raise UpstreamError for one that would take memory out of all proportion to its size.

    Its values are counted as JSON, CSV and HTML separate them. The functions of this module call it themselves.
    """
    is_large = len(body) > MAX_VALUES and sum(map(body.count, _BEFORE_A_VALUE)) > MAX_VALUES
    if is_large:
        raise UpstreamError(Code.MALFORMED, problem=f"it has more than {MAX_VALUES // 1_000_000} million values")
    return body


def rows_in(body: bytes, *keys: str) -> Iterator[dict[str, Any]]:
    """Return the rows of the array at ``keys`` in a JSON document; without keys, of the document itself.

    ``rows_in(body, "response", "docs")`` reads ``{"response": {"docs": [row, …]}}``. An element that is no object, or
    that cannot be read, becomes ``{}``, so that it fails alone and the number of rows stays. Raise UpstreamError if
    there is no such array.
    """
    return iter(_rows_of(lenient_json(body, rows=len(keys) + 1), keys))


def page_in(body: bytes, *keys: str, following: str) -> tuple[list[dict[str, Any]], str | None]:
    """Return the rows as :func:`rows_in` does, and the text or number at ``following``; None where the pages end.

    ``following`` is a key of the document, or several with points between them. For :func:`pit_fetch.paging.follow`.

    >>> page_in(b'{"data": [{"id": 1}], "meta": {"next": "x2"}}', "data", following="meta.next")
    ([{'id': 1}], 'x2')
    """
    document = lenient_json(body, rows=len(keys) + 1)
    return _rows_of(document, keys), text(_node_at(document, following.split("."))) or None


def _rows_of(document: Any, keys: Sequence[str]) -> list[dict[str, Any]]:
    rows = _node_at(document, keys)
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem=f"it has no array {'.'.join(keys)}".rstrip())
    return [row if isinstance(row, dict) else {} for row in rows]


def _node_at(node: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def text(value: object) -> str:
    """Return a text as it is, a whole number in digits, and "" for anything else.

    >>> text("Acme"), text(7), text(None)
    ('Acme', '7', '')
    """
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def record_in(body: bytes, *keys: str) -> dict[str, Any]:
    """Return the object at ``keys`` in a JSON document; without keys, the document. For replies of one record.

    An object that cannot be read becomes ``{}``, which makes a record without a stamp. Raise UpstreamError if there
    is no object.
    """
    node = lenient_json(body, rows=len(keys))
    for key in keys:
        if not isinstance(node, dict) or key not in node:
            raise UpstreamError(Code.MALFORMED, problem=f"it has no object {'.'.join(keys)}")
        node = node[key]
    if node is not None and not isinstance(node, dict):
        raise UpstreamError(Code.MALFORMED, problem=f"it has no object {'.'.join(keys)}".rstrip())
    return node or {}


def columns_in(body: bytes, *names: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON document that holds its columns as arrays of one length: ``{"t": […], "c": […]}``.

    Raise UpstreamError if one of ``names`` is not an array, or if they differ in length.
    """
    document = lenient_json(body, rows=2)
    columns = [document.get(name) if isinstance(document, dict) else None for name in names]
    if not all(isinstance(column, list) for column in columns) or len({len(column or ()) for column in columns}) > 1:
        raise UpstreamError(Code.MALFORMED, problem=f"it has not the columns {', '.join(names)}, of one length")
    return (dict(zip(names, row, strict=True)) for row in zip(*(column or () for column in columns), strict=True))


def check_rows(rows: Collection[Any], *keys: str | Collection[str]) -> None:
    """Raise UpstreamError if ``rows`` come from something else: they hold objects, and none has all of ``keys``.

    ``keys`` are those of the stamps, which each row of the source has, whatever their values; each may be several
    spellings. Name no other key: a withheld row that lacks it would decide whether the reply is refused. That public
    records have a field is for :attr:`Field.is_required`.
    """
    spellings = [(key,) if isinstance(key, str) else key for key in keys]
    objects = [row for row in rows if row and isinstance(row, dict)]
    if objects and not any(all(not row.keys().isdisjoint(names) for names in spellings) for row in objects):
        names = " and ".join(next(iter(names)) for names in spellings)
        raise UpstreamError(Code.MALFORMED, problem=f"none of its rows has {names}")


def unescape(text: str) -> str:
    """Return ``text`` with its HTML character references replaced, as :func:`html.unescape` does, whatever it holds."""
    import html

    return html.unescape(_LONG_REFERENCE.sub("&#0", text))


def read_html(parser: HTMLParser, text: str) -> None:
    """Feed a whole page to ``parser``, in time proportional to its length. Raise UpstreamError if it cannot be read."""
    limited(text.encode("utf-8", "surrogatepass"))
    marked = parser.parse_marked_section

    # A marked section that the parser does not know becomes a comment, as in browsers and newer parsers: one row of a
    # table must not cost the others.
    def section(i: int, report: bool = True) -> int:
        try:
            return marked(i, report)
        except AssertionError:
            return parser.parse_bogus_comment(i, report)

    parser.parse_marked_section = _until_none(section)  # type: ignore[method-assign]
    parser.parse_comment = _until_none(parser.parse_comment)  # type: ignore[method-assign]
    try:
        # The bracket closes a tag that has no end: over 60 kB of those, Python 3.11's parser takes three minutes.
        parser.feed(_LONG_REFERENCE.sub("&#0", text) + ">")
        parser.close()
    except AssertionError:  # the parser raises it for a declaration that it does not know
        raise UpstreamError(Code.MALFORMED, problem="it is not HTML") from None


def _until_none(parse: Callable[..., int]) -> Callable[..., int]:
    """Return ``parse``, which returns where a part of a page ends; once it has found no end, it does not look again.

    Further on there is none, either, and each search would read the whole rest of the page.
    """
    has_none = False

    def find(i: int, report: bool = True) -> int:
        nonlocal has_none
        end = -1 if has_none else parse(i, report)
        has_none = end < 0
        return end

    return find


def strict_json(body: bytes) -> Any:
    """Return the JSON document in ``body``: UTF-8, with or without a byte order mark, and without NaN or Infinity.

    For replies that are read as a whole, such as a list of tickers or an error. Raise UpstreamError for any other.
    """

    def constant(name: str) -> Any:
        raise ValueError(name)

    try:
        return json.loads(limited(body).decode("utf-8-sig"), parse_constant=constant)
    except (ValueError, RecursionError):
        raise UpstreamError(Code.MALFORMED, problem="it is not a JSON document") from None


def lenient_json(body: bytes, rows: int) -> Any:
    """Return the JSON document in ``body``, with None for each row that cannot be read.

    ``rows`` is the number of containers around a row: 1 for ``[row, …]``, 2 for ``{"data": [row, …]}``. A row cannot
    be read if it holds NaN, Infinity, a number of more than ``MAX_DIGITS`` digits, a key twice, or values nested deeper
    than ``MAX_DEPTH``, or if its own key appears twice. Such a value less deep than the rows is None by itself, since a
    document may hold rows at several depths. A byte that is not UTF-8 reads as U+FFFD, a control character in a string
    as itself. Raise UpstreamError if the body is otherwise not JSON.
    """
    tree = json_tree(body, rows)
    return tree if _is_readable(tree, rows + MAX_DEPTH) else _readable(tree, rows)


def json_tree(body: bytes, containers: int = MAX_DEPTH) -> Any:
    """Return the JSON document in ``body``, read as by :func:`lenient_json`, with marks for what cannot be read.

    For a document of which only a walk shows where its rows are: of each, ask :func:`is_readable`. At most so many
    ``containers`` are around one. Raise UpstreamError if the body is otherwise not JSON.
    """
    text = limited(body).decode("utf-8-sig", "replace")
    try:
        try:
            return _loads(text)
        except RecursionError:  # deep nesting is JSON, and must cost only its own row
            return _loads(without_depths(text, containers + MAX_DEPTH))
    except (ValueError, RecursionError):
        raise UpstreamError(Code.MALFORMED, problem="it is not valid JSON") from None


def is_readable(row: Any) -> bool:
    """Return whether nothing in a row of :func:`json_tree` is marked as unreadable."""
    return _is_readable(row, MAX_DEPTH)


def row_decoder() -> json.JSONDecoder:
    """Return the decoder of :func:`json_tree`, for a text of which a part is decoded at a time."""
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=lambda name: _UNREADABLE,
        parse_int=_integer,
        parse_float=_float,
        strict=False,
    )


def _loads(text: str) -> Any:
    return row_decoder().decode(text)


def without_depths(text: str, levels: int) -> str:
    """Return ``text`` with NaN, which no row may hold, for each container inside ``levels`` others."""
    parts: list[str] = []
    depth = start = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == levels + 1:
                parts += text[start : token.start()], "NaN"
        elif token[0] in ("]", "}"):
            if depth == levels + 1:
                start = token.end()
            depth -= 1
    if depth:
        raise ValueError("brackets do not match")
    return "".join([*parts, text[start:]])


def _readable(value: Any, rows: int) -> Any:
    if rows and isinstance(value, list):
        return [_readable(part, rows - 1) for part in value]
    if rows and isinstance(value, dict):
        return {key: _readable(part, rows - 1) for key, part in value.items()}
    return value if _is_readable(value, MAX_DEPTH) else None


def _is_readable(value: Any, levels: int) -> bool:
    """Return whether nothing in ``value`` is marked, nor inside so many containers. It looks at a level at a time."""
    layer = [value] if type(value) in _WORTH_A_LOOK else []
    while layer:
        if levels == 0 or not _CONTAINERS.issuperset(map(type, layer)):
            return False
        levels -= 1
        inner: list[Any] = []
        for container in layer:
            parts = container.values() if type(container) is dict else container
            # Most containers hold texts and numbers alone, which one call sees: a company's facts are 50,000 such rows.
            if not _WORTH_A_LOOK.isdisjoint(map(type, parts)):
                inner += [part for part in parts if type(part) in _WORTH_A_LOOK]
        layer = inner
    return True


class _Twice(dict[str, Any]):
    """An object with a key twice, which could mean either value: unreadable as a row, as a container at that key."""


_CONTAINERS = frozenset({dict, list})
# The types of values that may be unreadable, or hold one that is.
_WORTH_A_LOOK = _CONTAINERS | {_Twice, type(_UNREADABLE)}


def _object(pairs: list[tuple[str, Any]]) -> Any:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    times = Counter(key for key, _ in pairs)
    return _Twice({key: value if times[key] == 1 else _UNREADABLE for key, value in pairs})


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= MAX_DIGITS else _UNREADABLE


def _float(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else _UNREADABLE
