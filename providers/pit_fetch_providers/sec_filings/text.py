"""The text of a document: HTML and inline XBRL as lines, plain text as it is, and passages that hold a phrase. Pure.

selectolax parses HTML. What inline XBRL hides (its header of contexts and units) and what a browser does not show is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pit_fetch_providers.markup import folding
from pit_fetch_providers.markup.closing import closed, is_xml
from pit_fetch_providers.markup.depth import flattened, is_too_large
from pit_fetch_providers.markup.layout import laid_out
from pit_fetch_providers.markup.looks import Looks
from pit_fetch_providers.markup.marks import visible

# Plain text has tags of its own, <TABLE> among them.
_HTML = re.compile(r"<(?:!doctype\s+html|html|body)\b", re.IGNORECASE)
_HTML_WITHIN = 4_096
# A sign of currency, and what closes a figure, stand in cells of their own. In a row whose figures are years they head
# columns.
_FIGURE = r"(?:[$€£¥] ?|[(+−–—-])*(?:\d[\d,]*+\.?\d*+|\.\d+|[—–-])"
_MARKED = r"(?:\^[^\s|]*)?"
_ROW = re.compile(r"^.* \|.*$", re.MULTILINE)
_OF_FIGURES = re.compile(rf"(?:^|\| )(?!(?:19|20)\d\d{_MARKED}(?: |$)){_FIGURE}[)%]*{_MARKED}(?: \||$)")
_CURRENCY = re.compile(r"(^|\| )(\(?[$€£¥]) \| (?=[(\d.])")
_CLOSING = re.compile(rf"((?:^|\| ){_FIGURE}{_MARKED}) \| ([)%])(?:(?: \|)? ?(?!\2)([)%]))?(?= \||\^|$)")
# Marks of the plain text of the 1990s. <F1> is none of them: it is what a footnote is named by.
_MARKS = re.compile(r"^[ \t]*(?:</?(?:PAGE|TABLE|CAPTION|S|C|FN)>[ \t]*)+\r?\n?", re.MULTILINE | re.IGNORECASE)

_AROUND = 300
_MOST = 1_500


class Passage(NamedTuple):
    """A part of a text that holds the phrase, and where it begins in it."""

    position: int
    text: str


def of_document(source: str, file: str = "") -> str | None:
    """Return the text of a document, which came in ``file``; None for a page that is too large to be read."""
    if not file.lower().endswith((".htm", ".html")) and not _HTML.search(source[:_HTML_WITHIN]):
        return _of_plain_text(source)
    return None if is_too_large(source) else _of_page(source)


def passages(text: str, phrase: str) -> Iterator[Passage]:
    """Yield the paragraphs of ``text`` that hold ``phrase``, however their letters, signs and blanks are written."""
    start = end = -1
    for first, last in _places(text, phrase):
        if last <= end:
            continue
        after = start + 1  # no two begin at one place
        start, end = _paragraph(text, first, last)
        start = max(start, after)
        yield Passage(start, text[start:end])


def _places(text: str, phrase: str) -> Iterator[tuple[int, int]]:
    """Yield where each place of ``phrase`` begins and ends, also of those that overlap."""
    words = folding.folded(phrase).text.split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    folded = folding.folded(text)
    match = pattern.search(folded.text) if words else None
    while match is not None:
        yield folded.shown(*match.span())
        match = pattern.search(folded.text, match.start() + 1)


def _paragraph(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the paragraph around a place begins and ends, at most so many characters of it."""
    # No more of the text is looked at than can be served.
    before = text.rfind("\n\n", max(0, start - _AROUND - 1), start)
    first = before + 2 if before >= 0 else max(0, start - _AROUND)
    after = text.find("\n\n", end, first + _MOST + 1)
    last = after if after >= 0 else min(len(text), first + _MOST)
    return first, max(last, end)


def _of_page(source: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(flattened(closed(source, is_xml=is_xml(source))))
    if page.body is None:
        return ""
    return _ROW.sub(_with_its_signs, laid_out(page.body, Looks(page)))


def _with_its_signs(match: re.Match[str]) -> str:
    """Return a row with the signs of each figure at it."""
    row = match[0]
    return _CLOSING.sub(r"\1\2\3", _CURRENCY.sub(r"\1\2", row)) if _OF_FIGURES.search(row) else row


def _of_plain_text(source: str) -> str:
    lines = _MARKS.sub("\n", visible(source).replace("\r\n", "\n")).splitlines()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")
