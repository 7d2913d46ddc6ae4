"""Wire search: hits of a search engine, sent with POST, stamped with epoch milliseconds as text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.paging import follow
from pit_fetch.provider import Context, Dating, Field, Host, Operation, Option, Page, Provider, Query, Record
from pit_fetch.wire import body_of, rows_in

HOST = "Wire Search"
SIZE = 25
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(after: tuple[str, ...]) -> tuple[list[Record], tuple[str, ...] | None]:
        asked: dict[str, Any] = {
            "size": SIZE,
            "query": {"match": query.options.get("text") or "*"},
            "range": {"ts": {"lte": str(int(query.horizon.timestamp() * 1000))}},
            "sort": [{"ts": "desc"}, {"_id": "desc"}],
        }
        if after:
            asked["search_after"] = list(after)
        body = body_of(context.http.post(HOST, "/_search", asked, repeatable=True), HOST)
        if body is None:
            return [], None
        rows = list(rows_in(body, "hits", "hits"))
        last = rows[-1].get("sort") if len(rows) >= SIZE else None
        following = tuple(map(str, last)) if isinstance(last, list) and last else None
        return [record(row) for row in rows], following

    start: tuple[str, ...] = ()
    yield from follow(page, start, newest_first=True)


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from (record(row) for row in rows_in(body, "hits", "hits"))


def record(row: dict[str, Any]) -> Record:
    source = row.get("_source")
    source = source if isinstance(source, dict) else {}
    name = row.get("_id")
    return Record(
        id=name if isinstance(name, str) else "",
        available_at=instant(source.get("ts")),
        payload={key: source[key] if isinstance(source.get(key), str) else "" for key in ("headline", "body")},
    )


def instant(text: object) -> datetime | None:
    if not isinstance(text, str) or len(text) != 13 or not (text.isascii() and text.isdigit()):
        return None
    return EPOCH + timedelta(milliseconds=int(text))


PROVIDER = Provider(
    name="kit-wire-search",
    summary="hits of the wire",
    hosts=(Host(HOST, "https://search.wire.example", "PIT_FETCH_KIT_URL"),),
    options=(Option("text", "words to look for"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="the time at which the wire sent it"),
            fields=(Field("headline"), Field("body")),
        ),
    ),
    page_size=SIZE,
)
