"""alphavantage, one table per rule: when is a row of a reply public? Read through --input-file, as recorded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.inprocess import NOW, Answer
from tests.providers.alphavantage import server as av
from tests.providers.alphavantage.replies import BARS as BAR_FUNCTIONS
from tests.providers.alphavantage.replies import SNAPSHOTS, SOME_UNDATED, replies
from tests.providers.alphavantage.server import (
    article,
    bar,
    csv_bar,
    earnings,
    quarter,
    series_csv,
    series_document,
    year,
)

SECOND = timedelta(seconds=1)
Read = Callable[..., Answer]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a reader of a document as the reply of a function."""
    return partial(av.read, tmp_path)


# Bars beside those of the corpus: (function, label, interval, the instant from which the bar is public).
BARS = [
    # CSV does not name its interval: without --interval it is the longest.
    ("TIME_SERIES_INTRADAY", "2024-02-15 15:00:00", "", "2024-02-15T16:00:00-05:00"),
    # 02:30 never happens on 2024-03-10: the later reading.
    ("TIME_SERIES_INTRADAY", "2024-03-10 02:30:00", "5min", "2024-03-10T03:35:00-04:00"),
    ("TIME_SERIES_DAILY", "2024-11-29", "", "2024-11-29T20:00:00-05:00"),  # a half-day
    ("TIME_SERIES_DAILY_ADJUSTED", "2024-02-15", "", "2024-02-15T20:00:00-05:00"),
    # Good Friday 2026: labelled Thursday; a running week may be, too, so both wait for Friday evening.
    ("TIME_SERIES_WEEKLY", "2026-04-02", "", "2026-04-03T20:00:00-04:00"),
    ("TIME_SERIES_WEEKLY_ADJUSTED", "2024-02-14", "", "2024-02-16T20:00:00-05:00"),
    ("TIME_SERIES_MONTHLY", "2026-05-29", "", "2026-05-29T20:00:00-04:00"),  # 2026-05-31 is a Sunday
    ("TIME_SERIES_MONTHLY_ADJUSTED", "2026-05-15", "", "2026-05-29T20:00:00-04:00"),  # a running month
    ("FX_INTRADAY", "2024-02-15 15:55:00", "5min", "2024-02-15T11:00:00-05:00"),
    ("FX_DAILY", "2024-02-15", "", "2024-02-15T20:00:00-05:00"),  # the UTC day is over at 19:00
    ("FX_WEEKLY", "2024-02-16", "", "2024-02-16T20:00:00-05:00"),
    ("FX_MONTHLY", "2026-02-27", "", "2026-02-27T20:00:00-05:00"),
    ("CRYPTO_INTRADAY", "2024-11-03 06:30:00", "5min", "2024-11-03T01:35:00-05:00"),
    ("DIGITAL_CURRENCY_DAILY", "2024-02-15", "", "2024-02-15T20:00:00-05:00"),
    ("DIGITAL_CURRENCY_WEEKLY", "2024-02-14", "", "2024-02-18T20:00:00-05:00"),
    ("DIGITAL_CURRENCY_MONTHLY", "2024-02-10", "", "2024-02-29T20:00:00-05:00"),
]


@pytest.mark.parametrize(("function", "label", "interval", "public"), BARS)
def test_a_bar_is_public_at_its_end_and_not_before(
    read: Read, function: str, label: str, interval: str, public: str
) -> None:
    zone = "US/Eastern" if function.startswith("TIME_SERIES") else "UTC"
    words = [function] + ([f"interval={interval}"] if interval else [])
    words += ["market=EUR"] if function.startswith(("CRYPTO", "DIGITAL")) else []
    words += ["--evidence", "claimed"] if function.startswith("TIME_SERIES_MONTHLY") else []
    # A CSV names no zone, and that of a coin's minutes has the header of an equity's.
    in_csv = "2024-11-03T06:35:00-05:00" if function == "CRYPTO_INTRADAY" else public
    for document, instant in (
        (series_document(function, [bar(label)], zone, interval), public),
        (series_csv([csv_bar(function, label)]), in_csv),
    ):
        end = datetime.fromisoformat(instant)
        at_the_end, before_it = read(document, *words, pit=end), read(document, *words, pit=end - SECOND)
        assert [item["available_at"] for item in at_the_end.data] == [instant]
        assert at_the_end.data[0]["available_at_source"] == "time_series_timestamp"
        assert (before_it.data, before_it.gap_types[-1]) == ([], "no_data")


def test_every_function_with_bars_is_in_the_table_above() -> None:
    assert {row[0] for row in BARS} == set(BAR_FUNCTIONS)


