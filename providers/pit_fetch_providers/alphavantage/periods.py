"""The last day of a period, and calendar months as python-dateutil counts them. Pure.

>>> str(friday(date(2024, 2, 14))), str(last_of(date(2024, 1, 1), "quarterly"))
('2024-02-16', '2024-03-31')
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code

# The last day of the period of ``label``: a day, a week, a month.


def own_day(label: date) -> date:
    return label


def friday(label: date) -> date:
    return label + timedelta(days=4 - label.weekday())


def sunday(label: date) -> date:
    return label + timedelta(days=6 - label.weekday())


def last_of_month(label: date) -> date:
    last: date = label + load_relativedelta()(day=31)
    return last


def last_weekday_of_month(label: date) -> date:
    last = last_of_month(label)
    return last - timedelta(days=max(last.weekday() - 4, 0))


# How long the period of an economic series lasts that begins with its label.
_LENGTHS: Mapping[str, Mapping[str, int]] = {
    "daily": {"days": 1},
    "weekly": {"days": 7},
    "monthly": {"months": 1},
    "quarterly": {"months": 3},
    "semiannual": {"months": 6},
    "annual": {"years": 1},
}


def last_of(first: date, interval: str) -> date:
    """Return the last day of the period of ``interval`` that begins on ``first``."""
    following: date = first + load_relativedelta()(**_LENGTHS.get(interval, {"days": 1}))
    return following - timedelta(days=1)


def load_relativedelta() -> Any:
    """Return python-dateutil's relativedelta. Raise ConfigError if it is not installed.

    Call it before the first row is read: the error must not reveal which rows need it.
    """
    try:
        from dateutil.relativedelta import relativedelta
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="python-dateutil") from None
    return relativedelta


def months_before(day: date, months: int) -> date:
    """Return the same day ``months`` earlier, or the last day of that month. Raise ValueError before year 1."""
    earlier: date = day - load_relativedelta()(months=months)
    return earlier


def months_between(first: date, last: date) -> int:
    """Return the number of calendar months from ``first`` to ``last``, whatever the days."""
    distance = load_relativedelta()(last.replace(day=1), first.replace(day=1))
    return int(distance.years) * 12 + int(distance.months)
