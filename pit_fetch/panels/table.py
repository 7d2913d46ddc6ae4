"""The table of a panel: a row for each item, after what its cell asks and its status.

Its columns are those of all subjects, so it is read twice: once for the columns, once for the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import BinaryIO

from pit_fetch.errors import UsageError
from pit_fetch.formats import ENDINGS, PANEL_NAMES, RenderOptions, csv, jsonl
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import PIT, REASON, STATUS, Cell, Columns, rows_of, table_halves
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance

# For reading, as lines of text.
TABLE = "table"
# Reads the cells of each subject, from the first on.
ReadSubjects = Callable[[], Iterable[Sequence[Cell]]]


def format_of(path: str) -> str:
    """Return the format that the end of a name stands for, CSV for a name without one. Raise UsageError for another."""
    ending = os.path.splitext(path)[1].lower().removeprefix(".")
    form = ENDINGS.get(ending or "csv")
    if form not in PANEL_NAMES:
        endings = ", ".join(f".{name}" for name in PANEL_NAMES)
        raise UsageError(Code.USAGE, text=f"a panel is not written as .{ending}: let FILE end with one of {endings}")
    return str(form)


def write(file: BinaryIO, read: ReadSubjects, columns: Columns, form: str, layout: RenderOptions) -> None:
    """Write the table in one of the :data:`PANEL_NAMES`, or as a :data:`TABLE` of lines.

    Items have the declared ``columns`` at least. Raise OSError, ConfigError for Parquet without pyarrow.
    """
    if form == TABLE:
        file.write(text_lines([*chain.from_iterable(read())], columns, layout.width).encode())
    elif form == "parquet":
        from pit_fetch.panels import parquet

        parquet.write(file, read, columns)
    elif form == "jsonl":
        for cells in read():
            file.write(jsonl.render(PlainEnvelope(rows_of(cells, columns))).encode())
    else:
        names = dict.fromkeys(name for cells in read() for row in rows_of(cells, columns) for name in row)
        file.write(csv.write_header(names, is_safe=layout.csv_safe).encode())
        for cells in read():
            file.write(csv.write_rows(rows_of(cells, columns), names, is_safe=layout.csv_safe).encode())


def text_lines(cells: Sequence[Cell], columns: Columns, width: int = 0) -> str:
    """Return the table of ``cells`` as lines for a person, of ``width`` characters or as many as are usual."""
    from pit_fetch.formats import table

    asked, own = table_halves(cells, columns)
    rows = [{**question, **item} for question, item in zip(asked.data, own.data, strict=True)]
    kinds = {**asked.provenance.kinds, **own.provenance.kinds}
    leading = (PIT, *(cells[0].over if cells else ()), STATUS, REASON)
    shown, hidden = table.lines_of(PlainEnvelope(rows, (), Provenance(kinds=kinds)), width or table.WIDTH, leading)
    return "".join(f"{line}\n" for line in shown) + table.not_shown(hidden, "csv")
