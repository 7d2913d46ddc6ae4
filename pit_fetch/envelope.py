"""The envelope: public items and gaps. This is the only module that knows its shape. Pure.

{"data": [{"available_at": …, "available_at_source": …, "id": …, …}], "gaps": [{"type": …, "reason": …, "query": …}]}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.gaps import Gap, gap
from pit_fetch.pit import cursor
from pit_fetch.provider import Record
from pit_fetch.siblings import gate
from pit_fetch.times import in_new_york

# A gap repeats the request, so that it can be read by itself; but a long request must not eat up the budget.
MAX_QUERY_CHARS = 240

# What every item keeps, regardless of --fields and the budget.
STAMPS = ("available_at", "available_at_source", "revised_at", "first_seen_at", "id")

Clean = Callable[[str], str]


class Envelope(dict[str, list[dict[str, Any]]]):
    """The result of one fetch. It can be used as a plain dict of ``data`` and ``gaps``; JSON values only."""

    def __init__(self, data: Iterable[dict[str, Any]] = (), gaps: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(data=list(data), gaps=list(gaps))

    @property
    def data(self) -> list[dict[str, Any]]:
        """The items, newest first; each has ``available_at``, ``available_at_source`` and ``id``."""
        return self["data"]

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """What is missing, and why: each gap has ``type``, ``reason`` and ``query``."""
        return self["gaps"]


class View(NamedTuple):
    """How records and gaps are shown. ``clean`` redacts a string; ``query`` is the canonical request."""

    query: str = ""
    clean: Clean = str
    clean_data: Clean = str
    fields: tuple[str, ...] = ()
    pit: datetime | None = None


class Fitted(NamedTuple):
    """An envelope within its budget, its text, and how many of the records are in it."""

    envelope: Envelope
    text: str
    kept: int


def of(records: Iterable[Record], gaps: Iterable[Gap], view: View) -> Envelope:
    """The envelope of ``records`` and ``gaps``, as ``view`` shows them."""
    return Envelope([_item(record, view) for record in records], _shown(gaps, view))


def fit(
    records: Sequence[Record], gaps: Sequence[Gap], view: View, write: Callable[[Envelope], str], max_chars: int = 0
) -> Fitted:
    """The envelope and its text of at most ``max_chars`` characters (0: any length).

    Within a budget, whole items only, from the first on, then a ``truncated`` gap with the cursor to
    continue from. If the first item alone is too large, it loses its longest texts.
    """
    whole = of(records, gaps, view)
    fitted = Fitted(whole, write(whole), len(records))
    if not max_chars or len(fitted.text) <= max_chars:
        return fitted
    least, most = 0, len(records) - 1
    while least < most:
        count = (least + most + 1) // 2
        cut = _replace_truncated(gaps, gap("max_chars", max_chars=max_chars, cursor=cursor(records[count - 1])))
        tried = Envelope(whole.data[:count], _shown(cut, view))
        text = write(tried)
        if len(text) <= max_chars:
            least, fitted = count, Fitted(tried, text, count)
        else:
            most = count - 1
    return fitted if least else _fit_oversized(records, gaps, view, write, max_chars)


def judge(json_text: str, pit: datetime | None) -> str | None:
    """The gate's code if it refuses an envelope's JSON in PIT mode; None if the envelope may go out."""
    finding = None if pit is None else gate.check(json_text, pit)
    return None if finding is None else finding.code


def _item(record: Record, view: View) -> dict[str, Any]:
    item: dict[str, Any] = {
        "available_at": None if record.available_at is None else in_new_york(record.available_at),
        "available_at_source": record.available_at_source,
    }
    if record.revised_at is not None:
        item["revised_at"] = in_new_york(record.revised_at)
    if record.first_seen_at is not None:
        item["first_seen_at"] = in_new_york(record.first_seen_at)
    item["id"] = view.clean_data(record.id)
    wanted = view.fields or record.payload
    for key, value in record.payload.items():
        name = view.clean_data(key)
        if key in wanted and name not in item and not _forbidden(key, view):
            item[name] = _clean(value, view)
    return item


def _shown(gaps: Iterable[Gap], view: View) -> list[dict[str, Any]]:
    query = view.clean(view.query)
    if len(query) > MAX_QUERY_CHARS:
        query = query[: MAX_QUERY_CHARS - 1] + "…"
    return [{"type": one.type, "reason": view.clean(one.reason), "query": query} for one in gaps]


def _clean(value: Any, view: View) -> Any:
    """``value`` with secrets redacted and, in PIT mode, forbidden keys left out, at any depth."""
    if isinstance(value, str):
        return view.clean_data(value)
    if isinstance(value, (list, tuple)):
        return [_clean(part, view) for part in value]
    if isinstance(value, dict):
        return {view.clean_data(key): _clean(part, view) for key, part in value.items() if not _forbidden(key, view)}
    return value


def _forbidden(key: str, view: View) -> bool:
    return view.pit is not None and key.lower() in gate.FORBIDDEN_KEYS


def _replace_truncated(gaps: Sequence[Gap], instead: Gap) -> list[Gap]:
    """The budget cuts earlier than --limit and --max-pages do, so its cursor replaces theirs."""
    return [*(one for one in gaps if one.code not in ("limit", "max_pages")), instead]


def _fit_oversized(
    records: Sequence[Record], gaps: Sequence[Gap], view: View, write: Callable[[Envelope], str], max_chars: int
) -> Fitted:
    item: dict[str, Any] = _item(records[0], view) if records else {}
    left_out: list[str] = []
    texts = {key: value for key, value in item.items() if key not in STAMPS}
    while texts:
        longest = max(texts, key=lambda key: (len(json.dumps(texts[key])), key))
        del texts[longest]
        item[longest] = None
        left_out.append(longest)
        said = gap("field_left_out", max_chars=max_chars, fields=", ".join(left_out))
        more = gap("max_chars", max_chars=max_chars, cursor=cursor(records[0])) if len(records) > 1 else None
        cut = [*_replace_truncated(gaps, more), said] if more else [*gaps, said]
        fitted = Envelope([item], _shown(cut, view))
        text = write(fitted)
        if len(text) <= max_chars:
            return Fitted(fitted, text, 1)
    last = gap("max_chars", max_chars=max_chars, cursor="-")
    fitted = Envelope([], _shown(_replace_truncated(gaps, last), view))
    return Fitted(fitted, write(fitted), 0)
