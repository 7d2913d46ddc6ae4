"""Lay a page's elements out as lines: plain text, or Markdown. Pure.

>>> from selectolax.lexbor import LexborHTMLParser
>>> page = LexborHTMLParser("<h2>News</h2><ul><li><a href='/a'>First</a> item<li>Second</ul>")
>>> print(laid_out(page.body, lambda link: f"https://example.com{link}"))
## News
<BLANKLINE>
- [First](https://example.com/a) item
- Second
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# A paragraph stands apart from what is around it, a line does not.
_PARAGRAPHS = frozenset({*_HEADINGS, "p", "ul", "ol", "dl", "table", "blockquote", "pre", "hr", "figure", "article",
                         "section"})  # fmt: skip
_LINES = frozenset({"div", "li", "dt", "dd", "tr", "br", "main", "header", "footer", "aside", "address", "form",
                    "center", "fieldset", "figcaption", "caption", "details", "summary", "body", "tbody", "thead",
                    "tfoot", "legend"})  # fmt: skip
_CELLS = ("td", "th")
# A cell with more text, or more elements, than this is a column of a page that a table lays out.
_LONGEST_CELL = 200
_MOST_NODES = 400
_SPACE = re.compile(r"\s+")


# Returns the address that a link leads to; None if that is no page.
Linked = Callable[[str], str | None]


def laid_out(root: LexborNode, linked: Linked | None = None) -> str:
    """Return the text of an element; with ``linked``, as Markdown with headings and links."""
    writer = _Writer(linked)
    for node, is_entered in _walk(root):
        if is_entered:
            writer.enter(node)
        else:
            writer.leave(node)
    return writer.text()


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each element on entering and on leaving it. Not recursive: pages nest thousands of elements."""
    yield root, True
    waiting = [(root, root.iter(include_text=True))]
    while waiting:
        node, children = waiting[-1]
        child = next(children, None)
        if child is None:
            waiting.pop()
            yield node, False
        else:
            yield child, True
            waiting.append((child, child.iter(include_text=True)))


def _is_short(cell: LexborNode) -> bool:
    """Return whether an element is a cell of a row. No more than so much is read: cells nest in cells."""
    length = 0
    for number, (node, is_entered) in enumerate(_walk(cell)):
        length += len(node.text_content or "") if is_entered and node.tag == "-text" else 0
        if length > _LONGEST_CELL or number > _MOST_NODES:
            return False
    return True


class _Writer:
    """The lines by now, and the ``line`` that is being written."""

    def __init__(self, linked: Linked | None) -> None:
        self.linked = linked
        self.lines: list[str] = []
        self.line = ""
        self.lists = self.verbatim = 0
        self.cells: list[bool] = []  # of each open cell, whether it is one of a row
        self.links: list[tuple[int, int]] = []  # of each open link, the line and the place in it where it begins

    def enter(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == "-text":
            self._write(node.text_content or "")
            return
        self._break(tag)
        if tag in ("ul", "ol"):
            self.lists += 1
        elif tag == "pre":
            self.verbatim += 1
        elif tag in _CELLS:
            self.cells.append(_is_short(node))
        elif tag == "li" and not self.line:
            self.line = "  " * max(0, self.lists - 1) + "- "
        elif tag in _HEADINGS and self.linked is not None and not self.line:
            self.line = "#" * int(tag[1]) + " "
        elif tag == "a":
            self.links.append((len(self.lines), len(self.line)))

    def leave(self, node: LexborNode) -> None:
        tag = node.tag
        if tag in ("ul", "ol"):
            self.lists -= 1
        elif tag == "pre":
            self.verbatim -= 1
        elif tag == "a":
            self._link(node)
        elif tag in _CELLS and self.cells.pop() and self.line.strip():
            self.line = self.line.rstrip() + " | "
        self._break(tag)

    def text(self) -> str:
        self._end_line()
        return "\n".join(self.lines).strip("\n")

    def _write(self, text: str) -> None:
        if self.verbatim:
            *whole, rest = text.split("\n")
            for line in whole:
                self.lines.append(self.line + line)
                self.line = ""
            self.line += rest
            return
        words = _SPACE.sub(" ", text)
        self.line += words[1:] if self.line[-1:] in ("", " ") and words.startswith(" ") else words

    def _link(self, node: LexborNode) -> None:
        line, place = self.links.pop() if self.links else (-1, 0)
        target = None if self.linked is None else self.linked(node.attributes.get("href") or "")
        words = self.line[place:].strip()
        if target is not None and line == len(self.lines) and words:
            self.line = f"{self.line[:place]}[{words}]({target})"

    def _break(self, tag: str | None) -> None:
        if self.cells and self.cells[-1]:
            if tag in _PARAGRAPHS or tag in _LINES:
                self._write(" ")
            return
        if tag in _PARAGRAPHS or tag in _LINES:
            self._end_line()
        # An item's own lists belong to it, and do not stand apart.
        if tag in _PARAGRAPHS and not (self.lists and tag in ("ul", "ol", "p")) and self.lines and self.lines[-1]:
            self.lines.append("")

    def _end_line(self) -> None:
        line = self.line.rstrip().removesuffix(" |").rstrip()
        if line.strip(" -#"):
            self.lines.append(line)
        self.line = ""
