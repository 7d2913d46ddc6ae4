"""Typed columns as a pandas frame or an Arrow table. Both packages are the extra ``frames``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.formats.columns import Column

if TYPE_CHECKING:
    import pandas
    import pyarrow

ZONE = "America/New_York"
# Where an Arrow table, and so a Parquet file, keeps what a table has no place for.
METADATA_KEY = "pit_fetch"


def frame(columns: Sequence[Column], index: str | Sequence[str] | None = None) -> pandas.DataFrame:
    """A pandas frame with one row per item. Raises ConfigError without pandas, KeyError for an unknown ``index``.

    number float64, integer Int64, flag boolean, instant datetime64[us, America/New_York], date datetime64[s]
    """
    pd = _package("pandas")
    made = pd.DataFrame({one.name: _series(pd, one) for one in columns})
    if index is None:
        return made
    unknown = [name for name in ([index] if isinstance(index, str) else index) if name not in made.columns]
    if unknown:
        raise KeyError(f"{unknown[0]} is not a column: there are {', '.join(made.columns)}")
    return made.set_index(index if isinstance(index, str) else list(index))


def _series(pd: Any, column: Column) -> Any:
    import numpy as np

    if column.kind == "instant":
        # Arrays of microseconds reach every year; pandas' own parser reads nanoseconds, up to 2262.
        naive = [None if one is None else one.astimezone(UTC).replace(tzinfo=None) for one in column.values]
        utc = pd.Series(np.array(naive, dtype="datetime64[us]")).dt.tz_localize("UTC")
        return utc.dt.tz_convert(ZONE)
    if column.kind == "date":
        return pd.Series(np.array(column.values, dtype="datetime64[s]"))
    dtype = {"number": "float64", "integer": "Int64", "flag": "boolean"}.get(column.kind, "object")
    return pd.Series(column.values, dtype=dtype)


def table(columns: Sequence[Column], about: Mapping[str, Any]) -> pyarrow.Table:
    """An Arrow table with one row per item; ``about`` goes into its metadata. Raises ConfigError without pyarrow.

    A nested value of one shape stays nested; where shapes differ, the column is JSON text.
    """
    pa = _package("pyarrow")
    made = pa.table({one.name: _array(pa, one) for one in columns})
    return made.replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def _array(pa: Any, column: Column) -> Any:
    types = {
        "text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_(),
        "instant": pa.timestamp("us", tz=ZONE), "date": pa.date32(),
    }  # fmt: skip
    values = column.values
    if column.kind in types:
        return pa.array([_encodable(value) for value in values], type=types[column.kind])
    held = [value for value in values if value is not None]
    if held and all(isinstance(value, list) and all(isinstance(part, str) for part in value) for value in held):
        return pa.array(
            [value and [_encodable(part) for part in value] for value in values], type=pa.list_(pa.string())
        )
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array([None if value is None else json.dumps(value) for value in values], type=pa.string())


def _encodable(value: Any) -> Any:
    """Half of a surrogate pair is legal in JSON and nowhere else."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError("dependency_missing", package=name, command=f"python3 -m pip install {name}") from None
