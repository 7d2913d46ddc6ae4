"""The kit's server: it answers from a recording, in one world of it, in the pages and windows that are declared.

The documents of a recording are one tree, by their addresses. What is asked for once for each row lies in the row,
under its address, so that whatever is done to a row is done to its page.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pit_fetch.testing.documents import (
    JSON,
    XML,
    Format,
    Path,
    containers,
    format_of,
    leaves,
    node_at,
    path_in,
    replaced,
)
from pit_fetch.testing.recording import Document, Pages, Recording
from pit_fetch.testing.server import Response
from pit_fetch.testing.timestamps import floor, is_date
from pit_fetch.transport import HttpRequest

RequestKey = tuple[str, str, bytes | None]
# The key of a tree under which further headers stand, for all replies.
HEADERS = "(headers)"
# What an edit can come to that the format of a document cannot hold.
IMPOSSIBLE = (KeyError, IndexError, TypeError, ValueError, OverflowError)
# The most that can be the size of a page.
_MOST = 1_000


# --- what a request says


def request_key(request: HttpRequest) -> RequestKey:
    """Return what a request asks for, so that two of them can be compared."""
    return request.path, json.dumps(params_of(request), sort_keys=True, default=list), request.body


def params_of(request: HttpRequest) -> dict[str, Any]:
    """Return the parameters of a request, those too that stand in its address, where a next page's often stand."""
    return {**dict(parse_qsl(urlsplit(request.url).query)), **request.params}


def body_of(request: HttpRequest) -> Any:
    """Return the document that a request sends, None where it sends none."""
    try:
        return json.loads(request.body or b"null")
    except ValueError:
        return None


def numbers_in(request: HttpRequest, alone: bool = False) -> dict[Path, int]:
    """Return what can be a number of rows in a request, by its place: in its path, parameters, headers or body.

    alone  only numbers that are a whole value
    """
    params, headers = params_of(request), dict(request.headers)
    places = {"path": request.path, "params": params, "headers": headers, "body": body_of(request)}
    return {
        (*place, nth): int(digits)
        for place, value in leaves(places)
        if not isinstance(value, bool) and floor(value) is None and (not alone or str(value).isdigit())
        for nth, digits in enumerate(re.findall(r"\d+", str(value)))
        if 1 < int(digits) <= _MOST
    }


def named(node: Any, name: str) -> Any:
    """Return the value under ``name``, wherever it stands in ``node``; None where nothing does."""
    if isinstance(node, dict):
        return node[name] if name in node else named(list(node.values()), name)
    values = (named(child, name) for child in (node if isinstance(node, list) else ()))
    return next((value for value in values if value is not None), None)


# --- addresses


class Address(NamedTuple):
    """Where a document is asked for. ``place`` is a pattern of the path, or of host and path."""

    key: str
    place: re.Pattern[str]
    params: Mapping[str, re.Pattern[str]]

    @classmethod
    def of(cls, key: str) -> Address:
        place, _, query = key.partition("?")
        return cls(key, _pattern(place), {name: _pattern(value) for name, value in parse_qsl(query)})

    def values_of(self, row: Any) -> list[str]:
        """Return what stands in the place of the braces for the page of a row."""
        return [str(named(row, name)) for name in re.findall(r"\{(\w+)\}", self.key)]

    def values(self, request: HttpRequest) -> dict[str, str] | None:
        """Return what stands in the place of the braces; None for a request to another address."""
        if not self.key:
            return {}
        asked = params_of(request)
        if not self.params.keys() <= asked.keys():
            return None
        place = request.path if self.key.startswith("/") else request.host + request.path
        said = [(self.place, place), *((pattern, str(asked[name])) for name, pattern in self.params.items())]
        values: dict[str, str] = {}
        for pattern, text in said:
            match = pattern.fullmatch(text)
            if match is None:
                return None
            values |= match.groupdict()
        return values


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*)", re.escape(text)))


