"""FRED's observations as records, each with the day on which it became current, and the periods to ask for. Pure.

FRED cuts ``realtime_start`` and ``realtime_end`` of a row to the period of the request: only a period that begins
before all vintages shows when a value became current. The period ends with the last day that was over at the PIT, in
US Central time: later vintages can then change neither a row nor an error.

>>> days = [date(2024, 1, day) for day in (1, 2, 3)]
>>> [str(part.first) for part in split(RealTimePeriod(date(2024, 1, 1), date(2024, 1, 31)), days)]
['2024-01-01']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import end_of_day, parse_date
from pit_fetch_providers.shared import UNREADABLE

CENTRAL = ZoneInfo("America/Chicago")
# FRED's names for the beginning and the end of time.
BEGINNING, FOREVER = date(1776, 7, 4), date(9999, 12, 31)
# FRED refuses a period with more vintages than this (recorded: HTTP 400 that names the limit).
MOST_VINTAGES = 2_000

DAY = timedelta(days=1)


class RealTimePeriod(NamedTuple):
    """A real-time period, both ends included."""

    first: date
    last: date


def real_time_period(query: Query) -> RealTimePeriod | None:
    """Return the period of all that was public; of everything in open mode. None if the PIT lies before all vintages.

    A cursor does not narrow it: an item that was revised after the cursor's instant would come back in its older
    version.
    """
    if query.pit is None:
        return RealTimePeriod(BEGINNING, FOREVER)
    last = min(query.pit, query.started).astimezone(CENTRAL).date() - DAY
    return RealTimePeriod(BEGINNING, last) if last >= BEGINNING else None


def split(period: RealTimePeriod, days: Sequence[date]) -> Iterator[RealTimePeriod]:
    """Yield ``period`` in parts of as many vintages as one request may have, oldest first.

    ``days`` are the days of its vintages. Each part but the first begins with one.
    """
    known = sorted({day for day in days if period.first <= day <= period.last})
    starts = [period.first, *known[MOST_VINTAGES::MOST_VINTAGES]]
    ends = [*(start - DAY for start in starts[1:]), period.last]
    yield from (RealTimePeriod(*part) for part in zip(starts, ends, strict=True))


def document(reply: Any) -> Mapping[str, Any]:
    """Return a decoded reply that holds observations. Raise UpstreamError for anything else."""
    if not isinstance(reply, dict) or not isinstance(reply.get("observations"), list):
        raise UpstreamError(Code.MALFORMED, problem="it has no observations")
    # 2 and 3 have a column for each vintage, 4 leaves out all revisions.
    if reply.get("output_type", 1) != 1:
        raise UpstreamError(Code.MALFORMED, problem="it was asked for with another output_type than 1")
    # Changes and logarithms are other figures than the series' own.
    if reply.get("units") not in (None, "lin"):
        raise UpstreamError(Code.MALFORMED, problem="it was asked for with other units than lin")
    return reply


def last_day(reply: Mapping[str, Any]) -> date:
    """Return the last day of a reply's real-time period. Raise UpstreamError if it does not state it."""
    day = parse_date(reply.get("realtime_end"))
    if day is None:
        raise UpstreamError(Code.MALFORMED, problem="it does not state its realtime_end")
    return day


def records(reply: Mapping[str, Any], query: Query) -> Iterator[Record]:
    """Yield one record for each row of a reply."""
    for row in reply["observations"]:
        yield _record(row, query) if isinstance(row, dict) else UNREADABLE


def undated(record: Record) -> Record:
    """Return the record without its dates, for a reply of today's values: its real-time period shows nothing."""
    payload = {name: value for name, value in record.payload.items() if not name.startswith("realtime")}
    return record._replace(available_at=None, payload=payload)


def joined(before: Sequence[Record], part: Sequence[Record], first: date) -> list[Record]:
    """Return the records of two adjoining periods, of which the later begins on the day ``first``.

    A row that begins with the later period is a vintage of that day only if its value differs from the one that was
    current before. Otherwise it is the same value, whose beginning was cut off.
    """
    part_begins = end_of_day(first, CENTRAL)
    dated = [
        (record.available_at, record.id, record.payload["value"])
        for record in before
        if record.available_at is not None
    ]
    current = {name: value for _, name, value in sorted(dated)}

    def is_vintage(record: Record) -> bool:
        return record.available_at != part_begins or current.get(record.id) != record.payload["value"]

    return [*before, *filter(is_vintage, part)]


def _record(row: Mapping[str, Any], query: Query) -> Record:
    day, start, value = parse_date(row.get("date")), parse_date(row.get("realtime_start")), row.get("value")
    if day is None or not isinstance(value, str):
        return UNREADABLE
    series = query.options["series_id"]
    payload = {"date": day.isoformat(), "value": value, "realtime_start": row.get("realtime_start")}
    if query.open_mode:  # with a PIT it would tell when the value is going to be revised
        payload["realtime_end"] = row.get("realtime_end")
    return Record(
        id=f"{series}@{day}" if series else f"{day}",
        available_at=None if start is None else end_of_day(start, CENTRAL),
        payload=payload,
    )
