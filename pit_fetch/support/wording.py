"""Words for people."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "s") -> str:
    """Return how many there are of something, as "1 item" or "2,000 items"."""
    return f"{count:,} {noun}{'' if count == 1 else plural}"
