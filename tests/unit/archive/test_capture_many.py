"""Captures of many: a request for each value of ``over``, values from files, the plan, and the call from Python."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import pit_fetch
from pit_fetch import api
from pit_fetch.archive_admin.capture.estimate import SourcePlan, source_plan
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import CaptureError, ConfigError, UsageError
from pit_fetch.provider import Host, Rate
from pit_fetch.testing.inprocess import Left, TestClock
from pit_fetch.testing.server import Answering, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.archive.scene import Archive, articles, at

NOW, LATER = "2026-06-01 15:00", "2026-06-20 12:00"
SYMBOLS = ["IBM", "AAPL", "MSFT"]
DIVIDENDS = "[[request]]\nname = 'EPS'\nsource = 'alphavantage'\nop = 'DIVIDENDS'\n"
QUARTER = {"ex_dividend_date": "2026-03-31", "declaration_date": "2026-04-20", "amount": "2.6"}


def earnings(request: HttpRequest) -> Response:
    symbol = request.query["symbol"]
    if symbol == "NOPE":
        return as_json(alphavantage.invalid_call("DIVIDENDS"))
    return as_json({"symbol": symbol, "data": [QUARTER]})


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path, app=earnings)


def capture(archive: Archive, text: str, words: str = "", now: str = NOW, **given: Any) -> Left:
    (archive.folder / "list.toml").write_text(text)
    return archive.command(f"capture list.toml {words}", now, **given)


def rows(left: Left) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(left.out)["requests"]
    return found


@pytest.mark.parametrize(
    ("over", "file"),
    [
        ("over.symbol = ['IBM', 'AAPL', 'MSFT']", ""),
        ("over = { symbol = ['IBM', 'AAPL', 'MSFT'] }", ""),
        ("over.symbol = '@symbols.txt'", "# watched\nIBM\n\n AAPL \nMSFT\nIBM\n"),
        ("over.symbol = '@symbols.txt'", '\ufeffname,symbol\n"Machines, Inc.",IBM\nApple,AAPL\nMicrosoft,MSFT\n'),
        ("over.symbol = '@symbols.txt'", "symbol\nIBM\nAAPL\nMSFT\n"),
    ],
)
def test_over_asks_for_each_value(archive: Archive, over: str, file: str) -> None:
    (archive.folder / "symbols.txt").write_text(file, encoding="utf-8")
    left = capture(archive, DIVIDENDS + over, "--json")
    assert (left.code, [row["name"] for row in rows(left)]) == (0, [f"EPS symbol={symbol}" for symbol in SYMBOLS])
    for symbol in SYMBOLS:
        offline = archive.offline(f"alphavantage DIVIDENDS symbol={symbol}", LATER, "2026-05-01 12:00")
        assert len(offline.data) == 1


def test_a_list_takes_a_file_for_one_request(archive: Archive) -> None:
    folder = archive.folder / "elsewhere"
    folder.mkdir()
    (folder / "tickers.txt").write_text("AAPL\nIBM\n")
    (folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\ntickers = '@tickers.txt'\n")
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30")))
    left = archive.command("capture elsewhere/list.toml --json", NOW)
    assert [row["request"] for row in rows(left)] == ["--source bz-news-api --tickers AAPL,IBM"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("over.symbol = 'IBM'", 'EPS: over: symbol is a list of values, or "@FILE" with one a line'),
        ("over.symbol = []", "EPS: over: symbol: it has no value"),
        ("over = ['IBM']", "EPS: over is a table: write over.symbol = "),
        ("symbol = 'IBM'\nover.symbol = ['AAPL']", "EPS: symbol stands in over as well: write it once"),
        ("over.symbl = ['IBM']", "EPS symbl=IBM: symbl is not an option of a capture from alphavantage"),
        ("over.symbol = '@none.txt'", "EPS: symbol: none.txt: No such file"),
        ("over.symbol = '@empty.txt'", "EPS: symbol: empty.txt: it has no value"),
        ("over.symbol = '@table.csv'", "EPS: symbol: table.csv: it has no column symbol"),
        ("over.symbol = '@latin.txt'", "EPS: symbol: latin.txt: it is not UTF-8"),
        ("over.symbol = ['IBM', 5.5, ['A', 'B']]", "EPS symbol=A,B: symbol takes"),
    ],
)
def test_what_cannot_be_used_is_named_with_the_fix(archive: Archive, text: str, problem: str) -> None:
    for name, content in {
        "empty.txt": b"# nothing\n",
        "table.csv": b"name,cik\nIBM,1\n",
        "latin.txt": b"\xff\n",
    }.items():
        (archive.folder / name).write_bytes(content)
    left = capture(archive, DIVIDENDS + text)
    assert (left.code, archive.asked) == (2, [])
    assert problem in left.err


def test_what_failed_of_many_is_asked_for_alone(archive: Archive) -> None:
    text = DIVIDENDS + "over.symbol = ['IBM', 'NOPE', 'MSFT']"
    left = capture(archive, text)
    assert (left.code, left.err) == (1, "pit_fetch: 1 of 3 requests failed: EPS symbol=NOPE\n")
    archive.asked.clear()
    dry = json.loads(capture(archive, text, "--missing --dry-run --json", "2026-06-02 15:00").out)
    assert [row["state"] for row in dry["requests"]] == ["held", "not asked", "held"]
    assert ([plan["requests"] for plan in dry["plan"]], archive.asked) == ([1], [])
    again = capture(archive, text, "--missing --json", "2026-06-02 15:00")
    assert [row["state"] for row in rows(again)] == ["held", "failed", "held"]
    assert {request.query["symbol"] for request in archive.asked} == {"NOPE"}


# The plan.

DAILY = {"PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "25/86400"}


SET = "PIT_FETCH_RATE_A_COM"


@pytest.mark.parametrize(
    ("rate", "environ", "calls", "expected"),
    [
        (Rate(1), {}, [1] * 43, SourcePlan("a", 43, 43, 42.0)),
        (Rate(8, 1), {}, [30, 2], SourcePlan("a", 2, 32, 3.0)),
        (None, {}, [1], SourcePlan("a", 1, 1, 0)),
        (Rate(1), {SET: "75/60"}, [1] * 150, SourcePlan("a", 150, 150, 60.0)),
        (Rate(1), {SET: "25/86400"}, [1] * 100, SourcePlan("a", 100, 100, 0, 25)),
        (Rate(1), {SET: "10/3600"}, [1] * 100, SourcePlan("a", 100, 100, 0, 240)),
    ],
)
def test_a_plan_counts_with_the_rate(
    rate: Rate | None, environ: dict[str, str], calls: list[int], expected: SourcePlan
) -> None:
    assert source_plan("a", Host("A", "https://a.com", "A_URL", rate), calls, environ) == expected


def test_a_free_key_of_few_calls_a_day_needs_days(archive: Archive) -> None:
    symbols = ", ".join(f"'T{n}'" for n in range(100))
    text = f"{DIVIDENDS}over.symbol = [{symbols}]"
    free = {"PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": ""}
    (*_, total, plan) = capture(archive, text, "--dry-run", env=free).out.splitlines()
    assert (total, plan) == (
        "100 requests",
        "alphavantage: 100 requests, at least 100 calls, which take 99 s or more; a free key has 25 calls a day: "
        "4 days, with --missing",
    )
    assert archive.asked == []
    paid = capture(archive, text, "--dry-run", env={"PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "75/60"}).out.splitlines()
    assert paid[-1] == "alphavantage: 100 requests, at least 100 calls, which take 60 s or more"
    daily = json.loads(capture(archive, text, "--dry-run --json", env=DAILY).out)["plan"]
    assert [(plan["calls"], plan["a_day"], plan["days"]) for plan in daily] == [(100, 25, 4)]


def test_four_days_are_four_runs_with_missing(archive: Archive) -> None:
    symbols = ", ".join(f"'T{n}'" for n in range(10))
    text, environ = f"{DIVIDENDS}over.symbol = [{symbols}]", {"HOME": str(archive.folder)}
    slow = {"PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "3/86400", **environ}
    counts = []
    for day in range(4):
        now = (at(NOW) + timedelta(days=day, hours=day)).strftime("%Y-%m-%d %H:%M")
        counts.append(json.loads(capture(archive, text, "--missing --json", now, env=slow).out)["captured"])
    assert counts == [3, 3, 3, 1]


# From Python.


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDECODE", "PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY", "PIT_FETCH_ARCHIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ALPHAVANTAGE_API_KEY", alphavantage.KEY)
    monkeypatch.setenv("PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO", "1000/1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_captures_what_it_then_asks_offline(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols, said = pd.Series(SYMBOLS), list[str]()
    request = {"source": "alphavantage", "op": "DIVIDENDS", "over": {"symbol": symbols}}
    with serve(earnings) as server:
        monkeypatch.setenv("PIT_FETCH_ALPHAVANTAGE_URL", server.url)
        plan = pit_fetch.capture([request], "a.db", dry_run=True)
        assert ([planned.calls for planned in plan.plan], plan.failed, (place / "a.db").exists()) == ([3], (), False)
        report = pit_fetch.capture([request], "a.db", on_progress=said.append)
        assert dict(report.counts) == {"captured": 3, "empty": 0, "held": 0, "failed": 0}
        assert said[0] == "alphavantage: 3 requests, at least 3 calls"
        assert len(pd.DataFrame(report.requests)) == 3
        (place / "list.toml").write_text(DIVIDENDS + "over.symbol = ['IBM']")
        assert pit_fetch.capture("list.toml", "a.db").counts["captured"] == 1
    for symbol in SYMBOLS:
        answer = pit_fetch.fetch(
            "alphavantage", "2026-05-01T12:00:00Z", op="DIVIDENDS", symbol=symbol, archive="a.db", offline=True
        )
        assert (len(answer.data), answer.is_complete) == (1, True)


def test_python_is_loud_about_what_failed_and_continues(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = TestClock(at(NOW))
    runtime = real_runtime()._replace(
        environ={"ALPHAVANTAGE_API_KEY": alphavantage.KEY, "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "1000/1"},
        folder=str(archive.folder),
        clock=clock.value(),
        transport=Answering(archive._send, lambda: at(NOW)),
    )
    monkeypatch.setattr(api, "real_runtime", lambda: runtime)
    wanted = [{"source": "alphavantage", "op": "DIVIDENDS", "over": {"symbol": ["IBM", "NOPE"]}}]
    with pytest.raises(
        CaptureError, match=r"1 of 2 requests failed .*symbol=NOPE: Alpha Vantage does not know"
    ) as raised:
        pit_fetch.capture(wanted, "a.db")
    assert [row.state for row in raised.value.report.requests] == ["captured", "failed"]
    runtime = runtime._replace(clock=TestClock(at(NOW) + timedelta(days=1)).value())
    kept = pit_fetch.capture(wanted, "a.db", missing=True, on_gap="keep")
    assert [row.state for row in kept.requests] == ["held", "failed"]
    (archive.folder / "text.db").write_text("no archive" * 100)
    with pytest.raises(ConfigError, match="not an archive"):
        pit_fetch.capture(wanted, "text.db")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"requests": [{"source": "fred"}], "archive": None}, "archive=PATH"),
        ({"requests": [{"op": "x"}]}, "request 1 has no source"),
        ({"requests": ["fred"]}, "request 1 is not a table"),
        ({"requests": [], "missing": True, "again": True}, "exclude"),
        ({"requests": [], "on_gap": "ignore"}, "on_gap"),
    ],
)
def test_what_python_refuses(place: Path, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        pit_fetch.capture(**{"archive": "a.db", **arguments})


def test_under_a_ceiling_nobody_captures(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIT_FETCH_CEILING", "2024-01-01T00:00:00Z")
    with pytest.raises(UsageError, match="for people and scheduled jobs"):
        pit_fetch.capture([{"source": "fred", "series_id": "GDP"}], "a.db")
