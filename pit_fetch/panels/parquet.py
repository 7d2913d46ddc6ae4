"""The table of a panel as Parquet: a group of rows for each subject, under one schema for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

from pit_fetch.errors import ConfigError
from pit_fetch.formats.columns import Column, graded_columns
from pit_fetch.formats.frames import json_array, to_array
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import Cell, Columns, rows_of, table_halves

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError:
    raise ConfigError(Code.DEPENDENCY_MISSING, package="pyarrow") from None

# The type of a column whose values have no common one: each is JSON text.
_JSON = None


def write(file: BinaryIO, read: Callable[[], Iterable[Sequence[Cell]]], declared: Columns) -> None:
    """Write the rows of all subjects, which are read twice: the first time for the types of the columns."""
    types: dict[str, Any] = {}
    for cells in read():  # types differ between subjects: a field may be null in one, and a text in another
        for column in _columns(cells, declared):
            kind = to_array(pa, column).type
            types[column.name] = _common(types[column.name], kind) if column.name in types else kind
    schema = pa.schema([(name, pa.string() if kind is _JSON else kind) for name, kind in types.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for cells in read():
            columns = {column.name: column for column in _columns(cells, declared)}
            rows = rows_of(cells, declared)
            arrays = [
                json_array(pa, [row.get(name) for row in rows])
                if kind is _JSON
                else _array(columns.get(name, Column(name, "any", [None] * len(rows))), kind)
                for name, kind in types.items()
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def _columns(cells: Sequence[Cell], declared: Columns) -> list[Column]:
    return [column for half in table_halves(cells, declared) for column in graded_columns(half)]


def _common(known: Any, other: Any) -> Any:
    """Return a type that holds the values of both."""
    if known is _JSON or known == other:
        return known
    schemas = [pa.schema([("column", kind)]) for kind in (known, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("column").type
    except pa.ArrowException:
        return _JSON


def _array(column: Column, kind: Any) -> Any:
    array = to_array(pa, column)
    return array if array.type == kind else pa.array(column.values, type=kind)
