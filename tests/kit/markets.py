"""More honest sources: shapes that authors brought, and that the kit once misread or accused.

JSON Lines; bars whose length is an option; a bar named by its day, on pages that a header counts; a SQLite table
with a primary key beside another table; a Parquet file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.paging import follow
from pit_fetch.provider import Basis, Context, Dating, Field, Operation, Option, Provider, Query, Record, UpstreamError
from pit_fetch.tables import parquet_rows, sqlite_rows
from pit_fetch.testing import Document, HttpRequest, Pages, Response
from pit_fetch.times import delayed, parse_rfc3339
from pit_fetch.wire import body_of, lenient_json, rows_in
from tests.kit.honest import (
    FILE,
    SYMBOL,
    ChooseRows,
    KitSource,
    MakeRecord,
    Row,
    all_rows,
    as_database,
    as_json,
    end_of,
    from_file,
    get,
    host,
    make_provider,
    name_of,
    symbol_of,
    text,
)

# --- JSON Lines: one trade a line

TRADE_ROWS = [
    {"id": 200 + n, "at": f"2024-02-1{n}T12:00:0{n}Z", "text": f"Lot {n}", "block": n > 3} for n in (5, 4, 3, 2, 1)
]


def trade(row: Row, query: Query) -> Record:
    payload = {"text": text(row.get("text")), "block": row.get("block") is True}
    return Record(name_of(row), parse_rfc3339(row.get("at")), payload)


def trades(record: MakeRecord = trade, rows: ChooseRows = all_rows) -> KitSource:
    def row_of(line: bytes) -> Row:
        try:
            row = lenient_json(line, rows=0)
        except UpstreamError:
            row = None
        return row if isinstance(row, dict) else {}

    provider = make_provider(
        "kit-trades",
        "trades, one a line",
        get("Trades", "/trades", lambda query: {"until": query.horizon.isoformat()}),
        lambda body: ([row_of(line) for line in body.split(b"\n") if line.strip()], {}),
        record,
        rows,
        Operation(dating=Dating(rule="when it was made"), fields=(Field("text"), Field("block", "flag"))),
        hosts=host("Trades"),
    )
    return KitSource(
        provider,
        TRADE_ROWS,
        lambda rows, **meta: "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        lambda row: str(row["at"]),
    )


# --- bars whose length is asked for, labelled with their start

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
        {name: row[name] if type(row.get(name)) is float else None for name in ("open", "high", "low", "close")},
        available_at_source="time_series_timestamp",
    )


def candles(record: MakeRecord = candle, rows: ChooseRows = all_rows) -> KitSource:
    provider = make_provider(
        "kit-candles",
        "bars of an hour, or of five minutes",
        get("Candles", "/candles", lambda query: {**symbol_of(query), "interval": query.options["interval"]}),
        lambda body: (list(rows_in(body, "candles")), {}),
        record,
        rows,
        Operation(
            dating=Dating(rule="the end of the bar", basis=(Basis("t", "interval_start", after=INTERVALS["5m"]),)),
            fields=tuple(Field(name, "number") for name in ("open", "high", "low", "close")),
            # The shortest that can be asked for.
        ),
        hosts=host("Candles"),
        options=(SYMBOL, Option("interval", "the length of a bar", choices=tuple(INTERVALS), default="1h")),
    )
    return KitSource(
        provider,
        CANDLE_ROWS,
        as_json("candles"),
        lambda row: datetime.fromtimestamp(row["t"] + 3_600, UTC).isoformat(),
        options={"symbol": "ACME"},
    )


# --- bars of a day, named by it, on pages of which a header tells how many there are

QUOTES = "Quotes"
TOKYO = ZoneInfo("Asia/Tokyo")
ON_A_PAGE = 2
QUOTE_ROWS = [{"day": f"2024-02-1{n}", "open": n * 1.0, "close": n * 1.5} for n in (5, 4, 3, 2)]


def quote(row: Row, query: Query) -> Record:
    public = end_of(row.get("day"), TOKYO)
    return Record(
        text(row.get("day")) if public else "",
        public,
        {name: row[name] if type(row.get(name)) is float else None for name in ("open", "close")},
        available_at_source="time_series_timestamp",
    )


def quotes(
    record: MakeRecord = quote,
    rows: ChooseRows = all_rows,
    beside: Callable[[Mapping[str, str], Any], Mapping[str, Any]] = lambda headers, document: {},
) -> KitSource:
    """Make the source with ``beside`` in each payload, made of a reply's headers and of what stands beside its rows."""

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
            extra = dict(beside(headers, lenient_json(body, rows=2)))
            records = [record._replace(payload={**record.payload, **extra}) for record in read(body, query)]
            return records, number + 1 if pages.isdigit() and number < int(pages) else None

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
        hosts=host(QUOTES),
        options=(Option("code", "the code", positional="one"),),
        operations=(
            Operation(
                fetch=fetch,
                parse_reply=read,
                dating=Dating(
                    rule="the end of the day in Tokyo", basis=(Basis("day", "interval_start", after=timedelta(days=1)),)
                ),
                fields=(Field("open", "number"), Field("close", "number")),
                window="available_on",
            ),
        ),
    )
    return KitSource(
        provider,
        QUOTE_ROWS,
        lambda rows, **meta: as_json("quotes")(rows, complete=len(rows) < len(QUOTE_ROWS), **meta),
        lambda row: f"{row['day']}T23:59:59.999+09:00",
        options={"code": "7203"},
        zone="Asia/Tokyo",
        recording={"pages": Pages(size=ON_A_PAGE, number="page", total="X-Total-Pages")},
        live=serve,
    )


