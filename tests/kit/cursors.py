"""Honest sources whose own ``serve`` sends real pages: small ones, by a token or by the id of the last row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from pit_fetch.paging import children, follow
from pit_fetch.provider import Context, Dating, Field, HttpReply, Operation, Option, Page, Provider, Query, Record
from pit_fetch.testing import HttpRequest, Pages, Response
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import body_of, lenient_json, record_in, rows_in
from tests.demo_source import change_operations
from tests.kit.honest import KitSource, Row, as_json, host, name_of, text

SIZE = 2
ROWS: list[Row] = [
    {"id": 105, "published": "2024-02-17T09:30:00-05:00", "corrected": None, "text": "Fifth"},
    {"id": 104, "published": "2024-02-16T16:00:00-05:00", "corrected": None, "text": "Fourth"},
    {"id": 103, "published": "2024-02-15T11:00:00-05:00", "corrected": "2024-02-16T08:00:00-05:00", "text": "Third"},
    {"id": 102, "published": "2024-02-14T10:00:00-05:00", "corrected": "2024-02-14T10:30:00-05:00", "text": "Second"},
    {"id": 101, "published": "2024-02-13T08:00:00-05:00", "corrected": None, "text": "First"},
]

Continue = Callable[[list[Row], Mapping[str, object]], "str | None"]


def by_token(rows: list[Row], document: Mapping[str, object]) -> str | None:
    """Return the next page's token, which stands beside the rows."""
    return text(document.get("next")) or None


def by_last_row(rows: list[Row], document: Mapping[str, object]) -> str | None:
    """Return the id of the last row that can be read, after which the next page begins, up to a page without rows."""
    return next((name_of(row) for row in reversed(rows) if name_of(row)), None)


def dispatch(row: Row, query: Query) -> Record:
    corrected = parse_rfc3339(row.get("corrected"))
    # Null says that it was never corrected. Any other value that cannot be read may be a correction after the PIT.
    is_known = "corrected" in row and (row["corrected"] is None or corrected is not None)
    return Record(
        id=name_of(row),
        available_at=parse_rfc3339(row.get("published")) if is_known else None,
        payload={"text": text(row.get("text"))},
        revised_at=corrected,
    )


def serve_pages(reply: bytes, request: HttpRequest, oldest_first: bool = False) -> Response:
    """Return the page that is asked for: ``after`` is the id of a row, ``cursor`` holds where a page begins."""
    rows = json.loads(reply)["items"]
    rows = sorted(rows, key=lambda row: parse_rfc3339(row["published"]), reverse=not oldest_first)  # type: ignore[arg-type,return-value]
    ids = [str(row["id"]) for row in rows]
    after = str(request.params.get("after") or request.params.get("cursor", "")).removeprefix("c-")
    start = ids.index(after) + 1 if after else 0
    page = rows[start : start + SIZE]
    following = f"c-{page[-1]['id']}" if len(rows) > start + SIZE else None
    return Response(json.dumps({"items": page, "next": following}).encode())


def dispatches(
    name: str,
    parameter: str,
    following: Continue = by_token,
    record: Callable[[Row, Query], Record] = dispatch,
    newest_first: bool = False,
    pages: Callable[[Iterator[Page], Query], Iterable[Page]] = lambda pages, query: pages,
) -> KitSource:
    asked = name.title()

    def fetch(query: Query, context: Context) -> Iterable[Page]:
        def page(position: str) -> tuple[list[Record], str | None]:
            params = {"size": str(SIZE), **({parameter: position} if position else {})}
            body = body_of(context.http.get(asked, "/v1/items", params), asked)
            if body is None:
                return [], None
            rows = list(rows_in(body, "items"))
            document = lenient_json(body, rows=2)
            return [record(row, query) for row in rows], following(rows, document)

        yield from pages(follow(page, "", newest_first=newest_first), query)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from (record(row, query) for row in rows_in(body, "items"))

    provider = Provider(
        name=f"kit-{name}",
        summary="dispatches on small pages",
        hosts=host(asked),
        options=(Option("word", "dispatches that hold it"),),
        operations=(
            Operation(
                fetch=fetch,
                parse_reply=read,
                dating=Dating(rule="its publication; its correction"),
                fields=(Field("text"),),
            ),
        ),
        page_size=SIZE,
    )
    rows = ROWS if newest_first else ROWS[::-1]
    return KitSource(
        provider,
        rows,
        lambda rows, **meta: as_json("items")(rows, next=None, **meta),
        lambda row: str(max(filter(None, (row["published"], row["corrected"])))),
        recording={
            "pages": Pages("size", cursor="cursor", next="next")
            if parameter == "cursor"
            else Pages("size", after="after")
        },
        live=partial(serve_pages, oldest_first=not newest_first),
    )


def with_pages_of_rows(is_careful: bool) -> KitSource:
    """Return a source whose list has one address with the page of each of its rows: ``id`` is that of a row."""
    source = dispatches("tokens", "cursor", newest_first=True)

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        def page(record: Record) -> bytes | None:
            return body_of(context.http.get("Tokens", "/v1/items", {"id": record.id}), "Tokens")

        def probe() -> object:
            return body_of(context.http.get("Tokens", "/v1/items", {"id": "0"}), "Tokens")

        for part in source.provider.operations[0].fetch(query, context):
            records = part.records if isinstance(part, Page) else ()
            for record, body in children(records, page, probe=probe if is_careful else None):
                shown = record_in(body) if body else {}
                yield record._replace(available_at=record.available_at if shown else None)

    documents = {
        "/v1/items": {"items": ROWS, "next": None},
        "/v1/items?id={id}": {str(row["id"]): {"text": row["text"]} for row in ROWS},
    }
    return replace(
        source,
        provider=change_operations(source.provider, fetch=fetch),
        recording={**source.recording, "documents": documents},
    )


# How a page is asked for, from the position that the page before it states.
Ask = Callable[[Context, str], HttpReply]
WAYS: Mapping[str, tuple[Ask, str]] = {
    "by an offset": (
        lambda context, at: context.http.get("Tokens", "/v1/items", {"size": str(SIZE), "start": at or "0"}),
        "{}",
    ),
    "in a body": (
        lambda context, at: context.http.post(
            "Tokens", "/v1/items", {"size": SIZE, "start": at or None}, repeatable=True
        ),
        "{}",
    ),
    "by an address": (lambda context, at: context.http.get("Tokens", at or "/v1/items"), "/v1/items?start={}"),
    "in its path": (lambda context, at: context.http.get("Tokens", f"/v1/items/{at or 0}"), "{}"),
}


def paged(way: str) -> KitSource:
    """Return the source whose pages are asked for in one of :data:`WAYS`."""
    ask, link = WAYS[way]

    def fetch(query: Query, context: Context) -> Iterable[Page]:
        def page(position: str) -> tuple[list[Record], str | None]:
            body = body_of(ask(context, position), "Tokens")
            if body is None:
                return [], None
            document = lenient_json(body, rows=2)
            after = document.get("next") if isinstance(document, dict) else None
            return [dispatch(row, query) for row in rows_in(body, "items")], after if isinstance(after, str) else None

        yield from follow(page, "", newest_first=True)

    source = dispatches("tokens", "cursor", newest_first=True)
    documents = {"/v1/items/{start}" if way == "in its path" else "/v1/items": {"items": ROWS, "next": None}}
    return replace(
        source,
        provider=change_operations(source.provider, fetch=fetch),
        recording={"documents": documents, "pages": Pages(SIZE, start="start", next="next", link=link)},
    )
