"""Honest sources of what goes on living: items whose counters grow, and lists that are as they are today."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pit_fetch.provider import Context, Dating, Field, Operation, Provider, Query, Record
from pit_fetch.testing import HttpRequest, Response
from pit_fetch.wire import body_of, lenient_json, rows_in
from tests.kit.honest import KitSource, MakeRecord, Row, as_json, host, name_of, seconds, text

# --- threads of a forum, which readers go on rating

THREADS = [
    {"id": 500 + n, "created_at": 1_707_900_000 + 20_000 * n, "title": f"Thread {n}", "points": 40 + n,
     "num_comments": 9 - n, "likes": str(7 * n), "stats": {"views": 900 + n}}
    for n in (5, 4, 3, 2, 1)
]  # fmt: skip


def thread(row: Row, query: Query) -> Record:
    return Record(name_of(row), seconds(row.get("created_at")), {"title": text(row.get("title"))})


def bounded(query: Query) -> Mapping[str, str]:
    return {"before": str(int(query.horizon.timestamp())), "hits": "20"}


def threads(
    record: MakeRecord = thread,
    params: Callable[[Query], Mapping[str, str]] = bounded,
    body: Callable[[Query], Any] | None = None,
) -> KitSource:
    """Make the source with ``params`` in its request, or a ``body`` that is posted."""

    def read(reply: bytes, query: Query) -> Iterator[Record]:
        yield from [record(row, query) for row in rows_in(reply, "hits")]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        if body is None:
            reply = context.http.get("Threads", "/search", params(query))
        else:
            reply = context.http.post("Threads", "/search", body(query), repeatable=True)
        found = body_of(reply, "Threads")
        yield from read(found, query) if found is not None else ()

    def counted(pit: datetime) -> Iterator[tuple[str, bytes]]:
        grown = [
            {**row, "points": 500, "num_comments": 77, "likes": "999", "stats": {"views": 1_000_000}} for row in THREADS
        ]
        yield "rated since", as_json("hits")(grown)

    provider = Provider(
        "kit-threads",
        "threads of a forum",
        hosts=host("Threads"),
        operations=(
            Operation(
                fetch=fetch, parse_reply=read, dating=Dating(rule="when it was posted"), fields=(Field("title"),)
            ),
        ),
    )
    return KitSource(
        provider,
        THREADS,
        as_json("hits"),
        lambda row: datetime.fromtimestamp(row["created_at"], UTC).isoformat(),
        live=_search,
        also=counted,
    )


def _search(reply: bytes, request: HttpRequest) -> Response:
    """Answer as the forum does: by the counters of today, its newest threads first, as many as are asked for."""
    asked = {**request.params, **json.loads(request.body or b"{}")}
    rows = [row for row in json.loads(reply)["hits"] if isinstance(row, dict)]
    if before := asked.get("before"):
        rows = [row for row in rows if (row.get("created_at") or 0) <= int(str(before))]
    least = re.search(r"\d+", str(asked.get("min_points") or asked.get("numericFilters") or asked.get("range") or ""))
    rows = [row for row in rows if not least or (row.get("points") or 0) >= int(least[0])]
    by = "points" if "sort" in asked else "created_at"
    rows.sort(key=lambda row: row.get(by) or 0, reverse=True)
    size = asked.get("hits") or asked.get("size") or len(rows)
    return Response(json.dumps({"hits": rows[: int(str(size))]}).encode())


# --- deals of companies, whose names and ratings are in a list of today

COMPANIES = [{"symbol": "ACME", "name": "Acme", "rating": "good", "staff": 120}]
FILED = [
    {"id": 600 + n, "filed_at": f"2024-02-1{n}T09:00:00-05:00", "title": f"Filing {n}", "symbol": "ACME"}
    for n in (5, 4, 3, 2, 1)
]


def listed(join: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda company: {}) -> KitSource:
    """Make the source with what ``join(company)`` returns in each payload."""

    def read(reply: bytes, query: Query, company: Mapping[str, Any] = {}) -> Iterator[Record]:
        from pit_fetch.times import parse_rfc3339

        for row in rows_in(reply, "filings"):
            payload = {"title": text(row.get("title")), **join(company)}
            yield Record(name_of(row), parse_rfc3339(row.get("filed_at")), payload)

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        companies = list(rows_in(body_of(context.http.get("Listed", "/companies"), "Listed") or b"[]", "companies"))
        company = companies[0] if companies else {}
        symbol = company.get("symbol")
        params = {"symbol": symbol if isinstance(symbol, str) else "", "until": query.horizon.isoformat()}
        reply = body_of(context.http.get("Listed", "/filings", params), "Listed")
        yield from read(reply, query, company) if reply is not None else ()

    def body(rows: list[Row], companies: Any = COMPANIES, **meta: Any) -> bytes:
        return json.dumps({"filings": rows, "companies": companies}).encode()

    def live(reply: bytes, request: HttpRequest) -> Response:
        document = lenient_json(reply, rows=2)
        part = "companies" if request.path == "/companies" else "filings"
        return Response(json.dumps({part: document[part]}).encode())

    def renamed(pit: datetime) -> Iterator[tuple[str, bytes]]:
        yield "renamed since", body(FILED, [{**COMPANIES[0], "name": "Acme Plus", "rating": "poor", "staff": 3}])

    provider = Provider(
        "kit-listed", "filings of a company", hosts=host("Listed"),
        operations=(Operation(fetch=fetch, parse_reply=read, dating=Dating(rule="when it was filed")),),
    )  # fmt: skip
    return KitSource(
        provider, FILED, body, lambda row: str(row["filed_at"]), live=live, also=renamed,
        recording={"documents": {"/filings": {"filings": FILED}, "/companies": {"companies": COMPANIES}}},
    )  # fmt: skip
