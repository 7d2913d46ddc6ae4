"""The table of a panel: a row for each item, after what its cell asks and its status.

Its columns are those of all subjects, so it is read twice: once for the columns, once for the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from pit_fetch.formats import csv, jsonl
from pit_fetch.panels.cells import Cell, rows_of
from pit_fetch.pipeline.envelope import PlainEnvelope

FORMATS = ("csv", "jsonl", "parquet")
# Reads the cells of each subject, from the first on.
ReadParts = Callable[[], Iterable[Sequence[Cell]]]


def format_of(path: str) -> str:
    """Return the format that the end of a name stands for: by default, CSV."""
    return next((form for form in FORMATS if path.lower().endswith(f".{form}")), "csv")


def write(file: BinaryIO, read: ReadParts, form: str) -> None:
    """Write the table in one of the :data:`FORMATS`. Raise OSError, ConfigError for Parquet without pyarrow."""
    if form == "parquet":
        from pit_fetch.panels import parquet

        parquet.write(file, read)
    elif form == "jsonl":
        for cells in read():
            file.write(jsonl.render(PlainEnvelope(rows_of(cells))).encode())
    else:
        columns = dict.fromkeys(name for cells in read() for row in rows_of(cells) for name in row)
        file.write(csv.header(columns).encode())
        for cells in read():
            file.write(csv.lines(rows_of(cells), columns).encode())
