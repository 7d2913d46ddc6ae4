"""Read a captured body: its encoding, its text without navigation, its title, links and dates. Pure.

selectolax parses. Nothing is guessed away: the text is that of ``<main>``, or of the whole page without what HTML
itself marks as navigation, search, scripts and the like. Libraries that guess an article's text drop whole pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from pit_fetch.wire import decode_page
from pit_fetch_providers.page_text import Rendered, Target, parse_page, render
from pit_fetch_providers.wayback import address

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Form = Literal["text", "markdown", "html"]

# How files begin. Some origins call them pages, and some compress pages without saying so.
_GZIP = b"\x1f\x8b"
_FILES = (_GZIP, b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04")
_MOST_UNPACKED = 64_000_000
_TEXTS = ("", "unk", "text/html", "text/plain", "application/xhtml+xml")

# Not part of a page's text, beside what no page shows: navigation, forms, and the archive's own banner.
_SILENT = (
    "svg, object, nav, select, button, input, textarea, dialog, "
    "[role=navigation], [role=search], [role=banner], [role=contentinfo], #wm-ipp-base, #wm-ipp"
)
_HIDDEN = "[aria-hidden=true]"
_MAIN, _MOST_MAINS = "main, [role=main]", 5
_OF_A_PART = ":is(article, main, section) :is(header, footer)"

_PUBLISHED = frozenset({
    "article:published_time", "article:published", "og:published_time", "og:article:published_time", "datepublished",
    "date", "pubdate", "publishdate", "publish-date", "publish_date", "dc.date", "dc.date.issued", "dcterms.date",
    "dcterms.issued", "parsely-pub-date", "sailthru.date", "bt:pubdate",
})  # fmt: skip
_MODIFIED = frozenset({
    "article:modified_time", "article:modified", "og:updated_time", "og:modified_time", "datemodified", "last-modified",
    "lastmod", "dc.date.modified", "dcterms.modified", "last_updated", "last-updated", "revised",
})  # fmt: skip
_IN_JSON = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"\\]{4,40})"')

# Titles of pages that are served in the place of the one that was asked for. A text of this length is one of its own.
_NOTHING = re.compile(
    r"\b404\b|\bnot found\b|\bno longer (?:exists?|available)\b|\bnicht gefunden\b|\bintrouvable\b|\bno encontrada\b",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"access (?:to this page has been )?denied|just a moment|attention required|are you a (?:robot|human)|robot check"
    r"|captcha|verify(?:ing)? (?:you are|that you are|your browser)|before you continue|security check|bot protection"
    r"|(?:cookie|privacy) (?:consent|preferences|settings|wall)|your privacy choices",
    re.IGNORECASE,
)
_WALL_HOSTS = ("consent.", "guce.", "myprivacy.", "cmp.")
_LONG = 5_000
_SHORT = 200
# The limit of what a page states of itself. Only its text is continued in the next answer.
_LONGEST_FIELD = 1_000
_REFRESH = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
_AT_ONCE_SECONDS = 10


class Content(NamedTuple):
    """What a body says. ``text`` is None if it is no text.

    ``refresh`` is where the page leads its reader at once, ``stated`` all dates that it states of itself.
    """

    content_type: str
    text: str | None = None
    title: str | None = None
    links: str | None = None
    published: str | None = None
    modified: str | None = None
    stated: tuple[str, ...] = ()
    refresh: str | None = None
    is_missing: bool = False
    is_access_wall: bool = False
    needs_script: bool = False
    is_empty: bool = False

    @property
    def is_text(self) -> bool:
        return self.text is not None


def read_content(body: bytes, declared: str, url: str, form: Form) -> Content:
    """Return what ``body`` says, with its text in ``form``. ``declared`` is its Content-Type, ``url`` its address."""
    content_type = declared.partition(";")[0].strip().lower()
    if body.startswith(_GZIP) and content_type in _TEXTS:
        body = _unpacked(body)
    if body.startswith(_FILES):
        return Content(content_type)
    if not _is_html(content_type, body):
        is_text = content_type.startswith("text/") or content_type.endswith(("json", "xml", "javascript"))
        return Content(content_type, decode_page(body, declared) if is_text else None, is_empty=not body.strip())
    source = decode_page(body, declared)
    page = parse_page(source, is_xml=content_type == "application/xhtml+xml")
    if page is None:
        return Content(content_type, source if form == "html" else None)
    content = _read_page(page, content_type, url, as_markdown=form == "markdown")
    return content._replace(text=source) if form == "html" else content


def _unpacked(body: bytes) -> bytes:
    """Return what an origin compressed without saying so; ``body`` itself if it is broken or too large."""
    import zlib

    member = zlib.decompressobj(31)
    try:
        content = member.decompress(body, _MOST_UNPACKED)
    except zlib.error:
        return body
    return content if member.eof else body


def _is_html(content_type: str, body: bytes) -> bool:
    if content_type in ("text/html", "application/xhtml+xml"):
        return True
    start = body[:1_024].lower()
    return content_type in ("", "unk", "text/plain") and (b"<!doctype html" in start or b"<html" in start)


def _read_page(page: LexborHTMLParser, content_type: str, url: str, *, as_markdown: bool) -> Content:
    base, mentions_script = _base(page, url), _mentions_script(page)
    head = stated_facts(page, base, content_type)
    frames = [node.attributes.get("src") or "" for node in page.css("frame[src]")]
    shown = _render_main(page, partial(address.resolve_link, base) if as_markdown else None)
    text = shown.text
    links = "\n".join(_links([*((frame, "") for frame in frames), *shown.links], base))
    is_long, is_short = len(text) >= _LONG, len(text) < _SHORT
    returns = head.refresh is not None and address.key(head.refresh) == address.key(url)
    hint = f"{head.title or ''}\n{text[:_SHORT]}"
    return head._replace(
        text=text,
        links=links,
        refresh=None if is_long or returns else head.refresh,
        is_missing=not is_long and bool(_NOTHING.search(head.title or "")),
        is_access_wall=address.host_key(url).startswith(_WALL_HOSTS)
        or (not is_long and bool(_WALL.search(hint)))
        or (is_short and returns),
        needs_script=is_short and (mentions_script or "javascript" in text.lower()),
        is_empty=not (text or links),
    )


def stated_facts(page: LexborHTMLParser, base: str, content_type: str) -> Content:
    """Return what a page says of itself, without its text."""
    stated = list(_dates(page))
    first = dict(reversed(stated))
    return Content(
        content_type=content_type,
        title=_title(page),
        published=first.get("published"),
        modified=first.get("modified"),
        stated=tuple(value for _, value in stated),
        refresh=_refresh(page, base),
    )


def _base(page: LexborHTMLParser, url: str) -> str:
    node = page.css_first("base[href]")
    return url if node is None else address.resolve_link(url, node.attributes.get("href") or "") or url


def _title(page: LexborHTMLParser) -> str | None:
    node = page.css_first("title")
    title = " ".join(node.text().split()) if node is not None else ""
    if not title:
        node = page.css_first('meta[property="og:title"]')
        title = " ".join((node.attributes.get("content") or "").split()) if node is not None else ""
    return title[:_LONGEST_FIELD] or None


def _dates(page: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Yield the dates that the page states of itself, by field."""
    for name, value in _stated_dates(page):
        if name in _PUBLISHED and value.strip():
            yield "published", value.strip()[:_LONGEST_FIELD]
        elif name in _MODIFIED and value.strip():
            yield "modified", value.strip()[:_LONGEST_FIELD]


