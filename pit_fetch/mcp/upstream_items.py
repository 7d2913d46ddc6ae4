"""The records in a result of another server's tool, by the operator's mapping. Pure.

Whatever the result holds beside its items is never looked at. An item whose stamps cannot be read is undated.

>>> result = {"structuredContent": {"rows": [{"id": 7, "at": "2024-02-15T21:00:00Z", "title": "x"}, {"id": 8}]}}
>>> [(record.id, record.available_at) for record in records(result, Mapped("news", "news", items="rows", id="id",
...     available_at="at"))]
[('7', datetime.datetime(2024, 2, 15, 21, 0, tzinfo=datetime.timezone.utc)), ('8', None)]
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import MAXYEAR, UTC, datetime, time, timedelta, tzinfo
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.mcp.documents import documents
from pit_fetch.mcp.mapping import TAGS, After, Mapped, Precision
from pit_fetch.provider import ENVELOPE_FIELDS, Record
from pit_fetch.times import (
    delayed,
    end_of_day,
    end_of_day_anywhere,
    end_of_minute,
    next_business_day,
    parse_date,
    parse_rfc3339,
    parse_wall_clock,
)
from pit_fetch.wire import MAX_DEPTH, is_readable

KEY = "@key"
_UNREADABLE = Record("", None, {})
_COMPACT = r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?"
_CLOCK = r"[T ]00:00(?::00(?:\.0+)?)?"
_WHOLE_DAY = _CLOCK + r"(?:Z|\+00:00)?"
_MIDNIGHT = _CLOCK + r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_DAY = timedelta(days=1)
_NESTED = frozenset({"available_at", "revised_at", "first_seen_at"})
_UNIX = {"unix": 1, "unix_ms": 1_000}
# 1985 to 5138. What is less is more likely a date without dashes or of a coarser unit, what is more of a finer one.
_SECONDS = range(473_385_600, 100_000_000_000)
# What programs write where they know no time.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNSET_DAYS = ("1969-12-31", "1970-01-01")  # the former in zones west of Greenwich
_FIRST_DAY = "1900-01-02"  # earlier ones are zeros of spreadsheets, of Windows and of .NET


def records(result: Mapping[str, Any], mapped: Mapped) -> Iterator[Record]:
    """Yield the records in a ``tools/call`` result. Without items at their path, in no form of it, there are none.

    What in the result cannot be read may be marked, as :func:`json_tree` does.
    """
    names = () if mapped.items == "." else tuple(mapped.items.split("."))
    structured = result.get("structuredContent")
    contents = [structured] if _is_read(structured, names) else _texts(result.get("content"))
    for end in (end for content in contents for end in _values_at_path(content, names)):
        yield from _records_at(end, mapped)


def _is_read(structured: Any, names: Sequence[str]) -> bool:
    """Return whether structured content is read, and texts are not: they say the same again, and may say less.

    What is at the path must not decide that, or a late item there would take away those in the texts. Content that does
    nothing but wrap a result is read by a path that says so.
    """
    is_wrapper = isinstance(structured, dict) and structured.keys() == {"result"}
    return isinstance(structured, (dict, list)) and (not is_wrapper or names[:1] == ("result",))


def _records_at(end: Any, mapped: Mapped) -> Iterator[Record]:
    """Yield the records in what is at the path of the items: an array of them, or one; or objects of them by key."""
    for part in end if isinstance(end, list) else [end]:
        if mapped.available_at != KEY:
            yield _record(part, mapped)
        elif isinstance(part, dict):
            for key, item in part.items():
                yield _record({**item, KEY: key} if isinstance(item, dict) and is_readable(item) else None, mapped)


def _texts(blocks: Any) -> list[str]:
    return [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def _record(item: Any, mapped: Mapped) -> Record:
    if not isinstance(item, dict) or not is_readable(item):
        return _UNREADABLE
    payload = _payload(item, mapped)
    available_at, revised_at = _dates(item, payload, mapped)
    tag: Any = item.get("available_at_source") if mapped.envelope else mapped.source_tag
    if tag not in TAGS or not _is_let_through(item, mapped):
        available_at, tag = None, mapped.source_tag
    name = _value_at(item, mapped.id) if mapped.id else None
    is_named = isinstance(name, (str, int)) and not isinstance(name, bool) and str(name).strip()
    return Record(
        str(name) if is_named else _digest(payload), available_at, payload, revised_at, available_at_source=tag
    )


def _dates(
    item: Mapping[str, Any], payload: Mapping[str, Any], mapped: Mapped
) -> tuple[datetime | None, datetime | None]:
    """Return when an item was public and last revised; no time of publication if any of its stamps cannot be read."""
    dating = (mapped.precision, mapped.zone, mapped.after)
    available_at = instant_of(_value_at(item, mapped.available_at), *dating)
    revision = _value_at(item, mapped.revised_at) if mapped.revised_at else None
    revisions = [] if revision in (None, "") else [instant_of(revision, *dating)]
    # A part with a stamp of its own, such as a later comment, revises the item, and so does one that no path names.
    unnamed = () if mapped.envelope else _NESTED - {mapped.available_at, mapped.revised_at}
    revisions += map(parse_rfc3339, [item[name] for name in unnamed if item.get(name) not in (None, "")])
    revisions += map(parse_rfc3339, _stamps_within(payload))
    known = [revised for revised in revisions if revised is not None]
    return available_at if len(known) == len(revisions) else None, max(known, default=None)


def _is_let_through(item: Mapping[str, Any], mapped: Mapped) -> bool:
    """Return whether each field that ``only`` names has one of its values, of the same type: 1 is not true."""
    return all(
        any(type(value) is type(each) and value == each for each in values)
        for path, values in mapped.only.items()
        for value in [_value_at(item, path)]
    )


def _payload(item: Mapping[str, Any], mapped: Mapped) -> dict[str, Any]:
    keep = mapped.keep or item
    return {
        name: value
        for name, value in item.items()
        if name in keep and name not in mapped.drop and name not in ENVELOPE_FIELDS and name != KEY
    }


def _stamps_within(value: Any) -> Iterator[Any]:
    """Yield what stands at any depth under the name of a stamp of an envelope."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from [part] if name.lower() in _NESTED else _stamps_within(part)
    elif isinstance(value, list):
        for part in value:
            yield from _stamps_within(part)


