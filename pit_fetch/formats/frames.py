"""An envelope as a pandas frame or an Arrow table, with typed columns. Both packages are the extra ``frames``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.formats.columns import Column, graded_columns
from pit_fetch.gaps import Code
from pit_fetch.pipeline.envelope import PlainEnvelope
from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.times import in_new_york, on_new_york_clock

if TYPE_CHECKING:
    import pandas
    import pyarrow

ZONE = "America/New_York"
# The key under which an Arrow table, and so a Parquet file, keeps what a table has no place for.
METADATA_KEY = "pit_fetch"


# What was asked under the name of a column.
Asked = datetime | str | None


def to_pandas(
    envelope: PlainEnvelope, index: str | Sequence[str] | None = None, question: Mapping[str, Asked] = {}
) -> pandas.DataFrame:
    """Return a frame with one row per item, after the columns of the ``question``, and the gaps in ``attrs``.

    number float64, integer Int64, flag boolean, instant datetime64[us, America/New_York], date datetime64[s]

    Raises ConfigError without pandas, KeyError for an unknown ``index``.
    """
    pd = _package("pandas")
    frame = pd.DataFrame({column.name: _series(pd, column) for column in _columns(envelope, question)})
    if index is not None:
        unknown = [name for name in ([index] if isinstance(index, str) else index) if name not in frame.columns]
        if unknown:
            raise KeyError(f"{unknown[0]} is not a column: there are {', '.join(frame.columns)}")
        frame = frame.set_index(index if isinstance(index, str) else list(index))
    frame.attrs["gaps"] = envelope.gaps
    return frame


def _columns(envelope: PlainEnvelope, question: Mapping[str, Asked]) -> list[Column]:
    """Return the columns of the question, the same in each row, and those of the items, whose stamps it leaves."""
    count, own = len(envelope.data), graded_columns(envelope)
    # What an item says of itself stays: a question has one grade, its items each have their own.
    stamps = {column.name for column in own}.intersection(ENVELOPE_FIELDS)
    asked = [
        Column(name, "instant", [on_new_york_clock(value)] * count)
        if isinstance(value, datetime)
        else Column(name, "text", [value] * count)
        for name, value in question.items()
        if name not in stamps
    ]
    return [*asked, *(column for column in own if column.name in stamps or column.name not in question)]


def to_series(column: Column) -> pandas.Series[Any]:
    """Return a column as pandas has it. Raises ConfigError without pandas."""
    return _series(_package("pandas"), column)


def to_arrow_array(column: Column) -> pyarrow.Array[Any]:
    """Return a column as Arrow has it. Raises ConfigError without pyarrow."""
    return to_array(_package("pyarrow"), column)


def _series(pd: Any, column: Column) -> Any:
    import numpy as np

    if column.kind == "instant":
        # Arrays of microseconds reach every year; pandas' own parser reads nanoseconds, up to 2262.
        naive = [None if moment is None else moment.astimezone(UTC).replace(tzinfo=None) for moment in column.values]
        utc = pd.Series(np.array(naive, dtype="datetime64[us]")).dt.tz_localize("UTC")
        return utc.dt.tz_convert(ZONE)
    if column.kind == "date":
        return pd.Series(np.array(column.values, dtype="datetime64[s]"))
    dtype = {"number": "float64", "integer": "Int64", "flag": "boolean"}.get(column.kind, "object")
    # Pandas has types of its own for integers and flags that may be missing.
    return pd.Series(column.values, dtype=dtype)


def to_arrow(envelope: PlainEnvelope, question: Mapping[str, Asked] = {}) -> pyarrow.Table:
    """Return a table with one row per item, and the gaps in its schema's metadata. Raises ConfigError without pyarrow.

    A nested value of one shape stays nested; where shapes differ, the column is JSON text.
    """
    pa = _package("pyarrow")
    source, query, pit, *_ = envelope.provenance
    metadata = {"source": source, "pit": None if pit is None else in_new_york(pit), "query": query}
    table = pa.table({column.name: to_array(pa, column) for column in _columns(envelope, question)})
    return table.replace_schema_metadata({METADATA_KEY: json.dumps({**metadata, "gaps": envelope.gaps})})


def to_array(pa: Any, column: Column) -> Any:
    """Return the values of a column as an Arrow array of the type that its kind has."""
    types = {
        "text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_(),
        "instant": pa.timestamp("us", tz=ZONE), "date": pa.date32(),
    }  # fmt: skip
    values = column.values
    if column.kind in types:
        return pa.array([_encodable(value) for value in values], type=types[column.kind])
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, list) and all(isinstance(text, str) for text in value) for value in present):
        texts = [value and [_encodable(text) for text in value] for value in values]
        return pa.array(texts, type=pa.list_(pa.string()))
    with contextlib.suppress(pa.ArrowException, ValueError, TypeError, OverflowError):
        array = pa.array(values)
        if not _holds_nothing(pa, array.type):
            return array
    return json_array(pa, values)


def json_array(pa: Any, values: Sequence[Any]) -> Any:
    """Return values of JSON, each as a text of its own."""
    return pa.array([None if value is None else json.dumps(value) for value in values], type=pa.string())


def _holds_nothing(pa: Any, kind: Any) -> bool:
    """Return whether a type has an object without fields, at any depth: Parquet cannot hold one."""
    if not pa.types.is_nested(kind):
        return False
    fields = [kind.field(place) for place in range(kind.num_fields)]
    return not fields or any(_holds_nothing(pa, field.type) for field in fields)


def _encodable(value: Any) -> Any:
    # Half of a surrogate pair is legal in JSON and nowhere else.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package=name) from None
