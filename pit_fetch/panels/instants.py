"""The instants of a panel: a list, a file, or a rule such as "every month's end at 16:00 in New York". Pure.

>>> [str(instant) for instant in instants("monthly 2024-01..2024-03 16:00[America/New_York]", open)]
['2024-01-31 21:00:00+00:00', '2024-02-29 21:00:00+00:00', '2024-03-31 20:00:00+00:00']
>>> [str(instant) for instant in instants("weekly fri 2024-07-01..2024-07-12 09:30[Europe/London]", open)]
['2024-07-05 08:30:00+00:00', '2024-07-12 08:30:00+00:00']
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.over import ReadFile, from_file
from pit_fetch.request.values import MISSING, ZONE_FIX
from pit_fetch.support.wording import truncate
from pit_fetch.times import is_aware, parse_date, parse_pit

_RULE = re.compile(r"(daily|weekly|monthly)(?: +([A-Za-z]{3}))? +(\S+)\.\.(\S+) +(\d\d:\d\d(?::\d\d)?)(\S+)")
_SESSIONS = re.compile(r"sessions +([A-Z0-9]{2,10}) +(\S+)\.\.(\S+) +(open|close)(?:([+-]\d{1,4})(min|h))?")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def instants(pits: object, read: ReadFile) -> list[datetime]:
    """Return the instants in UTC, the earliest first, each once.

    ``pits`` is an instant as ``--pit`` takes it, an aware datetime, a rule, ``@FILE`` with one of them a line, or
    several of these. Raise UsageError, which names the one that cannot be used.
    """
    found = sorted({*_parse_instants(pits, read)})
    if not found:
        raise _refusal("pits: there is no instant")
    return found


def _parse_instants(pits: object, read: ReadFile) -> Iterator[datetime]:
    if isinstance(pits, datetime):
        if pits != pits:  # pandas has a datetime that is none, and equals nothing
            raise _refusal(f"pits: {pits}: {MISSING}")
        if not is_aware(pits):
            raise _refusal(f"pits: {pits} has no time zone: {ZONE_FIX}")
        # A plain one: that of pandas has nanoseconds, and prints otherwise.
        yield datetime(*pits.utctimetuple()[:6], pits.microsecond, tzinfo=UTC)
    elif isinstance(pits, str):
        text = pits.strip()
        yield from from_file("pits", text, read, _parse_file) if text.startswith("@") else _parse_text(text)
    elif isinstance(pits, Iterable):
        for each in pits:
            yield from _parse_instants(each, read)
    else:
        fix = f": {ZONE_FIX}" if getattr(getattr(pits, "dtype", None), "kind", "") == "M" else ""
        raise _refusal(f"pits: {truncate(str(pits))} is no instant{fix}")


def _parse_file(text: str, name: str) -> list[datetime]:
    lines = [line.strip() for line in text.splitlines()]
    return [instant for line in lines if line and not line.startswith("#") for instant in _parse_text(line)]


def _parse_text(text: str) -> Iterator[datetime]:
    if rule := _RULE.fullmatch(text):
        yield from _rule_times(text, *rule.groups())
    elif rule := _SESSIONS.fullmatch(text):
        yield from _parse_sessions(text, *rule.groups())
    elif text.startswith("@"):
        raise _refusal(f"it names a file, {truncate(text)}: write its instants")
    else:
        instant = parse_pit(text)
        if instant is None:
            raise _not_an_instant(text)
        yield instant


def _rule_times(
    text: str, frequency: str, weekday: str | None, first: str, last: str, clock: str, zone: str
) -> Iterator[datetime]:
    weekday = weekday and weekday.lower()
    if weekday not in (_DAYS if frequency == "weekly" else (None,)):
        raise _not_an_instant(text)
    since, until = _parse_bound(first), _parse_bound(last, is_end=True)
    if since is None or until is None:
        raise _not_an_instant(text)
    if since > until:
        raise _refusal(f"{truncate(text)}: {first} is after {last}: swap them")
    if parse_pit(f"2024-01-01T12:00:00{zone}") is None:
        from pit_fetch.courtesy.panels import example_rule

        raise _refusal(f"pits: the time zone {truncate(zone)} is not known: write it as in '{example_rule(text)}'")
    for day in _days(frequency, weekday, since, until):
        yield _clock_time(text, day, clock if len(clock) > 5 else f"{clock}:00", zone)


def _parse_sessions(
    text: str, exchange: str, first: str, last: str, event: Any, count: str | None, unit: str | None
) -> Iterator[datetime]:
    since, until = _parse_bound(first), _parse_bound(last, is_end=True)
    if since is None or until is None:
        raise _not_an_instant(text)
    return _session_times(
        exchange, since, until, event, timedelta(minutes=int(count or 0) * (60 if unit == "h" else 1))
    )


def _session_times(
    exchange: str, first: date, last: date, event: Literal["open", "close"], offset: timedelta
) -> Iterator[datetime]:
    """Yield the opening or closing of each session of an exchange from ``first`` to ``last``, and ``offset`` later.

    Raise UsageError for what no calendar knows, ConfigError without exchange_calendars.
    """
    # A calendar knows closures before they were announced, such as those of September 2001: it is for an operator's
    # grid, who chooses when to ask, and for nothing that an answer depends on.
    try:
        import exchange_calendars
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="exchange_calendars") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses pandas in ways that pandas is about to change
            # The day after, since it wants more than one.
            calendar = exchange_calendars.get_calendar(exchange, start=first, end=last + timedelta(days=1))
    except exchange_calendars.errors.InvalidCalendarName:
        raise _refusal(f"pits: {exchange} is no exchange that is known: write its code, such as XNYS or XLON") from None
    except exchange_calendars.errors.NoSessionsError:
        return
    except (ValueError, OverflowError):
        raise _refusal(
            f"pits: the sessions of {exchange} are not known from {first} to {last}: choose other days"
        ) from None
    for session, instant in (calendar.opens if event == "open" else calendar.closes).items():
        if session.date() <= last:
            yield instant.to_pydatetime().astimezone(UTC) + offset


def _clock_time(text: str, day: date, clock: str, zone: str) -> datetime:
    """Return the instant of a rule on a day. Raise UsageError if there is none."""
    instant = parse_pit(f"{day}T{clock}{zone}")
    if instant is not None:
        return instant
    if parse_pit(f"{day}T{clock}Z") is None:
        raise _not_an_instant(text)
    change = f"clocks in {zone.strip('[]')} skip {clock} on {day}, or show it twice"
    raise _refusal(f"{change}: choose another time, or give the days before and after as two rules")


def _days(frequency: str, weekday: str | None, first: date, last: date) -> list[date]:
    from dateutil import rrule

    rules: dict[str, dict[str, Any]] = {
        "daily": {"freq": rrule.DAILY},
        "weekly": {"freq": rrule.WEEKLY, "byweekday": _DAYS.index(weekday or "mon")},
        "monthly": {"freq": rrule.MONTHLY, "bymonthday": -1},  # the last day, whatever its number
    }
    start, end = (datetime(day.year, day.month, day.day) for day in (first, last))  # noqa: DTZ001 - days alone
    return [moment.date() for moment in rrule.rrule(dtstart=start, until=end, **rules[frequency])]


def _parse_bound(text: str, *, is_end: bool = False) -> date | None:
    """Return a day, or the first or last one of a month; None for anything else."""
    from dateutil.relativedelta import relativedelta

    day = parse_date(text) or parse_date(f"{text}-01")
    return day + relativedelta(day=31) if day and is_end and len(text) == len("2024-01") else day


def _not_an_instant(text: str) -> UsageError:
    """Return the refusal of a text that is neither an instant nor a rule, with what was probably meant."""
    from pit_fetch.courtesy.panels import example_rule, is_rule
    from pit_fetch.courtesy.timestamps import problem

    if is_rule(text):
        return _refusal(
            f"pits: {truncate(text)} is no rule: write it as in '{example_rule(text)}', or list the instants"
        )
    texts = [part.strip("[]\"' ") for part in re.split(r"[;,\s]+", text)]
    if all(map(parse_pit, texts)):
        return _refusal(f"pits: instants have commas between them, and no quotes of their own: write {','.join(texts)}")
    if re.fullmatch(r"[\w./-]+\.(?:txt|csv|lst|list)", text):
        return _refusal(f"pits: instants in a file are named with @: write @{text}")
    return _refusal(f"pits: {truncate(text)} {problem(text)}")


def _refusal(text: str) -> UsageError:
    return UsageError(Code.USAGE, text=text)
