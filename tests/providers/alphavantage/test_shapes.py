"""alphavantage: a reply has to be the operation's own and about what was asked for, and passes known columns only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pit_fetch_providers.alphavantage import FUNCTIONS

from tests.inprocess import NOW, Answer
from tests.providers.alphavantage import server as av
from tests.providers.alphavantage.replies import BARS, COINS, SNAPSHOTS, UNDATED
from tests.providers.alphavantage.server import (
    bar,
    csv_bar,
    earnings,
    quarter,
    series_csv,
    series_document,
    year,
)

AHEAD = NOW + timedelta(minutes=1)
Read = Callable[..., Answer]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a reader of a document as the reply of a function."""
    return partial(av.read, tmp_path)


# A reply of one operation, read as another: never its rows, whatever their dates.

SERIES_CSV = "timestamp,value\n2024-04-01,158695\n2024-03-01,158500\n"
SERIES_JSON = {"name": "Payroll", "interval": "monthly", "unit": "x", "data": [{"date": "2024-04-01", "value": "1"}]}
ADJUSTED_CSV = series_csv([csv_bar("TIME_SERIES_MONTHLY_ADJUSTED", "2024-01-31")])
DAILY_CSV = series_csv([bar("2024-01-31")])
OVERVIEW = {"Symbol": "IBM", "LatestQuarter": "2023-12-31", "EPS": "9"}
DIVIDENDS_CSV = "ex_dividend_date,declaration_date,record_date,payment_date,amount\n2024-02-08,2024-01-30,x,y,1.66\n"
INDICATOR_JSON = {"Meta Data": {"1: Symbol": "IBM"}, "Technical Analysis: SMA": {"2024-01-31": {"SMA": "1"}}}
OF_FRED = {"observations": [{"date": "2023-12-01", "value": "308.7", "realtime_start": "2024-01-11"}]}
ALIEN: list[tuple[str, Any]] = [
    ("CPI", OF_FRED), ("TREASURY_YIELD", OF_FRED), ("WTI", OF_FRED),
    *((name, {"items": [{"a": 1}]}) for name in ("TIME_SERIES_DAILY", "EARNINGS", "DIVIDENDS", "HISTORICAL_OPTIONS")),
    ("SPLITS", SERIES_CSV), ("DIVIDENDS", SERIES_CSV), ("HISTORICAL_OPTIONS", SERIES_CSV), ("EARNINGS", SERIES_CSV),
    ("NEWS_SENTIMENT", SERIES_CSV), ("TIME_SERIES_DAILY", SERIES_CSV), ("FX_DAILY", SERIES_CSV),
    ("SPLITS", SERIES_JSON), ("DIVIDENDS", SERIES_JSON), ("HISTORICAL_OPTIONS", SERIES_JSON),
    ("TIME_SERIES_DAILY", ADJUSTED_CSV), ("TIME_SERIES_MONTHLY", ADJUSTED_CSV),
    ("TIME_SERIES_DAILY_ADJUSTED", ADJUSTED_CSV), ("TIME_SERIES_DAILY_ADJUSTED", DAILY_CSV), ("FX_DAILY", DAILY_CSV),
    ("FX_INTRADAY", series_csv([bar("2024-01-31 10:00:00")])), ("TIME_SERIES_DAILY", "time,SMA\n2024-01-31,1.0\n"),
    ("TIME_SERIES_DAILY", "time,Real Upper Band,Real Middle Band\n2024-01-31,1.0,2\n"),
    ("TIME_SERIES_DAILY", INDICATOR_JSON), ("SMA", DAILY_CSV), ("SPLITS", DIVIDENDS_CSV), ("EARNINGS", DIVIDENDS_CSV),
    ("TIME_SERIES_DAILY", OVERVIEW), ("EARNINGS", OVERVIEW), ("SPLITS", OVERVIEW), ("NEWS_SENTIMENT", OVERVIEW),
    ("EARNINGS", {"symbol": "IBM", "annualReports": [{"fiscalDateEnding": "2023-12-31"}]}),
    ("LISTING_STATUS", DAILY_CSV), ("EARNINGS_CALENDAR", DAILY_CSV), ("OVERVIEW", {"net_assets": "1"}),
    *(
        (function, series_document(other, [bar("2024-01-31")], "US/Eastern"))
        for function, other in (
            ("TIME_SERIES_DAILY", "TIME_SERIES_MONTHLY"), ("TIME_SERIES_DAILY", "TIME_SERIES_WEEKLY"),
            ("TIME_SERIES_WEEKLY", "TIME_SERIES_WEEKLY_ADJUSTED"), ("TIME_SERIES_DAILY", "DIGITAL_CURRENCY_DAILY"),
            ("CRYPTO_INTRADAY", "TIME_SERIES_INTRADAY"), ("FX_INTRADAY", "TIME_SERIES_INTRADAY"),
            ("FX_DAILY", "TIME_SERIES_DAILY"), ("DIGITAL_CURRENCY_DAILY", "TIME_SERIES_DAILY"),
            ("TIME_SERIES_INTRADAY", "TIME_SERIES_DAILY"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("function", "document"), ALIEN)
def test_the_reply_of_another_operation_is_an_input_error(read: Read, function: str, document: Any) -> None:
    is_served = function in SNAPSHOTS or function not in UNDATED
    for pit in (None, AHEAD) if is_served else (None,):
        done = read(document, function, pit=pit)
        assert done.data == []
        assert "input_error" in done.gap_types
        assert "no_data" not in done.gap_types


# Coins.


def test_a_market_without_prices_of_its_own_is_not_asked_for(tmp_path: Path) -> None:
    world = av.World(av.app(av.Store({"DIGITAL_CURRENCY_DAILY": [bar("2024-01-31")]})), tmp_path)
    done = world.fetch("DIGITAL_CURRENCY_DAILY", "symbol=BTC", "market=CNY", pit=NOW)
    assert (done.gap_types[-1], world.queries) == ("no_data", [])


# The subject.


@pytest.mark.parametrize(
    ("words", "document"),
    [
        (("INCOME_STATEMENT", "symbol=MSFT"), {"symbol": "AAPL", "annualReports": [{"fiscalDateEnding": "x"}]}),
        (("EARNINGS", "symbol=MSFT"), earnings([], [quarter("2023-12-31", "2024-01-24")], symbol="AAPL")),
        (("EARNINGS", "symbol=MSFT"), earnings([], [], symbol="AAPL")),
        (("SPLITS", "symbol=MSFT"), {"symbol": "AAPL", "data": [{"effective_date": "2024-01-02"}]}),
        (("OVERVIEW", "symbol=MSFT"), {"Symbol": "AAPL"}),
        (("GLOBAL_QUOTE", "symbol=MSFT"), {"Global Quote": {"01. symbol": "AAPL", "05. price": "1"}}),
        (("GLOBAL_QUOTE", "symbol=MSFT"), "symbol,price\nAAPL,1\n"),
        (("TIME_SERIES_DAILY", "symbol=MSFT"), series_document("TIME_SERIES_DAILY", [bar("2024-01-31")], None)),
        (("FX_DAILY", "from_symbol=GBP"), series_document("FX_DAILY", [bar("2024-01-31")], None)),
        (("DIGITAL_CURRENCY_DAILY", "market=USD"), series_document("DIGITAL_CURRENCY_DAILY", [bar("2024-1-1")], None)),
        (("EARNINGS_CALL_TRANSCRIPT", "quarter=2024Q2"), {"symbol": "IBM", "quarter": "2024Q1", "transcript": []}),
    ],
)  # fmt: skip
def test_a_reply_on_another_subject_as_a_whole_is_an_error(read: Read, words: tuple[str, ...], document: Any) -> None:
    for pit in (None, AHEAD):
        if pit and words[0] == "EARNINGS_CALL_TRANSCRIPT":  # of which nothing is served then
            continue
        done = read(document, *words, pit=pit)
        assert done.data == []
        assert "input_error" in done.gap_types
        assert "something other than what was asked for" in done.reasons
        assert "AAPL" not in done.text


# What is said.


@pytest.mark.parametrize("name", [*BARS, "DIVIDENDS", "SPLITS"])
def test_what_is_restated_without_a_mark_is_said_whatever_the_reply_holds(read: Read, name: str) -> None:
    empty = {"symbol": "IBM", "data": [], "quarterlyEarnings": []} if name not in BARS else {}
    done = read(empty, name, pit=NOW)
    assert done.gap_types[:3] == ["pit_excluded", "unverifiable", "unverifiable"]
    assert "as they stood when they were fetched" in done.reasons
    assert ("its holder on the day of the fetch" in done.reasons) is (
        "symbol" in FUNCTIONS[name].operation.needs and name not in COINS
    )


# The oldest year.


@pytest.mark.parametrize(
    ("eps", "quarters", "is_whole"),
    [
        # As Tesla's 2010 and Salesforce's year of January 2005: the list begins within the year.
        ("2.00", ["2010-12-31", "2010-09-30"], True),
        ("3.00", ["2010-12-31", "2010-09-30", "2010-06-30"], True),
        ("1.00", ["2010-12-31"], True),
        ("4.00", ["2010-12-31", "2010-09-30", "2010-06-30", "2010-03-31"], True),
        ("3.70", ["2010-12-31", "2010-09-30", "2010-06-30"], True),
        # It leaves out a quarter of its year.
        ("1.00", ["2010-12-31", "2010-09-30"], False),
        ("2.00", ["2010-12-31", "2010-09-30", "2010-06-30", "2010-03-31"], False),
        # The quarter of the year before is not one of its own, nor in a year of 53 weeks.
        ("3.00", ["2010-12-31", "2010-09-30", "2010-06-30", "2009-12-31"], True),
        ("2.00", ["2010-12-31", "2010-09-30", "2010-01-02"], True),
    ],
)
@pytest.mark.parametrize("pit", [NOW - timedelta(days=1), None], ids=["pit", "open"])
def test_the_oldest_year_is_whole_where_it_is_the_sum_of_its_quarters(
    read: Read, eps: str, quarters: list[str], is_whole: bool, pit: datetime | None
) -> None:
    document = earnings([year("2010-12-31", eps)], [quarter(end, f"{end[:4]}-12-31") for end in quarters])
    done = read(document, "EARNINGS", "symbol=IBM", *(("--evidence", "claimed") if pit else ()), pit=pit)
    assert ("EARNINGS:IBM:annual:2010-12-31" in done.ids) is is_whole
