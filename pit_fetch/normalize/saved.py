"""A saved page, read again: which address it is of, which times it says, and its words. Pure.

A page is HTML, alone or behind the headers of its reply (``curl --include``), or an entry of a sitemap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pit_fetch.normalize.stamps import NAMES, Stamp

_SAVED_FROM = re.compile(r"\s*saved from url=\([0-9]+\)(\S+)")  # what browsers write
_CANONICAL = re.compile(r"<([^<>]+)>\s*;[^,<]*\brel=\"?canonical\b", re.IGNORECASE)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_CHARSET_WITHIN = 4_096
# It closes a tag without an end: over 60 kB of those, Python 3.11's parser takes three minutes (measured).
_END = ">"
_WRAPPING = re.compile(r"^\s*(?://\s*)?<!(?:\[CDATA\[|--)|(?:(?://\s*)?\]\]>|-->|;)\s*$")


class Saved(NamedTuple):
    """What a page says. ``addresses`` are those that it calls its own, in their plain form."""

    addresses: frozenset[str] = frozenset()
    stamps: tuple[Stamp, ...] = ()
    text: str = ""


class _Unreadable(Exception):
    """A part of the page in which a time may appear cannot be read."""


def page_of(content: bytes) -> Saved | None:
    """What a saved page says; None if it cannot be read."""
    headers, body = _split(content)
    reader = _PageReader()
    try:
        reader.feed(_decoded(body, headers) + _END)
        reader.close()
    except (_Unreadable, AssertionError, ValueError, RecursionError):  # the parser asserts what a declaration is
        return None
    addresses = [plain_address(text) for text in (*reader.addresses, *_addresses_in(headers))]
    stamps = [Stamp("header", name, value) for name, value in headers if name in NAMES["header"]]
    return Saved(frozenset(filter(None, addresses)), (*stamps, *reader.stamps), "\n".join(reader.texts))


def entry_of(content: bytes, address: str) -> Saved | None:
    """What a saved sitemap says of ``address``; None if it does not list it, or cannot be read."""
    headers, body = _split(content)
    reader = _SitemapReader()
    try:
        reader.feed(_decoded(body, headers) + _END)
        reader.close()
    except (AssertionError, ValueError):
        return None
    own = [entry for entry in reader.entries if plain_address(entry.get("loc", "")) == address]
    if not own:
        return None
    stamps = [Stamp("sitemap", name, entry[name]) for entry in own for name in NAMES["sitemap"] if entry.get(name)]
    return Saved(frozenset({address}), tuple(stamps), "\n".join(text for entry in own for text in entry.values()))


def plain_address(text: object) -> str | None:
    """A web address without its fragment, its host in small letters; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        parts = urlsplit(text.strip())
        host, name = parts.netloc.lower(), parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not name or "@" in host:
        return None
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


class _PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.addresses: list[str] = []
        self.stamps: list[Stamp] = []
        self.texts: list[str] = []
        self._script: list[str] | None = None  # of JSON-LD
        self._is_silent = False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}  # of two, the first counts
        if tag == "script":
            is_linked_data = given.get("type", "").partition(";")[0].strip().lower() == "application/ld+json"
            self._script = [] if is_linked_data else None
        self._is_silent = tag in ("script", "style")
        if tag == "link" and "canonical" in given.get("rel", "").lower().split():
            self.addresses.append(given.get("href", ""))
        said = given.get("content") or given.get("datetime") or ""
        if tag == "meta" and said:
            self.texts.append(said)
        for name in (given.get("property"), given.get("name"), given.get("itemprop"), given.get("http-equiv")):
            self._note((name or "").strip().lower(), said, tag)

    def _note(self, name: str, said: str, tag: str) -> None:
        if tag == "meta" and name == "og:url":
            self.addresses.append(said)
        if name in NAMES["meta"] and said.strip() and (tag == "meta" or name.startswith(("date", "upload"))):
            self.stamps.append(Stamp("meta", name, said))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            self._linked_data("".join(self._script))
        self._script, self._is_silent = None, False

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
        elif not self._is_silent:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        found = _SAVED_FROM.match(data)
        if found is not None:
            self.addresses.append(found[1])

    def close(self) -> None:
        super().close()
        if self._script is not None:  # it has no end
            raise _Unreadable

    def _linked_data(self, text: str) -> None:
        """Every pair counts, also of a key that appears twice: objects are read as tuples of pairs."""
        text = _WRAPPING.sub("", _WRAPPING.sub("", text)).strip()
        if not text:
            return
        try:
            document = json.loads(text, strict=False, object_pairs_hook=tuple)
        except (ValueError, RecursionError):
            raise _Unreadable from None
        self.addresses += _main_entities(document)
        for name, value in _pairs_in(document):
            if isinstance(value, str):
                self.texts.append(value)
            name = name.rpartition(":")[2].lower()
            if name in NAMES["json-ld"]:
                self.stamps += [Stamp("json-ld", name, one) for one in _strings_of(value) if one.strip()]


class _SitemapReader(HTMLParser):
    """The entries of a sitemap, each as the texts of its elements; the prefixes of names are left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[dict[str, str]] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._within = tag.rpartition(":")[2]
        if self._within == "url":
            self.entries.append({})

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self.entries and self._within and data.strip():
            entry = self.entries[-1]
            entry[self._within] = f"{entry.get(self._within, '')} {data.strip()}".strip()

    def unknown_decl(self, data: str) -> None:
        self.handle_data(data.removeprefix("CDATA["))

    def handle_comment(self, data: str) -> None:  # what newer parsers take a section of character data for
        if data.startswith("[CDATA["):
            self.handle_data(data.removeprefix("[CDATA[").removesuffix("]]"))


def _split(content: bytes) -> tuple[list[tuple[str, str]], bytes]:
    """The headers of the last reply at the beginning of ``content``, with names in small letters, and the body."""
    headers: list[tuple[str, str]] = []
    while content.startswith(b"HTTP/"):
        head, content = [*re.split(rb"\r?\n\r?\n", content, maxsplit=1), b""][:2]
        lines = [line.partition(":") for line in head.decode("latin-1").splitlines()[1:]]
        headers = [(name.strip().lower(), value.strip()) for name, _, value in lines]
    return headers, content


def _addresses_in(headers: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, value in headers:
        if name == "content-location":
            yield value
        elif name == "link":
            yield from _CANONICAL.findall(value)


def _decoded(body: bytes, headers: Sequence[tuple[str, str]]) -> str:
    said = dict(headers).get("content-type", "").encode() + b" " + body[:_CHARSET_WITHIN]
    charset = _CHARSET.search(said)
    try:
        return body.decode("utf-8-sig" if charset is None else charset[1].decode(), "replace").lstrip("\ufeff")
    except LookupError:
        return body.decode("utf-8-sig", "replace")


def _main_entities(document: Any) -> Iterator[str]:
    """The addresses of the page itself: not those of what it lists."""
    tops = document if isinstance(document, list) else [document]
    for top in tops:
        if not isinstance(top, tuple):
            continue
        for name, value in top:
            if name == "@graph":
                yield from _main_entities(value)
            elif name == "mainEntityOfPage":
                yield from _strings_of(value)
                yield from (one for key, one in _pairs_in(value) if key == "@id" and isinstance(one, str))


def _pairs_in(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, list):
        for one in node:
            yield from _pairs_in(one)
    elif isinstance(node, tuple):
        for name, value in node:
            yield name, value
            yield from _pairs_in(value)


def _strings_of(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one
