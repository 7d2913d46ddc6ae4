"""Honest sources of many kinds, each made of a few functions, so that a leak takes the place of one of them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

from pit_fetch.gaps import Code
from pit_fetch.paging import children, follow, numbered
from pit_fetch.provider import (
    Archiving,
    Bearer,
    Context,
    Credential,
    Dating,
    Field,
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
from pit_fetch.testing import Document, HttpRequest, Pages, Response
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc2822, parse_rfc3339, parse_wall_clock
from pit_fetch.wire import body_of, columns_in, lenient_json, record_in, rows_in
from tests.kit import library

Row = dict[str, Any]
Serve = Callable[[bytes, HttpRequest], Response]
MakeRecord = Callable[[Row, Query], Record]
ChooseRows = Callable[[list[Row], Query, Mapping[str, Any]], Iterable[Row]]
# What a request for all rows came to: a reply, or the path of a file. None where the source has nothing.
Ask = Callable[[Query, Context], Any]
# The rows of a reply, and what stands beside them.
Parse = Callable[[Any], tuple[list[Row], Mapping[str, Any]]]


@dataclass(frozen=True)
class KitSource:
    """A provider, and what its standard tests need. ``rows`` and ``body`` make replies of other worlds.

    public_from  returns the instant from which a row was public, known from the source and not from the provider
    recording    what its tests declare of the recording, besides the reply
    live         the source's server outside the tests, which the kit does not see
    also         returns further replies that serve the same rows at a PIT, by what they are: what moved after it
    """

    provider: Provider
    rows: list[Row]
    body: Callable[..., bytes]
    public_from: Callable[[Row], str]
    options: Mapping[str, Any] = field(default_factory=dict)
    zone: str = ""
    recording: Mapping[str, Any] = field(default_factory=dict)
    live: Serve | None = None
    also: Callable[[datetime], Iterable[tuple[str, bytes]]] = lambda pit: ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reply(self) -> bytes:
        return self.body(self.rows)


SYMBOL = Option("symbol", "the symbol", positional="one", uppercase=True)
FILE = Credential("filings", ("PIT_FETCH_KIT_FILE",), "Build it with the loader.", is_file=True)


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def name_of(row: Row, key: str = "id") -> str:
    value = row.get(key)
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def all_rows(rows: list[Row], query: Query, document: Mapping[str, Any]) -> Iterable[Row]:
    return rows


def host(name: str, auth: Any = None) -> tuple[Host]:
    return (Host(name, f"https://{name.lower()}.example", "PIT_FETCH_KIT_URL", auth=auth),)


def as_json(key: str) -> Callable[..., bytes]:
    return lambda rows, **meta: json.dumps({**meta, key: rows}).encode()


def as_database(table: str, columns: str, script: str = "") -> Callable[..., bytes]:
    """Return the function that makes a SQLite file of rows, in a ``table`` with ``columns``, after a ``script``."""

    def body(rows: list[Row], **meta: Any) -> bytes:
        names = [column.split()[0] for column in columns.split(",")]
        insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(names))})"
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.executescript(f"{script} CREATE TABLE {table} ({columns});")
            for row in rows:
                with contextlib.suppress(sqlite3.IntegrityError):  # a key that the table cannot hold
                    database.execute(insert, [_cell(row.get(name)) for name in names])
            database.commit()
            return bytes(database.serialize())

    return body


def _cell(value: Any) -> Any:
    is_known = value is None or isinstance(value, (str, float, bool)) or (isinstance(value, int) and abs(value) < 2**63)
    return value if is_known else json.dumps(value)


def columns_of(rows: list[Row], names: str) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row)) or names.split()


def get(name: str, path: str, params: Callable[[Query], Mapping[str, str]] = lambda query: {}) -> Ask:
    return lambda query, context: body_of(context.http.get(name, path, params(query)), name)


def symbol_of(query: Query) -> Mapping[str, str]:
    return {"symbol": query.options["symbol"] or ""}


def from_file(query: Query, context: Context) -> str:
    return str(context.file(FILE.name))


def make_provider(
    name: str,
    summary: str,
    ask: Ask,
    parse: Parse,
    record: MakeRecord,
    rows: ChooseRows,
    operation: Operation,
    *,
    around: Callable[..., Any] | None = None,
    **attributes: Any,
) -> Provider:
    """Make a provider whose one reply holds every row. ``around`` wraps its fetch."""

    def read(body: Any, query: Query) -> Iterator[Record]:
        every, beside = parse(body)
        yield from [record(row, query) for row in rows(every, query, beside)]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = ask(query, context)
        yield from read(body, query) if body is not None else ()

    asked = operation._replace(fetch=wrapped(fetch, around), parse_reply=read)
    return Provider(name, summary, (asked,), **attributes)


def wrapped(fetch: Callable[..., Any], around: Callable[..., Any] | None) -> Callable[..., Any]:
    return fetch if around is None else lambda query, context: around(fetch, query, context)


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
        payload={
            "title": text(row.get("title")),
            "url": text(row.get("url")),
            "reads": row["reads"] if type(row.get("reads")) is int else None,
            "authors": [name for name in authors if isinstance(name, str)] if isinstance(authors, list) else [],
        },
        revised_at=revised,
    )


def news(
    record: MakeRecord = article,
    rows: ChooseRows = all_rows,
    *,
    around: Callable[..., Any] | None = None,
    reading: ChooseRows | None = None,
    newest_first: bool = False,
) -> KitSource:
    """Make the source with ``rows`` choosing the rows of a page, ``reading`` those of a saved reply."""

    def document_of(body: bytes) -> Any:
        document = lenient_json(body, rows=2)
        if not isinstance(document, dict) or not isinstance(document.get("articles"), list):
            raise UpstreamError(Code.MALFORMED, problem="it has no articles")
        return document

    def records(document: Any, query: Query, choose: ChooseRows) -> list[Record]:
        every = [row if isinstance(row, dict) else {} for row in document["articles"]]
        return [record(row, query) for row in choose(every, query, document)]

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        def page(token: str) -> tuple[list[Record], str | None]:
            params = {"until": query.horizon.isoformat(), "page": token}
            document = document_of(get(NEWS, "/v1/articles", lambda _: params)(query, context) or b'{"articles": []}')
            after = document.get("next")
            return records(document, query, rows), after if isinstance(after, str) and after else None

        yield from follow(page, "", newest_first=newest_first)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from records(document_of(body), query, reading or rows)

    def select(query: Query, record: Record) -> bool:
        word = query.options["word"]
        return not word or word.casefold() in record.payload["title"].casefold()

    def body(rows: list[Row], **meta: Any) -> bytes:
        stamps = [str(row.get("published")) for row in rows if isinstance(row, dict)]
        meta = {"total": len(rows), "newest": max(stamps, default=""), **meta}
        return json.dumps({**meta, "articles": rows, "next": None}).encode()

    provider = Provider(
        name="kit-news",
        summary="articles, with the time of their last revision",
        select=select,
        hosts=host(NEWS, QueryKey("key", "apikey")),
        credentials=(Credential("key", ("KIT_NEWS_KEY",)),),
        options=(
            Option("word", "articles whose title holds this word"),
            Option("sort", "in this order", choices=("date", "reads")),
            Option("full", "with everything", kind="flag"),
        ),
        operations=(
            Operation(
                fetch=wrapped(fetch, around),
                parse_reply=read,
                fields=(Field("title"), Field("url"), Field("reads", "integer"), Field("authors", "list")),
            ),
        ),
        page_size=20,
    )
    return KitSource(
        provider,
        ARTICLES,
        body,
        lambda row: max(str(row["published"]), str(row["last_updated"])),
        recording={"fields": {"reads": "fixed"}},
    )


# --- figures that are restated: every vintage is a version

VINTAGES = [
    {"date": "2023-12-31", "value": "1.0", "known": "2024-02-01", "valid_to": "2024-02-09"},
    {"date": "2023-12-31", "value": "1.1", "known": "2024-02-10", "valid_to": "2024-02-19"},
    {"date": "2023-12-31", "value": "1.2", "known": "2024-02-20", "valid_to": "9999-12-31"},
    {"date": "2023-09-30", "value": "2.0", "known": "2024-01-05", "valid_to": "2024-02-14"},
    {"date": "2023-09-30", "value": "2.5", "known": "2024-02-15", "valid_to": "9999-12-31"},
    {"date": "2023-06-30", "value": "3.0", "known": "2024-01-03", "valid_to": "9999-12-31"},
]


def end_of(value: object, zone: Any = NEW_YORK) -> datetime | None:
    day = parse_date(value)
    return end_of_day(day, zone) if day else None


def vintage(row: Row, query: Query) -> Record:
    payload = {"date": text(row.get("date")), "value": text(row.get("value"))}
    return Record(text(row.get("date")), end_of(row.get("known")), payload)


def figures(record: MakeRecord = vintage, rows: ChooseRows = all_rows) -> KitSource:
    def params(query: Query) -> Mapping[str, str]:
        return {"series": query.options["series"] or "X", "realtime_end": query.horizon.date().isoformat()}

    provider = make_provider(
        "kit-vintages",
        "figures, each as often as it was restated",
        get("Figures", "/observations", params),
        lambda body: (list(rows_in(body, "observations")), {}),
        record,
        rows,
        Operation(
            dating=Dating(rule="the end of the day on which it became known"),
            fields=(Field("date", "date"), Field("value", "number")),
            window="date",
            archiving=Archiving(versions=True),
        ),
        hosts=host("Figures", HeaderKey("key", "X-Key")),
        credentials=(Credential("key", ("KIT_FIGURES_KEY",)),),
        options=(Option("series", "the series", positional="one"),),
    )
    return KitSource(
        provider,
        VINTAGES,
        lambda rows, **meta: as_json("observations")(rows, count=len(rows), **meta),
        lambda row: f"{row['known']}T23:59:59.999-05:00",
        options={"series": "GDP"},
        zone="America/New_York",
    )


# --- bars in columns, labelled with their start in the exchange's own time

FIVE_MINUTES = timedelta(minutes=5)
BAR_ROWS = [
    {"t": f"2024-02-15 15:{minute:02}:00", "o": 10.0 + n, "h": 12.0 + n, "l": 9.0 + n, "c": 11.0 + n, "v": 100 * n + 7}
    for n, minute in enumerate((30, 35, 40, 45, 50, 55))
]


def bar(row: Row, query: Query) -> Record:
    start = parse_wall_clock(row.get("t"), NEW_YORK)
    prices = {name: row.get(short) for name, short in (("open", "o"), ("high", "h"), ("low", "l"), ("close", "c"))}
    return Record(
        text(row.get("t")),
        start + FIVE_MINUTES if start and start.year < 9999 else None,
        {name: value if type(value) in (int, float) else None for name, value in prices.items()},
        available_at_source="time_series_timestamp",
    )


def bars(record: MakeRecord = bar, rows: ChooseRows = all_rows) -> KitSource:
    def body(rows: list[Row], **meta: Any) -> bytes:
        columns = {name: [row.get(name) for row in rows] for name in columns_of(rows, "t o h l c v")}
        return json.dumps({"s": "ok", **meta, **columns}).encode()

    provider = make_provider(
        "kit-bars",
        "bars of five minutes",
        get("Exchange", "/bars", symbol_of),
        lambda body: (list(columns_in(body, "t", "o", "h", "l", "c", "v")), {}),
        record,
        rows,
        Operation(
            dating=Dating(rule="the end of the bar"),
            fields=tuple(Field(name, "number") for name in ("open", "high", "low", "close")),
        ),
        hosts=host("Exchange"),
        options=(SYMBOL,),
    )
    return KitSource(
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
ON_THE_PAGE = ("text", "edited")


def transcript(event: Row, page: Row | None, query: Query) -> Record:
    edited = parse_wall_clock((page or {}).get("edited"), NEW_YORK)
    return Record(
        id=name_of(event),
        available_at=parse_wall_clock(event.get("ready"), NEW_YORK) if edited else None,
        payload={"text": text((page or {}).get("text"))},
        revised_at=edited,
    )


def calls(record: Callable[[Row, Row | None, Query], Record] = transcript, rows: ChooseRows = all_rows) -> KitSource:
    def events_of(body: bytes, query: Query) -> list[Row]:
        every = list(rows_in(body, "events"))
        return list(rows(every, query, {"count": len(every)}))

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = get(CALLS, "/events", symbol_of)(query, context)
        if body is None:
            return

        def page(event: Row) -> Row | None:
            if not name_of(event):
                return None
            body = get(CALLS, f"/events/{name_of(event)}")(query, context)
            document = None if body is None else lenient_json(body, rows=0)
            return document if isinstance(document, dict) else None

        def probe() -> object:
            return get(CALLS, "/events/none")(query, context)

        for event, document in children(events_of(body, query), page, probe=probe):
            yield record(event, document, query)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        """Read a saved list, which holds no texts, and so nothing that could be dated."""
        yield from [record(event, None, query) for event in events_of(body, query)]

    def serve(reply: bytes, request: HttpRequest) -> Response:
        try:
            document = json.loads(reply)
        except (ValueError, RecursionError):
            return Response(reply)
        events = document.get("events") if isinstance(document, dict) else None
        if not isinstance(events, list):
            return Response(json.dumps(document).encode())
        if request.path == "/events":
            listed = [
                {key: event[key] for key in event if key not in ON_THE_PAGE} if isinstance(event, dict) else event
                for event in events
            ]
            return Response(json.dumps({**document, "events": listed}).encode())
        wanted = request.path.rpartition("/")[2]
        for event in events:
            if isinstance(event, dict) and str(event.get("id")) == wanted and event.get("text") is not None:
                return Response(json.dumps({key: event[key] for key in ON_THE_PAGE if key in event}).encode())
        return Response(b"{}", 404)

    provider = Provider(
        name="kit-calls",
        summary="transcripts of calls",
        hosts=host(CALLS, Bearer("key")),
        credentials=(Credential("key", ("KIT_CALLS_KEY",)),),
        options=(SYMBOL,),
        operations=(
            Operation(
                fetch=fetch,
                parse_reply=read,
                dating=Dating(rule="when the transcript was ready"),
                fields=(Field("text"),),
            ),
        ),
    )
    return KitSource(
        provider,
        EVENTS,
        lambda rows, **meta: as_json("events")(rows, count=len(rows), **meta),
        lambda row: max(str(row["ready"]), str(row["edited"])).replace(" ", "T") + ":59.999-05:00",
        options={"symbol": "ACME"},
        zone="America/New_York",
        recording={
            "documents": {
                "/events": {
                    "count": len(EVENTS),
                    "events": [{key: row[key] for key in row if key not in ON_THE_PAGE} for row in EVENTS],
                },
                "/events/{id}": {row["id"]: {key: row[key] for key in ON_THE_PAGE} for row in EVENTS},
            }
        },
        live=serve,
    )


# --- filings in a local SQLite file

FILINGS = [
    {"id": f"F{n}", "form": "8-K", "accepted": f"2024-02-1{n}T17:0{n}:00-05:00",
     "amended": "2024-02-19T09:00:00-05:00" if n == 2 else None, "issuer": f"Issuer {n}", "size": 1000 + n}
    for n in (5, 4, 3, 2, 1)
]  # fmt: skip


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


def filings(
    record: MakeRecord = filing, rows: ChooseRows = all_rows, select: str = "SELECT * FROM filings"
) -> KitSource:
    provider = make_provider(
        "kit-filings",
        "filings of a local database",
        from_file,
        lambda source: (list(sqlite_rows(source, select)), {}),
        record,
        rows,
        Operation(dating=Dating(rule="when it was accepted"), fields=(Field("form"), Field("issuer"))),
        credentials=(FILE,),
    )
    body = as_database("filings", "id, form, accepted, amended, issuer, size")
    return KitSource(provider, FILINGS, body, lambda row: max(str(row["accepted"]), str(row["amended"] or "")),
                     recording={"documents": Document(FILINGS, body)})  # fmt: skip


# --- a search asked with POST, by offset, with two operations

SEARCH = "Search"
HITS = [
    {"key": f"k{n}", "kind": "note" if n % 2 else "memo", "posted": 1_707_900_000 + 20_000 * n,
     "displayTime": 1_707_900_000 + 20_000 * n + (90_000 if n == 2 else 0), "headline": f"Alpha {n}", "score": 1.0 / n}
    for n in (1, 3, 2, 5, 4)
]  # fmt: skip


def hit(row: Row, query: Query) -> Record:
    posted, displayed = (seconds(row.get(name)) for name in ("posted", "displayTime"))
    return Record(
        id=name_of(row, "key"),
        available_at=posted if displayed else None,
        payload={"headline": text(row.get("headline")), "kind": text(row.get("kind"))},
        revised_at=displayed,
    )


def seconds(value: object) -> datetime | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**11
    return datetime.fromtimestamp(value, UTC) if usable else None  # type: ignore[arg-type]


def search(
    record: MakeRecord = hit,
    rows: ChooseRows = all_rows,
    size: Callable[[Query], int] = lambda query: 20,
    most: int | None = None,
) -> KitSource:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        document = lenient_json(body, rows=3)
        result = document.get("result") if isinstance(document, dict) else None
        if not isinstance(result, dict) or not isinstance(result.get("hits"), list):
            raise UpstreamError(Code.MALFORMED, problem="it has no hits")
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

    def body(rows: list[Row], **meta: Any) -> bytes:
        return json.dumps({"took": 3, **meta, "result": {"total": {"value": len(rows)}, "hits": rows}}).encode()

    provider = Provider(
        name="kit-search",
        summary="a search engine",
        select=lambda query, record: query.options["kind"] in (None, record.payload["kind"]),
        hosts=host(SEARCH, Bearer("key")),
        credentials=(Credential("key", ("KIT_SEARCH_KEY",)),),
        options=(
            Option("query", "words"),
            Option("kind", "of this kind", choices=("note", "memo")),
        ),
        operations=tuple(
            Operation(
                name,
                fetch=fetch,
                parse_reply=read,
                dating=Dating(rule="when it was posted"),
                takes=("query", "kind"),
                fields=(Field("headline"), Field("kind")),
            )
            for name in ("notes", "memos")
        ),
        page_size=20,
    )
    return KitSource(
        provider,
        HITS,
        body,
        lambda row: datetime.fromtimestamp(max(row["posted"], row["displayTime"]), NEW_YORK).isoformat(),
        options={"op": "notes", "query": "alpha"},
        recording={"pages": Pages(size="size", start="from")},
    )


# --- one record to a reply: a page of a company, which is revised

PROFILE_ROWS = [{"symbol": "ACME", "name": "Acme Inc", "listed": "2001-05-03", "asOf": "2024-02-15", "employees": 500}]


def profile(row: Row, query: Query) -> Record:
    employees = row["employees"] if type(row.get("employees")) is int else 0
    payload = {"name": text(row.get("name")), "employees": employees}
    return Record(text(row.get("symbol")), end_of(row.get("asOf")), payload)


def profiles(record: MakeRecord = profile) -> KitSource:
    provider = make_provider(
        "kit-profile",
        "a company's page",
        get("Profiles", "/profile", symbol_of),
        lambda body: ([record_in(body)], {}),
        record,
        all_rows,
        Operation(dating=Dating(rule="the end of asOf"), fields=(Field("name"), Field("employees", "integer"))),
        hosts=host("Profiles"),
        options=(SYMBOL,),
    )
    return KitSource(
        provider,
        PROFILE_ROWS,
        lambda rows, **meta: json.dumps({**rows[0], **meta} if rows else {}).encode(),
        lambda row: f"{row['asOf']}T23:59:59.999-05:00",
        options={"symbol": "ACME"},
        zone="America/New_York",
    )


# --- a feed in XML, and a table in CSV

ITEMS = [
    {"guid": f"g{n}", "title": f"Item {n}", "pubDate": f"{day}, {10 + n} Feb 2024 16:00:00 -0500"}
    for n, day in ((5, "Thu"), (4, "Wed"), (3, "Tue"), (2, "Mon"), (1, "Sun"))
]


def item(row: Row, query: Query) -> Record:
    payload = {"title": text(row.get("title"))}
    return Record(text(row.get("guid")), parse_rfc2822(row.get("pubDate")), payload)


def feeds(record: MakeRecord = item, rows: ChooseRows = all_rows) -> KitSource:
    def parse(body: bytes) -> tuple[list[Row], Mapping[str, Any]]:
        try:
            root = ElementTree.fromstring(body)
        except (ElementTree.ParseError, ValueError, RecursionError):
            raise UpstreamError(Code.MALFORMED, problem="it is not XML") from None
        items = [{child.tag: child.text or "" for child in item} for item in root.iter("item")]
        return items, {child.tag: child.text or "" for channel in root.iter("channel") for child in channel}

    def body(rows: list[Row], **meta: Any) -> bytes:
        items = "".join(
            "<item>" + "".join(f"<{k}>{v}</{k}>" for k, v in row.items() if v is not None) + "</item>" for row in rows
        )
        built = rows[0].get("pubDate") if rows else "never"
        return f"<rss><channel><title>F</title><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>".encode()

    def public_from(row: Row) -> str:
        instant = parse_rfc2822(row["pubDate"])
        return instant.isoformat() if instant else ""

    operation = Operation(dating=Dating(rule="pubDate"), fields=(Field("title"),))
    ask = get("Feed", "/rss")
    provider = make_provider("kit-feed", "a feed", ask, parse, record, rows, operation, hosts=host("Feed"))
    return KitSource(provider, ITEMS, body, public_from)


TABLE_ROWS = [{"day": f"2024-02-1{n}", "rate": f"{n}.5", "note": f"n{n}"} for n in (5, 4, 3, 2, 1)]


def rate(row: Row, query: Query) -> Record:
    public = end_of(row.get("day"))
    return Record(text(row.get("day")) if public else "", public, {"rate": text(row.get("rate"))})


def tables(record: MakeRecord = rate, rows: ChooseRows = all_rows) -> KitSource:
    def parse(body: bytes) -> tuple[list[Row], Mapping[str, Any]]:
        try:
            return list(csv.DictReader(io.StringIO(body.decode("utf-8", "replace")))), {}
        except (ValueError, csv.Error):
            raise UpstreamError(Code.MALFORMED, problem="it is not a table") from None

    def body(rows: list[Row], **meta: Any) -> bytes:
        names = columns_of(rows, "day rate note")
        lines = [",".join(names), *(",".join(str(row.get(name) or "") for name in names) for row in rows)]
        return "\r\n".join([*lines, ""]).encode()

    operation = Operation(dating=Dating(rule="the end of the day"), fields=(Field("rate", "number"),))
    ask = get("Table", "/rates.csv")
    provider = make_provider("kit-table", "a table of rates", ask, parse, record, rows, operation, hosts=host("Table"))
    return KitSource(
        provider, TABLE_ROWS, body, lambda row: f"{row['day']}T23:59:59.999-05:00", zone="America/New_York"
    )


# --- a library that does its own HTTP

POSTS = [
    {"id": f"p{n}", "when": f"2024-02-1{n}T12:00:00Z", "edited_at": f"2024-02-1{n}T12:30:00Z", "text": f"Post {n}"}
    for n in (5, 4, 3, 2, 1)
]


def post(row: Row, query: Query) -> Record:
    edited = parse_rfc3339(row.get("edited_at"))
    public = parse_rfc3339(row.get("when")) if edited else None
    return Record(name_of(row), public, {"text": text(row.get("text"))}, edited)


def posts(
    record: MakeRecord = post, rows: ChooseRows = all_rows, around: Callable[..., Any] | None = None
) -> KitSource:
    def ask(query: Query, context: Context) -> bytes:
        params = symbol_of(query)
        return context.load("Library", "/posts", params, lambda: library.posts(params["symbol"])).body

    provider = make_provider(
        "kit-library",
        "what a library fetches",
        ask,
        lambda body: (list(rows_in(body)), {}),
        record,
        rows,
        Operation(dating=Dating(rule="when it was posted"), fields=(Field("text"),)),
        around=around,
        hosts=host("Library"),
        options=(SYMBOL,),
    )
    return KitSource(
        provider,
        POSTS,
        lambda rows, **meta: json.dumps(rows).encode(),
        lambda row: max(str(row["when"]), str(row["edited_at"])),
        options={"symbol": "ACME"},
    )
