"""``--format csv``: one row per item, under the union of the items' fields. It has no place for gaps."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.columns import graded
from pit_fetch.pipeline.envelope import PlainEnvelope


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return a header and its rows (RFC 4180); "" if there are no items. Lists and objects are JSON in their cell."""
    items = graded(envelope)
    columns = list(dict.fromkeys(name for item in items for name in item))
    if not columns:
        return ""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_cell(item.get(name)) for name in columns] for item in items)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half of a surrogate pair is legal in JSON and nowhere else
    return "" if value is None else json.dumps(value)
