"""Turn FRED's observations into records: each value with the day on which it became current. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import end_of_day, parse_date
from pit_fetch_providers.fred.periods import CENTRAL
from pit_fetch_providers.shared import UNREADABLE


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
        available_at_source="provider_metadata",
        payload=payload,
    )
