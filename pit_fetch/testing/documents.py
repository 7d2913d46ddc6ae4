"""Replies as trees of dicts, lists and scalars, so that the same edits serve every format. Pure.

JSON                    itself; an object of parallel arrays, one of them with dates, holds a list of rows
JSON Lines              the list of its documents
XML                     an element is a dict: attributes as ``@name``, text as ``""``, children as a list by tag
CSV                     a list of rows

>>> decode(b'{"t": ["2024-02-14", "2024-02-15"], "c": [1, 2]}')
{'(rows)': [{'t': '2024-02-14', 'c': 1}, {'t': '2024-02-15', 'c': 2}]}
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from pit_fetch.testing.timestamps import floor

# The key under which a document's parallel arrays lie as rows, beside its other keys.
COLUMNS = "(rows)"

Path = tuple[Any, ...]


class Format(NamedTuple):
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]


class TreeNode(NamedTuple):
    """One key of one dict in a tree; ``pattern`` is its path with every list index as ``*``."""

    pattern: Path
    parent: dict[str, Any]
    key: str

    @property
    def value(self) -> Any:
        return self.parent[self.key]


@lru_cache(16)
def format_of(body: bytes) -> Format | None:
    """Return the format of ``body``, None for one that the kit cannot edit."""
    for known in _FORMATS:
        with contextlib.suppress(ValueError, Xml.ParseError, csv.Error, RecursionError):
            known.decode(body)
            return known
    return None


def decode(body: bytes) -> Any:
    """Return the document in ``body``, a new copy at each call. Raise ValueError for one that the kit cannot edit."""
    return pickle.loads(_pickled(body))  # noqa: S301 - of this process


def encode_like(body: bytes, tree: Any) -> bytes:
    """Return a document in the format of ``body``. Raise ValueError or TypeError for what it cannot hold."""
    return _required(body).encode(tree)


@lru_cache(16)
def _pickled(body: bytes) -> bytes:
    return pickle.dumps(_required(body).decode(body))


def _required(body: bytes) -> Format:
    known = format_of(body)
    if known is None:
        raise ValueError("neither JSON nor XML nor CSV")
    return known


def fields_in(node: Any, pattern: Path = ()) -> Iterator[TreeNode]:
    """Yield every key of every dict, outermost first. The keys of a map of like rows are indices, not fields."""
    if isinstance(node, list) or is_map(node):
        for child in list(node.values() if isinstance(node, dict) else node):
            yield from fields_in(child, (*pattern, "*"))
    elif isinstance(node, dict):
        for key, child in list(node.items()):
            yield TreeNode((*pattern, key), node, key)
            yield from fields_in(child, (*pattern, key))


def containers(node: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of everything that may hold rows, outermost first: lists, and maps of like rows."""
    if isinstance(node, list) or is_map(node):
        yield path
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from containers(child, (*path, key))


def is_map(node: Any) -> bool:
    """Return whether a dict holds rows by key (``{"2024-02-15": {…}, "2024-02-14": {…}}``), not fields by name."""
    if not isinstance(node, dict) or len(node) < 2 or not all(isinstance(child, dict) for child in node.values()):
        return False
    return len({frozenset(child) for child in node.values()}) == 1


def node_at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def path_in(tree: Any, names: str) -> Path:
    """Return the path to ``names``, written as ``data.results``. Of several elements the first counts."""
    path: Path = ()
    for name in names.removesuffix("[]").split("."):
        node = node_at(tree, path)
        path = (*path, 0, name) if isinstance(node, list) and not name.isdigit() else (*path, name)
    return path


