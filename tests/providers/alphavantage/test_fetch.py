"""alphavantage end to end: requests, windows, errors inside HTTP 200, and that later rows change no byte."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pit_fetch_providers.alphavantage import FUNCTIONS

from pit_fetch.testing.server import Response, as_json
from tests.providers.alphavantage import server as av
from tests.providers.alphavantage.replies import SOME_UNDATED, UNDATED, replies, words
from tests.providers.alphavantage.server import KEY, Store, World, article, bar

PIT = "2024-02-15T16:00:00-05:00"


@pytest.fixture
def world(tmp_path: Path) -> Callable[..., World]:
    """Return a maker of worlds: the command against a store, or an app."""
    return lambda store=None, app=None: World(app or av.app(store or Store()), tmp_path)


DIVIDENDS = {
    "symbol": "IBM",
    "data": [
        {"ex_dividend_date": "2024-05-09", "declaration_date": "2024-04-30", "amount": "1.67"},
        {"ex_dividend_date": "2024-02-08", "declaration_date": "2024-01-30", "amount": "1.66"},
        {"ex_dividend_date": "2023-11-09", "declaration_date": "2023-10-30", "amount": "1.66"},
    ],
}


# The call.


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("TIME_SERIES_INTRADAY", "symbol=IBM", "interval=daily"), "one of 1min, 5min"),
        (("TIME_SERIES_INTRADAY", "symbol=IBM", "interval=5min", "month=2024-13"), "YYYY-MM"),
        (("DIVIDENDS", "symbol=IBM&function=X Y"), "write symbols as in AAPL, BRK-B"),
        (("DIVIDENDS", "symbol=AAPL,MSFT"), "DIVIDENDS takes one symbol: ask once for each ticker"),
        (("HISTORICAL_OPTIONS", "symbol=IBM"), "needs date"),
        (("HISTORICAL_OPTIONS", "symbol=IBM", "date=tomorrow"), "YYYY-MM-DD"),
        (("DIVIDENDS", "tickers=IBM,AAPL"), "takes one symbol"),
        (("DIVIDENDS", "tickers=IBM", "symbol=IBM"), "not both"),
        (("FX_DAILY", "tickers=IBM"), "needs from_symbol"),
    ],
)
def test_a_call_that_makes_no_sense_is_a_config_gap_and_no_request(world: Any, words: Any, reason: str) -> None:
    server = world()
    done = server.fetch(*words, pit=PIT)
    assert done.gap_types == ["config"]
    assert reason in done.reasons
    assert (done.status, server.queries) == (3, [])


def test_help_lists_every_function_with_its_rule(world: Any) -> None:
    lines = {line.split()[0]: line for line in world().fetch("--help").text.splitlines() if line.startswith("  ")}
    for name, function in FUNCTIONS.items():
        assert name in UNDATED or function.operation.dating.rule in lines[name]
        assert all(option in lines[name] for option in function.operation.needs)
    assert "".join(lines.values()).isascii()


# Requests.


def _month_of_bars(year_: int, month: int, first_day: int = 1, last_day: int = 28) -> list[av.Bar]:
    days = range(last_day, first_day - 1, -1)
    return [bar(f"{year_}-{month:02d}-{day:02d} {hour:02d}:00:00") for day in days for hour in range(19, 3, -1)]


YEAR = [row for month in range(12, 0, -1) for row in _month_of_bars(2023, month)]
HOURLY = ("TIME_SERIES_INTRADAY", "symbol=IBM", "interval=60min")


@pytest.mark.parametrize(
    ("pit", "words", "months", "count", "truncated"),
    [
        # The month of the PIT holds enough; the limit says that there is more.
        ("2023-06-20T12:00:00-04:00", (), ["2023-06"], 50, True),
        # The month has just begun: the one before is needed, too.
        ("2023-06-01T06:30:00-04:00", (), ["2023-06", "2023-05"], 50, True),
        ("2023-06-01T00:00:30-04:00", (), ["2023-05"], 50, True),
        # A window is covered to its first day.
        (
            "2023-06-20T12:00:00-04:00", ("--date-from", "2023-04-15", "--limit", "5000"),
            ["2023-06", "2023-05", "2023-04"], 14 * 16 + 28 * 16 + 19 * 16 + 8, False,
        ),
        ("2023-06-20T12:00:00-04:00", ("--date-from", "2023-04-03", "--date-to", "2023-04-03"), ["2023-04"], 16, False),
        # A month that was named is the window.
        ("2023-06-20T12:00:00-04:00", ("month=2023-03", "--limit", "5000"), ["2023-03"], 28 * 16, False),
        ("2023-06-20T12:00:00-04:00", ("month=2023-06", "--limit", "5000"), ["2023-06"], 19 * 16 + 8, False),
        ("2023-06-20T12:00:00-04:00", ("month=2023-07",), [], 0, False),
        # Nothing before: two months without a bar, each asked for twice, and that is said.
        ("2022-06-20T12:00:00-04:00", (), ["2022-06", "2022-06", "2022-05", "2022-05"], 0, True),
    ],
)  # fmt: skip
def test_intraday_months_are_chosen_so_that_the_window_is_covered(
    world: Any, pit: str, words: tuple[str, ...], months: list[str], count: int, truncated: bool
) -> None:
    ibm = world(Store({"TIME_SERIES_INTRADAY": YEAR}))
    done = ibm.fetch(*HOURLY, *words, pit=pit)
    assert [query["month"] for query in ibm.queries] == months
    assert {query["outputsize"] for query in ibm.queries} <= {"full"}
    assert {query["adjusted"] for query in ibm.queries} <= {"false"}
    assert len(done.data) == count
    assert ("truncated" in done.gap_types) is truncated
    assert all(item["close"] == "10.5" for item in done.data)
    assert done.audit["requests"] == len(months)


def test_a_bar_that_ends_in_the_month_after_its_own_keeps_its_place(world: Any) -> None:
    ibm = world(Store({"TIME_SERIES_INTRADAY": [bar("2023-03-01 00:00:00"), bar("2023-02-28 23:30:00")]}))
    done = ibm.fetch(*HOURLY, pit="2023-03-20T12:00:00-04:00")
    assert [item["timestamp"] for item in done.data] == ["2023-03-01 00:00:00", "2023-02-28 23:30:00"]
    assert "upstream_error" not in done.gap_types


@pytest.mark.parametrize(("pit", "requests"), [(PIT, 2), (None, 1)], ids=["pit", "open"])
def test_a_day_without_a_chain_is_no_data(world: Any, pit: str | None, requests: int) -> None:
    message = {"endpoint": "Historical Options", "message": "No data for symbol IBM on date 2024-02-11.", "data": []}
    server = world(Store(documents={"HISTORICAL_OPTIONS": message}))
    assert server.fetch("HISTORICAL_OPTIONS", "symbol=IBM", "date=2024-02-11", pit=pit).gap_types[-1] == "no_data"
    assert len(server.queries) == requests


def test_sizes_under_a_pit_and_without(world: Any) -> None:
    days = [bar((datetime(2024, 2, 15, tzinfo=UTC) - timedelta(days=n)).strftime("%Y-%m-%d")) for n in range(300)]
    ibm = world(Store({"TIME_SERIES_DAILY": days}))
    call = ("TIME_SERIES_DAILY", "symbol=IBM")
    assert ibm.fetch(*call, "outputsize=compact", pit="2023-06-30T12:00:00Z").ids[0].endswith("2023-06-29")
    assert len(ibm.fetch(*call, "--limit", "200").data) == 200
    opened = ibm.fetch(*call, "--limit", "10")
    assert opened.gap_types == ["truncated"]
    february = datetime(2024, 2, 16, tzinfo=UTC)
    recent = ibm.fetch(*call, "--date-from", "2024-01-02", "--limit", "300", now=february)
    assert (recent.data[-1]["timestamp"], recent.gap_types) == ("2024-01-02", [])
    assert ibm.fetch(*call, "--date-from", "2023-06-30", "--limit", "300", now=february).gap_types == []
    assert [query["outputsize"] for query in ibm.queries] == ["full", "full", "compact", "compact", "full"]


@pytest.mark.parametrize("name", ["FX_INTRADAY", "FX_WEEKLY", "FX_MONTHLY"])
@pytest.mark.parametrize("window", [(), ("--date-from", "2024-02-15T20:55:00Z"), ("--date-from", "1999-01-01")])
@pytest.mark.parametrize("pit", [PIT, None])
def test_what_reaches_back_a_limited_time_says_so_whatever_is_served(
    world: Any, name: str, window: tuple[str, ...], pit: str | None
) -> None:
    interval = ("interval=5min",) if name == "FX_INTRADAY" else ()
    store = Store({name: [bar("2024-02-15 20:50:00" if interval else "2024-02-09")]}, zone="UTC")
    for served in (store, Store({name: []}, zone="UTC")):
        done = world(served).fetch(
            name, "from_symbol=EUR", "to_symbol=USD", *interval, *window, "--limit", "200", pit=pit
        )
        assert f"{name} reaches back a limited time only" in done.reasons


@pytest.mark.parametrize("name", SOME_UNDATED)
def test_what_could_not_be_served_is_not_asked_for(world: Any, name: str) -> None:
    document, count = replies(name)[0]
    server = world(app=lambda _: Response(av.body(document)))
    done = server.fetch(*words(name), pit=PIT)
    assert done.data == []
    assert ({*done.gap_types}, done.gap_types[-1]) == ({"pit_excluded", "unverifiable", "no_data"}, "no_data")
    assert (server.queries, done.audit["requests"]) == ([], 0)
    opened = server.fetch(*words(name))
    assert (len(opened.data), len(server.queries)) == (count, 1)


# News.


def _articles(count: int, last: datetime, step: timedelta) -> list[dict[str, Any]]:
    return [article((last - step * n).strftime("%Y%m%dT%H%M%S"), f"a{n:05d}") for n in range(count)]


def test_news_windows_are_split_above_a_thousand(world: Any) -> None:
    stored = _articles(2500, datetime(2024, 2, 15, 20, 59, 30, tzinfo=UTC), timedelta(minutes=1))
    news = world(Store(articles=stored))
    done = news.fetch("NEWS_SENTIMENT", "tickers=AAPL", "topics=earnings,ipo", "--limit", "5000", pit=PIT)
    assert done.ids == [f"NEWS_SENTIMENT:https://news.example/a{n:05d}" for n in range(2500)]
    assert "truncated" not in done.gap_types
    first = dict(news.queries[0])
    assert first.pop("apikey") == KEY
    assert first == {
        "function": "NEWS_SENTIMENT", "tickers": "AAPL", "topics": "earnings,ipo", "sort": "LATEST", "limit": "1000",
        "time_from": "20000101T0000", "time_to": "20240215T2101",
    }  # fmt: skip
    assert len(news.queries) == 3


def test_an_article_with_a_date_only_is_not_lost_below_a_full_reply(world: Any) -> None:
    """It stands at the start of its day in the source's order, and is public at the end: newer than all of the day."""
    stored = _articles(1300, datetime(2024, 2, 14, 23, 59, 59, tzinfo=UTC), timedelta(minutes=1))
    news = world(Store(articles=[*stored, article("20240214T000000", "dated")]))
    done = news.fetch("NEWS_SENTIMENT", "--limit", "5", pit=PIT)
    assert done.ids[0] == "NEWS_SENTIMENT:https://news.example/dated"
    assert len(news.queries) == 2


