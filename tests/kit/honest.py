"""Honest providers of many kinds, each made of a few functions, so that a leak takes the place of one of them.

``Made`` is a provider with what a test of it needs: a recorded reply, the request, a server.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pit_fetch.paging import children, follow, numbered
from pit_fetch.provider import (
    Bearer,
    Context,
    Credential,
    Field,
    File,
    HeaderKey,
    Host,
    Operation,
    Option,
    Provider,
    Query,
    QueryKey,
    Record,
    UpstreamError,
)
from pit_fetch.tables import sqlite_rows
from pit_fetch.testing import HttpRequest, Response
from pit_fetch.times import (
    NEW_YORK,
    end_of_day,
    parse_date,
    parse_rfc2822,
    parse_rfc3339,
    parse_wall_clock,
)
from pit_fetch.wire import body_of, columns_in, lenient_json, rows_in
from tests.kit import library

Row = dict[str, Any]
Serve = Callable[[bytes, HttpRequest], Response]


def _as_it_is(reply: bytes, request: HttpRequest) -> Response:
    return Response(reply)


@dataclass(frozen=True)
class Made:
    """A provider, and what its standard tests are given. ``rows`` and ``body`` make replies of other worlds.

    late  the instant from which a row was public, told by whoever knows the source and not by the provider
    """

    provider: Provider
    rows: list[Row]
    body: Callable[..., bytes]
    public_from: Callable[[Row], str]
    options: Mapping[str, Any] = field(default_factory=dict)
    zone: str = ""
    serve: Serve = _as_it_is
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reply(self) -> bytes:
        return self.body(self.rows)


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def name_of(row: Row, key: str = "id") -> str:
    value = row.get(key)
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


# --- a JSON list of articles: revisions, a key, pages with a token

NEWS = "Wire"
ARTICLES = [
    {"id": 105, "published": "2024-02-16T09:30:00-05:00", "last_updated": "2024-02-16T09:30:00-05:00",
     "title": "Gold falls", "url": "https://wire.example/5", "reads": 12, "authors": ["Ann", "Bob"],
     "comments": [{"at": "2024-02-16T10:00:00-05:00", "text": "Indeed"}]},
    {"id": 104, "published": "2024-02-15T16:00:00-05:00", "last_updated": "2024-02-17T10:00:00-05:00",
     "title": "Oil slides", "url": "https://wire.example/4", "reads": 40, "authors": [], "comments": []},
    {"id": 103, "published": "2024-02-15T11:00:00-05:00", "last_updated": "2024-02-15T11:05:00-05:00",
     "title": "Tin jumps", "url": "https://wire.example/3", "reads": 7, "authors": ["Eve"], "comments": []},
    {"id": 102, "published": "2024-02-14T08:00:00-05:00", "last_updated": "2024-02-14T08:00:00-05:00",
     "title": "Oil rises", "url": "https://wire.example/2", "reads": 31, "authors": ["Ann"],
     "comments": [{"at": "2024-02-14T09:00:00-05:00", "text": "Why?"},
                  {"at": "2024-02-18T09:00:00-05:00", "text": "See"}]},
    {"id": 101, "published": "2024-02-13T08:00:00-05:00", "last_updated": "2024-02-13T08:00:01-05:00",
     "title": "Zinc steady", "url": "https://wire.example/1", "reads": 3, "authors": [], "comments": []},
]  # fmt: skip


def article(row: Row, query: Query) -> Record:
    revised = parse_rfc3339(row.get("last_updated"))
    authors = row.get("authors")
    return Record(
        id=name_of(row),
        # Without a readable revision the text may be one from after the PIT.
        available_at=parse_rfc3339(row.get("published")) if revised else None,
        available_at_source="provider_metadata",
        payload={
            "title": text(row.get("title")),
            "url": text(row.get("url")),
            "reads": row["reads"] if type(row.get("reads")) is int else None,
            "authors": [one for one in authors if isinstance(one, str)] if isinstance(authors, list) else [],
        },
        revised_at=revised,
    )


Make = Callable[[Row, Query], Record]
Rows = Callable[[list[Row], Query, Mapping[str, Any]], Iterable[Row]]


def all_rows(rows: list[Row], query: Query, document: Mapping[str, Any]) -> Iterable[Row]:
    return rows


def news(
    record: Make = article,
    rows: Rows = all_rows,
    *,
    around: Callable[..., Any] | None = None,
    reading: Rows | None = None,
    asks: Callable[[Query], Mapping[str, str]] = lambda query: {"until": query.horizon.isoformat()},
    order: Any = None,
    **more: Any,
) -> Made:
    """``rows`` chooses of the rows of a page, ``record`` makes a record, ``around`` wraps the whole fetch."""

    def document_of(body: bytes) -> Any:
        document = lenient_json(body, rows=2)
        if not isinstance(document, dict) or not isinstance(document.get("articles"), list):
            raise UpstreamError("malformed", problem="it has no articles")
        return document

    def records(document: Any, query: Query, choose: Rows) -> list[Record]:
        every = [row if isinstance(row, dict) else {} for row in document["articles"]]
        return [record(row, query) for row in choose(every, query, document)]

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        def page(token: str) -> tuple[list[Record], str | None]:
            reply = context.http.get(NEWS, "/v1/articles", {**asks(query), "page": token})
            document = document_of(body_of(reply, NEWS) or b'{"articles": []}')
            after = document.get("next")
            return records(document, query, rows), after if isinstance(after, str) and after else None

        yield from follow(page, "", order)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from records(document_of(body), query, reading or rows)

    def select(query: Query, record: Record) -> bool:
        word = query.options["word"]
        return not word or word.casefold() in record.payload["title"].casefold()

    def body(rows: list[Row], total: int | None = None, **meta: Any) -> bytes:
        found = len(rows) if total is None else total
        stamps = [str(row.get("published")) for row in rows if isinstance(row, dict)]
        meta = {"total": found, "newest": max(stamps, default=""), **meta}
        return json.dumps({**meta, "articles": rows, "next": None}).encode()

    made = Provider(
        name="kit-news",
        summary="articles, with the time of their last revision",
        fetch=fetch if around is None else lambda query, context: around(fetch, query, context),
        parse_reply=read,
        **{
            "select": select,
            "hosts": (Host(NEWS, "https://wire.example", "PIT_FETCH_KIT_URL", auth=QueryKey("key", "apikey")),),
            "credentials": (Credential("key", ("KIT_NEWS_KEY",)),),
            "options": (
                Option("word", "articles whose title holds this word"),
                Option("sort", "in this order", choices=("date", "reads")),
                Option("full", "with everything", kind="flag"),
            ),
            "operations": (
                Operation(fields=(Field("title"), Field("url"), Field("reads", "integer"), Field("authors", "list"))),
            ),
            "page_size": 20,
            **more,
        },
    )
    return Made(made, ARTICLES, body, lambda row: max(str(row["published"]), str(row["last_updated"])))


# --- figures that are restated: every vintage is a version

FIGURES = "Figures"
VINTAGES = [
    {"date": "2023-12-31", "value": "1.0", "known": "2024-02-01", "valid_to": "2024-02-09"},
    {"date": "2023-12-31", "value": "1.1", "known": "2024-02-10", "valid_to": "2024-02-19"},
    {"date": "2023-12-31", "value": "1.2", "known": "2024-02-20", "valid_to": "9999-12-31"},
    {"date": "2023-09-30", "value": "2.0", "known": "2024-01-05", "valid_to": "2024-02-14"},
    {"date": "2023-09-30", "value": "2.5", "known": "2024-02-15", "valid_to": "9999-12-31"},
    {"date": "2023-06-30", "value": "3.0", "known": "2024-01-03", "valid_to": "9999-12-31"},
]


def vintage(row: Row, query: Query) -> Record:
    day = parse_date(row.get("known"))
    return Record(
        id=text(row.get("date")),
        available_at=end_of_day(day, NEW_YORK) if day else None,
        available_at_source="provider_metadata",
        payload={"date": text(row.get("date")), "value": text(row.get("value"))},
    )


def figures(record: Make = vintage, rows: Rows = all_rows, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        found = list(rows_in(body, "observations"))
        yield from [record(row, query) for row in rows(found, query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        asked = {"series": query.options["series"] or "X", "realtime_end": query.horizon.date().isoformat()}
        body = body_of(context.http.get(FIGURES, "/observations", asked), FIGURES)
        yield from read(body, query) if body is not None else ()

    provider = Provider(
        name="kit-vintages",
        summary="figures, each as often as it was restated",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(FIGURES, "https://figures.example", "PIT_FETCH_KIT_URL", auth=HeaderKey("key", "X-Key")),),
            "credentials": (Credential("key", ("KIT_FIGURES_KEY",)),),
            "options": (Option("series", "the series", positional="one"),),
            "operations": (
                Operation(
                    rule="the end of the day on which it became known",
                    fields=(Field("date", "date"), Field("value", "number")),
                    window="date",
                    versions=True,
                ),
            ),
            **more,
        },
    )
    return Made(
        provider,
        VINTAGES,
        lambda rows, **meta: json.dumps({"count": len(rows), **meta, "observations": rows}).encode(),
        lambda row: f"{row['known']}T23:59:59.999-05:00",
        options={"series": "GDP"},
        zone="America/New_York",
    )


# --- bars in columns, labelled with their start in the exchange's own time

BARS = "Exchange"
FIVE_MINUTES = timedelta(minutes=5)
BAR_ROWS = [
    {"t": f"2024-02-15 15:{minute:02}:00", "o": 10.0 + n, "h": 12.0 + n, "l": 9.0 + n, "c": 11.0 + n, "v": 100 * n + 7}
    for n, minute in enumerate((30, 35, 40, 45, 50, 55))
]


def bar(row: Row, query: Query) -> Record:
    start = parse_wall_clock(row.get("t"), NEW_YORK)
    prices = {name: row.get(short) for name, short in (("open", "o"), ("high", "h"), ("low", "l"), ("close", "c"))}
    return Record(
        id=text(row.get("t")),
        available_at=start + FIVE_MINUTES if start and start.year < 9999 else None,
        available_at_source="time_series_timestamp",
        payload={**{name: value if type(value) in (int, float) else None for name, value in prices.items()}},
    )


def bars(record: Make = bar, rows: Rows = all_rows, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        found = list(columns_in(body, "t", "o", "h", "l", "c", "v"))
        yield from [record(row, query) for row in rows(found, query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(BARS, "/bars", {"symbol": query.options["symbol"] or ""}), BARS)
        yield from read(body, query) if body is not None else ()

    def body(rows: list[Row], **meta: Any) -> bytes:
        names = list(dict.fromkeys(name for row in rows for name in row)) or ["t", "o", "h", "l", "c", "v"]
        return json.dumps({"s": "ok", **meta, **{name: [row.get(name) for row in rows] for name in names}}).encode()

    provider = Provider(
        name="kit-bars",
        summary="bars of five minutes",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(BARS, "https://exchange.example", "PIT_FETCH_KIT_URL"),),
            "options": (Option("symbol", "the symbol", positional="one", uppercase=True),),
            "operations": (
                Operation(
                    rule="the end of the bar",
                    fields=tuple(Field(name, "number") for name in ("open", "high", "low", "close")),
                ),
            ),
            **more,
        },
    )
    return Made(
        provider,
        BAR_ROWS,
        body,
        lambda row: (datetime.fromisoformat(str(row["t"]) + "-05:00") + FIVE_MINUTES).isoformat(),
        options={"symbol": "ACME"},
        zone="America/New_York",
        attributes={"recorded_at": "2024-02-16T00:00:00Z"},
    )


# --- calls: a list of events, and a page for each with its text

CALLS = "Calls"
EVENTS = [
    {"id": f"Q{n}", "call_start": f"2024-02-{10 + n} 09:00", "ready": f"2024-02-{10 + n} 18:{n}0",
     "text": f"Good morning {n}", "edited": f"2024-02-{10 + n} 19:30" if n != 2 else "2024-02-19 08:15"}
    for n in (5, 4, 3, 2, 1)
]  # fmt: skip


def transcript(event: Row, page: Row | None, query: Query) -> Record:
    edited = parse_wall_clock((page or {}).get("edited"), NEW_YORK)
    return Record(
        id=name_of(event),
        available_at=parse_wall_clock(event.get("ready"), NEW_YORK) if edited else None,
        available_at_source="provider_metadata",
        payload={"text": text((page or {}).get("text"))},
        revised_at=edited,
    )


def calls(record: Callable[[Row, Row | None, Query], Record] = transcript, rows: Rows = all_rows, **more: Any) -> Made:
    child = more.pop("child", None)

    def events_of(body: bytes, query: Query) -> list[Row]:
        found = list(rows_in(body, "events"))
        return list(rows(found, query, {"count": len(found)}))

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(CALLS, "/events", {"symbol": query.options["symbol"] or ""}), CALLS)
        if body is None:
            return

        def page(event: Row) -> Row | None:
            if not name_of(event):
                return None
            found = body_of(context.http.get(CALLS, f"/events/{name_of(event)}"), CALLS)
            document = None if found is None else lenient_json(found, rows=0)
            return document if isinstance(document, dict) else None

        for event, found in children(events_of(body, query), child or page):
            yield record(event, found, query)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        """A saved list shows no texts, and so nothing that could be dated."""
        yield from [record(event, None, query) for event in events_of(body, query)]

    def serve(reply: bytes, request: HttpRequest) -> Response:
        try:
            document = json.loads(reply)
        except (ValueError, RecursionError):
            return Response(reply)
        rows = document.get("events") if isinstance(document, dict) else None
        if request.path == "/events" or not isinstance(rows, list):
            if isinstance(rows, list):
                kept = [{k: v for k, v in row.items() if k not in ("text", "edited")} if isinstance(row, dict) else row
                        for row in rows]  # fmt: skip
                document = {**document, "events": kept}
            return Response(json.dumps(document).encode())
        wanted = request.path.rpartition("/")[2]
        for row in rows:
            if isinstance(row, dict) and str(row.get("id")) == wanted and row.get("text") is not None:
                return Response(json.dumps({k: v for k, v in row.items() if k in ("text", "edited")}).encode())
        return Response(b"{}", 404)

    provider = Provider(
        name="kit-calls",
        summary="transcripts of calls",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(CALLS, "https://calls.example", "PIT_FETCH_KIT_URL", auth=Bearer("key")),),
            "credentials": (Credential("key", ("KIT_CALLS_KEY",)),),
            "options": (Option("symbol", "the symbol", positional="one", uppercase=True),),
            "operations": (Operation(rule="when the transcript was ready", fields=(Field("text"),)),),
            **more,
        },
    )
    return Made(
        provider,
        EVENTS,
        lambda rows, **meta: json.dumps({"count": len(rows), **meta, "events": rows}).encode(),
        lambda row: max(str(row["ready"]), str(row["edited"])).replace(" ", "T") + ":59.999-05:00",
        options={"symbol": "ACME"},
        zone="America/New_York",
        serve=serve,
    )


# --- filings in a local SQLite file

FILINGS = [
    {"id": f"F{n}", "form": "8-K", "accepted": f"2024-02-1{n}T17:0{n}:00-05:00",
     "amended": "2024-02-19T09:00:00-05:00" if n == 2 else None, "issuer": f"Issuer {n}", "size": 1000 + n}
    for n in (5, 4, 3, 2, 1)
]  # fmt: skip
FILE = File("filings", "PIT_FETCH_KIT_FILE", "Build it with the loader.")
SELECT = "SELECT * FROM filings"


def filing(row: Row, query: Query) -> Record:
    amended = row.get("amended")
    revised = parse_rfc3339(amended)
    dated = "amended" in row and (amended is None or revised is not None)
    return Record(
        id=name_of(row),
        available_at=parse_rfc3339(row.get("accepted")) if dated else None,
        available_at_source="edgar_accepted",
        payload={"form": text(row.get("form")), "issuer": text(row.get("issuer"))},
        revised_at=revised,
    )


def filings(record: Make = filing, rows: Rows = all_rows, select: str = SELECT, **more: Any) -> Made:
    def made(source: str | bytes, query: Query) -> Iterator[Record]:
        found = list(sqlite_rows(source, select))
        yield from [record(row, query) for row in rows(found, query, {})]

    def body(rows: list[Row], **meta: Any) -> bytes:
        with sqlite3.connect(":memory:") as database:
            columns = "id, form, accepted, amended, issuer, size"
            database.execute(f"CREATE TABLE filings ({columns})")
            for row in rows:
                database.execute(
                    "INSERT INTO filings VALUES (?, ?, ?, ?, ?, ?)", [row.get(c) for c in columns.split(", ")]
                )
        return bytes(database.serialize())

    provider = Provider(
        name="kit-filings",
        summary="filings of a local database",
        fetch=lambda query, context: made(context.file("filings"), query),
        parse_reply=made,
        **{
            "files": (FILE,),
            "operations": (Operation(rule="when it was accepted", fields=(Field("form"), Field("issuer"))),),
            **more,
        },
    )
    return Made(provider, FILINGS, body, lambda row: max(str(row["accepted"]), str(row["amended"] or "")))


# --- a search asked with POST, by offset, with two operations

SEARCH = "Search"
HITS = [
    {"key": f"k{n}", "kind": "note" if n % 2 else "memo", "posted": 1_707_900_000 + 20_000 * n,
     "displayTime": 1_707_900_000 + 20_000 * n + (90_000 if n == 2 else 0), "headline": f"Alpha {n}", "score": 1.0 / n}
    for n in (1, 3, 2, 5, 4)
]  # fmt: skip


def hit(row: Row, query: Query) -> Record:
    posted, shown = (seconds(row.get(name)) for name in ("posted", "displayTime"))
    return Record(
        id=name_of(row, "key"),
        available_at=posted if shown else None,
        available_at_source="provider_metadata",
        payload={"headline": text(row.get("headline")), "kind": text(row.get("kind"))},
        revised_at=shown,
    )


def seconds(value: object) -> datetime | None:
    from datetime import UTC

    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**11
    return datetime.fromtimestamp(value, UTC) if usable else None  # type: ignore[arg-type]


def search(record: Make = hit, rows: Rows = all_rows, **more: Any) -> Made:
    size, most = more.pop("size", lambda query: 20), more.pop("most", None)

    def document_of(body: bytes) -> Any:
        document = lenient_json(body, rows=3)
        result = document.get("result") if isinstance(document, dict) else None
        if not isinstance(result, dict) or not isinstance(result.get("hits"), list):
            raise UpstreamError("malformed", problem="it has no hits")
        return result

    def read(body: bytes, query: Query) -> Iterator[Record]:
        result = document_of(body)
        every = [row if isinstance(row, dict) else {} for row in result["hits"]]
        yield from [record(row, query) for row in rows(every, query, result)]

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        def page(offset: int) -> list[Record]:
            asked = {
                "query": query.options["query"] or "",
                "index": query.operation.name,
                "range": {"posted": {"lte": int(query.horizon.timestamp())}},
                "from": offset,
                "size": size(query),
            }
            reply = context.http.post(SEARCH, "/v2/search", asked, repeatable=True)
            return list(read(body_of(reply, SEARCH) or b'{"result": {"hits": []}}', query))

        yield from numbered(page, size=size(query), step=size(query), most=most)

    fields = (Field("headline"), Field("kind"))
    provider = Provider(
        name="kit-search",
        summary="a search engine",
        fetch=fetch,
        parse_reply=read,
        **{
            "select": lambda query, record: query.options["kind"] in (None, record.payload["kind"]),
            "hosts": (Host(SEARCH, "https://search.example", "PIT_FETCH_KIT_URL", auth=Bearer("key")),),
            "credentials": (Credential("key", ("KIT_SEARCH_KEY",)),),
            "options": (
                Option("op", "what to search"),
                Option("query", "words"),
                Option("kind", "of this kind", choices=("note", "memo")),
            ),
            "operations": tuple(
                Operation(name, rule="when it was posted", takes=("query", "kind"), fields=fields)
                for name in ("notes", "memos")
            ),
            "page_size": 20,
            **more,
        },
    )
    return Made(
        provider,
        HITS,
        lambda rows, total=None, **meta: json.dumps(
            {"took": 3, **meta, "result": {"total": {"value": len(rows) if total is None else total}, "hits": rows}}
        ).encode(),
        lambda row: datetime.fromtimestamp(max(row["posted"], row["displayTime"]), NEW_YORK).isoformat(),
        options={"op": "notes", "query": "alpha"},
    )


# --- one record to a reply: a page of a company, which is revised

PROFILE = "Profiles"
PROFILE_ROWS = [{"symbol": "ACME", "name": "Acme Inc", "listed": "2001-05-03", "asOf": "2024-02-15", "employees": 500}]


def profile(row: Row, query: Query) -> Record:
    day = parse_date(row.get("asOf"))
    return Record(
        id=text(row.get("symbol")),
        available_at=end_of_day(day, NEW_YORK) if day else None,
        available_at_source="provider_metadata",
        payload={
            "name": text(row.get("name")),
            "employees": row["employees"] if type(row.get("employees")) is int else 0,
        },
    )


def profiles(record: Make = profile, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        row = lenient_json(body, rows=0)
        if row is None or isinstance(row, dict):
            yield record(row or {}, query)
        else:
            raise UpstreamError("malformed", problem="it is not a profile")

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(PROFILE, "/profile", {"symbol": query.options["symbol"] or ""}), PROFILE)
        yield from read(body, query) if body is not None else ()

    provider = Provider(
        name="kit-profile",
        summary="a company's page",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(PROFILE, "https://profiles.example", "PIT_FETCH_KIT_URL"),),
            "options": (Option("symbol", "the symbol", positional="one", uppercase=True),),
            "operations": (Operation(rule="the end of asOf", fields=(Field("name"), Field("employees", "integer"))),),
            **more,
        },
    )
    return Made(
        provider,
        PROFILE_ROWS,
        lambda rows, **meta: json.dumps({**rows[0], **meta} if rows else {}).encode(),
        lambda row: f"{row['asOf']}T23:59:59.999-05:00",
        options={"symbol": "ACME"},
        zone="America/New_York",
    )


# --- a feed in XML, and a table in CSV

FEED = "Feed"
ITEMS = [
    {"guid": f"g{n}", "title": f"Item {n}", "pubDate": f"{day}, {10 + n} Feb 2024 16:00:00 -0500"}
    for n, day in ((5, "Thu"), (4, "Wed"), (3, "Tue"), (2, "Mon"), (1, "Sun"))
]  # fmt: skip
ITEMS = [{**row, "pubDate": row["pubDate"].replace(row["pubDate"][:3], day)}
         for row, day in zip(ITEMS, ("Thu", "Wed", "Tue", "Mon", "Sun"), strict=True)]  # fmt: skip


def item(row: Row, query: Query) -> Record:
    return Record(
        text(row.get("guid")), parse_rfc2822(row.get("pubDate")), "provider_metadata", {"title": text(row.get("title"))}
    )


def feeds(record: Make = item, rows: Rows = all_rows, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        from xml.etree import ElementTree

        try:
            root = ElementTree.fromstring(body)
        except (ElementTree.ParseError, ValueError, RecursionError):
            raise UpstreamError("malformed", problem="it is not XML") from None
        found = [{child.tag: child.text or "" for child in one} for one in root.iter("item")]
        built = {child.tag: child.text or "" for channel in root.iter("channel") for child in channel}
        yield from [record(row, query) for row in rows(found, query, built)]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(FEED, "/rss"), FEED)
        yield from read(body, query) if body is not None else ()

    def body(rows: list[Row], **meta: Any) -> bytes:
        items = "".join(
            "<item>" + "".join(f"<{k}>{v}</{k}>" for k, v in row.items() if v is not None) + "</item>" for row in rows
        )
        built = rows[0].get("pubDate") if rows else "never"
        return f"<rss><channel><title>F</title><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>".encode()

    provider = Provider(
        name="kit-feed",
        summary="a feed",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(FEED, "https://feed.example", "PIT_FETCH_KIT_URL"),),
            "operations": (Operation(rule="pubDate", fields=(Field("title"),)),),
            **more,
        },
    )

    def public_from(row: Row) -> str:
        moment = parse_rfc2822(row["pubDate"])
        return moment.isoformat() if moment else ""

    return Made(provider, ITEMS, body, public_from)


TABLE = "Table"
TABLE_ROWS = [{"day": f"2024-02-1{n}", "rate": f"{n}.5", "note": f"n{n}"} for n in (5, 4, 3, 2, 1)]


def rate(row: Row, query: Query) -> Record:
    day = parse_date(row.get("day"))
    return Record(
        text(row.get("day")) if day else "",
        end_of_day(day, NEW_YORK) if day else None,
        "provider_metadata",
        {"rate": text(row.get("rate"))},
    )


def tables(record: Make = rate, rows: Rows = all_rows, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        import csv
        import io

        try:
            found = list(csv.DictReader(io.StringIO(body.decode("utf-8"))))
        except (ValueError, csv.Error):
            raise UpstreamError("malformed", problem="it is not a table") from None
        yield from [record(row, query) for row in rows(found, query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(TABLE, "/rates.csv"), TABLE)
        yield from read(body, query) if body is not None else ()

    def body(rows: list[Row], **meta: Any) -> bytes:
        names = list(dict.fromkeys(name for row in rows for name in row)) or ["day", "rate", "note"]
        lines = [",".join(names), *(",".join(str(row.get(name) or "") for name in names) for row in rows)]
        return "\r\n".join([*lines, ""]).encode()

    provider = Provider(
        name="kit-table",
        summary="a table of rates",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(TABLE, "https://table.example", "PIT_FETCH_KIT_URL"),),
            "operations": (Operation(rule="the end of the day", fields=(Field("rate", "number"),)),),
            **more,
        },
    )
    return Made(
        provider,
        TABLE_ROWS,
        body,
        lambda row: f"{row['day']}T23:59:59.999-05:00",
        zone="America/New_York",
    )


# --- a library that does its own HTTP

LIBRARY = "Library"
POSTS = [
    {"id": f"p{n}", "when": f"2024-02-1{n}T12:00:00Z", "edited_at": f"2024-02-1{n}T12:30:00Z", "text": f"Post {n}"}
    for n in (5, 4, 3, 2, 1)
]


def post(row: Row, query: Query) -> Record:
    edited = parse_rfc3339(row.get("edited_at"))
    return Record(
        name_of(row),
        parse_rfc3339(row.get("when")) if edited else None,
        "provider_metadata",
        {"text": text(row.get("text"))},
        edited,
    )


def posts(record: Make = post, rows: Rows = all_rows, **more: Any) -> Made:
    around = more.pop("around", None)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        found = list(rows_in(body))
        yield from [record(row, query) for row in rows(found, query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        symbol = query.options["symbol"] or ""
        reply = context.load(LIBRARY, "/posts", {"symbol": symbol}, lambda: library.posts(symbol))
        yield from read(reply.body, query)

    provider = Provider(
        name="kit-library",
        summary="what a library fetches",
        fetch=fetch if around is None else lambda query, context: around(fetch, query, context),
        parse_reply=read,
        **{
            "hosts": (Host(LIBRARY, "https://library.example", "PIT_FETCH_KIT_URL"),),
            "options": (Option("symbol", "the symbol", positional="one", uppercase=True),),
            "operations": (Operation(rule="when it was posted", fields=(Field("text"),)),),
            **more,
        },
    )
    return Made(
        provider,
        POSTS,
        lambda rows, **meta: json.dumps(rows).encode(),
        lambda row: max(str(row["when"]), str(row["edited_at"])),
        options={"symbol": "ACME"},
    )
