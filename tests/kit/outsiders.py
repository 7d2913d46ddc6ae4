"""The sources of ``authors``: their rows as somebody else's server would send them, and mistakes in their text."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from pit_fetch.testing import Form, HttpRequest, Pages, Response
from tests.kit.honest import KitSource, Row


def _seen(row: Row) -> Row:
    """Return the row as it is sent: the instant at which it was public is known from elsewhere."""
    return {key: value for key, value in row.items() if key != "public"}


def _sent(row: Row, **names: str) -> Row:
    return {names.get(key, key): value for key, value in _seen(row).items()}


def _csv(rows: list[Row]) -> bytes:
    file = io.StringIO()
    names = ["market", "day", "id", "long", "short"]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["Market", "As_of_Date_In_Form_YYMMDD", "Contract_Code", "Long", "Short"])
    writer.writerows([row.get(name) for name in names] for row in rows)
    return file.getvalue().encode()


def _notices(rows: list[Row]) -> bytes:
    ids = {row.get("id") for row in rows}
    named = [{**row, "next": row.get("next") if f"N-2024-{row.get('next')}" in ids else None} for row in rows]
    results = [_sent(row, id="ref") for row in named]
    return json.dumps({"took": 12, "totalResults": len(rows), "nextBookmark": "", "results": results}).encode()


def _bookmarked(reply: bytes, request: HttpRequest) -> Response:
    """Answer as the source does: in pages of as many rows as are asked for."""
    document, params = json.loads(reply), request.params
    rows, start, size = document["results"], int(str(params.get("bookmark", 0))), int(str(params["rows"]))
    more = str(start + size) if start + size < len(rows) else ""
    return Response(json.dumps({**document, "nextBookmark": more, "results": rows[start : start + size]}).encode())


def _hits(rows: list[Row]) -> bytes:
    hits = [
        {"_id": row.get("id"), "_source": {name: row.get(name) for name in ("ts", "headline", "body")},
         "sort": [row.get("ts"), row.get("id")]}
        for row in rows
    ]  # fmt: skip
    return json.dumps({"took": 3, "hits": {"total": {"value": len(rows), "relation": "eq"}, "hits": hits}}).encode()


def _news(rows: list[Row]) -> bytes:
    data = [{"type": "news", "id": row.get("id"), "attributes": {**_seen(row), "id": None}} for row in rows]
    return json.dumps({"links": {"self": "https://bourse.example/api/news", "next": None}, "data": data}).encode()


def _edges(rows: list[Row], end: str | None = None) -> bytes:
    edges = [{"node": _seen(row)} for row in rows]
    info = {"hasNextPage": end is not None, "endCursor": end or "x"}
    return json.dumps({"data": {"posts": {"pageInfo": info, "edges": edges}}}).encode()


def _connected(reply: bytes, request: HttpRequest) -> Response:
    variables = json.loads(request.body or b"{}")["variables"]
    rows = [edge["node"] for edge in json.loads(reply)["data"]["posts"]["edges"]]
    start, size = int(variables["c"] or 0), variables["n"]
    return Response(_edges(rows[start : start + size], str(start + size) if start + size < len(rows) else None))


def _items(rows: list[Row]) -> bytes:
    def child(name: str, text: object) -> str:
        return f"<{name}>{escape(str(text))}</{name}>" if text is not None else ""

    names = {"title": "title", "summary": "description", "id": "guid", "at": "pubDate", "edited": "atom:updated"}
    items = [
        "".join(["<item>", *(child(tag, row.get(name)) for name, tag in names.items()), "</item>"]) for row in rows
    ]
    return (
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Press room</title>'
        f"{''.join(items)}</channel></rss>"
    ).encode()


def _cut(reply: bytes, request: HttpRequest) -> Response:
    """Answer with as many items as the path or a header asks for, if one does."""
    number = re.search("[0-9]+(?=[.]xml|$)", request.headers.get("Range", request.path))
    head, *items = reply.split(b"<item>")
    items[-1:] = items[-1].split(b"</channel>")[:1] if items else []
    kept = items[: int(number[0])] if number else items
    return Response(b"<item>".join([head, *kept]) + b"</channel></rss>" if items else reply)


def _lines(rows: list[Row]) -> bytes:
    def line(row: Row) -> bytes:
        text = json.dumps(_sent(row, id="krs"), ensure_ascii=False).encode()
        return text.replace(b"_latin_", b"\xfc")  # as a source writes that stores its texts in several encodings

    return b"".join(line(row) + b"\n" for row in rows)


def _rows(names: str, *values: tuple[Any, ...]) -> list[Row]:
    return [dict(zip(["public", *names.split()], row, strict=True)) for row in values]


class Author(NamedTuple):
    """``live`` is the server of the source where that needs more than one reply."""

    rows: list[Row]
    body: Callable[..., bytes]
    zone: str = ""
    live: Callable[[bytes, HttpRequest], Response] | None = None
    recording: Mapping[str, Any] = {}


AUTHORS: Mapping[str, Author] = {
    "traders_cot": Author(
        _rows(
            "market day id long short",
            ("2024-02-16T20:30:00+00:00", "WHEAT", "240213", "001602", "101,311", "159,020"),
            ("2024-02-16T20:30:00+00:00", "CORN", "240213", "002602", "207,514", "504,117"),
            ("2024-02-09T20:30:00+00:00", "WHEAT", "240206", "001602", "99,104", "160,733"),
            ("2024-02-09T20:30:00+00:00", "CORN", "240206", "002602", "210,667", "480,005"),
            ("2024-02-02T20:30:00+00:00", "WHEAT", "240130", "001602", "97,512", "166,200"),
        ),
        _csv,
        "America/New_York",
        recording={"stamps": {"As_of_Date_In_Form_YYMMDD": Form("%y%m%d")}},
    ),
    "uk_notices": Author(
        _rows(
            "id published amended title value next",
            ("2024-02-16T09:30:00+00:00", "N-2024-118", "16/02/2024 09:30:00", None, "Winding-up", 12000.5, None),
            ("2024-02-16T08:00:00+00:00", "N-2024-117", "15/02/2024 17:05:12", "16/02/2024 08:00:00", "Road", 25.5, 118),
            ("2024-02-15T11:45:00+00:00", "N-2024-116", "15/02/2024 11:45:00", None, "Change of name", 0.5, 117),
            ("2024-02-14T10:00:31+00:00", "N-2024-115", "14/02/2024 10:00:31", None, "Receiver", 7000.5, 116),
            ("2024-02-13T09:00:00+00:00", "N-2024-114", "12/02/2024 16:20:05", "13/02/2024 09:00:00", "Creditors", 1, 115),
        ),
        _notices,
        "Europe/London",
        _bookmarked,
        {
            "pages": Pages(size="rows", cursor="bookmark", next="nextBookmark"),
            "stamps": dict.fromkeys(("published", "amended"), Form("%d/%m/%Y %H:%M:%S")),
        },
    ),
    "wire_search": Author(
        _rows(
            "id ts headline body",
            ("2024-02-15T21:00:00.123000+00:00", "w-9004", "1708030800123", "Acme to buy Bolt", "Acme would buy Bolt."),
            ("2024-02-15T18:30:05.400000+00:00", "w-9003", "1708021805400", "Bolt cuts outlook", "Bolt lowered it."),
            ("2024-02-14T21:00:00.999000+00:00", "w-9002", "1707944400999", "Coil names chief", "Coil named one."),
            ("2024-02-13T21:02:03.001000+00:00", "w-9001", "1707858123001", "Dart opens plant", "In Ohio."),
        ),
        _hits,
        recording={"id": "sort", "pages": Pages(size="size", after="search_after")},
    ),
    "tokyo_disclosures": Author(
        _rows(
            "no discDate discTime company title",
            ("2024-02-15T06:30:00+00:00", 5105, "20240215", 153000, "Alpha KK", "Notice of dividends"),
            ("2024-02-15T02:30:15+00:00", 5104, "20240215", 113015, "Beta KK", "Revision of forecast"),
            ("2024-02-15T00:00:00+00:00", 5103, "20240215", 90000, "Gamma KK", "Share buyback"),
            ("2024-02-14T07:00:47+00:00", 5102, "20240214", 160047, "Delta KK", "Change of director"),
        ),
        lambda rows: json.dumps({"items": [_seen(row) for row in rows]}).encode(),
        "Asia/Tokyo",
        recording={
            "pages": Pages(size="$top", start="$skip"),
            "stamps": {"discDate discTime": Form("%Y%m%d %H%M%S")},
        },
    ),
    "press_rss": Author(
        _rows(
            "title summary id at edited",
            ("2024-02-15T21:14:09+00:00", "Acme opens a lab", "In Graz.", "r-41", "Thu, 15 Feb 2024 21:14:09 GMT", None),
            ("2024-02-15T18:00:00+00:00", "Acme signs", "A letter.", "r-40", "Thu, 15 Feb 2024 13:02:44 GMT",
             "2024-02-15T18:00:00Z"),
            ("2024-02-14T12:00:03+00:00", "Results", "Sales rose.", "r-39", "Wed, 14 Feb 2024 12:00:03 GMT", None),
            ("2024-02-12T09:30:57+00:00", "New chair", "As of March.", "r-38", "Mon, 12 Feb 2024 09:30:57 GMT", None),
        ),
        _items,
        "",
        _cut,
    ),
    "bourse_news": Author(
        _rows(
            "id posted title symbols",
            ("2024-02-15T21:05:59.999999+00:00", "70412", "Feb 15, 2024 4:05 PM", "Acme beats", ["ACME"]),
            ("2024-02-15T17:30:59.999999+00:00", "70398", "Feb 15, 2024 12:30 PM", "Noon prices", ["ACME", "BOLT"]),
            ("2024-02-15T14:00:59.999999+00:00", "70371", "Feb 15, 2024 9:00 AM", "Opening calls", []),
            ("2024-02-14T22:45:59.999999+00:00", "70255", "Feb 14, 2024 5:45 PM", "Bolt warns", ["BOLT"]),
        ),
        _news,
        "America/New_York",
        recording={
            "pages": Pages("page[size]", cursor="page[cursor]", next="links.next", link="/api/news?page[cursor]={}"),
            "stamps": {"posted": Form("%b %d, %Y %I:%M %p")},
        },
    ),
    "graph_posts": Author(
        _rows(
            "id createdAt editedAt text",
            ("2024-02-15T21:00:00.512000+00:00", "UG9zdDo0", 1708030800.512, None, "Closing thoughts"),
            ("2024-02-15T22:00:00.750000+00:00", "UG9zdDoz", 1708012345.25, 1708034400.75, "Lunch notes"),
            ("2024-02-14T17:20:34.001000+00:00", "UG9zdDoy", 1707931234.001, None, "Valentine"),
            ("2024-02-13T16:05:00.500000+00:00", "UG9zdDox", 1707840000.125, 1707840300.5, "Hello"),
        ),
        _edges,
        "",
        _connected,
        {
            "pages": Pages(
                size="n", cursor="c", next="data.posts.pageInfo.endCursor", more="data.posts.pageInfo.hasNextPage"
            )
        },
    ),
    "registry_lines": Author(
        _rows(
            "id seq y m d at name",
            ("2024-02-12T07:15:02+00:00", "0000412", 3, 2024, 2, 12, "08:15:02", "Łukasz sp. z o.o."),
            ("2024-02-13T12:40:59+00:00", "0000977", 1, 2024, 2, 13, "13:40:59", "Bożena S.A."),
            ("2024-02-15T09:00:10+00:00", "0000978", 1, 2024, 2, 15, "10:00:10", "Celina S.A."),
            ("2024-02-16T08:00:00+00:00", "0000412", 4, 2024, 2, 16, "09:00:00", "Łukasz Plus sp. z o.o."),
        ),
        _lines,
        "Europe/Warsaw",
        recording={"stamps": {"y m d at": Form("%Y %m %d %H:%M:%S")}},
    ),
}  # fmt: skip


def outsider(name: str, edits: tuple[tuple[str, str], ...] = ()) -> KitSource:
    """Return the source ``name``, with ``edits`` of its author's text."""
    author = AUTHORS[name]
    module = _edited(name, edits) if edits else importlib.import_module(f"tests.kit.authors.{name}")
    return KitSource(module.PROVIDER, author.rows, author.body, lambda row: row["public"], zone=author.zone,
                     live=author.live, recording=author.recording)  # fmt: skip


def _edited(name: str, edits: tuple[tuple[str, str], ...]) -> ModuleType:
    path = Path(__file__).parent / "authors" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    module = ModuleType(f"tests.kit.authors.{name}_{abs(hash(edits))}")
    sys.modules[module.__name__] = module
    exec(compile(text, str(path), "exec"), vars(module))
    return module
