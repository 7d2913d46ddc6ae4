"""Replies as trees of dicts, lists and scalars, so that one set of edits serves JSON, XML and CSV. Pure.

CSV is a list of rows by column. An XML element is a dict: its attributes as ``@name``, its text as
``""``, and its children as a list under each tag.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

Pattern = tuple[str, ...]
Path = tuple[Any, ...]


class Format(NamedTuple):
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]


class Place(NamedTuple):
    """One key of one dict in a tree; ``pattern`` is its path with every list index as ``*``."""

    pattern: Pattern
    parent: dict[str, Any]
    key: str


def format_of(body: bytes) -> Format | None:
    """How ``body`` is read and written; None for a format that the kit cannot edit."""
    for known in (_JSON, _XML, _CSV):
        try:
            known.decode(body)
        except (ValueError, Xml.ParseError, csv.Error):
            continue
        return known
    return None


def must_format(body: bytes) -> Format:
    """The format of a body that is known to have one."""
    known = format_of(body)
    if known is None:
        raise ValueError("neither JSON nor XML nor CSV")
    return known


def places(node: Any, pattern: Pattern = ()) -> Iterator[Place]:
    """Every key of every dict, outermost first. The keys of a map of like rows are indices, not fields."""
    if isinstance(node, list) or is_map(node):
        for child in list(node.values() if isinstance(node, dict) else node):
            yield from places(child, (*pattern, "*"))
    elif isinstance(node, dict):
        for key, child in list(node.items()):
            yield Place((*pattern, key), node, key)
            yield from places(child, (*pattern, key))


def containers(node: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of everything that may hold rows, outermost first: lists, and maps of like rows."""
    if isinstance(node, list) or is_map(node):
        yield path
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from containers(child, (*path, key))


def is_map(node: Any) -> bool:
    """Whether a dict holds rows by key (``{"2024-02-15": {…}, "2024-02-14": {…}}``), not fields by name."""
    if not isinstance(node, dict) or len(node) < 2 or not all(isinstance(child, dict) for child in node.values()):
        return False
    return len({frozenset(child) for child in node.values()}) == 1


def at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def name(pattern: Pattern) -> str:
    """A pattern as an author reads it: ``results[].title``."""
    return ".".join(part or "(text)" for part in pattern).replace(".*", "[]").replace("*.", "[].")


def _decode_json(body: bytes) -> Any:
    tree = json.loads(body.decode("utf-8-sig"))
    if not isinstance(tree, (dict, list)):
        raise ValueError("no document")
    return tree


def _decode_xml(body: bytes) -> Any:
    root = Xml.fromstring(body)  # noqa: S314 - the author's own recording
    return {root.tag: [_element(root)]}


def _element(node: Xml.Element) -> dict[str, Any]:
    tree: dict[str, Any] = {f"@{key}": value for key, value in node.attrib.items()}
    if node.text and node.text.strip():
        tree[""] = node.text
    for child in node:
        tree.setdefault(child.tag, []).append(_element(child))
    return tree


def _encode_xml(tree: Any) -> bytes:
    if not tree:
        return b""
    ((tag, nodes),) = tree.items()
    return bytes(Xml.tostring(_to_element(tag, nodes[0] if isinstance(nodes, list) and nodes else nodes), "utf-8"))


def _to_element(tag: str, tree: Any) -> Xml.Element:
    node = Xml.Element(tag)
    if not isinstance(tree, dict):
        node.text = _text(tree)
        return node
    for key, value in tree.items():
        if key.startswith("@"):
            node.set(key[1:], _text(value))
        elif key in ("", "_drift"):  # a text has no name that could change
            node.text = _text(value)
        else:
            node.extend(_to_element(key, child) for child in (value if isinstance(value, list) else [value]))
    return node


def _decode_csv(body: bytes) -> Any:
    rows = list(csv.DictReader(io.StringIO(body.decode("utf-8-sig")), strict=True))
    if not rows or len(rows[0]) < 2 or any(None in row or None in row.values() for row in rows):
        raise ValueError("no table")
    return rows


def _encode_csv(rows: Any) -> bytes:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_text(row.get(column)) for column in columns] for row in rows)
    return file.getvalue().encode()


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


_JSON = Format(_decode_json, lambda tree: json.dumps(tree).encode())
_XML = Format(_decode_xml, _encode_xml)
_CSV = Format(_decode_csv, _encode_csv)
