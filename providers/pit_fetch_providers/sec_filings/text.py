"""Read the text of a filing's document, and find a phrase in it as people type it. Pure.

HTML and inline XBRL are rendered as lines, and plain text stays as it is:

>>> print(document_text("<html><body><p>Sales<table><tr><td>Products<td>$<td>68,714<td>(8<td>)%</table>"))
Sales
<BLANKLINE>
Products | $68,714 | (8)%

Blanks, quotation marks, dashes and ligatures are compared as those of a keyboard:

>>> [passage.position for passage in find_passages("Before.\\n\\nA non\u2011GAAP \ufb01gure", "non-gaap figure")]
[9]
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pit_fetch_providers.page_text import parse_page, render, strip_invisible

# Plain text has tags of its own, such as <TABLE>.
_HTML = re.compile(r"<(?:!doctype\s+html|html|body)\b", re.IGNORECASE)
_HTML_WITHIN = 4_096
# Filing agents put a currency sign, and a bracket or a percent sign behind a figure, in cells of their own. In a row
# whose figures are years, such signs head columns.
_FIGURE = r"(?:[$€£¥] ?|[(+−–—-])*(?:\d[\d,]*+\.?\d*+|\.\d+|[—–-])"
_MARKED = r"(?:\^[^\s|]*)?"
_ROW = re.compile(r"^.* \|.*$", re.MULTILINE)
_HAS_FIGURE = re.compile(rf"(?:^|\| )(?!(?:19|20)\d\d{_MARKED}(?: |$)){_FIGURE}[)%]*{_MARKED}(?: \||$)")
_CURRENCY = re.compile(r"(^|\| )(\(?[$€£¥]) \| (?=[(\d.])")
_CLOSING = re.compile(rf"((?:^|\| ){_FIGURE}{_MARKED}) \| ([)%])(?:(?: \|)? ?(?!\2)([)%]))?(?= \||\^|$)")
# Page marks of plain text of the 1990s. <F1> is none of them: it names a footnote.
_MARKS = re.compile(r"^[ \t]*(?:</?(?:PAGE|TABLE|CAPTION|S|C|FN)>[ \t]*)+\r?\n?", re.MULTILINE | re.IGNORECASE)

_TYPED = {
    sign: key for key, signs in (("'", "`´‘’‚‛ʼ′‹›"), ('"', "“”„‟″«»"), ("-", "‐‑‒–—―−"), ("/", "⁄∕")) for sign in signs
}
_NOT_ASCII_OR_UPPER = re.compile("[^\0-_a-\x7f]")
# Typewriters and TeX write quotation marks as pairs: ``quoted''.
_IN_PAIRS = ("``", "''")
_FOLDED_SIGNS = re.compile(f"{'|'.join(_IN_PAIRS)}|{_NOT_ASCII_OR_UPPER.pattern}")
# Unicode decomposes 5² to 52, and 5½ to 51/2, which are other figures.
_NOT_DECOMPOSED = ("<super>", "<sub>", "<fraction>")


# Of a paragraph that is longer, so many characters before the phrase are served, and so many in all.
_BEFORE, _MOST = 300, 1_500


class Passage(NamedTuple):
    """A part of a text that holds the phrase, and its position in the text."""

    position: int
    text: str


class Folded(NamedTuple):
    """A text as it is compared. The lists tell of each sign that has another length in it than in the original text."""

    text: str
    ends: list[int]  # where the sign ends in the folded text
    shown_ends: list[int]  # where it ends in the original text
    sizes: list[int]  # its length in the folded text

    def shown(self, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of the folded text begins and ends in the original text."""
        return self._shown(start)[0], self._shown(end - 1)[1]

    def _shown(self, position: int) -> tuple[int, int]:
        """Return where the sign of a folded character begins and ends in the original text."""
        after = bisect_right(self.ends, position)
        if after < len(self.ends) and position >= self.ends[after] - self.sizes[after]:
            width = 2 if self.sizes[after] == 1 else 1  # only for a pair does one character stand
            return self.shown_ends[after] - width, self.shown_ends[after]
        ended, shown = (self.ends[after - 1], self.shown_ends[after - 1]) if after else (0, 0)
        return shown + position - ended, shown + position - ended + 1


