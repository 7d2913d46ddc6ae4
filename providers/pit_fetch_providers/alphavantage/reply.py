"""Decode replies: JSON or CSV rows, and messages in place of rows, all with HTTP 200. Pure.

A reply has to be the function's own, by the header of a CSV or the keys of a JSON object; rows have no say in that. A
row that cannot be read, or lacks the function's columns, is None in the list of rows. A broken row is never a reason
to fail: the failure would reveal a row that was not public yet.

>>> tidy({"1. open": "None", "5. adjusted close": "2.5"})
{'open': None, 'adjusted_close': '2.5'}
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.wire import lenient_json, limited
from pit_fetch_providers.alphavantage.function import MINUTES, Function, Row

# Recorded spellings of "no value"; "." stands for a month without a figure (economic series, October 2025).
NULLS = frozenset({"", "None", "none", "null", "NULL", "-", ".", "n/a", "N/A"})

# {"data": [row, …]} and {"Time Series (5min)": {label: row, …}}
_LEVELS_AROUND_A_ROW = 2

_NUMBERED = re.compile(r"\A[0-9]+[a-z]?[.:]\s+")
_COLUMN = re.compile(r"[A-Za-z][\w/()%-]*")  # "Chaikin A/D"; a sentence is not a header

# Keys of a reply that has no rows for the request.
_BESIDE_NO_ROWS = frozenset({"symbol", "quarter", "endpoint", "message", "items"})

_NOT_ITS_OWN = "it does not hold the rows of this function"


class Document(NamedTuple):
    """A reply's rows as (record_type, row or None), the names in its meta data, and the message in place of rows."""

    rows: tuple[tuple[str, Row | None], ...] = ()
    meta: Mapping[str, str] = {}
    message: str = ""


def decode(body: bytes, function: Function) -> Document:
    """Return the rows of a reply in either of the two formats. Raise UpstreamError(Code.MALFORMED)."""
    text = limited(body).decode("utf-8-sig", errors="replace").lstrip()
    if not text:
        return Document()
    if text[0] not in "{[":
        return Document(tuple(csv_rows(text, function)))
    try:
        reply = lenient_json(body, _LEVELS_AROUND_A_ROW)
    except UpstreamError:
        raise UpstreamError(Code.MALFORMED, problem="it is neither JSON nor CSV") from None
    if not isinstance(reply, dict):
        raise UpstreamError(Code.MALFORMED, problem="it is not a JSON object")
    message = message_in(reply)
    if message:
        return Document(message=message)
    if not reply.keys().isdisjoint(function.foreign):
        raise UpstreamError(Code.MALFORMED, problem=_NOT_ITS_OWN)
    return Document(tuple(_json_rows(reply, function)), meta_in(reply, function))


def message_in(reply: Mapping[str, Any]) -> str:
    """Return the text that makes a reply no data, whatever comes with it; "" without one.

    Sample rows come with a ``message`` beside them (recorded: REALTIME_BULK_QUOTES, dated 2024, and REALTIME_OPTIONS,
    dated 2099). A chain of real options carries ``"message": "success"``.
    """
    for key in ("Error Message", "Information", "Note", "message"):
        text = reply.get(key)
        if text is not None and not (key == "message" and text == "success"):
            # The key names the class where the text is an unknown one: an Error Message is about the call.
            return f"{key}: {text}"
    return ""


