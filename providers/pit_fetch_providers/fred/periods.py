"""The real-time periods to ask for. Pure.

FRED cuts ``realtime_start`` and ``realtime_end`` of a row to the period of the request: only a period that begins
before all vintages shows when a value became current. The period ends with the last day that was over at the PIT, in
US Central time: later vintages can then change neither a row nor an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.provider import Query

CENTRAL = ZoneInfo("America/Chicago")
# FRED's names for the beginning and the end of time.
BEGINNING, FOREVER = date(1776, 7, 4), date(9999, 12, 31)
# FRED refuses a period with more vintages than this (recorded: HTTP 400 that names the limit).
MOST_VINTAGES = 2_000

DAY = timedelta(days=1)


class Period(NamedTuple):
    """A real-time period, both ends included."""

    first: date
    last: date


def real_time_period(query: Query) -> Period | None:
    """Return the period of all that was public; of everything in open mode. None if the PIT lies before all vintages.

    A cursor does not narrow it: an item that was revised after the cursor's instant would come back in its older
    version.
    """
    if query.pit is None:
        return Period(BEGINNING, FOREVER)
    last = min(query.pit, query.started).astimezone(CENTRAL).date() - DAY
    return Period(BEGINNING, last) if last >= BEGINNING else None


def split(period: Period, days: Sequence[date]) -> Iterator[Period]:
    """Yield ``period`` in parts of as many vintages as one request may have, oldest first.

    ``days`` are the days of its vintages. Each part but the first begins with one.
    """
    known = sorted({day for day in days if period.first <= day <= period.last})
    starts = [period.first, *known[MOST_VINTAGES::MOST_VINTAGES]]
    ends = [*(start - DAY for start in starts[1:]), period.last]
    yield from (Period(*part) for part in zip(starts, ends, strict=True))
