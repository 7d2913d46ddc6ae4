"""The sessions of an exchange as instants, by exchange_calendars.

A calendar knows closures before they were announced, such as those of September 2001: it is for the grid of an
operator, who chooses when to ask, and for nothing that an answer depends on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code


def sessions(
    exchange: str, first: date, last: date, event: Literal["open", "close"], offset: timedelta
) -> Iterator[datetime]:
    """Yield the opening or closing of each session from ``first`` to ``last``, and ``offset`` later, in UTC.

    Raise UsageError for what no calendar knows, ConfigError without exchange_calendars.
    """
    try:
        import exchange_calendars
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="exchange_calendars") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses pandas in ways that pandas is about to change
            # The day after, since it wants more than one.
            calendar = exchange_calendars.get_calendar(exchange, start=first, end=last + timedelta(days=1))
    except exchange_calendars.errors.InvalidCalendarName:
        raise _refused(f"{exchange} is no exchange that is known: write its code, such as XNYS or XLON") from None
    except exchange_calendars.errors.NoSessionsError:
        return
    except (ValueError, OverflowError):
        raise _refused(f"the sessions of {exchange} are not known from {first} to {last}: choose other days") from None
    for session, instant in (calendar.opens if event == "open" else calendar.closes).items():
        if session.date() <= last:
            yield instant.to_pydatetime().astimezone(UTC) + offset


def _refused(text: str) -> UsageError:
    return UsageError(Code.USAGE, text=f"pits: {text}")