def tidy(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row with plain names and null spellings as null.

    "1. open" becomes "open" and "adjusted close" "adjusted_close". If two columns have the same plain name, either
    could be meant, so the value is null.
    """
    named: dict[str, Any] = {}
    for key, value in row.items():
        if key is not None:
            name = _name(str(key))
            named[name] = None if name in named else _value(value)
    return named


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


def csv_rows(text: str, function: Function) -> Iterator[tuple[str, Row | None]]:
    """Yield the rows of a CSV, one a line, so that a stray quote spoils its own row only.

    No recorded value is quoted. Every recorded CSV ends its last line with a line break: one that does not was cut
    off, perhaps within its last figure.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    header = [_aliased(_name(name), function) for name in _cells(lines[0]) or ()]
    if len(header) < 2 or not all(_COLUMN.fullmatch(name) for name in header):
        raise UpstreamError(Code.MALFORMED, problem="it is neither JSON nor CSV")
    if function.header is None or not _is_own_header(header, function):
        raise UpstreamError(Code.MALFORMED, problem=_NOT_ITS_OWN)
    if not text.endswith("\n"):
        raise UpstreamError(Code.MALFORMED, problem="it breaks off: its last line does not end with a line break")
    kind = _kind(function)
    for line in filter(None, lines[1:]):
        cells = _cells(line)
        whole = cells is not None and len(cells) == len(header)
        yield kind, _own(tidy(dict(zip(header, cells or (), strict=False))), function) if whole else None


def _cells(line: str) -> list[str] | None:
    try:
        return next(csv.reader([line], strict=True))
    except (csv.Error, StopIteration):
        return None


def _is_own_header(header: list[str], function: Function) -> bool:
    has_all = _has_columns(header, function) and set(function.header or ()) <= set(header)
    return has_all and set(header).isdisjoint(function.foreign)


def _has_columns(names: list[str] | Row, function: Function) -> bool:
    return all(name in names for name in function.columns)


def _own(row: dict[str, Any], function: Function) -> dict[str, Any] | None:
    return row if _has_columns(row, function) else None


def _json_rows(reply: dict[str, Any], function: Function) -> Iterator[tuple[str, Row | None]]:
    for kind, row in _raw_rows(reply, function):
        yield kind, _own(tidy(row), function) if isinstance(row, dict) else None


def _raw_rows(reply: dict[str, Any], function: Function) -> Iterator[tuple[str, Any]]:
    """Yield the rows of the lists in the table; else of any list, of the one series, or the one object."""
    kind = _kind(function)
    if function.lists and function.lists[0][0]:
        if not any(isinstance(reply.get(key), list) for key, _ in function.lists):
            _refuse_unknown_shape(reply)
        for key, its_kind in function.lists:
            yield from ((its_kind, row) for row in (reply[key] if isinstance(reply.get(key), list) else ()))
    elif function.lists:
        if reply and not _has_columns(tidy(reply), function):
            _refuse_unknown_shape(reply, whole=True)
        if reply:
            yield kind, reply
    elif function.series:
        yield from ((kind, row) for row in _series_rows(_series(reply, function)))
    else:
        yield from ((kind, row) for row in _any_rows(reply))


def _series(reply: Mapping[str, Any], function: Function) -> Mapping[str, Any]:
    """Return the bars by label. Raise UpstreamError for a series of another period or kind, which its key names."""
    keys = {function.series.format(name) for name in MINUTES}
    series = [value for key, value in reply.items() if key in keys and isinstance(value, dict)]
    if len(series) != 1:
        _refuse_unknown_shape(reply)
        return {}
    return series[0]


def _series_rows(series: Mapping[str, Any]) -> Iterator[Any]:
    for label, row in series.items():
        if isinstance(row, dict):
            yield {"timestamp": label, **{name: value for name, value in row.items() if _name(name) != "timestamp"}}
        else:
            yield None


def _any_rows(reply: Mapping[str, Any]) -> Iterator[Any]:
    rest = {key: value for key, value in reply.items() if not _is_meta(key)}
    objects = [value for value in rest.values() if isinstance(value, dict)]
    lists = [value for value in rest.values() if isinstance(value, list)]
    if len(objects) == 1 and all(row is None or isinstance(row, dict) for row in objects[0].values()):
        yield from _series_rows(objects[0])
    elif lists:
        yield from (row for rows in lists for row in rows)
    elif objects:
        yield from (row for row in objects if row)
    elif reply:
        yield reply


def _refuse_unknown_shape(reply: Mapping[str, Any], whole: bool = False) -> None:
    """Raise UpstreamError if a reply holds anything but rows. An empty one (``{}``, a symbol alone) has no rows."""
    parts = [
        value
        for key, value in reply.items()
        if not _is_meta(key) and (key.lower() not in _BESIDE_NO_ROWS or isinstance(value, (dict, list)))
    ]
    if whole or any(value or not isinstance(value, (dict, list)) for value in parts):
        raise UpstreamError(Code.MALFORMED, problem=_NOT_ITS_OWN)


def meta_in(reply: Mapping[str, Any], function: Function) -> dict[str, str]:
    """Return the meta data by plain name ("time_zone", "interval", "symbol"), and the names beside the rows."""
    beside = ("symbol", "Symbol", "quarter")
    meta: dict[str, str] = {name.lower(): reply[name] for name in beside if isinstance(reply.get(name), str)}
    for key, value in reply.items():
        if _is_meta(key) and isinstance(value, dict):
            # Indicators number with a colon ("7: Time Zone") and series with a point ("5. Time Zone").
            for name, text in value.items():
                if text is not None:
                    plain = _name(str(name))
                    # A value that is given twice, and not alike, is unknown.
                    meta[plain] = str(text) if meta.get(plain, str(text)) == str(text) else ""
    # The key of a series names its interval as well: the longer counts.
    if "{}" in function.series:
        meta["series_interval"] = next((name for name in MINUTES if function.series.format(name) in reply), "")
    return meta


def _is_meta(key: str) -> bool:
    return key in ("Meta Data", "meta_data")


def _aliased(name: str, function: Function) -> str:
    """Return a column by the table's name: a series' CSV calls its date timestamp, an indicator's CSV calls it time."""
    own = function.operation.window
    return own if own in function.columns and name in ("timestamp", "time") else name


def _kind(function: Function) -> str:
    if function.lists:
        return function.lists[0][1]
    return "bar" if function.series else function.operation.name.lower()
