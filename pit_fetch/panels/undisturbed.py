"""A panel of one moment, also for a user who reads an archive that others write to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import Changed
from pit_fetch.panels.cells import Asking, Grid

T = TypeVar("T")

# How often a panel is asked before it is left with refused cells.
_TIMES = 5


def of_one_moment(grid: Grid, work: Callable[[Asking], T]) -> T:
    """Return what ``work`` makes of the answers. It works anew if the archive is written to and can be read no longer.

    That happens to a user who may not write to the archive, if nobody else had it open at first. While its owner writes
    to it, the next reading is disturbed by nobody.
    """
    for _ in range(_TIMES - 1):
        with suppress(Changed), grid.asking() as asking, schema.checking(asking.check):
            return work(asking)
    with grid.asking() as asking:
        return work(asking._replace(check=lambda: None))
