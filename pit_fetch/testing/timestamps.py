"""Timestamps as they appear in replies: the instants that they can mean, and others in the same form. Pure.

ISO 8601, with separators or without, RFC 2822 and Unix time are read as they are. How to read any other form the author
says, by ``strptime``. ``%Z`` at its end is a zone's name, which no reader takes at its word.

>>> floor("2024-02-15T16:00:00-05:00").isoformat(), floor("15/02/2024", "UTC", "%d/%m/%Y").isoformat()
('2024-02-15T21:00:00+00:00', '2024-02-16T00:00:00+00:00')
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.times import end_of_day, wall_clock

# The zones whose days end before all others, and after them.
EARLIEST_ZONE = timezone(timedelta(hours=14))
LATEST_ZONE = timezone(timedelta(hours=-12))

_DATE, _COMPACT, _MAIL = "%Y-%m-%d", "%Y%m%d", "%d %b %Y"
_FORMS = (
    *(f"{_DATE}{clock}" for clock in ("T%H:%M:%S", " %H:%M:%S", "T%H:%M", " %H:%M", "")),
    *(f"{_COMPACT}{clock}" for clock in ("T%H%M%S", "%H%M%S", "")),
    *(f"{day}{_MAIL}{clock}" for day in ("%a, ", "") for clock in (" %H:%M:%S", " %H:%M", "")),
)
_LOOKS_DATED = re.compile(r"(?:[A-Z][a-z]{2}, )?(?:\d{1,2} [A-Z][a-z]{2} )?(?:19|20|99)\d\d(?:-?\d\d){0,2}")
_TAIL = re.compile(
    r"(?P<fraction>[.,]\d{1,9})?(?P<offset>\s?(?:(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)|Z|UTC?|GMT))?$"
)
_ZONE_NAME = re.compile(r"\s[A-Za-z/_]+$")
_MINUTE = timedelta(seconds=59)
# Seconds, and finer units, of a Unix time from 1990 to 2099.
_EPOCH = range(631_152_000, 4_102_444_800)
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)


class Stamp(NamedTuple):
    """What a text says: a naive reading, how long that lasts, its offset, and its form but for the ``tail``."""

    reading: datetime
    lasts: timedelta
    offset: timedelta | None
    form: str
    tail: str

    @property
    def is_date(self) -> bool:
        return re.search("%[HIc]", self.form) is None


def floor(value: object, zone: str | tzinfo = "", form: str = "") -> datetime | None:
    """Return the earliest UTC instant at which what a stamp names is over, None for what is no stamp.

    A date is over at the end of its day in ``zone``, a minute at its end. Without a zone, days end where they
    end first on earth.
    """
    if not form and (epoch := _epoch(value)) is not None:
        return epoch
    stamp = _read(value, form)
    if stamp is None:
        return None
    there = zone if isinstance(zone, tzinfo) else ZoneInfo(zone) if zone else EARLIEST_ZONE
    if stamp.is_date:
        last = stamp.reading.date()
        return datetime.max.replace(tzinfo=UTC) if last == date.max else end_of_day(last, there)
    try:
        reading = stamp.reading + stamp.lasts
        return wall_clock(reading, there) if stamp.offset is None else (reading - stamp.offset).replace(tzinfo=UTC)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def earliest(value: object, form: str = "") -> datetime | None:
    """Return the earliest instant that a stamp can mean at all, None for what is no stamp."""
    instant = floor(value, form=form)
    # Only a day lasts: a stamp with a clock is an instant.
    return instant - timedelta(days=1) if instant is not None and is_date(value, form) else instant


def is_naive(value: object, form: str = "") -> bool:
    """Return whether a stamp is a reading of a clock or a calendar in a zone that it does not name."""
    stamp = _read(value, form) if form or _epoch(value) is None else None
    return stamp is not None and stamp.offset is None


def is_date(value: object, form: str = "") -> bool:
    """Return whether a stamp is a day and no more."""
    stamp = _read(value, form) if form or _epoch(value) is None else None
    return stamp is not None and stamp.is_date


def postpone(value: object, days: int, form: str = "") -> object:
    """Return a stamp so many days later, in its own form. Raise ValueError for what is no stamp."""
    if not form and _epoch(value) is not None:
        later = type(value)(value) if isinstance(value, float) else int(value)  # type: ignore[call-overload]
        later += days * 86_400 * _unit(later)
        return str(later) if isinstance(value, str) else later
    stamp = _read(value, form)
    if stamp is None:
        raise ValueError(value)
    try:
        return _written(value, stamp, stamp.reading + timedelta(days=days))
    except OverflowError:  # past the last day of the calendar, which some sources write for "until further notice"
        return value


def format_like(value: object, reading: datetime, form: str = "") -> str:
    """Return a stamp in the form of ``value``, with the day and the clock of ``reading``. Raise ValueError for none."""
    stamp = _read(value, form)
    if stamp is None:
        raise ValueError(value)
    return str(_written(value, stamp, reading))


def repeated_hour(zone: tzinfo, after: datetime) -> datetime | None:
    """Return a naive reading in the first hour after ``after`` that ``zone`` shows twice, None if none comes soon."""
    for hours in range(400 * 24):
        instant = after + timedelta(hours=hours)
        here, an_hour_later = instant.astimezone(zone), (instant + timedelta(hours=1)).astimezone(zone)
        if (here.hour, here.day) == (an_hour_later.hour, an_hour_later.day):
            return here.replace(tzinfo=None, minute=30, second=0, microsecond=0, fold=0)
    return None


def less_precise(value: object, form: str = "") -> Iterator[str]:
    """Yield the stamp with less in it: without its offset, with an unknown one, as a bare date."""
    stamp = _read(value, form)
    if stamp is None or not isinstance(value, str) or stamp.is_date or "%H" not in stamp.form:
        return
    if stamp.offset is not None and not form:
        bare = value[: _TAIL.search(value).start("offset")]  # type: ignore[union-attr]
        yield bare
        yield bare + (" -0000" if "%b" in stamp.form else "-00:00")
    yield stamp.reading.strftime(stamp.form[: stamp.form.index("%H")].rstrip(" T"))


def more_precise(value: object) -> Iterator[tuple[str, str]]:
    """Yield the stamp as the source could write it for another row, with a description: far west, within a second."""
    stamp = _read(value, "")
    if stamp is None or not isinstance(value, str) or stamp.offset is None:
        return
    start = _TAIL.search(value).start("offset")  # type: ignore[union-attr]
    is_mail = "%b" in stamp.form
    yield "with another offset", value[:start] + (" -1000" if is_mail else "-10:00")
    if not is_mail and not stamp.lasts and ":" in value and stamp.tail[:1] not in ".,":
        yield "within its second", f"{value[:start]}.999999{value[start:]}"


def _read(value: object, form: str) -> Stamp | None:
    if isinstance(value, int) and not isinstance(value, bool) and (form or value < 10**8):
        value = str(value)
    return _parsed(value, form) if isinstance(value, str) and (form or 8 <= len(value) <= 40) else None


@functools.lru_cache(4096)
def _parsed(text: str, declared: str) -> Stamp | None:
    if not declared and _LOOKS_DATED.match(text) is None:
        return None
    tail = (_ZONE_NAME if declared.endswith("%Z") else _TAIL).search(text)
    start = tail.start() if tail else len(text)
    for form in (declared.removesuffix("%Z").rstrip(),) if declared else _FORMS:
        for end in dict.fromkeys((len(text), start)):
            try:
                reading = datetime.strptime(text[:end], form)  # noqa: DTZ007 - aware where the form has an offset
            except ValueError:
                continue
            stamp = Stamp(reading.replace(tzinfo=None), _lasts(form), reading.utcoffset(), form, text[end:])
            # Without separators a form is one of so many digits.
            is_whole = form[:4] != "%Y%m" or declared or reading.strftime(form) == text[:end]
            if is_whole and reading.year >= 1990 and not (stamp.tail and stamp.is_date and not declared):
                return stamp if declared.endswith("%Z") or not stamp.tail or tail is None else _with_tail(stamp, tail)
    return None


def _lasts(form: str) -> timedelta:
    if re.search("%[ScT]", form):
        return timedelta()
    return _MINUTE if "%M" in form else timedelta(minutes=59, seconds=59)


def _with_tail(stamp: Stamp, tail: re.Match[str]) -> Stamp:
    fraction = int((tail["fraction"] or ".0")[1:].ljust(9, "0"))
    offset = None
    if tail["offset"]:
        offset = timedelta(hours=int(tail["hours"] or 0), minutes=int(tail["minutes"] or 0))
        if tail["sign"] == "-":  # minus zero is by its RFC the mark of an unknown offset
            offset = -offset if offset else None
    return stamp._replace(reading=stamp.reading + timedelta(microseconds=-(-fraction // 1_000)), offset=offset)


def _written(value: object, stamp: Stamp, reading: datetime) -> object:
    """Return ``value`` with another reading."""
    text = reading.replace(tzinfo=UTC).strftime(stamp.form) + stamp.tail
    return type(value)(text) if isinstance(value, int) else text


def _epoch(value: Any) -> datetime | None:
    """Return the instant of a Unix time, as a number or in digits, in any unit; None for another value."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) in (9, 10, 13, 16, 19)):
        return None
    number = float(value) if isinstance(value, float) else int(value)
    unit = _unit(number)
    return datetime.fromtimestamp(number / unit, UTC) if unit else None


def _unit(number: float) -> int:
    """Return how many of a Unix time's units are a second, 0 for a number that is none."""
    return next((unit for unit in _UNITS if _EPOCH.start <= number / unit < _EPOCH.stop), 0)
