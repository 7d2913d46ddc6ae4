"""Who is asked about, and when each of them belongs to it. Pure.

>>> text = "symbol,from,to\\nIBM,,\\nGE,2018-06-26,\\nLEH,,2008-09-15\\n"
>>> [str(member) for member in members("symbol", "@index.csv", lambda path: text)]
['IBM', 'GE from 2018-06-26', 'LEH to 2008-09-15']
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import product
from typing import Any, NamedTuple

from pit_fetch.archive_admin.capture_values import ReadFile, listed
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
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

    The file has one value a line, or is CSV with a column of the option's name, and maybe ``from`` and ``to``. Raise
    UsageError, which names what cannot be used.
    """
    if isinstance(value, str) and value.startswith("@"):
        rows = [*csv.DictReader(read(value[1:]).lstrip("\ufeff").splitlines(), skipinitialspace=True)]
        if rows and {name, "from", "to"} & rows[0].keys() - {name}:
            return [_member(name, row) for row in rows]
    return [Member(each) for each in listed(name, value, read)]


def questions(over: Mapping[str, Iterable[Member]], instant: datetime) -> Iterator[dict[str, Any]]:
    """Yield the options of each question as of an instant: every combination of those that belong to it then."""
    present = ([member.value for member in named if member.belongs(instant)] for named in over.values())
    for values in product(*present):
        yield dict(zip(over, values, strict=True))


def _member(name: str, row: Mapping[str, str | None]) -> Member:
    value = (row.get(name) or "").strip()
    if not value:
        raise UsageError(Code.USAGE, text=f"over: a line has no {name}")
    return Member(value, *(_day(row.get(bound), value) for bound in ("from", "to")))


def _day(text: str | None, value: str) -> date | None:
    if not text or not text.strip():
        return None
    day = parse_date(text.strip())
    if day is None:
        raise UsageError(Code.USAGE, text=f"over: {truncate(text)} of {truncate(value)} is no day such as 2024-01-31")
    return day
