"""Turn replies into records: pages, dated by the later of their two days, and answers of a model, which are not. Pure.

>>> [page] = records([{"url": "https://www.sec.gov/a", "date": "2024-02-14", "last_updated": "2024-02-15"}])
>>> page.available_at.isoformat(), is_on("https://www.sec.gov/a", ["sec.gov"])
('2024-02-16T12:00:00+00:00', True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import end_of_day_anywhere, parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import UNREADABLE, text_or_none, texts_in

SYNTHESIS = "synthesis"


def parse_search(body: bytes) -> Iterator[Record]:
    """Yield the records of a reply of the Search API: of one query, or of several, each with a list of its own."""
    # Three levels, for several queries: a list of lists. With one query, a result is then read value by value.
    reply = lenient_json(body, 3)
    results = reply.get("results") if isinstance(reply, dict) else None
    if not isinstance(results, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no results")
    for result in results:
        yield from records(result) if isinstance(result, list) else records([result])


def parse_answer(body: bytes, query: Query, received: datetime) -> Iterator[Record]:
    """Yield the answer, stamped with its receipt, in open mode; then each page that it cites, dated like any other.

    Raise UpstreamError if the answer is not complete: a failure may also come with HTTP 200.
    """
    reply = lenient_json(body, 6)  # the notes of a text lie deepest, and pages in between
    output = reply.get("output") if isinstance(reply, dict) else None
    if not isinstance(output, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no output")
    if reply.get("status", "completed") != "completed":
        raise UpstreamError(Code.MALFORMED, problem="the answer is not complete")
    parts = [
        part
        for item in _items_of_type(output, "message")
        for part in _items_of_type(item.get("content"), "output_text")
    ]
    cited = list(dict.fromkeys(url for part in parts for url in _urls(part.get("annotations"))))
    if query.open_mode:
        text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        payload = {"record_type": SYNTHESIS, "answer": text, "citations": cited}
        yield Record(_answer_id(query), received, payload, at_receipt=True)
    for item in _items_of_type(output, "search_results"):
        results = item.get("results")
        for record in records(results if isinstance(results, list) else ()):
            if record.id in cited:
                yield record


def records(rows: Iterable[Any]) -> Iterator[Record]:
    """Yield one record for each row."""
    for row in rows:
        yield _record(row) if isinstance(row, dict) else UNREADABLE


def is_on(url: str, domains: Iterable[str]) -> bool:
    """Return whether ``url`` belongs to one of ``domains``, or, if they begin with a hyphen, to none of them."""
    allowed = [name for name in domains if not name.startswith("-")]
    denied = [name[1:] for name in domains if name.startswith("-")]
    is_allowed = not allowed or any(_is_on_domain(url, domain) for domain in allowed)
    return is_allowed and not any(_is_on_domain(url, domain) for domain in denied)


def _is_on_domain(url: str, domain: str) -> bool:
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
    return Record(url, _public_from(row), payload, claimed_at=claimed_at)


def _public_from(row: dict[str, Any]) -> datetime | None:
    """Return when both days were over everywhere on Earth: 12:00 UTC of the next day. None if one is missing.

    ``date`` is when the page was created, ``last_updated`` when its text last changed (recorded: a page of
    2001-10-17, last updated 2026-06-02, speaks of "31 years ago"). The zone of both is not documented.
    """
    days = [parse_date(row.get(name)) for name in ("date", "last_updated")]
    known = [day for day in days if day is not None]
    return end_of_day_anywhere(max(known)) if len(known) == 2 else None


def _items_of_type(items: Any, kind: str) -> Sequence[dict[str, Any]]:
    items = items if isinstance(items, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("type") == kind]


def _urls(annotations: Any) -> Iterator[str]:
    for annotation in annotations if isinstance(annotations, list) else ():
        if isinstance(annotation, dict) and isinstance(annotation.get("url"), str):
            yield annotation["url"]


def _answer_id(query: Query) -> str:
    # By the question alone, so that it has one name in every run.
    queries = "\n".join(query.options["query"] or ())
    return f"{query.operation.name}:{sha256(queries.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
