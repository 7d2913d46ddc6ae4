"""Define what a statement has in a place: a figure, or why figures that were reported make none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.versions import History, age, restating

# "restated": the parts of a sum are not of one basis. "renamed": they are under different concepts. "two_values": one
# filing has several values of the line. "not_additive": it is per share, or a number of shares. "rounded": one of the
# parts is. "incomplete": something is reported beside the parts of the sum.
Reason = Literal["restated", "renamed", "two_values", "not_additive", "rounded", "incomplete"]


class Known(NamedTuple):
    """The public histories of a line for a period, by the rank of the concept; none if nothing is known.

    versions   all of their versions, oldest first
    restating  the first version of another value than the one before; None if there is none
    """

    histories: Mapping[int, History]
    versions: Sequence[Record]
    restating: Record | None


_NOTHING = Known({}, (), None)


class Cell(NamedTuple):
    """A figure of a statement, and the versions it was taken or computed from."""

    value: int | float
    inputs: tuple[Record, ...]
    is_derived: bool = False
    restating: Record | None = None  # the first public version of another value than the one before
    shown: tuple[Record, ...] = ()  # what else it rests on: the versions that first showed its periods


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
        return Known(histories, history.versions, restating(history.versions))
    if not histories:
        return _NOTHING
    versions = sorted((version for history in histories.values() for version in history.versions), key=age)
    return Known(histories, versions, restating(versions))


def total(values: Collection[int | float]) -> int | float:
    """Return the sum of amounts as they are written: a small company's have cents, which floats do not add exactly."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    from decimal import Decimal

    return float(sum(Decimal(str(value)) for value in values))