def test_a_minute_with_too_many_articles_is_said(world: Any) -> None:
    stored = _articles(1400, datetime(2024, 2, 14, 12, 0, 59, tzinfo=UTC), timedelta(milliseconds=40))
    news = world(Store(articles=[*stored, article("20240213T120000", "older")]))
    done = news.fetch("NEWS_SENTIMENT", "--limit", "5000", pit=PIT)
    assert done.ids[-1] == "NEWS_SENTIMENT:https://news.example/older"
    assert "truncated" in done.gap_types


def test_a_news_window_asks_for_whole_days(world: Any) -> None:
    news = world(Store(articles=[article("20240213T000000", "dated"), article("20240213T110000", "early")]))
    done = news.fetch("NEWS_SENTIMENT", "--date-from", "2024-02-13T12:00:00Z", "--date-to", "2024-02-14", pit=PIT)
    assert news.queries[0]["time_from"] == "20240213T0000"
    assert done.ids == ["NEWS_SENTIMENT:https://news.example/dated"]


# Of the same kinds, and never seen: a notice may name plans by their limits, and a limit what the plans unlock.
PLANS = {"Information": "Realtime options are part of the 600 requests per minute and other premium membership plans."}
ENTITLEMENT = {"Information": "Your plan of 75 requests per minute has no entitlement to realtime US market data."}
MINUTE_LIMIT = {
    "Information": "Our standard API rate limit is 5 requests per minute. Please subscribe to any of the premium plans "
    f"at {av.PREMIUM} to instantly unlock all premium endpoints"
}

