"""Timestamps as they appear in replies: the instants that they can mean, and others in the same form. Pure.

A stamp is read by its parts, wherever they stand and whatever stands between them: a year, a month as a number or a
name, a day, a clock, a zone. So there is no list of forms, and a stamp in a form that nobody thought of can be
rewritten as the source would write another one.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.times import end_of_day, wall_clock

# The zones whose days end before all others, and after them.
EARLIEST_ZONE = timezone(timedelta(hours=14))
LATEST_ZONE = timezone(timedelta(hours=-12))

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CLOCK = re.compile(
    r"(?<![\d:])(?P<hour>[01]?\d|2[0-3])"
    r"(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,](?P<fraction>\d+))?)?|(?=\s*[AaPp]\.?[Mm]))"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?(?![A-Za-z]))?"
    r"(?P<offset>\s*(?:(?:GMT|UTC)?(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?(?!\d)|Z(?![A-Za-z])|GMT|UTC?))?"
    r"(?:\s*\(?[A-Za-z /_]+\)?$)?"  # another name of a zone, which each reader takes for another
)
_YEAR, _DAY = r"(?<!\d)(?P<year>\d{4})(?!\d)", r"(?<!\d)(?P<day>\d{1,2})(?!\d)"
_NAME = r"(?P<name>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)\.?"
_DATES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<gap>[-/. ])(?P<month>\d{1,2})(?P=gap)(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})(?P<gap>[-/. ])(?P<month>\d{1,2})(?P=gap)(?P<year>\d{4})(?!\d)",
        r"(?<!\d)(?P<month>\d{1,2})(?P<gap>[-/ ])(?P<day>\d{1,2})(?P=gap)(?P<year>\d{4})(?!\d)",
        rf"{_DAY}(?:st|nd|rd|th)?[-\s,]*{_NAME}[-\s,]*{_YEAR}",
        rf"{_NAME}[-\s]*{_DAY}(?:st|nd|rd|th)?[-\s,]*{_YEAR}",
    )
)
_DIGITS = re.compile(
    r"(?P<year>(?:19|20|99)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)"
    r"(?:[T ]?(?P<hour>[0-2]\d)(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?"
    r"(?P<offset>Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?)?"
)
_BESIDE = re.compile(r"(?:[\s,.]|T|at|(?P<weekday>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*))*", re.IGNORECASE)
# How long what a clock shows lasts, by the parts that it leaves out: until the last second of it.
_HOUR, _MINUTE = timedelta(minutes=59, seconds=59), timedelta(seconds=59)
# Seconds, and finer units, of a Unix time from 1990 to 2099.
_EPOCH = range(631_152_000, 4_102_444_800)
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)

Spans = Mapping[str, tuple[int, int]]


class Stamp(NamedTuple):
    """What a text says: a naive reading, of a day or of a clock, how long that lasts, its offset, and where."""

    reading: datetime
    is_date: bool
    lasts: timedelta
    offset: timedelta | None
    spans: Spans


def floor(value: object, zone: str | tzinfo = "", form: str = "") -> datetime | None:
    """Return the earliest UTC instant at which what a stamp names is over, None for what is no stamp.

    A date is over at the end of its day in ``zone``, a minute at its end. Without a zone, days end where they
    end first on earth. Without a ``form`` the earlier one counts of two orders in which a date can be read.
    """
    if not form and (epoch := _epoch(value)) is not None:
        return epoch
    instants = (_over(stamp, _zone(zone)) for stamp in _stamps(value, form))
    return min((instant for instant in instants if instant is not None), default=None)


def earliest(value: object, form: str = "") -> datetime | None:
    """Return the earliest instant that a stamp can mean at all, None for what is no stamp."""
    instant = floor(value, form=form)
    # Only a day lasts: a stamp with a clock is an instant.
    return instant - timedelta(days=1) if instant is not None and is_date(value, form) else instant


def is_naive(value: object, form: str = "") -> bool:
    """Return whether a stamp is a reading of a clock or a calendar in a zone that it does not name."""
    return any(stamp.offset is None for stamp in _stamps(value, form)) and (bool(form) or _epoch(value) is None)


def is_date(value: object, form: str = "") -> bool:
    """Return whether a stamp is a day and no more."""
    return any(stamp.is_date for stamp in _stamps(value, form)) and (bool(form) or _epoch(value) is None)


def postpone(value: object, days: int, form: str = "") -> object:
    """Return a stamp so many days later, in its own form. Raise ValueError for what is no stamp."""
    if not form and _epoch(value) is not None:
        later = type(value)(value) if isinstance(value, float) else int(value)  # type: ignore[call-overload]
        later += days * 86_400 * _unit(later)
        return str(later) if isinstance(value, str) else later
    stamp = _stamp(value, form)
    try:
        return _rewritten(value, stamp, stamp.reading + timedelta(days=days), form)
    except OverflowError:  # past the last day of the calendar, which some sources write for "until further notice"
        return value


def format_like(value: object, reading: datetime, form: str = "") -> str:
    """Return a stamp in the form of ``value``, with the day and the clock of ``reading``. Raise ValueError for none."""
    return str(_rewritten(value, _stamp(value, form), reading, form))


def repeated_hour(zone: tzinfo, after: datetime) -> datetime | None:
    """Return a naive reading in the first hour after ``after`` that ``zone`` shows twice, None if none comes soon."""
    for hours in range(400 * 24):
        instant = after + timedelta(hours=hours)
        here, an_hour_later = instant.astimezone(zone), (instant + timedelta(hours=1)).astimezone(zone)
        if (here.hour, here.day) == (an_hour_later.hour, an_hour_later.day):
            return here.replace(tzinfo=None, minute=30, second=0, microsecond=0, fold=0)
    return None


def less_precise(value: object) -> Iterator[str]:
    """Yield the stamp with less in it: without its offset, with an unknown one, as a bare date."""
    stamp = next(_stamps(value), None)
    if stamp is None or not isinstance(value, str) or stamp.is_date:
        return
    start, end = stamp.spans["clock"]
    if stamp.offset is not None:
        bare = value[: stamp.spans["offset"][0]]
        yield bare
        yield bare + (" -0000" if "name" in stamp.spans else "-00:00")
    yield (value[:start].rstrip(" T,") + value[end:]).strip()


def more_precise(value: object) -> Iterator[tuple[str, str]]:
    """Yield the stamp as the source could write it for another row, with a description: far west, within a second."""
    stamp = next(_stamps(value), None)
    if stamp is None or not isinstance(value, str) or "offset" not in stamp.spans:
        return
    start, end = stamp.spans["offset"]
    is_rfc2822 = "name" in stamp.spans
    yield "with another offset", value[:start] + (" -1000" if is_rfc2822 else "-10:00")
    if not is_rfc2822 and not stamp.lasts and ":" in value and "fraction" not in stamp.spans:
        yield "within its second", f"{value[:start]}.999999{value[start:end]}"


def _zone(zone: str | tzinfo) -> tzinfo:
    return zone if isinstance(zone, tzinfo) else ZoneInfo(zone) if zone else EARLIEST_ZONE


def _over(stamp: Stamp, zone: tzinfo) -> datetime | None:
    """Return when what a stamp names is over, None for a day that counts for nothing."""
    if stamp.is_date:
        if stamp.reading.date() == date.max:
            return datetime.max.replace(tzinfo=UTC)
        return end_of_day(stamp.reading.date(), zone)
    try:
        reading = stamp.reading + stamp.lasts
        return wall_clock(reading, zone) if stamp.offset is None else (reading - stamp.offset).replace(tzinfo=UTC)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _stamp(value: object, form: str = "") -> Stamp:
    for stamp in sorted(_stamps(value, form), key=lambda stamp: stamp.reading):
        return stamp
    raise ValueError(value)


def _stamps(value: object, form: str = "") -> Iterator[Stamp]:
    """Yield what a value can say: nothing, one thing, or two where a day and a month can change places."""
    if form:
        with contextlib.suppress(ValueError):
            reading = datetime.strptime(str(value), form)  # noqa: DTZ007 - aware where the form has an offset
            lasts = timedelta() if re.search("%[STcXs]", form) else _MINUTE if "%M" in form else _HOUR
            is_date = re.search("%[HIcXTs]", form) is None
            yield Stamp(reading.replace(tzinfo=None), is_date, lasts, reading.utcoffset(), {})
        return
    if isinstance(value, int) and not isinstance(value, bool) and value < 10**8:
        value = str(value)
    if isinstance(value, str) and 8 <= len(value) <= 64:
        yield from _read(value)


@functools.lru_cache(4096)
def _read(text: str) -> tuple[Stamp, ...]:
    digits = _DIGITS.fullmatch(text)
    if digits is not None:
        found = [_made(_spans(digits), text)]
        return tuple(stamp for stamp in found if stamp)
    clock = _CLOCK.search(text)
    days = text if clock is None else text[: clock.start()] + " " * (clock.end() - clock.start()) + text[clock.end() :]
    stamps = []
    for form in _DATES:
        match = form.search(days)
        if match is None:
            continue
        beside = _BESIDE.fullmatch(days[: match.start()] + " " * (match.end() - match.start()) + days[match.end() :])
        if beside is not None and (stamp := _made({**_spans(clock), **_spans(match), **_spans(beside)}, text)):
            stamps.append(stamp)
    return tuple({stamp.reading: stamp for stamp in stamps}.values())


def _spans(match: re.Match[str] | None) -> dict[str, tuple[int, int]]:
    if match is None:
        return {}
    spans = {name: match.span(name) for name, part in match.groupdict().items() if part is not None}
    if "hour" in spans:
        spans["clock"] = (spans["hour"][0], match.end())
    return spans


def _made(spans: Spans, text: str) -> Stamp | None:
    def part(name: str, otherwise: str = "0") -> str:
        return text[slice(*spans[name])] if name in spans else otherwise

    month = int(part("month")) or 1 + [name[:3] for name in _MONTHS].index(part("name", "Jan")[:3].title())
    hour = int(part("hour"))
    if "half" in spans:
        hour = hour % 12 + (12 if part("half") in "Pp" else 0)
    try:
        reading = (
            datetime(  # noqa: DTZ001 - a reading of a clock
                int(part("year")), month, int(part("day")), hour, int(part("minute")), int(part("second"))
            )
            + timedelta(microseconds=-(-int(part("fraction", "0")[:9].ljust(9, "0")) // 1_000))
        )
    except (ValueError, OverflowError):
        return None
    if reading.year < 1990:
        return None
    offset = None
    if "offset" in spans:
        there = timedelta(hours=int(part("hours")), minutes=int(part("minutes")))
        offset = -there if part("sign", "+") == "-" else there
        if part("sign", "+") == "-" and not there:  # by its RFC the mark of an unknown offset
            offset = None
    lasts = timedelta() if "second" in spans else _MINUTE if "minute" in spans else _HOUR
    return Stamp(reading, "hour" not in spans, lasts, offset, spans)


def _rewritten(value: object, stamp: Stamp, reading: datetime, form: str) -> object:
    """Return ``value`` with another reading, each part as wide, and in the letters, of the one that it replaces."""
    text = reading.replace(tzinfo=UTC).strftime(form) if form else str(value)
    numbers = {"year": reading.year, "month": reading.month, "day": reading.day, "hour": reading.hour,
               "minute": reading.minute, "second": reading.second}  # fmt: skip
    names = {"name": _MONTHS[reading.month - 1], "weekday": _DAYS[reading.weekday()]}
    if "half" in stamp.spans:
        numbers["hour"], names["half"] = (reading.hour + 11) % 12 + 1, "AP"[reading.hour // 12]
    for part, (start, end) in sorted(stamp.spans.items(), key=lambda item: item[1], reverse=True):
        if part in numbers:
            text = f"{text[:start]}{numbers[part]:0{end - start}}{text[end:]}"
        elif part in names:
            text = text[:start] + _in_letters(names[part], text[start:end]) + text[end:]
    return type(value)(text) if isinstance(value, int) else text


def _in_letters(name: str, of: str) -> str:
    """Return a name as long (three letters, or all) and in the case of the one that stood there."""
    short = name[:3] if len(of) <= 3 else name
    return short.upper() if of.isupper() else short.lower() if of.islower() else short


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