def document_text(source: str, file: str = "") -> str | None:
    """Return the text of a document, which came in ``file``; None for a page that is too costly to parse."""
    if not file.lower().endswith((".htm", ".html")) and not _HTML.search(source[:_HTML_WITHIN]):
        return _plain_text(source)
    page = parse_page(source)
    if page is None:
        return None
    return "" if page.body is None else _ROW.sub(_join_signs, render(page.body).text)


def _join_signs(match: re.Match[str]) -> str:
    """Return a row of a table in which each figure and its signs share a cell."""
    row = match[0]
    return _CLOSING.sub(r"\1\2\3", _CURRENCY.sub(r"\1\2", row)) if _HAS_FIGURE.search(row) else row


def _plain_text(source: str) -> str:
    lines = _MARKS.sub("\n", strip_invisible(source).replace("\r\n", "\n")).splitlines()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")


def find_passages(text: str, phrase: str) -> Iterator[Passage]:
    """Yield the paragraphs of ``text`` that hold ``phrase``, however its letters, signs and blanks are written."""
    start = end = -1
    for first, last in _find_places(text, phrase):
        if last <= end:
            continue
        after = start + 1  # no two begin at one place
        start, end = _paragraph_around(text, first, last)
        start = max(start, after)
        yield Passage(start, text[start:end])


def _find_places(text: str, phrase: str) -> Iterator[tuple[int, int]]:
    """Yield where each occurrence of ``phrase`` begins and ends, with those that overlap."""
    words = fold(phrase).text.split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    folded = fold(text)
    match = pattern.search(folded.text) if words else None
    while match is not None:
        yield folded.shown(*match.span())
        match = pattern.search(folded.text, match.start() + 1)


def _paragraph_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the paragraph around an occurrence begins and ends, or the part of it that is served."""
    # Searching no further than can be served keeps the time linear.
    before = text.rfind("\n\n", max(0, start - _BEFORE - 1), start)
    first = before + 2 if before >= 0 else max(0, start - _BEFORE)
    after = text.find("\n\n", end, first + _MOST + 1)
    last = after if after >= 0 else min(len(text), first + _MOST)
    return first, max(last, end)


def fold(text: str) -> Folded:
    """Return ``text`` as it is compared; capital letters are left to the comparison."""
    pieces, ends, shown_ends, sizes = list[str](), list[int](), list[int](), list[int]()
    length = read = 0
    for match in _signs(text):
        sign = _typed(match[0])
        pieces += (text[read : match.start()], sign)
        length += match.start() - read + len(sign)
        read = match.end()
        if len(sign) != len(match[0]):
            ends.append(length)
            shown_ends.append(read)
            sizes.append(len(sign))
    return Folded("".join((*pieces, text[read:])), ends, shown_ends, sizes)


def _signs(text: str) -> Iterator[re.Match[str]]:
    """Yield the signs that people may type in another way."""
    has_pairs = any(pair in text for pair in _IN_PAIRS)
    return (_FOLDED_SIGNS if has_pairs else _NOT_ASCII_OR_UPPER).finditer(text)


@lru_cache(maxsize=4_096)
def _typed(sign: str) -> str:
    """Return what a person types for a character, or for a pair; "" for a character that nobody sees."""
    if sign in _TYPED or sign in _IN_PAIRS:
        return _TYPED.get(sign, '"')
    if unicodedata.decomposition(sign).startswith(_NOT_DECOMPOSED):
        return sign
    return unicodedata.normalize("NFKD", strip_invisible(sign)).casefold()  # in which \u00df is ss
