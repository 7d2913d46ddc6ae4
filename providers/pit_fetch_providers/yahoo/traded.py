"""Closes as they were traded: those of a chart, multiplied back by the splits that the same chart lists. Pure.

Yahoo divides every price by the ratio of each later split, to six decimals in single precision. So a price of the past
carries two traces of what came later: its size, and the digits that the division left. Multiplied back and rounded to
half a cent it carries neither, if it was quoted so then: the two roundings are too small to reach the next step.

>>> splits = [Split(date(2021, 7, 20), 4), Split(date(2024, 6, 10), 10)]
>>> close(13.237000465393066, factor(splits, date(2021, 2, 1), date(2021, 2, 1)))
529.48
>>> factor(splits, date(2021, 7, 19), date(2021, 7, 23)) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from math import floor, isfinite, prod
from typing import Any, NamedTuple, TypeGuard

# Since this day no share above a dollar is quoted in parts of a cent (the SEC's Rule 612). Half a cent lies between two
# quotes, and trades happen there.
QUOTED_IN_CENTS = date(2006, 1, 31)

STEPS = 200  # in a dollar
# Steps end at .51 of one, not in the middle, where the division would decide which of two a price of .0025 belongs to.
_ROUND = 0.49
# Both bounds compare steps, which no later split changes. A price of exactly a dollar is left out: below it prices have
# four decimals, of which some would round to it.
LEAST, MOST = 1 * STEPS + 1, 10_000 * STEPS
# The most by which all later splits may have divided. Six decimals then leave 0.001 dollars of doubt, and single
# precision 0.0006 of the largest price: together less than the 0.00245 to where a step ends.
MOST_DIVIDED = 2_000


class Split(NamedTuple):
    """A split: from ``day`` on, ``ratio`` shares take the place of one. None: it has no readable ratio."""

    day: date
    ratio: float | None


def ratio(row: Mapping[str, Any]) -> float | None:
    """Return the ratio of a split by its ``numerator`` and ``denominator``; None if it has none."""
    numerator, denominator = row.get("numerator"), row.get("denominator")
    return numerator / denominator if _is_positive(numerator) and _is_positive(denominator) else None


def factor(splits: Sequence[Split], first: date, last: date) -> float | None:
    """Return by how much a bar of the days from ``first`` to ``last`` was divided since.

    None where its close cannot be told: before prices were in cents, where a split lies within the bar, and where the
    division has left too few digits.
    """
    later = [split for split in splits if split.day > first]
    ratios = [split.ratio for split in later if split.ratio is not None]
    if first < QUOTED_IN_CENTS or len(ratios) < len(later) or any(split.day <= last for split in later):
        return None
    divided = prod(ratios, start=1.0)
    return divided if divided <= MOST_DIVIDED else None


def close(adjusted: Any, factor: float) -> float | None:
    """Return a close in dollars as it was traded; None where it cannot be told."""
    traded = adjusted * factor * STEPS if _is_positive(adjusted) else 0.0
    # Compared first: what is too large for a whole number cannot be rounded.
    steps = floor(traded + _ROUND) if traded < MOST + 1 else 0
    return steps / STEPS if LEAST <= steps <= MOST else None


def _is_positive(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and isfinite(value) and value > 0
