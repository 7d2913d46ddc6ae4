"""Calendar months, as python-dateutil counts them. Pure."""

from __future__ import annotations

from datetime import date
from typing import Any

from pit_fetch.errors import ConfigError


def required() -> Any:
    """python-dateutil's relativedelta. Raises ConfigError if it is not installed.

    Called before a row is read: which rows need it must not show.
    """
    try:
        from dateutil.relativedelta import relativedelta
    except ImportError:
        command = "python3 -m pip install python-dateutil"
        raise ConfigError("dependency_missing", package="python-dateutil", command=command) from None
    return relativedelta


def before(day: date, months: int) -> date:
    """The same day so many months earlier, or the last day of that month. Raises ValueError before year 1."""
    earlier: date = day - required()(months=months)
    return earlier


def between(first: date, last: date) -> int:
    """Whole calendar months, whatever the days."""
    distance = required()(last.replace(day=1), first.replace(day=1))
    return int(distance.years) * 12 + int(distance.months)
