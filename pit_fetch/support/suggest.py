"""The known word that a mistyped one probably means. Pure.

>>> name("lmit", ["--limit", "--after"])
'--limit'
>>> name("ticker", ["symbol", "topics"], {"symbol": "ticker stock"})
'symbol'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

_MAX_LENGTH = 40
_NO_TERMS: Mapping[str, str] = MappingProxyType({})


def enumerate_names(names: Sequence[str], most: int = 20) -> str:
    """Return names for a message, at most ``most`` of them, however many there are and however long they are."""
    more = len(names) - most
    return ", ".join(map(truncate, names[:most])) + (f" and {more} more" if more > 0 else "")


def truncate(word: str) -> str:
    """Return ``word`` as a message may repeat it: cut to a reasonable length."""
    return word if len(word) <= _MAX_LENGTH else word[:_MAX_LENGTH] + "..."


def name(word: str, names: Iterable[str], search_terms: Mapping[str, str] = _NO_TERMS) -> str:
    """Return which of ``names`` ``word`` probably means, or "" if none is plausible.

    ``search_terms`` maps names to other words for them, separated by spaces.
    """
    known = {normalize(candidate): candidate for candidate in names}
    match = _closest(normalize(word), list(known), search_terms)
    return known[match] if match else ""


def normalize(word: str) -> str:
    """Return ``word`` without the hyphens or dashes before it, with hyphens in it and in lower case."""
    stripped = word.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2212").replace("_", "-")
    return stripped if stripped == "V" else stripped.lower()


def by_terms(word: str, known: Iterable[str], search_terms: Mapping[str, str]) -> str:
    """Return the name, normalized, that has ``word`` among its search terms; "" if none has."""
    names = {normalize(name) for name in known}
    meant = (name for name, terms in search_terms.items() if word in terms.split() and normalize(name) in names)
    return normalize(next(meant, ""))


def _closest(word: str, known: Sequence[str], search_terms: Mapping[str, str]) -> str:
    """Return the plausible one of ``known``, by the surest sign first, or "" rather than something far-fetched."""
    if word in known:
        return word
    meant = by_terms(word, known, search_terms)
    if meant:
        return meant
    parts, letters = sorted(word.split("-")), sorted(word)
    signs: tuple[Callable[[str], bool], ...] = (
        lambda other: sorted(other.split("-")) == parts,
        lambda other: len(word) >= 2 and other.startswith(word),
        lambda other: len(other) >= 3 and word.startswith(other) and len(word) - len(other) <= 2,
        lambda other: len(word) >= 4 and word in other.split("-"),
        lambda other: len(word) >= 3 and sorted(other) == letters,
    )
    for is_sign in signs:
        matches = [other for other in known if is_sign(other)]
        if len(matches) == 1:
            return matches[0]
    if len(word) < 3:
        return ""
    from difflib import get_close_matches

    # A lower ratio would take "state" for "start".
    close = get_close_matches(word, [other for other in known if len(other) >= 3], n=1, cutoff=0.81)
    return close[0] if close else ""
