"""When a bar was public: at the end of its interval, and a daily or longer one in the evening of its last day. Pure.

The label alone decides, never the other rows of the reply: a rule that looked for a newer row would
tell whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, wall_clock
from pit_fetch_providers.alphavantage.function import MINUTES, Answer, Row, Rule, is_own_market
from pit_fetch_providers.alphavantage.rows import labelled, prefix, served

# The official volume follows the close by hours; extended trading ends at 20:00.
EVENING = timedelta(hours=20)
LONGEST = timedelta(minutes=max(MINUTES.values()))

# The zones that replies name (recorded). An unknown name is not one to be guessed.
ZONES: Mapping[str, tzinfo] = {"US/Eastern": NEW_YORK, "America/New_York": NEW_YORK, "UTC": UTC}

_LABEL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})( [0-9]{2}:[0-9]{2}:[0-9]{2})?")


def records(answer: Answer) -> Iterator[Record]:
    """One record a bar."""
    function, open_mode = answer.function, answer.query.open_mode
    passes, columns = function.passes, frozenset(function.columns)
    asked, named = answer.query.options.get("market"), answer.meta.get("market_code")
    is_own = "market" not in function.operation.needs or is_own_market(asked, named)
    name = prefix(answer)
    for _, row in answer.rows:
        label = None if row is None else row.get("timestamp")
        if row is None or not isinstance(label, str):
            yield Record("", None, "time_series_timestamp", {})
            continue
        payload = labelled("bar", row if open_mode else served(row, passes))
        # The coin prices of before 2024 lack the plain columns: they were converted in every market.
        is_shown = is_own and (open_mode or payload.keys() >= columns)
        public = function.dates(row, answer) if is_shown else None
        yield Record(f"{name}:{label.replace(' ', 'T')}", public, "time_series_timestamp", payload)


# The rules. ``label`` is the match of a readable one.


def end_of_interval(row: Row, answer: Answer) -> datetime | None:
    """The end of the interval that begins with the label: never early, also where the label marks the end."""

    def ends(label: re.Match[str], zone: tzinfo) -> datetime | None:
        start = wall_clock(datetime.fromisoformat(label[0]), zone) if label[2] else None
        return None if start is None else start + _interval(answer)

    return _latest(row, answer, ends)


def evening(last_day: Callable[[date], date]) -> Rule:
    """The evening of the last day of the bar's period.

    A finished bar is labelled with its last session, a running one with its latest (recorded). Nothing
    shows that a running row's values never run ahead of its label, so all wait for the period's end:
    those of a week or month that ends with a holiday for a day or so longer than they need.
    """

    def ends(label: re.Match[str], zone: tzinfo) -> datetime | None:
        # Some replies put a clock behind the last label (a running bar's last refresh): the day counts.
        day = parse_date(label[1])
        return None if day is None else _evening(max(day, last_day(day)), zone)

    return lambda row, answer: _latest(row, answer, ends)


def _latest(row: Row, answer: Answer, ends: Callable[[re.Match[str], tzinfo], datetime | None]) -> datetime | None:
    """The end of the bar, its label read in the zone that the reply names, or in each that it may mean."""
    zones = (ZONES.get(answer.meta["time_zone"]),) if "time_zone" in answer.meta else answer.function.zones
    label = _LABEL.fullmatch(str(row["timestamp"]).strip())
    if label is None:
        return None
    try:
        found = [None if zone is None else ends(label, zone) for zone in zones]
    except (ValueError, OverflowError):
        return None
    return None if None in found else max(end for end in found if end is not None)


def _interval(answer: Answer) -> timedelta:
    """The longest of those that the request and the reply name; the longest there is when none does (a CSV)."""
    told = (answer.meta.get("interval"), answer.meta.get("series_interval"), answer.query.options.get("interval"))
    minutes = [MINUTES[name] for name in told if name and name in MINUTES]
    return timedelta(minutes=max(minutes)) if minutes else LONGEST


def _evening(day: date, zone: tzinfo) -> datetime | None:
    """20:00 New York of ``day``; in another zone not before the day is over there."""
    clock = wall_clock(datetime(day.year, day.month, day.day) + EVENING, NEW_YORK)  # noqa: DTZ001
    ends = clock if zone is NEW_YORK else end_of_day(day, zone)
    return None if clock is None or ends is None else max(clock, ends)


# The last day of the period of a label.


def own_day(label: date) -> date:
    return label


def friday(label: date) -> date:
    return label + timedelta(days=4 - label.weekday())


def sunday(label: date) -> date:
    return label + timedelta(days=6 - label.weekday())


def last_of_month(label: date) -> date:
    last: date = label + _to_the_end_of_the_month()
    return last


def last_weekday_of_month(label: date) -> date:
    last = last_of_month(label)
    return last - timedelta(days=max(last.weekday() - 4, 0))


@cache
def _to_the_end_of_the_month() -> Any:
    """Made once: a reply has a row for each of some 300 months, and --help has none."""
    from dateutil.relativedelta import relativedelta

    return relativedelta(day=31)
