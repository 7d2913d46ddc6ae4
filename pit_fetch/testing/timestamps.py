"""Timestamps as they appear in replies: the least that they say, and how they look when they say less. Pure."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from pit_fetch.times import end_of_day, parse_rfc2822, parse_rfc3339, wall_clock

# The zone whose days begin, and end, before all others.
EARLIEST_ZONE = timezone(timedelta(hours=14))

_LOOSE = re.compile(
    r"(?:[A-Z][a-z]{2,8} [0-9]{1,2}, [0-9]{4}|[0-9]{1,2} [A-Z][a-z]{2,8} [0-9]{4}|"
    r"[0-9]{1,4}[/.][0-9]{1,2}[/.][0-9]{2,4})"
    r"(?:,? [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: [AP]M)?)?"
)
_ISO = re.compile(r"([0-9]{4})-?([01][0-9])-?([0-3][0-9])(?:[T ]?([0-2][0-9]):?([0-5][0-9])(?::?([0-5][0-9]))?\S*)?")
_RFC2822 = re.compile(r"(?:[A-Z][a-z]{2},\s+)?([0-9]{1,2})\s+([A-Z][a-z]{2})\s+([0-9]{4})\s+([0-9:]{5,8})\s*(\S*)")
_NAMED = re.compile(r"[A-Za-z]{2,}$")
_OFFSET = re.compile(r"\s*(?:Z|[+-][0-9]{2}:?[0-9]{2}|GMT|UTC?)$")
_REST_OF_MINUTE = timedelta(seconds=59)
_EPOCH = range(631_152_000, 4_102_444_800)  # 1990 to 2099, in seconds


def floor(value: object, zone: str = "") -> datetime | None:
    """The earliest instant that a stamp of the source can mean when it is read as late as it must be.

    A date is over at the end of its day in ``zone``, a minute at its end; without a zone, where days end first.
    None: not a stamp.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1000 if value / 1000 in _span() else value
        return datetime.fromtimestamp(seconds, UTC) if seconds in _span() else None
    if not isinstance(value, str):
        return None
    form = _form(value)
    if form is not None:
        naive = datetime.strptime(value, form)  # noqa: DTZ007
        there = ZoneInfo(zone) if zone else EARLIEST_ZONE
        if "%H" not in form and "%I" not in form:
            return end_of_day(naive.date(), there)
        return wall_clock(naive if "%S" in form else naive + _REST_OF_MINUTE, there)
    exact = parse_rfc3339(value) or parse_rfc2822(re.sub(r"\s(?:GMT|UTC?|Z)$", " +0000", value))
    return exact or _naive(value, ZoneInfo(zone) if zone else EARLIEST_ZONE)


def earliest(value: object) -> datetime | None:
    """The earliest instant that a stamp of the source can mean at all. None: not a stamp."""
    moment = floor(value)
    if moment is None or not isinstance(value, str) or parse_rfc3339(value) or not (is_date(value) or is_naive(value)):
        return moment
    return moment - (timedelta(days=1) if is_date(value) else timedelta())


def is_naive(value: object) -> bool:
    """Whether a stamp is a reading of a clock in a zone that it does not name."""
    if not isinstance(value, str) or floor(value) is None or parse_rfc3339(value) or _OFFSET.search(value):
        return False
    form = _form(value)
    if form is not None:
        return "%H" in form or "%I" in form
    match = _ISO.fullmatch(value)
    return match is not None and match[4] is not None and not _NAMED.search(value)


def is_date(value: object) -> bool:
    """Whether a stamp is a day and no more."""
    form = _form(value) if isinstance(value, str) else None
    if form is not None:
        return "%H" not in form and "%I" not in form
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    return match is not None and match[4] is None


def at_reading(value: object, moment: datetime) -> object:
    """A stamp of the form of ``value`` that reads as the clock and the day of ``moment``. ValueError when it is none.

    An offset is dropped from nothing: it is for stamps without one.
    """
    form = _form(value) if isinstance(value, str) else None
    if form is not None:
        return moment.strftime(form)
    if isinstance(value, str) and (match := _ISO.fullmatch(value)) and match[4] is not None:
        day = f"{moment:%Y-%m-%d}" if value[4] == "-" else f"{moment:%Y%m%d}"
        colon = ":" if ":" in value else ""
        between = value[len(day) : match.start(4)]
        clock = f"{moment:%H}{colon}{moment:%M}" + (f"{colon}{moment:%S}" if match[6] else "")
        return day + between + clock
    raise ValueError(value)


def repeated_hour(zone: tzinfo, after: datetime) -> datetime | None:
    """A reading, without a zone, in the first hour after ``after`` that ``zone`` shows twice; None if there is none."""
    for hours in range(400 * 24):
        moment = after + timedelta(hours=hours)
        here, next_hour = moment.astimezone(zone), (moment + timedelta(hours=1)).astimezone(zone)
        if (here.hour, here.day) == (next_hour.hour, next_hour.day):
            return here.replace(tzinfo=None, minute=30, second=0, microsecond=0, fold=0)
    return None


def later(value: object, days: int) -> object:
    """The same stamp so many days later, in the same form. Raises ValueError when it is none."""
    for _ in range(days):
        value = a_day_later(value)
    return value


def a_day_later(value: object) -> object:
    """The same stamp on the next day, in the same form. Raises ValueError when it is none."""
    if isinstance(value, (int, float)):
        return value + (86_400_000 if value / 1000 in _span() else 86_400)
    if not isinstance(value, str):
        raise ValueError(value)
    form = _form(value)
    if form is not None:
        return (datetime.strptime(value, form) + timedelta(days=1)).strftime(form)  # noqa: DTZ007
    match = _RFC2822.fullmatch(value)
    if match:
        day = datetime.strptime(f"{match[1]} {match[2]} {match[3]}", "%d %b %Y") + timedelta(days=1)  # noqa: DTZ007
        return f"{day:%a, %d %b %Y} {match[4]} {match[5]}".strip()
    match = _ISO.fullmatch(value)
    if match is None:
        raise ValueError(value)
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3])) + timedelta(days=1)  # noqa: DTZ001
    except OverflowError:  # the last day of the calendar, which some sources write for "until further notice"
        return value
    shown = f"{day:%Y-%m-%d}" if value[4] == "-" else f"{day:%Y%m%d}"
    return shown + value[len(shown) :]


def less_precise(value: object) -> Iterator[str]:
    """The stamp with less in it: without its offset, with an unknown one, as a bare date."""
    if not isinstance(value, str) or floor(value) is None:
        return
    bare = _OFFSET.sub("", value)
    if bare != value:
        yield bare
        yield bare + (" -0000" if _RFC2822.fullmatch(value) else "-00:00")
    if _ISO.fullmatch(value) and len(value) > 10:
        yield value[:10] if value[4] == "-" else value[:8]


def more_precise(value: object) -> Iterator[tuple[str, str]]:
    """The stamp as the source could say it of another row, with what that is: far west, and within a second."""
    if not isinstance(value, str) or floor(value) is None or not (offset := _OFFSET.search(value)):
        return
    colon = ":" if ":" in offset[0] or _ISO.fullmatch(value) else ""
    space = " " if _RFC2822.fullmatch(value) else ""
    yield "with another offset", f"{value[: offset.start()]}{space}-10{'' if space else colon}00"
    clock = _ISO.fullmatch(value)
    if clock is not None and clock[6] is not None and "." not in value:
        yield "within its second", f"{value[: offset.start()]}.999999{offset[0]}"


@functools.cache
def _form(value: str) -> str | None:
    """How a date is written that is neither ISO 8601 nor RFC 2822: ``Feb 15, 2024 4:00 PM``, ``02/15/2024``."""
    if not _LOOSE.fullmatch(value):
        return None
    for day in ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y"):
        for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", ", %I:%M %p", " %I:%M:%S %p"):
            with contextlib.suppress(ValueError):
                if datetime.strptime(value, day + clock).year >= 1990:  # noqa: DTZ007
                    return day + clock
    return None


def _naive(value: str, zone: tzinfo) -> datetime | None:
    """A stamp without an offset, or a date."""
    match = _ISO.fullmatch(value)
    try:
        if match is None:
            parts = _RFC2822.fullmatch(value)
            if parts is None:
                return None
            text = f"{parts[1]} {parts[2]} {parts[3]} {parts[4][:5]}"
            return wall_clock(datetime.strptime(text, "%d %b %Y %H:%M") + _REST_OF_MINUTE, zone)  # noqa: DTZ007
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if match[4] is None and day == date.max:
            return datetime.max.replace(tzinfo=UTC)
        if match[4] is None:
            return end_of_day(day, zone) if day.year >= 1990 else None
        reading = datetime(day.year, day.month, day.day, int(match[4]), int(match[5]), int(match[6] or 0))  # noqa: DTZ001
        return wall_clock(reading if match[6] else reading + _REST_OF_MINUTE, zone)
    except ValueError:
        return None


class _Span:
    def __contains__(self, seconds: float) -> bool:
        return _EPOCH.start <= seconds < _EPOCH.stop


def _span() -> _Span:
    return _Span()
