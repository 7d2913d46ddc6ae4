"""A saved page, read again: its addresses, the times that it states, and its words. Pure.

A page is HTML, alone or behind the headers of its reply (``curl --include``), an entry of a sitemap, or a capture in a
saved envelope of ``wayback page as=html``.

>>> page = page_of(b'<link rel="canonical" href="https://example.com/a"><meta name="date" content="2024-02-15">')
>>> page.addresses, page.stamps
(frozenset({'https://example.com/a'}), (PageStamp(kind='meta', name='date', text='2024-02-15'),))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pit_fetch.errors import UpstreamError
from pit_fetch.normalize import linked_data
from pit_fetch.normalize.stamps import CAPTURED, NAMES, PageStamp, known
from pit_fetch.support.encoding import to_utf8
from pit_fetch.wire import decode_page, read_html, rows_in

_SAVED_FROM = re.compile(r"\s*saved from url=\([0-9]+\)(\S+)")  # what browsers write
_CANONICAL = re.compile(r"<([^<>]+)>\s*;[^,<]*\brel=\"?canonical\b", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_PROPERTIES = ("property", "itemprop")
# The elements that do not separate words: "H<sub>2</sub>O", and the large first letter of a text.
_WITHIN_A_LINE = frozenset({
    "a", "abbr", "b", "cite", "code", "del", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strong",
    "sub", "sup", "time", "u", "wbr",
})  # fmt: skip
_NAMING = (*_PROPERTIES, "name", "http-equiv")


class Saved(NamedTuple):
    """The content of a page."""

    addresses: frozenset[str] = frozenset()  # those that it calls its own, in their plain form
    stamps: tuple[PageStamp, ...] = ()
    # Its text, in two readings: elements separate words, and elements within a line do not.
    texts: tuple[str, ...] = ()


class _Unreadable(Exception):
    """A part of the page in which a time may appear cannot be read."""


def page_of(content: bytes) -> Saved | None:
    """Return the content of a saved page; None if it cannot be read."""
    headers, text = _headers_and_text(content)
    return _read_page(text, headers)


def is_envelope(content: bytes) -> bool:
    """Return whether a saved page is an envelope, which may hold several captures."""
    return to_utf8(content).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def capture_of(content: bytes, address: str) -> Saved | None:
    """Return the capture of ``address`` in a saved envelope; None if it holds none, or cannot be read."""
    try:
        items = list(rows_in(to_utf8(content), "data"))
    except UpstreamError:
        return None
    for item in items:
        stamp, source = item.get("available_at"), item.get("text")
        is_page = item.get("shows") == "page" and isinstance(stamp, str) and isinstance(source, str)
        if is_page and plain_address(item.get("url")) == address:
            page = _read_page(str(source), ())
            captured = PageStamp(*CAPTURED, str(stamp))
            return page and Saved(page.addresses | {address}, (*page.stamps, captured), page.texts)
    return None


def _read_page(source: str, headers: Sequence[tuple[str, str]]) -> Saved | None:
    reader = _PageReader()
    try:
        read_html(reader, source)
    except (_Unreadable, UpstreamError, ValueError, RecursionError):
        return None
    addresses = [plain_address(text) for text in (*reader.addresses, *_addresses_in(headers))]
    stamps = [PageStamp("header", name, value) for name, value in headers if name in NAMES["header"]]
    return Saved(frozenset(filter(None, addresses)), (*stamps, *reader.stamps), reader.readings())


def entry_of(content: bytes, address: str) -> Saved | None:
    """Return a saved sitemap's entry of ``address``; None if it does not list it, or cannot be read."""
    reader = _SitemapReader()
    try:
        read_html(reader, _headers_and_text(content)[1])
    except (UpstreamError, ValueError):
        return None
    own = [entry for entry in reader.entries if plain_address(entry.get("loc", "")) == address]
    if not own:
        return None
    stamps = [PageStamp("sitemap", name, entry[name]) for entry in own for name in NAMES["sitemap"] if entry.get(name)]
    return Saved(frozenset({address}), tuple(stamps), ("\n".join(text for entry in own for text in entry.values()),))