def _stated_dates(page: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for node in page.css("meta[content], [itemprop][datetime]"):
        attributes = node.attributes
        for naming in ("property", "name", "itemprop"):
            yield (attributes.get(naming) or "").lower(), attributes.get("content") or attributes.get("datetime") or ""
    for node in _outermost(page, 'script[type="application/ld+json"]'):
        yield from ((name.lower(), value) for name, value in _IN_JSON.findall(node.text() or ""))


def _refresh(page: LexborHTMLParser, base: str) -> str | None:
    for node in page.css("meta[http-equiv][content]"):
        match = _REFRESH.match(node.attributes.get("content") or "")
        if (node.attributes.get("http-equiv") or "").lower() == "refresh" and match is not None:
            return address.resolve_link(base, match[2]) if int(match[1]) <= _AT_ONCE_SECONDS else None
    return None


def _mentions_script(page: LexborHTMLParser) -> bool:
    """Return whether a page without text may be one that a script writes."""
    without = any("javascript" in node.text().lower() for node in _outermost(page, "noscript"))
    return without or page.css_first("#root, #app, #__next, app-root, script[src]") is not None


def _outermost(page: LexborHTMLParser, selector: str) -> Iterator[LexborNode]:
    """Yield what a selector selects, but nothing within another such element, whose text holds its own."""
    within: set[int] = set()
    for node in page.css(selector):
        if node.mem_id not in within:
            within.update(inner.mem_id for inner in node.css(selector))
            yield node


def _render_main(page: LexborHTMLParser, target: Target | None) -> Rendered:
    """Return the first main part that has a text, or the body. A page that hides all of itself hides nothing."""
    for silent, hides in ((f"{_SILENT}, {_HIDDEN}", True), (_SILENT, False)):
        left_out = _numbers(page, silent) | (_numbers(page, "header, footer") - _numbers(page, _OF_A_PART))
        for root in (*page.css(_MAIN)[:_MOST_MAINS], page.body):
            shown = render(root, target=target, left_out=left_out, hides=hides) if root is not None else Rendered()
            if shown.text:
                return shown
    return Rendered()


def _numbers(page: LexborHTMLParser, selector: str) -> frozenset[int]:
    return frozenset(node.mem_id for node in page.css(selector) if node.tag not in ("html", "body"))


def _links(links: Iterable[tuple[str, str]], base: str) -> Iterator[str]:
    """Yield each address that the page links to, once, with the words of its first link."""
    seen: set[str] = set()
    for link, words in links:
        target = address.resolve_link(base, link)
        if target is not None and target not in seen:
            seen.add(target)
            yield f"{target} {words}".rstrip()