def test_the_zone_is_the_replys_own_and_an_unknown_one_is_none(read: Read) -> None:
    label = bar("2024-02-15 15:55:00")
    for zone, expected in [("UTC", "2024-02-15T11:00:00-05:00"), ("US/Eastern", "2024-02-15T16:00:00-05:00")]:
        done = read(series_document("TIME_SERIES_INTRADAY", [label], zone, "5min"), "TIME_SERIES_INTRADAY")
        assert [item["available_at"] for item in done.data] == [expected]
    odd = series_document("TIME_SERIES_INTRADAY", [label], "Mars/Olympus", "5min")
    assert read(odd, "TIME_SERIES_INTRADAY", pit=NOW).data == []
    assert [item["available_at"] for item in read(odd, "TIME_SERIES_INTRADAY").data] == [None]


def test_the_longer_of_the_intervals_asked_for_and_named_counts(read: Read) -> None:
    document = series_document("TIME_SERIES_INTRADAY", [bar("2024-02-15 15:00:00")], "US/Eastern", "60min")
    done = read(document, "TIME_SERIES_INTRADAY", "interval=5min")
    assert [item["available_at"] for item in done.data] == ["2024-02-15T16:00:00-05:00"]


@pytest.mark.parametrize("wire", ["json", "csv"])
def test_adjusted_columns_are_left_out_under_a_pit_and_raw_ones_stay(read: Read, wire: str) -> None:
    row = bar("2024-02-15", adjusted_close="9.1", dividend_amount="0.2400", split_coefficient="2.0")
    function = "TIME_SERIES_DAILY_ADJUSTED"
    document = series_csv([row]) if wire == "csv" else series_document(function, [row], "US/Eastern")
    raw = {
        "record_type": "bar", "timestamp": "2024-02-15", "open": "10.0000", "high": "11.0000", "low": "9.0000",
        "close": "10.5", "dividend_amount": "0.2400", "split_coefficient": "2.0",
    }  # fmt: skip
    stamps = {
        "available_at": "2024-02-15T20:00:00-05:00",
        "available_at_source": "time_series_timestamp",
    }
    at_pit = read(document, "TIME_SERIES_DAILY_ADJUSTED", "symbol=IBM", pit=NOW)
    assert at_pit.data == [{**stamps, "id": "TIME_SERIES_DAILY_ADJUSTED:IBM:2024-02-15", **raw}]
    assert read(document, "TIME_SERIES_DAILY_ADJUSTED").data[0]["adjusted_close"] == "9.1"


def test_intraday_bars_in_a_file_are_served_with_a_constant_caveat(read: Read) -> None:
    document = series_document("TIME_SERIES_INTRADAY", [bar("2024-02-15 15:00:00")], "US/Eastern", "60min")
    for pit in ("2024-02-15T15:00:00-05:00", NOW):
        assert "adjusted=false" in read(document, "TIME_SERIES_INTRADAY", pit=pit).reasons


# EARNINGS, on its claims.

REPORTS, LATER = ("EARNINGS", "symbol=IBM", "--evidence", "claimed"), "2026-05-30T00:00:00-04:00"
IBM = earnings(
    [year("2026-03-31", "1.91"), year("2025-12-31", "11.57"), year("2024-12-31", "10.33")],
    [
        quarter("2026-06-30", "2026-07-22", "None"),
        quarter("2026-03-31", "2026-04-22", "1.91"),
        quarter("2025-12-31", "2026-01-28", "4.52", reportTime="pre-market"),
        quarter("2025-09-30", "None", "2.65"),
        quarter("2025-06-30", "2025-07-23", "2.8"),
        quarter("2024-12-31", "2025-01-29", "3.92", surprise="None", surprisePercentage="-"),
    ],
)


def test_earnings_items_have_the_known_fields_and_nulls(read: Read) -> None:
    items = {item["id"]: item for item in read(IBM, *REPORTS, pit=LATER).data}
    assert items["EARNINGS:IBM:quarterly:2024-12-31"] == {
        "available_at": "2025-01-30T00:00:00-05:00",
        "available_at_source": "provider_metadata",
        "evidence": "claimed",
        "id": "EARNINGS:IBM:quarterly:2024-12-31",
        "record_type": "quarterly_earnings",
        "fiscalDateEnding": "2024-12-31",
        "reportedDate": "2025-01-29",
        "reportedEPS": "3.92",
        "estimatedEPS": "0.90",
        "surprise": None,
        "surprisePercentage": None,
        "reportTime": "post-market",
    }
    assert items["EARNINGS:IBM:annual:2024-12-31"] == {
        "available_at": "2025-01-30T00:00:00-05:00",
        "available_at_source": "provider_metadata",
        "evidence": "claimed",
        "id": "EARNINGS:IBM:annual:2024-12-31",
        "record_type": "annual_earnings",
        "fiscalDateEnding": "2024-12-31",
        "reportedEPS": "10.33",
    }


