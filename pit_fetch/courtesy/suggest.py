"""The known name that a mistyped word probably means. Pure.

>>> closest("lmit", ["--limit", "--after"]), closest("ticker", ["symbol", "topics"], {"symbol": "ticker stock"})
('--limit', 'symbol')
>>> hint("lmit", ["--limit"]), hint("xyzzy", ["--limit"])
(' (did you mean --limit?)', '')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})


def hint(word: str, names: Iterable[str], synonyms: Mapping[str, str] = _NONE) -> str:
    """Return " (did you mean NAME?)" with the name that :func:`closest` returns; "" if none is plausible."""
    name = closest(word, names, synonyms)
    return f" (did you mean {name}?)" if name else ""


def closest(word: str, names: Iterable[str], synonyms: Mapping[str, str] = _NONE) -> str:
    """Return which of ``names`` a word probably means, or "" rather than something far-fetched.

    ``synonyms`` maps names to other words for them, separated by spaces.
    """
    known = {normalize(name): name for name in names}
    return known.get(synonym(word, known, synonyms) or next(_similar(normalize(word), list(known)), ""), "")


def synonym(word: str, names: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return the name, normalized, that a word is or has among its synonyms; "" if there is none."""
    known, word = [normalize(name) for name in names], normalize(word)
    if word in known:
        return word
    meant = (normalize(name) for name, words in synonyms.items() if word in words.split())
    return next((name for name in meant if name in known), "")


def normalize(word: str) -> str:
    """Return a word without the hyphens or dashes before it, with hyphens in it and in lower case."""
    stripped = word.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2212").replace("_", "-")
    return stripped if stripped == "V" else stripped.lower()  # -v is another option than -V


def _similar(word: str, known: list[str]) -> Iterator[str]:
    """Yield names that a word may be a slip of, the surest first."""
    for matches in (
        [name for name in known if len(word) >= 2 and name.startswith(word)],
        [name for name in known if len(word) >= 4 and word in name.split("-")],
        [name for name in known if len(word) >= 3 and sorted(name) == sorted(word)],
        # A lower ratio would take "state" for "start".
        get_close_matches(word, [name for name in known if len(name) >= 3], n=1, cutoff=0.81) if len(word) >= 3 else [],
    ):
        yield from matches if len(matches) == 1 else ()
