"""Prices as they were traded: those of a chart, multiplied back by the splits that the same chart lists. Pure.

Yahoo divides every price by the ratio of each later split, and keeps six decimals of it, or the seven digits of a
single-precision number. So a price of the past carries two traces of what came later: its size, and the digits that
the division left. Multiplied back and rounded to cents it carries neither, since it was quoted in cents then.

>>> splits = [Split(date(2021, 7, 20), 4), Split(date(2024, 6, 10), 10)]
>>> price(13.237000465393066, factor(splits, date(2021, 2, 1), date(2021, 2, 1)))
529.48
>>> factor(splits, date(2021, 7, 19), date(2021, 7, 23)) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from math import floor, isfinite, prod
from typing import Any, NamedTuple, TypeGuard

# All shares in the USA have been quoted in cents from this day on, before it in parts of a dollar such as 1/32.
CENTS = date(2001, 4, 9)

# Below a dollar, prices have four decimals, which the division does not leave, and far above it, it leaves no cents. A
# whole number of cents that is within may come back as a bit more or less.
_LEAST, _MOST = 0.99995, 50_000.005
# Some prints have four decimals above a dollar, too. So a price counts as the next cent from half of a ten-thousandth
# below half a cent on: no print lies there, so that the digits which the division left decide nothing.
_HALF = 0.505


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

    None where its prices cannot be told: before they were in cents, and where a split lies within the bar.
    """
    later = [split for split in splits if split.day > first]
    ratios = [split.ratio for split in later if split.ratio is not None]
    if first < CENTS or len(ratios) < len(later) or any(split.day <= last for split in later):
        return None
    return prod(ratios, start=1.0)


def price(adjusted: Any, factor: float) -> float | None:
    """Return a price in dollars and cents as it was traded; None where its cents cannot be told."""
    traded = adjusted * factor if _is_positive(adjusted) else 0.0
    return floor(traded * 100 + _HALF) / 100 if _LEAST <= traded <= _MOST else None


def _is_positive(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and isfinite(value) and value > 0
