"""``--format csv``: one row per item, under the union of the items' fields. It has no place for gaps. Pure.

>>> render(PlainEnvelope([{"id": "a", "close": "182.5"}, {"id": "b", "tags": ["x"]}]))
'id,close,tags\\r\\na,182.5,\\r\\nb,,"[""x""]"\\r\\n'
>>> render(PlainEnvelope([{"id": "=1+1", "change": "-0.5"}]), RenderOptions(csv_safe=True))
"id,change\\r\\n'=1+1,-0.5\\r\\n"
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.columns import add_grades
from pit_fetch.pipeline.envelope import PlainEnvelope

# What a spreadsheet may run, if it is no number.
_FORMULA = re.compile(r"[=+\-@\t\r](?![0-9.]+(?:[eE][+-]?[0-9]+)?\Z)")


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return a header and its rows (RFC 4180); "" if there are no items. Lists and objects are JSON in their cell."""
    items, is_safe = add_grades(envelope), options.csv_safe
    columns = dict.fromkeys(name for item in items for name in item)
    return write_header(columns, is_safe=is_safe) + write_rows(items, columns, is_safe=is_safe) if columns else ""


def write_header(columns: Iterable[str], *, is_safe: bool) -> str:
    """Return the line that names the columns. ``is_safe``: what begins like a formula has an apostrophe before it."""
    return _text([columns], is_safe)


def write_rows(items: Iterable[Mapping[str, Any]], columns: Collection[str], *, is_safe: bool) -> str:
    """Return a line for each item; ``is_safe`` as of the header."""
    return _text(([_cell(item.get(name)) for name in columns] for item in items), is_safe)


def _text(rows: Iterable[Iterable[str]], is_safe: bool) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([*map(_safe, row)] if is_safe else row for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half of a surrogate pair is legal in JSON and nowhere else
    return "" if value is None else json.dumps(value)


def _safe(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell
