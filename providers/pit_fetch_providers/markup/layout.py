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
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from pit_fetch_providers.markup.marks import BACK, DEEPEST, LOWERED, RAISED, resolved, visible
from pit_fetch_providers.markup.numbering import BULLET, Numbering
from pit_fetch_providers.markup.styles import Display, Shift, display_of, shift_of, sizes

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# A paragraph stands apart from what is around it, a line does not.
_PARAGRAPHS = frozenset({*_HEADINGS, "p", "ul", "ol", "dl", "table", "blockquote", "pre", "hr", "figure", "article",
                         "section"})  # fmt: skip
_LINES = frozenset({"div", "li", "dt", "dd", "tr", "br", "main", "header", "footer", "aside", "address", "form",
                    "center", "fieldset", "figcaption", "caption", "details", "summary", "body", "tbody", "thead",
                    "tfoot", "legend", "nav", "dialog", "option", "optgroup", "menu", "dir", "search", "hgroup",
                    "listing", "xmp", "frame", "noframes"})  # fmt: skip
# They stand in a line, but figures on both sides of one do not run together.
_SEAMS = frozenset({"img", "button", "select", "input", "textarea", "label", "svg", "canvas", "object", "iframe",
                    "video", "audio", "meter", "progress", "embed", "text", "s", "del", "strike"})  # fmt: skip
_KINDS: Mapping[str, Display] = {**dict.fromkeys(_SEAMS, "piece"), **dict.fromkeys(_PARAGRAPHS | _LINES, "line")}
_CELLS = ("td", "th")
# What has a marker of its own, or holds what has one.
_ITEMS = frozenset({"li", "ul", "ol"})
_READ = frozenset({*_HEADINGS, *_CELLS, "ul", "ol", "li", "pre", "a"})
# A cell with more text, or more elements, than this is a column of a page that a table lays out.
_LONGEST_CELL = 200
_MOST_NODES = 400
# To add to a longer line costs its length again: its beginning is put aside. Links of more than so much are not shown.
_LONGEST_LINE, _KEPT = 4_000, 100
_LONGEST_LINK = 100_000
_DEEPEST_INDENT = 20
_SPACE = re.compile(r"\s+")
# What may be raised or lowered: by its tag, by its place in the line, or moved by so much.
_SHIFTED = "sup, sub, [style*='vertical-align' i]:not(td, th, tr), [style*='relative' i]:not(td, th, tr, div)"
_SMALL = ("small", "big")
# Whose letters may have another size than those around them.
_INLINE = frozenset({*_SMALL, "font", "span", "b", "i", "em", "strong", "u", "a"})
_DISPLAYED = "[style*='display' i]:not(td, th, tr, table)"
# Returns the address that a link leads to; None if that is no page.
Linked = Callable[[str], str | None]


