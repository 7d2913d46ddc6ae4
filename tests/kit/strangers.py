"""Honest providers in the manner of somebody who has read the guide and not the kit: each written in its own way.

positions  a weekly report by a calendar of releases: Tuesday's figures, public on Friday at 15:30 New York
gazette    notices of London days, ``dd/mm/yyyy``, in pages that are called so
auctions   a day and a clock in two fields, beside a unit that is the same in each reply
bulletins  RSS whose dates name no zone
history    the revisions of one page, whose id stands beside them
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import Basis, Dating, Field, Host, Operation, Option, Provider, Query, Record
from pit_fetch.testing import Form, Pages
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339, parse_wall_clock, wall_clock
from pit_fetch.wire import body_of, lenient_json, rows_in
from tests.kit.honest import KitSource, Row, as_json

LONDON = ZoneInfo("Europe/London")


def _host(name: str) -> tuple[Host, ...]:
    return (Host(name, "https://api.stranger.example", "PIT_FETCH_KIT_URL"),)


# --- positions

RELEASE = timedelta(days=3, hours=15, minutes=30)


def released(tuesday: object) -> datetime | None:
    """Return the Friday after a Tuesday, at 15:30 New York."""
    day = parse_date(tuesday)
    if day is None or day.weekday() != 1 or day.year > 2100:
        return None
    return wall_clock(datetime(day.year, day.month, day.day) + RELEASE, NEW_YORK)  # noqa: DTZ001


def position(row: Row, query: Query) -> Record:
    long = row.get("long")
    return Record(
        id=row["report"] if isinstance(row.get("report"), str) else "",
        available_at=released(row.get("as_of")),
        payload={
            "as_of": row["as_of"] if isinstance(row.get("as_of"), str) else "",
            "long": long if type(long) is int else None,
        },
    )


def positions(record: Any = position) -> KitSource:
    def parse(body: bytes, query: Query) -> Any:
        for row in rows_in(body, "results"):
            yield record(row, query)

    def fetch(query: Query, context: Any) -> Any:
        body = body_of(context.http.get("Positions", "/cot"), "Positions")
        if body:
            yield from parse(body, query)

    provider = Provider(
        "kit-positions", "positions of traders", hosts=_host("Positions"),
        operations=(Operation(
            fetch=fetch, parse_reply=parse,
            dating=Dating(rule="Friday 15:30 New York after the Tuesday that it is of",
                          basis=(Basis("as_of", "day", after=RELEASE),)),
            window="as_of",
            fields=(Field("as_of", "date"), Field("long", "integer")),
        ),),
    )  # fmt: skip
    rows = [{"report": f"gold-{n}", "as_of": f"2024-0{m}-{d}", "long": 2_000 + n}
            for n, (m, d) in enumerate([("2", "20"), ("2", "13"), ("2", "06"), ("1", "30"), ("1", "23")])]  # fmt: skip
    return KitSource(
        provider, rows, as_json("results"), lambda row: str(released(row["as_of"]) or ""), zone="America/New_York"
    )


# --- gazette


def london_day(value: object) -> datetime | None:
    parts = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", value) if isinstance(value, str) else None
    try:
        day = datetime(int(parts[3]), int(parts[2]), int(parts[1])) if parts else None  # noqa: DTZ001
        return end_of_day(day.date(), LONDON) if day else None
    except (ValueError, OverflowError):
        return None


def entry(row: Row, query: Query) -> Record:
    number = row.get("id")
    headline = row.get("heading")
    return Record(
        str(number) if isinstance(number, int) and not isinstance(number, bool) else "",
        london_day(row.get("date")),
        {"heading": headline if isinstance(headline, str) else None},
    )


def gazette(
    record: Any = entry, size: Any = lambda query: 25, name: str = "hitsPerPage", most: int | None = None
) -> KitSource:
    def parse(body: bytes, query: Query) -> Any:
        return (record(row, query) for row in rows_in(body, "pages"))

    def fetch(query: Query, context: Any) -> Any:
        def page(number: int) -> list[Record]:
            reply = context.http.get("Gazette", "/notices", {"page": str(number), name: str(size(query))})
            return [] if (body := body_of(reply, "Gazette")) is None else list(parse(body, query))

        yield from numbered(page, size=size(query), first=1, most=most)

    operation = Operation(
        fetch=fetch, parse_reply=parse, dating=Dating(rule="the end of the London day"), fields=(Field("heading"),)
    )
    hosts = _host("Gazette")
    provider = Provider("kit-gazette", "official notices", hosts=hosts, operations=(operation,), page_size=25)
    rows: list[Row] = [{"id": 4_700 + n, "date": f"{d}/02/2024", "heading": f"Notice of {d}"}
                       for n, d in ((5, "19"), (4, "16"), (3, "13"), (2, "09"), (1, "05"))]  # fmt: skip

    def public_from(row: Row) -> str:
        return str(london_day(row["date"]) or "")

    recording = {"pages": Pages(size="hitsPerPage", number="page"), "stamps": {"date": Form("%d/%m/%Y")}}
    return KitSource(provider, rows, as_json("pages"), public_from, zone="Europe/London", recording=recording)


# --- auctions


def auction(row: Row, unit: object, query: Query) -> Record:
    price = row.get("price")
    day, clock = row.get("day"), row.get("clock")
    return Record(
        f"{day}#{row.get('lot')}" if isinstance(day, str) and isinstance(row.get("lot"), int) else "",
        parse_wall_clock(f"{day} {clock}", NEW_YORK) if isinstance(clock, str) else None,
        {"price": price if isinstance(price, float) else None, "unit": unit if isinstance(unit, str) else None},
    )


def auctions(record: Any = auction) -> KitSource:
    def parse(body: bytes, query: Query) -> Any:
        document = lenient_json(body, rows=2)
        if not isinstance(document, dict) or not isinstance(document.get("items"), list):
            raise UpstreamError(Code.MALFORMED, problem="it has no items")
        for item in document["items"]:
            yield record(item if isinstance(item, dict) else {}, document.get("unit"), query)

    def fetch(query: Query, context: Any) -> Any:
        reply = context.http.get("Auctions", "/v1/auctions")
        if reply.status == 404:
            return
        if reply.status != 200:
            raise UpstreamError(Code.HTTP_STATUS, host="Auctions", status=reply.status)
        yield from parse(reply.body, query)

    provider = Provider(
        "kit-auctions",
        "results of auctions",
        hosts=_host("Auctions"),
        operations=(Operation(fetch=fetch, parse_reply=parse, dating=Dating(rule="when it was held")),),
    )
    rows: list[Row] = [
        {"lot": 31 + n, "day": f"2024-02-1{n}", "clock": f"1{n}:0{n}", "price": 99.5 + n} for n in (5, 4, 3, 2, 1)
    ]
    return KitSource(
        provider, rows, lambda rows, **meta: as_json("items")(rows, unit="USD", **meta),
        lambda row: f"{row['day']}T{row['clock']}:59.999-05:00", zone="America/New_York",
        recording={"fields": {"unit": "constant"}, "stamps": {"day clock": Form("%Y-%m-%d %H:%M")}},
    )  # fmt: skip


# --- bulletins


def bulletin_time(value: object) -> datetime | None:
    try:
        return wall_clock(datetime.strptime(value or "", "%a, %d %b %Y %H:%M:%S"), LONDON)  # type: ignore[arg-type] # noqa: DTZ007
    except (ValueError, TypeError, OverflowError):
        return None


def bulletin(item: Any, query: Query) -> Record:
    return Record(
        item.findtext("link") or "", bulletin_time(item.findtext("pubDate")), {"title": item.findtext("title") or ""}
    )


def bulletins(record: Any = bulletin) -> KitSource:
    def parse(body: bytes, query: Query) -> Any:
        try:
            channel = ElementTree.fromstring(body).find("channel")
        except (ElementTree.ParseError, ValueError, RecursionError):
            channel = None
        if channel is None:
            raise UpstreamError(Code.MALFORMED, problem="it has no channel")
        return [record(item, query) for item in channel.findall("item")]

    def fetch(query: Query, context: Any) -> Any:
        body = body_of(context.http.get("Bulletins", "/feed"), "Bulletins")
        yield from parse(body, query) if body is not None else ()

    provider = Provider(
        "kit-bulletins", "bulletins", (Operation(fetch=fetch, parse_reply=parse),), hosts=_host("Bulletins")
    )
    days = ("Mon", "Tue", "Wed", "Thu")
    rows: list[Row] = [
        {"title": f"Bulletin {n}", "link": f"https://bulletins.example/{n}",
         "pubDate": f"{days[n - 1]}, {11 + n} Feb 2024 09:0{n}:00"}
        for n in (4, 3, 2, 1)
    ]  # fmt: skip

    def body(rows: list[Row], **meta: Any) -> bytes:
        rss = ElementTree.Element("rss")
        channel = ElementTree.SubElement(rss, "channel")
        ElementTree.SubElement(channel, "title").text = "Bulletins"
        for row in rows:
            item = ElementTree.SubElement(channel, "item")
            for key, value in row.items():
                ElementTree.SubElement(item, key).text = None if value is None else str(value)
        return bytes(ElementTree.tostring(rss))

    def public_from(row: Row) -> str:
        return str(bulletin_time(row["pubDate"]) or "")

    return KitSource(provider, rows, body, public_from, zone="Europe/London")


# --- history


def revision(row: Row, page: Any, query: Query) -> Record:
    changed = parse_rfc3339(row.get("timestamp"))
    return Record(
        id=f"{page}:{row['revid']}" if isinstance(row.get("revid"), int) and isinstance(page, int) else "",
        available_at=changed,
        payload={"comment": row["comment"] if isinstance(row.get("comment"), str) else ""},
    )


def history(record: Any = revision) -> KitSource:
    def parse(body: bytes, query: Query) -> Any:
        document = lenient_json(body, rows=3)
        results = document.get("results") if isinstance(document, dict) else None
        if not isinstance(results, dict) or not isinstance(results.get("revisions"), list):
            raise UpstreamError(Code.MALFORMED, problem="it has no revisions")
        yield from (
            record(row if isinstance(row, dict) else {}, results.get("id"), query) for row in results["revisions"]
        )

    def fetch(query: Query, context: Any) -> Any:
        body = body_of(context.http.get("History", "/page", {"title": query.options["title"] or ""}), "History")
        if body is not None:
            yield from parse(body, query)

    provider = Provider(
        "kit-history",
        "revisions of a page",
        (Operation(fetch=fetch, parse_reply=parse),),
        hosts=_host("History"),
        options=(Option("title", "the page", positional="one"),),
    )
    rows: list[Row] = [
        {"revid": 880 + n, "timestamp": f"2024-02-1{n}T10:00:0{n}Z", "comment": f"Edit {n}"} for n in (5, 4, 3, 2, 1)
    ]

    def body(rows: list[Row], **meta: Any) -> bytes:
        return as_json("results")({"id": 736, "title": "Gold", "revisions": rows}, **meta)

    return KitSource(provider, rows, body, lambda row: str(row["timestamp"]), options={"title": "Gold"})