class Source:
    """A recording, decoded. ``main`` is the address of the document with the rows, ``rows`` where they are in it."""

    def __init__(self, recording: Recording, zone: str = "") -> None:
        documents = recording.documents
        if not isinstance(documents, Mapping) or not all("/" in key or key == "" for key in documents):
            documents = {"": documents}
        self.recording, self.zone, self.main = recording, zone, next(iter(documents))
        # The narrower ones first: those with parameters, and those with more of the path.
        ordered = sorted(documents, key=lambda key: ("?" not in key, "{" in key, -len(key)))
        self.addresses = [Address.of(key) for key in ordered]
        pages = {key: value for key, value in documents.items() if "{" in key and key != self.main}
        self.documents = {key: _document(value) for key, value in documents.items() if key not in pages}
        self.formats = {key: _format(document) for key, document in self.documents.items()}
        self.formats |= {key: _format(_document(next(iter(every.values())))) for key, every in pages.items()}
        self.pages = [address for address in self.addresses if address.key in pages]
        self.beside = [address for address in self.addresses if address.key not in (self.main, *pages)]
        tree = {key: self._decoded(key, document) for key, document in self.documents.items()}
        self.rows = self._path_of_rows(tree[self.main])
        for address in self.pages:
            for row in self.rows_in(tree):
                if (page := pages[address.key].get("/".join(address.values_of(row)))) is not None:
                    document = _document(page)
                    row[address.key] = {"": self._decoded(address.key, document), HEADERS: dict(document.headers)}
        self._packed, self._lists = pickle.dumps(tree), {key for key in tree if isinstance(tree[key], list)}
        self.recorded = Served(self, self.tree())

    @property
    def can_be_edited(self) -> bool:
        return self.formats[self.main] is not None

    @property
    def holds_any_byte(self) -> bool:
        return self.formats[self.main] is not XML and not self.is_made

    @property
    def is_made(self) -> bool:
        """Return whether the author makes the bytes of the rows, maybe a table that keeps the first of two."""
        return self.documents[self.main].encode is not None

    def floor(self, field: str, value: object) -> datetime | None:
        """Return the earliest instant at which the stamp of a field is over, None where it cannot be read."""
        form = self.recording.stamps.get(field)
        return floor(value, (form and form.zone) or self.zone, form.text if form else "")

    def is_dated(self, value: object) -> bool:
        """Return whether a value is a stamp, whatever field it stands in."""
        forms = ("", *(form.text for form in self.recording.stamps.values()))
        return any(floor(value, form=form) is not None for form in forms)

    def tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = pickle.loads(self._packed)  # noqa: S301 - of this process
        return tree

    def empty(self, key: str) -> Any:
        """Return a document like a recorded one, with nothing in it."""
        return [] if key in self._lists else {}

    def encode(self, key: str, document: Any) -> bytes:
        """Return the bytes of a document. Raise one of IMPOSSIBLE for what its format cannot hold."""
        known = self.formats[key]
        if known is None:
            return bytes(self.documents[key].content)
        if key == self.main and self.is_made and isinstance(document, list):
            document = [row if isinstance(row, dict) else {} for row in document]
        return known.encode(document)

    def rows_in(self, tree: Mapping[str, Any]) -> list[Any]:
        """Return the rows that are cut into pages, none where an edit left something else."""
        with contextlib.suppress(*IMPOSSIBLE):
            rows = node_at(tree[self.main], self.rows)
            return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return []

    def find(self, request: HttpRequest) -> Address | None:
        return next((address for address in self.addresses if address.values(request) is not None), None)

    def is_page_of_row(self, request: HttpRequest) -> bool:
        """Return whether a request asks for what belongs to one row alone."""
        return self.find(request) in self.pages

    def _path_of_rows(self, document: Any) -> Path:
        if self.recording.rows:
            return path_in(document, self.recording.rows)
        lists = [path for path in containers(document) if isinstance(node_at(document, path), list)]
        return max(lists, key=lambda path: len(node_at(document, path)), default=())

    def _decoded(self, key: str, document: Document) -> Any:
        known = self.formats[key]
        if document.encode is not None:
            return document.content
        return known.decode(document.content) if known is not None else None


