"""Take a reply apart into its rows and what is around them, and put rows back: JSON, CSV and XML, by their bytes. Pure.

A row that stays keeps its bytes, so that no number or text of the source's is written in another way.

>>> parts = split("json", '{"feed": [{"id": 1, "x": 1.50}, {"id": 2}], "next": "b"}', ("feed/*",))
>>> [row.value["id"] for row in parts.rows], parts.rest
([1, 2], {'next': 'b'})
>>> join("json", {"feed": [], "items": 1}, parts.rows[:1])
'{"feed":[{"id": 1, "x": 1.50}],"items":1}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Row
from pit_fetch.wire import MAX_DEPTH, is_readable, limited, row_decoder, unescape, without_depths

# In a path: any key or place, and an object of columns of one length.
_ANY, _COLUMNS = "*", "|"
_decode = row_decoder().raw_decode
_BLANK = re.compile(r"[ \t\n\r]*")
_MEMBER = re.compile(r'("(?:[^"\\]|\\.)*+")\s*:\s*("(?:[^"\\]|\\.)*+"|[^\s,{}"[\]]+)')
_ATTRIBUTE = re.compile(r'([\w:.-]+)\s*=\s*"([^"]*)"')
_ELEMENT = r"<{0}\b([^<>]*?)(?:/>|>([^<]*)</{0}\s*>)"


class Text(str):
    """A piece of a document that is written as it is."""

    __slots__ = ()


class Parts(NamedTuple):
    """The rows of a reply, and the rest of it, decoded. Of CSV, that is the header; of XML, the root's attributes."""

    rows: list[Row]
    rest: Any


def decoded(body: bytes) -> str:
    """Return the text of a reply. :func:`encoded` gives back its bytes, whatever they are."""
    return limited(body).decode("utf-8-sig", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def split(form: str, text: str, paths: Sequence[str]) -> Parts:
    """Return the parts of a reply. ``paths`` are :attr:`~pit_fetch.provider.View.rows`. Raise UpstreamError."""
    match form:
        case "csv":
            header, *lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text) or [""]
            return Parts([Row(line, (place,), line) for place, line in enumerate(lines)], header)
        case "xml":
            root = re.search(r"<(?![?!])[\w:]+\b([^<>]*)>", text)
            if root is None:
                raise UpstreamError(Code.MALFORMED, problem="it is not XML")
            return Parts(list(_elements(text, paths[0])), _attributes(root[1]))
    try:
        return _split_json(text, paths)
    except RecursionError:  # deep nesting is JSON, and must cost only its own row
        return _split_json(without_depths(text, 2 * MAX_DEPTH), paths)


def _split_json(text: str, paths: Sequence[str]) -> Parts:
    rows: list[Row] = []
    try:
        rest = _Reader(text, rows).read([tuple(path.split("/")) for path in paths])
    except (ValueError, IndexError):
        raise UpstreamError(Code.MALFORMED, problem="it is not valid JSON") from None
    return Parts(rows, rest)


def join(form: str, frame: Any, rows: Iterable[Row]) -> str:
    """Return a reply that holds ``rows``. ``frame`` is what is around them: of JSON, decoded; else its text."""
    if form == "csv":
        return "".join([frame, *(row.text for row in rows)])
    if form == "xml":
        return str(frame).replace("</", "".join(row.text for row in rows) + "</", 1)
    return "".join(_written(_place(frame, rows)))


def empty(path: str) -> Any:
    """Return a JSON reply without rows, and with nothing beside them.

    >>> empty("data/feed/*"), empty("*"), empty("|")
    ({'data': {'feed': []}}, [], {})
    """
    key, _, rest = path.partition("/")
    return [] if key == _ANY else {} if key == _COLUMNS or not rest else {key: empty(rest)}


def edited(form: str, text: str, fields: Sequence[str], blank: Mapping[str, Any], header: Any = "") -> str:
    """Return the text of a row with only ``fields`` (() for all), and with the values of ``blank`` for some of them.

    >>> edited("json", '{"a": 1.0, "b": [{"c": "x", "d": 2}], "e": 3}', ("a", "b"), {"b/*/c": ""})
    '{"a":1.0,"b":[{"c":"","d":2}]}'
    >>> edited("csv", "2024,1.0,7\\n", ("day", "n"), {"n": ""}, "day,x,n\\n")
    '2024,\\n'
    """
    if not (fields or blank):
        return text
    if form == "csv":
        names, cells, end = header.strip().split(","), text.strip().split(","), text[len(text.rstrip()) :]
        kept = [(name, cell) for name, cell in zip(names, cells, strict=False) if not fields or name in fields]
        return ",".join(str(blank.get(name, cell)) for name, cell in kept) + end
    if form == "xml":

        def attribute(match: re.Match[str]) -> str:
            name, value = match.groups()
            return "" if fields and name not in fields else f' {name}="{blank.get(name, value)}"'

        return re.sub(rf"\s+{_ATTRIBUTE.pattern}", attribute, text)
    return "".join(_written(_edited(text, fields, blank)))