def test_open_mode_serves_unreported_and_undated_quarters_but_no_year_to_date(read: Read) -> None:
    done = read(IBM, "EARNINGS", "symbol=IBM")
    assert {"EARNINGS:IBM:quarterly:2026-06-30", "EARNINGS:IBM:quarterly:2025-09-30"} < set(done.ids)
    assert "EARNINGS:IBM:annual:2026-03-31" not in done.ids


def test_without_claims_nothing_of_earnings_is_served_and_the_answer_says_what_proves_it(read: Read) -> None:
    done = read(IBM, "EARNINGS", "symbol=IBM", pit="2026-05-30T00:00:00-04:00")
    assert done.data == []
    assert "--evidence claimed" in done.reasons
    assert "sec_facts proves a company's figures as they were filed" in done.reasons


@pytest.mark.parametrize(
    ("annual", "eps", "full_years"),
    [
        (["2023-12-31"], "9.61", ["2023-12-31"]),
        (["2023-12-31"], "2.00", []),  # the oldest row, and no more than its last two quarters
        (["2023-12-31", "2022-12-31"], "9.61", ["2023-12-31", "2022-12-31"]),
        (["2023-12-31", "2022-09-30"], "9.61", ["2022-09-30"]),  # fifteen months after the year before
        (["2023-12-31", "2022-11-30"], "9.61", ["2023-12-31", "2022-11-30"]),  # a year of 53 weeks
        (["2023-12-31", "2021-12-31"], "9.61", ["2023-12-31", "2021-12-31"]),  # a year is missing
    ],
)
def test_year_to_date_rows_are_dropped(read: Read, annual: list[str], eps: str, full_years: list[str]) -> None:
    ends = sorted({*annual, "2023-12-31", "2023-09-30", "2023-06-30"}, reverse=True)
    quarters = [
        quarter(end, f"{int(end[:4]) + (end[5:7] > '10')}-{'02' if end[5:7] > '10' else '11'}-01") for end in ends
    ]
    document = earnings([year(end, eps) for end in annual], quarters)
    done = read(document, *REPORTS, pit=LATER)
    assert [i["fiscalDateEnding"] for i in done.data if i["record_type"] == "annual_earnings"] == full_years


def test_the_vintage_caveat_is_in_every_reply_at_a_pit_and_in_none_without(read: Read) -> None:
    nothing = read({"symbol": "IBM", "data": []}, "DIVIDENDS", pit="2020-01-01T00:00:00Z")
    assert "as they stood when they were fetched" in nothing.reasons
    assert "as they stood when they were fetched" in read(IBM, *REPORTS, pit=LATER).reasons
    assert "as they stood when they were fetched" not in read(IBM, "EARNINGS").reasons


@pytest.mark.parametrize(
    ("function", "clock", "is_told"),
    [
        ("TIME_SERIES_DAILY", "16:00:00", True),
        ("TIME_SERIES_WEEKLY", "19:59:59", True),
        ("TIME_SERIES_DAILY", "20:00:00", False),
        ("TIME_SERIES_DAILY", "09:30:00", False),
        ("TIME_SERIES_INTRADAY", "16:00:00", False),
    ],
)
def test_an_answer_as_of_the_close_says_that_a_bar_counts_from_the_evening(
    read: Read, function: str, clock: str, is_told: bool
) -> None:
    answer = read({}, function, "symbol=IBM", pit=f"2024-02-15T{clock}-05:00")
    assert ("A bar counts from 20:00 New York of its day" in answer.reasons) is is_told


def test_news_under_a_pit_has_no_scores_and_no_summary(read: Read) -> None:
    document = {"items": "1", "feed": [article("20240215T210000")]}
    at_pit = read(document, "NEWS_SENTIMENT", pit=NOW)
    assert at_pit.data == [
        {
            "available_at": "2024-02-15T16:00:59.999999-05:00",
            "available_at_source": "provider_metadata",
            "id": "NEWS_SENTIMENT:https://news.example/20240215T210000",
            "record_type": "article",
            "title": "Title 20240215T210000",
            "url": "https://news.example/20240215T210000",
            "time_published": "20240215T210000",
            "authors": ["A. Writer"],
            "banner_image": None,
            "source": "Example",
            "category_within_source": None,
            "source_domain": "news.example",
            "topics": ["earnings"],
            "tickers": ["AAPL"],
        }
    ]
    opened = read(document, "NEWS_SENTIMENT").data[0]
    assert opened["overall_sentiment_score"] == 0.22902
    assert opened["summary"] == "A summary that a model wrote"


