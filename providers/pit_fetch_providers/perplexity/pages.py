"""Turn the pages of a reply into records, dated by the later of their two days. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from pit_fetch.gaps import Code
from pit_fetch.provider import Record, UpstreamError
from pit_fetch.times import end_of_day_anywhere, parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import UNREADABLE, text_or_none, texts_in


def read(body: bytes) -> Iterator[Record]:
    """Yield the records of a reply of the Search API: of one query, or of several, each with a list of its own."""
    # Three levels, for several queries: a list of lists. With one query, a result is then read value by value.
    reply = lenient_json(body, 3)
    results = reply.get("results") if isinstance(reply, dict) else None
    if not isinstance(results, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no results")
    for result in results:
        yield from records(result) if isinstance(result, list) else records([result])


def records(rows: Iterable[Any]) -> Iterator[Record]:
    """Yield one record for each row."""
    for row in rows:
        yield _record(row) if isinstance(row, dict) else UNREADABLE


def is_of(url: str, domains: Iterable[str]) -> bool:
    """Return whether ``url`` belongs to one of ``domains``, or, if they begin with a hyphen, to none of them."""
    allowed = [name for name in domains if not name.startswith("-")]
    denied = [name[1:] for name in domains if name.startswith("-")]
    is_allowed = not allowed or any(_is_of(url, domain) for domain in allowed)
    return is_allowed and not any(_is_of(url, domain) for domain in denied)


def _is_of(url: str, domain: str) -> bool:
    """Return whether ``url`` is of ``domain``: a host, a part of one (``.gov``), or a host and the start of a path."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return False
    wanted, slash, path = domain.casefold().removeprefix("www.").partition("/")
    is_host = host == wanted or host.endswith("." + wanted.removeprefix("."))
    return is_host and (not slash or parts.path.casefold().startswith("/" + path))


def _record(row: dict[str, Any]) -> Record:
    url = row.get("url")
    if not isinstance(url, str) or not url.strip():
        return UNREADABLE
    dates = {name: text_or_none(row.get(name)) for name in ("date", "last_updated")}  # either may be absent
    payload = {"url": url, **texts_in(row, "title", "snippet"), **dates}
    created = parse_date(row.get("date"))
    claimed_at = None if created is None else end_of_day_anywhere(created)
    return Record(url, _public_from(row), "provider_metadata", payload, claimed_at=claimed_at)


def _public_from(row: dict[str, Any]) -> datetime | None:
    """Return when both days were over everywhere on Earth: 12:00 UTC of the next day. None if one is missing.

    ``date`` is when the page was created, ``last_updated`` when its text last changed (recorded: a page of
    2001-10-17, last updated 2026-06-02, speaks of "31 years ago"). The zone of both is not documented.
    """
    days = [parse_date(row.get(name)) for name in ("date", "last_updated")]
    known = [day for day in days if day is not None]
    return end_of_day_anywhere(max(known)) if len(known) == 2 else None
