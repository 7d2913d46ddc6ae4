"""Words for people. Pure.

>>> counted(1, "item"), counted(2000, "item"), enumerate_names(["AAPL", "MSFT", "IBM"], most=2)
('1 item', '2,000 items', 'AAPL, MSFT and 1 more')
"""

from __future__ import annotations

from collections.abc import Sequence

_MAX_LENGTH = 40


def counted(count: int, noun: str, plural: str = "s") -> str:
    """Return how many there are of something, as "1 item" or "2,000 items"."""
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def enumerate_names(names: Sequence[str], most: int = 20) -> str:
    """Return names for a message, at most ``most`` of them, however many there are and however long they are."""
    more = len(names) - most
    return ", ".join(map(truncate, names[:most])) + (f" and {more} more" if more > 0 else "")


def truncate(word: str) -> str:
    """Return ``word`` as a message may repeat it: cut to a reasonable length."""
    return word if len(word) <= _MAX_LENGTH else word[:_MAX_LENGTH] + "..."