def replaced(tree: Any, path: Path, value: Any) -> Any:
    """Return the tree with ``value`` at ``path``. What stands on the way is copied, the rest is shared."""
    if not path:
        return value
    copied = tree.copy()
    copied[path[0]] = replaced(tree[path[0]], path[1:], value)
    return copied


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar in ``node``, with its path."""
    if isinstance(node, (dict, list)):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(child, (*path, key))
    else:
        yield path, node


def field_name(pattern: Path) -> str:
    """Return a pattern as an author reads it: ``results[].title``."""
    names = (str(part) or "(text)" for part in pattern if part != COLUMNS)
    return ".".join(names).replace(".*", "[]").replace("*.", "[].")


# --- JSON


class Columns(list[Any]):
    """Rows that the document holds as parallel arrays, or below a line that names their columns."""

    def __init__(self, names: Iterable[str], rows: Iterable[dict[str, Any]]) -> None:
        super().__init__(rows)
        self.names = list(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, (self.names, list(self))


def _decode_json(body: bytes) -> Any:
    tree = json.loads(body.decode("utf-8-sig"))
    if not isinstance(tree, (dict, list)):
        raise ValueError("no document")
    return _with_rows(tree)


def _decode_lines(body: bytes) -> Any:
    rows = [json.loads(line) for line in body.decode("utf-8-sig").split("\n") if line.strip()]
    if not all(isinstance(row, (dict, list)) for row in rows):
        raise ValueError("no JSON Lines")
    return rows


def _encode_lines(tree: Any) -> bytes:
    return b"".join(_raw(row) + b"\n" for row in (tree if isinstance(tree, list) else [tree]))


def _raw(tree: Any) -> bytes:
    """Return a document as most sources write it, in raw UTF-8; a surrogate escape stands for a byte that is none."""
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogateescape")


def _with_rows(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_rows(child) for child in node]
    if not isinstance(node, dict):
        return node
    lists = {name: child for name, child in node.items() if isinstance(child, list)}
    if not _are_columns([*lists.values()]):
        return {key: _with_rows(child) for key, child in node.items()}
    rows = Columns(lists, (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)))
    return {COLUMNS: rows, **{key: _with_rows(child) for key, child in node.items() if key not in lists}}


def _are_columns(lists: list[list[Any]]) -> bool:
    lengths = {len(column) for column in lists}
    if len(lists) < 2 or len(lengths) != 1 or min(lengths) < 2:
        return False
    if any(isinstance(value, (dict, list)) for column in lists for value in column):
        return False
    return any(all(floor(value) is not None for value in column) for column in lists)


def _with_columns(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_columns(child) for child in node]
    if not isinstance(node, dict):
        return node
    others = {key: _with_columns(child) for key, child in node.items() if key != COLUMNS}
    if COLUMNS not in node:
        return others
    names, rows = _table(node[COLUMNS])
    return {**{name: [row.get(name) for row in rows] for name in names}, **others}


def _table(node: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Return columns and rows as an edit left them: no rows where it is no list, an empty one for what is no dict."""
    rows = [row if isinstance(row, dict) else {} for row in node] if isinstance(node, list) else []
    return list(dict.fromkeys(column for row in rows for column in row)) or getattr(node, "names", []), rows


# --- XML and CSV


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
    root = _to_element(tag, nodes[0] if isinstance(nodes, list) and nodes else nodes)
    return Xml.tostring(root, "unicode").encode()


def _to_element(tag: str, tree: Any) -> Xml.Element:
    node = Xml.Element(tag)
    for key, value in (tree if isinstance(tree, dict) else {"": tree}).items():
        if key.startswith("@"):
            node.set(key[1:], _text(value))
        elif key == "":
            node.text = _text(value)
        else:
            node.extend(_to_element(key, child) for child in (value if isinstance(value, list) else [value]))
    return node


def _decode_csv(body: bytes) -> Any:
    rows = list(csv.DictReader(io.StringIO(body.decode("utf-8-sig")), strict=True))
    if not rows or len(rows[0]) < 2 or any(None in row or None in row.values() for row in rows):
        raise ValueError("no table")
    return Columns(rows[0], rows)


def _encode_csv(tree: Any) -> bytes:
    names, rows = _table(tree)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([_text(row.get(name)) for name in names] for row in rows)
    return file.getvalue().encode("utf-8", "surrogateescape")


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


JSON = Format(_decode_json, lambda tree: _raw(_with_columns(tree)))
XML = Format(_decode_xml, _encode_xml)
# In the order in which they are tried.
_FORMATS = (JSON, Format(_decode_lines, _encode_lines), XML, Format(_decode_csv, _encode_csv))
