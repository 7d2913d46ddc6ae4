"""A provider of a made-up source, written as it should be: dates, revisions, a key, pages with a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import follow
from pit_fetch.provider import (
    Context,
    Credential,
    Field,
    Host,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    QueryKey,
    Record,
    UpstreamError,
)
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339
from pit_fetch.wire import lenient_json

HOST = "Source"
ITEMS = [
    {"id": 4, "published": "2024-02-16T09:30:00-05:00", "updated": None, "title": "Four"},
    {"id": 3, "published": "2024-02-15T16:00:00-05:00", "updated": "2024-02-17T10:00:00-05:00", "title": "3"},
    {"id": 2, "published": "2024-02-14", "updated": None, "title": "Two"},
    {"id": 1, "published": "2024-02-13T08:00:00-05:00", "updated": "2024-02-13T08:00:01-05:00", "title": "One"},
]


def reply_of(items: object) -> bytes:
    return json.dumps({"items": items, "next": None}).encode()


REPLY = reply_of(ITEMS)


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page_at(token: str) -> tuple[list[Record], str | None]:
        document = page(query, context, token)
        after = document.get("next")
        return list(records(document)), after if isinstance(after, str) and after else None

    yield from follow(page_at, "", newest_first=True)


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from records(document_of(body))


def page(query: Query, context: Context, token: str) -> dict[str, Any]:
    reply = context.http.get(HOST, "/items", {"before": query.horizon.isoformat(), "page": token})
    if reply.status != 200:
        raise UpstreamError(Code.HTTP_STATUS, host=HOST, status=reply.status)
    return document_of(reply.body)


def records(document: dict[str, Any]) -> Iterator[Record]:
    return (record(row) for row in document["items"])


def record(row: Any) -> Record:
    row = row if isinstance(row, dict) else {}
    day = parse_date(row.get("published"))
    published = end_of_day(day, NEW_YORK) if day else parse_rfc3339(row.get("published"))
    revised = parse_rfc3339(row.get("updated"))
    # An unknown revision may be one from after the PIT.
    dated = "updated" in row and (row["updated"] is None or revised is not None)
    name, title = row.get("id"), row.get("title")
    return Record(
        id=str(name) if isinstance(name, int) and not isinstance(name, bool) else "",
        available_at=published if dated else None,
        payload={"title": title if isinstance(title, str) else ""},
        revised_at=revised,
    )


def document_of(body: bytes) -> dict[str, Any]:
    document = lenient_json(body, rows=2)
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise UpstreamError(Code.MALFORMED, problem="it has no items")
    return document


PROVIDER = Provider(
    name="kit-source",
    summary="a made-up source",
    hosts=(Host(HOST, "https://api.source.example", "PIT_FETCH_KIT_SOURCE_URL", auth=QueryKey("key", "key")),),
    credentials=(Credential("key", ("KIT_SOURCE_KEY",)),),
    options=(Option("word", "items whose title holds this word"),),
    operations=(Operation(fetch=fetch, parse_reply=read, fields=(Field("title"),)),),
    page_size=20,
)
