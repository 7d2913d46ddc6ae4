"""The table of a panel as Parquet: under one schema for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from pit_fetch.errors import ConfigError
from pit_fetch.formats.columns import Column, graded_columns
from pit_fetch.formats.frames import json_array, to_array
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import Cell, Columns, Table, table_of

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError:
    raise ConfigError(Code.DEPENDENCY_MISSING, package="pyarrow") from None

# The type of a column whose values have no common one: each is JSON text.
_JSON = None
# In a group of rows, at the most. A subject may have a hundred.
_ROWS = 100_000


def write(file: BinaryIO, read: Callable[[], Iterable[Sequence[Cell]]], declared: Columns) -> None:
    """Write the rows of all subjects, which are read twice: the first time for the types of the columns."""
    types: dict[str, Any] = {}
    for cells in read():  # types differ between subjects: a field may be null in one, and a text in another
        for column, _ in _columns(table_of(cells, declared)):
            kind = to_array(pa, column).type
            types[column.name] = _common(types[column.name], kind) if column.name in types else kind
    schema = pa.schema([(name, pa.string() if kind is _JSON else kind) for name, kind in types.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        waiting: list[Any] = []
        for cells in read():
            waiting.append(_table(table_of(cells, declared), types, schema))
            if sum(table.num_rows for table in waiting) >= _ROWS:
                writer.write_table(pa.concat_tables(waiting), _ROWS)
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting), _ROWS)


def _columns(table: Table) -> list[tuple[Column, int]]:
    """Return the columns of both halves, each with the half that it is of."""
    return [(column, half) for half in (0, 1) for column in graded_columns(table.halves[half])]


def _table(table: Table, types: Mapping[str, Any], schema: Any) -> Any:
    """Return the rows of a subject: the values of a cell, or of an item, are put into each row that has it."""
    places = [pa.array([row[half] for row in table.rows], type=pa.int64()) for half in (0, 1)]
    columns = {column.name: (column, half) for column, half in _columns(table)}
    arrays = []
    for name, kind in types.items():
        column, half = columns.get(name, (Column(name, "any", [None] * len(table.items.data)), 1))
        values = [row.get(name) for row in table.halves[half].data]
        array = json_array(pa, values) if kind is _JSON else _array(column, kind)
        arrays.append(array.take(places[half]))
    return pa.table(arrays, schema=schema)


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
