"""Tell a fact's kind of period by its days. Pure.

``fp`` and ``fy`` are those of the filing, not of the fact, and are rewritten. Companies with 52 or 53 weeks have years
of 364 or 371 days, and quarters of 13 or 14 weeks, or three of 12 and one of 16 or 17.

>>> [kind_of(start, date(2024, 9, 28)) for start in (date(2024, 6, 30), date(2023, 10, 1), None)]
['quarter', 'annual', 'instant']
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal, NamedTuple

Kind = Literal["quarter", "annual", "ytd", "instant", ""]
KINDS: tuple[Kind, ...] = ("annual", "quarter", "ytd", "instant")

DAY = timedelta(days=1)
# A quarter that ends with a week ends up to six days before its month does.
WEEK = timedelta(days=7)
_DAYS: tuple[tuple[Kind, range], ...] = (
    ("quarter", range(80, 120)),  # 12 to 17 weeks; four months have at least 120 days
    ("ytd", range(165, 301)),  # two or three quarters of a fiscal year
    ("annual", range(350, 381)),
)
# Of quarters, those of 12 weeks, of which other calendars have none, and those of 16 or 17. Days may be typed off.
_TWELVE_WEEKS, _LONG = range(81, 88), range(101, 120)


class Span(NamedTuple):
    """A period of a statement, both days included; without a start, an instant."""

    start: date | None
    end: date


def kind_of(start: date | None, end: date) -> Kind:
    """Return the kind of the period from ``start`` to ``end``, both included; "" for one of another length."""
    if start is None:
        return "instant"
    days = _days(start, end)
    return next((kind for kind, lengths in _DAYS if days in lengths), "")


def is_of_twelve_weeks(span: Span) -> bool:
    """Return whether a period is a quarter of 12 weeks."""
    return span.start is not None and _days(span.start, span.end) in _TWELVE_WEEKS


def is_long_quarter(span: Span) -> bool:
    """Return whether a period is a quarter of 16 or 17 weeks, as one is beside three of 12."""
    return span.start is not None and _days(span.start, span.end) in _LONG


def _days(start: date, end: date) -> int:
    return (end - start).days + 1


def is_near(one: date, other: date) -> bool:
    """Return whether two days are one, as the end or the start of a period: no period is so short, nor ends so soon."""
    return abs(one - other) < WEEK
