"""Define what a statement has in a place: a figure, or why figures that were reported make none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.versions import History, age, restating

# The public histories of a line for a period, by the rank of the concept.
Known = Mapping[int, History]
# "restated": the parts of a sum are not of one basis. "renamed": they are under different concepts. "two_values": one
# filing has several values of the line. "not_additive": it is per share, or a number of shares. "rounded": one of the
# parts is. "incomplete": something is reported beside the parts of the sum.
Reason = Literal["restated", "renamed", "two_values", "not_additive", "rounded", "incomplete"]


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


def by_age(known: Known) -> list[Record]:
    """Return all versions of a line, oldest first."""
    if len(known) == 1:  # in most cases
        return [*next(iter(known.values())).versions]
    return sorted((version for history in known.values() for version in history.versions), key=age)


def restated_by(known: Known) -> Record | None:
    """Return the first version of the line of another value than the one before; None if there is none."""
    values = {version.payload["value"] for history in known.values() for version in history.versions}
    return restating(by_age(known)) if len(values) > 1 else None


def total(values: Collection[int | float]) -> int | float:
    """Return the sum of amounts as they are written: a small company's have cents, which floats do not add exactly."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    from decimal import Decimal

    return float(sum(Decimal(str(value)) for value in values))