def instant_of(value: Any, precision: Precision, zone: ZoneInfo | None, after: After | None = None) -> datetime | None:
    """Return the latest instant that a stamp could mean; None for one that means none."""
    if precision in _UNIX:
        return _parse_unix(value, _UNIX[precision])
    text = _spelt_out(value.strip()) if isinstance(value, str) else ""
    if text < _FIRST_DAY or text.startswith(_UNSET_DAYS):
        return None
    if precision == "day":
        return _end_of_whole_day(text, zone, after)
    moment = parse_rfc3339(text)
    if moment is None and zone is not None:
        moment = parse_wall_clock(text, zone)
    if moment is None or moment == _EPOCH:
        return None
    return _end_of_minute(moment, text, zone or UTC) if precision == "minute" else moment


def _end_of_minute(moment: datetime, text: str, zone: tzinfo) -> datetime:
    """Return the end of a minute; of the day, where the hour is midnight as it is written or on the zone's clock."""
    local = moment.astimezone(zone)
    ends: list[datetime | None] = [end_of_minute(moment)]
    if re.fullmatch(_MIDNIGHT, text[10:]):
        ends += [delayed(moment, _DAY), _end_of_day(text[:10], zone)]
    if local.time() == time.min:
        ends.append(end_of_day(local.date(), zone))
    return _latest(ends) or moment


def _end_of_whole_day(text: str, zone: tzinfo | None, after: After | None) -> datetime | None:
    """Return the end of a day, or of the business day after it. It may be written as its midnight.

    If that says UTC, the later of both ends counts.
    """
    if text[10:] and not re.fullmatch(_WHOLE_DAY, text[10:]):
        return None
    zones = [zone, UTC] if text.endswith(("Z", "+00:00")) else [zone]
    return _latest(_end_of_day(text[:10], each, after) for each in zones)


def _latest(ends: Iterable[datetime | None]) -> datetime | None:
    return max((end for end in ends if end is not None), default=None)


def _end_of_day(text: str, zone: tzinfo | None, after: After | None = None) -> datetime | None:
    day = parse_date(text)
    if day is None or day.year == MAXYEAR:  # which has no business day after its last
        return None
    day = next_business_day(day) if after else day
    return end_of_day_anywhere(day) if zone is None else end_of_day(day, zone)


def _parse_unix(value: Any, units: int) -> datetime | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,15}", value):
        value = int(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not _SECONDS.start <= value / units < _SECONDS.stop:
        return None
    # Up to the microsecond, and never down.
    return datetime.fromtimestamp(math.ceil(value / units * 1e6) / 1e6, UTC)


def _spelt_out(text: str) -> str:
    """Return ``20240215T160000`` as other wall-clock readings are written."""
    match = re.fullmatch(_COMPACT, text)
    if match is None:
        return text
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day} {hour}:{minute}" + (f":{second}" if second else "")


def _values_at_path(content: Any, names: Sequence[str], levels: int = MAX_DEPTH) -> Iterator[Any]:
    """Yield the arrays and objects at a path of a result. A text on the way is read as JSON.

    An array on the way stands for each of its elements. Were one element alone taken for the array, a second one, of
    later, would take its items away. A server that writes a text for each item is read by the same rule.
    """
    if isinstance(content, str):
        for tree in documents(content):
            yield from _values_at_path(tree, names, levels)
    elif isinstance(content, list) and names and not names[0].isdecimal():
        for part in content if levels else ():
            yield from _values_at_path(part, names, levels - 1)
    elif names:
        yield from _values_at_path(_value_at(content, names[0]), names[1:], levels)
    elif isinstance(content, (dict, list)):
        yield content


def _value_at(value: Any, path: str) -> Any:
    """Return what is at a dotted path of an item; None if nothing is."""
    if isinstance(value, dict) and path in value:  # a name may have dots in it
        return value[path]
    name, _, rest = path.partition(".")
    if isinstance(value, list) and name.isdecimal():
        value = value[int(name)] if int(name) < len(value) else None
    else:
        value = value.get(name) if isinstance(value, dict) else None
    return _value_at(value, rest) if rest else value


def _digest(payload: Mapping[str, Any]) -> str:
    return sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:16]
