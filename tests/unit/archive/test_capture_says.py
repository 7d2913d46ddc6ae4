"""What pit_fetch capture says of what it did not get, of what came in between, and of later questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pit_fetch.testing.server import App, as_json
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.providers.earningscall import server as earningscall
from tests.providers.fred import server as fred
from tests.providers.sec_full_text import server as sec
from tests.providers.yahoo import server as yahoo
from tests.unit.archive.scene import Archive, articles, at, estimates

VARIABLES = {
    "FRED_API_KEY": fred.KEY,
    "ECALL_API_KEY": earningscall.KEY,
    "SEC_USER_AGENT": "Company contact@company.com",
}
NOT_KNOWN = "does not know what was asked for: check the symbol and the parameters."
NOTHING = "Nothing public matched, or the source does not know what was asked for."
TWICE = (
    "Alpha Vantage sent an empty reply twice. Under load it does this even when it has the data: try again later. "
    f"{NOTHING}"
)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path, env={**VARIABLES, "XDG_CACHE_HOME": str(tmp_path / "cache")})


def written(archive: Archive, *requests: str) -> None:
    """Write a list of requests; of each, the lines are divided by semicolons."""
    text = "".join(f"[[request]]\n{request.replace('; ', chr(10))}\n" for request in requests)
    (archive.folder / "list.toml").write_text(text)


def captured(archive: Archive, now: str, words: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(archive.command(f"capture list.toml --json {words}", now).out)["requests"]
    return rows


# What a source does not know.


class Unknown(NamedTuple):
    """A request that brings nothing, of whom, how that is called, and in which words."""

    request: str
    app: App
    state: str
    words: str


_KNOWN = [sec.Filing(sec.number(1), "10-K", "2026-05-20 16:30:00")]
UNKNOWN = {
    "a complaint about a call": Unknown(
        "source = 'alphavantage'; op = 'EARNINGS'; symbol = 'NOPE'",
        lambda request: as_json(alphavantage.invalid_call("EARNINGS")),
        "failed",
        f"Alpha Vantage {NOT_KNOWN}",
    ),
    "an empty reply": Unknown(
        "source = 'alphavantage'; op = 'OVERVIEW'; symbol = 'NOPE'",
        lambda request: as_json({}),
        "empty",
        TWICE,
    ),
    "a month, of many": Unknown(
        "source = 'alphavantage'; op = 'TIME_SERIES_INTRADAY'; symbol = 'NOPE'; interval = '60min'",
        lambda request: as_json(alphavantage.invalid_call("TIME_SERIES_INTRADAY")),
        "empty",
        NOTHING,
    ),
    "a series": Unknown("source = 'fred'; series_id = 'NOPE'", fred.app([]), "failed", f"FRED {NOT_KNOWN}"),
    "a series without vintages": Unknown(
        "source = 'fred'; series_id = 'SP500'",
        fred.app([], series="SP500", current={"2026-05-01": "5"}),
        "empty",
        f"{NOTHING} Series without vintages, such as SP500, are withheld with --pit",
    ),
    "a ticker": Unknown(
        "source = 'sec_full_text'; tickers = ['NOPE']; forms = ['10-K']", sec.app(_KNOWN), "failed", NOT_KNOWN
    ),
    "a ticker's facts": Unknown(
        "source = 'sec_facts'; symbol = 'NOPE'; concept = 'Assets'", sec.app(_KNOWN), "failed", NOT_KNOWN
    ),
    "a symbol without bars": Unknown(
        "source = 'yahoo'; op = 'prices'; symbol = 'NOPE'", yahoo.app({}), "empty", NOTHING
    ),
    "a company that is not listed": Unknown(
        "source = 'earningscall'; op = 'events'; symbol = 'NOPE'", earningscall.app([]), "empty", NOTHING
    ),
    "tickers in the news": Unknown(
        "source = 'benzinga'; tickers = ['NOPE']", articles(), "empty", f"{NOTHING} A ticker is written"
    ),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_brings_nothing_is_said_and_asked_for_again(archive: Archive, what: str) -> None:
    written(archive, f"name = 'typo'; {UNKNOWN[what].request}")
    archive.app = UNKNOWN[what].app
    left = archive.command("capture list.toml", "2026-06-01 15:00")
    assert left.code == 1
    assert f"typo  {UNKNOWN[what].state.upper()}: " in left.out
    assert UNKNOWN[what].words in left.out
    assert ("If that is to be expected, write may_be_empty = true." in left.out) == (UNKNOWN[what].state == "empty")
    assert left.err.endswith(": typo\n")
    for words in ("--missing", "", "--quiet"):
        archive.asked.clear()
        again = archive.command(f"capture list.toml {words}", "2026-06-01 16:00")
        assert again.code == 1, words
        assert UNKNOWN[what].words in again.out
        assert archive.asked or "ticker" in what, "the list of tickers is cached"


def test_a_key_is_in_no_complaint(archive: Archive) -> None:
    written(archive, UNKNOWN["a series"].request)
    archive.app = UNKNOWN["a series"].app
    assert fred.KEY not in archive.command("capture list.toml", "2026-06-01 15:00").out


def test_a_look_back_that_once_brought_something_may_be_empty(archive: Archive) -> None:
    """On a quiet day there is no news, but a company that had earnings does not lose them."""
    news = "source = 'benzinga'; tickers = ['AAPL']; lookback_minutes = 1500"
    figures = "source = 'alphavantage'; op = 'EARNINGS_ESTIMATES'; symbol = 'IBM'"
    written(archive, news, figures)
    by_function, by_token = estimates(("2026-06-30", "2.50")), articles(benzinga.article(1, at("2026-06-01 14:30")))
    archive.app = lambda request: (by_function if "function" in request.query else by_token)(request)
    assert [row["state"] for row in captured(archive, "2026-06-01 15:00")] == ["captured", "captured"]
    by_function, by_token = estimates(), articles()
    for day in ("02", "03"):
        assert [row["state"] for row in captured(archive, f"2026-06-{day} 15:00")] == ["captured", "empty"]


# What came in between.


@pytest.mark.parametrize(
    ("look_back", "hours", "is_missing"),
    [
        ("lookback_minutes = 1500", 24, False),
        ("lookback_minutes = 1500", 25, False),
        ("lookback_minutes = 1500", 72, True),  # from Friday to Monday
        ("lookback_minutes = 4500", 72, False),
        ("date_from = '2026-05-01'", 72, False),
    ],
)
def test_a_look_back_that_is_too_short_is_said(archive: Archive, look_back: str, hours: int, is_missing: bool) -> None:
    written(archive, f"name = 'news'; source = 'benzinga'; {look_back}")
    archive.app = articles(benzinga.article(1, at("2026-05-29 14:30")), benzinga.article(2, at("2026-06-01 14:30")))
    first = at("2026-05-29 20:30")
    assert "MISSING" not in archive.command("capture list.toml", "2026-05-29 20:30").out
    now = first.replace(day=29 + hours // 24) if hours < 48 else at("2026-06-01 20:30")
    left = archive.command("capture list.toml --quiet", f"{now:%Y-%m-%d} {20 + hours % 24}:30")
    assert left.code == (6 if is_missing else 0)
    assert (
        "MISSING: The last capture was 72 hours ago, and this one looks back to Sunday 2026-05-31 15:30" in left.out
    ) is (is_missing)
    assert bool(left.out) is is_missing, "cron sends what is printed"


# What a later question has to know.

_NO_TICKERS = "What a ticker stands for is known from a request by tickers or symbol alone"
_NO_SYMBOL = "What a symbol stands for is known from a request by symbol or tickers alone: without one, ask by cik."


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("source = 'sec_full_text'; ciks = ['320193']", "write exact = true, and ask with --exact."),
        ("source = 'sec_full_text'; ciks = ['320193', '789019']; exact = true; date_from = '2024-01-01'", _NO_TICKERS),
        ("source = 'sec_full_text'; tickers = ['AAPL']; exact = true", "A question with words (query) or an entity"),
        ("source = 'sec_facts'; concept = 'Assets'; cik = '320193'", _NO_SYMBOL),
        ("source = 'sec_filings'; cik = '320193'; exact = true", _NO_SYMBOL),
        ("source = 'sec_filings'; symbol = 'AAPL'; exact = true", ""),
        ("source = 'benzinga'; channels = ['News', 'Earnings']", "It answers only questions with the same --channels:"),
        ("source = 'benzinga'; tickers = ['AAPL', 'IBM']", ""),
        ("source = 'benzinga'; limit = 50", "With a limit, it answers for no time before the capture."),
        (
            "source = 'perplexity'; query = ['rates']; recency = 'day'",
            "With --pit the same question is refused: --recency",
        ),
        ("source = 'perplexity'; query = ['rates', 'jobs']", "It answers only questions with the same --query: "),
        ("source = 'fred'; series_id = 'GDP'", ""),
        (
            "source = 'wayback'; url = 'https://example.com/'",
            "A fetch reads only what is wanted at its PIT: it answers for no time before the capture.",
        ),
        (
            "source = 'sec_filings'; op = 'text'; form = '10-K'; cik = '320193'; exact = true",
            "A fetch reads only what is wanted at its PIT: it answers for no time before the capture, unless it gives "
            "accession.",
        ),
        (
            "source = 'sec_filings'; op = 'text'; accession = '0000320193-25-000057'; cik = '320193'; exact = true",
            _NO_SYMBOL,
        ),
    ],
)
def test_a_capture_that_cannot_be_asked_as_one_may_think_says_so(archive: Archive, request_: str, words: str) -> None:
    written(archive, f"name = 'it'; {request_}")
    left = archive.command("capture list.toml --dry-run", "2026-06-01 15:00")
    assert (left.code, left.err) == (0, "")
    assert (
        (f" Note: {words}" in left.out or (words in left.out and " Note: " in left.out))
        if words
        else ("Note" not in left.out)
    )
