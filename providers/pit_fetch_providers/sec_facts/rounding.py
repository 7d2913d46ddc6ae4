"""Tell an amount that was rounded, as notes round, from one of the statement itself. Pure.

The SEC's file does not say how exact an amount is. A note speaks of "an aggregate of $5.0 billion" under the concept
that stands beside millions elsewhere: 5,000 for the half of a year whose quarters are 2,486 and 2,490.

>>> zeros(5_000_000_000), zeros(2_490_000_000), zeros(12.5)
(9, 7, -1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pit_fetch_providers.sec_facts.cells import total

_Key = TypeVar("_Key")
# A value in millions that was in thousands before differs by less than this share of it.
ROUNDING = 0.001
# By how many zeros an amount has to exceed the finest beside it, to be rounded unless its own quarters prove it, and to
# be rounded if they disprove it. One in a thousand ends on three more by chance, and one in a hundred on two.
_UNLESS_PROVED, _IF_DISPROVED = 3, 2


def zeros(amount: int | float) -> int:
    """Return the number of zeros at the end of an amount; less than none are digits behind the point."""
    whole = int(amount)
    if whole != amount:
        return -len(str(amount).partition(".")[2])
    digits = str(whole)
    return len(digits) - len(digits.rstrip("0"))


def suspects(amounts: Mapping[_Key, int | float]) -> tuple[int, list[_Key]]:
    """Return the zeros of the finest amount but nothing, which is exact, and which amounts may be rounded beside it.

    The quarters of such an amount decide.
    """
    counts = {key: zeros(amount) for key, amount in amounts.items() if amount}
    least = min(counts.values(), default=0)
    return least, [key for key, count in counts.items() if count - least >= _IF_DISPROVED]


def is_rounded(amount: int | float, least: int, quarters: Sequence[int | float] | None) -> bool:
    """Return whether an amount that may be rounded is, by its ``quarters``; None if not all of them are known."""
    if quarters is None:
        return zeros(amount) - least >= _UNLESS_PROVED
    return abs(total([*quarters, -amount])) > len(quarters) * 10.0**least