def laid_out(root: LexborNode, linked: Linked | None = None) -> str:
    """Return the text of an element; with ``linked``, as Markdown with headings and links."""
    writer = _Writer(linked, dict(_shifts(root)), dict(_displays(root)))
    for node, is_entered in _walk(root):
        if is_entered:
            writer.enter(node)
        else:
            writer.leave(node)
    return writer.text()


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each text, and each element on entering and on leaving it. Not recursive: pages nest thousands."""
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
            if child.tag != "-text":
                waiting.append((child, child.iter(include_text=True)))


def _shifts(root: LexborNode) -> Iterator[tuple[int, Shift]]:
    """Yield each inline element that is raised or lowered, by its number."""
    for node in root.css(_SHIFTED):
        tag = node.tag or ""
        if tag in ("sup", "sub"):
            yield node.mem_id, Shift(RAISED if tag == "sup" else LOWERED)
        elif tag not in _PARAGRAPHS and tag not in _LINES and tag not in _CELLS:
            shift = shift_of(node.attributes.get("style") or "")
            if shift is not None and (shift.is_sure or _is_sized(node)):
                yield node.mem_id, shift


def _is_sized(node: LexborNode) -> bool:
    """Return whether an element, or one around nothing else, may have letters of another size than its line."""
    while node.tag not in _SMALL and "size" not in node.attributes and not sizes(node.attributes.get("style") or ""):
        parent = node.parent
        if parent is None or parent.tag not in _INLINE or node.prev is not None or node.next is not None:
            return False
        node = parent
    return True


def _displays(root: LexborNode) -> Iterator[tuple[int, Display]]:
    """Yield each element whose style makes it a line of its own, or a piece of one, by its number."""
    for node in root.css(_DISPLAYED):
        display = display_of(node.attributes.get("style") or "")
        if display is not None:
            yield node.mem_id, display


def is_short(cell: LexborNode) -> bool:
    """Return whether an element is as short as a cell of a row. No more than so much is read: cells nest in cells."""
    length = 0
    for number, (node, is_entered) in enumerate(_walk(cell)):
        length += len(node.text_content or "") if is_entered and node.tag == "-text" else 0
        if length > _LONGEST_CELL or number > _MOST_NODES:
            return False
    return True


def _numbering(node: LexborNode) -> Numbering:
    attributes = node.attributes
    count = sum(child.tag == "li" for child in node.iter()) if "reversed" in attributes else 0
    return Numbering.of(attributes, count)


class _Writer:
    """The lines by now, and the ``line`` that is being written."""

    def __init__(self, linked: Linked | None, shifts: Mapping[int, Shift], displays: Mapping[int, Display]) -> None:
        self.linked = linked
        self.displays = displays  # of the elements that are lines by their styles, by their numbers
        self.shifts = shifts  # of the elements that are raised or lowered, by their numbers
        self.shifted: list[tuple[int, bool]] = []  # of each of these that is open, its number, and whether it is marked
        self.lines: list[str] = []
        self.line = ""
        self.begun: list[str] = []  # what stands before it in the same line
        self.marker = ""  # what was put before the words of the line
        self.lists: list[Numbering | None] = []  # of each open list, its numbers if it has some
        self.verbatim = 0
        self.cells: list[bool] = []  # of each open cell, whether it is one of a row
        self.links: list[tuple[int, int]] = []  # of each open link, the line and the place in it where it begins

    def enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._write(node.text_content or "")
            return
        self._break(node, tag, ends_marker=tag in _ITEMS)
        if tag in _READ:
            self._begin(node, tag)
        if self.shifts and node.mem_id in self.shifts:
            self._shift(node.mem_id)

    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if self.shifted and self.shifted[-1][0] == node.mem_id:
            self._add(BACK if self.shifted.pop()[1] else "")
        if tag in _READ:
            self._finish(node, tag)
        self._break(node, tag, ends_marker=tag in _ITEMS or tag in _HEADINGS)

    def _begin(self, node: LexborNode, tag: str) -> None:
        if tag in ("ul", "ol"):
            self.lists.append(_numbering(node) if tag == "ol" else None)
        elif tag == "pre":
            self.verbatim += 1
        elif tag in _CELLS:
            self.cells.append(is_short(node))
        elif tag == "li":
            self._begin_item(node)
        elif tag == "a" and self.linked is not None:
            self.links.append((len(self.lines), len(self.line)))
        elif tag in _HEADINGS and self.linked is not None and not self.line:
            self.line = self.marker = "#" * int(tag[1]) + " "

    def _finish(self, node: LexborNode, tag: str) -> None:
        if tag in ("ul", "ol"):
            self.lists.pop()
        elif tag == "pre":
            self.verbatim -= 1
        elif tag in _CELLS:
            self.cells.pop()
            self._part_from_next_cell()
        elif tag == "a" and self.linked is not None:
            self._link(node, self.linked)

    def text(self) -> str:
        self._end_line()
        return "\n".join(self.lines).strip("\n")

    def _write(self, text: str) -> None:
        text = visible(text)
        if self.verbatim:
            *whole, rest = text.split("\n")
            for line in whole:
                self.lines.append(resolved(self._taken() + line))
            self._add(rest)
            return
        words = _SPACE.sub(" ", text)
        self._add(words[1:] if self.line[-1:] in ("", " ") and words.startswith(" ") else words)

    def _add(self, text: str) -> None:
        self.line += text
        if len(self.line) > (_LONGEST_LINK if self.links else _LONGEST_LINE):
            self.begun.append(self.line[:-_KEPT])
            self.line = self.line[-_KEPT:]
            self.links = [(-1, 0)] * len(self.links)

    def _taken(self) -> str:
        """Return the line, and begin another."""
        line = "".join((*self.begun, self.line))
        self.begun, self.line, self.marker = [], "", ""
        return line

    def _shift(self, number: int) -> None:
        shift, is_attached = self.shifts[number], self.line[-1:] not in ("", " ")
        is_marked = len(self.shifted) < DEEPEST and (shift.is_sure or is_attached)
        self.shifted.append((number, is_marked))
        self._add(shift.sign if is_marked else "")

    def _part_from_next_cell(self) -> None:
        if self.line.strip():
            self.line = self.line.rstrip()
            self._add(" | ")

    def _link(self, node: LexborNode, linked: Linked) -> None:
        line, place = self.links.pop() if self.links else (-1, 0)
        target = linked(node.attributes.get("href") or "")
        words = self.line[place:].strip()
        if target is not None and line == len(self.lines) and words:
            self.line = f"{self.line[:place]}[{words}]({target})"

    def _begin_item(self, node: LexborNode) -> None:
        numbering = self.lists[-1] if self.lists else None
        marker = BULLET if numbering is None else numbering.take(node.attributes.get("value"))
        if not self.line:
            self.line = self.marker = "  " * min(max(0, len(self.lists) - 1), _DEEPEST_INDENT) + marker
        elif marker != BULLET:  # in a cell
            self._add(marker)

    def _break(self, node: LexborNode, tag: str, *, ends_marker: bool) -> None:
        """Part an element from what stands before it, or behind it.

        Where nothing but the marker of an item or a heading stands before it, it continues the line.
        """
        kind = self.displays.get(node.mem_id) or _KINDS.get(tag) if self.displays else _KINDS.get(tag)
        if kind is None:
            return
        if kind == "piece":
            self._add(BACK if self.line[-1:].isdigit() else "")
        elif self.cells and self.cells[-1]:
            self._write(" ")
        elif ends_marker or not self.marker or self.begun or self.line != self.marker:
            self._end_line()
            # An item's own lists belong to it, and do not stand apart.
            is_apart = tag in _PARAGRAPHS and not (self.lists and tag in ("ul", "ol", "p"))
            if is_apart and self.lines and self.lines[-1]:
                self.lines.append("")

    def _end_line(self) -> None:
        marker = self.marker.strip()
        line = resolved(self._taken()).rstrip().removesuffix(" |").rstrip()
        if line and line.strip() != marker:
            self.lines.append(line)