# Errors inside HTTP 200. (what the source says, in PIT mode: gap type and words; in open mode)
ERRORS: list[tuple[str, Any, str, str]] = [
    ("bad key", av.BAD_KEY, "upstream_error", "refused the credential"),
    ("bad key elsewhere", {"Information": av.BAD_KEY["Error Message"]}, "upstream_error", "refused the credential"),
    ("demo key", av.DEMO_KEY, "upstream_error", "ALPHAVANTAGE_API_KEY"),
    ("a day's requests", av.DAILY_LIMIT, "upstream_error", "daily limit"),
    ("a second's requests", av.PER_SECOND, "upstream_error", "per second"),
    ("a burst", av.BURST, "upstream_error", "per second"),
    ("a minute's requests", av.PER_MINUTE, "upstream_error", "per second or minute"),
    ("premium", av.PREMIUM_ENDPOINT, "upstream_error", "key's plan does not include"),
    ("premium size", av.PREMIUM_SIZE, "upstream_error", "key's plan does not include"),
    ("premium plans", av.PREMIUM_PLANS, "upstream_error", "key's plan does not include"),
    ("premium membership", PLANS, "upstream_error", "key's plan does not include"),
    ("an entitlement", ENTITLEMENT, "upstream_error", "key's plan does not include"),
    ("call volume", av.CALL_VOLUME, "upstream_error", "per second or minute"),
    ("a minute's limit", MINUTE_LIMIT, "upstream_error", "per second or minute"),
    ("artificial rows", av.ARTIFICIAL, "upstream_error", "key's plan does not include"),
    ("no such function", {"Error Message": "This API function (X) does not exist."}, "config", "no longer has"),
    ("unknown words", {"Information": "We moved."}, "upstream_error", "a message and no rows"),
]


