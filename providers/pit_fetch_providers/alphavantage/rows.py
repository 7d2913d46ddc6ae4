"""Records of the functions whose rows need no more than the table says: bars, days, snapshots. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.provider import Query, Record
from pit_fetch.times import NEW_YORK, end_of_day, parse_date
from pit_fetch_providers.alphavantage import bars, earnings, news, subject
from pit_fetch_providers.alphavantage.function import Function
from pit_fetch_providers.alphavantage.reply import Document, Row

# The options that say what a reply is about, in the order in which an id names them.
_SUBJECTS = (
    "symbol", "symbols", "market", "from_symbol", "to_symbol", "keywords", "quarter", "interval",
)  # fmt: skip
_META_SUBJECTS = (
    "symbol", "digital_currency_code", "market_code", "from_symbol", "to_symbol", "interval",
)  # fmt: skip


def records(function: Function, document: Document, query: Query, received: datetime) -> Iterator[Record]:
    """The records of a reply that was received at ``received``, dated by the function's rule.

    Raises UpstreamError when the reply is on another subject, or (in open mode, where a row tells
    nothing that may not be told) when none of its rows is one of this function's.
    """
    subject.check(document, function, query)
    if query.pit is None and document.rows and all(row is None for _, row in document.rows):
        raise UpstreamError("malformed", problem="none of its rows is one of this function's")
    about = _about(function, document.meta, query)
    found = subject.rows(document, query)
    if function.rule == "earnings":
        yield from earnings.records(found, about)
    elif function.rule == "article":
        yield from news.records(found, query)
    elif function.rule == "bar":
        for _, row in found:
            yield _bar(function, row, document.meta, query, about)
    else:
        yield from _others(function, found, query, received, about)


def _bar(function: Function, row: Row | None, meta: Mapping[str, str], query: Query, about: str) -> Record:
    label = None if row is None else row.get("timestamp")
    if row is None or not isinstance(label, str):
        return Record("", None, "time_series_timestamp", {})
    public = bars.available_at(label, function, meta, query.options.get("interval"))
    if not bars.is_market_s_own(function, meta, query.options.get("market")):
        public = None
    payload = {"record_type": "bar", **_served(function, row, query)}
    if query.pit is not None and not payload.keys() >= set(function.columns):  # the coin prices of before 2024
        public = None
    return Record(_id(function.name, about, label.replace(" ", "T")), public, "time_series_timestamp", payload)


def _served(function: Function, row: Row, query: Query) -> Row:
    """With a PIT a closed list of columns: a name that nobody has looked at may carry what came later.

    Adjusted prices carry later dividends and splits back; raw ones, and the amounts themselves, do not.
    """
    if query.pit is None:
        return row
    known = function.columns + function.passes
    return {name: value for name, value in row.items() if name in known and not isinstance(value, (dict, list))}


def _others(
    function: Function, rows: Iterable[tuple[str, Row | None]], query: Query, received: datetime, about: str
) -> Iterator[Record]:
    seen: dict[str, int] = {}
    many = len(function.lists) > 1
    is_snapshot = function.rule == "snapshot"
    for number, (kind, row) in enumerate(rows, 1):
        if row is None:
            yield Record("", None, "provider_metadata", {})
            continue
        public = _dated(function, row, received)
        name = _id(function.name, about, kind if many else "", *_identity(function, row, number))
        if is_snapshot or function.rule == "unverifiable":
            # Equal rows are told apart by number. Not so where rows are dated: a late one must not move the count.
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name}:{seen[name]}"
        # What is received is the state of that instant, as a whole.
        served = row if is_snapshot else _served(function, row, query)
        payload = {"record_type": kind, **dict.fromkeys(function.newer), **served}
        yield Record(name, public, "provider_metadata", payload, at_receipt=is_snapshot)


def _dated(function: Function, row: Row, received: datetime) -> datetime | None:
    match function.rule:
        case "snapshot":
            return received
        case "day":
            return _end(parse_date(row.get(function.date)))
        case "next_day":
            return _end(_next_weekday(parse_date(row.get(function.date))))
        case "declared":
            declared = row.get("declaration_date")
            return _end(parse_date(row.get("ex_dividend_date") if declared is None else declared))
        case _:
            return None


def _end(day: date | None) -> datetime | None:
    return None if day is None else end_of_day(day, NEW_YORK)


def _next_weekday(day: date | None) -> date | None:
    try:
        return None if day is None else day + timedelta(days={4: 3, 5: 2}.get(day.weekday(), 1))
    except OverflowError:
        return None


def _about(function: Function, meta: Mapping[str, str], query: Query) -> str:
    """What the request, or without one the reply, names: ``IBM``, ``EUR/USD``, ``IBM/5min``."""
    known = {*function.needs, *function.takes} - {*function.identity}
    asked = [query.options.get(name) for name in _SUBJECTS if name in known]
    names = [value if isinstance(value, str) else "+".join(value) for value in asked if value]
    return "/".join(names or [meta[name] for name in _META_SUBJECTS if name in meta and name not in function.identity])


def _identity(function: Function, row: Row, number: int) -> list[str]:
    if function.identity == ("#",):
        return [f"{number:04d}"]
    found = [str(row[name]).replace(" ", "-") for name in function.identity if row.get(name) is not None]
    one_object = not function.identity and bool(function.lists) and not function.lists[0][0]
    return found if found or one_object else [_digest(row)]


def _digest(row: Mapping[str, Any]) -> str:
    import hashlib

    text = json.dumps(row, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _id(*parts: str) -> str:
    return ":".join(part for part in parts if part)


def own_date(function: Function, record: Record) -> datetime | None:
    """The instant that --date-from and --date-to compare: of what is dated by a day, the last one of that day."""
    instant = timedelta(microseconds=1)
    if function.rule in ("snapshot", "unverifiable", "next_day"):
        text = record.payload.get(function.date) if function.date else None
        day = _end(parse_date(text[:10])) if isinstance(text, str) else None
        return None if day is None else day - instant
    if record.available_at is None:
        return None
    whole_day = function.rule in ("earnings", "declared", "day") or news.is_date_only(record.payload)
    return record.available_at - instant if whole_day else record.available_at
