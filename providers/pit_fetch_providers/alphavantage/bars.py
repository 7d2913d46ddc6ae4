"""Date bars: one is public at the end of its interval, a daily or longer one in the evening of its last day. Pure.

The label alone decides, never another row of the reply: a rule that looked for a newer row would reveal whether there
is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo

from pit_fetch.provider import Record
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, wall_clock
from pit_fetch_providers.alphavantage.function import MINUTES, FunctionReply, Row, Rule, is_own_market
from pit_fetch_providers.alphavantage.rows import held_while_running, labelled, prefix, served

# Extended trading ends at 20:00.
EVENING = timedelta(hours=20)
LONGEST = timedelta(minutes=max(MINUTES.values()))

# The zones that replies name (recorded). An unknown name is not one to be guessed.
ZONES: Mapping[str, tzinfo] = {"US/Eastern": NEW_YORK, "America/New_York": NEW_YORK, "UTC": UTC}

# The label of an indicator has no seconds.
_LABEL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})( [0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?")


def records(reply: FunctionReply) -> Iterator[Record]:
    """Yield one record for each bar."""
    function, open_mode = reply.function, reply.query.open_mode
    passes = function.passes
    market, reply_market = reply.query.options.get("market"), reply.meta.get("market_code")
    is_own = "market" not in function.operation.needs or is_own_market(market, reply_market)
    name = prefix(reply)
    for _, row in reply.rows:
        label = None if row is None else row.get("timestamp")
        if row is None or not isinstance(label, str):
            yield Record("", None, {}, available_at_source="time_series_timestamp")
            continue
        payload = labelled("bar", row if open_mode else served(row, passes))
        ends = function.dates(row, reply)
        public = ends if is_own else None
        record = Record(
            f"{name}:{label.replace(' ', 'T')}", public, payload, available_at_source="time_series_timestamp"
        )
        if function.operation.dating.by == "receipt":
            record = record._replace(available_at=reply.received, at_receipt=True, claimed_at=public)
        yield record if open_mode else held_while_running(record, ends, reply)


# The rules. ``label`` is the match of a readable one.


def end_of_interval(row: Row, reply: FunctionReply) -> datetime | None:
    """Return the end of the interval that begins with the label: never early, even if the label marks the end."""

    def ends(label: re.Match[str], zone: tzinfo) -> datetime | None:
        start = wall_clock(datetime.fromisoformat(label[0]), zone) if label[2] else None
        return None if start is None else start + _interval(reply)

    return _latest(row, reply, ends)


def evening(last_day: Callable[[date], date]) -> Rule:
    """Return the rule that dates a bar by the evening of the last day of its period.

    A finished bar is labelled with its last session, a running one with its latest (recorded). Nothing shows that the
    values of a running row never run ahead of its label, so every row waits for the end of its period. Where a week
    or month ends with a holiday, its bar waits a day or so longer than it needs to.
    """

    def ends(label: re.Match[str], zone: tzinfo) -> datetime | None:
        # Some replies put a clock behind the last label (a running bar's last refresh): the day counts.
        day = parse_date(label[1])
        return None if day is None else _evening(max(day, last_day(day)), zone)

    return lambda row, reply: _latest(row, reply, ends)


def _latest(
    row: Row, reply: FunctionReply, ends: Callable[[re.Match[str], tzinfo], datetime | None]
) -> datetime | None:
    """Return the end of the bar, its label read in the zone that the reply names, or in each that it may mean."""
    zones = (ZONES.get(reply.meta["time_zone"]),) if "time_zone" in reply.meta else reply.function.zones
    label = _LABEL.fullmatch(str(row["timestamp"]).strip())
    if label is None:
        return None
    try:
        readings = [None if zone is None else ends(label, zone) for zone in zones]
    except (ValueError, OverflowError):
        return None
    return None if None in readings else max(end for end in readings if end is not None)


def _interval(reply: FunctionReply) -> timedelta:
    """Return the longest interval that the request and the reply name; the longest there is if neither does (a CSV)."""
    names = (reply.meta.get("interval"), reply.meta.get("series_interval"), reply.query.options.get("interval"))
    minutes = [MINUTES[name] for name in names if name and name in MINUTES]
    return timedelta(minutes=max(minutes)) if minutes else LONGEST


def _evening(day: date, zone: tzinfo) -> datetime | None:
    """Return 20:00 New York of ``day``; in another zone not before the day is over there."""
    clock = wall_clock(datetime(day.year, day.month, day.day) + EVENING, NEW_YORK)  # noqa: DTZ001
    ends = clock if zone is NEW_YORK else end_of_day(day, zone)
    return None if clock is None or ends is None else max(clock, ends)
