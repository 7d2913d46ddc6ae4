"""Bound what a page of HTML costs its parser, by one pass over its tags. Pure.

For many a tag a parser looks through the elements that are open, and it repeats formatting that was left open in each
paragraph: a page of a few hundred kilobytes can take a minute or gigabytes. The pass keeps the open elements and the
formatting as a parser does. Where it differs it keeps more.

>>> is_costly("<div>" * 50_000), is_costly("<div><br>5</div>" * 50_000)
(True, False)
"""

from __future__ import annotations

import re

# A tag takes 250 bytes of memory: 56 MB of short paragraphs took 2.5 GB. No recorded page has more than 32,050 tags.
_MOST_TAGS = 1_000_000
# The steps of a page are its open elements, counted at each tag: 400 million take up to a second. To repeat an element
# takes the time and the memory of a hundred steps. The largest recorded page takes half a million.
_MOST_STEPS, _REPETITION = 400_000_000, 100
_NOT_FAR = 100  # how far an end tag looks for its element, so that the pass is linear

# Attributes as the standard reads them, since a quoted one may hold tags, and a comment ends at the end of the page.
_VALUE = r"\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+"
_ATTRIBUTES = rf"(?:[\s/]++|[^\s/>][^\s/>=]*+(?:{_VALUE})?+)*+"
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*+"
    rf"|<(/?)([A-Za-z][^\s/>]*+)({_ATTRIBUTES})",
    re.DOTALL,
)
# Within a drawing a comment may be none, and a quotation mark may stand in a comment: each tag counts.
_DOUBTFUL_TOKEN = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)([^<>]*+)")
_CLOSED = re.compile(r"(?:[^\"'=/]|/(?!$)|=\s*+(?:\"[^\"]*+\"|'[^']*+'))*+/")
_RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE)
        for name in ("script", "style", "textarea", "title", "iframe", "xmp", "noembed", "noframes")}  # fmt: skip
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
                  "track", "wbr"})  # fmt: skip
_NOT_NESTED = VOID | {"html", "head", "body", "basefont", "bgsound", "frame", "image", "keygen"}
_FORMATTING = frozenset({"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt",
                         "u"})  # fmt: skip
_FORMATTED = re.compile(rf"<(?:{'|'.join(_FORMATTING)})(?=[\s/>]){_ATTRIBUTES}", re.IGNORECASE)
_SAME_KIND = 3  # of formatting with the same attributes no more is repeated
_FOREIGN = frozenset({"svg", "math"})
# These end a drawing that they stand in. All other tags within one nest.
_END_FOREIGN = frozenset({"b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em",
                          "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing",
                          "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike",
                          "sub", "sup", "table", "tt", "u", "ul", "var"})  # fmt: skip
_CELLS = frozenset({"td", "th", "caption"})
_ROWS = frozenset({"tr", "tbody", "thead", "tfoot", "colgroup"})
_TABLE = _CELLS | _ROWS | {"table"}
# An end tag from outside one of these does not end it, and formatting within does not reach out of it.
_MARKERS = _CELLS | {"object", "applet", "marquee", "template"}
_SCOPES = _MARKERS | _FOREIGN | {"table", "button", "ul", "ol", "select"}
_END_PARAGRAPH = frozenset({"hr", "xmp"})
_RUBY, _ITEMS = frozenset({"rb", "rp", "rt", "rtc"}), frozenset({"p", "li", "dd", "dt"})
# Blocks that their end tags end only if no block is open in them. A form's ends nothing else, nor does a frameset's.
_CLOSED_INSIDE = _FOREIGN | {"form", "frameset", "noscript", "plaintext", "search"}
# The end tag of another element does not end a block that is open in it.
_BLOCKS = _TABLE | _SCOPES | {"address", "article", "aside", "blockquote", "center", "dd", "details", "dir", "div",
                              "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2",
                              "h3", "h4", "h5", "h6", "header", "hgroup", "li", "listing", "main", "menu", "nav",
                              "noscript", "p", "plaintext", "pre", "search", "section", "summary"}  # fmt: skip
# What the beginning of an element ends, beside a paragraph.
_ENDS = {"li": {"li"}, "dd": {"dd", "dt"}, "dt": {"dd", "dt"}, "table": _ROWS | {"table"},
         **dict.fromkeys(_CELLS, _CELLS), **dict.fromkeys(_ROWS, _CELLS | _ROWS)}  # fmt: skip


def is_costly(source: str) -> bool:
    """Return whether a page has too many tags, nests too deep, or leaves too much formatting open."""
    tags = source.count("<")
    if tags > _MOST_TAGS:
        return True
    opened = tags - source.count("</")
    repeated = _SAME_KIND * len(set(_FORMATTED.findall(source)))
    # Of most pages these numbers alone say that they cost little.
    return tags * (opened + _REPETITION * repeated) > _MOST_STEPS and _Pass().steps(source) > _MOST_STEPS


