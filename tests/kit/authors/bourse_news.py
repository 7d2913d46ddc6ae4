"""Bourse news: a JSON:API, stamped "Feb 15, 2024 4:05 PM" in New York, with a link to the next page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pit_fetch.paging import follow
from pit_fetch.provider import Context, Dating, Field, Host, Operation, Page, Provider, Query, Record
from pit_fetch.times import NEW_YORK, end_of_minute, wall_clock
from pit_fetch.wire import body_of, lenient_json, rows_in

HOST = "Bourse"
SIZE = 30


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(cursor: str) -> tuple[list[Record], str | None]:
        asked = {"page[size]": str(SIZE)}
        if cursor:
            asked["page[cursor]"] = cursor
        body = body_of(context.http.get(HOST, "/api/news", asked), HOST)
        if body is None:
            return [], None
        return list(read(body, query)), cursor_of(lenient_json(body, rows=2))

    yield from follow(page, "", newest_first=True)


def cursor_of(document: dict[str, Any]) -> str | None:
    links = document.get("links")
    link = links.get("next") if isinstance(links, dict) else None
    if not isinstance(link, str):
        return None
    try:
        return parse_qs(urlsplit(link).query).get("page[cursor]", [None])[0]
    except ValueError:
        return None


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from (record(row) for row in rows_in(body, "data"))


def record(row: dict[str, Any]) -> Record:
    fields = row.get("attributes")
    fields = fields if isinstance(fields, dict) else {}
    number = row.get("id")
    return Record(
        id=number if isinstance(number, str) else "",
        available_at=stamp(fields.get("posted")),
        payload={
            "title": fields["title"] if isinstance(fields.get("title"), str) else "",
            "symbols": [name for name in fields.get("symbols") or () if isinstance(name, str)]
            if isinstance(fields.get("symbols"), list)
            else [],
        },
    )


def stamp(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        return wall_clock(end_of_minute(datetime.strptime(text, "%b %d, %Y %I:%M %p")), NEW_YORK)
    except ValueError:
        return None


PROVIDER = Provider(
    name="kit-bourse-news",
    summary="news of the bourse",
    hosts=(Host(HOST, "https://bourse.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="the end of its minute in New York"),
            fields=(Field("title"), Field("symbols", "list")),
        ),
    ),
    page_size=SIZE,
)
