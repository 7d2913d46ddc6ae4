"""What is wrong with a timestamp that was refused, and the instant that it states. Pure.

The gate's parser, the only judge, has refused the text by then: nothing here produces an instant that is used.

>>> problem("2024-02-15T16:00-05:00")
'has no seconds: write 2024-02-15T16:00:00-05:00'
>>> problem("2024-02-15T16:00:00")
'has no offset: write 2024-02-15T16:00:00-05:00 for New York or 2024-02-15T16:00:00Z for UTC'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from unicodedata import normalize
from zoneinfo import available_timezones

from pit_fetch.times import NEW_YORK, parse_pit

EXAMPLE = "2024-02-15T16:00:00-05:00"
# What follows in a text that is longer has nothing to do with an instant.
_MAX_LENGTH = 200

_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_DASHES = {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212"}
_UNIX_TIME = r"[0-9]{10}(?:[0-9]{3})?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = _DAY + r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
# The first row whose pattern matches a whole text names its fault.
_FAULTS = (
    (r"\s*", "is empty"),
    (rf"[\s{_QUOTES}].*|.*[\s{_QUOTES}]", "has quotes or spaces around it"),
    (r"(?i:now|today|yesterday|tomorrow|latest|current|none|open|all)", "is a word, but a PIT is a fixed instant"),
    (_UNIX_TIME, "is a Unix time"),
    (_DAY, "has no time of day"),
    (r"[0-9]{1,2}[-/. ]\w+[-/. ][0-9]{2,4}\b.*", "does not start with the year"),
    (rf"{_DAY}[ t_].*", "has no capital T between date and time"),
    (rf"{_DAY}T[0-9]{{2}}:[0-9]{{2}}(?![:0-9]).*", "has no seconds"),
    (_TIME, "has no offset"),
    (rf"{_TIME}\s.*", "has a space before its zone"),
    (rf"{_TIME}.*\[.*", "has a zone that is not known, or a time that clocks there skip or show twice"),
    (rf"{_TIME}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})", "names a day, a time or an offset that does not exist"),
    (r"[0-9]{4}[-/.]?[0-9]{1,2}[-/.]?[0-9]{1,2}.*", "has another form"),
    (r".*", "is not a date and time"),
)
_DATE = r"([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{8})"
_CLOCK = r"([0-9]{2}:?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]{1,6})?)?)"
_LOOSE = re.compile(rf"{_DATE}(?:[T\s_]+{_CLOCK})?\s*([^\d\s:].*)?", re.IGNORECASE)
_ZONE = re.compile(r"(?:(?:UTC|GMT)?\s*([+-])([0-9]{1,2}):?([0-9]{2})?)?\s*[\[(]?([a-z][\w/ +-]*)?[\])]?[.,;]*", re.I)
# A name of winter or summer time states an instant only where New York's clocks show its offset.
_ZONES = {
    **dict.fromkeys(("Z", "UTC", "GMT"), "Z"),
    **dict.fromkeys(("ET", "NY", "NYC", "EASTERN"), "[America/New_York]"),
    "EST": "-05:00[America/New_York]",
    "EDT": "-04:00[America/New_York]",
}


def problem(text: str, following: Sequence[str] = ()) -> str:
    """Return what is wrong with ``text`` as an instant, and the fix. ``following`` are the words after it."""
    text = text[:_MAX_LENGTH]
    for count in (2, 1) if re.fullmatch(_DATE, text) and following else ():
        if fix := _fix(" ".join([text, *following[:count]])):
            return f"was cut at a space: {fix}"
    fault = next(fault for pattern, fault in _FAULTS if re.fullmatch(pattern, text, re.DOTALL))
    return f"{fault}: {_fix(text) or f'write it like {EXAMPLE}'}"


def date_problem(text: str) -> str:
    """Return how to write a bound that may be a date: "write 2024-02-15"; "" if there is nothing helpful to say."""
    plain = _plain(text)
    if not re.fullmatch(_DATE, plain):
        return _fix(text)
    try:
        return f"write {_day(plain):%Y-%m-%d}"
    except ValueError:
        return "that day is not in the calendar"


def zone_of(text: str) -> str:
    """Return a time zone in any spelling as a PIT has it, "[America/New_York]" for "New York"; "" if there is none."""
    match = _ZONE.fullmatch(text.strip())
    sign, hours, minutes, name = match.groups(default="") if match else [""] * 4
    offset = f"{sign}{hours:0>2}:{minutes or '00'}" if sign else ""
    if not name or name.upper() in _ZONES:
        return offset or _ZONES.get(name.upper(), "")
    # Etc/GMT+5 is five hours behind GMT: whoever writes GMT+5 means the contrary.
    zones = [zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")]
    known = [zone for zone in zones if _letters(zone) == _letters(name)]
    known = known or [zone for zone in zones if _letters(zone.rpartition("/")[2]) == _letters(name)]
    return f"{offset}[{known[0]}]" if len(known) == 1 else ""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.casefold())


def _fix(text: str) -> str:
    """Return "write FORM" with the instant that ``text`` states, or with each of those that it may mean; else ""."""
    text = _plain(text)
    if re.fullmatch(_UNIX_TIME, text):
        return _write([_form(datetime.fromtimestamp(int(text) / 10 ** (len(text) - 10), UTC))])
    match = _LOOSE.fullmatch(text)
    if match is None:
        return ""
    date, clock, zone = match.groups()
    try:
        if clock is None:
            close, end = (_new_york_forms(_day(date) + timedelta(hours=hours))[0] for hours in (16, 24))
            return "" if zone else f"{close} is 16:00 on that day, {end} is its end"
        wall = datetime.fromisoformat(f"{_day(date):%Y-%m-%d}T{clock.replace(',', '.')}")
    except (ValueError, OverflowError):  # there is no such day or time
        return ""
    if zone:
        return _write([f"{wall.isoformat()}{zone_of(zone)}"])
    new_york = _write(_new_york_forms(wall))
    return new_york and f"{new_york} for New York or {_form(wall.replace(tzinfo=UTC))} for UTC"


def _plain(text: str) -> str:
    return normalize("NFKC", text[:_MAX_LENGTH].strip().strip(_QUOTES).translate(_DASHES)).strip()


def _day(text: str) -> datetime:
    return datetime.strptime(re.sub("[/.]", "-", text), "%Y%m%d" if text.isdigit() else "%Y-%m-%d")  # noqa: DTZ007 - a day


def _new_york_forms(wall: datetime) -> list[str]:
    """Return the instants at which New York's clocks show a time: two where the clock is put back."""
    return sorted({_form(wall.replace(tzinfo=NEW_YORK, fold=fold)) for fold in (0, 1)})


def _form(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _write(forms: Sequence[str]) -> str:
    # All or none: a form that is left alone would show one of several instants as the one that was meant.
    return f"write {' or '.join(forms)}" if all(map(parse_pit, forms)) else ""
