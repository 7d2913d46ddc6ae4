"""Some cells of a panel, asked again as single fetches. A panel shares much between its cells, and a fetch nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from heapq import nsmallest
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import Ask, Cell, has_come, rows_of, status_of
from pit_fetch.panels.universe import Subject


class Chosen(NamedTuple):
    """A cell that is to be asked again, by its subject, the key of that, and its instant."""

    key: str
    subject: Subject
    pit: datetime


class Check(NamedTuple):
    """What came of a check.

    cells      how many cells were asked again
    differing  those of them that a single fetch answers otherwise
    problem    why no cell could be asked again; "" if that is not so
    """

    cells: int
    differing: Sequence[Cell] = ()
    problem: str = ""


def chosen(keyed: Iterable[tuple[str, Subject]], now: datetime, count: int) -> list[Chosen]:
    """Return ``count`` cells, or all if there are fewer: the same ones of the same panel. None is of an instant ahead.

    Raise UsageError for a number that is none.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(Code.USAGE, text="check is the number of cells to ask again: 1 or more")
    cells = (Chosen(key, subject, pit) for key, subject in keyed for pit in subject.pits if has_come(pit, now))
    return nsmallest(count, cells, key=lambda cell: sha256(f"{cell.key} {cell.pit.isoformat()}".encode()).digest())


def differing(pairs: Iterable[tuple[Chosen, Cell]], fetch: Ask) -> Iterator[Cell]:
    """Yield the cells that ``fetch`` answers otherwise."""
    for asked, cell in pairs:
        envelope = fetch(asked.subject.over, asked.pit)
        if _rows(cell) != _rows(cell._replace(status=status_of(envelope), envelope=envelope)):
            yield cell


def _rows(cell: Cell) -> Any:
    """Return the rows of a cell as a file has them."""
    return json.loads(json.dumps(rows_of([cell]), default=str))
