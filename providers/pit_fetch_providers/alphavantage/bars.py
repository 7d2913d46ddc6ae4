"""When a bar was public: at the end of its interval, and a daily or longer one in the evening of its last day. Pure.

The label alone decides, never the other rows of the reply: a rule that looked for a newer row would
tell whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Any

from pit_fetch.provider import Query
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, start_of_day, wall_clock
from pit_fetch_providers.alphavantage.function import MARKETS, MINUTES, Function

# The official volume follows the close by hours; extended trading ends at 20:00.
EVENING = timedelta(hours=20)

# The zones that replies name (recorded). An unknown name is no zone to be guessed.
ZONES: Mapping[str, tzinfo] = {"US/Eastern": NEW_YORK, "America/New_York": NEW_YORK, "UTC": UTC}

FIRST_MONTH = date(2000, 1, 1)  # the earliest that month= takes, says the documentation

_LABEL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})( [0-9]{2}:[0-9]{2}:[0-9]{2})?")


def available_at(label: Any, function: Function, meta: Mapping[str, str], asked: str | None) -> datetime | None:
    """The instant at which the bar labelled ``label`` was complete and public; None when that cannot be shown.

    ``asked`` is the interval of the request. Where the reply names another one, the longer counts.
    """
    named = (ZONES.get(meta["time_zone"]),) if "time_zone" in meta else function.zones
    match = _LABEL.fullmatch(label.strip()) if isinstance(label, str) else None
    if match is None:
        return None
    try:
        minutes = _minutes(meta.get("interval"), meta.get("series_interval"), asked)
        ends = [None if zone is None else _end(match, function, zone, minutes) for zone in named]
        return None if None in ends else max(end for end in ends if end is not None)
    except (ValueError, OverflowError):
        return None


def _end(label: re.Match[str], function: Function, zone: tzinfo, minutes: int) -> datetime | None:
    """The end of the bar, its label read in ``zone``."""
    if function.period == "intraday":
        start = wall_clock(datetime.fromisoformat(label[0]), zone) if label[2] else None
        return None if start is None else start + timedelta(minutes=minutes)
    # Some replies put a clock behind the last label (a running bar's last refresh): the day counts.
    day = parse_date(label[1])
    return None if day is None else _evening(_last_day(day, function), zone)


def is_market_s_own(function: Function, meta: Mapping[str, str], asked: str | None) -> bool:
    """Whether the prices are the market's: those of other markets carry the exchange rate of the day of the fetch.

    ``asked`` is the market of the request. A CSV does not name its own.
    """
    if "market" not in function.needs:
        return True
    named = [name.upper() for name in (asked, meta.get("market_code")) if name]
    return bool(named) and all(name in MARKETS for name in named)


def _minutes(*intervals: str | None) -> int:
    """The longest of the known intervals; the longest there is when none is known (CSV does not say)."""
    return max((MINUTES[name] for name in intervals if name and name in MINUTES), default=max(MINUTES.values()))


def _last_day(label: date, function: Function) -> date:
    """The last day of the bar's period: a Friday, the month's last weekday; for coins a Sunday, the month's last day.

    A finished bar is labelled with its last session, a running one with its latest (recorded). Nothing
    shows that a running row's values never run ahead of its label, so all wait for the period's end:
    those of a week or month that ends with a holiday for a day or so longer than they need.
    """
    if function.period == "week":
        last = label + timedelta(days=(6 if function.weekends else 4) - label.weekday())
    elif function.period == "month":
        last = label + _to_the_end_of_the_month()
        if not function.weekends:
            last -= timedelta(days=max(last.weekday() - 4, 0))
    else:
        last = label
    return max(label, last)


@cache
def _to_the_end_of_the_month() -> Any:
    """Made once: a reply has a row for each of some 300 months, and --help has none."""
    from dateutil.relativedelta import relativedelta

    return relativedelta(day=31)


def _evening(day: date, zone: tzinfo) -> datetime | None:
    """20:00 New York of ``day``; in another zone not before the day is over there."""
    evening = wall_clock(datetime(day.year, day.month, day.day) + EVENING, NEW_YORK)  # noqa: DTZ001
    ends = evening if zone is NEW_YORK else end_of_day(day, zone)
    return None if evening is None or ends is None else max(evening, ends)


def first_month(query: Query) -> date:
    """The first day of the last month of which a bar can be wanted. One whose first bar is not over yet holds none."""
    local = query.horizon.astimezone(NEW_YORK)
    month = date(local.year, local.month, 1)
    begins = start_of_day(month, NEW_YORK)
    return before(month) if begins is not None and query.horizon < begins + timedelta(minutes=1) else month


def last_month(query: Query) -> date:
    """The first day of the month of the first bar that can be wanted. A bar that begins in it may end in the next."""
    if query.since is None:
        return FIRST_MONTH
    local = (query.since - timedelta(minutes=max(MINUTES.values()))).astimezone(NEW_YORK)
    return max(FIRST_MONTH, date(local.year, local.month, 1))


def before(month: date) -> date:
    from dateutil.relativedelta import relativedelta

    earlier: date = month - relativedelta(months=1)
    return earlier


def spelled(month: date) -> str:
    return f"{month:%Y-%m}"
