"""The records in a result of another server's tool, by the operator's mapping. Pure.

Whatever the result holds beside its items is never looked at. An item whose stamps cannot be read is undated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.errors import UpstreamError
from pit_fetch.mcp.mapping import TAGS, Mapped, Precision
from pit_fetch.provider import STAMPS, Record
from pit_fetch.times import (
    end_of_day,
    end_of_day_anywhere,
    end_of_minute,
    parse_date,
    parse_rfc3339,
    parse_wall_clock,
)
from pit_fetch.wire import lenient_json

KEY = "@key"
_UNREADABLE = Record("", None, "provider_metadata", {})
_COMPACT = r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?"
_MIDNIGHT = r"[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?"
_NESTED = frozenset({"available_at", "revised_at", "first_seen_at"})
_UNIX = {"unix": 1, "unix_ms": 1_000}


def records(result: Mapping[str, Any], mapped: Mapped) -> Iterator[Record]:
    """Yield the records in a ``tools/call`` result. Without items at their path, in no form of it, there are none."""
    readings = (_items(content, mapped.items) for content in (result.get("structuredContent"), _text(result)))
    items = next((items for items in readings if items is not None), None)
    if isinstance(items, dict) and mapped.available_at == KEY:
        for key, item in items.items():
            yield _record({**item, KEY: key} if isinstance(item, dict) else None, mapped)
    elif isinstance(items, (list, dict)):
        for item in items if isinstance(items, list) else [items]:
            yield _record(item, mapped)


def _text(result: Mapping[str, Any]) -> str:
    blocks = result.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "".join(texts)


def _record(item: Any, mapped: Mapped) -> Record:
    if not isinstance(item, dict):
        return _UNREADABLE
    payload = _payload(item, mapped)
    available_at, revised_at = _dates(item, payload, mapped)
    tag: Any = item.get("available_at_source") if mapped.envelope else mapped.source_tag
    if tag not in TAGS:
        available_at, tag = None, mapped.source_tag
    name = _at(item, mapped.id) if mapped.id else None
    is_named = isinstance(name, (str, int)) and not isinstance(name, bool) and str(name).strip()
    return Record(str(name) if is_named else _digest(payload), available_at, tag, payload, revised_at)


def _dates(
    item: Mapping[str, Any], payload: Mapping[str, Any], mapped: Mapped
) -> tuple[datetime | None, datetime | None]:
    """Return when an item was public and last revised; no time of publication if any of its stamps cannot be read."""
    available_at = instant_of(_at(item, mapped.available_at), mapped.precision, mapped.zone)
    revision = _at(item, mapped.revised_at) if mapped.revised_at else None
    revisions = [] if revision in (None, "") else [instant_of(revision, mapped.precision, mapped.zone)]
    # A part with a stamp of its own, such as a later comment, revises the item.
    revisions += map(parse_rfc3339, _stamps_within(payload))
    known = [revised for revised in revisions if revised is not None]
    return available_at if len(known) == len(revisions) else None, max(known, default=None)


def _payload(item: Mapping[str, Any], mapped: Mapped) -> dict[str, Any]:
    keep = mapped.keep or item
    return {
        name: value
        for name, value in item.items()
        if name in keep and name not in mapped.drop and name not in STAMPS and name != KEY
    }


def _stamps_within(value: Any) -> Iterator[Any]:
    """Yield what stands at any depth under the name of a stamp of an envelope."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from [part] if name.lower() in _NESTED else _stamps_within(part)
    elif isinstance(value, list):
        for part in value:
            yield from _stamps_within(part)


def instant_of(value: Any, precision: Precision, zone: ZoneInfo | None) -> datetime | None:
    """Return the latest instant that a stamp could mean; None for one that means none."""
    if precision in _UNIX:
        return _of_number(value, _UNIX[precision])
    if not isinstance(value, str):
        return None
    text = value.strip()
    if precision == "day":
        day = parse_date(text[:10])
        is_day = day is not None and (not text[10:] or re.fullmatch(_MIDNIGHT, text[10:]) is not None)
        if day is None or not is_day:
            return None
        return end_of_day_anywhere(day) if zone is None else end_of_day(day, zone)
    moment = parse_rfc3339(text)
    if moment is None and zone is not None:
        moment = parse_wall_clock(_spelt_out(text), zone)
    return _to_the_minute(moment, zone or UTC) if moment is not None and precision == "minute" else moment


def _to_the_minute(moment: datetime, zone: tzinfo) -> datetime | None:
    local = moment.astimezone(zone)
    is_midnight = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
    return end_of_day(local.date(), zone) if is_midnight else end_of_minute(moment)


def _of_number(value: Any, units: int) -> datetime | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,15}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        # Up to the microsecond, and never down.
        return datetime.fromtimestamp(math.ceil(value / units * 1e6) / 1e6, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _spelt_out(text: str) -> str:
    """Return ``20240215T160000`` as other wall-clock readings are written."""
    match = re.fullmatch(_COMPACT, text)
    if match is None:
        return text
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day} {hour}:{minute}" + (f":{second}" if second else "")


def _items(content: Any, path: str) -> Any:
    """Return what is at a dotted path of a result; None if nothing is. A text on the way is read as JSON.

    An array with one element, such as the rows of a query, stands for that element.
    """
    names = [] if path == "." else path.split(".")
    while names:
        is_wrapped = isinstance(content, str) and content.lstrip()[:1] == "[" and not names[0].isdecimal()
        content = _parsed(content, len(names) + is_wrapped) if isinstance(content, str) else content
        if isinstance(content, list) and len(content) == 1 and not names[0].isdecimal():
            content = content[0]
        content = _at(content, names.pop(0))
    return _parsed(content, 0) if isinstance(content, str) else content


def _at(value: Any, path: str) -> Any:
    """Return what is at a dotted path of an item; None if nothing is."""
    if isinstance(value, dict) and path in value:  # a name may have dots in it
        return value[path]
    name, _, rest = path.partition(".")
    if isinstance(value, list) and name.isdecimal():
        value = value[int(name)] if int(name) < len(value) else None
    else:
        value = value.get(name) if isinstance(value, dict) else None
    return _at(value, rest) if rest else value


def _parsed(text: str, depth: int) -> Any:
    """Return a JSON text whose items lie so deep; None for another. An item that cannot be read fails alone."""
    try:
        return lenient_json(text.encode("utf-8", "replace"), rows=depth + 1)
    except UpstreamError:
        return None


def _digest(payload: Mapping[str, Any]) -> str:
    return sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:16]
