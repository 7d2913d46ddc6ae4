"""The values of options: a word of the command line or a Python value, by the same rules. Pure.

:func:`parse_value` reads a value, :func:`format_value` writes it back as a word.

>>> parse_value(Option("tickers", "", kind="list"), 'IBM, "Oil, gas"')
('IBM', 'Oil, gas')
>>> format_value(("IBM", "Oil, gas"))
'IBM,"Oil, gas"'
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from pit_fetch import times
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import Option

_INVISIBLE: Mapping[int, str | None] = {
    **dict.fromkeys((0xA0, 0x2007, 0x202F), " "),
    **dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF)),
}
_FILE = r"(?i)@\S+\.(?:txt|csv|tsv|json|jsonl|toml|list|lst)"
# Words that stand for everything in other tools.
_ALL = frozenset(["all", "none", "max", "inf", "infinity", "unlimited", "everything", "0", "-1", "*"])
# What to do about a value of a frame.
MISSING = "a value is missing; leave such rows out, as frame.dropna() does"
ZONE_FIX = 'give it one, with .tz_localize("America/New_York") in pandas or .replace(tzinfo=...) of a datetime'
_TAKES = {"integer": "a whole number", "number": "a number", "instant": "an ISO 8601 text or a datetime"}


def strip_invisible(text: str) -> str:
    """Return ``text`` with plain blanks, and without characters that nobody sees and nobody typed.

    They come along when a text is copied: non-breaking spaces, soft hyphens, marks of a writing direction.
    """
    return text if text.isascii() else text.translate(_INVISIBLE)


def flag_of(name: str) -> str:
    """Return the flag of an option: ``date_from`` -> ``--date-from``."""
    return "--" + name.replace("_", "-")


def parse_value(option: Option, value: object) -> Any:
    """Return ``value`` as the kind of ``option`` demands. Raise UsageError, whose text names the fix.

    A list is any iterable of strings, such as a column of a frame. In a word, values are separated by commas, and a
    value that contains a comma is put in double quotes.
    """
    if option.repeatable:
        return _parse_repeated(option, value)
    if option.parse is not None:
        # What is wrong with a timestamp is said with the form that it should have.
        return option.parse(_scalar(option, value) if option.kind == "instant" else _word(option, value))
    if option.kind == "list":
        return _parse_list(option, value)
    if option.kind == "flag":
        return _parse_flag(option, value)
    text = _text(option, value)
    match option.kind:
        case "integer":
            return _parse_integer(option, text)
        case "number":
            return _parse_number(option, text)
        case "instant":
            return parse_instant(option, text, times.instant)
        case _:
            return _parse_choice(option, text)


def plain_value(option: Option, value: object) -> object:
    """Return a value of pandas or NumPy, or a list where the option takes one value, as the program knows it.

    Raise UsageError for what a frame has where a value is missing, and for a time without a zone. A naive midnight, as
    a frame has a day, is that day, for options that take days.
    """
    parts = _parts(value)
    if parts is None:
        return _unboxed(option, value)
    texts = [_unboxed(option, part) for part in parts]
    return texts[0] if len(texts) == 1 and option.kind != "list" and not option.repeatable else texts


def _unboxed(option: Option, value: object) -> Any:
    kind = getattr(getattr(value, "dtype", None), "kind", "")  # of a NumPy scalar
    text = str(value)
    if text in ("NaT", "<NA>", "nan") and not isinstance(value, str):
        raise UsageError(Code.USAGE, text=f"{option.name} is {text}: {MISSING}")
    if kind in ("b", "i", "u", "f"):
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, float) and value.is_integer() and option.kind != "number":
        return int(value)  # of a column in which a number is missing pandas makes floats
    if kind == "M" or (isinstance(value, datetime) and value.utcoffset() is None):
        day, clock = text[:10], text[11:]
        if option.kind != "instant" or option.name == "pit" or clock.strip("0:."):
            raise UsageError(Code.USAGE, text=f"{option.name} has no time zone: {ZONE_FIX}")
        return day
    return value


def format_value(value: object) -> str:
    """Return ``value`` as a word that :func:`parse_value` reads as the same value."""
    if isinstance(value, (list, tuple)):
        import csv
        import io

        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n").writerow(value)  # else a line break inside a value goes unquoted
        return text.getvalue()[:-2]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def parse_instant(option: Option, text: str, parse: Callable[[str], datetime | None]) -> datetime:
    """Return what ``parse`` makes of ``text``. Raise UsageError if that is None."""
    moment = parse(text)
    if moment is None:
        from pit_fetch.courtesy.timestamps import date_problem

        fix = date_problem(text)
        form = (
            f"{flag_of(option.name)} is YYYY-MM-DD (a New York day), a full timestamp with offset, or Unix seconds "
            "(not milliseconds)"
        )
        raise UsageError(Code.USAGE, text=f"{form}: {fix}" if fix else form)
    return moment


def _text(option: Option, value: object) -> str:
    # One spelling, so that it is the same request however it was typed.
    text = _word(option, value).strip()
    if not text:
        raise _empty(option)
    text = text.upper() if option.uppercase else text
    return option.synonyms.get(text, text)


def _word(option: Option, value: object) -> str:
    """Return a value as a word, without what came along as it was copied. Raise UsageError for the name of a file."""
    text = strip_invisible(_scalar(option, value))
    if text[:1] == "@" and re.fullmatch(_FILE, text) and option.metavar not in ("PATH", "FILE"):
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} does not read a file (@): write its values here")
    return text


def _scalar(option: Option, value: object) -> str:
    """Return a scalar as a word would spell it."""
    value = _unboxed(option, value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    is_hole = isinstance(value, float) and not math.isfinite(value)
    is_misplaced = isinstance(value, bool) and "true" not in option.choices
    if not isinstance(value, (str, int, float, date)) or is_hole or is_misplaced:
        raise _type_error(option, _TAKES.get(option.kind, "a string"), value)
    return format_value(value)


def _parts(value: object) -> Iterable[object] | None:
    """Return the elements of a list, a set, a generator or a column of a frame; None for anything else."""
    # Mappings and tables are iterable as well, but yield their keys and the names of their columns.
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        return None
    if getattr(value, "ndim", 1) != 1:
        return None
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else value


def _parse_list(option: Option, value: object) -> tuple[str, ...]:
    parts = _parts(value)
    if isinstance(value, str):
        import csv
        import io

        try:
            rows = list(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True, strict=True))
        except csv.Error:
            text = f'{flag_of(option.name)} has an unclosed double quote: write "A, B",C'
            if value.lstrip()[:1] in ("[", "{"):
                text = f"{flag_of(option.name)} is a list with commas, without brackets and quotes: write A,B"
            raise UsageError(Code.USAGE, text=text) from None
        parts = [part for row in rows for part in row if strip_invisible(part).strip()]
    if parts is None:
        raise _type_error(option, "one or more strings", value)
    texts = [_text(option, part) for part in parts]
    if not texts:
        if isinstance(value, str):
            raise _empty(option)
        raise UsageError(Code.USAGE, text=f"{option.name} needs at least one value, or leave it out")
    if not option.choices:
        return tuple(texts)
    chosen = tuple(choice for choice in (_declared(option, text) for text in texts) if choice is not None)
    if len(chosen) < len(texts):
        choices = ", ".join(option.choices)
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} is a comma-separated list of {choices}")
    return chosen


def _parse_repeated(option: Option, value: object) -> tuple[Any, ...]:
    # A string is one value, whatever is in it.
    parts = _parts(value)
    values = tuple(
        parse_value(option._replace(repeatable=False), part) for part in ([value] if parts is None else parts)
    )
    if not values:
        raise _empty(option)
    return values


def _parse_flag(option: Option, value: object) -> bool:
    text = format_value(value).strip().lower() if isinstance(value, (bool, str)) else ""
    if text not in ("true", "false"):
        raise UsageError(Code.USAGE, text=f"{option.name} takes true or false")
    return text == "true"


def _parse_choice(option: Option, text: str) -> str:
    if not option.choices:
        return text
    chosen = _declared(option, text)
    if chosen is None:
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} is one of {', '.join(option.choices)}")
    return chosen


def _declared(option: Option, text: str) -> str | None:
    """Return the choice that ``text`` means, in any case, as it was declared; None if there is no such choice."""
    return next((choice for choice in option.choices if choice.casefold() == text.casefold()), None)


def _parse_integer(option: Option, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) < option.minimum:
        more = " and at most 12 digits" if re.fullmatch(r"[0-9]{13,}", text) else ""
        if option.name in ("limit", "max_pages") and text.casefold() in _ALL:
            more = ": for everything, write a large one, such as 1000000"
        raise UsageError(
            Code.USAGE, text=f"{flag_of(option.name)} is a whole number of at least {option.minimum}{more}"
        )
    return int(text)


def _parse_number(option: Option, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 86_400:
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} is a number of seconds, above 0 and up to 86400")
    return number


def _empty(option: Option) -> UsageError:
    return UsageError(Code.USAGE, text=f"{flag_of(option.name)} is empty: give a value or leave it out")


def _type_error(option: Option, takes: str, value: object) -> UsageError:
    several = "" if option.kind == "list" or _parts(value) is None else "; for several, ask pit_fetch.panel over them"
    return UsageError(
        Code.USAGE, text=f"{option.name} takes {takes}, not a value of type {type(value).__name__}{several}"
    )
