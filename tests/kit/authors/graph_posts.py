"""Graph posts: GraphQL edges, in seconds with a fraction, with the time of the last edit, or null."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.paging import follow
from pit_fetch.provider import Context, Dating, Field, Host, Operation, Page, Provider, Query, Record
from pit_fetch.wire import body_of, record_in, rows_in

HOST = "Graph"
SIZE = 20
TEXT = "query($n: Int!, $c: String) { posts(first: $n, after: $c) { edges { node { id createdAt editedAt text } } } }"
FIRST, LAST = 1_262_304_000, 4_102_444_800  # the years 2010 to 2100


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(cursor: str) -> tuple[list[Record], str | None]:
        asked = {"query": TEXT, "variables": {"n": SIZE, "c": cursor or None}}
        body = body_of(context.http.post(HOST, "/graphql", asked, repeatable=True), HOST)
        if body is None:
            return [], None
        info = record_in(body, "data", "posts", "pageInfo")
        following = info.get("endCursor") if info.get("hasNextPage") is True else None
        return list(read(body, query)), following if isinstance(following, str) else None

    yield from follow(page, "", newest_first=True)


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from (record(edge.get("node")) for edge in rows_in(body, "data", "posts", "edges"))


def record(node: Any) -> Record:
    node = node if isinstance(node, dict) else {}
    created, edited = instant(node.get("createdAt")), instant(node.get("editedAt"))
    is_dated = "editedAt" in node and (node["editedAt"] is None or edited is not None)
    name, text = node.get("id"), node.get("text")
    return Record(
        id=name if isinstance(name, str) else "",
        available_at=created if is_dated else None,
        revised_at=edited,
        payload={"text": text if isinstance(text, str) else ""},
    )


def instant(seconds: object) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not FIRST < seconds < LAST:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=round(seconds * 1000))


PROVIDER = Provider(
    name="kit-graph-posts",
    summary="posts",
    hosts=(Host(HOST, "https://graph.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(fetch=fetch, parse_reply=read, dating=Dating(rule="when it was posted"), fields=(Field("text"),)),
    ),
    page_size=SIZE,
)