class _Pass:
    """The open elements, the blocks among them with their places, and the formatting that would be repeated."""

    def __init__(self) -> None:
        self.open = [""]
        self.blocks = [("", 0, 0)]  # the name of each, its place in ``open``, and in ``formatting``
        self.formatting: list[tuple[str, str]] = []
        self.is_choosing = False  # in a choice or in frames a parser skips tags, even <style>
        self.doubtful = 0  # up to here no comment and no script is sure to be one

    def steps(self, source: str) -> int:
        steps = place = 0
        while steps <= _MOST_STEPS:
            block = self.blocks[-1][0]
            is_doubtful = block in _FOREIGN or place < self.doubtful
            token = (_DOUBTFUL_TOKEN if is_doubtful else _TOKEN).search(source, place)
            if token is None:
                break
            place, name = token.end(), (token[2] or "").lower()
            if not name:
                continue
            if token[1]:
                self.end(name)
            elif block in _FOREIGN and name not in _END_FOREIGN and name not in _FOREIGN:
                if not _CLOSED.fullmatch(token[3]):
                    self.open.append(name)
                    self.format(name, token[3])
            elif name in _RAW:
                self.end_small(name)
                place = self.skip(name, source, place)
            elif name in _NOT_NESTED:
                self.end_small(name)
            elif not (name in _FOREIGN and _CLOSED.fullmatch(token[3])):
                self.begin(name, token[3])
            steps += len(self.open) + _REPETITION * len(self.formatting)
        return steps

    def end_small(self, name: str) -> None:
        """End the paragraphs or the items that a tag ends which is no block."""
        while (name in _END_PARAGRAPH and self.blocks[-1][0] == "p") or (
            name in _RUBY and self.blocks[-1][0] in _ITEMS and self.open[-1] == self.blocks[-1][0]
        ):
            self.cut()

    def skip(self, name: str, source: str, place: int) -> int:
        """Return where a script or its like ends; where it begins if that is in doubt, so that its tags count."""
        if self.is_choosing or place < self.doubtful:
            return place
        end = _RAW[name].search(source, place)
        content = source[place : end.start()].lower() if end is not None else ""
        comment = content.find("<!--")
        # In a script's comment, another script hides the first one's end.
        if end is None or (comment >= 0 and name == "script" and content.find("<script", comment) >= 0):
            self.doubtful = len(source)
            return place
        return end.start()

    def begin(self, name: str, attributes: str) -> None:
        if name in _BLOCKS:
            if name in _CELLS | _ROWS and self.blocks[-1][0] not in _TABLE | {"p"}:
                return
            while self.blocks[-1][0] == "p" or self.blocks[-1][0] in _ENDS.get(name, ()):
                self.cut()
            if name in _CELLS | _ROWS and self.blocks[-1][0] not in _TABLE:
                return
            self.blocks.append((name, len(self.open), len(self.formatting)))
            self.is_choosing |= name in ("select", "frameset")
        elif name in _RUBY:
            self.end_small(name)
        elif name in ("a", "nobr") or (name == "option" and self.open[-1] == name):
            self.end(name)
        self.open.append(name)
        self.format(name, attributes)

    def format(self, name: str, attributes: str) -> None:
        if name in _FORMATTING:
            since = self.formatting[self.marked() :]
            if since.count((name, attributes)) < _SAME_KIND:
                self.formatting.append((name, attributes))

    def marked(self) -> int:
        """Return where the formatting begins that the innermost cell or object holds."""
        return next((at for name, _, at in self.blocks[:-_NOT_FAR:-1] if name in _MARKERS), 0)

    def end(self, name: str) -> None:
        if name in _FORMATTING:
            since = range(len(self.formatting) - 1, self.marked() - 1, -1)
            at = next((at for at in since if self.formatting[at][0] == name), None)
            if at is not None:
                del self.formatting[at]
        block, place, _ = self.blocks[-1]
        if name in _CLOSED_INSIDE:
            if block == name and (name not in ("form", "frameset") or self.open[-1] == name):
                self.cut()
        elif name in _BLOCKS and not (block in _FOREIGN and name not in _TABLE):
            self.end_block(name)
        else:
            for at in range(len(self.open) - 1, max(place, len(self.open) - _NOT_FAR), -1):
                if self.open[at] == name:
                    del self.open[at:]
                    break

    def end_block(self, name: str) -> None:
        for at in range(len(self.blocks) - 1, max(0, len(self.blocks) - _NOT_FAR), -1):
            block = self.blocks[at][0]
            if block == name:
                while len(self.blocks) > at:
                    self.cut()
                self.is_choosing &= name != "select"
                return
            if block in _SCOPES and not (name in _TABLE and block in _CELLS):
                return

    def cut(self) -> None:
        """End the innermost block, with all that is open in it."""
        name, place, at = self.blocks.pop()
        del self.open[place:]
        if name in _MARKERS:
            del self.formatting[at:]
