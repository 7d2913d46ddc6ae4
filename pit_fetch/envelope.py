"""The envelope: public records and gaps as one JSON text, cut to a budget and judged by the gate. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.gaps import Gap, gap
from pit_fetch.pit import cursor
from pit_fetch.provider import Record
from pit_fetch.siblings import gate
from pit_fetch.times import in_new_york

# A gap repeats the request so that a reader of one gap knows it; a request of any length must not fill the budget.
MAX_QUERY_CHARS = 240

# What every item keeps, whatever --fields and the budget say.
STAMPS = ("available_at", "available_at_source", "revised_at", "id")

Clean = Callable[[str], str]


class Form(NamedTuple):
    """How an envelope is written. ``clean`` redacts a string; ``query`` is the canonical request."""

    query: str
    clean: Clean
    clean_data: Clean
    fields: tuple[str, ...] = ()
    max_chars: int = 0
    pretty: bool = False
    pit: datetime | None = None


def render(records: Sequence[Record], gaps: Sequence[Gap], form: Form) -> tuple[str, int]:
    """The envelope's text, one line break at its end, and how many of ``records`` are in it.

    With a budget: whole items only, the first ones first, then a ``truncated`` gap with the cursor
    that continues. A first item that is too large alone loses its longest texts.
    """
    items = [_item(record, form) for record in records]
    text = _dump(items, gaps, form)
    if not form.max_chars or len(text) <= form.max_chars:
        return text, len(items)
    for count in range(_guess(items, form), 0, -1):
        cut = _replace_truncated(gaps, gap("max_chars", max_chars=form.max_chars, cursor=cursor(records[count - 1])))
        text = _dump(items[:count], cut if count < len(items) else gaps, form)
        if len(text) <= form.max_chars:
            return text, count
    return _render_oversized(items, records, gaps, form)


def judge(text: str, form: Form) -> str | None:
    """The gate's code against the final text in PIT mode; None when it may go out."""
    if form.pit is None:
        return None
    finding = gate.check(text, form.pit)
    return None if finding is None else finding.code


def gaps_only(gaps: Iterable[Gap], form: Form) -> str:
    """An envelope without data."""
    return _dump([], list(gaps), form)


def _item(record: Record, form: Form) -> dict[str, Any]:
    item: dict[str, Any] = {
        "available_at": None if record.available_at is None else in_new_york(record.available_at),
        "available_at_source": record.source,
    }
    if record.revised_at is not None:
        item["revised_at"] = in_new_york(record.revised_at)
    item["id"] = form.clean_data(record.id)
    wanted = form.fields or record.payload
    for key, value in record.payload.items():
        if key in wanted and key not in item and not _forbidden(key, form):
            item[key] = _clean(value, form)
    return item


def _clean(value: Any, form: Form) -> Any:
    """``value`` with secrets redacted and, in PIT mode, forbidden keys left out, at any depth."""
    if isinstance(value, str):
        return form.clean_data(value)
    if isinstance(value, (list, tuple)):
        return [_clean(part, form) for part in value]
    if isinstance(value, dict):
        return {form.clean_data(key): _clean(part, form) for key, part in value.items() if not _forbidden(key, form)}
    return value


def _forbidden(key: str, form: Form) -> bool:
    return form.pit is not None and key.lower() in gate.FORBIDDEN_KEYS


def _dump(items: Sequence[Mapping[str, Any]], gaps: Sequence[Gap], form: Form) -> str:
    query = form.clean(form.query)
    if len(query) > MAX_QUERY_CHARS:
        query = query[: MAX_QUERY_CHARS - 1] + "…"
    shown = [{"type": one.type, "reason": form.clean(one.reason), "query": query} for one in gaps]
    return json.dumps({"data": items, "gaps": shown}, indent=2 if form.pretty else None, allow_nan=False) + "\n"


def _guess(items: Sequence[Mapping[str, Any]], form: Form) -> int:
    """How many items fit at the most: an upper bound, so that only a few envelopes are tried."""
    size = 0
    for count, item in enumerate(items):
        size += len(json.dumps(item))
        if size > form.max_chars:
            return count
    return len(items)


def _replace_truncated(gaps: Sequence[Gap], instead: Gap) -> list[Gap]:
    """The budget cuts above --limit and --max-pages, so its cursor replaces theirs."""
    return [*(one for one in gaps if one.code not in ("limit", "max_pages")), instead]


def _render_oversized(
    items: Sequence[dict[str, Any]], records: Sequence[Record], gaps: Sequence[Gap], form: Form
) -> tuple[str, int]:
    item, left_out = dict(items[0]), []
    texts = {key: value for key, value in item.items() if key not in STAMPS}
    while texts:
        longest = max(texts, key=lambda key: (len(json.dumps(texts[key])), key))
        del texts[longest]
        item[longest] = None
        left_out.append(longest)
        said = gap("field_left_out", max_chars=form.max_chars, fields=", ".join(left_out))
        more = gap("max_chars", max_chars=form.max_chars, cursor=cursor(records[0])) if len(items) > 1 else None
        cut = [*_replace_truncated(gaps, more), said] if more else [*gaps, said]
        text = _dump([item], cut, form)
        if len(text) <= form.max_chars:
            return text, 1
    return _dump([], _replace_truncated(gaps, gap("max_chars", max_chars=form.max_chars, cursor="-")), form), 0
