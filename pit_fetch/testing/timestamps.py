"""Timestamps as they appear in replies: the instants that they can mean, and other forms of them. Pure."""

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
    """Return the earliest UTC instant at which what a stamp names is over, None for what is no stamp.

    A date is over at the end of its day in ``zone``, a minute at its end. Without a zone, days end where they
    end first on earth.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1000 if _is_epoch(value / 1000) else value
        return datetime.fromtimestamp(seconds, UTC) if _is_epoch(seconds) else None
    if not isinstance(value, str):
        return None
    form = _form(value)
    if form is None:
        exact = parse_rfc3339(value) or parse_rfc2822(re.sub(r"\s(?:GMT|UTC?|Z)$", " +0000", value))
        if exact:
            return exact
    there = ZoneInfo(zone) if zone else EARLIEST_ZONE
    if form is None:
        return _naive(value, there)
    reading = datetime.strptime(value, form)  # noqa: DTZ007
    if is_date(value):
        return end_of_day(reading.date(), there)
    return wall_clock(reading if "%S" in form else reading + _REST_OF_MINUTE, there)


def earliest(value: object) -> datetime | None:
    """Return the earliest instant that a stamp can mean at all, None for what is no stamp."""
    instant = floor(value)
    # Only a day lasts: a stamp with a clock is an instant.
    return instant - timedelta(days=1) if instant is not None and is_date(value) else instant


def is_naive(value: object) -> bool:
    """Return whether a stamp is a reading of a clock in a zone that it does not name."""
    if not isinstance(value, str) or floor(value) is None or parse_rfc3339(value) or _OFFSET.search(value):
        return False
    return _has_clock(value) is True and (_form(value) is not None or not _NAMED.search(value))


def is_date(value: object) -> bool:
    """Return whether a stamp is a day and no more."""
    return _has_clock(value) is False


def format_like(value: object, instant: datetime) -> str:
    """Return a stamp in the form of ``value``, which has no offset, with the day and the clock of ``instant``.

    Raise ValueError if ``value`` is no such stamp.
    """
    form = _form(value) if isinstance(value, str) else None
    if form is not None:
        return instant.strftime(form)
    if isinstance(value, str) and (match := _ISO.fullmatch(value)) and match[4] is not None:
        day = _format_day(value, instant)
        colon = ":" if ":" in value else ""
        clock = f"%H{colon}%M" + (f"{colon}%S" if match[6] else "")
        return f"{day}{value[len(day) : match.start(4)]}{instant:{clock}}"
    raise ValueError(value)


def repeated_hour(zone: tzinfo, after: datetime) -> datetime | None:
    """Return a naive reading in the first hour after ``after`` that ``zone`` shows twice, None if none comes soon."""
    for hours in range(400 * 24):
        instant = after + timedelta(hours=hours)
        here, an_hour_later = instant.astimezone(zone), (instant + timedelta(hours=1)).astimezone(zone)
        if (here.hour, here.day) == (an_hour_later.hour, an_hour_later.day):
            return here.replace(tzinfo=None, minute=30, second=0, microsecond=0, fold=0)
    return None


def postpone(value: object, days: int) -> object:
    """Return a stamp so many days later, in its own form. Raise ValueError for what is no stamp."""
    for _ in range(days):
        value = _postpone_a_day(value)
    return value


def _postpone_a_day(value: object) -> object:
    if isinstance(value, (int, float)):
        return value + (86_400_000 if _is_epoch(value / 1000) else 86_400)
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
    written = _format_day(value, day)
    return written + value[len(written) :]


def _has_clock(value: object) -> bool | None:
    """Return whether a date shows a clock, too. None for what is no date in a known form."""
    form = _form(value) if isinstance(value, str) else None
    if form is not None:
        return "%H" in form or "%I" in form
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    return match and match[4] is not None


def _format_day(value: str, day: datetime) -> str:
    return f"{day:%Y-%m-%d}" if value[4] == "-" else f"{day:%Y%m%d}"


def less_precise(value: object) -> Iterator[str]:
    """Yield the stamp with less in it: without its offset, with an unknown one, as a bare date."""
    if not isinstance(value, str) or floor(value) is None:
        return
    bare = _OFFSET.sub("", value)
    if bare != value:
        yield bare
        yield bare + (" -0000" if _RFC2822.fullmatch(value) else "-00:00")
    if _ISO.fullmatch(value) and len(value) > 10:
        yield value[:10] if value[4] == "-" else value[:8]


def more_precise(value: object) -> Iterator[tuple[str, str]]:
    """Yield the stamp as the source could write it for another row, with a description: far west, within a second."""
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
    """Return the strptime form of a date such as ``Feb 15, 2024 4:00 PM`` or ``02/15/2024``, None for other texts."""
    if not _LOOSE.fullmatch(value):
        return None
    for day in ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y"):
        for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", ", %I:%M %p", " %I:%M:%S %p"):
            with contextlib.suppress(ValueError):
                if datetime.strptime(value, day + clock).year >= 1990:  # noqa: DTZ007
                    return day + clock
    return None


def _naive(value: str, zone: tzinfo) -> datetime | None:
    """Return the instant at which a stamp without an offset, or a date, is over. None for other texts."""
    match, parts = _ISO.fullmatch(value), _RFC2822.fullmatch(value)
    try:
        if parts is not None:
            text = f"{parts[1]} {parts[2]} {parts[3]} {parts[4][:5]}"
            return wall_clock(datetime.strptime(text, "%d %b %Y %H:%M") + _REST_OF_MINUTE, zone)  # noqa: DTZ007
        if match is None:
            return None
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if match[4] is None and day == date.max:
            return datetime.max.replace(tzinfo=UTC)
        if match[4] is None:
            return end_of_day(day, zone) if day.year >= 1990 else None
        reading = datetime(day.year, day.month, day.day, int(match[4]), int(match[5]), int(match[6] or 0))  # noqa: DTZ001
        return wall_clock(reading if match[6] else reading + _REST_OF_MINUTE, zone)
    except ValueError:
        return None


def _is_epoch(seconds: float) -> bool:
    return _EPOCH.start <= seconds < _EPOCH.stop
