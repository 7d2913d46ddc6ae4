"""``--format csv``: one row per item, under the union of the items' fields. It has no place for gaps. Pure.

>>> render(PlainEnvelope([{"id": "a", "close": "182.5"}, {"id": "b", "tags": ["x"]}]))
'id,close,tags\\r\\na,182.5,\\r\\nb,,"[""x""]"\\r\\n'
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.columns import graded
from pit_fetch.pipeline.envelope import PlainEnvelope


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return a header and its rows (RFC 4180); "" if there are no items. Lists and objects are JSON in their cell."""
    items = graded(envelope)
    columns = dict.fromkeys(name for item in items for name in item)
    return header(columns) + lines(items, columns) if columns else ""


def header(columns: Iterable[str]) -> str:
    """Return the line that names the columns."""
    return _text([columns])


def lines(items: Iterable[Mapping[str, Any]], columns: Collection[str]) -> str:
    """Return a line for each item."""
    return _text([_cell(item.get(name)) for name in columns] for item in items)


def _text(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half of a surrogate pair is legal in JSON and nowhere else
    return "" if value is None else json.dumps(value)
