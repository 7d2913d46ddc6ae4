"""The universe of a panel: the subjects that are asked about, and the days on which each belongs to it. Pure.

>>> text = "symbol,from,to\\nIBM,,\\nGE,2018-06-26,\\nLEH,,2008-09-15\\n"
>>> [str(member) for member in members("symbol", "@index.csv", lambda path: text)]
['IBM', 'GE from 2018-06-26', 'LEH to 2008-09-15']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import product
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.over import ReadFile, from_file, from_text, listed, rows
from pit_fetch.request.values import format_value
from pit_fetch.support.wording import truncate
from pit_fetch.times import NEW_YORK, parse_date


class Subject(NamedTuple):
    """Who is asked about, by the options that name them, and the instants (UTC, the earliest first)."""

    over: Mapping[str, Any]
    pits: Sequence[datetime]


class Member(NamedTuple):
    """A value of an option, and the New York days on which it belongs to the universe, both inclusive; None: open."""

    value: Any
    since: date | None = None
    until: date | None = None

    def __str__(self) -> str:
        bounds = (f"{word} {day}" for word, day in (("from", self.since), ("to", self.until)) if day is not None)
        return " ".join([str(self.value), *bounds])

    def belongs(self, instant: datetime) -> bool:
        """Return whether it belongs to the universe on the New York day of an instant."""
        if self.since is self.until is None:  # most members: to find the day of each instant would take longer
            return True
        day = instant.astimezone(NEW_YORK).date()
        return (self.since is None or self.since <= day) and (self.until is None or day <= self.until)


def members(name: str, value: object, read: ReadFile) -> list[Member]:
    """Return the members that a list or ``@FILE`` gives for an option.

    The file has one value a line, or is CSV with a column of the option's name, and maybe ``from`` and ``to``, in any
    case. Raise UsageError, which names what cannot be used.
    """
    if isinstance(value, str) and value.startswith("@"):
        return from_file(name, value, read, _parse_file)
    return [Member(each) for each in listed(name, value, read)]


def subjects(over: Mapping[str, Iterable[Member]], instants: Sequence[datetime]) -> Iterator[Subject]:
    """Yield each combination of the values once, the last name varying fastest, as of the instants when all belong."""
    for stints in product(*map(_group_by_value, over.values())):
        pits = [instant for instant in instants if all(_belongs(members, instant) for members in stints)]
        if pits:
            values = {name: members[0].value for name, members in zip(over, stints, strict=True)}
            yield Subject(values, instants if len(pits) == len(instants) else pits)


def _group_by_value(members: Iterable[Member]) -> list[list[Member]]:
    """Return the stints of each value, which may be a list."""
    stints: dict[str, list[Member]] = {}
    for member in members:
        stints.setdefault(format_value(member.value), []).append(member)  # a number may be written as a text
    return [*stints.values()]


def _belongs(stints: Iterable[Member], instant: datetime) -> bool:
    return any(member.belongs(instant) for member in stints)


_BOUNDS = {"from", "to"}
# What others call the days on which a member joins and leaves, and the words that stand around these.
_AROUND = "(?:date|day|dt|on|valid|effective|member|membership|mbr|index|period)*"
_CALLED = {
    "from": "from|since|start|starts|started|begin|begins|began|beginning|joined|added|entry|entered|firstda(?:te|y)",
    "to": "to|until|till|thru|through|end|ends|ended|ending|left|removed|exit|exited|expires|dropped|lastda(?:te|y)",
}


def _parse_file(text: str, name: str) -> list[Member]:
    given = [_normalize_bounds(row) for row in rows(text, name)]
    _check_columns(name, given[0] if given else ())
    if given and _BOUNDS & given[0].keys():
        return [_parse_member(name, row) for row in given]
    return [Member(value) for value in from_text(text, name)]


def _normalize_bounds(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row in which the columns of its days are named as here."""
    return {column.lower() if column.lower() in _BOUNDS else column: text for column, text in row.items()}


def _check_columns(name: str, columns: Iterable[str]) -> None:
    """Raise UsageError for days under other names."""
    # Taken for columns of another meaning, they would let a member that left belong for ever: survivorship bias.
    others = [column for column in columns if column != name and column not in _BOUNDS]
    renamed = [
        f"{truncate(column)} to {bound}"
        for bound in sorted(_BOUNDS.difference(columns))
        for column in others
        if _names_bound(column, bound)
    ]
    if renamed:
        fix = f"rename {' and '.join(renamed)}"
        raise UsageError(Code.USAGE, text=f"its columns of days are named from and to: {fix}, or leave them out")


def _names_bound(column: str, bound: str) -> bool:
    """Return whether the name of a column means a bound: ``Valid From``, ``startDate``, ``date_to``."""
    letters = re.sub("[^a-z]", "", column.lower())
    return re.fullmatch(f"{_AROUND}(?:{_CALLED[bound]}){_AROUND}", letters) is not None


def _parse_member(name: str, row: Mapping[str, str]) -> Member:
    value = row.get(name)
    if not value:
        raise UsageError(Code.USAGE, text=f"a line has no {name}")
    member = Member(value, *(_parse_day(row.get(bound), value) for bound in ("from", "to")))
    if member.since and member.until and member.since > member.until:
        raise UsageError(Code.USAGE, text=f"{truncate(str(member))} is no time: swap the days")
    return member


def _parse_day(text: str | None, value: str) -> date | None:
    if not text:
        return None
    day = parse_date(text)
    if day is None:
        raise UsageError(Code.USAGE, text=f"{truncate(text)} of {truncate(value)} is no day such as 2024-01-31")
    return day
