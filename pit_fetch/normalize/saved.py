"""A saved page, read again: its addresses, the times that it states, and its words. Pure.

A page is HTML, alone or behind the headers of its reply (``curl --include``), or a capture in a saved
envelope of ``wayback page as=html``.

>>> page = page_of(b'<link rel="canonical" href="https://example.com/a"><meta name="date" content="2024-02-15">')
>>> page.addresses, page.stamps
(frozenset({'https://example.com/a'}), (PageStamp(kind='meta', name='date', text='2024-02-15'),))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pit_fetch.errors import UpstreamError
from pit_fetch.normalize.stamps import CAPTURED, PageStamp, is_timed, moment_of, stamps_in, states_time
from pit_fetch.support.encoding import to_utf8
from pit_fetch.wire import decode_page, read_html, rows_in

_SAVED_FROM = re.compile(r"\s*saved from url=\([0-9]+\)(\S+)")  # what browsers write
_CANONICAL = re.compile(r"<([^<>]+)>\s*;[^,<]*\brel=\"?canonical\b", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LINKED_DATA = re.compile(r"\s*application/ld\+json\s*(?:;|$)", re.IGNORECASE)
_WRAPPING = re.compile(r"^\s*(?://\s*)?<!(?:\[CDATA\[|--)|(?:(?://\s*)?\]\]>|-->|;)\s*$")
_NO_STAMPS = frozenset({"style", "class", "d", "viewbox", "points"})
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
})  # fmt: skip
_UNSEEN = frozenset({
    "template", "noscript", "iframe", "noembed", "noframes", "datalist", "object", "canvas", "video", "audio", "meter",
    "progress", "title", "desc", "defs", "metadata", "symbol", "annotation", "annotation-xml", "rp",
})  # fmt: skip
# A style that makes an element invisible, or so small that nothing is seen, or moves it off the page.
_NONE = r"\s*(?=[.\d])0*\.?0*(?![.\d])"
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|(?:content-)?visibility\s*:\s*(?:hidden|collapse)"
    rf"|(?:font-size|opacity|zoom|scale)\s*:{_NONE}"
    rf"|(?:transform|filter)\s*:[^;]*(?:scale\w*|opacity)\({_NONE}|clip(?:-path)?\s*:\s*(?!auto|none)"
    rf"|(?:-webkit-text-fill-)?color\s*:\s*(?:transparent|\w+\((?:(?:[^,;)]*,){{3}}|[^;)]*/){_NONE}|#(?:\w{{3}}0|\w{{6}}00)\b)"
    r"|(?:left|right|top|bottom|inset|text-indent|margin(?:-\w+)?|transform|translate)\s*:[^;]*-\d{3})"
)
_SQUEEZING = re.compile(rf"(?:^|[;-])\s*(?:width|height)\s*:(?:\s*1px|{_NONE})")  # where what overflows is hidden
_STYLE_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
# What an end tag does not end: one of a line a block, one of a block a cell, and none of them one of these.
_TABLE = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"})
_ROOMS = frozenset({"table", "template", "object", "svg", "math"})
_DEEPEST = 50
# The elements that do not separate words: "H<sub>2</sub>O", and the large first letter of a text.
_WITHIN_A_LINE = frozenset({
    "a", "abbr", "b", "cite", "code", "del", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strong",
    "sub", "sup", "time", "u", "wbr",
})  # fmt: skip


class SavedPage(NamedTuple):
    """The content of a page."""

    addresses: frozenset[str] = frozenset()  # those that it calls its own, in their plain form
    stamps: tuple[PageStamp, ...] = ()
    # What it shows, in two readings: elements separate words, and elements within a line do not.
    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # the texts of its ``meta`` elements and its JSON-LD


class _Unreadable(Exception):
    """A part of the page in which a time may appear cannot be read."""


def page_of(content: bytes) -> SavedPage | None:
    """Return the content of a saved page; None if it cannot be read."""
    headers, text = _headers_and_text(content)
    return _read_page(text, headers)


def is_envelope(content: bytes) -> bool:
    """Return whether a saved page is an envelope, which may hold several captures."""
    return to_utf8(content).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def capture_of(content: bytes, address: str) -> SavedPage | None:
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
            return page and page._replace(addresses=page.addresses | {address}, stamps=(*page.stamps, captured))
    return None


def _read_page(source: str, headers: Sequence[tuple[str, str]]) -> SavedPage | None:
    reader = _PageReader()
    try:
        read_html(reader, source)
    except (_Unreadable, UpstreamError, ValueError, RecursionError):
        return None
    addresses = [plain_address(text) for text in (*reader.addresses, *_addresses_in(headers))]
    for name, value in headers:
        reader.note("header", name, value)
    reader.note("text", "", "".join(reader.parts))
    return SavedPage(
        frozenset(filter(None, addresses)), tuple(dict.fromkeys(reader.stamps)), reader.readings(), tuple(reader.labels)
    )


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
        self.labels: list[str] = []
        self.parts: list[str] = []  # also hidden ones
        self._texts: list[str] = []
        self._lines: list[str] = []
        self._script: list[str] | None = None
        self._is_linked_data = self._is_style = False
        self._hidden: list[str] = []  # the element that hides, and those within it, that are open
        self._named: dict[tuple[str, str], None] = {}  # of an element, ``_open``, whose time is its text
        self._open = ""
        self._named_text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in reversed(attrs)}  # of two, the first counts
        self._part(tag)
        if tag == "script":
            self._script = []
            self._is_linked_data = _LINKED_DATA.match(attributes.get("type", "")) is not None
        self._is_style = tag == "style"
        if tag not in _VOID and (self._hidden or _is_hidden(tag, attributes)):
            self._hidden.append(tag)
        if tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.addresses.append(attributes.get("href", ""))
        self._note_element(tag, attributes)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # in HTML the slash means nothing
        if self._script is not None and self._is_linked_data:  # what follows would be the script
            raise _Unreadable
        if self._script is not None or tag not in self._hidden:
            self.handle_endtag(tag)

    def _note_element(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note what an element states. A property is a list of names; without a value its text counts."""
        keys = ("property", "itemprop", *(("name", "http-equiv") if tag == "meta" else ()))
        names = [word for key in keys for word in attributes.get(key, "").split()]
        values = [attributes[name] for name in ("content", "datetime") if attributes.get(name)]
        if tag == "meta":
            self.labels += values
            if "og:url" in map(str.lower, names):
                self.addresses += values
        own = dict.fromkeys(("meta", name) for name in names)
        if not own and (tag == "time" or "datetime" in attributes):
            own = {("time", "datetime"): None}
        for name, value in attributes.items():
            is_own = own and name in ("content", "datetime")
            for kind, word in own if is_own else [("attribute", name)] * (name not in _NO_STAMPS):
                self.note(kind, word, value)
        if tag == "meta":
            return
        if values:
            for (kind, name), value in product(self._named, values):
                self.note(kind, name, value)
            self._named = {}
            return
        named = (attributes.get("id", ""), *attributes.get("class", "").split())
        own |= {("element", name): None for name in named if is_timed(name)}
        own |= {("element", tag): None} if states_time(tag) else {}
        title = attributes.get("title", "")
        if moment_of(title) is not None:  # the text may say "2 hours ago"
            for kind, name in own:
                self.note(kind, name, title)
        elif own and tag not in _VOID:
            self._open = self._open if self._named else tag
            self._named |= own

    def note(self, kind: str, name: str, text: str) -> None:
        self.stamps += stamps_in(kind, name, text)

    def _part(self, tag: str) -> None:
        if tag not in _WITHIN_A_LINE:
            self.parts.append("\n")
            self._lines.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._part(tag)
        text = "".join(self._named_text)
        if text.strip() or tag == self._open:
            for kind, name in self._named:
                self.note(kind, name, text)
            self._named, self._named_text = {}, []
        if tag == "script" and self._script is not None:
            script = "".join(self._script)
            self._read_linked_data(script) if self._is_linked_data else self.note("script", "", script)
        self._end_hidden(tag)
        self._script, self._is_style = None, False

    def _end_hidden(self, tag: str) -> None:
        """Close what an end tag ends, as browsers do where tags cross; where it is not certain, it ends nothing."""
        for place in range(len(self._hidden) - 1, max(-1, len(self._hidden) - _DEEPEST), -1):
            opened = self._hidden[place]
            if opened == tag:
                del self._hidden[place:]
                return
            is_within = tag in _WITHIN_A_LINE and opened not in _WITHIN_A_LINE
            if is_within or opened in _ROOMS or (opened in _TABLE and tag not in _TABLE):
                return

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
        elif not self._is_style:
            self.parts.append(data)
            if self._named:
                self._named_text.append(data)
            if not self._hidden:
                self._texts.append(data)
                self._lines.append(data)
            elif self._hidden[-1] == "title":
                self.labels.append(data)

    def readings(self) -> tuple[str, ...]:
        return "\n".join(self._texts), "".join(self._lines)

    def handle_comment(self, data: str) -> None:
        self.note("comment", "", data)
        match = _SAVED_FROM.match(data)
        if match is not None:
            self.addresses.append(match[1])

    def close(self) -> None:
        super().close()
        if self._script is not None:  # it has no end
            raise _Unreadable

    def _read_linked_data(self, text: str) -> None:
        """Note what JSON-LD states: an object is a tuple of pairs, so that of a key that appears twice both count."""
        text = _WRAPPING.sub("", _WRAPPING.sub("", text)).strip()
        try:
            document = json.loads(text, strict=False, object_pairs_hook=tuple) if text else None
        except (ValueError, RecursionError):
            raise _Unreadable from None
        self.addresses += _main_entities(document)
        for name, value in _members(document, ""):
            if isinstance(value, str) and name:
                self.labels.append(value)
            if not isinstance(value, bool):
                self.note("json-ld", name, str(value))


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether browsers show nothing of an element at first. What a style sheet hides is not known."""
    if tag in _UNSEEN or "hidden" in attributes or "popover" in attributes:
        return True
    if tag in ("dialog", "details") and "open" not in attributes:
        return True
    style = _STYLE_COMMENT.sub("", attributes.get("style", "")).lower()
    return _HIDING.search(style) is not None or ("overflow" in style and _SQUEEZING.search(style) is not None)


def _members(document: Any, around: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of a document, each with its name, or with the one around it that states a time."""
    pending = [(around, document)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, list):
            pending += [(name, member) for member in reversed(value)]
        elif isinstance(value, tuple):
            for key, member in reversed(value):
                is_outer = key.startswith("@") or (states_time(name) and not states_time(key))
                if key != "@type":
                    pending.append((name if is_outer else key, member))
        elif value is not None:
            yield name, value


def _main_entities(document: Any) -> Iterator[str]:
    """Yield the addresses of the page itself, and not those of what it lists."""
    for top in document if isinstance(document, list) else [document]:
        for name, value in top if isinstance(top, tuple) else ():
            if name == "@graph":
                yield from _main_entities(value)
            elif name == "mainEntityOfPage":
                yield from (text for key, text in _members(value, name) if key == name and isinstance(text, str))


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