def _edited(text: str, fields: Sequence[str], blank: Mapping[str, Any]) -> Any:
    if text[:1] not in "[{" or not (fields or blank):
        return Text(text)
    is_flat = text.count("{") == 1 and "[" not in text  # most rows are, and 50,000 of them must not take seconds
    pairs = _MEMBER.findall(text) if is_flat else ()
    if pairs and not any("\\" in key for key, _ in pairs):
        kept = ((key, part) for key, part in pairs if not fields or key[1:-1] in fields)
        spelled = {f'"{key}"': "".join(_written(value)) for key, value in blank.items()}
        return Text("{" + ",".join([f"{key}:{spelled.get(key, part)}" for key, part in kept]) + "}")
    members: dict[str | int, Any] = {}
    for key, part in _Reader(text, []).members():
        if not fields or key in fields:
            heads = (f"{key}/", f"{_ANY}/")
            inner = {path.partition("/")[2]: value for path, value in blank.items() if path.startswith(heads)}
            members[key] = blank[str(key)] if str(key) in blank else _edited(part, (), inner)
    return list(members.values()) if text[0] == "[" else members


class _Reader:
    """Reads a JSON document along the paths to its rows; what is beside them is decoded whole."""

    def __init__(self, text: str, rows: list[Row]) -> None:
        self.text, self.rows, self.at = text, rows, 0

    def read(self, paths: Sequence[tuple[str, ...]], keys: tuple[str | int, ...] = ()) -> Any:
        """Return the value here without its rows, which are added to ``rows``."""
        start = self._skip()
        if () in paths:
            value, self.at = _decode(self.text, start)
            self.rows.append(Row(value if is_readable(value) else None, keys, self.text[start : self.at]))
            return None
        is_columns = (_COLUMNS,) in paths and self.text[start] == "{"
        if is_columns:
            return self._read_columns(keys)
        if not paths or self.text[start] not in "[{":
            value, self.at = _decode(self.text, start)
            return value if is_readable(value) else None
        rest = {}
        for key in self._keys():
            inner = [path[1:] for path in paths if path[0] in (_ANY, key)]
            value = self.read(inner, (*keys, key))
            if not inner or (isinstance(value, dict) and value):
                rest[key] = value
        return rest

    def members(self) -> Iterator[tuple[str | int, str]]:
        """Yield the keys of the container here, with the texts of their values."""
        for key in self._keys():
            start = self._skip()
            _, self.at = _decode(self.text, start)
            yield key, self.text[start : self.at]

    def _read_columns(self, keys: tuple[str | int, ...]) -> dict[str | int, Any]:
        columns: dict[str | int, list[str]] = {}
        rest = {}
        for key in self._keys():
            start = self._skip()
            if self.text[start] == "[":
                columns[key] = [part for _, part in self.members()]
            else:
                rest[key], self.at = _decode(self.text, start)
        if len({len(column) for column in columns.values()}) > 1:
            raise UpstreamError(Code.MALFORMED, problem="its columns are not of one length")
        for place, cells in enumerate(zip(*columns.values(), strict=True)):
            text = "".join(_written(dict(zip(columns, map(Text, cells), strict=True))))
            self.rows.append(Row(_decode(text)[0], (*keys, _COLUMNS, place), text))
        return rest

    def _keys(self) -> Iterator[str | int]:
        """Yield the keys of the object, or the places of the list, that begins here. The caller reads each value."""
        is_list = self.text[self._skip()] == "["
        end = "]" if is_list else "}"
        self.at += 1
        place = 0
        while self.text[self._skip()] != end:
            if place:
                self._expect(",")
            key: Any = place
            if not is_list:
                key, self.at = _decode(self.text, self._skip())
                self._expect(":")
            yield key
            place += 1
        self.at += 1

    def _expect(self, mark: str) -> None:
        if self.text[self._skip()] != mark:
            raise ValueError(mark)
        self.at += 1

    def _skip(self) -> int:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match is not None else self.at
        return self.at


def _place(frame: Any, rows: Iterable[Row]) -> Any:
    """Return ``frame`` with the rows at their places; in a list, behind what is there."""
    made: dict[tuple[str | int, ...], Any] = {}
    for row in rows:
        if frame is None:
            frame = [] if isinstance(row.keys[0], int) else {}
        node = frame
        for depth, key in enumerate(row.keys, 1):
            if key == _COLUMNS:
                for name, cell in _Reader(row.text, []).members():
                    node.setdefault(name, []).append(Text(cell))
                break
            is_row = depth == len(row.keys)
            inner: Any = Text(row.text) if is_row else [] if isinstance(row.keys[depth], int) else {}
            if isinstance(node, list):
                if is_row or row.keys[:depth] not in made:
                    node.append(inner)
                    made[row.keys[:depth]] = inner
                node = made[row.keys[:depth]]
            else:
                node[key] = inner if is_row else node.get(key, inner)
                node = node[key]
    return frame


def _written(value: Any) -> Iterator[str]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, Mapping):
        for place, (key, part) in enumerate(value.items()):
            yield ("," if place else "{") + json.dumps(str(key), ensure_ascii=False) + ":"
            yield from _written(part)
        yield "}" if value else "{}"
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield "," if place else "["
            yield from _written(part)
        yield "]" if value else "[]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def _elements(text: str, name: str) -> Iterator[Row]:
    for place, match in enumerate(re.finditer(_ELEMENT.format(re.escape(name)), text)):
        value = _attributes(match[1]) if match[2] is None else unescape(match[2])
        yield Row(value, (place,), f"{match[0]}\n")


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}
