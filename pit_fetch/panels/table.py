"""The table of a panel: a row for each item, after what its cell asks and its status.

Its columns are those of all subjects, so it is read twice: once for the columns, once for the rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

from pit_fetch.errors import UsageError
from pit_fetch.formats import ENDINGS, PANEL_NAMES, RenderOptions, csv
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import PIT, REASON, STATUS, Cell, Columns, Table, rows_of, table_of
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
            file.write(_lines(table_of(cells, columns), _json).encode())
    else:
        names: tuple[dict[str, None], dict[str, None]] = ({}, {})
        for cells in read():
            for half, known in zip(table_of(cells, columns).halves, names, strict=True):
                known.update(dict.fromkeys(name for row in half.data for name in row))

        def row_of(row: Mapping[str, Any], half: int) -> str:
            text = csv.write_rows([row], names[half], is_safe=layout.csv_safe).removesuffix("\r\n")
            return f",{text}" if half and names[half] else text

        file.write(csv.write_header([*names[0], *names[1]], is_safe=layout.csv_safe).encode())
        for cells in read():
            file.write(_lines(table_of(cells, columns), row_of, "\r\n").encode())


def _lines(table: Table, write_row: Callable[[Mapping[str, Any], int], str], end: str = "\n") -> str:
    """Return a line for each row: that of its cell, and that of its item, each of which is written once."""
    cells, items = ([write_row(row, half) for row in table.halves[half].data] for half in (0, 1))
    return "".join(f"{cells[cell]}{items[item]}{end}" for cell, item in table.rows)


def _json(row: Mapping[str, Any], half: int) -> str:
    text = json.dumps(row, allow_nan=False)
    return text[:-1] if half == 0 else f", {text[1:]}" if row else "}"


def text_lines(cells: Sequence[Cell], columns: Columns, width: int = 0) -> str:
    """Return the table of ``cells`` as lines for a person, of ``width`` characters or as many as are usual."""
    from pit_fetch.formats import table

    asked, own, _ = table_of(cells, columns)
    rows = rows_of(cells, columns)
    kinds = {**asked.provenance.kinds, **own.provenance.kinds}
    leading = (PIT, *(cells[0].over if cells else ()), STATUS, REASON)
    shown, hidden = table.lines_of(PlainEnvelope(rows, (), Provenance(kinds=kinds)), width or table.WIDTH, leading)
    return "".join(f"{line}\n" for line in shown) + table.not_shown(hidden, "csv")
