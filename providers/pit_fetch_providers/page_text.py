"""Read pages of HTML as text: a block is a line, cells are parted, and what a page hides is left out. Pure.

selectolax parses. Of styles, only an element's own is read, and of a length only whether it is zero. A figure of the
text is a figure of the page: what a page shows apart, such as the mark of a footnote, is parted from it.

>>> page = parse_page("<h2>Sales</h2><table><tr><td>2024<sup>1</sup><td>5,<b>234</b></table><i hidden>9</i>")
>>> render(page.body, target=str).text
'## Sales\\n\\n2024^1 | 5,234'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.provider import ConfigError
from pit_fetch_providers.page_cost import VOID, is_costly

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# A parser compares the attributes of an element: 60,000 took seven seconds. A picture in an attribute is long, and one.
_LONG_TAG, _MOST_ATTRIBUTES = 20_000, 1_000
_TAG = re.compile(r"<([A-Za-z][^\s/>]*)([^>]*)")

# In XML a tag can end its own element. HTML would take all that follows for the content of the element.
_HEAD = 4_096
_XML = re.compile(r"<\?xml\b|<html\b[^>]*\sxmlns", re.IGNORECASE)
_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*+)([^<>]*+)(?<=/)>")
# The content of these is no tags, so the rest of the page would be lost in HTML as well.
_CLOSED_RAW = re.compile(r"<(title|script|style|textarea|iframe|noscript)\b([^<>]*+)(?<=/)>", re.IGNORECASE)

# How elements are shown, by their tags and by their own styles.

Kind = Literal["paragraph", "line", "cell", "piece", "inline"]
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("ul", "ol", "menu", "dir")
# A paragraph stands apart from what is around it, and a line does not. A piece of a line does not join figures.
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys((*_HEADINGS, "p", "ul", "ol", "dl", "table", "blockquote", "pre", "hr", "figure", "article",
                     "section"), "paragraph"),
    **dict.fromkeys(("div", "li", "dt", "dd", "tr", "br", "main", "header", "footer", "aside", "address", "form",
                     "center", "fieldset", "figcaption", "caption", "details", "summary", "body", "tbody", "thead",
                     "tfoot", "legend", "nav", "dialog", "option", "optgroup", "menu", "dir", "search", "hgroup",
                     "listing", "xmp", "frame"), "line"),
    **dict.fromkeys(("td", "th"), "cell"),
    **dict.fromkeys(("button", "select", "input", "textarea", "img", "svg", "canvas", "object", "iframe", "video",
                     "audio", "embed", "label", "text", "tspan", "s", "del", "strike", "rt", "q", "mn"), "piece"),
}  # fmt: skip
_TABLE = frozenset({"table", "tbody", "thead", "tfoot", "tr", "td", "th"})
_UNSEEN = frozenset({"head", "script", "style", "noscript", "template", "title", "datalist", "ix:header", "annotation",
                     "annotation-xml", "rp", "noembed", "noframes", "desc", "metadata", "defs", "symbol"})  # fmt: skip
# Browsers show something else in the place of the text within these.
_REPLACED = frozenset({"iframe", "audio", "video", "canvas", "meter", "progress"})
_DECLARATION = re.compile(r"(?:^|;)\s*([a-z-]+)\s*:\s*([^;!]*)")
_ZERO = re.compile(r"(?=[0-9.])0*\.?0*[a-z%]*")
_LENGTH = re.compile(r"[0-9.]*[1-9]")
_PLACES = {"right": 1, "left": 3}  # in the four lengths of a shorthand, which begin at the top
_VISIBLE = {"visible": True, "hidden": False, "collapse": False}
_RELATIVE_SIZE = re.compile(r"[0-9.]+(?:em|%|ex|ch)|inherit|unset|larger|smaller|")
_SIZE_OF_FONT = re.compile(r"(?<!\S)(?:[0-9.]+(?:[a-z]+|%)|0*\.?0+|inherit|unset|larger|smaller)(?=[\s/]|$)")
_LONGEST_STYLE = 20_000
# A cell with more text is a column of a page that a table lays out. To measure each of many cells in cells would take
# the square of their number.
_LONGEST_CELL, _MOST_CELLS = 200, 20
_DEEPEST_INDENT = 20
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:([^;]*)", re.IGNORECASE)

# Raised and lowered text. While a line is written, RAISED or LOWERED begins such a run, and BACK ends it. SEAM parts
# figures, and nothing else. No page has these: they are no characters.

RAISED, LOWERED, BACK, SEAM = _SIGNS = "\ufdd3\ufdd4\ufdd5\ufdd6"
_SIGN = re.compile(f"[{_SIGNS}]")
_RUN = re.compile(rf"([{RAISED}{LOWERED}])((?:[^{_SIGNS}]|{BACK}\1)*+)(?:{BACK}|$)")
_SLASH = "[/\u2044\u2215]"
_FRACTION = re.compile(
    f"{RAISED} *([0-9]{{1,3}}) *(?:{BACK} *{_SLASH} *{LOWERED}|{BACK}?{_SLASH}{LOWERED}?) *([0-9]{{1,3}}) *{BACK}"
)
_BETWEEN_DIGITS = re.compile(rf"(?<=[\d.,])[{_SIGNS}]+(?=[.,]?\d)")
_SEPARATORS = r"[\s,;:.&/()\[\]{}*+\u00b1\u2212\u2013-]*+"
_MARK = re.compile(rf"(?!.*\d,\d{{3}})(?:{_SEPARATORS}(?:[0-9]{{1,3}}|[A-Za-z]|[ivx]{{2,5}})(?![^\W_]))++{_SEPARATORS}")
_LONGEST_MARK = 24
# Trademarks, ordinals, and signs such as an asterisk read well where they stand.
_PLAIN = re.compile(r"\W*(?:R|(?!ii|iv|vi|ix|xi)[^\W\d]{2})?\W*")
_LINK = re.compile(r"\[(.{0,99}?)\]\([^()\s]*\)")
_CURRENCIES = frozenset("$\u20ac\u00a3\u00a5")
_OPENING = _CURRENCIES | frozenset("([{")  # a figure begins behind these, which may stand a point higher

# Soft hyphens, zero-width spaces, joiners of words, marks of direction and of byte order. The joiners of letters stay
# in scripts that are written with them.
_INVISIBLE = re.compile(
    "(?<![\u0300-\U0010ffff])[\u200c\u200d]"
    "|[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufdd3-\ufdd6\ufeff]"
)
_SPACES = re.compile(r"\s+")


# Returns the address that a link leads to; None if that is no page.
Target = Callable[[str], str | None]


class Rendered(NamedTuple):
    """The text of a page, and its links in order: the address of each, as the page writes it, and its words."""

    text: str = ""
    links: tuple[tuple[str, str], ...] = ()


class Look(NamedTuple):
    """How an element is shown. None stands for what is as it is around the element."""

    kind: Kind
    is_gone: bool = False
    is_visible: bool | None = None  # what is invisible keeps its room
    has_size: bool | None = None
    shift: str = ""  # RAISED or LOWERED
    is_shift_sure: bool = True  # not if its style only aligns letters, which may be as large as those around them
    before: str = ""
    behind: str = ""


def require_parser() -> None:
    """Raise ConfigError if the parser is not installed, before anything is asked."""
    try:
        import selectolax.lexbor  # noqa: F401
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="selectolax") from None


def parse_page(source: str, *, is_xml: bool = False) -> LexborHTMLParser | None:
    """Return a page, parsed; None for one that would cost its parser minutes or gigabytes."""
    from selectolax.lexbor import LexborHTMLParser

    if max(map(len, source.split(">"))) > _LONG_TAG:
        source = _TAG.sub(_drop_many_attributes, source)
    closed = _CLOSED if is_xml or _XML.search(source[:_HEAD]) else _CLOSED_RAW
    source = closed.sub(_close, source)
    return None if is_costly(source) else LexborHTMLParser(source)


def _drop_many_attributes(tag: re.Match[str]) -> str:
    is_long = len(tag[2]) > _LONG_TAG and len(tag[2].split()) > _MOST_ATTRIBUTES
    return f"<{tag[1]}" if is_long else tag[0]


def _close(tag: re.Match[str]) -> str:
    return tag[0] if tag[1].lower() in VOID else f"<{tag[1]}{tag[2][:-1]}></{tag[1]}>"


def strip_invisible(text: str) -> str:
    """Return ``text`` without the characters that nobody sees."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def mark_runs(line: str) -> str:
    """Return a line in which ``^`` or ``_`` parts what is raised or lowered from the figure that it stands at.

    >>> mark_runs(f"$123.4{RAISED}1{BACK} million, 10{RAISED}6{BACK}, CO{LOWERED}2{BACK}, 1{RAISED}st{BACK}")
    '$123.4^1 million, 10^6, CO2, 1st'
    >>> mark_runs(f"5{RAISED}1{BACK}/{LOWERED}2{BACK}% Notes, 7{RAISED}3/4{BACK}%")
    '5 1/2% Notes, 7 3/4%'
    """
    if line.isascii() or _SIGN.search(line) is None:
        return line
    line = _RUN.sub(_mark_run, _FRACTION.sub(_mark_fraction, line))
    return _SIGN.sub("", _BETWEEN_DIGITS.sub(" ", line))


