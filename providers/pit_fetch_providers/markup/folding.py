"""Compare texts as people type them: their blanks, quotation marks, dashes and ligatures as those of a keyboard. Pure.

>>> written = folded("The com\u00adpany\u2019s \ufb01rst \u201cnon\u2011GAAP\u201d loss")
>>> written.text
'The company\\'s first "non-GAAP" loss'
>>> written.shown(written.text.index("first"))
15
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from pit_fetch_providers.markup.marks import visible

_TYPED = {sign: key for key, signs in (("'", "`´‘’‚‛ʼ′"), ('"', "“”„‟″«»"), ("-", "‐‑‒–—―−")) for sign in signs}
_NOT_OF_A_KEYBOARD = re.compile("[^\0-_a-\x7f]")
# A raised figure, or a fraction, is none of the line: 5² is not 52, and 5½ not 51/2.
_APART = ("<super>", "<sub>", "<fraction>")


class Folded(NamedTuple):
    """A text as it is compared, and its places whose length differs from what is shown."""

    text: str
    ends: list[int]  # where such places end in it
    shown_ends: list[int]  # where they end in what is shown
    sizes: list[int]  # how many characters they have in it

    def shown(self, position: int) -> int:
        """Return where the character at a position stands in what is shown."""
        after = bisect_right(self.ends, position)
        ended, shown = (self.ends[after - 1], self.shown_ends[after - 1]) if after else (0, 0)
        if after < len(self.ends) and position >= self.ends[after] - self.sizes[after]:
            return self.shown_ends[after] - 1  # within a sign that stands for several
        return shown + position - ended


def folded(text: str) -> Folded:
    """Return ``text`` as it is compared."""
    pieces, ends, shown_ends, sizes = list[str](), list[int](), list[int](), list[int]()
    length = read = 0
    for match in _NOT_OF_A_KEYBOARD.finditer(text):
        sign = _typed(match[0])
        pieces += (text[read : match.start()], sign)
        length += match.start() - read + len(sign)
        read = match.end()
        if len(sign) != 1:
            ends.append(length)
            shown_ends.append(read)
            sizes.append(len(sign))
    return Folded("".join((*pieces, text[read:])), ends, shown_ends, sizes)


@lru_cache(maxsize=4_096)
def _typed(sign: str) -> str:
    """Return what a person types for a character; "" for one that nobody sees."""
    if sign in _TYPED:
        return _TYPED[sign]
    if unicodedata.decomposition(sign).startswith(_APART):
        return sign
    return unicodedata.normalize("NFKD", visible(sign))
