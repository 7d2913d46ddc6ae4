"""A provider of a made-up source, written as it should be: dates, revisions, a key, pages with a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pit_fetch.provider import Context, Credential, Gap, Host, Option, Provider, Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339
from pit_fetch.wire import strict_json

HOST = "Source"
REPLY = json.dumps(
    {
        "items": [
            {"id": 4, "published": "2024-02-16T09:30:00-05:00", "updated": None, "title": "Four"},
            {"id": 3, "published": "2024-02-15T16:00:00-05:00", "updated": "2024-02-17T10:00:00-05:00", "title": "3"},
            {"id": 2, "published": "2024-02-14", "updated": None, "title": "Two"},
            {"id": 1, "published": "2024-02-13T08:00:00-05:00", "updated": "2024-02-13T08:00:01-05:00", "title": "One"},
        ],
        "next": None,
    }
).encode()  # fmt: skip


def fetch(query: Query, context: Context) -> Iterator[Record | Gap]:
    token, seen = "", set[str]()
    while True:
        document = page(query, context, token)
        yield from records(document)
        token = document.get("next") or ""
        if not isinstance(token, str) or token in seen:
            raise UpstreamError("paging")
        seen.add(token)
        if not token:
            return


def read(body: bytes, query: Query) -> Iterator[Record | Gap]:
    yield from records(_document(body))


def page(query: Query, context: Context, token: str) -> dict[str, Any]:
    parameters = {"key": context.credentials["key"], "before": query.horizon.isoformat(), "page": token}
    reply = context.http.get(HOST, "/items", parameters)
    if reply.status != 200:
        raise UpstreamError("http_status", host=HOST, status=reply.status)
    return _document(reply.body)


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
        source="provider_metadata",
        payload={"title": title if isinstance(title, str) else ""},
        revised_at=revised,
    )


def _document(body: bytes) -> dict[str, Any]:
    document = strict_json(body)
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise UpstreamError("malformed", problem="it has no items")
    return document


PROVIDER = Provider(
    name="kit-source",
    summary="a made-up source",
    fetch=fetch,
    read=read,
    hosts=(Host(HOST, "https://api.source.example", "PIT_FETCH_KIT_SOURCE_URL"),),
    credentials=(Credential("key", ("KIT_SOURCE_KEY",)),),
    options=(Option("word", "items whose title holds this word"),),
    newest_first=True,
    page_size=4,
)
