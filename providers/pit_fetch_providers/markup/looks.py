"""Walk through a page as its reader sees it: what is hidden is passed over, and each element comes with its look. Pure.

>>> from selectolax.lexbor import LexborHTMLParser
>>> page = LexborHTMLParser("<style>.h {float: left}</style><p>5<b hidden>9</b><i style='visibility:hidden'>8</i>")
>>> [(node.text_content, state) for node, tag, _, _, state in walk(page.body, Looks(page)) if tag == "-text"]
[('5', 0), ('8', 1)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pit_fetch_providers.markup.marks import LOWERED, RAISED
from pit_fetch_providers.markup.sheets import Sheet, is_for_screens
from pit_fetch_providers.markup.styles import PLAIN, Look, Shift, look_of, values_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# What no browser shows, wherever it stands, and what it shows in the place of the text within.
_UNSEEN = frozenset({"head", "script", "style", "noscript", "template", "title", "datalist", "ix:header",
                     "annotation", "annotation-xml", "rp", "noembed", "noframes"})  # fmt: skip
_REPLACED = frozenset({"iframe", "audio", "video", "canvas", "meter", "progress", "mphantom"})
# A page without such a doctype is shown in quirks mode.
_STANDARDS = re.compile(
    rb"""<!doctype\s+html\s*(?:>|system|public\s*["']-//w3c//dtd (?:xhtml |html 4\.01?//)"""
    rb"""|public\s*["']-//w3c//dtd html 4\.01 (?:transitional|frameset)//[^"'>]*["']\s*["'])""",
    re.IGNORECASE,
)
_DOCTYPE_WITHIN = 4_096
# With one of these, an image takes more room than its width.
_SPACED = frozenset({"style", "hspace", "border", "class", "id"})
_ROWS = frozenset({"tr", "tbody", "thead", "tfoot"})
_OF_TABLES = frozenset({"table", "td", "th", *_ROWS})
_GONE, _LEFT_OUT, _PIECE = Look(is_gone=True), Look(is_left_out=True), Look(display="piece")
# What stands where in a formula: of each of its parts, how it is shown.
_RAISED, _LOWERED = Look(shift=Shift(RAISED)), Look(shift=Shift(LOWERED))
_FORMULAS = {
    "msup": (PLAIN, _RAISED),
    "msub": (PLAIN, _LOWERED),
    "msubsup": (PLAIN, _LOWERED, _RAISED),
    "mfrac": (_PIECE, _PIECE),
    "mroot": (_PIECE, _PIECE),
    "munder": (_PIECE, _PIECE),
    "mover": (_PIECE, _PIECE),
    "munderover": (_PIECE, _PIECE, _PIECE),
    "mmultiscripts": (_PIECE,) * 20,
    "maction": (PLAIN, *(_GONE,) * 20),
}
_FORMULAS_SELECTOR = ", ".join(_FORMULAS)
# The states in which a text is not seen: it keeps its room, or has none.
INVISIBLE, WITHOUT_SIZE = 1, 2


# A text, or an element that is entered (true) or left, its tag, its look, and the states in which it is.
Step = tuple["LexborNode", str, Look, bool, int]


class Looks:
    """How the elements of a page are shown. What ``left_out`` selects is no text, whatever it shows.

    If it does not ``hide``, what the page hides is shown.
    """

    def __init__(self, page: LexborHTMLParser, left_out: str = "", *, hides: bool = True) -> None:
        self.hides = hides
        self.has_quirks = _STANDARDS.search(page.raw_html, 0, _DOCTYPE_WITHIN) is None
        self.sheet = _sheet(page, has_quirks=self.has_quirks)
        self.placed = dict(_placed(page))
        for node in page.css(left_out) if left_out else ():
            self.leave_out(node)
        self.by_node: dict[int, Look] = {}
        self.states: dict[int, int | None] = {}
        self.by_attributes: dict[tuple[str, str, str, str, bool, bool], Look] = {}

    def leave_out(self, node: LexborNode) -> None:
        """Take an element for one that is no text. The page itself is none of these."""
        if node.tag not in ("html", "body"):
            self.placed[node.mem_id] = _LEFT_OUT

    def of(self, node: LexborNode) -> Look:
        """Return how an element is shown. It is asked again for each cell, and for each link."""
        number = node.mem_id
        look = self.by_node.get(number)
        if look is None:
            look = self._declared(node.tag or "", node.attributes)
            if not look.is_gone:
                look = self.placed.get(number, look)
            self.by_node[number] = look
        return look

    def state(self, node: LexborNode) -> int | None:
        """Return the states within an element; None if it is gone or left out, or in one that is."""
        outer, around = list["LexborNode"](), node
        while around.is_element_node and around.mem_id not in self.states:
            outer.append(around)
            if around.parent is None:
                break
            around = around.parent
        state = self.states.get(around.mem_id, 0)
        for inner in reversed(outer):
            look = self.of(inner)
            state = None if state is None or look.is_gone or look.is_left_out else _within(state, look)
            self.states[inner.mem_id] = state
        return state

    def _declared(self, tag: str, attributes: Mapping[str, str | None]) -> Look:
        """Return how an element is shown by its tag and attributes. Equal ones are read once."""
        if tag in _UNSEEN:
            return _GONE
        if not attributes:
            key = (tag, "", "", "", tag == "dialog", False)
        else:
            key = (
                tag,
                attributes.get("style") or "",
                (attributes.get("class") or "") if self.sheet.classes else "",
                (attributes.get("id") or "") if self.sheet.ids else "",
                _is_hidden(tag, attributes),
                tag == "font" and "size" in attributes,
            )
        look = self.by_attributes.get(key)
        if look is None:
            look = self.by_attributes[key] = self._read(*key)
        return look

    def _read(self, tag: str, style: str, classes: str, identity: str, is_hidden: bool, is_sized: bool) -> Look:
        values = self.sheet.values(tag, identity, classes.split(), style) if self.sheet.declared else values_of(style)
        look = look_of(values)
        is_gone = look.is_gone or (look.is_collapsed and tag in _ROWS) or (is_hidden and "display" not in values)
        if tag in _REPLACED:
            look = _LEFT_OUT
        elif tag in _OF_TABLES:  # whose rows and cells are those of their tags
            look = look._replace(display=None, shift=None, before="", behind="")
            if tag == "table" and self.has_quirks and not look.is_sized:
                look = look._replace(has_size=True)
        elif tag == "li" and look.display == "inline":
            look = look._replace(before=" ", behind=" ")
        if is_sized:
            look = look._replace(is_sized=True, has_size=True if look.has_size is None else look.has_size)
        if not self.hides:
            return look._replace(is_gone=False, is_visible=None, has_size=None)
        return look._replace(is_gone=is_gone) if is_gone else look


def walk(root: LexborNode, looks: Looks) -> Iterator[Step]:
    """Yield each text, and each element on entering and on leaving it, but nothing of what is gone.

    An element that is left out is entered alone. Not recursive: pages nest thousands.
    """
    state, look = looks.state(root), looks.of(root)
    if state is None:
        return
    tag = root.tag or ""
    yield root, tag, look, True, state
    waiting = [(root, tag, look, state, root.iter(include_text=True))]
    while waiting:
        _, tag, outer, state, children = waiting[-1]
        for child in children:
            inner = child.tag or ""
            if inner == "-text":
                yield child, inner, PLAIN, True, state
                continue
            look = looks.of(child)
            if look.is_gone:
                continue
            within = state if look is PLAIN else _within(state, look)
            yield child, inner, look, True, within
            if not look.is_left_out:
                waiting.append((child, inner, look, within, child.iter(include_text=True)))
                break
        else:
            yield waiting.pop()[0], tag, outer, False, state


def _is_hidden(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element's attributes hide it, or leave it no room."""
    match tag:
        case "dialog" if "open" not in attributes:
            return True
        case "input" if (attributes.get("type") or "").lower() == "hidden":
            return True
        case "img" if attributes.get("width") in ("0", "1") and not attributes.keys() & _SPACED:
            return True  # as of a pixel that counts readers
    return "hidden" in attributes or "popover" in attributes


def _within(state: int, look: Look) -> int:
    """Return the states within an element."""
    for sign, is_well in ((INVISIBLE, look.is_visible), (WITHOUT_SIZE, look.has_size)):
        if is_well is not None:
            state = state & ~sign if is_well else state | sign
    return state


def _sheet(page: LexborHTMLParser, *, has_quirks: bool) -> Sheet:
    """Return what the sheets of a page declare, but those that are for pages without scripts, or not for screens."""
    sources = list[str]()
    for node in page.css("style"):
        parent, attributes = node.parent, node.attributes
        is_css = (attributes.get("type") or "text/css").strip().lower() == "text/css"
        if is_css and is_for_screens(attributes.get("media") or "") and (parent is None or parent.tag != "noscript"):
            sources.append(node.text(deep=False))
    return Sheet(sources, has_quirks=has_quirks)


def _placed(page: LexborHTMLParser) -> Iterator[tuple[int, Look]]:
    """Yield how the parts of each formula are shown, by their numbers."""
    for formula in page.css(_FORMULAS_SELECTOR):
        for part, look in zip(formula.iter(), _FORMULAS[formula.tag or ""], strict=False):
            yield part.mem_id, look
