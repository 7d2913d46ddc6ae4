"""One rule for an option's value, whether it is a word of the command line or a Python value. Pure.

:func:`parse_value` reads a value, :func:`format_value` writes it back as a word.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from pit_fetch import times
from pit_fetch.errors import UsageError
from pit_fetch.provider import Option

# Iterable, but not a list of values: a mapping would give its keys, a table its columns.
_NO_LISTS = (bytes, bytearray, memoryview, Mapping)

_TAKEN = {"integer": "a whole number", "number": "a number", "instant": "an ISO 8601 text or a datetime"}


def flag_of(name: str) -> str:
    """``date_from`` -> ``--date-from``."""
    return "--" + name.replace("_", "-")


def parse_value(option: Option, value: object) -> Any:
    """``value`` as the kind of ``option`` demands. Raises UsageError, whose text names the fix.

    A list is any iterable of strings; in a word, values are separated by commas, and a value that
    contains a comma is put in double quotes.
    """
    if option.repeatable:
        return _each(option, value)
    if option.parse is not None:
        return option.parse(_scalar(option, value))
    if option.kind == "list":
        return _list(option, value)
    if option.kind == "flag":
        return _flag(option, value)
    text = _text(option, value)
    match option.kind:
        case "integer":
            return _integer(option, text)
        case "number":
            return _number(option, text)
        case "instant":
            return instant(option, text, times.instant)
        case _:
            return _choice(option, text)


def format_value(value: object) -> str:
    """Return ``value`` as a word that :func:`parse_value` reads as the same value."""
    if isinstance(value, (list, tuple)):
        import csv
        import io

        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n").writerow(value)  # else a line break inside a value goes unquoted
        return text.getvalue()[:-2]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, str):
        return str.__str__(value)  # for a member of an enumeration, its value
    return str(value).lower() if isinstance(value, bool) else str(value)


def instant(option: Option, text: str, read: Any) -> datetime:
    """What ``read`` makes of ``text``. Raises UsageError if ``read`` cannot make sense of it."""
    moment: datetime | None = read(text)
    if moment is None:
        from pit_fetch.request.timestamp_errors import date_problem

        fix = date_problem(text)
        form = (
            f"{flag_of(option.name)} is YYYY-MM-DD (a New York day), a full timestamp with offset, or Unix seconds "
            "(not milliseconds)"
        )
        raise UsageError("usage", text=f"{form}: {fix}" if fix else form)
    return moment


def _text(option: Option, value: object) -> str:
    """A scalar in one spelling, so that it is the same request however it was typed."""
    text = _scalar(option, value).strip()
    if not text:
        raise UsageError("usage", text=f"{flag_of(option.name)} is empty: give a value or leave it out")
    text = text.upper() if option.uppercase else text
    return option.synonyms.get(text, text)


def _scalar(option: Option, value: object) -> str:
    """A scalar as a word would spell it."""
    missing = isinstance(value, (float, datetime)) and value != value  # NaN and NaT are holes in somebody's table
    if not missing and isinstance(value, datetime) and value.utcoffset() is None:
        raise UsageError("usage", text=f"{option.name} is a datetime without a time zone: use an aware one")
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    takes_flags = "true" in option.choices
    known = isinstance(value, (str, date)) or _is_number(value) or (isinstance(value, bool) and takes_flags)
    if missing or not known:
        wanted = _TAKEN.get(option.kind, "a string")
        raise UsageError("usage", text=f"{option.name} takes {wanted}, not {_called(value)}")
    return format_value(value)


def _is_number(value: object) -> bool:
    """Whether it is one finite number. Arrays have ``__index__`` as well, but it raises when called."""
    if isinstance(value, float):
        return math.isfinite(value)
    try:
        operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def _called(value: object) -> str:
    return f"a value of type {type(value).__name__}"


def _list(option: Option, value: object) -> tuple[str, ...]:
    import csv
    import io

    name = flag_of(option.name)
    if isinstance(value, str):
        try:
            rows = list(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True, strict=True))
        except csv.Error:
            raise UsageError("usage", text=f'{name} has an unclosed double quote: write "A, B",C') from None
        found: Iterable[object] = [part for row in rows for part in row if part.strip()]
    elif isinstance(value, Iterable) and not isinstance(value, _NO_LISTS) and getattr(value, "ndim", 1) == 1:
        found = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    else:
        raise UsageError("usage", text=f"{option.name} takes one or more strings, not {_called(value)}")
    parts = (_text(option, part) for part in found)
    chosen = tuple(_spelled(option, part) if option.choices else part for part in parts)
    if not chosen and not isinstance(value, str):
        raise UsageError("usage", text=f"{option.name} needs at least one value, or leave it out")
    if not chosen:
        raise UsageError("usage", text=f"{name} is empty: give a value or leave it out")
    wanted = tuple(one for one in chosen if one is not None)
    if len(wanted) < len(chosen):
        raise UsageError("usage", text=f"{name} is a comma-separated list of {', '.join(option.choices)}")
    return wanted


def _each(option: Option, value: object) -> tuple[Any, ...]:
    """The values of an option that may be given several times. A string is one of them, whatever is in it."""
    parts: Iterable[object] = (value,)
    if isinstance(value, Iterable) and not isinstance(value, (str, *_NO_LISTS)) and getattr(value, "ndim", 1) == 1:
        parts = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    found = tuple(parse_value(option._replace(repeatable=False), part) for part in parts)
    if not found:
        raise UsageError("usage", text=f"{flag_of(option.name)} is empty: give a value or leave it out")
    return found


def _flag(option: Option, value: object) -> bool:
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # a scalar of NumPy's
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise UsageError("usage", text=f"{option.name} takes true or false")


def _choice(option: Option, text: str) -> str:
    if not option.choices:
        return text
    chosen = _spelled(option, text)
    if chosen is None:
        raise UsageError("usage", text=f"{flag_of(option.name)} is one of {', '.join(option.choices)}")
    return chosen


def _spelled(option: Option, text: str) -> str | None:
    """The choice that ``text`` means in any case, as it was declared; None if there is no such choice."""
    return next((choice for choice in option.choices if choice.casefold() == text.casefold()), None)


def _integer(option: Option, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) < option.minimum:
        most = " and at most 12 digits" if re.fullmatch(r"[0-9]{13,}", text) else ""
        raise UsageError("usage", text=f"{flag_of(option.name)} is a whole number of at least {option.minimum}{most}")
    return int(text)


def _number(option: Option, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 86_400:
        raise UsageError("usage", text=f"{flag_of(option.name)} is a number of seconds, above 0 and up to 86400")
    return number
