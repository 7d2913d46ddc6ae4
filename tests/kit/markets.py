"""More honest providers: shapes that authors brought, and that the kit once misread or accused.

JSON Lines; bars whose length is an option; a bar named by its day, on pages that a header counts; a SQLite table
with a primary key beside another table; a Parquet file.
"""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.paging import follow
from pit_fetch.provider import Basis, Context, Field, Host, Operation, Option, Provider, Query, Record, UpstreamError
from pit_fetch.tables import parquet_rows, sqlite_rows
from pit_fetch.testing import HttpRequest, Response
from pit_fetch.times import delayed, end_of_day, parse_date, parse_rfc3339
from pit_fetch.wire import body_of, lenient_json, rows_in
from tests.kit.honest import FILE, Made, Make, Row, Rows, all_rows, name_of, text

# --- JSON Lines: one trade a line

TRADES = "Trades"
TRADE_ROWS = [
    {"id": 200 + n, "at": f"2024-02-1{n}T12:00:0{n}Z", "text": f"Lot {n}", "block": n > 3} for n in (5, 4, 3, 2, 1)
]


def trade(row: Row, query: Query) -> Record:
    return Record(
        name_of(row),
        parse_rfc3339(row.get("at")),
        "provider_metadata",
        {"text": text(row.get("text")), "block": row.get("block") is True},
    )


def trades(record: Make = trade, rows: Rows = all_rows, **more: Any) -> Made:
    def one(line: bytes) -> Row:
        try:
            row = lenient_json(line, rows=0)
        except UpstreamError:
            row = None
        return row if isinstance(row, dict) else {}

    def read(body: bytes, query: Query) -> Iterator[Record]:
        found = [one(line) for line in body.split(b"\n") if line.strip()]
        yield from [record(row, query) for row in rows(found, query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        body = body_of(context.http.get(TRADES, "/trades", {"until": query.horizon.isoformat()}), TRADES)
        yield from read(body, query) if body is not None else ()

    provider = Provider(
        name="kit-trades",
        summary="trades, one a line",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(TRADES, "https://trades.example", "PIT_FETCH_KIT_URL"),),
            "operations": (Operation(rule="when it was made", fields=(Field("text"), Field("block", "flag"))),),
            **more,
        },
    )
    return Made(
        provider,
        TRADE_ROWS,
        lambda rows, **meta: "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        lambda row: str(row["at"]),
    )


# --- bars whose length is asked for, labelled with their start

CANDLES = "Candles"
INTERVALS = {"1h": timedelta(hours=1), "5m": timedelta(minutes=5)}
CANDLE_ROWS = [
    {"t": 1_707_991_200 + 3_600 * n, "open": 10.0 + n, "high": 12.0 + n, "low": 9.0 + n, "close": 11.0 + n}
    for n in range(5)
]


def candle(row: Row, query: Query) -> Record:
    label = row.get("t")
    start = datetime.fromtimestamp(label, UTC) if type(label) is int and 0 < label < 4e9 else None
    return Record(
        str(label) if start else "",
        delayed(start, INTERVALS[query.options["interval"]]),
        "time_series_timestamp",
        {name: row[name] if type(row.get(name)) is float else None for name in ("open", "high", "low", "close")},
    )


def candles(record: Make = candle, rows: Rows = all_rows, **more: Any) -> Made:
    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from [record(row, query) for row in rows(list(rows_in(body, "candles")), query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        asked = {"symbol": query.options["symbol"] or "", "interval": query.options["interval"]}
        body = body_of(context.http.get(CANDLES, "/candles", asked), CANDLES)
        yield from read(body, query) if body is not None else ()

    provider = Provider(
        name="kit-candles",
        summary="bars of an hour, or of five minutes",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(CANDLES, "https://candles.example", "PIT_FETCH_KIT_URL"),),
            "options": (
                Option("symbol", "the symbol", positional="one", uppercase=True),
                Option("interval", "the length of a bar", choices=tuple(INTERVALS), default="1h"),
            ),
            "operations": (
                Operation(
                    rule="the end of the bar",
                    fields=tuple(Field(name, "number") for name in ("open", "high", "low", "close")),
                    # The shortest that can be asked for.
                    basis=(Basis("t", "interval_start", after=INTERVALS["5m"]),),
                ),
            ),
            **more,
        },
    )
    return Made(
        provider,
        CANDLE_ROWS,
        lambda rows, **meta: json.dumps({**meta, "candles": rows}).encode(),
        lambda row: datetime.fromtimestamp(row["t"] + 3_600, UTC).isoformat(),
        options={"symbol": "ACME"},
    )


