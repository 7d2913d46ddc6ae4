"""The items of an envelope as typed columns: numbers as numbers, instants and dates as such. Pure.

A source may write a number as text. What a field means is declared (:class:`pit_fetch.provider.Field`). Nothing is
lost: a column with a value that does not fit its kind keeps its values unchanged.

>>> items = [{"id": "a", "close": "182.5"}, {"id": "b", "close": "None"}]
>>> columns(items, {"close": "number"})[-1]
Column(name='close', kind='number', values=[182.5, None])
>>> columns([{"id": "a", "close": "n.q."}], {"close": "number"})[-1]
Column(name='close', kind='any', values=['n.q.'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.pipeline.claims import PROVED
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope
from pit_fetch.provider import ENVELOPE_FIELDS, FieldKind
from pit_fetch.times import on_new_york_clock, parse_date, parse_rfc2822, parse_rfc3339

# The fields that diff and explain add come first, because they state why the item is there, but for its rule.
_INSPECTION_FIELDS = tuple(name for names in ADDED_FIELDS.values() for name in names if name != "rule")
# They are read item by item, even where all are the same.
_TELLING = frozenset({"id", "verdict", "change", "title", "headline", "name"})
INSTANTS = frozenset({"available_at", "revised_at", "first_seen_at"})

# How sources write a missing number: "None", "-", ".".
_NO_NUMBER = frozenset({"", "-", ".", "none", "null", "nan", "n/a"})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_LARGEST = 2**63  # what Arrow and pandas have room for

ColumnKind = FieldKind | Literal["any"]


class Column(NamedTuple):
    """One column: a Python value per item, None where the item has none.

    text str, number float, integer int, flag bool, instant aware datetime in New York, date date, list list,
    object dict; "any" is whatever JSON holds
    """

    name: str
    kind: ColumnKind
    values: list[Any]


class _Unfit(Exception):
    """A value does not fit its column's kind."""


def _require(value: Any, is_fitting: bool) -> Any:
    if not is_fitting:
        raise _Unfit
    return value


def add_grades(envelope: PlainEnvelope) -> Sequence[Mapping[str, Any]]:
    """Return the items, each with its grade of evidence if claims were accepted: a table has no place for the gap."""
    if envelope.provenance.grade == PROVED:
        return envelope.data
    return [item if EVIDENCE in item else _add_grade(item) for item in envelope.data]


def graded_columns(envelope: PlainEnvelope) -> list[Column]:
    """Return the columns of the items, and that of their grades if claims were accepted, with or without items."""
    grades: dict[str, FieldKind] = {} if envelope.provenance.grade == PROVED else {EVIDENCE: "text"}
    return columns(add_grades(envelope), {**grades, **envelope.provenance.kinds})


def _add_grade(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a proved item with its grade, which stands before the id."""
    stamps = {name: item[name] for name in ENVELOPE_FIELDS[: ENVELOPE_FIELDS.index(EVIDENCE)] if name in item}
    return {**stamps, EVIDENCE: PROVED, **item}


def columns(items: Sequence[Mapping[str, Any]], kinds: Mapping[str, FieldKind]) -> list[Column]:
    """Return the columns of ``items``: stamps, declared fields in their order, then all others.

    ``kinds`` are the kinds of the declared fields, by name. Without items, each of them is an empty column.
    """
    present = {name for item in items for name in item} if items else {*ENVELOPE_FIELDS[:2], "id", *kinds}
    others = (name for item in items for name in item)
    names = dict.fromkeys(name for name in (*ENVELOPE_FIELDS, *_INSPECTION_FIELDS, *kinds, *others) if name in present)
    return [_column(name, [item.get(name) for item in items], _kind(name, kinds)) for name in names]


def split_common(typed: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns with one value for all of several items, and the others.

    >>> bars = [{"id": "a", "symbol": "ACME"}, {"id": "b", "symbol": "ACME"}]
    >>> [[column.name for column in part] for part in split_common(columns(bars, {}))]
    [['symbol'], ['id']]
    """
    parts: tuple[list[Column], list[Column]] = ([], [])
    for column in typed:
        first, *rest = column.values or [None]
        is_common = bool(rest) and not is_empty(first) and all(value == first for value in rest)
        parts[0 if is_common and column.name not in _TELLING else 1].append(column)
    return parts


def is_empty(value: Any) -> bool:
    """Return whether an item has nothing in a field."""
    return value is None or value in ("", [], {})


def _kind(name: str, kinds: Mapping[str, FieldKind]) -> ColumnKind:
    if name in ENVELOPE_FIELDS:
        return "instant" if name in INSTANTS else "text"
    return kinds.get(name, "any")


def _column(name: str, values: list[Any], kind: ColumnKind) -> Column:
    if kind == "any":
        kind = _common_kind(values)
    for candidate in (kind, "number") if kind == "integer" else (kind,):
        try:
            return Column(name, candidate, [None if value is None else _PARSERS[candidate](value) for value in values])
        except _Unfit:
            continue
    return Column(name, "any", values)


def _common_kind(values: Sequence[Any]) -> ColumnKind:
    """Return the kind of an undeclared field's values. Text stays text, whatever it looks like."""
    kinds = {_JSON_KINDS.get(type(value), "any") for value in values if value is not None}
    if kinds == {"integer", "number"}:  # JSON of a source writes 2 and 2.5 in one column
        return "number"
    return kinds.pop() if len(kinds) == 1 else "any"


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        if text.casefold() in _NO_NUMBER:
            return None
        value = float(_require(text, _NUMBER.fullmatch(text) is not None))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(_require(value, is_number and abs(value) < float("inf")))


def _integer(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        if text.casefold() in _NO_NUMBER:
            return None
        value = int(_require(text, re.fullmatch(r"[+-]?[0-9]{1,19}", text) is not None))
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return _require(value, is_integer and -_LARGEST <= value < _LARGEST)


def _instant(value: Any) -> Any:
    return _parse_instant(_require(value, isinstance(value, str)))


@lru_cache(maxsize=512)  # the cells of a panel have the same instants
def _parse_instant(value: str) -> datetime:
    moment = parse_rfc3339(value) or parse_rfc2822(value)
    if moment is None:
        raise _Unfit
    return on_new_york_clock(moment)


def _date(value: Any) -> Any:
    day = parse_date(value)
    return _require(day, day is not None or (isinstance(value, str) and value.casefold() in _NO_NUMBER))


def _flag(value: Any) -> Any:
    flag = {"true": True, "false": False}.get(value.casefold()) if isinstance(value, str) else value
    return _require(flag, isinstance(flag, bool))


def _instance_parser(kind: type) -> Callable[[Any], Any]:
    return lambda value: _require(value, isinstance(value, kind))


_PARSERS: Mapping[ColumnKind, Callable[[Any], Any]] = {
    "text": _instance_parser(str),
    "number": _number,
    "integer": _integer,
    "instant": _instant,
    "date": _date,
    "flag": _flag,
    "list": _instance_parser(list),
    "object": _instance_parser(dict),
    "any": lambda value: value,
}
_JSON_KINDS: Mapping[type, ColumnKind] = {
    str: "text", bool: "flag", int: "integer", float: "number", list: "list", dict: "object",
}  # fmt: skip