def _mark_fraction(fraction: re.Match[str]) -> str:
    line, start, end = fraction.string, fraction.start(), fraction.end()
    before, after = line[max(0, start - 1) : start], line[end : end + 1]
    return f"{' ' * before.isdigit()}{fraction[1]}/{fraction[2]}{' ' * after.isdigit()}"


def _mark_run(run: re.Match[str]) -> str:
    """Return a run, parted from its neighbours. Several elements in a row can make up one run."""
    shift, text = run[1], run[2].replace(BACK + run[1], "")
    words, before = text.strip(), run.string[max(0, run.start() - 9) : run.start()].rstrip(_SIGNS)[-1:]
    if not words:
        return text[:1]
    sign = _sign(shift, _LINK.sub(r"\1", words), before)
    after = run.string[run.end() : run.end() + 9].lstrip(BACK)
    is_figure = words.rstrip(".,")[-1:].isdigit()
    is_joined = after[:1].isalnum() if sign else is_figure and after[:1].isdigit()
    is_joined |= is_figure and re.match(r"[.,][0-9]", after) is not None
    head = " " if text[0] == " " and before.strip() else ""
    return f"{head}{sign}{words}{' ' if is_joined or text[-1] == ' ' != after[:1] else ''}"


def _sign(shift: str, words: str, before: str) -> str:
    """Return the sign that parts a run from the character before it; "" if it reads well without one."""
    is_attached = before.strip() and before not in _OPENING and words.lstrip(".,")[:1].isdigit()
    if shift == LOWERED:  # behind a letter it is a formula's
        return "_" if is_attached and not before.isalpha() else ""
    if _PLAIN.fullmatch(words) or before in _CURRENCIES:
        return ""
    is_mark = len(words) <= _LONGEST_MARK and _MARK.fullmatch(words) is not None
    return "^" if is_attached or is_mark or (before.isalnum() and words[0].isalnum()) else ""