# --- bars of a day, named by it, on pages of which a header tells how many there are

QUOTES = "Quotes"
TOKYO = ZoneInfo("Asia/Tokyo")
ON_A_PAGE = 2
QUOTE_ROWS = [{"day": f"2024-02-1{n}", "open": n * 1.0, "close": n * 1.5} for n in (5, 4, 3, 2)]

Headers = Callable[[Mapping[str, str], Any], Mapping[str, Any]]


def quote(row: Row, query: Query) -> Record:
    day = parse_date(row.get("day"))
    return Record(
        text(row.get("day")) if day else "",
        end_of_day(day, TOKYO) if day else None,
        "time_series_timestamp",
        {name: row[name] if type(row.get(name)) is float else None for name in ("open", "close")},
    )


def quotes(
    record: Make = quote, rows: Rows = all_rows, *, told: Headers = lambda headers, document: {}, **more: Any
) -> Made:
    """``told`` is what the payload says besides, made of a reply's headers and of what stands beside its rows."""

    def read(body: bytes, query: Query) -> Iterator[Record]:
        yield from [record(row, query) for row in rows(list(rows_in(body, "quotes")), query, {})]

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        def page(number: int) -> tuple[list[Record], int | None]:
            reply = context.http.get(QUOTES, "/daily", {"code": query.options["code"] or "", "page": str(number)})
            body = body_of(reply, QUOTES)
            if body is None:
                return [], None
            headers = {name.lower(): value for name, value in reply.headers.items()}
            pages = headers.get("x-total-pages", "1")
            said = dict(told(headers, lenient_json(body, rows=2)))
            made = [one._replace(payload={**one.payload, **said}) for one in read(body, query)]
            return made, number + 1 if pages.isdigit() and number < int(pages) else None

        yield from follow(page, 1)

    def serve(reply: bytes, request: HttpRequest) -> Response:
        try:
            document = json.loads(reply)
            every = document["quotes"]
            number = int(str(request.params["page"]))
            part = every[(number - 1) * ON_A_PAGE : number * ON_A_PAGE]
        except (ValueError, KeyError, TypeError):
            return Response(reply)
        pages = max(1, -(-len(every) // ON_A_PAGE))
        headers = {"X-Total-Pages": str(pages), "X-Total-Count": str(len(every))}
        return Response(json.dumps({**document, "quotes": part}).encode(), 200, headers)

    provider = Provider(
        name="kit-quotes",
        summary="the days of an exchange in Tokyo",
        fetch=fetch,
        parse_reply=read,
        **{
            "hosts": (Host(QUOTES, "https://quotes.example", "PIT_FETCH_KIT_URL"),),
            "options": (Option("code", "the code", positional="one"),),
            "operations": (
                Operation(
                    rule="the end of the day in Tokyo",
                    fields=(Field("open", "number"), Field("close", "number")),
                    window="available_on",
                    basis=(Basis("day", "interval_start", after=timedelta(days=1)),),
                ),
            ),
            **more,
        },
    )
    return Made(
        provider,
        QUOTE_ROWS,
        lambda rows, **meta: json.dumps({"complete": len(rows) < len(QUOTE_ROWS), **meta, "quotes": rows}).encode(),
        lambda row: f"{row['day']}T23:59:59.999+09:00",
        options={"code": "7203"},
        zone="Asia/Tokyo",
        serve=serve,
    )


# --- a SQLite file: a primary key, and a table beside it

LEDGER = "SELECT e.id, e.posted, e.amount, a.name FROM entries e LEFT JOIN accounts a ON a.number = e.account"
ENTRIES = [{"id": 300 + n, "account": 1, "posted": f"2024-02-1{n}T09:00:00-05:00", "amount": 10 * n}
           for n in (1, 2, 3, 4, 5)]  # fmt: skip


def entry(row: Row, query: Query) -> Record:
    return Record(
        name_of(row),
        parse_rfc3339(row.get("posted")),
        "provider_metadata",
        {"amount": row["amount"] if type(row.get("amount")) is int else None},
    )


def ledger(record: Make = entry, rows: Rows = all_rows, *, select: str = LEDGER, **more: Any) -> Made:
    def made(source: str | bytes, query: Query) -> Iterator[Record]:
        yield from [record(row, query) for row in rows(list(sqlite_rows(source, select)), query, {})]

    def body(rows: list[Row], **meta: Any) -> bytes:
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE accounts (number INTEGER PRIMARY KEY, name TEXT)")
            database.execute("INSERT INTO accounts VALUES (1, 'Acme')")
            database.execute(
                "CREATE TABLE entries (id INTEGER PRIMARY KEY, account INTEGER, posted TEXT, amount INTEGER)"
            )
            for row in rows:
                values = [row.get(name) for name in ("id", "account", "posted", "amount")]
                with contextlib.suppress(sqlite3.IntegrityError):  # a key that the table cannot hold
                    database.execute("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)", values)
            database.commit()
            return bytes(database.serialize())

    provider = Provider(
        name="kit-ledger",
        summary="entries of a local database",
        fetch=lambda query, context: made(context.file("filings"), query),
        parse_reply=made,
        **{
            "files": (FILE,),
            "operations": (Operation(rule="when it was posted", fields=(Field("amount", "integer"),)),),
            **more,
        },
    )
    return Made(provider, ENTRIES, body, lambda row: str(row["posted"]))


# --- a Parquet file, whose time stamps are typed

DEALS = [{"id": f"d{n}", "signed": f"2024-02-1{n}T21:00:00+00:00", "price": n * 100.0, "buyer": f"Buyer {n}"}
         for n in (1, 2, 3, 4, 5)]  # fmt: skip


def deal(row: Row, query: Query) -> Record:
    signed = row.get("signed")
    return Record(
        text(row.get("id")),
        signed if isinstance(signed, datetime) and signed.tzinfo is not None else None,
        "provider_metadata",
        {
            "price": row["price"] if type(row.get("price")) is float and math.isfinite(row["price"]) else None,
            "buyer": text(row.get("buyer")),
        },
    )


def deals(record: Make = deal, rows: Rows = all_rows, **more: Any) -> Made:
    def made(source: str | bytes, query: Query) -> Iterator[Record]:
        yield from [record(row, query) for row in rows(list(parquet_rows(source)), query, {})]

    def body(rows: list[Row], **meta: Any) -> bytes:
        import pyarrow
        from pyarrow import parquet

        def typed(name: str, kind: Any, read: Callable[[Any], Any]) -> Any:
            return pyarrow.array([read(row.get(name)) for row in rows], type=kind)

        moments = [datetime.fromisoformat(row["signed"]) if text(row.get("signed")) else None for row in rows]
        columns = {
            "id": typed("id", pyarrow.string(), lambda value: None if value is None else str(value)),
            "signed": pyarrow.array(moments, type=pyarrow.timestamp("us", tz="UTC")),
            "price": typed("price", pyarrow.float64(), lambda value: value if isinstance(value, float) else None),
            "buyer": typed("buyer", pyarrow.string(), lambda value: None if value is None else str(value)),
        }
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.table(columns), sink)
        return bytes(sink.getvalue().to_pybytes())

    provider = Provider(
        name="kit-deals",
        summary="deals of a local Parquet file",
        fetch=lambda query, context: made(context.file("filings"), query),
        parse_reply=made,
        **{
            "files": (FILE,),
            "operations": (Operation(rule="when it was signed", fields=(Field("price", "number"), Field("buyer"))),),
            **more,
        },
    )
    return Made(provider, DEALS, body, lambda row: str(row["signed"]))
