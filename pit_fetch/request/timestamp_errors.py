"""What is wrong with a timestamp that was refused, and which instant it was probably meant to be. Pure.

The gate's parser, the only judge, has refused the text by then: nothing here produces an instant that is used.

>>> problem("2024-02-15T16:00-05:00")
'has no seconds: write 2024-02-15T16:00:00-05:00'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from pit_fetch.times import NEW_YORK, parse_pit, parse_rfc2822

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

EXAMPLE = "2024-02-15T16:00:00-05:00"
# What follows in a text that is longer has nothing to do with an instant.
_MAX_LENGTH = 200
_BEYOND = "is not within the years 1 to 9999 of UTC"

_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_DASHES = {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212"}
_NEW_YORK_NAMES: dict[str, list[str]] = {
    **{name: [] for name in ("ET", "NEW YORK", "NY", "NYC", "EASTERN", "EST5EDT")},
    "EST": ["-05:00"],
    "EDT": ["-04:00"],
}

_UNIX_TIME = r"(?:[0-9]{10}|[0-9]{13})\Z"
# Only with seconds: without, parse_rfc2822 returns the last instant of the minute, which the text does not state.
_MAIL_DATE = r"(?:[A-Z][a-z]{2}, )?[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} [+-]"
_LOOSE_DATE = (
    r"(?P<year>[0-9]{4})(?:(?P<dash>[-/._])(?P<month>[0-9]{1,2})(?P=dash)(?P<day>[0-9]{1,2})"
    r"|(?P<mm>[0-9]{2})(?P<dd>[0-9]{2})(?![0-9]))"
)
_LOOSE_CLOCK = (
    r"(?P<hour>[0-9]{1,2})(?::?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]*))?)?)?"
    r"(?:\s*(?P<half>[AP])\.?M\.?(?![A-Z]))?"
)
_LOOSE = re.compile(rf"{_LOOSE_DATE}(?:(?:\s*T\s*|[\s_,@]+){_LOOSE_CLOCK})?\s*(?P<zone>.*)", re.DOTALL | re.IGNORECASE)
_LOOSE_ZONE = re.compile(
    r"(?P<utc>Z(?!\s*[+-])|UTC|GMT|ZULU)?\s*(?:(?P<sign>[+-])?\s*(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})?)?\s*"
    r"(?:(?P<bracket>[\[(])?(?P<name>[A-Z]+(?:[/ _+-][A-Z0-9]+)*(?:5EDT)?)[\])]?)?[.,;]*",
    re.IGNORECASE,
)

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = _DAY + r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_OFFSET = r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
# The first row whose pattern matches the beginning of a text names its fault.
_FAULTS = (
    (r"\s*\Z", "is empty"),
    (r"\s|.*\s\Z", "has spaces around it"),
    (rf"[{_QUOTES}]|.*[{_QUOTES}]\Z", "has quotes in it"),
    (r".*[^\x00-\x7f]", "has characters that are not ASCII (such as a long dash)"),
    (
        r"(?i:now|today|yesterday|tomorrow|latest|current|none|null|never|open|all)\Z",
        "is a word, but a PIT is a fixed instant",
    ),
    (_UNIX_TIME, "is a Unix time"),
    (_MAIL_DATE, "is in the date format of e-mail"),
    (r"[0-9]{4}(?:-[0-9]{1,2})?\Z", "has no day"),
    (r"[0-9]{1,2}([-/. ])(?:[0-9]{1,2}|[A-Za-z]+)\1[0-9]{2,4}|[A-Za-z]{3,9} +[0-9]", "does not start with the year"),
    (rf"(?!{_LOOSE_DATE})", "is not a date and time"),
    (rf"(?!{_DAY})", "has a date that is not YYYY-MM-DD"),
    (rf"{_DAY}(?![Tt\s_,@]+[0-9])", "has no time of day"),
    (rf"{_DAY}[^T]", "has no capital T between date and time"),
    (rf"{_DAY}T[0-9]{{2}}(?::[0-9]{{2}})?(?![0-9:.])", "has no seconds"),
    (rf"{_DAY}T(?!..:..:[0-9]{{2}}(?![0-9]|\s*[AaPp]\.?[Mm]\b))", "has a time that is not HH:MM:SS"),
    (rf"{_DAY}T24:00:00(?![.0-9])", "names the end of a day as 24:00, and not as 00:00 of the next"),
    (rf"{_DAY}T(?:[01].|2[0-3]):[0-5].:60", "names a leap second (write it as 59)"),
    (rf"{_DAY}T(?!(?:[01].|2[0-3]):[0-5].:[0-5])", "names a time that does not exist"),
    (rf"{_DAY}T.{{8}}(?:,|\.(?![0-9]))", "has a fraction of a second that is not a point and digits"),
    (rf"{_CLOCK}\Z", "has no offset"),
    (rf"{_CLOCK}{_OFFSET}?\s", "has a space before its zone"),
    (rf"{_CLOCK}{_OFFSET}\Z", "names a date that is not in the calendar, or an offset that does not exist"),
    (rf"{_CLOCK}(?:UTC|GMT)?[+-][0-9: ]*\Z", "has an offset that is not +HH:MM or -HH:MM"),
    (rf"{_CLOCK}{_OFFSET}(?![A-Ya-z])", "has something after its offset"),
    (rf"{_CLOCK}[A-Za-z]", "has a name in the place of Z, an offset or a [Zone/Name]"),
    ("", "has something after its time that is not an offset"),
)


def problem(text: str, following: Sequence[str] = ()) -> str:
    """Return what is wrong with ``text`` as an instant, and the fix. ``following`` are the words after it."""
    text = text[:_MAX_LENGTH]
    if following and re.fullmatch(_LOOSE_DATE, text):
        for count in (2, 1):
            advice = _advice(" ".join([text, *following[:count]]))
            if advice:
                return f"was cut at a space: {advice}"
    return f"{_fault(text)}: {_advice(text) or f'write it like {EXAMPLE}'}"


def date_problem(text: str) -> str:
    """Return how to write a bound that may be a date: "write 2024-02-15"; "" if there is nothing helpful to say."""
    text = text[:_MAX_LENGTH]
    match = re.fullmatch(_LOOSE_DATE, _plain(text))
    if match is None:
        return _advice(text)
    try:
        return f"write {_day(match):%Y-%m-%d}"
    except ValueError:
        return "that day is not in the calendar"


def _fault(text: str) -> str:
    zoned = re.match(rf"({_CLOCK}{_OFFSET}?)\[([^\[\]]*)\]\Z", text)
    if zoned is None:
        fault = next(fault for pattern, fault in _FAULTS if re.match(pattern, text, re.DOTALL))
        return _BEYOND if re.fullmatch(_CLOCK + _OFFSET, text) and _is_beyond(text) else fault
    zone = _zone(zoned[2])
    if zone is None or zone.key != zoned[2]:
        return "has a zone in brackets that this machine does not know"
    if _is_beyond(zoned[1], zone):
        return _BEYOND
    return f"is a time or an offset that clocks in {zone.key} do not show, or show twice"


def _is_beyond(text: str, zone: tzinfo | None = None) -> bool:
    """Return whether the calendar has the instant only in another zone than UTC."""
    try:
        moment = datetime.fromisoformat(text)
        (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return True
    except ValueError:
        pass
    return False


def _advice(text: str) -> str:
    """Return "write FORM" with the instant that ``text`` states, or with each of those that it may mean; else ""."""
    try:
        return _corrected(_plain(text))
    except (ValueError, OverflowError):  # there is no such day or time
        return ""


def _plain(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", text.strip().strip(_QUOTES).translate(_DASHES)).strip()


def _corrected(text: str) -> str:
    mail = parse_rfc2822(text) if re.match(_MAIL_DATE, text) else None
    if mail is not None:
        return _write([_form(mail)])
    if re.match(_UNIX_TIME, text):
        return _write([_form(datetime.fromtimestamp(int(text[:10]), UTC), text[10:])])
    match = _LOOSE.fullmatch(text)
    if match is None:
        return ""
    day, zone = _day(match), match["zone"]
    if match["hour"] is None:
        ends = [*_in_zone(day.replace(hour=16), NEW_YORK), *_in_zone(day + timedelta(days=1), NEW_YORK)]
        return "" if zone or len(ends) != 2 else f"{ends[0]} is 16:00 on that day, {ends[1]} is its end"
    wall, fraction = _wall_clock(match, day), match["fraction"] or ""
    if zone:
        return _write(_zoned(wall, fraction, zone))
    new_york, utc = _write(_in_zone(wall, NEW_YORK, fraction)), _form(wall.replace(tzinfo=UTC), fraction)
    return new_york and f"{new_york} for New York or {utc} for UTC"


def _write(forms: Sequence[str]) -> str:
    # All or none: a form that is left alone would show one of several instants as the one that was meant.
    return f"write {' or '.join(forms)}" if forms and all(map(parse_pit, forms)) else ""


def _day(match: re.Match[str]) -> datetime:
    year, month, day = match["year"], match["month"] or match["mm"], match["day"] or match["dd"]
    return datetime(int(year), int(month), int(day))  # noqa: DTZ001 - a day


def _wall_clock(match: re.Match[str], day: datetime) -> datetime:
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if match["half"]:
        hour = (12, *range(1, 12)).index(hour) + (12 if match["half"] in "Pp" else 0)
    if (hour, minute, second) == (24, 0, 0):
        return day + timedelta(days=1)
    return day.replace(hour=hour, minute=minute, second=second)


def _zoned(wall: datetime, fraction: str, text: str) -> list[str]:
    """Return the forms of a wall clock's time with a zone that may be an offset, a name or both."""
    match = _LOOSE_ZONE.fullmatch(text)
    if match is None:
        return []
    utc, name = (match["utc"] or "").upper(), match["name"] or ""
    offsets = ["Z"] if utc else []
    if match["hours"]:
        if utc in ("Z", "ZULU") or not (match["sign"] or match["minutes"]):
            return []
        offsets = [f"{sign}{match['hours']:0>2}:{match['minutes'] or '00'}" for sign in match["sign"] or "+-"]
    if not offsets and name.upper() in _NEW_YORK_NAMES:
        offsets, name = _NEW_YORK_NAMES[name.upper()], "America/New_York"
    clock = wall.isoformat() + (f".{fraction}" if fraction else "")
    with_offsets, zone = [clock + offset for offset in offsets], _zone(name)
    if zone is None or len(offsets) > 1:
        return with_offsets if not name or match["bracket"] else []
    stated = f"{clock}{''.join(offsets)}[{zone.key}]"
    if parse_pit(stated):
        return [stated]
    forms = _in_zone(wall, zone, fraction)
    if forms and offsets:  # the two contradict each other: it is that clock's time, or the offset's instant
        instant = datetime.fromisoformat(wall.isoformat() + offsets[0])
        forms.append(_form(instant.astimezone(zone), fraction))
    return [f"{form}[{zone.key}]" for form in dict.fromkeys(forms)]