@lru_cache(maxsize=4_096)
def look_of(tag: str, style: str = "", *, is_hidden: bool = False, is_small: bool = False) -> Look:
    """Return how an element is shown, by its tag and its own style: the last value of each property counts."""
    found = _DECLARATION.findall(style.lower()) if len(style) <= _LONGEST_STYLE else []
    sized = (("font-size", _size(value)) if name == "font" else (name, value) for name, value in found)
    values = {name: value.strip() for name, value in sized}
    display, kind = values.get("display", ""), _KINDS.get(tag, "inline")
    if tag in _UNSEEN or display == "none" or (is_hidden and not display):
        return Look(kind, is_gone=True)
    if display in ("inline", "contents"):
        kind = "inline" if kind == "line" else kind
    elif display and tag not in _TABLE:
        kind = "piece" if display.startswith("inline") else _KINDS.get(tag, "line")
    size = "medium" if tag == "font" and is_small else ""
    look = Look(kind, is_visible=_VISIBLE.get(values.get("visibility", "")), has_size=_has_size(values, size))
    if kind not in ("inline", "piece"):
        return look
    if tag == "li":
        return look._replace(before=" ", behind=" ")
    shift, is_sure = _shift(tag, values, is_small=is_small)
    before, behind = _gaps(values, kind)
    return look._replace(shift=shift, is_shift_sure=is_sure, before=before, behind=behind)


