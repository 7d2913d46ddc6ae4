"""Lay a page's elements out as lines: plain text, or Markdown. Pure.

>>> from selectolax.lexbor import LexborHTMLParser
>>> page = LexborHTMLParser("<h2>News</h2><ul><li><a href='/a'>First</a> item<li>Second</ul>")
>>> print(laid_out(page.body, Looks(page), lambda link: f"https://example.com{link}"))
## News
<BLANKLINE>
- [First](https://example.com/a) item
- Second
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch_providers.markup.looks import WITHOUT_SIZE, Looks, walk
from pit_fetch_providers.markup.marks import BACK, DEEPEST, LOWERED, RAISED, resolved, visible
from pit_fetch_providers.markup.numbering import BULLET, Numbering
from pit_fetch_providers.markup.styles import SEAM, Display, Gap, Look, Room, Shift, is_filled

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# A paragraph stands apart from what is around it, a line does not.
_PARAGRAPHS = frozenset({*_HEADINGS, "p", "ul", "ol", "dl", "table", "blockquote", "pre", "hr", "figure", "article",
                         "section"})  # fmt: skip
_LINES = frozenset({"div", "li", "dt", "dd", "tr", "br", "main", "header", "footer", "aside", "address", "form",
                    "center", "fieldset", "figcaption", "caption", "details", "summary", "body", "tbody", "thead",
                    "tfoot", "legend", "nav", "dialog", "option", "optgroup", "menu", "dir", "search", "hgroup",
                    "listing", "xmp", "frame"})  # fmt: skip
# They stand in a line, and what is on both sides of one does not run together.
_OBJECTS = frozenset({"button", "select", "input", "textarea", "meter", "progress"})
# Nor on both sides of one of these, if it has a width.
_PICTURES = frozenset({"img", "svg", "canvas", "object", "iframe", "video", "audio", "embed"})
# Nor do figures on both sides of one of these.
_SEAMS = frozenset({"label", "text", "tspan", "s", "del", "strike", "rt", "marquee", "mtr", "mtd", "mspace",
                    "msqrt"})  # fmt: skip
_KINDS: Mapping[str, Display] = {
    **dict.fromkeys(_SEAMS | _OBJECTS | _PICTURES, "piece"),
    **dict.fromkeys(_PARAGRAPHS | _LINES, "line"),
}
_CELLS = ("td", "th")
# What has a marker of its own, or holds what has one.
_ITEMS = frozenset({"li", "ul", "ol"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_READ = frozenset({*_HEADINGS, *_CELLS, *_LISTS, "li", "pre", "a", "q"})
# A cell with more text, or more elements, than this is a column of a page that a table lays out.
_LONGEST_CELL = 200
_MOST_NODES = 200
# Of a box, no more nodes are read to see whether its text fills it: boxes nest in boxes.
_MOST_WITHIN = 20
# To add to a longer line costs its length again: its beginning is put aside. Links of more than so much are not shown.
_LONGEST_LINE, _KEPT = 4_000, 100
_LONGEST_LINK = 100_000
_DEEPEST_INDENT = 20
_SPACE = re.compile(r"\s+")
_SHIFTS = {"sup": Shift(RAISED), "sub": Shift(LOWERED)}
_SMALL = ("small", "big")
# Whose letters may have another size than those around them.
_INLINE = frozenset({*_SMALL, "font", "span", "b", "i", "em", "strong", "u", "a"})
_QUOTES = {True: "\u201c", False: "\u201d"}  # as a page shows <q>, on entering and on leaving it
_POINTS = frozenset(".,")
_SHOWN = re.compile(r"\S")
# More than a pixel.
_WIDE = re.compile(r"\s*0*(?:[2-9]|1[0-9])")
_FIRST_LETTER = re.compile(r"(?:^|\W)[^\W\d_]$")
# Returns the address that a link leads to; None if that is no page.
Linked = Callable[[str], str | None]


def laid_out(root: LexborNode, looks: Looks, linked: Linked | None = None) -> str:
    """Return the text of an element; with ``linked``, as Markdown with headings and links."""
    writer = _Writer(looks, linked)
    for node, tag, look, is_entered, state in walk(root, looks):
        if tag == "-text":
            writer.write(node.text_content or "", state)
        elif is_entered:
            writer.enter(node, tag, look, state)
        else:
            writer.leave(node, tag, look, state)
    return writer.text()


def is_short(cell: LexborNode, looks: Looks) -> bool:
    """Return whether an element is as short as a cell of a row. No more than so much is read: cells nest in cells."""
    length = 0
    for nodes, text in enumerate(_texts_within(cell, looks, _MOST_NODES + 1)):
        length += len(text)
        if length > _LONGEST_CELL or nodes > _MOST_NODES:
            return False
    return True


def _texts_within(root: LexborNode, looks: Looks, most: int) -> Iterator[str]:
    """Yield the text of each node of an element, from ``root`` on, "" for another element.

    What is not shown is not read, nor are more than so many children of one element.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.tag == "-text":
            yield node.text_content or ""
        else:
            yield ""
            if not (looks.of(node).is_gone or looks.of(node).is_left_out):
                waiting += islice(node.iter(include_text=True), most)


