"""Compare texts as people type them: their blanks, quotation marks, dashes and ligatures as those of a keyboard. Pure.

>>> written = folded("The com\u00adpany\u2019s \ufb01rst \u201cnon\u2011GAAP\u201d loss")
>>> written.text
'The company\\'s first "non-GAAP" loss'
>>> place = written.text.index("first")
>>> written.shown(place, place + len("first"))
(15, 19)
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pit_fetch_providers.markup.marks import visible

_TYPED = {
    sign: key for key, signs in (("'", "`´‘’‚‛ʼ′‹›"), ('"', "“”„‟″«»"), ("-", "‐‑‒–—―−"), ("/", "⁄∕")) for sign in signs
}
_NOT_OF_A_KEYBOARD = re.compile("[^\0-_a-\x7f]")
# As typewriters and TeX have them: ``quoted''.
_IN_PAIRS = ("``", "''")
_PAIR_OR_NOT_OF_A_KEYBOARD = re.compile(f"{'|'.join(_IN_PAIRS)}|{_NOT_OF_A_KEYBOARD.pattern}")
# A raised figure, or a fraction, is none of the line: 5² is not 52, and 5½ not 51/2.
_APART = ("<super>", "<sub>", "<fraction>")


class Folded(NamedTuple):
    """A text as it is compared, and its signs whose length differs from what is shown."""

    text: str
    ends: list[int]  # where such signs end in it
    shown_ends: list[int]  # where they end in what is shown
    sizes: list[int]  # how many characters they have in it

    def shown(self, start: int, end: int) -> tuple[int, int]:
        """Return where a place begins and ends in what is shown."""
        return self._shown(start)[0], self._shown(end - 1)[1]

    def _shown(self, position: int) -> tuple[int, int]:
        """Return where the sign begins and ends in what is shown whose character is at a position."""
        after = bisect_right(self.ends, position)
        if after < len(self.ends) and position >= self.ends[after] - self.sizes[after]:
            width = 2 if self.sizes[after] == 1 else 1  # one character for another is no such place, one for a pair is
            return self.shown_ends[after] - width, self.shown_ends[after]
        ended, shown = (self.ends[after - 1], self.shown_ends[after - 1]) if after else (0, 0)
        return shown + position - ended, shown + position - ended + 1


def folded(text: str) -> Folded:
    """Return ``text`` as it is compared, but for the size of its letters."""
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
    """Yield what people may type in another way."""
    has_pairs = any(pair in text for pair in _IN_PAIRS)
    return (_PAIR_OR_NOT_OF_A_KEYBOARD if has_pairs else _NOT_OF_A_KEYBOARD).finditer(text)


@lru_cache(maxsize=4_096)
def _typed(sign: str) -> str:
    """Return what a person types for a character, or two; "" for one that nobody sees."""
    if sign in _TYPED or sign in _IN_PAIRS:
        return _TYPED.get(sign, '"')
    if unicodedata.decomposition(sign).startswith(_APART):
        return sign
    return unicodedata.normalize("NFKD", visible(sign)).casefold()  # in which \u00df is ss
