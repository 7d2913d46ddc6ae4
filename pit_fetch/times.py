"""Source timestamps as aware UTC instants. Pure; no clock is read here.

The rule behind every function: an imprecise stamp means the *latest* instant it could mean, and a stamp that could
mean anything is ``None`` (undated). There is deliberately no free-form parser.

>>> parse_rfc2822("Wed, 24 Jan 2024 23:15 -0400").isoformat()
'2024-01-25T03:15:59.999999+00:00'
>>> parse_rfc2822("Wed, 24 Jan 2024 23:15 EST") is None
True
>>> parse_wall_clock("2024-11-03 01:30:00", NEW_YORK).isoformat()  # the second of two such hours
'2024-11-03T06:30:00+00:00'
>>> parse_unix(1708030800) == parse_unix("1708030800000", per_second=1_000) == parse_compact("20240215T210000Z")
True
>>> end_of_day(parse_date("2024-02-15"), NEW_YORK).isoformat()
'2024-02-16T05:00:00+00:00'

Instants are compared in UTC only: two datetimes with the same ``ZoneInfo`` compare by wall clock, which is wrong in
the hour that a clock change repeats.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TypeGuard
from zoneinfo import ZoneInfo

from pit_fetch.support.bundled import gate

__all__ = [
    "NEW_YORK",
    "delayed",
    "end_of_day",
    "end_of_day_anywhere",
    "end_of_minute",
    "in_new_york",
    "is_weekend",
    "next_business_day",
    "parse_compact",
    "parse_date",
    "parse_http_date",
    "parse_rfc2822",
    "parse_rfc3339",
    "parse_unix",
    "parse_wall_clock",
    "start_of_day",
    "wall_clock",
]

NEW_YORK = ZoneInfo("America/New_York")
LAST_ZONE = timezone(timedelta(hours=-12))  # where a day ends last

# Compiled where they are needed first: most runs need none of them, and all of them take a fiftieth of a start.
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_WALL_CLOCK = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,9})?)?"
# 1973 to 5138. Fewer digits are more likely a date without dashes, more are milliseconds.
_UNIX_SECONDS = r"[0-9]{9,11}"
_COMPACT = r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T?([0-9]{2})([0-9]{2})([0-9]{2})?(Z)?)?"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONDAY, _THURSDAY, _FRIDAY = 0, 3, 4
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RFC2822 = (
    r"(?:([A-Z][a-z]{2}),\s+)?([0-9]{1,2})\s+([A-Z][a-z]{2})\s+([0-9]{4})\s+"  # weekday, day, month, year
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?\s+([+-])([01][0-9]|2[0-3])([0-5][0-9])"  # clock, offset
)
_RFC850 = r"^([A-Z][a-z]{2})[a-z]+, ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8} GMT)$"


def parse_pit(text: str) -> datetime | None:
    """Return the UTC instant of a ``--pit`` value; None for anything looser, see :func:`pit_gate.parse_pit`.

    The form is ``YYYY-MM-DDTHH:MM:SS[.frac]`` with ``Z``, ``±HH:MM`` or ``[Zone/Name]``. A fraction finer than a
    microsecond is rounded down.
    """
    return None if text != text.strip() else _utc(gate.parse_pit(text))


def parse_rfc3339(text: object) -> datetime | None:
    """Return the UTC instant of an RFC 3339 stamp with a real offset, rounded up to the microsecond.

    Undated: ``-00:00``, with which RFC 3339 marks an unknown local offset.
    """
    if not isinstance(text, str) or text.rstrip().endswith("-00:00"):
        return None
    return _utc(gate.parse_iso8601(text, round_up=True))


def parse_unix(value: object, per_second: int = 1) -> datetime | None:
    """Return the UTC instant of a number of seconds since 1970, or of its text, rounded up to the microsecond.

    ``per_second`` is 1,000 for milliseconds. Undated: what lies before 1973 or after 5138, since it is more likely a
    date without dashes, or in another unit.
    """
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{9,16}(\.[0-9]{1,9})?", str(value)):
        return None
    whole, _, part = str(value).partition(".")
    # In billionths, as many digits as there can be.
    seconds, rest = divmod(-(int(whole + part.ljust(9, "0")) // (-1_000 * per_second)), 1_000_000)
    if not re.fullmatch(_UNIX_SECONDS, str(seconds)):
        return None
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=rest)


def parse_compact(text: object, zone: tzinfo | None = None) -> datetime | None:
    """Return the UTC instant of compact ISO 8601: ``20240215T210000``, also without ``T``, seconds or the clock.

    It is read in ``zone``, or in UTC if it ends with ``Z``; None if it names none and there is no ``zone``. Without
    seconds it means the last instant of its minute, without a clock the end of its day.
    """
    match = re.fullmatch(_COMPACT, text) if isinstance(text, str) else None
    place = UTC if match is not None and match[7] else zone
    if match is None or place is None:
        return None
    year, month, day, hour, minute, second, _ = match.groups()
    date_text = f"{year}-{month}-{day}"
    if hour is None:
        moment = parse_date(date_text)
        return None if moment is None else end_of_day(moment, place)
    return parse_wall_clock(f"{date_text} {hour}:{minute}{f':{second}' if second else ''}", place)


def parse_rfc2822(text: object) -> datetime | None:
    """Return the UTC instant of an RFC 2822 stamp with a numeric offset: ``Wed, 24 Jan 2024 23:15:52 -0400``.

    Without seconds it means the last instant of its minute. Undated: zone names (every parser reads
    ``EST`` differently), ``-0000`` (RFC 2822 3.3: no information about the zone), and a weekday that
    contradicts the date.
    """
    match = re.fullmatch(_RFC2822, text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    weekday, day, month, year, hour, minute, second, sign, hours, minutes = match.groups()
    if month not in _MONTHS or (sign, hours, minutes) == ("-", "00", "00"):
        return None
    try:
        wall = datetime(  # noqa: DTZ001 - the offset is subtracted below
            int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second or 0)
        )
        if weekday is not None and weekday != _DAYS[wall.weekday()]:
            return None
        if second is None:
            wall = end_of_minute(wall)
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return (wall + offset if sign == "-" else wall - offset).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(text: object) -> datetime | None:
    """Return the UTC instant of a date in an HTTP header (RFC 9110, 5.6.7): ``Wed, 24 Jan 2024 23:15:52 GMT``.

    The form of older servers is read as well: ``Wednesday, 24-Jan-24 23:15:52 GMT``.
    """
    if not isinstance(text, str):
        return None
    return parse_rfc2822(re.sub(r" GMT$", " +0000", re.sub(_RFC850, _full_year, text.strip())))


def _full_year(match: re.Match[str]) -> str:
    """Return an RFC 850 date in today's form. There was no HTTP before 1970; the weekday is checked after this."""
    weekday, day, month, year, clock = match.groups()
    return f"{weekday}, {day} {month} {'19' if year >= '70' else '20'}{year} {clock}"


