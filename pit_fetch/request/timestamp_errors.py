"""What is wrong with a timestamp that was refused, in words, and what was probably meant. Pure.

By then the gate's parser, the only judge, has refused it: nothing here produces an instant that is
used. A corrected form is shown only if the text says which instant it means, or else together with
the other instant it could mean; each one is a form that the parser accepts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from pit_fetch.times import NEW_YORK, parse_pit, parse_rfc2822

EXAMPLE = "2024-02-15T16:00:00-05:00"

_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_DASHES = {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212"}
_DATE = re.compile(r"([0-9]{4})(?:([-/._])([0-9]{1,2})\2([0-9]{1,2})|([0-9]{2})([0-9]{2})(?![0-9]{1,3}(?![0-9])))")
_TIME = re.compile(
    r"(\s*[Tt]\s*|[\s_,@]+|)([0-9]{1,2})(?:(:?)([0-9]{2})(?:\3([0-9]{2})([.,][0-9]*)?)?)?(?:\s*([AaPp]\.?[Mm]\.?(?![A-Za-z])))?"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*([0-9]{1,2})(:?)([0-9]{2})?", re.IGNORECASE)
_ZONE = re.compile(r"\[?([A-Za-z]+(?:/[A-Za-z_+-]+)*)\]?")
_NEW_YORK_NAMES = {"ET": None, "EST": "-05:00", "EDT": "-04:00", "NEW YORK": None, "NYC": None}
_WORDS = frozenset(
    ["now", "today", "yesterday", "tomorrow", "latest", "current", "none", "null", "never", "open", "all"]
)


def problem(text: str, following: Sequence[str] = ()) -> str:
    """What is wrong with ``text`` as an instant: "has no seconds: write …". ``following`` are the words after it."""
    if following and _DATE.fullmatch(text):
        for count in (2, 1):
            _, forms, remark = _judge(" ".join([text, *following[:count]]))
            if any(map(parse_pit, forms)):
                return f"was cut at a space: {_advice(forms, remark)}"
    faults, forms, remark = _judge(text)
    return f"{_listed(faults)}: {_advice(forms, remark)}"


def _listed(faults: Sequence[str]) -> str:
    """``has no T, no seconds and no offset``."""
    verb = "has "
    if len(faults) > 1 and all(one.startswith(verb) for one in faults):
        faults = [faults[0], *(one.removeprefix(verb) for one in faults[1:])]
    return " and ".join([", ".join(faults[:-1]), faults[-1]] if len(faults) > 1 else faults)


def date_problem(text: str) -> str:
    """The same for a bound that may be a date: "write 2024-02-15"; "" when there is nothing helpful to say."""
    stripped = text.strip().strip(_QUOTES).translate(_DASHES)
    match = _DATE.fullmatch(stripped)
    if match:
        day = _day(match)
        return f"write {day:%Y-%m-%d}" if day else "that day is not in the calendar"
    _, forms, remark = _judge(text)
    return _advice(forms, remark) if any(map(parse_pit, forms)) else ""


def _advice(forms: Sequence[str], remark: str) -> str:
    good = [form for form in forms if parse_pit(form)]
    return remark or (f"write {' or '.join(good)}" if good else f"write it like {EXAMPLE}")


def _judge(text: str) -> tuple[list[str], list[str], str]:
    """The faults of ``text``, the forms it may have been meant as, and a remark that replaces those forms, or ""."""
    if not text.strip():
        return ["is empty"], [], ""
    faults: list[str] = []
    bare = text.strip()
    if bare != text:
        faults.append("has spaces around it")
    if bare[0] in _QUOTES or bare[-1] in _QUOTES:
        bare = bare.strip(_QUOTES).strip()
        faults.append("has quotes in it")
    if not bare.isascii():
        bare = _ascii(bare)
        faults.append("has characters that are not ASCII (such as a long dash)")
    if bare.lower() in _WORDS:
        return ["is a word, but a PIT is a fixed instant"], [], ""
    whole = _whole(bare)
    if whole:
        return [*faults, whole[0]], [whole[1]], ""
    date = _DATE.match(bare)
    if date is None:
        return [*faults, _no_date(bare)], [], ""
    day = _day(date)
    if day is None:
        return [*faults, _wrong_day(date)], [], ""
    if date[2] != "-" or len(date[3]) + len(date[4]) < 4:
        faults.append("has a date that is not YYYY-MM-DD")
    rest = bare[date.end() :]
    time = _TIME.match(rest)
    if time is None or (not time[1] and date[2]) or (not rest[0].isspace() and rest.strip()[:1] in "+-Zz["):
        return _date_only(faults, day, rest)
    return _date_and_time(faults, day, time, rest[time.end() :])


def _ascii(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", text.translate(_DASHES))


def _whole(text: str) -> tuple[str, str] | None:
    """Forms that are instants by themselves: a Unix time, and the date of an e-mail."""
    if re.fullmatch(r"[0-9]{10}|[0-9]{13}", text):
        micros = int(text) * (1_000_000 if len(text) == 10 else 1_000)
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
        return "is a Unix time", _utc_form(moment)
    mail = parse_rfc2822(text) if re.search(r":[0-9]{2}:[0-9]{2} ", text) else None
    return None if mail is None else ("is in the date format of e-mail", _utc_form(mail))


def _no_date(text: str) -> str:
    if re.match(r"[0-9]{4}-?W[0-9]", text):
        return "is a week date"
    if re.match(r"[0-9]{4}-?[0-9]{3}(?![0-9])", text):
        return "is an ordinal date"
    if re.fullmatch(r"[0-9]{4}(-[0-9]{1,2})?", text):
        return "has no day"
    if re.match(r"[0-9]{1,2}([-/. ])([0-9]{1,2}|[A-Za-z]{3,9})\1[0-9]{2,4}|[A-Za-z]{3,9} +[0-9]", text):
        return "does not start with the year"
    return "is not a date and time"


def _day(match: re.Match[str]) -> datetime | None:
    try:
        return datetime(int(match[1]), int(match[3] or match[5]), int(match[4] or match[6]))  # noqa: DTZ001 - a day
    except ValueError:
        return None


def _wrong_day(match: re.Match[str]) -> str:
    year, month = match[1], int(match[3] or match[5])
    if not 1 <= month <= 12:
        return f"names month {month}"
    return "names year 0000" if year == "0000" else "names a day that the month does not have"


def _date_only(faults: list[str], day: datetime, rest: str) -> tuple[list[str], list[str], str]:
    faults = [*faults, "has no time of day"]
    try:
        close, end = day.replace(hour=16), day + timedelta(days=1)
    except OverflowError:
        return faults, [], ""
    forms = [*_in_zone(close, NEW_YORK), *_in_zone(end, NEW_YORK)]
    if rest.strip() or len(forms) != 2:
        return faults, [], ""
    return faults, forms, f"{forms[0]} is 16:00 on that day, {forms[1]} is its end"


def _date_and_time(
    faults: list[str], day: datetime, time: re.Match[str], zone: str
) -> tuple[list[str], list[str], str]:
    separator, hour, colon, minute, second, fraction, half = time.groups()
    if separator != "T":
        faults.append("has a lower-case t" if "t" in separator else "has no T between date and time")
    if second is None:
        faults.append("has no seconds" if minute is not None else "has no minutes and seconds")
    if (minute is not None and not colon) or len(hour) == 1:
        faults.append("has a time that is not HH:MM:SS")
    digits = (fraction or "")[1:]
    if fraction is not None and (fraction[0] == "," or not digits):
        faults.append("has a comma in its seconds" if digits else "has no digits after the point")
    hours = int(hour)
    if half:
        faults.append("has a.m. or p.m.")
        if not 1 <= hours <= 12:
            return [*faults, "names an hour that does not exist"], [], ""
        hours = hours % 12 + (12 if half[0] in "pP" else 0)
    minutes, seconds = int(minute or 0), int(second or 0)
    if hours > 24 or minutes > 59 or seconds > 59 or (hours == 24 and minutes + seconds):
        leap = " (a leap second is written as 59)" if second == "60" else ""
        return [*faults, f"names a time that does not exist{leap}"], [], ""
    if hours == 24:
        faults.append("names hour 24, which is hour 0 of the next day")
    try:
        wall = day + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return [*faults, "is outside the calendar"], [], ""
    return _zoned(faults, wall, f".{digits}" if digits else "", zone)


def _zoned(faults: list[str], wall: datetime, fraction: str, zone: str) -> tuple[list[str], list[str], str]:
    if zone[:1].isspace():
        zone = zone.strip()
        faults.append("has a space before its zone")
    clock = f"{wall:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction
    offset = _OFFSET.fullmatch(zone)
    name = _ZONE.fullmatch(zone)
    bracket = re.fullmatch(r"([^\[\]]*)\[([^\[\]]*)\]", zone)
    if not zone:
        return _without_offset([*faults, "has no offset"], wall, fraction)
    if bracket:
        if bracket[1][-1:].isspace():
            faults.append("has a space before its bracket")
        return _bracketed(faults, wall, fraction, bracket[1].strip(), bracket[2])
    if not re.search(r"[A-Za-z]|[+-]?[0-9]", zone):
        return [*faults, "has something after its time that is not an offset"], [], ""
    if zone == "Z" or (offset and re.fullmatch(r"[+-][0-9]{2}:[0-9]{2}", zone)):
        if parse_pit(clock + zone) is None:
            impossible = int(zone[1:3] or 0) > 23 or int(zone[4:] or 0) > 59
            faults.append("has an impossible offset" if impossible else "is outside the calendar")
        return faults, [clock + zone], ""
    if name and name[1].upper() in ("Z", "UTC", "GMT", "ZULU"):
        faults.append("has a lower-case z" if zone == "z" else "has a name instead of Z")
        return faults, [clock + "Z"], ""
    if offset:
        sign, hour, _, minute = offset.groups()
        faults.append("has an offset that is not +HH:MM or -HH:MM")
        return faults, [f"{clock}{sign}{hour:0>2}:{minute or '00'}"], ""
    if re.fullmatch(r"[0-9]{2}:?[0-9]{2}", zone):
        both = [f"{clock}{sign}{zone[:2]}:{zone[-2:]}" for sign in "+-"]
        return [*faults, "has no sign before its offset"], both, ""
    if name:
        return _named(faults, wall, fraction, name[1])
    first = re.match(r"Z|[+-][0-9]{2}:[0-9]{2}", zone)
    if first is None:
        return [*faults, "has something after its time that is not an offset"], [], ""
    rest = zone[first.end() :]
    if re.fullmatch(r"\s*(?:[+-].*|[A-Za-z/_]+|\[.*)", rest):
        return [*faults, "has more than one offset after its time"], [], ""
    # With a digit in it, the rest may be another instant.
    forms = [] if re.search(r"[0-9]", rest) else [clock + first[0]]
    return [*faults, "has something after its offset"], forms, ""


def _without_offset(faults: list[str], wall: datetime, fraction: str) -> tuple[list[str], list[str], str]:
    here = _in_zone(wall, NEW_YORK, fraction)
    utc = f"{wall:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction + "Z"
    if not here:
        return faults, [utc], f"New York's clock skips that time; for UTC write {utc}" if parse_pit(utc) else ""
    twice = " (its clock shows it twice)" if len(here) > 1 else ""
    return faults, [*here, utc], f"write {' or '.join(here)} for New York{twice} or {utc} for UTC"


def _bracketed(
    faults: list[str], wall: datetime, fraction: str, offset: str, name: str
) -> tuple[list[str], list[str], str]:
    """A wall clock in a zone (``[America/New_York]``), with or without an offset in front of it."""
    zone = _zone(name)
    if zone is not None and _has_odd_seconds(wall, zone):
        return [*faults, f"is from before {name} had an offset in whole minutes"], [], ""
    if not offset:
        if zone is None:
            return _named(faults, wall, fraction, name)
        forms = [f"{form}[{name}]" for form in _in_zone(wall, zone, fraction)]
        if len(forms) == 1:
            return faults, [f"{forms[0][: 19 + len(fraction)]}[{name}]"], ""
        around = forms or [f"{form}[{name}]" for form in _around(wall, zone, fraction)]
        if not around:
            return [*faults, "is outside the calendar"], [], ""
        faults.append(f"is a time that clocks in {name} {'show twice' if forms else 'skip'}")
        return faults, around, ""
    faults, forms, remark = _zoned(faults, wall, fraction, offset)
    moment = parse_pit(forms[0]) if len(forms) == 1 else None
    if zone is None:
        return [*faults, "has a zone in brackets that this machine does not know"], forms, remark
    if moment is None:
        return faults, [f"{form}[{name}]" for form in forms], remark
    there, said = _form(moment.astimezone(zone), fraction), forms[0][19 + len(fraction) :]
    if there[-6:] == said.replace("Z", "+00:00"):
        return faults, [f"{forms[0]}[{name}]"], ""
    faults.append(f"has {'Z' if said == 'Z' else f'the offset {said}'}, but {name} is at {there[-6:]} then")
    here, there = [f"{form}[{name}]" for form in _in_zone(wall, zone, fraction)], f"{there}[{name}]"
    told = f"write {' or '.join(here)} for that clock time or {there} for that instant"
    return faults, [*here, there], told if here and all(map(parse_pit, [*here, there])) else ""


def _has_odd_seconds(wall: datetime, zone: tzinfo) -> bool:
    """Whether the zone kept its local mean time then, whose offset a PIT cannot say."""
    offsets = (wall.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return any(offset is not None and offset.total_seconds() % 60 for offset in offsets)


def _zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if "/" in name or name == "UTC" else None
    except (KeyError, OSError, ValueError):  # no such zone, or no database of them
        return None


def _as_the_database_writes(name: str) -> str:
    """``america/new_york`` with its capitals; "" if the database has none of that name."""
    from zoneinfo import available_timezones

    return next((one for one in available_timezones() if "/" in name and one.casefold() == name.casefold()), "")


def _named(faults: list[str], wall: datetime, fraction: str, name: str) -> tuple[list[str], list[str], str]:
    if name.upper() in _NEW_YORK_NAMES:
        forms = _in_zone(wall, NEW_YORK, fraction)
        said = _NEW_YORK_NAMES[name.upper()]
        if said and not any(form.endswith(said) for form in forms):
            forms.append(f"{wall:%Y-%m-%dT%H:%M:%S}{fraction}{said}")  # EST in July: either may be meant
        return [*faults, "has a zone's name instead of its offset"], forms, ""
    zone = _zone(name)
    if zone is None:
        likely = _as_the_database_writes(name)
        meant = _zone(likely)
        if meant is not None:
            forms = [f"{form}[{likely}]" for form in _in_zone(wall, meant, fraction)]
            return [*faults, "has a zone's name in the wrong case"], forms, ""
        unknown = "that this machine does not know" if "/" in name else "instead of its offset"
        return [*faults, f"has a zone's name {unknown}"], [], ""
    forms = [f"{form}[{name}]" for form in _in_zone(wall, zone, fraction)]
    return [*faults, "has a zone's name without brackets"], forms, ""


def _around(wall: datetime, zone: tzinfo, fraction: str) -> list[str]:
    """The forms of the two instants that a wall-clock reading in a skipped hour could mean, the earlier one first."""
    try:
        readings = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC).astimezone(zone) for fold in (1, 0))
        return [_form(reading, fraction) for reading in readings]
    except OverflowError:
        return []


def _form(moment: datetime, fraction: str) -> str:
    text = moment.replace(microsecond=0).isoformat()
    return text[:19] + fraction + text[19:]


def _in_zone(wall: datetime, zone: tzinfo, fraction: str = "") -> list[str]:
    """The forms of a wall-clock reading: one; two where the clock is set back; none where it skips that time."""
    forms = []
    for fold in (0, 1):
        moment = wall.replace(tzinfo=zone, fold=fold)
        try:
            exists = moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == wall
        except OverflowError:
            continue
        form = _form(moment, fraction)
        if exists and form not in forms and parse_pit(form):
            forms.append(form)
    return forms


def _utc_form(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