def _size(font: str) -> str:
    """Return the size of a shorthand; "medium" for one of no number."""
    size = _SIZE_OF_FONT.search(font)
    return "medium" if size is None else size[0]


def _has_size(values: Mapping[str, str], default: str) -> bool | None:
    size = values.get("font-size", default)
    return False if _ZERO.fullmatch(size) else None if _RELATIVE_SIZE.fullmatch(size) else True


def _shift(tag: str, values: Mapping[str, str], *, is_small: bool) -> tuple[str, bool]:
    """Return whether an element stands above or below its line, and whether that is sure."""
    if tag in ("sup", "sub"):
        return (RAISED if tag == "sup" else LOWERED), True
    if values.get("position") == "relative":
        for side, toward, away in (("top", LOWERED, RAISED), ("bottom", RAISED, LOWERED)):
            length = values.get(side, "")
            if _LENGTH.match(length.lstrip("-")):
                return (away if length.startswith("-") else toward), True
    aligned = values.get("vertical-align", "")
    if aligned in ("super", "sub"):
        return (RAISED if aligned == "super" else LOWERED), True
    if aligned in ("top", "text-top"):
        return (RAISED if is_small or tag == "small" or "font-size" in values else ""), False
    if _LENGTH.match(aligned.lstrip("-")):
        return (LOWERED if aligned.startswith("-") else RAISED), True
    return "", True


def _gaps(values: Mapping[str, str], kind: Kind) -> tuple[str, str]:
    """Return what a page shows before an element of a line and behind it: nothing, a blank, or what parts figures."""
    if values.get("float") == "right" or values.get("position") in ("absolute", "fixed"):
        return " ", " "
    if values.get("float") == "left":
        return SEAM, " " if "width" in values else SEAM
    is_wide = kind == "piece" and (_has_length(values, "width") or _has_length(values, "min-width"))
    return " " if _has_gap(values, "left") else "", " " if is_wide or _has_gap(values, "right") else ""


def _has_length(values: Mapping[str, str], name: str) -> bool:
    return _LENGTH.match(values.get(name, "")) is not None


def _has_gap(values: Mapping[str, str], side: str) -> bool:
    """Return whether an element has a margin or a padding on a side, by itself or in a shorthand of several sides."""
    for box in ("margin", "padding"):
        lengths = values.get(box, "").split()
        place = _PLACES[side] if _PLACES[side] < len(lengths) else 1 if len(lengths) > 1 else 0
        if _LENGTH.match(values.get(f"{box}-{side}") or "".join(lengths[place : place + 1])):
            return True
    return False


def render(
    root: LexborNode,
    *,
    target: Target | None = None,
    left_out: Container[int] = frozenset(),
    hides: bool = True,
) -> Rendered:
    """Return the text of an element, and its links.

    target    makes the text Markdown: what each link leads to
    left_out  the numbers (``mem_id``) of elements that are no text, whatever they show
    hides     False for a page that hides all of itself: what it hides is shown
    """
    if hides and not _is_shown(root, left_out):
        return Rendered()
    writer, look = _Writer(target), _look(root.tag or "", root.attributes)
    waiting = [(root, "", look, _seen(look, (True, True)), root.iter(include_text=True))]
    while waiting:  # not recursive: pages nest thousands of elements
        _, tag, look, seen, children = waiting[-1]
        for child in children:
            name = child.tag or ""
            if name == "-text":
                writer.write_seen(child.text_content or "", seen if hides else (True, True))
                continue
            attributes = child.attributes
            inner = _look(name, attributes)
            if inner.is_gone and hides:
                continue
            if name in _REPLACED or child.mem_id in left_out:
                writer.part(inner.kind if inner.kind != "inline" else "piece", name)
                continue
            writer.enter(child, name, inner, attributes)
            waiting.append((child, name, inner, _seen(inner, seen), child.iter(include_text=True)))
            break
        else:
            waiting.pop()
            if waiting:
                writer.leave(tag, look)
    return Rendered(writer.text(), tuple(writer.links))


