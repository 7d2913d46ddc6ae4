"""Define what a statement has in a place: a figure, or why figures that were reported make none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.versions import History, age, release, restating

# "restated": the parts of a sum are not of one basis. "renamed": they are under different concepts. "two_values": one
# filing has several values of the line. "not_additive": it is per share, or a number of shares. "rounded": one of the
# parts is. "incomplete": something is reported beside the parts of the sum. "unproved": it may be another measure.
# "unreadable": a filing has a value that is no number. "other_item": the days were proved to be those of another item.
# "contradicted": a part of the sum, and what follows it, are not what is reported of both together.
Reason = Literal[
    "restated",
    "renamed",
    "two_values",
    "not_additive",
    "rounded",
    "incomplete",
    "unproved",
    "unreadable",
    "other_item",
    "contradicted",
]


# The versions of a line that were public at an instant, oldest first, each with the rank of its concept.
Public = Sequence[tuple[int, Record]]


class Judged(NamedTuple):
    """The public versions of a line at an instant, and the ranks of the concepts that were the line by them.

    ``ranks`` is None if the facts do not tell.
    """

    public: Public
    ranks: Set[int] | None

    @property
    def newest(self) -> Record:
        return self.public[-1][1]

    @property
    def of_line(self) -> Public:
        """Return those that are of the line; none if the facts do not tell which they are."""
        return [made for made in self.public if self.ranks is not None and made[0] in self.ranks]

    def is_judged_alike(self, later: Judged) -> bool:
        """Return whether a ``later`` instant's versions tell the same of the concepts that there were."""
        if self.ranks is None or later.ranks is None:
            return self.ranks is later.ranks
        return self.ranks == later.ranks & {rank for rank, _ in self.public}


class Known(NamedTuple):
    """The public histories of a line for a period, by the rank of the concept; none if nothing is known.

    versions   all of their versions, in the order of their releases, oldest first
    by_age     the same in the order of their age
    restating  the first version of another value than the one before; None if there is none
    shown      what shows that no other histories are the line's, where filings have several values of it
    told       what they told of that at each instant, oldest first
    """

    histories: Mapping[int, History]
    versions: Sequence[Record]
    by_age: Sequence[Record]
    restating: Record | None
    shown: tuple[Record, ...] = ()
    told: Sequence[Judged] = ()


NOTHING = Known({}, (), (), None)


class Cell(NamedTuple):
    """A figure of a statement, and the versions it was taken or computed from."""

    value: int | float
    inputs: tuple[Record, ...]
    is_derived: bool = False
    restating: Record | None = None  # the first public version of another value than the one before
    judged: tuple[Record, ...] = ()  # what shows that this is the first, which matters to sums
    shown: tuple[Record, ...] = ()  # what else it rests on, such as the versions that first showed its periods


class Omission(NamedTuple):
    """A cell that is left out although there are figures of it: why, and the versions that show it."""

    reason: Reason
    shown: tuple[Record, ...]


def evidence(cell: Cell | Omission) -> tuple[Record, ...]:
    """Return all versions that ``cell`` rests on."""
    return (*cell.inputs, *cell.shown) if isinstance(cell, Cell) else cell.shown


def known_of(histories: Mapping[int, History]) -> Known:
    """Return what is known of a line for a period by these histories."""
    if len(histories) == 1:  # in most cases
        (history,) = histories.values()
        return Known(histories, history.versions, history.by_age, restating(history.by_age))
    if not histories:
        return NOTHING
    every = [version for history in histories.values() for version in history.versions]
    by_age = sorted(every, key=age)
    return Known(histories, sorted(every, key=release), by_age, restating(by_age))


def total(values: Collection[int | float]) -> int | float:
    """Return the sum of amounts as they are written: a small company's have cents, which floats do not add exactly."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    from decimal import Decimal

    return float(sum(Decimal(str(value)) for value in values))
