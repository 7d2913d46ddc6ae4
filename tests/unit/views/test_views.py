"""What a program gets for one request: what is refused, what of a reply stays, and what the operator is told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.engine import registry
from pit_fetch.provider import Asked, Credential, Host, Operation, Provider, QueryKey, Record, Row, View
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock, unhurried
from pit_fetch.testing.server import Answering, App, Response, as_json
from pit_fetch.times import parse_rfc3339
from pit_fetch.transport import HttpRequest
from pit_fetch.views import Answer, Exchange, ViewOptions, answer, views_table
from tests.providers.bz_news_api import server as benzinga
from tests.providers.sec_full_text import server as sec

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
KEY = "sample-0123456789abcdef"
AGENT = ("User-Agent", "Program tests@example.com")


def own_source(**view: Any) -> Provider:
    """Return a source as a plugin declares it."""

    def record(row: Row, asked: Asked) -> Record:
        return Record(row.value["id"], parse_rfc3339(row.value["at"]), {})

    items = View("Sample", "/items", rows=("data/*",), record=record)
    host = Host("Sample", "https://api.sample.example", "SAMPLE_URL", auth=QueryKey("key", "key"))
    return Provider(
        "sample", "", (Operation(),), hosts=(host,), credentials=(Credential("key", ("SAMPLE_KEY",)),),
        views=lambda: (items._replace(**view),),
    )  # fmt: skip


def ask(
    app: App, target: str, host: str = "api.sample.example", *, provider: Provider | None = None, method: str = "GET",
    headers: Sequence[tuple[str, str]] = (), web: Any = "none", port: int = 443, body: bytes = b"", folder: str = "/",
    sources: Sequence[str] = (), transports: list[Answering] | None = None,
) -> Answer:  # fmt: skip
    clock = TestClock(PIT + timedelta(days=700))
    transport = Answering(app, clock.now)
    if transports is not None:
        transports.append(transport)
    runtime = Runtime({"HOME": folder}, folder, clock.value(), transport, registry.load, lambda _: b"")
    providers = (
        (provider or own_source(),) if not sources else tuple(unhurried(registry.load(name)) for name in sources)
    )
    exchange = Exchange(method, "https", host, port, target, tuple(headers), body)
    return answer(exchange, PIT, runtime, ViewOptions(web, providers=providers))


def served(*rows: object, **beside: object) -> App:
    return lambda request: as_json({**beside, "data": list(rows)}, ETag="x", Age="7")


PUBLIC, LATE = {"id": "a", "at": "2024-02-15T20:00:00Z"}, {"id": "b", "at": "2024-02-15T22:00:00Z"}


def test_rows_of_later_are_taken_out_and_counted_for_the_operator() -> None:
    given = ask(served(LATE, PUBLIC, total=2), "/items?key=x")
    assert given.body == b'{"data":[{"id": "a", "at": "2024-02-15T20:00:00Z"}]}'
    assert (given.verdict, given.source, given.kept, given.left_out) == ("viewed", "sample", 1, 1)
    assert dict(given.headers) == {"content-type": "application/json; charset=utf-8", "x-pit-fetch": "viewed"}


def test_a_row_keeps_its_bytes() -> None:
    row = b'{"id": "a",  "at":"2024-02-15T20:00:00Z", "x": 1.50, "y": 1e3, "z": "caf\\u00e9 \xe9"}'
    given = ask(
        lambda request: Response(b'{"data": [' + row + b', {"id": "b", "at": "2030-01-01T00:00:00Z"}]}'), "/items"
    )
    assert row in given.body


@pytest.mark.parametrize(
    ("target", "host", "more"),
    [
        ("/other", "api.sample.example", {}),
        ("/items/../other", "api.sample.example", {}),
        ("/items/%2e%2e/items", "api.sample.example", {}),
        ("/items", "elsewhere.example", {}),
        ("/items", "api.sample.example", {"method": "POST"}),
        ("/items", "api.sample.example", {"method": "DELETE"}),
        ("/items", "api.sample.example", {"port": 8443}),
        ("/api/xbrl/frames/us-gaap/Assets/USD/CY2019Q1I.json", "data.sec.gov", {"sources": ("sec_facts",)}),
        ("/files/company_tickers.json", "www.sec.gov", {"sources": ("sec_filings",)}),
        ("/Archives/edgar/data/320193/000032019323000106/index.json", "www.sec.gov", {"sources": ("sec_filings",)}),
        ("/query?function=OVERVIEW&symbol=IBM", "www.alphavantage.co", {"sources": ("alphavantage",)}),
        ("/w/api.php?action=query&list=search&srsearch=x&format=json", "en.wikipedia.org", {"sources": ("wikipedia",)}),
        ("/v1/agent", "api.perplexity.ai", {"sources": ("perplexity",), "method": "POST", "body": b"{}"}),
    ],
)
def test_what_is_not_viewed_is_refused_without_a_request(target: str, host: str, more: dict[str, Any]) -> None:
    asked: list[Answering] = []
    given = ask(served(PUBLIC), target, host, transports=asked, **more)
    assert (given.status, given.verdict) == (403, "refused")
    assert dict(given.headers) == {"content-type": "application/json", "x-pit-fetch": "refused"}
    assert json.loads(given.body)["error"]["type"] == "not_viewed"
    assert asked[0].exchanges == []


def test_the_program_s_key_goes_to_the_source_alone() -> None:
    def app(request: HttpRequest) -> Response:
        assert request.signature.params == {"key": KEY}
        assert KEY not in repr((request.url, request.params, request.headers))
        return as_json({"error": f"no {KEY}"}, 401)

    given = ask(app, f"/items?key={KEY}")
    assert given.status == 401
    assert KEY not in repr(given)
    assert ask(lambda request: as_json({"data": [] if request.query else None}), "/items").kept == 0


@pytest.mark.parametrize(
    "broken",
    [b'{"data": ', b"<html>", b'{"data": [NaN, {"id": 7}, {"id": [], "at": {}}, {"at": "2024-02-15T20:00:00Z"}]}'],
)
def test_a_reply_that_cannot_be_read_shows_nothing(broken: bytes) -> None:
    assert ask(lambda request: Response(broken), "/items").kept == 0


def test_ten_thousand_late_rows_leave_no_hole() -> None:
    late = [
        benzinga.article(10_000 + n, PIT - timedelta(hours=n % 300), PIT + timedelta(seconds=1 + n))
        for n in range(9_500)
    ]
    late += [benzinga.article(30_000 + n, PIT + timedelta(seconds=1 + n)) for n in range(500)]
    public = [benzinga.article(n, PIT - timedelta(minutes=n)) for n in range(1, 400)]
    url = f"/api/v2/news?token={benzinga.TOKEN}&pageSize=100&page="
    pages = [
        ask(benzinga.app([*public, *late]), f"{url}{n}", "api.benzinga.com", sources=("bz-news-api",)) for n in range(2)
    ]
    assert [row["id"] for page in pages for row in json.loads(page.body)] == list(range(1, 201))
    assert sum(page.left_out for page in pages) > 300


def test_a_full_index_has_what_the_daily_indexes_of_then_list(tmp_path: Path) -> None:
    filings = [
        sec.Filing(f"0000320193-24-00000{n}", "10-K", f"2024-0{month}-14 09:00:00") for n, month in ((1, 2), (2, 3))
    ]
    rows = [f"320193|APPLE|10-K|{filing.day}|edgar/data/320193/{filing.accession}.txt" for filing in filings]
    text = "\n".join(["Last Data Received:    March 31, 2024", "----", *rows, ""])
    rest = sec.app(filings)

    def app(request: HttpRequest) -> Response:
        if request.path.endswith("/QTR1/master.gz"):
            return Response(gzip.compress(text.encode()))
        return rest(request)

    target = "/Archives/edgar/full-index/2024/QTR1/master.gz"
    given = ask(app, target, "www.sec.gov", sources=("sec_filings",), headers=[AGENT], folder=str(tmp_path))
    lines = gzip.decompress(given.body).decode().splitlines()
    assert lines == ["Last Data Received:    February 14, 2024", "----", rows[0]]


@pytest.mark.parametrize(("day", "status"), [("20240214", 200), ("20240215", 404)])
def test_a_daily_index_is_served_once_its_day_is_over(day: str, status: int, tmp_path: Path) -> None:
    filing = sec.Filing("0000320193-24-000001", "10-K", f"{day[:4]}-{day[4:6]}-{day[6:]} 09:00:00")
    target = f"/Archives/edgar/daily-index/2024/QTR1/master.{day}.idx"
    given = ask(
        sec.app([filing]), target, "www.sec.gov", sources=("sec_filings",), headers=[AGENT], folder=str(tmp_path)
    )
    assert given.status == status


def test_a_page_of_the_web_is_asked_of_an_archive_without_a_key() -> None:
    asked: list[Answering] = []
    for target, headers in (("/a?api_key=x", ()), ("/a", [("Authorization", "Bearer x")]), ("/a", [("Cookie", "x=1")])):
        given = ask(
            served(), target, "example.com", sources=("wayback",), web="wayback", headers=headers, transports=asked
        )
        assert given.status == 403
    assert all(transport.exchanges == [] for transport in asked)


def test_every_bundled_source_has_views() -> None:
    rows = views_table()
    assert {row["source"] for row in rows} >= {*registry.BUNDLED_NAMES}
    assert [row for row in rows if not all((row["host"], row["path"], row["rule"]))] == []
    assert {"source", "host", "path", "operation", "rule"} == {*rows[0]}


@pytest.mark.parametrize("form", ["json", "xml"])
def test_a_series_is_described_as_of_then(form: str) -> None:
    told = {
        "realtime_start": "2024-02-14",
        "realtime_end": "2024-02-14",
        "id": "GDP",
        "title": "Gross Domestic Product",
    }
    today = {"observation_end": "2026-07-01", "last_updated": "2026-10-30 07:54:01-05", "notes": "New base year"}

    def app(request: HttpRequest) -> Response:
        asked = request.query
        assert (asked["realtime_start"], asked["realtime_end"]) == ("2024-02-14", "2024-02-14")
        if asked.get("file_type") == "json":
            return as_json({"realtime_start": "2024-02-14", "seriess": [{**told, **today, "popularity": 93}]})
        attributes = " ".join(f'{name}="{value}"' for name, value in {**told, **today, "popularity": "93"}.items())
        return Response(f'<?xml version="1.0"?>\n<seriess count="1">\n  <series {attributes}/>\n</seriess>'.encode())

    given = ask(app, f"/fred/series?series_id=GDP&file_type={form}", "api.stlouisfed.org", sources=("fred",))
    text = given.body.decode()
    assert (given.status, given.kept) == (200, 1)
    assert all(value in text for value in told.values())
    assert not any(value in text for value in (*today.values(), "93"))


def test_a_concept_is_served_by_its_own_path(tmp_path: Path) -> None:
    filing = sec.Filing("0000320193-23-000106", "10-K", "2023-11-03 06:01:36", "2023-11-03")
    late = sec.Filing("0000320193-24-000123", "10-K", "2024-11-01 06:01:36", "2024-11-01")
    rows = [
        {"end": "2023-09-30", "val": 5, "accn": of.accession, "fy": 2023, "fp": "FY", "form": "10-K", "filed": of.filed,
         "frame": "CY2023Q3I"}
        for of in (filing, late)
    ]  # fmt: skip
    document = {"cik": 320193, "taxonomy": "us-gaap", "tag": "Assets", "label": "Of today", "units": {"USD": rows}}
    rest = sec.app([filing, late])
    path = "/api/xbrl/companyconcept/CIK0000320193/us-gaap/Assets.json"

    def app(request: HttpRequest) -> Response:
        return as_json(document) if request.path == path else rest(request)

    given = ask(app, path, "data.sec.gov", sources=("sec_facts",), headers=[AGENT], folder=str(tmp_path))
    kept = {
        "end": "2023-09-30",
        "val": 5,
        "accn": filing.accession,
        "fy": None,
        "fp": None,
        "form": "10-K",
        "filed": "2023-11-03",
    }
    assert json.loads(given.body)["units"] == {"USD": [kept]}
    assert "today" not in given.body.decode()
