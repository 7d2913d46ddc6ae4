"""Check a panel: some of its cells are asked again as single fetches, which share nothing with the panel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from heapq import nsmallest
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import FAILURES, Code
from pit_fetch.panels.cells import Answer, Ask, Cell, has_come, has_failed, rows_of, status_of
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope


class ChosenCell(NamedTuple):
    """A cell that is to be asked again, by its subject, the key of that, and its instant."""

    key: str
    subject: Subject
    pit: datetime


class Check(NamedTuple):
    """The result of a check.

    cells      how many cells were asked again
    differing  the cells that a single fetch answers otherwise
    problem    why no cell could be asked again; "" if some were
    unchecked  the cells that could not be compared, since the panel's question or the single fetch failed
    failed     the first answer that failed
    """

    cells: int
    differing: Sequence[Cell] = ()
    problem: str = ""
    unchecked: Sequence[Cell] = ()
    failed: PlainEnvelope | None = None

    @property
    def is_passed(self) -> bool:
        """Return whether every cell was asked again, and is the same."""
        return not (self.differing or self.problem or self.unchecked)

    @property
    def reason(self) -> str:
        """Return why the first cell that could not be checked could not."""
        gaps = [] if self.failed is None else [gap for gap in self.failed.gaps if gap["type"] in FAILURES]
        return next((str(gap["reason"]) for gap in gaps), "")


def choose(keyed: Iterable[tuple[str, Subject]], now: datetime, count: int) -> list[ChosenCell]:
    """Return ``count`` cells, or all if there are fewer: the same ones of the same panel. None is of an instant ahead.

    Raise UsageError for a number that is none.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(Code.USAGE, text="check is the number of cells to ask again: 1 or more")
    cells = (ChosenCell(key, subject, pit) for key, subject in keyed for pit in subject.pits if has_come(pit, now))
    return nsmallest(count, cells, key=lambda cell: sha256(f"{cell.key} {cell.pit.isoformat()}".encode()).digest())


def compare(pairs: Iterable[tuple[ChosenCell, Cell]], fetch: Ask) -> Check:
    """Return the result of asking cells again by ``fetch``."""
    count, differing, unchecked, failed = 0, list[Cell](), list[Cell](), list[PlainEnvelope]()
    for count, (asked, cell) in enumerate(pairs, 1):  # noqa: B007 - how many there are
        envelope = fetch(asked.subject.over, asked.pit)
        failures = [answer for answer in (cell.envelope, envelope) if has_failed(answer)]
        if failures:
            unchecked.append(cell)
            failed += failures
        elif _rows(cell) != _rows(cell._replace(status=status_of(envelope), answer=Answer.written(envelope))):
            differing.append(cell)
    return Check(count, tuple(differing), "", tuple(unchecked), next(iter(failed), None))


def _rows(cell: Cell) -> Any:
    """Return the rows of a cell as a file has them, but for its reason, which may speak of the panel's archive."""
    return json.loads(json.dumps(rows_of([cell._replace(reason="")]), default=str))