def plain_address(text: object) -> str | None:
    """Return a web address without its fragment, its host in small letters; None for anything else."""
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
        self.stamps: list[PageStamp] = []
        self.texts: list[str] = []
        self._lines: list[str] = []  # the same, with a break where a line ends
        self._script: list[str] | None = None  # of JSON-LD
        self._is_silent = False
        self._named: tuple[str, ...] = ()  # of an element, ``_open``, whose time is its text
        self._open = ""
        self._named_text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in reversed(attrs)}  # of two, the first counts
        self._part(tag)
        if tag == "script":
            is_linked_data = attributes.get("type", "").partition(";")[0].strip().lower() == "application/ld+json"
            self._script = [] if is_linked_data else None
        self._is_silent = tag in ("script", "style")
        if tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.addresses.append(attributes.get("href", ""))
        self._note(tag, attributes, [value for name in ("content", "datetime") if (value := attributes.get(name))])

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self._script is not None:  # in HTML the slash means nothing, and what follows would be the script
            raise _Unreadable
        self.handle_endtag(tag)

    def _note(self, tag: str, attributes: Mapping[str, str], values: Sequence[str]) -> None:
        """Note every time that an element states. A property is a list of names; without a value its text counts."""
        words = [word for key in _NAMING for word in attributes.get(key, "").split()]
        names = list(filter(None, (known("meta", word) for word in words)))
        if tag == "meta":
            self._has(*values)
            if "og:url" in map(str.lower, words):
                self.addresses += values
        else:
            names = [name for name in names if name.startswith(("date", "upload"))]
        names += self._named if values else ()
        self.stamps += [PageStamp("meta", name, text) for name in names for text in values if text.strip()]
        if values:
            self._named = ()
        elif tag != "meta" and not attributes.keys().isdisjoint(_PROPERTIES):
            self._named, self._open = tuple({*self._named, *names}), self._open if self._named else tag

    def _part(self, tag: str) -> None:
        if tag not in _WITHIN_A_LINE:
            self._lines.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._part(tag)
        text = "".join(self._named_text)
        if text.strip():
            self.stamps += [PageStamp("meta", name, text) for name in self._named]
        if text.strip() or tag == self._open:
            self._named, self._named_text = (), []
        if tag == "script" and self._script is not None:
            self._linked_data("".join(self._script))
        self._script, self._is_silent = None, False

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
        elif not self._is_silent:
            self.texts.append(data)
            self._lines.append(data)
            if self._named:
                self._named_text.append(data)

    def _has(self, *texts: str) -> None:
        self.texts += texts
        self._lines += ["\n", *(part for text in texts for part in (text, "\n"))]

    def readings(self) -> tuple[str, ...]:
        return "\n".join(self.texts), "".join(self._lines)

    def handle_comment(self, data: str) -> None:
        match = _SAVED_FROM.match(data)
        if match is not None:
            self.addresses.append(match[1])

    def close(self) -> None:
        super().close()
        if self._script is not None:  # it has no end
            raise _Unreadable

    def _linked_data(self, text: str) -> None:
        try:
            document = linked_data.document(text)
        except (ValueError, RecursionError):
            raise _Unreadable from None
        self.addresses += linked_data.main_entities(document)
        for value in linked_data.values(document):
            if value.is_named and isinstance(value.value, str):
                self._has(value.value)
            text = str(value.value)
            self.stamps += [PageStamp("json-ld", place, text) for place in value.places if text.strip()]


class _SitemapReader(HTMLParser):
    """Parse the entries of a sitemap, each as the texts of its elements; the prefixes of names are left out.

    An entry's pictures and videos have addresses and times of their own, which are not the page's.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[dict[str, str]] = []
        self._within = ""
        self._media = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        name = tag.rpartition(":")[2]
        if name == "url":
            self.entries.append({})
            self._media = ""
        elif name in ("image", "video"):
            self._media = tag
        self._within = "" if self._media else name

    def handle_endtag(self, tag: str) -> None:
        self._within = ""
        if tag == self._media:
            self._media = ""

    def handle_data(self, data: str) -> None:
        if self.entries and self._within and data.strip():
            entry = self.entries[-1]
            entry[self._within] = f"{entry.get(self._within, '')} {data.strip()}".strip()

    def unknown_decl(self, data: str) -> None:
        self.handle_data(data.removeprefix("CDATA["))

    def handle_comment(self, data: str) -> None:  # what newer parsers take a section of character data for
        if data.startswith("[CDATA["):
            self.handle_data(data.removeprefix("[CDATA[").removesuffix("]]"))


def _headers_and_text(content: bytes) -> tuple[list[tuple[str, str]], str]:
    """Return the headers and the text of a page. The body may be in UTF-16, or all of it, as Windows saves files."""
    whole = to_utf8(content)
    headers, body = _split(whole)
    plain = to_utf8(body)
    if whole is content and plain is body:
        return headers, decode_page(body, dict(headers).get("content-type", "")).lstrip("\ufeff")
    return headers, plain.decode("utf-8-sig", "replace").lstrip("\ufeff")  # whatever charset is declared


def _split(content: bytes) -> tuple[list[tuple[str, str]], bytes]:
    """Return the headers of the last reply in ``content``, with names in small letters, and the body."""
    bare = content.lstrip(b"\xef\xbb\xbf \t\r\n")  # what an editor leaves in front of them hides no header
    content = bare if bare.startswith(b"HTTP/") else content
    head, start = slice(0), 0
    while content.startswith(b"HTTP/", start):
        blank = _BLANK_LINE.search(content, start)
        head, start = (slice(start, blank.start()), blank.end()) if blank else (slice(start, None), len(content))
    lines = [line.partition(":") for line in content[head].decode("latin-1").splitlines()[1:]]
    headers = [(name.strip().lower(), value.strip()) for name, _, value in lines]
    return headers, content[start:]


def _addresses_in(headers: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, value in headers:
        if name == "content-location":
            yield value
        elif name == "link":
            yield from _CANONICAL.findall(value)
