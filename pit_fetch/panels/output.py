"""The file of a panel: subject by subject, so that a long one can be broken off, and takes no more memory than a short.

Answered subjects are kept beside the file, as :mod:`pit_fetch.panels.parts`, until every cell is settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pit_fetch.panels import table
from pit_fetch.panels.cells import Cell, Grid, cells_of
from pit_fetch.panels.parts import Parts, Summary
from pit_fetch.panels.universe import Subject
from pit_fetch.support.whole_file import replacing

# Yields the cells of each of the subjects, in their order.
Engine = Callable[[Grid, Sequence[Subject]], Iterator[list[Cell]]]


class Written(NamedTuple):
    """What became of a panel.

    statuses    the number of cells by their status
    is_settled  no cell failed: there is nothing to ask again
    reason      why the first cell that is not whole is not; "" if all are
    is_written  the file was written: some cell was answered
    """

    statuses: Mapping[str, int]
    is_settled: bool
    reason: str
    is_written: bool


def in_turn(grid: Grid, due: Sequence[Subject]) -> Iterator[list[Cell]]:
    """Yield the cells of each subject, asked in this process, one after another."""
    with grid.asking() as ask:
        for subject in due:
            yield [*cells_of(subject, ask)]


def write(
    grid: Grid,
    path: str,
    form: str = "",
    *,
    again: bool = False,
    engine: Engine = in_turn,
    on_cells: Callable[[int], None] = lambda cells: None,
) -> Written:
    """Write the table of a panel to ``path``, by default in the format of its name. Raise OSError, ConfigError.

    ``again`` asks anew what is kept of an earlier run. ``on_cells`` is called with the number of cells that were asked.
    """
    parts = Parts(f"{path}.parts")
    kept = {} if again else kept_of(grid, parts)
    keys = [grid.key(subject) for subject in grid.subjects]
    due = {key: subject for key, subject in zip(keys, grid.subjects, strict=True) if key not in kept}
    answers = engine(grid, [*due.values()])
    for key, cells in zip(due, answers, strict=True):
        kept[key] = parts.keep(key, cells)
        on_cells(len(cells))
    summaries = [kept[key] for key in keys]
    written = _of(summaries)
    if written.is_written:
        with replacing(path, parts.folder) as file:
            table.write(file, lambda: map(parts.cells, keys), form or table.format_of(path))
    if written.is_settled:
        parts.remove()
    return written


def kept_cells(grid: Grid, path: str) -> Iterator[int]:
    """Yield how many cells each part of an earlier run has that need not be asked again."""
    return (sum(summary.statuses.values()) for summary in kept_of(grid, Parts(f"{path}.parts")).values())


def kept_of(grid: Grid, parts: Parts) -> dict[str, Summary]:
    """Return what an earlier run has kept of the panel and need not be asked again, by its key."""
    found = ((key, parts.summary(key)) for key in map(grid.key, grid.subjects))
    return {key: summary for key, summary in found if summary is not None and summary.is_settled}


def _of(summaries: Sequence[Summary]) -> Written:
    statuses: Counter[str] = Counter()
    for summary in summaries:
        statuses.update(summary.statuses)
    return Written(
        statuses,
        is_settled=all(summary.is_settled for summary in summaries),
        reason=next((summary.reason for summary in summaries if summary.reason), ""),
        is_written=not statuses.keys() <= {"failed", "refused"},
    )
