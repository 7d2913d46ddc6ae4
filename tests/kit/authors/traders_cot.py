"""Commitments of traders: a CSV of weekly figures for Tuesdays, released on Fridays at 15:30 New York."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from pit_fetch.gaps import Code
from pit_fetch.provider import Basis, Context, Dating, Field, Host, Operation, Provider, Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, wall_clock
from pit_fetch.wire import body_of, limited

HOST = "Traders"
RELEASE = timedelta(days=3, hours=15, minutes=30)


def fetch(query: Query, context: Context) -> Iterator[Record]:
    body = body_of(context.http.get(HOST, "/cot/current.csv", {}), HOST)
    if body is not None:
        yield from read(body, query)


def read(body: bytes, query: Query) -> Iterator[Record]:
    text = limited(body).decode("utf-8-sig", "replace")
    rows = list(csv.reader(text.splitlines()))
    if not rows or "As_of_Date_In_Form_YYMMDD" not in rows[0]:
        raise UpstreamError(Code.MALFORMED, problem="it is not the table of positions")
    header = rows[0]
    for cells in rows[1:]:
        yield record(dict(zip(header, cells)) if len(cells) == len(header) else {})


def record(row: dict[str, str]) -> Record:
    tuesday = day_of(row.get("As_of_Date_In_Form_YYMMDD", ""))
    code = row.get("Contract_Code", "").strip()
    return Record(
        id=f"{code}-{tuesday}" if code and tuesday else "",
        available_at=release_of(tuesday) if tuesday else None,
        payload={
            "market": row.get("Market", "").strip(),
            "long": number(row.get("Long", "")),
            "short": number(row.get("Short", "")),
        },
    )


def release_of(tuesday: date) -> datetime | None:
    if tuesday.weekday() != 1:
        return None
    return wall_clock(datetime(tuesday.year, tuesday.month, tuesday.day) + RELEASE, NEW_YORK)


def day_of(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%y%m%d").date() if len(text) == 6 and text.isdigit() else None
    except ValueError:
        return None


def number(text: str) -> int | None:
    text = text.strip().replace(",", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


PROVIDER = Provider(
    name="kit-traders-cot",
    summary="positions of traders",
    hosts=(Host(HOST, "https://cot.traders.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(
                rule="the Friday after its Tuesday, 15:30 in New York",
                basis=(Basis("As_of_Date_In_Form_YYMMDD", "day", after=RELEASE),),
            ),
            fields=(Field("market"), Field("long", "integer"), Field("short", "integer")),
            caveats=lambda query: ("in a week with a holiday the figures come later than their Friday",),
        ),
    ),
)
