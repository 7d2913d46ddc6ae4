"""A panel: the cells of a grid, and the table of all of them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from pit_fetch.courtesy.fronts import in_python
from pit_fetch.errors import ConfigError, GapError, UsageError
from pit_fetch.formats import RenderOptions
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import LACKING, PIT, STATUS, AskSession, Cell, Grid, ask_consistently, cells_of, table_of
from pit_fetch.panels.check import ChosenCell, choose, compare
from pit_fetch.request.values import format_value
from pit_fetch.support.wording import truncate
from pit_fetch.times import in_new_york

if TYPE_CHECKING:
    import pandas


class Panel:
    """The cells of a grid, subject by subject, each from the earliest instant on.

    A cell is asked when it is needed, and each time anew. Within one iteration, and from one archive alone, all cells
    are of what the archive held when the first was asked.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._statuses: Mapping[str, int] = {}

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
        """Return who is asked about and when; once all cells were asked, with the shares of their statuses."""
        return "\n".join(f"{name:<14}{text}" for name, text in self._facts())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._facts())
        return f"<table>{rows}</table>"

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "Panel", f"{self._grid.title}, {len(self):,} cells"
        subjects = self._grid.subjects
        for name in subjects[0].over if subjects else ():
            values = list(dict.fromkeys(format_value(subject.over[name]) for subject in subjects))
            yield name, f"{truncate(', '.join(values[:4]))}{', …' if len(values) > 4 else ''} ({len(values):,})"
        pits = sorted({pit for subject in subjects for pit in subject.pits})
        ends = " to ".join(dict.fromkeys(in_new_york(pit) for pit in (*pits[:1], *pits[-1:])))
        yield "pit", f"{ends} ({len(pits):,})"
        for status, count in self._statuses.items():
            yield status, f"{count / len(self):.0%}"

    def to_df(self) -> pandas.DataFrame:
        """Ask every cell, and return a row for each item, typed by the declared fields; for an empty cell one as well.

        The first columns are ``pit``, those of the question, ``status``, and ``reason``: why a cell is not "ok". The
        operation's declared fields follow, whatever the answers. An item's own field of such a name is in ``item_pit``,
        ``item_status`` or ``item_reason``, or replaced by the question's. ``attrs["status"]`` counts the cells by their
        status, and ``attrs["provisional"]`` those whose instant is yet to come. Warns if other cells failed, were
        refused or are incomplete, or if none was ever captured. Raises ConfigError if pandas is not installed.
        """
        from pit_fetch.formats.frames import to_pandas

        cells = self._ask_all()
        table = table_of(cells, self._grid.columns)
        asked, own = (
            to_pandas(half).reindex([row[place] for row in table.rows]).reset_index(drop=True)
            for place, half in enumerate(table.halves)
        )
        import pandas

        whole = pandas.concat([asked, own], axis=1)
        provisional = sum(cell.is_provisional for cell in cells)
        whole.attrs = {STATUS: dict(self._statuses), "provisional": provisional}
        return whole

    def _ask_all(self) -> list[Cell]:
        """Return every cell. Warn the caller of a public method of what is wrong with them as a whole."""
        cells = [cell._replace(reason=in_python(cell.reason)) for cell in ask_consistently(self._grid, self._cells)]
        self._statuses = Counter(cell.status for cell in cells)
        if problem := find_problem(cells):
            warnings.warn(problem, stacklevel=3)
        return cells

    def pivot(self, field: str) -> pandas.DataFrame:
        """Ask every cell, and return one field of its newest item: a row for each instant, a column for each subject.

        Warns as :meth:`to_df` does. Raises UsageError, a ValueError, for a field that no item has, and for items of
        several series, which it names; ConfigError if pandas is not installed.
        """
        from pit_fetch.formats.frames import ZONE, to_series
        from pit_fetch.panels.series import newest_columns

        cells, grid = self._ask_all(), self._grid
        if field not in grid.columns and not any(field in item for cell in cells for item in cell.answer.items):
            raise UsageError(Code.USAGE, text=f"{truncate(field)} is no field of the items: {', '.join(grid.columns)}")
        (column,) = newest_columns([cell.answer for cell in cells], grid, [field])
        import pandas

        over = [*cells[0].over] if cells else []
        values = {name: [format_value(cell.over[name]) for cell in cells] for name in over}
        instants = pandas.to_datetime([cell.pit for cell in cells], utc=True).tz_convert(ZONE)
        frame = pandas.DataFrame({PIT: instants, **values, field: to_series(column)})
        return frame.pivot(index=PIT, columns=over, values=field) if over else frame.set_index(PIT)

    def plot(self, field: str, **options: Any) -> Any:
        """Ask every cell, and draw :meth:`pivot` of a field over the instants; return the axes of matplotlib.

        ``options`` are those of pandas' ``DataFrame.plot``. Raises as :meth:`pivot`, and ConfigError without
        matplotlib.
        """
        if find_spec("matplotlib") is None:
            raise ConfigError(Code.DEPENDENCY_MISSING, package="matplotlib")
        return self.pivot(field).plot(**{"drawstyle": "steps-post", "ylabel": field, **options})

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
            answered = (self._cell(cell, session) for cell in cells)
            check = compare(zip(cells, answered, strict=True), self._grid.fetch)
        if check.unchecked and not check.differing:
            text = f"{len(check.unchecked):,} of {check.cells:,} cells could not be checked. The first of them:"
            raise GapError(check.failed, [text, check.reason])
        return [*check.differing]

    def _cell(self, chosen: ChosenCell, session: AskSession) -> Cell:
        """Return a cell as the panel answers it: in the course of a sweep, or else by itself."""
        subject, pit = chosen.subject, chosen.pit
        pits = [pit] if session.sweep is None else [each for each in subject.pits if each <= pit]
        *_, cell = cells_of(subject._replace(pits=pits), session.answers, self._grid.now)
        return cell


def find_problem(cells: Sequence[Cell]) -> str:
    """Return what is wrong with the cells of a panel as a whole, in a sentence; "" if nothing is."""
    lacking = [cell for status in LACKING for cell in cells if cell.status == status and not cell.is_provisional]
    if not lacking:
        is_captured = any(cell.status != "not_captured" for cell in cells)
        return "" if is_captured or not cells else f"no cell was ever captured: {cells[0].reason}"
    return f"{len(lacking):,} of {len(cells):,} cells failed, or are incomplete. The first of them: {lacking[0].reason}"