def zone_of(name: str) -> str:
    """Return the name of the zone that a name in any spelling means; "" if there is none."""
    zone = _zone("America/New_York" if name.upper() in _NEW_YORK_NAMES else name)
    return zone.key if zone else ""


def _zone(name: str) -> ZoneInfo | None:
    """Return the zone of that name, or of that city if there is one of it, in any spelling; None if there is none."""
    from zoneinfo import ZoneInfo, available_timezones

    wanted = _letters(name)
    zones = [zone for zone in available_timezones() if "/" in zone]
    known = [zone for zone in zones if _letters(zone) == wanted]
    # Not so of Etc/GMT+5, which is five hours behind GMT: whoever writes GMT+5 means the contrary.
    cities = (zone for zone in zones if not zone.startswith("Etc/"))
    known = known or [zone for zone in cities if _letters(zone.rpartition("/")[2]) == wanted]
    return ZoneInfo(known[0]) if wanted and len(known) == 1 else None


def _letters(name: str) -> str:
    return re.sub(r"(?![+-][0-9])[^a-z0-9/]", "", name.casefold())


def _in_zone(wall: datetime, zone: tzinfo, fraction: str = "") -> list[str]:
    """Return the forms of the instants that a wall clock's time may mean: two around a change of the clock."""
    readings = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC).astimezone(zone) for fold in (0, 1))
    forms = sorted({_form(reading, fraction) for reading in readings})
    return forms if all(map(parse_pit, forms)) else []  # before a zone was introduced, its offset had seconds


def _form(moment: datetime, fraction: str = "") -> str:
    text = moment.isoformat().replace("+00:00", "Z")
    return text[:19] + (f".{fraction}" if fraction else "") + text[19:]
