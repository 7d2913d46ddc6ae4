"""Turn the rows of a reply into records, and date rows by a day or by their receipt. Pure.

``bars``, ``earnings`` and ``news`` have the rules of their functions.

>>> str(day_ends("2024-02-15")), day_ends("soon")
('2024-02-16 05:00:00+00:00', None)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import ENVELOPE_FIELDS, Query, Record
from pit_fetch.times import NEW_YORK, end_of_day, is_weekend, parse_date
from pit_fetch_providers.alphavantage import periods, subject
from pit_fetch_providers.alphavantage.function import Function, FunctionReply, Row, Rule
from pit_fetch_providers.alphavantage.reply import Document
from pit_fetch_providers.shared import UNREADABLE, weekday_from

# The options that name the subject of a reply, in the order in which an id names them.
_SUBJECTS = ("symbol", "symbols", "market", "from_symbol", "to_symbol", "keywords", "quarter", "interval")
_META_SUBJECTS = ("symbol", "digital_currency_code", "market_code", "from_symbol", "to_symbol", "interval")

# The names that an item carries whatever the source sends.
_OURS = frozenset({*ENVELOPE_FIELDS, "record_type"})


def read(function: Function, document: Document, query: Query, received: datetime) -> Iterator[Record]:
    """Return the records of a reply that was received at ``received``.

    Raise UpstreamError if the reply is on another subject. In open mode, where a row has nothing to hide, also if
    none of its rows is one of this function's.
    """
    subject.check(document, function, query)
    if query.open_mode and document.rows and all(row is None for _, row in document.rows):
        raise UpstreamError(Code.MALFORMED, problem="none of its rows is one of this function's")
    return function.records(FunctionReply(function, query, subject.rows(document, query), document.meta, received))


def records(reply: FunctionReply) -> Iterator[Record]:
    """Yield one record for each row, dated by the function's rule."""
    function, dating, passes = reply.function, reply.function.operation.dating.by, reply.function.passes
    closed = dating == "record" and not reply.query.open_mode
    ends = None if reply.query.open_mode else function.ends
    about = prefix(reply)
    seen: dict[str, int] = {}
    for number, (kind, row) in enumerate(reply.rows, 1):
        if row is None:
            yield UNREADABLE
            continue
        visible = served(row, passes) if closed else row
        kinds = [kind] if len(function.lists) > 1 else []
        name = ":".join(filter(None, (about, *kinds, *_identity(function, visible, number))))
        if dating != "record":
            # Equal rows are told apart by number. Not so where rows are dated: a late one must not move the count.
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name}:{seen[name]}"
        payload = labelled(kind, {**dict.fromkeys(function.newer), **visible})
        public = function.dates(row, reply)
        record = Record(name, public, payload, at_receipt=dating == "receipt")
        yield record if ends is None else held_while_running(record, ends(row, reply), reply)


def held_while_running(record: Record, ends: datetime | None, reply: FunctionReply) -> Record:
    """Return the record of a row whose interval ends at ``ends``: stamped with that if it was still running.

    Nothing else shows that the values of an undated row were not final. One whose interval cannot be told is
    unreadable.
    """
    if ends is None:
        return UNREADABLE
    return record._replace(available_at=ends) if ends > reply.received else record


def labelled(kind: str, row: Row) -> dict[str, Any]:
    """Return a row's values behind its record_type, without those under names of ours, which would pass for our own."""
    return {"record_type": kind, **{name: value for name, value in row.items() if name.strip().lower() not in _OURS}}


def served(row: Row, passes: frozenset[str]) -> Row:
    """Return a row's plain values in the columns that pass."""
    return {name: value for name, value in row.items() if name in passes and not isinstance(value, (dict, list))}


# The rules.


def received(row: Row, reply: FunctionReply) -> datetime | None:
    return reply.received  # the row is the state of that instant


def undated(row: Row, reply: FunctionReply) -> datetime | None:
    return None


def end_of_business(column: str) -> Rule:
    """Return the rule: the end of the day, in New York, in ``column``; None on a weekend, when nothing happens."""
    return lambda row, reply: None if _is_on_a_weekend(row.get(column)) else day_ends(row.get(column))


def declared(row: Row, reply: FunctionReply) -> datetime | None:
    """Return the end of ``declaration_date``; of ``ex_dividend_date`` without one, or if it is on a weekend."""
    day = row.get("declaration_date")
    column = "ex_dividend_date" if day is None or _is_on_a_weekend(day) else "declaration_date"
    return end_of_business(column)(row, reply)


def _is_on_a_weekend(text: object) -> bool:
    day = parse_date(text)
    return day is not None and is_weekend(day)


def end_of_next_weekday(row: Row, reply: FunctionReply) -> datetime | None:
    """Return the end of the weekday after the one in ``date``."""
    day = parse_date(row.get("date"))
    try:
        return None if day is None else end_of_day(weekday_from(day + timedelta(days=1)), NEW_YORK)
    except OverflowError:
        return None


def end_of_interval(interval: str) -> Rule:
    """Return the rule: the end of an interval that begins on the day of the label, in New York.

    It is late enough, whether the label means the first day or the last. ``interval`` is the one without an option,
    and one of minutes counts until its day is over. Analytics label their whole window, beside the row.
    """

    def rule(row: Row, reply: FunctionReply) -> datetime | None:
        label = row.get("date") or row.get("timestamp") or reply.meta.get("max_dt")
        day = parse_date(str(label)[:10])
        asked = reply.query.options["interval"] or interval
        try:
            return None if day is None else end_of_day(periods.last_of(day, asked), NEW_YORK)
        except (ValueError, OverflowError):
            return None

    return rule


def day_ends(text: object) -> datetime | None:
    """Return the end of a day, in New York; None for a text that is not a day."""
    day = parse_date(text)
    return None if day is None else end_of_day(day, NEW_YORK)


def prefix(reply: FunctionReply) -> str:
    """Return the beginning of all ids of a reply: its function and its subject, by the request or else the reply.

    ``EARNINGS:IBM``, ``FX_DAILY:EUR/USD``, ``TIME_SERIES_INTRADAY:IBM/5min``.
    """
    operation, meta, identity = reply.function.operation, reply.meta, reply.function.identity
    known = {*operation.needs, *operation.takes} - {*identity}
    values = [reply.query.options.get(name) for name in _SUBJECTS if name in known]
    names = [value if isinstance(value, str) else "+".join(value) for value in values if value]
    subjects = names or [meta[name] for name in _META_SUBJECTS if name in meta and name not in identity]
    return ":".join(filter(None, (operation.name, "/".join(subjects))))


def _identity(function: Function, row: Row, number: int) -> list[str]:
    if function.identity == ("#",):
        return [f"{number:04d}"]
    values = [str(row[name]).replace(" ", "-") for name in function.identity if row.get(name) is not None]
    one_object = not function.identity and bool(function.lists) and not function.lists[0][0]
    return values if values or one_object else [_digest(row)]


def _digest(row: Mapping[str, Any]) -> str:
    import hashlib

    text = json.dumps(row, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
