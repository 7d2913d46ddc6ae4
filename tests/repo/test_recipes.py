"""The documented questions are asked, as they are printed, of servers that speak the providers' protocols."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pit_fetch
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.providers.sec_facts import server as facts
from tests.providers.sec_filings import server as filed
from tests.providers.sec_full_text import server as sec
from tests.providers.wayback import server as wayback
from tests.serving import serve

pytestmark = pytest.mark.skipif(find_spec("pandas") is None, reason="needs the extra frames")
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text()
BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", PAGE.partition("## A free key")[0], re.DOTALL)
CLOSE = datetime(2024, 2, 15, 21, tzinfo=UTC)

FILINGS = [
    *(sec.Filing(sec.number(n), "8-K", f"2024-02-{n:02} 10:00:00") for n in (5, 6, 7, 8, 9)),
    sec.Filing(sec.number(16), "8-K", "2024-02-16 10:00:00", name="SECRET"),
    sec.Filing(sec.number(10), "10-K", "2024-02-12 10:00:00"),
]
TICKERS = {"AAPL": sec.APPLE, "TSLA": sec.TESLA, "NONE": 1}
COMPANIES = [
    *(sec.Filing(sec.number(100 + n), "8-K", f"2024-{n:02}-15 16:30:00", ciks=(sec.TESLA,)) for n in range(4, 9)),
    sec.Filing(sec.number(120), "4", "2024-05-15 16:30:00", ciks=(sec.TESLA,)),
]
REPORTS = [
    sec.Filing(sec.number(20 + n), "10-K", f"{day} 16:30:00")
    for n, day in enumerate(("2022-10-28", "2023-11-03", "2025-01-31"))
]


def _eps(report: int, start: str, end: str, value: float) -> facts.Reported:
    return facts.Reported(REPORTS[report], "EarningsPerShareDiluted", end, value, start, "USD/shares")


ANNUAL = [
    _eps(0, "2021-09-26", "2022-09-24", 12.20),
    _eps(1, "2021-09-26", "2022-09-24", 6.10),
    _eps(1, "2022-09-25", "2023-09-30", 6.13),
    _eps(2, "2022-09-25", "2023-09-30", 99.99),
]
TWENTY = range(1001, 1021)
YEAR, QUARTER = (
    sec.Filing(sec.number(n), form, f"{day} 16:30:00", ciks=tuple(TWENTY))
    for n, form, day in ((201, "10-K", "2023-02-15"), (202, "10-Q", "2023-05-02"))
)
REVENUE = [
    facts.Reported(filing, "Revenues", end, value, start)
    for filing, start, end, value in (
        (YEAR, "2022-01-01", "2022-12-31", 400),
        (QUARTER, "2022-01-01", "2022-03-31", 100),
        (QUARTER, "2023-01-01", "2023-03-31", 110),
    )
]
ADOBE = 796343
RELEASES = [
    filed.Filed(
        sec.Filing(sec.number(300 + n), "8-K", f"{at}:08", items=items, ciks=(ADOBE,), written=f"{at}:40"),
        (filed.Document("8-K", "main.htm", "<html>"), filed.Document("EX-99.1", "ex.htm", f"<html><p>{text}")),
    )
    for n, (at, items, text) in enumerate(
        (
            ("2022-12-15 16:05", ("2.02", "9.01"), "The fourth quarter."),
            ("2023-03-15 16:05", ("2.02", "9.01"), "The first quarter."),
            ("2023-03-20 10:00", ("5.02",), "A director leaves."),
        )
    )
]
CAPTURES = [
    wayback.Capture(f"202402{day}120000", body=f"<title>{title}</title><p>{title}".encode())
    for day, title in (("10", "First"), ("12", "First"), ("14", "Second"), ("16", "SECRET"))
]
ESTIMATES = [{"date": "2026-06-30", "horizon": "fiscal quarter", "eps_estimate_average": "2.50"}]


def _articles() -> list[dict[str, Any]]:
    moments = [CLOSE - timedelta(hours=7 * n) for n in range(-3, 24)]
    return [
        benzinga.article(n, at, title=f"Article {n}", stocks=[{"name": "AAPL"}, {"name": "OTHER"}])
        for n, at in enumerate(sorted(moments, reverse=True), 1)
    ]


def _bars() -> alphavantage.Store:
    days = [day for day in range(3, 29) if datetime(2024, 6, day, tzinfo=UTC).weekday() < 5]
    bars = []
    for day in sorted(days, reverse=True):
        split = {"split_coefficient": "10.0" if day == 10 else "1.0", "dividend_amount": "0.0000"}
        close = f"{(1200 if day < 10 else 120) + day:.4f}"
        bars.append(alphavantage.bar(f"2024-06-{day:02}", close, adjusted_close=close, **split))
    documents = {"EARNINGS_ESTIMATES": {"symbol": "IBM", "estimates": ESTIMATES}}
    bars_of = {"TIME_SERIES_DAILY": _raw(bars), "TIME_SERIES_DAILY_ADJUSTED": bars}
    return alphavantage.Store(bars=bars_of, documents=documents)


def _raw(bars: list[alphavantage.Bar]) -> list[alphavantage.Bar]:
    names = ("open", "high", "low", "close", "volume")
    return [(label, {name: fields[name] for name in names}) for label, fields in bars]


def _sec() -> App:
    rest = facts.app(ANNUAL, others=[*FILINGS, *COMPANIES, YEAR, QUARTER], tickers=TICKERS)
    adobe = filed.app(RELEASES)

    def answer(request: HttpRequest) -> Response:
        match = re.fullmatch(r"/api/xbrl/companyfacts/CIK([0-9]{10})\.json", request.path)
        if match and int(match[1]) in TWENTY:
            return as_json(facts.document(REVENUE, int(match[1])))
        return adobe(request) if str(ADOBE) in request.path else rest(request)

    return answer


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    with (
        serve(benzinga.app(_articles())) as news,
        serve(alphavantage.app(_bars())) as prices,
        serve(_sec()) as filings,
        serve(wayback.app(CAPTURES)) as pages,
    ):
        yield {
            "PIT_FETCH_BENZINGA_URL": news.url,
            "BENZINGA_API_KEY": benzinga.TOKEN,
            "PIT_FETCH_ALPHAVANTAGE_URL": prices.url,
            "ALPHAVANTAGE_API_KEY": alphavantage.KEY,
            "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "100/1",
            "SEC_USER_AGENT": sec.USER_AGENT,
            **wayback.VARIABLES,
            "PIT_FETCH_WAYBACK_URL": pages.url,
            **{f"PIT_FETCH_SEC_{host}_URL": filings.url for host in ("EFTS", "DATA", "WWW")},
            **{f"PIT_FETCH_RATE_{host}_SEC_GOV": "10000/0.001" for host in ("EFTS", "DATA", "WWW")},
        }


@pytest.fixture
def asking(servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDECODE", "PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY", "BENZINGANEWS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**servers, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tickers.csv").write_text("ticker,name\nAAPL,Apple\nTSLA,Tesla\nNONE,Without filings\n")
    (tmp_path / "companies.csv").write_text("".join(f"{cik}\n" for cik in ("cik", *TWENTY)))
    return tmp_path


def test_the_questions_in_python(asking: Path) -> None:
    names: dict[str, Any] = {}
    outputs = []
    for language, code in BLOCKS:
        if language == "python":
            with redirect_stdout(io.StringIO()) as printed:
                own: dict[str, Any] = {}  # each stands by itself
                exec(compile(code, "docs/recipes.md", "exec"), own)
            names |= own
            outputs.append(printed.getvalue())
    assert len(outputs) == 12
    closes = [f"2024-02-{day}" for day in ("09", "12", "13", "14", "15", "16")]
    assert sorted(set(names["news"]["close"])) == closes
    assert "OTHER" not in outputs[0]
    assert [names["eps"][vintage].tolist() for vintage in ("first", "latest")] == [[12.20, 6.13], [6.10, 6.13]]
    revenue = names["revenue"]
    assert revenue.shape == (12, 20)
    assert [*revenue["1001"].fillna(0)] == [0, 400, 400, 400, *[410] * 8]
    assert outputs[5] == "2023-03-15 16:06:40-04:00 The first quarter.\n"
    before = (names["minute_after"] - timedelta(minutes=2)).isoformat()
    asked: dict[str, Any] = {"op": "text", "cik": ADOBE, "form": "8-K", "document": "EX-99.1", "exact": True}
    assert pit_fetch.fetch("sec_filings", pit=before, **asked).data[0]["text"] == "The fourth quarter."
    assert all(len(code.splitlines()) <= 15 for language, code in BLOCKS if "momentum" in code or "week_after" in code)
    study = names["study"]
    assert [(str(row.timestamp)[:10], row.close, row.close_6) for row in study.itertuples()] == [
        ("2024-06-21", 141, 134)
    ]
    assert names["momentum"].shape == (4, 2)
    frame = names["frame"]
    assert (str(frame.index[-1].date()), str(frame["close"].dtype)) == ("2024-06-14", "float64")
    assert frame["close"].max() > 1_000
    assert names["adjusted"]["close"].max() < 150
    assert [item["form"] for item in names["filings"]] == ["8-K"] * 5
    assert "SECRET" not in "".join(outputs)
    assert outputs[10].count("new") > 8
    assert (names["page"]["title"], len(names["captures"])) == ("Second", 3)
    known = names["panel"].groupby(["tickers", "pit"])["id"].count()
    assert [*known["TSLA"]] == [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5, 5]
    assert [*known["AAPL"]] == [0, *[7] * 11]
    assert [*known["NONE"]] == [0] * 12
    assert names["panel"].attrs["status"] == {"nothing_public": 16, "ok": 20}


def test_the_questions_at_a_terminal(asking: Path) -> None:
    script = "\n".join(code for language, code in BLOCKS if language == "sh")
    ran = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, env=_environment(), check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(list(csv.DictReader(io.StringIO((asking / "8k.csv").read_text())))) == 5
    page = (asking / "week.html").read_text()
    assert page.count('class="late grey"') >= 2
    assert "new" in ran.stdout
    assert '"eps_estimate_average": "2.50"' in ran.stdout


def test_an_agent_gets_tools_at_an_instant(asking: Path) -> None:
    [code] = [code for language, code in BLOCKS if "init --mcp" in code]
    subprocess.run(["bash", "-euc", code], env=_environment(), check=True, capture_output=True)
    entry = json.loads((asking / ".mcp.json").read_text())["mcpServers"]["pit_fetch"]
    assert entry["args"][-2:] == ["--pit", "2024-02-15T16:00:00[America/New_York]"]


@pytest.mark.thorough
def test_a_free_key_gets_86_answers_in_four_days(asking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [make_list] = re.findall(r"```sh\n(.*?)```", PAGE.partition("## A free key")[2], re.DOTALL)
    [daily] = re.findall(r"^0 9 \* \* \*  cd \S+ && (.*)$", PAGE, re.MULTILINE)
    symbols = [f"{first}{last}" for first in "ABCDEFGHI" for last in "ABCDEFGHIJ"][:86]
    (asking / "symbols.txt").write_text("".join(f"{symbol}\n" for symbol in symbols))
    answered: list[str] = []  # of the day

    def app(request: HttpRequest) -> Response:
        if len(answered) == 25:
            return as_json(alphavantage.DAILY_LIMIT)
        answered.append(alphavantage.parameters(request)["symbol"])
        return as_json({"symbol": answered[-1], "estimates": ESTIMATES})

    with serve(app) as server:
        monkeypatch.setenv("PIT_FETCH_ALPHAVANTAGE_URL", server.url)
        monkeypatch.delenv("PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO")  # a rate of one's own, as of a paid plan
        planned = subprocess.run(
            ["bash", "-euc", make_list], env=_environment(), capture_output=True, text=True, check=True
        )
        monkeypatch.setenv("PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO", "10000/0.001")
        days = []
        for _ in range(5):
            answered.clear()
            ran = subprocess.run(["bash", "-euc", daily], env=_environment(), capture_output=True, check=False)
            days.append((len(answered), ran.returncode))
    assert "at least 86 calls" in planned.stdout
    assert "4 days, with --missing" in planned.stdout
    assert days == [(25, 1), (25, 1), (25, 1), (11, 0), (0, 0)]


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell is run, and what it ends with is shown as a notebook shows it."""
    monkeypatch.chdir(ROOT / "examples")
    for name in ("CLAUDECODE", "PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY"):
        monkeypatch.delenv(name, raising=False)
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads((ROOT / "examples" / "looking.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            *before, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(before, []), "cell", "exec"), names)
            assert isinstance(last, ast.Expr)
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names)._repr_html_())
    assert len(shown) == 4
    assert "Analysts expect a strong quarter" in shown[0]
    assert ("guidance is cut" in shown[0], "guidance is cut" in shown[2]) == (False, True)
    assert 'class="revised grey"' in shown[3]
    assert isinstance(names["envelope"], pit_fetch.Envelope)
