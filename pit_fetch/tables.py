"""Read tables from a local SQLite or Parquet file, or from the bytes of one. No write ever reaches the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Code

__all__ = ["parquet_rows", "sqlite_rows"]


def sqlite_rows(
    source: str | bytes, query: str, parameters: Mapping[str, object] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield each row that ``query`` selects, as a dict by column.

    ``source`` is a path (``context.file(…)``) or a file's bytes (an ``--input-file``). Raise UpstreamError if it is not
    a database, or has no such table or column. Select every row and every column that dates it: with ORDER BY, LIMIT,
    GROUP BY or an aggregate, late rows decide about public ones.
    """
    import sqlite3

    try:
        address = ":memory:" if isinstance(source, bytes) else f"file:{quote(source)}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            if isinstance(source, bytes):
                database.deserialize(source)
            database.row_factory = sqlite3.Row
            # A text that is not UTF-8 must not cost the rows after it.
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            for row in database.execute(query, parameters or {}):
                yield dict(row)
    except (sqlite3.Error, OverflowError):
        raise UpstreamError(Code.MALFORMED, problem="it is not the database that was expected") from None


def parquet_rows(source: str | bytes) -> Iterator[dict[str, Any]]:
    """Yield each row of a Parquet file, as a dict by column.

    A time stamp is a datetime, aware if its column is, and a date is a date. ``source`` is as for :func:`sqlite_rows`.
    Raise UpstreamError if it is not such a file, and ConfigError if pyarrow is missing.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="pyarrow") from None
    try:
        # All rows, since a filter or a limit of the reader would let late rows decide about public ones.
        rows: list[dict[str, Any]] = parquet.read_table(
            pyarrow.BufferReader(source) if isinstance(source, bytes) else source
        ).to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError):
        raise UpstreamError(Code.MALFORMED, problem="it is not a Parquet file") from None
    yield from rows