@pytest.mark.parametrize(("message", "type_", "reason"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_what_the_source_says_in_place_of_rows_is_recognised(world: Any, message: Any, type_: str, reason: str) -> None:
    for beside in ({}, {"data": DIVIDENDS["data"]}):
        reply = as_json({**beside, **message})
        for pit in (PIT, None):
            done = world(app=lambda _, reply=reply: reply).fetch("DIVIDENDS", "symbol=IBM", "--fail", pit=pit)
            assert type_ in done.gap_types
            assert reason in done.reasons
            assert (done.data, done.status) == ([], 3 if type_ == "config" else 5)
            assert KEY not in done.text + done.complaint
            assert "premium/" not in done.text


# Habits of callers.


@pytest.mark.parametrize(
    ("message", "requests", "pause"),
    [
        (av.PER_SECOND, 4, 1.0),
        (av.CALL_VOLUME, 4, 1.0),
        (av.PER_MINUTE, 4, 15.0),
        (MINUTE_LIMIT, 4, 15.0),
        *((message, 1, 0.0) for message in (av.DAILY_LIMIT, av.PREMIUM_ENDPOINT, av.PREMIUM_PLANS, PLANS, ENTITLEMENT)),
    ],
)
def test_a_throttle_is_waited_for_and_a_spent_day_is_not(world: Any, message: Any, requests: int, pause: float) -> None:
    server = world(app=lambda _: as_json(message))
    done = server.fetch("DIVIDENDS", "symbol=IBM", pit=PIT)
    assert done.audit["requests"] == len(server.queries) == requests
    assert sum(done.pauses) >= pause * (requests - 1)


@pytest.mark.parametrize("empty", [{}, {"symbol": "IBM", "data": []}], ids=["{}", "empty lists"])
def test_a_false_empty_is_asked_for_once_more(world: Any, empty: Any) -> None:
    replies = [DIVIDENDS, empty]
    server: World = world(app=lambda _: as_json(replies.pop()))
    assert len(server.fetch("DIVIDENDS", "symbol=IBM", pit=PIT).data) == 2
    assert len(server.queries) == 2


def test_what_stays_empty_is_no_data_under_a_pit_and_a_doubt_without(world: Any) -> None:
    server = world(app=lambda _: as_json({}))
    assert server.fetch("DIVIDENDS", "symbol=IBM", pit=PIT).gap_types[-1] == "no_data"
    assert len(server.queries) == 2
    opened = server.fetch("DIVIDENDS", "symbol=IBM")
    assert opened.gap_types == ["unverifiable", "no_data"]
    assert "try again later" in opened.reasons
