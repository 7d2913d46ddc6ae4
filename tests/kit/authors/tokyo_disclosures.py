"""Tokyo disclosures: the day as 20240215, the clock as the number HHMMSS, in Japan's time; odd names for paging."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.paging import numbered
from pit_fetch.provider import Context, Dating, Field, Host, Operation, Page, Provider, Query, Record
from pit_fetch.times import wall_clock
from pit_fetch.wire import body_of, rows_in

HOST = "Disclosures"
SIZE = 40
TOKYO = ZoneInfo("Asia/Tokyo")


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(start: int) -> list[Record]:
        asked = {"$top": str(SIZE), "$skip": str(start)}
        body = body_of(context.http.get(HOST, "/disclosures", asked), HOST)
        return [] if body is None else list(read(body, query))

    yield from numbered(page, size=SIZE, step=SIZE, newest_first=True)


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from (record(row) for row in rows_in(body, "items"))


def record(row: dict[str, Any]) -> Record:
    number, name, title = row.get("no"), row.get("company"), row.get("title")
    return Record(
        id=str(number) if type(number) is int else "",
        available_at=stamp(row.get("discDate"), row.get("discTime")),
        payload={"company": name if isinstance(name, str) else "", "title": title if isinstance(title, str) else ""},
    )


def stamp(day: object, clock: object) -> datetime | None:
    if not isinstance(day, str) or type(clock) is not int or not 0 <= clock <= 235959:
        return None
    try:
        return wall_clock(datetime.strptime(f"{day} {clock:06}", "%Y%m%d %H%M%S"), TOKYO)
    except ValueError:
        return None


PROVIDER = Provider(
    name="kit-tokyo-disclosures",
    summary="disclosures in Tokyo",
    hosts=(Host(HOST, "https://disclosures.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="its time of disclosure in Tokyo"),
            fields=(Field("company"), Field("title")),
        ),
    ),
    page_size=SIZE,
)
