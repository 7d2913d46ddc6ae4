"""The table of a panel as text or bytes: a row for each item, after what its cell asks and its status."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from pit_fetch.formats import csv, jsonl
from pit_fetch.panels.panel import Cell, Panel
from pit_fetch.pipeline.envelope import PlainEnvelope

FORMATS = ("csv", "jsonl", "parquet")


def render(panel: Panel, cells: Sequence[Cell], form: str) -> str | bytes:
    """Return the table of ``cells`` in one of the :data:`FORMATS`. Raise ConfigError for Parquet without pyarrow."""
    halves = panel.halves(cells)
    if form == "parquet":
        return _parquet(*halves)
    asked, own = (half.data for half in halves)
    rows = PlainEnvelope({**question, **item} for question, item in zip(asked, own, strict=True))
    return csv.render(rows) if form == "csv" else jsonl.render(rows)


def _parquet(asked: PlainEnvelope, own: PlainEnvelope) -> bytes:
    from pit_fetch.formats.frames import to_arrow

    table, items = to_arrow(asked), to_arrow(own)
    for name in items.column_names:
        table = table.append_column(items.schema.field(name), items.column(name))
    from pyarrow import parquet

    buffer: Any = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(None), buffer, compression="zstd")
    written: bytes = buffer.getvalue()
    return written