class Served:
    """What a source answers with, as an edit of its recording left it.

    Raise one of IMPOSSIBLE for a document that its format cannot hold.
    """

    def __init__(self, source: Source, tree: dict[str, Any]) -> None:
        self._source, self._tree = source, tree
        self._bodies = {key: source.encode(key, self._listed(key)) for key in source.documents}

    @property
    def body(self) -> bytes:
        """The document with the rows, as it is saved."""
        return self._bodies[self._source.main]

    def answer(
        self, request: HttpRequest, asked: dict[str, list[RequestKey]], sizes: frozenset[Path], keeps_window: bool
    ) -> Response:
        """Return the answer to a request.

        asked  what was asked for before in this run, by its path
        sizes  where requests say how many rows are wanted, besides what is declared
        """
        turns, key = asked.setdefault(request.path, []), request_key(request)
        turns += [] if key in turns else [key]
        address = self._source.find(request)
        if address is None:
            return Response(status=404)
        values = address.values(request) or {}
        if address in self._source.pages:
            return self._page_of_row(address, [*values.values()])
        document = self._source.documents[address.key]
        body, headers = self._bodies[address.key], {**self._tree.get(HEADERS, {}), **document.headers}
        if address.key == self._source.main:
            with contextlib.suppress(*IMPOSSIBLE):
                body, more = self._page(request, values, turns.index(key), sizes, keeps_window)
                headers |= more
        return Response(body, document.status, headers)

    def _page(
        self, request: HttpRequest, values: Mapping[str, str], turn: int, sizes: frozenset[Path], keeps_window: bool
    ) -> tuple[bytes, dict[str, str]]:
        """Return the page of the rows that is asked for, and its headers. Raise KeyError for one that is not there."""
        source, pages, document = self._source, self._source.recording.pages, self._listed(self._source.main)
        rows = node_at(document, source.rows)
        if not isinstance(rows, list):
            return self.body, {}
        said = {**values, **params_of(request), "": body_of(request)}
        kept = [row for row in rows if not keeps_window or self._is_in_window(row, said)]
        size = next((number for place, number in numbers_in(request).items() if place in sizes), 0)
        if pages is None:
            start = turn * (size or len(kept))  # what has no pages has nothing more
        else:
            size = pages.size if isinstance(pages.size, int) else int(named(said, pages.size) or size)
            start = self._start(pages, said, kept, size)
        end = start + (size or len(kept))
        has_more = end < len(kept)
        if pages is not None and pages.next:
            token = pages.link.format(f"c-{end}" if pages.cursor else end)
            document = replaced(document, path_in(document, pages.next), token if has_more else None)
        if pages is not None and pages.more:
            document = replaced(document, path_in(document, pages.more), has_more)
        if (start, len(kept)) == (0, len(rows)) and end >= len(rows) and not (pages and (pages.next or pages.more)):
            body = self.body
        else:
            body = source.encode(source.main, replaced(document, source.rows, kept[start:end]))
        return body, {pages.total: str(max(1, -(-len(kept) // size)))} if pages and pages.total else {}

    def _start(self, pages: Pages, said: Mapping[str, Any], rows: list[Any], size: int) -> int:
        if pages.number:
            return (int(named(said, pages.number) or pages.first) - pages.first) * size
        if pages.start:
            return int(named(said, pages.start) or 0)
        after = named(said, pages.after or pages.cursor)
        if not pages.after:
            return int(str(after or "c-0").removeprefix("c-"))
        ids = [str(named(row, self._source.recording.id)) for row in rows]
        return 0 if not after else ids.index(str(after)) + 1 if str(after) in ids else len(rows)

    def _is_in_window(self, row: Any, said: Mapping[str, Any]) -> bool:
        """Return whether a row is in the window that is asked for, or shows nothing of it."""
        window = self._source.recording.window
        stamp = None if window is None else self._source.floor(window.field, named(row, window.field))
        if window is None or stamp is None:
            return True
        to, since = (named(said, name) if name else None for name in (window.to, window.since))
        last, first = self._source.floor(window.field, to), self._source.floor(window.field, since)
        if first is not None and is_date(since):
            first -= timedelta(days=1)
        return (last is None or stamp <= last) and (first is None or first <= stamp)

    def _page_of_row(self, address: Address, values: list[str]) -> Response:
        rows = [row for row in self._source.rows_in(self._tree) if address.values_of(row) == values]
        page: Any = rows[0].get(address.key) if rows else None
        if isinstance(page, Document) or not isinstance(page, dict):
            return Response(status=page.status if isinstance(page, Document) else 404)
        headers = page.get(HEADERS)
        named_texts = headers.items() if isinstance(headers, dict) else ()
        kept = {name: text for name, text in named_texts if isinstance(text, str)}
        with contextlib.suppress(*IMPOSSIBLE):
            return Response(self._source.encode(address.key, page.get("")), 200, kept)
        return Response(status=404)

    def _listed(self, key: str) -> Any:
        """Return a document without the pages of its rows, which are asked for by themselves."""
        document = self._tree.get(key, self._source.empty(key))
        if key != self._source.main or not self._source.pages:
            return document
        pages = {address.key for address in self._source.pages}
        with contextlib.suppress(*IMPOSSIBLE):
            rows = [
                {name: row[name] for name in row if name not in pages} if isinstance(row, dict) else row
                for row in node_at(document, self._source.rows)
            ]
            return replaced(document, self._source.rows, rows)
        return document


def _document(value: Any) -> Document:
    document = value if isinstance(value, Document) else Document(value)
    is_value = document.encode is None and not isinstance(document.content, bytes)
    return document._replace(content=JSON.encode(document.content)) if is_value else document


def _format(document: Document) -> Format | None:
    """Return the format of a document, None for bytes that the kit cannot edit."""
    return Format(json.loads, document.encode) if document.encode is not None else format_of(document.content)
