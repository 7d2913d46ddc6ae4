"""Who is asked about, and when each of them belongs to it. Pure.

>>> text = "symbol,from,to\\nIBM,,\\nGE,2018-06-26,\\nLEH,,2008-09-15\\n"
>>> [str(member) for member in members("symbol", "@index.csv", lambda path: text)]
['IBM', 'GE from 2018-06-26', 'LEH to 2008-09-15']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import product
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.over import ReadFile, from_file, from_text, listed, rows
from pit_fetch.support.suggest import truncate
from pit_fetch.times import NEW_YORK, parse_date


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
        day = instant.astimezone(NEW_YORK).date()
        return (self.since is None or self.since <= day) and (self.until is None or day <= self.until)


def members(name: str, value: object, read: ReadFile) -> list[Member]:
    """Return the members that a list or ``@FILE`` gives for an option.

    The file has one value a line, or is CSV with a column of the option's name, and maybe ``from`` and ``to``, in any
    case. Raise UsageError, which names what cannot be used.
    """
    if isinstance(value, str) and value.startswith("@"):
        return from_file(name, value, read, _in_file)
    return [Member(each) for each in listed(name, value, read)]


def questions(over: Mapping[str, Iterable[Member]], instant: datetime) -> Iterator[dict[str, Any]]:
    """Yield the options of each question as of an instant, each once.

    They are every combination of the values that belong to the universe then, the last name varying fastest.
    """
    present = ({repr(each.value): each.value for each in named if each.belongs(instant)} for named in over.values())
    for values in product(*(values.values() for values in present)):
        yield dict(zip(over, values, strict=True))


_BOUNDS = {"from", "to"}


def _in_file(text: str, name: str) -> list[Member]:
    given = [_bounded(row) for row in rows(text, name)]
    if given and _BOUNDS & given[0].keys():
        return [_member(name, row) for row in given]
    return [Member(value) for value in from_text(text, name)]


def _bounded(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row in which the columns of its days are named as here."""
    return {column.lower() if column.lower() in _BOUNDS else column: text for column, text in row.items()}


def _member(name: str, row: Mapping[str, str]) -> Member:
    value = row.get(name)
    if not value:
        raise UsageError(Code.USAGE, text=f"a line has no {name}")
    member = Member(value, *(_day(row.get(bound), value) for bound in ("from", "to")))
    if member.since and member.until and member.since > member.until:
        raise UsageError(Code.USAGE, text=f"{truncate(str(member))} is no time: swap the days")
    return member


def _day(text: str | None, value: str) -> date | None:
    if not text:
        return None
    day = parse_date(text)
    if day is None:
        raise UsageError(Code.USAGE, text=f"{truncate(text)} of {truncate(value)} is no day such as 2024-01-31")
    return day
