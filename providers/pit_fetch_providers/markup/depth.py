"""Keep a page from taking its parser's time and memory: flatten one that nests without end. Pure.

For many a tag a parser looks through all elements that are open, so its time grows with the square of the depth: 300 kB
of ``<div>`` take it a minute. How deep a page may nest depends on how many tags it has. Where one nests deeper, a line
break stands for each tag, so that nothing is hidden there and nothing runs together.

>>> flattened("<b>x<div>" + "<table><tr><td>5<td>6</table></div>" + "y", deepest=2)
'<b>x<div><br> <br> <br> 5<br> 6<br> </div>y'

What is open is counted as a parser counts it: an end tag ends all that was left open within its element.

>>> flattened("<p><a name=1><x-1/>a" * 3, deepest=3)
'<p><a name=1><x-1/>a<p><a name=1><x-1/>a<p><a name=1><x-1/>a'
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

# Each tag takes 250 bytes of memory: 56 MB of short paragraphs took 2.5 GB, and two minutes. No recorded page or filing
# has more than 32,050.
_MOST_TAGS = 1_000_000
# The most elements that a parser may have to look at, a nanosecond or two each: of 4,400 tags all can be open.
_MOST_STEPS, _DEEPEST = 20_000_000, 1_000
# A parser repeats formatting that is left open in each paragraph: 40 kB of ``<font size=1><p>``, each of another size,
# took 600 MB.
_MOST_REPEATED, _FEW_TAGS = 3_000_000, 1_500
_LONGEST_TAG, _MOST_ATTRIBUTES = 20_000, 1_000
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)([^>]*)>?")
_TOKEN = re.compile(rf"<!--|{_TAG.pattern}")
_WITHOUT_ELEMENTS = re.compile(r"<([A-Za-z][^\s/<>]*+)[^<>]*+>[^<]*+</\1>")
_ROUNDS = 4
_BREAK = "<br> "

VOID = frozenset({"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img", "input",
                   "link", "meta", "param", "source", "track", "wbr"})  # fmt: skip
_ROOT = frozenset({"html", "head", "body"})
# No tag is read within these.
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
# Within these, such names mean nothing of the kind.
_FOREIGN = ("svg", "math", "select")
# Their end tags reach through whatever is open within them, and leave it open.
_FORMATTING = ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_LEFT_OPEN = frozenset({*_FORMATTING, "form"})
_FORMATTING_TAG = re.compile(rf"<(/?)({'|'.join(_FORMATTING)})(?=[\s/>])[^>]*", re.IGNORECASE)
_TABLE_PARTS = frozenset({"caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
# An end tag within one of these ends nothing around it.
_BARRIERS = frozenset({"applet", "button", "caption", "marquee", "object", "table", "td", "template", "th"})
# Each ends the paragraph that is open.
_BLOCKS = frozenset({"address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div",
                     "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
                     "h6", "header", "hgroup", "li", "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre",
                     "search", "section", "summary", "ul"})  # fmt: skip
# No end tag of an element that HTML does not know, or of a span, reaches through one of these.
_SPECIAL = (_BLOCKS - _LEFT_OPEN) | _BARRIERS | _TABLE_PARTS | {"select", "noscript", "frameset"}
# Through these a new item of a list ends the one before it.
_IN_ITEMS = frozenset({"address", "div", "p"})
_FOREIGN_ONE, _BARRIER, _SPECIAL_ONE, _ITEM = "a foreign one", "a barrier", "a special one", "an item, or what holds it"
_NAMES = {_FOREIGN_ONE: _FOREIGN, _BARRIER: _BARRIERS, _SPECIAL_ONE: _SPECIAL, _ITEM: _SPECIAL - _IN_ITEMS}
# Under which of these an element is counted, and under its name.
_KINDS = {name: (name, *(kind for kind, names in _NAMES.items() if name in names)) for name in (*_FOREIGN, *_SPECIAL)}
# What ends where another one of a kind begins, if it is nearer than what may hold both.
_ENDED = {
    **dict.fromkeys(_BLOCKS, (("p",), _BARRIER)),
    **dict.fromkeys(("td", "th"), (("td", "th"), "table")),
    **dict.fromkeys(("tbody", "tfoot", "thead"), (("tbody", "tfoot", "thead"), "table")),
    "tr": (("tr",), "table"),
    "a": (("a",), _SPECIAL_ONE),
}
_ITEMS = {"li": ("li",), "dd": ("dd", "dt"), "dt": ("dd", "dt")}


def is_too_large(source: str) -> bool:
    """Return whether a page has more tags than a parser should be given, or has it make as many more."""
    tags = source.count("<")
    return tags > _MOST_TAGS or (tags > _FEW_TAGS and tags * _left_open(source) > _MOST_REPEATED)


def flattened(source: str, deepest: int = 0) -> str:
    """Return ``source`` with a line break for each tag of an element that is nested deeper than ``deepest``.

    By default that is as deep as a parser can read such a page in a second or two.
    """
    tags = source.count("<")
    limit = deepest or max(_DEEPEST, _MOST_STEPS // max(tags, 1))
    source = _with_few_attributes(source)
    return "".join(_Flat(source, limit).pieces()) if _may_nest(source, limit) else source


def _left_open(source: str) -> int:
    """Return how many elements of formatting are open at once, at most, as a parser repeats them in each paragraph."""
    count, most, kinds = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    for match in _FORMATTING_TAG.finditer(_WITHOUT_ELEMENTS.sub("", source)):
        name = match[2].lower()
        count[name] = max(0, count[name] - 1) if match[1] else count[name] + 1
        most[name] = max(most[name], count[name])
        kinds[name].add(match[0])
    # One link ends another, and of one kind no more than three are repeated.
    return sum(1 if name in ("a", "nobr") else min(times, 3 * len(kinds[name])) for name, times in most.items())


def _may_nest(source: str, deepest: int) -> bool:
    """Return whether more elements than so many may be open at once. Of most pages a quick look shows that none are."""
    for _ in range(_ROUNDS):
        if source.count("<") - source.count("</") <= deepest:
            return False
        source = _WITHOUT_ELEMENTS.sub("", source)  # such a one is ended before the next begins
    return True


def _with_few_attributes(source: str) -> str:
    """Return ``source`` without the attributes of elements that have more than any page has: they are compared."""

    def kept(match: re.Match[str]) -> str:
        is_long = len(match[0]) > _LONGEST_TAG and len(match[3].split()) > _MOST_ATTRIBUTES
        return f"<{match[1]}{match[2]}>" if is_long else match[0]

    return _TAG.sub(kept, source) if max(map(len, source.split(">"))) > _LONGEST_TAG else source


class _Flat:
    """A page that is read from tag to tag, with the elements that are open."""

    def __init__(self, source: str, deepest: int) -> None:
        self.source, self.deepest = source, deepest
        self.open: list[tuple[str, bool]] = []  # the name of each, "" if it has ended; and whether its tag is kept
        self.ended = 0  # how many of these have ended, while what is within them is open
        self.places: dict[str, list[int]] = defaultdict(list)  # of the open ones of each name

    def pieces(self) -> Iterator[str]:
        """Yield the page, piece by piece."""
        position = read = 0
        while (match := _TOKEN.search(self.source, position)) is not None:
            is_end, name, position = match[1], (match[2] or "").lower(), match.end()
            if not name:
                position = self._behind("-->", position)
                continue
            is_within = self._is_within_a_break()
            is_kept = self._end(name) if is_end else self._begin(name)
            if not is_kept or (is_within and name not in VOID):
                yield self.source[read : match.start()]
                yield _BREAK
                read = match.start() if is_kept else position
            if name in _RAW and not is_end and self._nearest(_FOREIGN_ONE) < 0:
                position = self._behind(f"</{name}", position)
        yield self.source[read:]

    def _begin(self, name: str) -> bool:
        """Open an element. Return whether its tag is kept."""
        if name in VOID or name in _ROOT or name in _RAW:
            return True
        if name in _TABLE_PARTS and self._nearest("table") < 0:  # a parser passes over it
            return not self._is_within_a_break()
        self._end_what_ends_at(name)
        is_kept = self._has_room()
        for kind in _KINDS.get(name, (name,)):
            self.places[kind].append(len(self.open))
        self.open.append((name, is_kept))
        return is_kept

    def _end_what_ends_at(self, name: str) -> None:
        """Close what ends where an element of a name begins: a paragraph, a cell, an item of a list."""
        if name in _ITEMS:
            item = max(map(self._nearest, _ITEMS[name]))
            if item == self._nearest(_ITEM) > -1:
                self._close(item)
        if name in _ENDED:
            names, holder = _ENDED[name]
            ended = max(map(self._nearest, names))
            if ended > self._nearest(holder):
                self._close(ended)

    def _has_room(self) -> bool:
        """Return whether one more element may be opened."""
        return not self._is_within_a_break() and len(self.open) - self.ended < self.deepest

    def _end(self, name: str) -> bool:
        """Close the nearest element of a name, as far as its end tag reaches. Return whether the tag is kept."""
        place = self._nearest(name)
        if name == "form" and self._is_within_a_break():
            return True  # until it ends, a parser begins no other one
        if place < 0 or place < self._bound(name):
            return not self._is_within_a_break()
        is_kept = self.open[place][1]
        if name in _LEFT_OPEN and place < self._nearest(_SPECIAL_ONE):
            self.open[self.places[name].pop()] = ("", is_kept)
            self.ended += 1
        else:
            self._close(place)
        return is_kept

    def _is_within_a_break(self) -> bool:
        """Return whether a break stands for the tag of the innermost open element: so it does for all tags within."""
        return bool(self.open) and not self.open[-1][1]

    def _bound(self, name: str) -> int:
        """Return the place of the nearest element through which the end tag of a name does not reach."""
        if name == "table":
            return -1
        if name in _TABLE_PARTS:
            return self._nearest("table")
        return self._nearest(_BARRIER if name in _SPECIAL or name in _LEFT_OPEN else _SPECIAL_ONE)

    def _nearest(self, name: str) -> int:
        """Return the place of the innermost open element of a name or kind; -1 if there is none."""
        places = self.places.get(name)
        return places[-1] if places else -1

    def _close(self, place: int) -> None:
        """Close all that is open from a place on."""
        while len(self.open) > place:
            name, _ = self.open.pop()
            for kind in _KINDS.get(name, (name,)) if name else ():
                self.places[kind].pop()
            self.ended -= not name

    def _behind(self, text: str, position: int) -> int:
        """Return the place behind the next ``text``; that of the page's end if there is none, as a parser reads it."""
        match = re.compile(text, re.IGNORECASE).search(self.source, position)
        return len(self.source) if match is None else match.end()