# --- a SQLite file: a primary key, and a table beside it

LEDGER = "SELECT e.id, e.posted, e.amount, a.name FROM entries e LEFT JOIN accounts a ON a.number = e.account"
ENTRIES = [{"id": 300 + n, "account": 1, "posted": f"2024-02-1{n}T09:00:00-05:00", "amount": 10 * n}
           for n in (1, 2, 3, 4, 5)]  # fmt: skip


ACCOUNTS = """
    CREATE TABLE accounts (number INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO accounts VALUES (1, 'Acme');
"""


def entry(row: Row, query: Query) -> Record:
    payload = {"amount": row["amount"] if type(row.get("amount")) is int else None}
    return Record(name_of(row), parse_rfc3339(row.get("posted")), payload)


def ledger(record: MakeRecord = entry, rows: ChooseRows = all_rows, select: str = LEDGER) -> KitSource:
    provider = make_provider(
        "kit-ledger",
        "entries of a local database",
        from_file,
        lambda source: (list(sqlite_rows(source, select)), {}),
        record,
        rows,
        Operation(dating=Dating(rule="when it was posted"), fields=(Field("amount", "integer"),)),
        credentials=(FILE,),
    )
    body = as_database("entries", "id INTEGER PRIMARY KEY, account INTEGER, posted TEXT, amount INTEGER", ACCOUNTS)
    return KitSource(
        provider, ENTRIES, body, lambda row: str(row["posted"]), recording={"documents": Document(ENTRIES, body)}
    )


# --- a Parquet file, whose time stamps are typed

DEALS = [{"id": f"d{n}", "signed": f"2024-02-1{n}T21:00:00+00:00", "price": n * 100.0, "buyer": f"Buyer {n}"}
         for n in (1, 2, 3, 4, 5)]  # fmt: skip


def deal(row: Row, query: Query) -> Record:
    signed = row.get("signed")
    return Record(
        text(row.get("id")),
        signed if isinstance(signed, datetime) and signed.tzinfo is not None else None,
        {
            "price": row["price"] if type(row.get("price")) is float and math.isfinite(row["price"]) else None,
            "buyer": text(row.get("buyer")),
        },
    )


def deals(record: MakeRecord = deal, rows: ChooseRows = all_rows) -> KitSource:
    def body(rows: list[Row], **meta: Any) -> bytes:
        import pyarrow
        from pyarrow import parquet

        def instant(value: Any) -> datetime | None:
            return datetime.fromisoformat(value) if text(value) else None

        def typed(name: str, kind: Any, read: Callable[[Any], Any]) -> Any:
            values = (row.get(name) for row in rows)
            return pyarrow.array([None if value is None else read(value) for value in values], type=kind)

        columns = {
            "id": typed("id", pyarrow.string(), str),
            "signed": typed("signed", pyarrow.timestamp("us", tz="UTC"), instant),
            "price": typed("price", pyarrow.float64(), lambda value: value if isinstance(value, float) else None),
            "buyer": typed("buyer", pyarrow.string(), str),
        }
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.table(columns), sink)
        return bytes(sink.getvalue().to_pybytes())

    provider = make_provider(
        "kit-deals",
        "deals of a local Parquet file",
        from_file,
        lambda source: (list(parquet_rows(source)), {}),
        record,
        rows,
        Operation(dating=Dating(rule="when it was signed"), fields=(Field("price", "number"), Field("buyer"))),
        credentials=(FILE,),
    )
    return KitSource(
        provider, DEALS, body, lambda row: str(row["signed"]), recording={"documents": Document(DEALS, body)}
    )
