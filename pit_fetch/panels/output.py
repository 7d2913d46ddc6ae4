"""Write a panel to a file subject by subject: a long one can be broken off, and takes no more memory than a short one.

Answered subjects are kept beside the file, as :mod:`pit_fetch.panels.answered_subjects`, until no cell has failed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.panels import table
from pit_fetch.panels.answered_subjects import AnsweredSubjects, KeyedSubject, Summary
from pit_fetch.panels.cells import AskSession, Grid, ask_consistently, cells_of
from pit_fetch.panels.check import Check, choose, compare
from pit_fetch.support.whole_file import replacing, require_regular

_NOT_WHOLE = "some cells failed"
_RECORDED_MORE = "the archive has recorded more since the panel began"


class WriteReport(NamedTuple):
    """The result of writing a panel.

    statuses     the number of cells by their status
    is_whole     no cell failed: there is nothing to ask again
    reasons      the reason of the first cell of each status
    is_written   the file was written: some cell was answered
    provisional  how many cells are of an instant that had not come when they were asked
    check        the result of asking some cells again; None if that was not asked for
    """

    statuses: Mapping[str, int]
    is_whole: bool
    reasons: Mapping[str, str]
    is_written: bool
    provisional: int = 0
    check: Check | None = None


class PanelFile:
    """The file of a panel that is to be written, and what an earlier run has kept of it."""

    def __init__(self, grid: Grid, path: str, *, again: bool = False) -> None:
        """``again`` asks anew what is kept. Raise OSError for a path that is no file."""
        require_regular(path)
        self._grid, self._path = grid, os.path.realpath(path)  # a link goes on pointing to its file
        self._store = AnsweredSubjects(f"{self._path}.parts")
        self._again = again

    @cached_property
    def kept_cells(self) -> int:
        """How many cells need not be asked again, as of now. Raise ConfigError for an archive that cannot be read."""
        return _count_cells(ask_consistently(self._grid, lambda session: self._kept_summaries(self._keys(session))))

    def write(
        self,
        form: str = "",
        on_cells: Callable[[int], None] = lambda cells: None,
        layout: RenderOptions = DEFAULTS,
        *,
        check: int = 0,
    ) -> WriteReport:
        """Write the table, by default in the format of the file's name. Raise OSError, ConfigError.

        ``on_cells`` is called with the number of cells that are answered by then, those that were kept included. It
        falls if the archive changes so that all have to be asked anew. So many cells as ``check`` says are asked again,
        as single fetches, once the file is whole. Another process that writes the same table at once is an OSError.
        """
        with self._store.held():
            return self._write(form or table.format_of(self._path), on_cells, layout, check)

    def _write(self, form: str, on_cells: Callable[[int], None], layout: RenderOptions, check: int) -> WriteReport:
        began = self._grid.now()
        # What is kept is of the state that answers now, whatever there was when this panel was made.
        keys, kept = ask_consistently(self._grid, lambda session: self._answer_all(session, on_cells))
        written = _sum_up([kept[key] for key in keys])
        if written.is_written:
            with replacing(self._path, self._store.folder) as file:
                table.write(file, lambda: map(self._store.cells, keys), self._grid.columns, form, layout)
        if check:
            keyed = [*zip(keys, self._grid.subjects, strict=True)]
            written = written._replace(
                check=self._check(keyed, began, check) if written.is_whole else Check(0, (), _NOT_WHOLE)
            )
        if written.is_whole:
            self._store.remove()
        return written

    def _answer_all(self, session: AskSession, on_cells: Callable[[int], None]) -> tuple[list[str], dict[str, Summary]]:
        """Return the keys of the subjects, and what is kept of each once it is answered. Raise as :meth:`write`."""
        keys = self._keys(session)
        kept = self._kept_summaries(keys)
        for key, subject in zip(keys, self._grid.subjects, strict=True):
            if key not in kept:
                kept[key] = self._store.keep(key, [*cells_of(subject, session.answers, self._grid.now)])
                on_cells(_count_cells(kept))
                session.check()
        return keys, kept

    def _check(self, keyed: Sequence[KeyedSubject], began: datetime, count: int) -> Check:
        """Return the result of asking some cells again."""
        with self._grid.session() as session:
            if [session.key(subject) for _, subject in keyed[:1]] != [key for key, _ in keyed[:1]]:
                return Check(0, (), _RECORDED_MORE)
        cells = choose(keyed, began, count)
        kept = (cell for asked in cells for cell in self._store.cells(asked.key) if cell.pit == asked.pit)
        return compare(zip(cells, kept, strict=True), self._grid.fetch)

    def _keys(self, session: AskSession) -> list[str]:
        return [session.key(subject) for subject in self._grid.subjects]

    def _kept_summaries(self, keys: Sequence[str]) -> dict[str, Summary]:
        """Return what an earlier run has kept, and need not be asked again."""
        summaries = {} if self._again else {key: self._store.summary(key) for key in keys}
        now = self._grid.now()
        return {key: summary for key, summary in summaries.items() if summary and summary.counts(now)}


def _count_cells(kept: Mapping[str, Summary]) -> int:
    return sum(sum(summary.statuses.values()) for summary in kept.values())


def _sum_up(summaries: Sequence[Summary]) -> WriteReport:
    statuses: Counter[str] = Counter()
    for summary in summaries:
        statuses.update(summary.statuses)
    return WriteReport(
        statuses,
        is_whole=all(summary.is_whole for summary in summaries),
        reasons={status: reason for summary in reversed(summaries) for status, reason in summary.reasons.items()},
        is_written=not statuses.keys() <= {"failed", "refused"},
        provisional=sum(summary.provisional for summary in summaries),
    )
