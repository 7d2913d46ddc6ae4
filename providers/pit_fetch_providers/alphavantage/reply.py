"""What Alpha Vantage sends: JSON or CSV rows, and messages in place of them, all with HTTP 200. Pure.

A row that cannot be read is None in the list of rows: one broken row is never a reason to fail, or
the failure would tell of a row that was not public yet.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch_providers.alphavantage.functions import Function

# Recorded spellings of "no value"; "." stands for a month without a figure (economic series, October 2025).
NULLS = frozenset({"", "None", "none", "null", "NULL", "-", ".", "n/a", "N/A"})

_NUMBERED = re.compile(r"[0-9]+[a-z]?[.:]\s+")
_COLUMN = re.compile(r"[A-Za-z][\w/()%-]*")  # "Chaikin A/D"; a sentence is no header

Row = Mapping[str, Any]


class Document(NamedTuple):
    """A reply's rows as (record_type, row or None), the names in its meta data, and what it says instead of rows."""

    rows: tuple[tuple[str, Row | None], ...] = ()
    meta: Mapping[str, str] = {}
    message: str = ""


def decode(body: bytes, function: Function) -> Document:
    """The rows of a reply, whichever of the two formats it is in. Raises UpstreamError("malformed")."""
    text = body.decode("utf-8-sig", errors="replace").strip()
    if not text:
        return Document()
    if text[0] not in "{[":
        return Document(tuple(_csv_rows(text, function)))
    try:
        # NaN and Infinity are no JSON, but one such value is no reason to lose, or to tell of, its row.
        reply = json.loads(text, parse_constant=lambda _: None, parse_int=_integer)
    except (ValueError, RecursionError):
        raise UpstreamError("malformed", problem="it is neither JSON nor CSV") from None
    if not isinstance(reply, dict):
        raise UpstreamError("malformed", problem="it is no JSON object")
    message = message_in(reply)
    if message:
        return Document(message=message)
    return Document(tuple(_json_rows(reply, function)), _meta(reply))


def message_in(reply: Mapping[str, Any]) -> str:
    """The text that makes a reply no data, whatever stands beside it; "" when there is none.

    Sample rows come with a ``message`` beside them (recorded: REALTIME_BULK_QUOTES, dated 2024, and
    REALTIME_OPTIONS, dated 2099). A chain of real options says ``"message": "success"``.
    """
    for key in ("Error Message", "Information", "Note", "message"):
        text = reply.get(key)
        if text is not None and not (key == "message" and text == "success"):
            # The key names the class where the text is an unknown one: an Error Message is about the call.
            return f"{key}: {text}"
    return ""


def tidy(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with plain names ("1. open" is "open", "adjusted close" is "adjusted_close") and null spellings as null."""
    return {_name(str(key)): _value(value) for key, value in row.items() if key is not None}


def _value(value: Any) -> Any:
    if isinstance(value, str):
        # Half of a surrogate pair is legal in JSON and in no encoding: an id with one could not be a cursor.
        text = value if value.isascii() else value.encode("utf-8", "replace").decode()
        return None if text.strip() in NULLS else text
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_value(part) for part in value]
    if isinstance(value, dict):
        return {key: _value(part) for key, part in value.items()}
    return value


@lru_cache(maxsize=512)
def _name(key: str) -> str:
    plain = _NUMBERED.sub("", key.strip(), count=1)
    return plain.lower().replace(" ", "_") if plain != key or " " in plain else key


def _csv_rows(text: str, function: Function) -> Iterator[tuple[str, Row | None]]:
    reader = csv.reader(io.StringIO(text, newline=""))
    kind = function.lists[0][1] if function.lists else _kind(function)
    try:
        header = [_name(name) for name in next(reader)]
    except (csv.Error, StopIteration):
        header = []
    if len(header) < 2 or not all(_COLUMN.fullmatch(name) for name in header):
        raise UpstreamError("malformed", problem="it is neither JSON nor CSV")
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield kind, None
            continue
        if cells:
            yield kind, _dated(tidy(dict(zip(header, cells, strict=False))), function)


def _json_rows(reply: dict[str, Any], function: Function) -> Iterator[tuple[str, Row | None]]:
    for kind, row in _raw_rows(reply, function):
        try:
            yield kind, _dated(tidy(row), function) if isinstance(row, dict) else None
        except RecursionError:
            yield kind, None


def _raw_rows(reply: dict[str, Any], function: Function) -> Iterator[tuple[str, Any]]:
    """The rows of the lists that the table names; else of any list, of the one series, or the one object."""
    if function.lists and function.lists[0][0]:
        if not any(isinstance(reply.get(key), list) for key, _ in function.lists):
            _refuse_unknown_shape(reply)
        for key, kind in function.lists:
            yield from ((kind, row) for row in _list(reply.get(key)))
        return
    kind = function.lists[0][1] if function.lists else _kind(function)
    series = [value for key, value in reply.items() if isinstance(value, dict) and not _is_meta(key)]
    rows = [value for value in reply.values() if isinstance(value, list)]
    if function.lists:
        if reply:
            yield kind, reply
    elif function.rule == "bar" or (len(series) == 1 and all(isinstance(row, dict) for row in series[0].values())):
        if function.rule == "bar" and len(series) != 1:
            _refuse_unknown_shape(reply)
        for one in series[:1]:
            yield from (
                (kind, {"timestamp": label, **row} if isinstance(row, dict) else None) for label, row in one.items()
            )
    elif rows:
        yield from ((kind, row) for one in rows for row in one)
    elif series:
        yield from ((kind, row) for row in series if row)
    elif reply:
        yield kind, reply


def _refuse_unknown_shape(reply: Mapping[str, Any]) -> None:
    """Raises when a reply holds rows of some other shape. One without any (``{}``, a symbol alone) has no rows."""
    if any(value and isinstance(value, (dict, list)) for key, value in reply.items() if not _is_meta(key)):
        raise UpstreamError("malformed", problem="it does not hold the rows of this function")


def _meta(reply: Mapping[str, Any]) -> dict[str, str]:
    """The meta data by plain name ("time_zone", "interval", "symbol"), and the symbol beside the rows."""
    found = {"symbol": reply["symbol"]} if isinstance(reply.get("symbol"), str) else {}
    for key, value in reply.items():
        if _is_meta(key) and isinstance(value, dict):
            # Indicators number with a colon ("7: Time Zone") and series with a point ("5. Time Zone").
            found |= {_name(str(name)): str(text) for name, text in value.items()}
    return found


def _is_meta(key: str) -> bool:
    return key in ("Meta Data", "meta_data")


def _dated(row: dict[str, Any], function: Function) -> dict[str, Any]:
    """The row with its date under the table's name: CSV calls it timestamp or time."""
    for alias in ("timestamp", "time"):
        if function.date and function.date not in row and alias in row:
            return {function.date: row[alias], **{key: value for key, value in row.items() if key != alias}}
    return row


def _kind(function: Function) -> str:
    return "bar" if function.rule == "bar" else function.name.lower()


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) < 100 else None  # Python refuses to read one of thousands of digits


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