# Snapshots and what cannot be dated.


@pytest.mark.parametrize("name", SOME_UNDATED)
def test_what_is_not_dated_is_served_in_open_mode_and_not_under_a_past_pit(read: Read, name: str) -> None:
    for document, count in replies(name):
        opened, at_pit = read(document, name), read(document, name, pit=NOW - SECOND)
        assert len(opened.data) == len(set(opened.ids)) == count
        stamps = {item["available_at"] for item in opened.data}
        assert stamps <= ({"2026-06-01T12:00:00-04:00"} if name in SNAPSHOTS else {None})
        assert at_pit.data == []
        assert ({*at_pit.gap_types}, at_pit.gap_types[-1]) == ({"pit_excluded", "unverifiable", "no_data"}, "no_data")
        assert name in at_pit.reasons
        ahead = read(document, name, pit=NOW + SECOND * 60)
        assert len(ahead.data) == (count if name in SNAPSHOTS else 0) or not count


# --date-from and --date-to compare the provider's own dates.
SPLIT_CSV = "effective_date,split_factor\n2021-11-04,1.0460\n"
DIVIDEND_CSV = "ex_dividend_date,declaration_date,amount\n2024-05-09,2024-04-30,1.67\n"


@pytest.mark.parametrize(
    ("function", "document", "first", "last", "count"),
    [
        ("SPLITS", SPLIT_CSV, "2021-11-04", "2021-11-04", 1),
        ("SPLITS", SPLIT_CSV, "2021-11-05", "2021-11-05", 0),
        ("DIVIDENDS", DIVIDEND_CSV, "2024-04-30", "2024-04-30", 1),
        ("TIME_SERIES_DAILY", series_csv([bar("2024-02-15"), bar("2024-02-14")]), "2024-02-15", "2024-02-15", 1),
        (
            "FX_DAILY",
            series_csv([csv_bar("FX_DAILY", "2024-07-15"), csv_bar("FX_DAILY", "2024-07-12")]),
            "2024-07-15",
            "2024-07-15",
            1,
        ),
        ("NEWS_SENTIMENT", {"feed": [article("20240215T000000")]}, "2024-02-15", "2024-02-15", 1),
        ("NEWS_SENTIMENT", {"feed": [article("20240215T120000")]}, "2024-02-15T12:00:30Z", "2024-02-15T12:01:00Z", 1),
        ("NEWS_SENTIMENT", {"feed": [article("20240215T120000")]}, "2024-02-15T12:00:00Z", "2024-02-15T12:00:30Z", 0),
    ],
)
def test_the_window_compares_the_providers_own_dates(
    read: Read, function: str, document: Any, first: str, last: str, count: int
) -> None:
    done = read(document, function, "--date-from", first, "--date-to", last, pit=NOW)
    assert len(done.data) == count


# Rows that cannot be read.


@pytest.mark.parametrize("pit", ["2024-02-01T01:00:00Z", None])
def test_a_csv_that_breaks_off_is_not_read_to_where_it_breaks(read: Read, pit: str | None) -> None:
    """Cut off inside its last figure, it would still look like a row."""
    whole = series_csv([bar("2024-01-31"), bar("2024-01-30")])
    assert len(read(whole, "TIME_SERIES_DAILY", pit=pit).data) == 2
    for cut in (whole[:-2], whole[:-3], whole[: whole.rindex(",")], whole.splitlines()[0]):
        left = read(cut, "TIME_SERIES_DAILY", pit=pit)
        assert (left.data, left.gap_types[-1]) == ([], "input_error")
        assert "does not end with a line break" in left.reasons


def test_null_spellings_become_null_and_numbers_stay_strings(read: Read) -> None:
    rows = "symbol,name,b,c,d,e\nIBM,None,-,null,,1.50\n"
    assert read(rows, "SYMBOL_SEARCH").data[0] | {"id": ""} == {
        "available_at": "2026-06-01T12:00:00-04:00", "available_at_source": "provider_metadata", "id": "",
        "record_type": "symbol_search", "symbol": "IBM", "name": None, "b": None, "c": None, "d": None, "e": "1.50",
    }  # fmt: skip


def test_bars_that_are_dated_by_their_receipt_come_newest_first(read: Read) -> None:
    """They all have one instant. As a limit keeps the first ones, it would keep the oldest months."""
    for function in ("TIME_SERIES_MONTHLY", "TIME_SERIES_MONTHLY_ADJUSTED"):
        bars = series_csv([csv_bar(function, day) for day in ("2024-01-31", "2024-03-28", "2024-02-29")])
        days = [item["timestamp"] for item in read(bars, function, "symbol=IBM").data]
        assert days == ["2024-03-28", "2024-02-29", "2024-01-31"]
