"""Registry: JSON Lines, the day as three numbers and the clock as text, in Warsaw."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.provider import Context, Dating, Field, Host, Operation, Provider, Query, Record, UpstreamError
from pit_fetch.times import parse_wall_clock
from pit_fetch.wire import body_of, record_in

HOST = "Registry"
WARSAW = ZoneInfo("Europe/Warsaw")


def fetch(query: Query, context: Context) -> Iterator[Record]:
    body = body_of(context.http.get(HOST, "/export.jsonl", {}), HOST)
    if body is not None:
        yield from read(body, query)


def read(body: bytes, query: Query) -> Iterator[Record]:
    for line in body.split(b"\n"):
        if line.strip():
            yield record(row_of(line))


def row_of(line: bytes) -> dict[str, Any]:
    try:
        return record_in(line)
    except UpstreamError:
        return {}


def record(row: dict[str, Any]) -> Record:
    number, name = row.get("krs"), row.get("name")
    return Record(
        id=f"{number}/{row['seq']}" if isinstance(number, str) and type(row.get("seq")) is int else "",
        available_at=stamp(row.get("y"), row.get("m"), row.get("d"), row.get("at")),
        payload={"name": name if isinstance(name, str) else "", "krs": number if isinstance(number, str) else ""},
    )


def stamp(year: object, month: object, day: object, clock: object) -> datetime | None:
    if not (type(year) is type(month) is type(day) is int):
        return None
    return parse_wall_clock(f"{year:04}-{month:02}-{day:02} {clock}", WARSAW)


PROVIDER = Provider(
    name="kit-registry-lines",
    summary="entries of the registry",
    hosts=(Host(HOST, "https://registry.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="when the entry was shown, in Warsaw"),
            fields=(Field("name"), Field("krs")),
        ),
    ),
)
