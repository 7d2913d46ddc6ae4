"""A panel: the cells of a grid, and the table of all of them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from pit_fetch.courtesy.fronts import in_python
from pit_fetch.errors import GapError
from pit_fetch.formats import RenderOptions
from pit_fetch.panels.cells import LACKING, STATUS, AskSession, Cell, Grid, ask_consistently, cells_of, table_of
from pit_fetch.panels.check import choose, compare

if TYPE_CHECKING:
    import pandas


class Panel:
    """The cells of a grid, subject by subject, each from the earliest instant on.

    A cell is asked when it is needed, and each time anew. Within one iteration, and from one archive alone, all cells
    are of what the archive held when the first was asked.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __len__(self) -> int:
        return sum(len(subject.pits) for subject in self._grid.subjects)

    def __iter__(self) -> Iterator[Cell]:
        with self._grid.session() as session:
            for subject in self._grid.subjects:
                yield from cells_of(subject, session.answers, self._grid.now)

    def _cells(self, session: AskSession) -> list[Cell]:
        """Return all cells. Raise Changed."""
        cells: list[Cell] = []
        for subject in self._grid.subjects:
            cells += cells_of(subject, session.answers, self._grid.now)
            session.check()
        return cells

    def __repr__(self) -> str:
        return f"<Panel of {len(self)} cells>"

    def to_df(self) -> pandas.DataFrame:
        """Ask every cell, and return a row for each item, typed by the declared fields; for an empty cell one as well.

        The first columns are ``pit``, those of the question, ``status``, and ``reason``: why a cell is not "ok". The
        operation's declared fields follow, whatever the answers. An item's own field of such a name is in ``item_pit``,
        ``item_status`` or ``item_reason``, or replaced by the question's. ``attrs["status"]`` counts the cells by their
        status, and ``attrs["provisional"]`` those whose instant is yet to come. Warns if other cells failed, were
        refused or are incomplete, or if none was ever captured. Raises ConfigError if pandas is not installed.
        """
        from pit_fetch.formats.frames import to_pandas

        cells = [cell._replace(reason=in_python(cell.reason)) for cell in ask_consistently(self._grid, self._cells)]
        table = table_of(cells, self._grid.columns)
        asked, own = (
            to_pandas(half).reindex([row[place] for row in table.rows]).reset_index(drop=True)
            for place, half in enumerate(table.halves)
        )
        import pandas

        if problem := _problem(cells):
            warnings.warn(problem, stacklevel=2)

        whole = pandas.concat([asked, own], axis=1)
        provisional = sum(cell.is_provisional for cell in cells)
        whole.attrs = {STATUS: dict(Counter(cell.status for cell in cells)), "provisional": provisional}
        return whole

    def write(self, path: str | PathLike[str], *, again: bool = False, csv_safe: bool = False) -> dict[str, int]:
        """Write the table to a file, whole or not at all: Parquet, JSON lines or CSV, by the end of its name.

        Return the number of cells by their status. Of a panel that was broken off, or in which cells failed, the next
        call asks only what is missing, and what was asked before its instant had come: answered subjects are kept in
        ``PATH.parts`` until all of them are there. ``again`` asks everything anew. ``csv_safe`` writes an apostrophe
        before cells of CSV that begin like a formula. One subject is in memory at a time. If every cell failed, an
        older file stays.

        Raises OSError, UsageError, and ConfigError for a missing package.
        """
        from pit_fetch.panels.output import PanelFile
        from pit_fetch.panels.table import format_of

        form, layout = format_of(fspath(path)), RenderOptions(csv_safe=csv_safe)  # before anything is asked
        return dict(PanelFile(self._grid, fspath(path), again=again).write(form, layout=layout).statuses)

    def to_parquet(self, path: str | PathLike[str], *, again: bool = False) -> dict[str, int]:
        """Write the table as Parquet, whatever the name of the file; see :meth:`write`."""
        from pit_fetch.panels.output import PanelFile

        return dict(PanelFile(self._grid, fspath(path), again=again).write("parquet").statuses)

    def check(self, count: int) -> list[Cell]:
        """Ask ``count`` cells, or all if there are fewer, as the panel does and as single fetches do.

        Return those whose rows differ: none, if all is well. Which cells are asked depends on the panel alone, and not
        on chance; none is of an instant that is yet to come. Raises GapError if none differs, but not every cell could
        be checked, since a question failed; UsageError if ``count`` is no number of cells.
        """
        with self._grid.session() as session:
            keyed = [(session.key(subject), subject) for subject in self._grid.subjects]
            cells = choose(keyed, self._grid.now(), count)
            # The panel asks a whole subject; one cell is enough.
            subjects = [cell.subject._replace(pits=[cell.pit]) for cell in cells]
            answered = (cell for subject in subjects for cell in cells_of(subject, session.answers, self._grid.now))
            check = compare(zip(cells, answered, strict=True), self._grid.fetch)
        if check.unchecked and not check.differing:
            text = f"{len(check.unchecked):,} of {check.cells:,} cells could not be checked. The first of them:"
            raise GapError(check.failed, [text, check.reason])
        return [*check.differing]


def _problem(cells: Sequence[Cell]) -> str:
    """Return what is wrong with the cells of a panel as a whole, in a sentence; "" if nothing is."""
    lacking = [cell for status in LACKING for cell in cells if cell.status == status and not cell.is_provisional]
    if not lacking:
        is_captured = any(cell.status != "not_captured" for cell in cells)
        return "" if is_captured or not cells else f"no cell was ever captured: {cells[0].reason}"
    return f"{len(lacking):,} of {len(cells):,} cells failed, or are incomplete. The first of them: {lacking[0].reason}"
