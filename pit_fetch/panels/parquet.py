"""The table of a panel as Parquet: under one schema for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

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
    """Write the rows of all subjects: with the columns of the first one, or anew if others have other types."""
    types: dict[str, Any] = {}
    while not _write(file, read, declared, types):
        # Types differ between subjects: a field may be null in one, and a text in another.
        for cells in read():
            _add_types(types, _arrays(table_of(cells, declared)))
        file.seek(0)
        file.truncate()


def _write(
    file: BinaryIO, read: Callable[[], Iterable[Sequence[Cell]]], declared: Columns, types: dict[str, Any]
) -> bool:
    """Write the rows with these types, or those of the first subject. Return whether they are those of all subjects."""
    is_final = bool(types)
    subjects = (_arrays(table_of(cells, declared)) for cells in read())
    first = next(subjects, None)
    if first is None:
        return True
    known = dict(types) or _add_types(types, first)
    schema = pa.schema([(name, pa.string() if kind is _JSON else kind) for name, kind in known.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        waiting: list[Any] = []
        for arrays in chain([first], subjects):
            if not is_final and _add_types(types, arrays) != known:
                return False
            waiting.append(_table(arrays, known, schema))
            if sum(rows.num_rows for rows in waiting) >= _ROWS:
                writer.write_table(pa.concat_tables(waiting), _ROWS)
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting), _ROWS)
    return True


class _Arrays(NamedTuple):
    """The columns of a subject's table: those of its cells, or of its items, as arrays."""

    table: Table
    columns: Mapping[str, tuple[Any, Column, int]]


def _arrays(table: Table) -> _Arrays:
    columns = [(column, half) for half in (0, 1) for column in graded_columns(table.halves[half])]
    return _Arrays(table, {column.name: (to_array(pa, column), column, half) for column, half in columns})


def _add_types(types: dict[str, Any], arrays: _Arrays) -> dict[str, Any]:
    """Add the types of a subject's columns, and return all of them."""
    for name, (array, *_) in arrays.columns.items():
        types[name] = _common(types[name], array.type) if name in types else array.type
    return dict(types)


def _table(arrays: _Arrays, types: Mapping[str, Any], schema: Any) -> Any:
    """Return the rows of a subject: the values of a cell, or of an item, are put into each row that has it."""
    table = arrays.table
    places = [pa.array([row[half] for row in table.rows], type=pa.int64()) for half in (0, 1)]
    made = []
    for name, kind in types.items():
        if name not in arrays.columns:
            made.append(pa.nulls(len(table.rows), type=pa.string() if kind is _JSON else kind))
            continue
        array, column, half = arrays.columns[name]
        if kind is _JSON:
            array = json_array(pa, [row.get(name) for row in table.halves[half].data])
        elif array.type != kind:
            array = pa.array(column.values, type=kind)
        made.append(array.take(places[half]))
    return pa.table(made, schema=schema)


def _common(known: Any, other: Any) -> Any:
    """Return a type that holds the values of both."""
    if known is _JSON or known == other:
        return known
    schemas = [pa.schema([("column", kind)]) for kind in (known, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("column").type
    except pa.ArrowException:
        return _JSON
