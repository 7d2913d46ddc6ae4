"""UK notices: JSON under "results", stamped dd/mm/yyyy HH:MM:SS in London; pages follow a bookmark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.paging import follow
from pit_fetch.provider import Context, Dating, Field, Host, Operation, Page, Provider, Query, Record
from pit_fetch.times import wall_clock
from pit_fetch.wire import body_of, lenient_json, rows_in

HOST = "Notices"
SIZE = 50
LONDON = ZoneInfo("Europe/London")


def fetch(query: Query, context: Context) -> Iterator[Page]:
    def page(bookmark: str) -> tuple[list[Record], str | None]:
        asked = {"rows": str(SIZE), "to": query.horizon.astimezone(LONDON).strftime("%d/%m/%Y")}
        if bookmark:
            asked["bookmark"] = bookmark
        body = body_of(context.http.get(HOST, "/v2/notices", asked), HOST)
        if body is None:
            return [], None
        records = list(read(body, query))
        document = lenient_json(body, rows=2)
        following = document.get("nextBookmark")
        return records, following if isinstance(following, str) and following and records else None

    yield from follow(page, "", newest_first=True)


def read(body: bytes, query: Query) -> Iterator[Record]:
    yield from (record(row) for row in rows_in(body, "results"))


def record(row: dict[str, Any]) -> Record:
    reference, title = row.get("ref"), row.get("title")
    # Without "amended", or with one that cannot be read, nothing shows since when this text has been there.
    is_amended, amended = row.get("amended", "") is not None, stamp(row.get("amended"))
    return Record(
        id=reference if isinstance(reference, str) else "",
        available_at=None if is_amended and amended is None else stamp(row.get("published")),
        revised_at=amended,
        payload={
            "title": title if isinstance(title, str) else "",
            "value": row["value"] if type(row.get("value")) in (int, float) else None,
        },
    )


def stamp(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        return wall_clock(datetime.strptime(text, "%d/%m/%Y %H:%M:%S"), LONDON)
    except ValueError:
        return None


PROVIDER = Provider(
    name="kit-uk-notices",
    summary="notices of the gazette",
    hosts=(Host(HOST, "https://notices.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="its time of publication in London"),
            fields=(Field("title"), Field("value", "number")),
        ),
    ),
    page_size=SIZE,
)