def parse_date(text: object) -> date | None:
    """Return the date of ``YYYY-MM-DD``; None for anything else."""
    if not isinstance(text, str) or not re.fullmatch(_DATE, text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def wall_clock(naive: datetime, zone: tzinfo) -> datetime | None:
    """Return the UTC instant of a wall-clock reading in ``zone``; if two are possible, the later one.

    A reading that a clock change repeats means its second occurrence. One that it skips is read with
    the offset from before the change, which gives the later instant.
    """
    readings = (_utc(naive.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    return max((reading for reading in readings if reading is not None), default=None)


def parse_wall_clock(text: object, zone: tzinfo) -> datetime | None:
    """Return the UTC instant of ``2024-02-15 16:00[:30[.5]]`` (or with ``T``) in ``zone``; None for anything else.

    Without seconds it means the last instant of its minute. For a reading with an offset: :func:`parse_rfc3339`.
    """
    match = re.fullmatch(_WALL_CLOCK, text) if isinstance(text, str) else None
    if match is None:
        return None
    day, minute, second = match.groups()
    moment = _utc(gate.parse_iso8601(f"{day}T{minute}{second or ':00'}Z", round_up=True))
    if moment is None:
        return None
    try:
        naive = moment.replace(tzinfo=None)
        return wall_clock(naive if second else end_of_minute(naive), zone)
    except OverflowError:
        return None


def start_of_day(day: date, zone: tzinfo) -> datetime | None:
    """Return the UTC instant at which ``day`` begins in ``zone``."""
    return wall_clock(datetime(day.year, day.month, day.day), zone)  # noqa: DTZ001 - a wall clock on purpose


def end_of_day(day: date, zone: tzinfo) -> datetime | None:
    """Return the UTC instant at which ``day`` ends in ``zone``: the next midnight. None past the calendar's end."""
    try:
        return start_of_day(day + timedelta(days=1), zone)
    except OverflowError:
        return None


def end_of_day_anywhere(day: date) -> datetime | None:
    """Return the UTC instant at which ``day`` is over everywhere, for a day of an unknown zone."""
    return end_of_day(day, LAST_ZONE)


def end_of_minute(moment: datetime) -> datetime:
    """Return the last instant of its minute for a stamp without seconds, or with zeros in their place.

    Any other ``moment`` is returned as it is. For a source that writes zeros where it knows no seconds: more of its
    stamps are whole minutes than one in sixty.

    >>> end_of_minute(datetime(2024, 2, 15, 16, 0)).time().isoformat()
    '16:00:59.999999'
    """
    is_whole = (moment.second, moment.microsecond) == (0, 0)
    return moment.replace(second=59, microsecond=999_999) if is_whole else moment


def is_weekend(day: date) -> bool:
    """Return whether ``day`` is a Saturday or a Sunday.

    As a date of publication of what appears on business days alone it is no evidence: it must be wrong.
    """
    return day.weekday() > 4


def next_business_day(day: date) -> date:
    """Return the next day that is neither on a weekend nor a federal holiday of the United States.

    Christmas Eve counts as one, since presidents have closed the agencies then. Days of mourning are not known.

    >>> next_business_day(date(2024, 2, 16)).isoformat()  # a Friday, before Washington's Birthday
    '2024-02-20'
    """
    following = day + timedelta(days=1)
    return next_business_day(following) if is_weekend(following) or _is_federal_holiday(following) else following


# 5 U.S.C. 6103: days by (month, day), and Mondays by (month, which of the month). Memorial Day is the last one of May.
_FIXED_HOLIDAYS = frozenset({(1, 1), (6, 19), (7, 4), (11, 11), (12, 24), (12, 25)})
_MONDAY_HOLIDAYS = frozenset({(1, 3), (2, 3), (9, 1), (10, 2)})


def _is_federal_holiday(day: date) -> bool:
    # One on a Saturday is observed on the Friday before, and one on a Sunday on the Monday after.
    observed = day + timedelta(days={_MONDAY: -1, _FRIDAY: 1}.get(day.weekday(), 0))
    if {(each.month, each.day) for each in (day, observed)} & _FIXED_HOLIDAYS:
        return True
    which = (day.month, (day.day + 6) // 7)
    if day.weekday() == _MONDAY:
        return which in _MONDAY_HOLIDAYS or (day.month == 5 and day.day > 24)
    return day.weekday() == _THURSDAY and which == (11, 4)


def delayed(moment: datetime | None, margin: timedelta) -> datetime | None:
    """Return ``moment`` plus ``margin``, as for the end of a bar. None for None and past the calendar's end."""
    try:
        return None if moment is None else moment + margin
    except OverflowError:
        return None


def window_start(text: str) -> datetime | None:
    """Return the first UTC instant of a ``--date-from`` value: a New York date, or a full timestamp."""
    day = parse_date(text)
    return parse_pit(text) if day is None else start_of_day(day, NEW_YORK)


def instant(text: str) -> datetime | None:
    """Return the first UTC instant of an option's value: a New York date, a full timestamp, or Unix seconds."""
    return datetime.fromtimestamp(int(text), UTC) if re.fullmatch(_UNIX_SECONDS, text) else window_start(text)


def window_end(text: str) -> datetime | None:
    """Return the last UTC instant of a ``--date-to`` value (inclusive): of a New York date, or a full timestamp."""
    day = parse_date(text)
    if day is None:
        return parse_pit(text)
    midnight = end_of_day(day, NEW_YORK)
    # The calendar's last day ends with it.
    return datetime.max.replace(tzinfo=UTC) if midnight is None else midnight - timedelta(microseconds=1)


def on_new_york_clock(moment: datetime) -> datetime:
    """Return ``moment`` in America/New_York, before 1884 as it is."""
    # Until November 1883 New York kept local mean time; its offset has seconds, which ISO 8601 cannot express.
    return moment if moment.year < 1884 else moment.astimezone(NEW_YORK)


def in_new_york(moment: datetime) -> str:
    """Return ``moment`` as ISO 8601 with offset, in America/New_York: the envelope's form."""
    return on_new_york_clock(moment).isoformat()


def format_for_people(moment: datetime) -> str:
    """Return ``moment`` for people, with its weekday: ``Thursday 2024-02-15 16:00:00 in New York (-05:00)``."""
    text = in_new_york(moment)
    weekday = _WEEKDAYS[datetime.fromisoformat(text).weekday()]
    place = "in New York" if moment.year >= 1884 else "UTC"
    return f"{weekday} {text[:10]} {text[11:-6]} {place} ({text[-6:]})"


def is_aware(moment: object) -> TypeGuard[datetime]:
    """Return whether ``moment`` is an instant: a datetime with a UTC offset."""
    return isinstance(moment, datetime) and moment.utcoffset() is not None


def _utc(moment: datetime | None) -> datetime | None:
    try:
        return None if moment is None else moment.astimezone(UTC)
    except OverflowError:
        return None