def _beside(node: LexborNode, tag: str) -> Gap:
    """Return what a piece of a line shows on both of its sides."""
    is_wide = tag in _PICTURES and _WIDE.match(node.attributes.get("width") or "")
    return " " if tag in _OBJECTS or is_wide else SEAM


def _room(node: LexborNode, room: Room | None, looks: Looks) -> Gap:
    """Return what a page shows between the text of a box and its edge. Only the beginning of a long text is read."""
    if room is None:
        return ""
    beginning = islice(_texts_within(node, looks, _MOST_WITHIN), _MOST_WITHIN)
    words = [word for text in beginning for word in text[:_LONGEST_CELL].split()]
    return "" if is_filled(room, words) else " "


def _numbering(node: LexborNode) -> Numbering:
    attributes = node.attributes
    count = sum(child.tag == "li" for child in node.iter()) if "reversed" in attributes else 0
    return Numbering.of(node.tag or "", attributes, count)


class _Shifted(NamedTuple):
    """A raised or lowered element: its number, whether a sign marks it, and whether it may begin a figure."""

    number: int
    is_marked: bool
    may_begin: bool


class _Writer:
    """The lines by now, and the ``line`` that is being written."""

    def __init__(self, looks: Looks, linked: Linked | None) -> None:
        self.looks = looks
        self.linked = linked
        self.shifted: list[_Shifted] = []  # each of these that is open
        self.sized: dict[int, bool] = {}  # of each element that was asked about, what _is_sized says
        self.lines: list[str] = []
        self.line = ""
        self.begun: list[str] = []  # what stands before it in the same line
        self.marker = ""  # what was put before the words of the line
        self.lists: list[Numbering] = []  # of each open list
        self.around: dict[int, Numbering] = {}  # of the items that are in none, by what they are in
        self.verbatim = 0
        self.cells: list[bool] = []  # of each open cell, whether it is one of a row
        self.links: list[tuple[int, int]] = []  # of each open link, the line and the place in it where it begins

    def write(self, text: str, state: int) -> None:
        """Write a text. One that is invisible keeps its room."""
        if not state:
            self._write(text)
        elif not state & WITHOUT_SIZE:
            self._write(_SHOWN.sub(" ", text))

    def enter(self, node: LexborNode, tag: str, look: Look, state: int) -> None:
        if look.is_left_out:
            self._break(_KINDS.get(tag, "piece"), node, tag, ends_marker=False)
            return
        kind = look.display or _KINDS.get(tag)
        shift = None if kind == "line" or tag in _CELLS else _SHIFTS.get(tag) or look.shift
        if shift is not None and not shift.is_sure and not self._is_sized(node):
            shift = None
        if kind is not None:
            self._break(kind, node, tag, ends_marker=tag in _ITEMS)
        before = look.before or _room(node, look.room_before, self.looks)
        if before and kind != "line" and (shift is None or self.line.endswith(BACK)):
            self._part(before)
        if tag in _READ:
            self._begin(node, tag, state)
        if shift is not None:
            self._shift(node.mem_id, shift, is_small=look.is_small)

    def leave(self, node: LexborNode, tag: str, look: Look, state: int) -> None:
        is_shifted = bool(self.shifted) and self.shifted[-1].number == node.mem_id
        if is_shifted:
            self._end_shift()
        if tag in _READ:
            self._finish(node, tag, state)
        kind = look.display or _KINDS.get(tag)
        behind = look.behind or _room(node, look.room_behind, self.looks)
        if behind and kind != "line":
            self._part(SEAM if look.is_initial and _FIRST_LETTER.search(self.line[-2:]) else behind)
        if kind is not None:
            self._break(kind, node, tag, ends_marker=tag in _ITEMS or tag in _HEADINGS)

    def _is_sized(self, node: LexborNode) -> bool:
        """Return whether an element, or one around nothing else, may have letters of another size than its line."""
        asked, is_sized = list[int](), False
        while node.mem_id not in self.sized:
            asked.append(node.mem_id)
            is_sized = node.tag in _SMALL or "size" in node.attributes or self.looks.of(node).is_sized
            parent = node.parent
            is_alone = node.prev is None and node.next is None
            if is_sized or parent is None or parent.tag not in _INLINE or not is_alone:
                break
            node = parent
        self.sized.update(dict.fromkeys(asked, self.sized.get(node.mem_id, is_sized)))
        return self.sized[node.mem_id]

    def _begin(self, node: LexborNode, tag: str, state: int) -> None:
        if tag in _LISTS:
            self.lists.append(_numbering(node))
        elif tag == "pre":
            self.verbatim += 1
        elif tag in _CELLS:
            self.cells.append(is_short(node, self.looks))
        elif tag == "li":
            self._begin_item(node)
        elif tag == "q":
            self.write(_QUOTES[True], state)
        elif tag == "a" and self.linked is not None:
            self.links.append((len(self.lines), len(self.line)))
        elif tag in _HEADINGS and self.linked is not None and not self.line:
            self.line = self.marker = "#" * int(tag[1]) + " "

    def _finish(self, node: LexborNode, tag: str, state: int) -> None:
        if tag in _LISTS:
            self.lists.pop()
        elif tag == "pre":
            self.verbatim -= 1
        elif tag in _CELLS:
            self.cells.pop()
            self._part_from_next_cell()
        elif tag == "q":
            self.write(_QUOTES[False], state)
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

    def _shift(self, number: int, shift: Shift, *, is_small: bool) -> None:
        is_attached = self.line[-1:] not in ("", " ")
        is_marked = len(self.shifted) < DEEPEST and (shift.is_sure or is_attached)
        may_begin = shift.sign == LOWERED and not (shift.is_sure or is_small)
        self.shifted.append(_Shifted(number, is_marked, may_begin))
        self._add(shift.sign if is_marked else "")

    def _end_shift(self) -> None:
        """End what is raised or lowered. Where no sign says so, as at the left of a figure, it is parted from it.

        What ends with a point, and stands lower in letters that are not small, is the beginning of a figure.
        """
        shifted = self.shifted.pop()
        if shifted.is_marked:
            self._add(BACK)
        elif not shifted.may_begin or self.line[-1:] not in _POINTS:
            self._part(SEAM)

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
        numbering = self.lists[-1] if self.lists else self._outside_of_a_list(node)
        marker = numbering.take(node.attributes)
        if marker and not self.line:
            self.line = self.marker = "  " * min(max(0, len(self.lists) - 1), _DEEPEST_INDENT) + marker
        elif marker != BULLET:  # in a cell
            self._add(marker)

    def _outside_of_a_list(self, item: LexborNode) -> Numbering:
        """Return the numbering of items that are in no list, which what is around them may style."""
        around = item.parent
        if around is None:
            return Numbering.of("", {})
        if around.mem_id not in self.around:
            self.around[around.mem_id] = Numbering.of("", around.attributes)
        return self.around[around.mem_id]

    def _part(self, gap: Gap) -> None:
        """Part what follows from what stands before it in the line: with a blank, or figures alone."""
        if gap == " ":
            self._write(" ")
        else:
            last = self.line[-1:]
            self._add(SEAM if last.isdigit() or last in _POINTS else "")

    def _break(self, kind: Display, node: LexborNode, tag: str, *, ends_marker: bool) -> None:
        """Part an element from what stands before it, or behind it.

        Where nothing but the marker of an item or a heading stands before it, it continues the line.
        """
        if kind == "inline":
            return
        if kind == "piece":
            self._part(_beside(node, tag))
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
