"""Pairs of worlds for programs: in the second, each source has rows of later, and names and totals of then.

Real clients ask them through a proxy. What a program prints must be the same in both, and hold what was public.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from typing import NamedTuple

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.providers.fred import server as fred
from tests.providers.sec_facts import server as facts
from tests.providers.sec_filings import server as filings
from tests.providers.sec_full_text import server as sec
from tests.providers.yahoo import server as yahoo

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
LATE = "LATE-CANARY"
_AGENT = "Program tests@example.com"


class Program(NamedTuple):
    """A program that asks a source, as its package is used. It prints what it got, and ``shows`` some of it.

    needs  the package that it imports, or the command that it runs
    """

    needs: str
    source: str
    script: str
    world: Callable[[bool], App]
    shows: tuple[str, ...]
    evidence: str = "proved"


def _benzinga(is_later: bool) -> App:
    public = [benzinga.article(n, PIT - timedelta(hours=n), title=f"Public {n}") for n in range(1, 40)]
    late = [
        *(benzinga.article(1_000 + n, PIT + timedelta(minutes=n), title=LATE) for n in range(1, 143)),
        *(
            benzinga.article(2_000 + n, PIT - timedelta(hours=n), PIT + timedelta(days=9), title=LATE)
            for n in range(1, 30)
        ),
    ]
    return benzinga.app([*public, *(late if is_later else ())])


def _fred(is_later: bool) -> App:
    known = [
        ("2023-01-01", "2023-04-27", "1.0"),
        ("2023-01-01", "2023-05-25", "1.1"),
        ("2023-04-01", "2023-07-27", "2.0"),
    ]
    late = [("2023-04-01", "2024-07-27", "9999"), ("2024-01-01", "2024-04-25", "9999")]
    served = fred.app([fred.Vintage(*row) for row in [*known, *(late if is_later else ())]])

    def answer(request: HttpRequest) -> Response:
        if request.query.get("file_type") == "json":
            return served(request)
        return _xml(served(request._replace(params={**request.params, "file_type": "json"})))

    return answer


def _xml(reply: Response) -> Response:
    document = json.loads(reply.body)
    if reply.status != 200:
        return Response(f'<error code="400" message="{escape(document["error_message"])}" />'.encode(), reply.status)
    key = "observations" if "observations" in document else "vintage_dates"
    head = " ".join(f'{name}="{value}"' for name, value in document.items() if name != key)
    rows = "".join(
        f"<vintage_date>{row}</vintage_date>\n"
        if isinstance(row, str)
        else "<observation " + " ".join(f'{name}="{value}"' for name, value in row.items()) + " />\n"
        for row in document[key]
    )
    root = key.replace("_", "")
    return Response(f'<?xml version="1.0" encoding="utf-8" ?>\n\n<{root} {head}>\n{rows}</{root}>\n'.encode())


def _alphavantage(is_later: bool) -> App:
    last = datetime(2024, 2, 16 if is_later else 14)  # noqa: DTZ001
    days = [last - timedelta(days=n) for n in range(160 if is_later else 158)]
    bars = [
        alphavantage.csv_bar(
            "TIME_SERIES_DAILY",
            f"{day:%Y-%m-%d}",
            "9999.9" if day.day > 14 and day.year == 2024 and day.month == 2 else "10.5",
        )
        for day in days
    ]
    splits = [{"effective_date": "2023-06-01", "split_factor": "2.0"}]
    splits += [{"effective_date": "2024-06-10", "split_factor": "99"}] if is_later else []
    return alphavantage.app(
        alphavantage.Store(
            bars={"TIME_SERIES_DAILY": bars}, zone="US/Eastern", documents={"SPLITS": {"symbol": "IBM", "data": splits}}
        )
    )


_YEARS = (
    ("0000320193-21-000105", "2021-10-29"),
    ("0000320193-22-000108", "2022-10-28"),
    ("0000320193-23-000106", "2023-11-03"),
)


def _filings(is_later: bool) -> list[filings.Filed]:
    made = [sec.Filing(number, "10-K", f"{day} 06:01:36", day) for number, day in _YEARS]
    late = [sec.Filing("0000320193-24-000123", "10-K", "2024-11-01 06:01:36", "2024-11-01", name=LATE)]
    return [
        filings.Filed(
            filing,
            documents=(filings.Document("10-K", "main.htm", f"<html>Report of {filing.day} {filing.name}</html>"),),
        )
        for filing in [*made, *(late if is_later else ())]
    ]


def _edgar(is_later: bool) -> App:
    listed = _filings(is_later)
    reported = [
        facts.Reported(
            entry.filing, "Assets", f"{entry.filing.day[:4]}-09-30", 9999 if LATE in entry.filing.name else 100 + place
        )
        for place, entry in enumerate(listed)
    ]
    rest, numbers = filings.app(listed), facts.app(reported)

    def answer(request: HttpRequest) -> Response:
        if "/api/xbrl/" in request.path:
            return numbers(request)
        reply = rest(request)
        return _whole(reply) if request.path.startswith("/submissions/") and reply.status == 200 else reply

    return answer


def _whole(reply: Response) -> Response:
    """Return a list of filings with the columns that only programs read."""
    document = json.loads(reply.body)
    recent = document["filings"]["recent"]
    count = len(recent["form"])
    for name in ("act", "fileNumber", "filmNumber", "core_type", "primaryDocDescription"):
        recent.setdefault(name, [""] * count)
    for name in ("size", "isXBRL", "isInlineXBRL"):
        recent.setdefault(name, [1] * count)
    return Response(json.dumps(document).encode())


def _yahoo(is_later: bool) -> App:
    opens = datetime(2024, 2, 1, 14, 30, tzinfo=UTC)
    days = [
        opens + timedelta(days=n) for n in range(20 if is_later else 14) if (opens + timedelta(days=n)).weekday() < 5
    ]
    # A split of later halves every price that the chart has.
    ratio = 2 if is_later else 1
    bars = [
        (int(day.timestamp()), *[round(100 / ratio + n / ratio, 6)] * 4, 1_000 * ratio, 1.0 / ratio)
        for n, day in enumerate(days)
    ]
    late_split = [
        {
            "date": int(datetime(2024, 6, 10, 13, 30, tzinfo=UTC).timestamp()),
            "numerator": 2,
            "denominator": 1,
            "splitRatio": "2:1",
        }
    ]
    articles = [("a1", "2024-02-14T13:00:00Z", "2024-02-14T13:00:05Z", "Public story")]
    articles += [("a2", "2024-02-14T13:00:00Z", "2024-02-20T13:00:05Z", LATE)] if is_later else []
    calendar = [("February 1, 2024 at 4 PM EST", "2.10", "2.18", "+3.8")]
    calendar = [*([("May 2, 2024 at 4 PM EDT", "1.50", "99.9", "+9.9")] if is_later else ()), *calendar]
    company = yahoo.Company(
        bars=bars, splits=late_split if is_later else (), articles=articles, calendar=calendar, name=LATE
    )
    return yahoo.app({"AAPL": company}, strict=False)


_NEWS = f"https://api.benzinga.com/api/v2/news?token={benzinga.TOKEN}&pageSize=10&page=2&dateFrom=2024-02-01"
_DAILY = f"https://www.alphavantage.co/query?function=TIME_SERIES_DAILY&symbol=IBM&apikey={alphavantage.KEY}"
_PRINT = "print(r.status_code, r.headers.get('content-type'), sorted(k.lower() for k in r.headers), r.text)"
PROGRAMS = {
    "requests on Benzinga": Program(
        "requests", "bz-news-api",
        f"import requests\nr = requests.get({_NEWS!r}, headers={{'accept': 'application/json'}})\n{_PRINT}",
        _benzinga, ("Public 21", "Public 30"),
    ),
    "httpx on Benzinga": Program(
        "httpx", "bz-news-api", f"import httpx\nr = httpx.get({_NEWS!r})\n{_PRINT}", _benzinga,
        ("Public 21", "Public 30"),
    ),
    "curl on Alpha Vantage": Program(
        "curl", "alphavantage", f"import subprocess\nsubprocess.run(['curl', '-sSi', {_DAILY!r}], check=True)",
        _alphavantage, ("2024-02-14", "Last Refreshed"),
    ),
    "fredapi": Program(
        "fredapi", "fred",
        "from fredapi import Fred\n"
        f"f = Fred(api_key={fred.KEY!r})\n"
        "print(f.get_series('GDP'), f.get_series_all_releases('GDP'), f.get_series_vintage_dates('GDP'))",
        _fred, ("2023-04-01    2.0", "2023-07-27"),
    ),
    "alpha_vantage": Program(
        "alpha_vantage", "alphavantage",
        "from alpha_vantage.timeseries import TimeSeries\n"
        f"data, meta = TimeSeries(key={alphavantage.KEY!r}, output_format='pandas').get_daily('IBM')\n"
        "print(meta, len(data), data.to_csv())",
        _alphavantage, ("2024-02-14", "100"),
    ),
    "requests on EDGAR": Program(
        "requests", "sec_filings,sec_facts",
        f"import requests\ns = requests.Session()\ns.headers['User-Agent'] = {_AGENT!r}\n"
        "for url in ('https://data.sec.gov/submissions/CIK0000320193.json',"
        " 'https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json',"
        " 'https://www.sec.gov/Archives/edgar/data/320193/000032019323000106/main.htm',"
        " 'https://www.sec.gov/Archives/edgar/data/320193/000032019324000123/main.htm'):\n"
        f"    r = s.get(url)\n    {_PRINT}",
        _edgar, ("0000320193-23-000106", "102", "Report of 2023-11-03"),
    ),
}  # fmt: skip
# Packages of other sizes, and clients that come with a browser's handshake: `make test-programs`.
LARGE = {
    "edgartools": Program(
        "edgar", "sec_filings,sec_facts",
        f"import edgar\nedgar.set_identity({_AGENT!r})\n"
        "c = edgar.Company(320193)\n"
        "f = c.get_filings(form='10-K')\n"
        "print(len(f), [x.accession_no for x in f], f[0].filing_date)\n"
        "print(f[0].text())\n"
        "print(c.get_facts().to_dataframe().to_csv())",
        _edgar, ("0000320193-23-000106", "Report of 2023-11-03", "102"),
    ),
    "yfinance": Program(
        "yfinance", "yahoo",
        "import yfinance\nt = yfinance.Ticker('AAPL')\n"
        "print(t.history(start='2024-02-01', end='2024-03-01', auto_adjust=False)['Close'].to_csv())\n"
        "print([n['content']['title'] for n in t.news])\n"
        "print(t.get_earnings_dates(limit=12).to_csv())",
        _yahoo, ("Public story", "2.18", "2024-02-09"), "claimed",
    ),
}  # fmt: skip
