"""A provider of a made-up source that restates its figures: each row is a version, on numbered pages, by POST."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Archiving,
    Bearer,
    Context,
    Credential,
    Field,
    Host,
    Operation,
    Page,
    Provider,
    Query,
    Record,
    UpstreamError,
)
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import rows_in

HOST = "Figures"
PAGE_SIZE = 10
# Q1 was restated twice, Q2 once, a minute after its first version; Q3 stands as it was announced.
ROWS = [
    {"period": "Q1", "value": "1.0", "announced": "2024-02-01T09:00:00-05:00", "revised": None},
    {"period": "Q2", "value": "2.0", "announced": "2024-02-05T09:00:00-05:00", "revised": None},
    {"period": "Q1", "value": "1.1", "announced": "2024-02-10T09:00:00-05:00", "revised": None},
    {"period": "Q1", "value": "1.2", "announced": "2024-02-10T09:00:00-05:00", "revised": "2024-02-20T09:00:00-05:00"},
    {"period": "Q2", "value": "2.5", "announced": "2024-02-05T09:01:00-05:00", "revised": None},
    {"period": "Q3", "value": "3.0", "announced": "2024-02-15T09:00:00-05:00", "revised": None},
]
REPLY = json.dumps({"figures": ROWS}).encode()


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(number: int) -> list[Record]:
        return list(read(ask(query, context, number), query))

    yield from numbered(page, size=PAGE_SIZE, first=1)


def ask(query: Query, context: Context, number: int) -> bytes:
    asked = {"filter": [{"field": "announced", "until": query.horizon.isoformat()}], "page": number}
    reply = context.http.post(HOST, "/v1/search", asked, repeatable=True)
    if reply.status != 200:
        raise UpstreamError(Code.HTTP_STATUS, host=HOST, status=reply.status)
    return reply.body


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from map(record, rows_in(body, "figures"))


def record(row: dict[str, Any]) -> Record:
    period, value, revised = row.get("period"), row.get("value"), parse_rfc3339(row.get("revised"))
    # An unknown revision may be one from after the PIT.
    dated = "revised" in row and (row["revised"] is None or revised is not None)
    return Record(
        id=period if isinstance(period, str) else "",
        available_at=parse_rfc3339(row.get("announced")) if dated else None,
        payload={"value": value if isinstance(value, str) else ""},
        revised_at=revised,
    )


PROVIDER = Provider(
    name="kit-figures",
    summary="made-up figures, each as often as it was restated",
    hosts=(Host(HOST, "https://api.figures.example", "PIT_FETCH_KIT_FIGURES_URL", auth=Bearer("key")),),
    credentials=(Credential("key", ("KIT_FIGURES_KEY",)),),
    operations=(
        Operation(
            fetch=fetch, parse_reply=read, fields=(Field("value", "number"),), archiving=Archiving(versions=True)
        ),
    ),
    page_size=PAGE_SIZE,
)
