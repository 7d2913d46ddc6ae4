"""Wikitext in which whatever is opened is closed, as its parser needs it. Pure.

For each opening without an end the parser reads on to the end of the text: 12 kB of ``{{a|`` took a minute, in which
nothing can interrupt it. And what is nested a thousand times ends Python's stack.
"""

from __future__ import annotations

import re
from collections import Counter

# Openings that lie deeper are plain text. Articles nest some ten.
_MAX_DEPTH = 30
_MAX_BRACES = 6
_SCHEME = r"(?i:[a-z]+://|//|(?:bitcoin|geo|magnet|mailto|news|sips?|sms|tel|urn|xmpp):)"
_TOKEN = re.compile(
    r"(?P<braces>\{{2,})|(?P<closing_braces>\}{2,})|(?P<comment><!--)|(?P<line>\n)"
    # "[[http:" is read in two ways, and each within such a one in four.
    rf"|(?P<address>\[(?=\[{_SCHEME}))|(?P<link>\[\[|\[(?={_SCHEME}))|(?P<link_end>\])"
    r"|(?P<end_tag></[a-zA-Z][\w:-]*)|(?P<tag><[a-zA-Z][\w:-]*)|(?P<tag_end>/?>)"
    r"|(?P<table>^[ \t:]*\{\|)|(?P<table_end>^[ \t]*\|\}(?!\}))",
    re.MULTILINE,
)
# As the parser knows them: tags that need no end, and those whose content it does not read.
_SINGLE = frozenset({"br", "wbr", "hr", "meta", "link", "img", "li", "dt", "dd", "th", "td", "tr"})
_RAW = frozenset({"categorytree", "ce", "chem", "gallery", "graph", "hiero", "imagemap", "inputbox", "math", "nowiki",
                  "pre", "score", "section", "source", "syntaxhighlight", "templatedata", "timeline"})  # fmt: skip
# What is no character, and in no article, stands for one that opens nothing.
_STAND_INS = {"{": "\ufdd0", "[": "\ufdd1", "<": "\ufdd2"}
_BACK = str.maketrans({stand_in: character for character, stand_in in _STAND_INS.items()})


def closed(source: str) -> str:
    """Return the source with a stand-in for each character that opens something without an end."""
    places = _Reader(source).read()
    text = [*source] if places else []
    for place in places:
        text[place] = _STAND_INS[text[place]]
    return "".join(text) or source


def restored(text: str) -> str:
    """Return a text that was read in a closed source, without stand-ins."""
    return text.translate(_BACK)


_CLOSES = {"link_end": "[", "table_end": "{|"}


class _Opening:
    """What opens something.

    kind   "{", "[[", "[", "{|", "<" up to a tag's ">", and then "<b"
    width  how many characters open it
    name   of a tag: "<b"
    """

    __slots__ = ("kind", "name", "place", "width")

    def __init__(self, kind: str, place: int, width: int = 1, name: str = "") -> None:
        self.kind, self.place, self.width, self.name = kind, place, width, name


_NOTHING = _Opening("", 0)


class _Reader:
    """Reads a source from token to token, with what is open, and what has turned out to have no end."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.openings: list[_Opening] = []
        self.count = Counter[str]()  # of each kind
        self.endless: list[int] = []
        self.missing = set[str]()  # what the rest of the source does not have

    def read(self) -> list[int]:
        """Return the place of each character that opens something without an end."""
        position = 0
        while token := _TOKEN.search(self.source, position):
            position = self._take(token.lastgroup or "", token[0].lower(), token.start(), token.end())
        while self.openings:
            self._give_up()
        return self.endless

    def _take(self, kind: str, token: str, start: int, end: int) -> int:
        """Take one token, and return where to read on."""
        if kind == "braces":
            surplus = max(len(token) - _MAX_BRACES, 0)
            self.endless += range(start, start + surplus)
            self._open(_Opening("{", start + surplus, width=len(token) - surplus))
        elif kind == "closing_braces":
            self._close_braces(len(token))
        elif kind == "link":
            self._open(_Opening(token, start, width=len(token)))
        elif kind == "table":
            self._open(_Opening("{|", end - 2))
        elif kind == "tag" or (kind == "end_tag" and token[2:] in _SINGLE):  # some write </br>
            self._open(_Opening("<", start, name=token.replace("/", "")))
        elif kind == "tag_end" and self._is_innermost("<"):
            tag = self._close("<")
            return self._enter(tag, end) if len(token) == 1 else end
        elif kind == "address":
            self.endless.append(start)
        elif kind == "comment":
            return self._behind("-->", start, end)
        elif kind == "link_end" and not self._is_innermost("["):
            if self.count["[["] and self.source.startswith("]", end):
                self._close("[[")
                return end + 1
        elif kind in _CLOSES or kind == "end_tag":
            self._close(_CLOSES.get(kind) or token.replace("/", ""))
        elif kind == "line" and self._is_innermost("["):
            self._give_up()
            return end - 1  # for the one around it
        return end

    def _close_braces(self, left: int) -> None:
        while left >= 2 and self.count["{"]:
            while not self._is_innermost("{"):
                self._give_up()
            opening = self.openings[-1]
            taken = 3 if min(left, opening.width) >= 3 else 2
            opening.width -= taken
            left -= taken
            if opening.width < 2:
                self._give_up()

    def _enter(self, tag: _Opening, end: int) -> int:
        """Go into a tag that has begun, unless it has no content or one that nobody reads. Return where to read on."""
        name = tag.name[1:]
        if name in _RAW:
            return self._behind(f"</{name}", tag.place, end)
        if name not in _SINGLE:
            self._open(_Opening(tag.name, tag.place))
        return end

    def _behind(self, text: str, start: int, position: int) -> int:
        """Return the place behind the next ``text``. Without one, what opened at ``start`` has no end."""
        match = text not in self.missing and re.compile(text, re.ASCII | re.IGNORECASE).search(self.source, position)
        if match:
            return match.end()
        self.missing.add(text)
        self.endless.append(start)
        return position

    def _open(self, opening: _Opening) -> None:
        self.openings.append(opening)
        self.count[opening.kind] += 1
        if len(self.openings) > _MAX_DEPTH:
            self._give_up()

    def _close(self, kind: str) -> _Opening:
        """Close the innermost opening of a kind, if there is one. What was opened within it has no end."""
        if not self.count[kind]:
            return _NOTHING
        while not self._is_innermost(kind):
            self._give_up()
        self.count[kind] -= 1
        return self.openings.pop()

    def _is_innermost(self, kind: str) -> bool:
        return bool(self.openings) and self.openings[-1].kind == kind

    def _give_up(self) -> None:
        opening = self.openings.pop()
        self.count[opening.kind] -= 1
        self.endless += range(opening.place, opening.place + opening.width)