def _seen(look: Look, around: tuple[bool, bool]) -> tuple[bool, bool]:
    """Return whether the text of an element is visible, and whether it has a size."""
    if look.is_visible is None and look.has_size is None:
        return around
    is_visible, has_size = around
    return (
        is_visible if look.is_visible is None else look.is_visible,
        has_size if look.has_size is None else look.has_size,
    )


def _look(tag: str, attributes: Mapping[str, str | None]) -> Look:
    is_hidden = "hidden" in attributes or "popover" in attributes or (tag == "dialog" and "open" not in attributes)
    return look_of(tag, attributes.get("style") or "", is_hidden=is_hidden, is_small="size" in attributes)


def _is_shown(node: LexborNode | None, left_out: Container[int]) -> bool:
    """Return whether neither an element nor any that it is in is gone or left out."""
    while node is not None and node.is_element_node:
        if node.mem_id in left_out or _look(node.tag or "", node.attributes).is_gone:
            return False
        node = node.parent
    return True


class _Items(NamedTuple):
    """The marks of the items of an open list, and the number of the next one."""

    kind: str  # "1", "-", or "" for no mark, since a dash before a figure would be a minus
    number: int = 1


class _Writer:
    """The lines so far, and the parts of the line that is being written."""

    def __init__(self, target: Target | None) -> None:
        self.target = target
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.last = ""  # the last character of the parts
        self.ended = 0  # the number of lines that have ended, with those without a text
        self.marker = ""  # the mark of an item or a heading at the start of the line
        self.lists: list[_Items] = []  # the open lists
        self.cells: list[bool] = []  # for each open cell, whether it is short, as in a row of figures
        self.verbatim = 0  # the number of open <pre>
        self.shifts: list[
            bool
        ] = []  # for each open raised or lowered element, whether signs mark it: the outermost one
        self.links: list[tuple[str, str]] = []
        self.open_links: list[
            tuple[str, int, int, int]
        ] = []  # the address of each, its line, and its place in parts, words
        self.words: list[str] = []  # the words of the open links

    def text(self) -> str:
        self._end_line()
        return "\n".join(self.lines).strip("\n")

    def write_seen(self, text: str, seen: tuple[bool, bool]) -> None:
        """Write a text if it is visible and has a size. What is invisible keeps its room."""
        is_visible, has_size = seen
        if is_visible and has_size:
            self.write(text)
        elif has_size and text.strip():
            self.write(" ")

    def write(self, text: str) -> None:
        text = strip_invisible(text)
        if self.verbatim:
            *whole, text = text.split("\n")
            for line in whole:
                self._add(line)
                self.lines.append(mark_runs("".join(self.parts)))
                self._begin_line()
        else:
            text = _SPACES.sub(" ", text)
            text = text[1:] if self.last in ("", " ") and text[:1] == " " else text
        self._add(text)

    def enter(self, node: LexborNode, tag: str, look: Look, attributes: Mapping[str, str | None]) -> None:
        self.part(look.kind, tag, ends_marker=tag in ("li", "ul", "ol"))
        # A mark stands at its figure, whatever its margin. A second mark is parted from the first.
        if look.before and (not look.shift or self.last == BACK):
            self._gap(look.before)
        if tag == "a":
            self.open_links.append((attributes.get("href") or "", self.ended, len(self.parts), len(self.words)))
        elif look.kind == "cell":
            self.cells.append(self._is_short(node))
        elif tag == "pre":
            self.verbatim += 1
        elif tag == "li":
            self._begin_item(attributes)
        elif tag in _LISTS:
            self.lists.append(_items_of(tag, attributes))
        elif tag in _HEADINGS and self.target is not None and not self.parts:
            self._mark(f"{'#' * int(tag[1])} ")
        if look.shift:
            is_marked = not any(self.shifts) and (look.is_shift_sure or self.last not in ("", " "))
            self.shifts.append(is_marked)
            self._add(look.shift) if is_marked else self._gap(SEAM)

    def leave(self, tag: str, look: Look) -> None:
        if look.shift:
            self._add(BACK) if self.shifts.pop() else self._gap(SEAM)
        if tag == "a":
            self._end_link()
        elif look.kind == "cell":
            self.cells.pop()
            self._end_cell()
        elif tag == "pre":
            self.verbatim -= 1
        elif tag in _LISTS:
            self.lists.pop()
        self._gap(look.behind)
        self.part(look.kind, tag, ends_marker=tag in ("li", "ul", "ol", *_HEADINGS))

    def part(self, kind: Kind, tag: str, *, ends_marker: bool = False) -> None:
        """Part what follows from what stands before it, as an element of a kind does where it begins and ends.

        A block at the start of an item or of a heading continues the line of its marker.
        """
        if kind == "piece":
            self._gap(SEAM)
        elif kind in ("inline", "cell"):
            return
        elif self.cells and self.cells[-1]:
            self._gap(" ")
        elif ends_marker or not self.marker or self.parts != [self.marker]:
            self._end_line()
            # An item's own lists and paragraphs belong to it, and do not stand apart.
            is_apart = kind == "paragraph" and not (self.lists and tag in ("ul", "ol", "p"))
            if is_apart and self.lines and self.lines[-1]:
                self.lines.append("")

    def _gap(self, gap: str) -> None:
        """Part what follows with a blank, or with a seam, which only figures need."""
        if gap == " ":
            self.write(" ")
        elif gap and (self.last.isdigit() or self.last in (".", ",")):
            self._add(SEAM)

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.last = text[-1]
            if self.open_links:
                self.words.append(text)

    def _mark(self, marker: str) -> None:
        self._add(marker)
        self.marker = marker

    def _end_line(self) -> None:
        line = mark_runs("".join(self.parts)).rstrip().removesuffix(" |").rstrip()
        if line and line.strip() != self.marker.strip():
            self.lines.append(line)
        self._begin_line()

    def _begin_line(self) -> None:
        self.parts.clear()
        self.last = self.marker = ""
        self.ended += 1
        if self.open_links:
            self.words.append(" ")

    def _is_short(self, cell: LexborNode) -> bool:
        """Return whether a cell is short. In a short cell all are, and of many cells in cells none is."""
        if self.cells and self.cells[-1]:
            return True
        return len(self.cells) < _MOST_CELLS and len(cell.text()) <= _LONGEST_CELL

    def _end_cell(self) -> None:
        while self.parts and self.parts[-1].endswith(" "):
            self.parts[-1] = self.parts[-1].rstrip(" ")
            if not self.parts[-1]:
                self.parts.pop()
        if self.parts:
            self._add(" | ")

    def _begin_item(self, attributes: Mapping[str, str | None]) -> None:
        items = self.lists[-1] if self.lists else _Items("-")
        number = _integer(attributes.get("value"), items.number)
        if self.lists:
            self.lists[-1] = items._replace(number=number + 1)
        style = _LIST_STYLE.search(attributes.get("style") or "")
        marker = f"{number}. " if items.kind == "1" else "- "
        if not items.kind or (style is not None and "none" in style[1]):
            return
        if not self.parts:
            self._mark("  " * min(max(0, len(self.lists) - 1), _DEEPEST_INDENT) + marker)
        elif items.kind == "1":  # in a cell
            self._add(marker)

    def _end_link(self) -> None:
        href, line, part, word = self.open_links.pop()
        self.links.append((href, " ".join(mark_runs("".join(self.words[word:])).split())))
        if not self.open_links:
            self.words.clear()
        address = self.target(href) if self.target is not None else None
        words = "".join(self.parts[part:]).strip()
        if address is not None and line == self.ended and words:
            self.parts[part:] = [f"[{words}]({address})"]
            self.last = ")"


def _items_of(tag: str, attributes: Mapping[str, str | None]) -> _Items:
    """Return how the items of a list are marked. Letters and Roman numbers are no figures: a bullet stands for them."""
    style = _LIST_STYLE.search(attributes.get("style") or "")
    kind = (attributes.get("type") or "").lower() if style is None else style[1].lower()
    if "none" in kind:
        return _Items("")
    is_numbered = "decimal" in kind or (tag == "ol" and kind in ("", "1"))
    return _Items("1" if is_numbered else "-", _integer(attributes.get("start"), 1))


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdecimal() else default
