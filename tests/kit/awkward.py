"""Honest sources of awkward shapes: trees, slices of time, cursors of a graph, twins, maps, dumps and deletions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import follow
from pit_fetch.provider import Context, Dating, Field, Operation, Provider, Query, Record, UpstreamError, Watermark
from pit_fetch.testing import Form, HttpRequest, Pages, Response
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339, parse_wall_clock
from pit_fetch.wire import body_of, lenient_json, record_in, rows_in
from tests.kit.honest import KitSource, Row, as_json, get, host, name_of, seconds, text

DATING = Dating(rule="when it was posted")


def provider(name: str, fetch: Any, read: Any, *fields: str, **operation: Any) -> Provider:
    fields_ = tuple(map(Field, fields or ("title",)))
    return Provider(
        f"kit-{name}",
        f"{name}, an awkward source",
        hosts=host(name.title()),
        operations=(Operation(fetch=fetch, parse_reply=read, dating=DATING, fields=fields_, **operation),),
    )


def simple(name: str, read: Any, params: Any = lambda query: {}, **operation: Any) -> Provider:
    """Return the provider that asks once, and reads the reply."""

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = get(name.title(), f"/{name}", params)(query, context)
        yield from read(body, query) if body is not None else ()

    return provider(name, fetch, read, **operation)


def record_of(row: Mapping[str, Any], stamp: datetime | None, key: str = "id") -> Record:
    return Record(name_of(dict(row), key), stamp, {"title": text(row.get("title"))})


# --- a tree: an answer lies in what it answers, and each rests on its own date

TREE: list[Row] = [
    {"id": 700 + n, "time": 1_707_900_000 + 50_000 * n, "title": f"Story {n}", "kids": [
        {"id": 800 + n, "time": 1_707_900_000 + 50_000 * n + 9_000, "title": f"Answer {n}", "kids": []},
        {"id": 900 + n, "time": 1_707_900_000 + 50_000 * n + 70_000, "title": f"Late answer {n}", "kids": []},
    ]}
    for n in (4, 3, 2, 1)
]  # fmt: skip


def trees(extra: Callable[[Row], dict[str, Any]] = lambda row: {}) -> KitSource:
    """Make the source with ``extra(row)`` in each payload."""

    def walk(rows: Any) -> Iterator[Record]:
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                made = record_of(row, seconds(row.get("time")))
                yield made._replace(payload={**made.payload, **extra(row)})
                yield from walk(row.get("kids"))

    def answered(pit: datetime) -> Iterator[tuple[str, bytes]]:
        later: Row = {"id": 999, "time": int(pit.timestamp()) + 86_400, "title": "Later", "kids": []}
        yield "answered since", as_json("hits")([{**row, "kids": [*list(row["kids"]), later]} for row in TREE])

    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from walk(list(rows_in(body, "hits")))

    return KitSource(simple("trees", read), TREE, as_json("hits"),
                     lambda row: datetime.fromtimestamp(row["time"], UTC).isoformat(), also=answered)  # fmt: skip


# --- slices of time, with a watermark after each, behind a server that keeps no window

DAILY = [{"id": f"s{n}", "at": f"2024-02-1{n}T12:00:00Z", "title": f"Event {n}"} for n in (5, 4, 3, 2, 1)]


def slices() -> KitSource:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from (record_of(row, parse_rfc3339(row.get("at"))) for row in rows_in(body, "events"))

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        end, oldest = query.horizon, datetime(2024, 2, 8, tzinfo=UTC)
        while end > oldest:
            start = max(end - timedelta(days=2), oldest)
            params = {"from": start.isoformat(), "to": end.isoformat()}
            body = body_of(context.http.get("Slices", "/slices", params), "Slices")
            yield from read(body, query) if body is not None else ()
            yield Watermark(start)
            end = start

    return KitSource(provider("slices", fetch, read), DAILY, as_json("events"), lambda row: str(row["at"]))


# --- a connection of GraphQL: each edge has its cursor, and the page the last one's

NODES = [{"id": f"node-{n}", "at": f"2024-02-1{n}T12:00:00Z", "title": f"Node {n}"} for n in (5, 4, 3, 2, 1)]


def relays(serves_pages: bool = False) -> KitSource:
    def edges(rows: list[Row], more: bool = False) -> bytes:
        listed = [{"cursor": f"c-{row.get('id')}", "node": row} for row in rows]
        info = {"hasNextPage": more, "endCursor": listed[-1]["cursor"] if listed else None}
        return json.dumps({"data": {"posts": {"edges": listed, "pageInfo": info}}}).encode()

    def read(body: bytes, query: Query) -> Iterator[Record]:
        for edge in rows_in(body, "data", "posts", "edges"):
            node: Any = edge.get("node")
            node = node if isinstance(node, dict) else {}
            yield record_of(node, parse_rfc3339(node.get("at")))

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        def page(cursor: str) -> tuple[list[Record], str | None]:
            asked = {"query": "{posts}", "variables": {"after": cursor or None}}
            body = body_of(context.http.post("Relays", "/graphql", asked, repeatable=True), "Relays")
            if body is None:
                return [], None
            records, info = list(read(body, query)), record_in(body, "data", "posts", "pageInfo")
            following = info.get("endCursor") if info.get("hasNextPage") is True else None
            return records, following if isinstance(following, str) else None

        yield from follow(page, "")

    def serve(reply: bytes, request: HttpRequest) -> Response:
        rows = [edge["node"] for edge in json.loads(reply)["data"]["posts"]["edges"]]
        after = json.loads(request.body or b"{}")["variables"]["after"]
        start = next((n + 1 for n, row in enumerate(rows) if f"c-{row.get('id')}" == after), 0)
        return Response(edges(rows[start : start + 2], len(rows) > start + 2))

    pages = Pages(2, cursor="after", next="data.posts.pageInfo.endCursor", more="data.posts.pageInfo.hasNextPage")
    source = KitSource(provider("relays", fetch, read), NODES, edges, lambda row: str(row["at"]))
    return replace(source, recording={"pages": pages}, live=serve) if serves_pages else source


# --- twins: a row that is sent twice under one stamp, and two rows of one instant

TWINS = [{"id": f"t{n}", "at": f"2024-02-1{n}T12:00:00Z", "title": f"Twin {n}"} for n in (5, 4, 4, 3, 2, 2, 1)]


def twins() -> KitSource:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from (record_of(row, parse_rfc3339(row.get("at"))) for row in rows_in(body, "rows"))

    return KitSource(simple("twins", read), TWINS, as_json("rows"), lambda row: str(row["at"]))


def pairs_of_one_instant() -> KitSource:
    """Each row makes two records of one stamp: a bid and an ask."""

    def read(body: bytes, query: Query) -> Iterator[Record]:
        for row in rows_in(body, "rows"):
            for side in ("bid", "ask"):
                made = record_of(row, parse_rfc3339(row.get("at")))
                yield made._replace(id=f"{made.id}-{side}" if made.id else "")

    rows = [row for n, row in enumerate(TWINS) if row not in TWINS[:n]]
    return KitSource(simple("sides", read), rows, as_json("rows"), lambda row: str(row["at"]))


# --- rows by their day, in a map; Unix milliseconds in the place of ids; days and hours apart


def maps() -> KitSource:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        document = lenient_json(body, rows=2)
        days = document.get("days") if isinstance(document, dict) else None
        if not isinstance(days, dict):
            raise UpstreamError(Code.MALFORMED, problem="it has no days")
        for day, row in days.items():
            known = parse_date(day)
            title = row.get("title") if isinstance(row, dict) else None
            yield Record(day if known else "", end_of_day(known, NEW_YORK) if known else None, {"title": text(title)})

    rows = [{"day": f"2024-02-1{n}", "title": f"Day {n}"} for n in (5, 4, 3, 2, 1)]

    def body(rows: list[Row], **meta: Any) -> bytes:
        return json.dumps({"days": {str(row.get("day")): {"title": row.get("title")} for row in rows}}).encode()

    return KitSource(simple("maps", read), rows, body, lambda row: f"{row['day']}T23:59:59.999-05:00",
                     zone="America/New_York")  # fmt: skip


def compact() -> KitSource:
    """The compact form of ISO 8601, as GDELT writes it."""

    def read(body: bytes, query: Query) -> Iterator[Record]:
        for row in rows_in(body, "articles"):
            seen = text(row.get("seendate"))
            iso = f"{seen[:4]}-{seen[4:6]}-{seen[6:11]}:{seen[11:13]}:{seen[13:]}" if len(seen) == 16 else ""
            yield record_of(row, parse_rfc3339(iso), "url")

    rows = [{"url": f"https://x.example/{n}", "title": f"Article {n}", "seendate": f"2024021{n}T1{n}0000Z"}
            for n in (5, 4, 3, 2, 1)]  # fmt: skip

    def bounds(query: Query) -> Mapping[str, str]:
        return {"enddatetime": query.horizon.astimezone(UTC).strftime("%Y%m%d%H%M%S"), "maxrecords": "250"}

    def public_from(row: Row) -> str:
        return datetime.strptime(str(row["seendate"]), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat()

    return KitSource(simple("compact", read, bounds), rows, as_json("articles"), public_from)


def deletions() -> KitSource:
    """A row that is deleted later stays, with the day of its deletion and without its text."""

    def read(body: bytes, query: Query) -> Iterator[Record]:
        for row in rows_in(body, "rows"):
            deleted, made = parse_rfc3339(row.get("deleted_at")), record_of(row, parse_rfc3339(row.get("at")))
            is_known = "deleted_at" in row and (row["deleted_at"] is None or deleted is not None)
            yield made._replace(revised_at=deleted, available_at=made.available_at if is_known else None)

    rows = [{"id": f"d{n}", "at": f"2024-02-1{n}T12:00:00Z", "title": f"Row {n}" if n != 3 else "",
             "deleted_at": "2024-02-17T09:00:00Z" if n == 3 else None} for n in (5, 4, 3, 2, 1)]  # fmt: skip
    return KitSource(simple("deletions", read), rows, as_json("rows"),
                     lambda row: str(row["deleted_at"] or row["at"]))  # fmt: skip


def clocks_of_day() -> KitSource:
    """A dump whose rows are grouped by day: the clock is the row's, the day its group's."""

    def read(body: bytes, query: Query) -> Iterator[Record]:
        for group in rows_in(body, "days"):
            for row in group["rows"] if isinstance(group.get("rows"), list) else ():
                if isinstance(row, dict):
                    stamp = parse_wall_clock(f"{group.get('day')} {row.get('clock')}", NEW_YORK)
                    yield record_of(row, stamp)

    rows = [
        {"id": f"g{n}", "day": f"2024-02-1{n}", "clock": f"1{n}:30:0{n}", "title": f"Row {n}"} for n in (5, 4, 3, 2)
    ]

    def body(rows: list[Row], **meta: Any) -> bytes:
        groups: dict[Any, list[Row]] = {}
        for row in rows:
            groups.setdefault(row.get("day"), []).append({key: row[key] for key in row if key != "day"})
        return json.dumps({"days": [{"day": day, "rows": rows} for day, rows in groups.items()]}).encode()

    return KitSource(simple("grouped", read), rows, body, lambda row: f"{row['day']}T{row['clock']}-05:00",
                     zone="America/New_York",
                     recording={"stamps": {"day clock": Form("%Y-%m-%d %H:%M:%S")}})  # fmt: skip


AWKWARD = {
    "trees": trees,
    "slices": slices,
    "relays": relays,
    "relays on pages": lambda: relays(serves_pages=True),
    "twins": twins,
    "two records of a row": pairs_of_one_instant,
    "maps by day": maps,
    "compact ISO": compact,
    "deletions": deletions,
    "days around clocks": clocks_of_day,
}
