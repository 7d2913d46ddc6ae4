"""sec_full_text without a process and a socket: what is asked for, how it is read, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pit_fetch_providers.edgar.client import implausible
from pit_fetch_providers.sec_full_text import PROVIDER

from pit_fetch.errors import ConfigError
from pit_fetch.testing.server import Response, as_json
from pit_fetch.transport import HttpRequest
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import app_finding, ask, failing_from, no_index, searches
from tests.providers.sec_full_text.server import APPLE, TESLA, Filing, daily, number

# What is asked for -------------------------------------------------------------------------------


def test_the_search_is_asked_for_as_it_is_given() -> None:
    words = '"going concern" OR liquid* NOT dead'
    fetched = ask([], query=words, forms=("10-k", "10-Q/A"), ciks=("320193", "CIK0001318605"))
    (request,) = searches(fetched)
    assert (request.method, request.host, request.path) == ("GET", "efts.sec.gov", "/LATEST/search-index")
    assert request.header("User-Agent") == sec.USER_AGENT
    assert request.query == {
        "q": words,
        "forms": "10-K,10-Q",
        "ciks": "0000320193,0001318605",
        "dateRange": "custom",
        "startdt": "2001-01-01",
        "enddt": "2024-02-15",
        "from": "0",
    }


@pytest.mark.parametrize(
    ("options", "days"),
    [
        ({}, ("2001-01-01", "2024-02-15")),
        ({"date_from": "2024-02-01"}, ("2024-02-01", "2024-02-15")),
        ({"date_from": "2024-02-01", "date_to": "2024-02-10"}, ("2024-02-01", "2024-02-10")),
        ({"date_to": "2024-03-10"}, ("2001-01-01", "2024-02-15")),
        ({"pit": "2024-02-16T04:30:00Z"}, ("2001-01-01", "2024-02-15")),
        ({"pit": None}, ("2001-01-01", "2026-10-31")),
        ({"entity": "Apple"}, ("2001-01-01", "2024-02-15")),
    ],
)
def test_the_window_ends_with_the_new_york_day_of_the_pit(options: dict[str, Any], days: tuple[str, str]) -> None:
    (request,) = searches(ask([], **options))
    assert (request.query["startdt"], request.query["enddt"]) == days
    assert request.query.get("entityName") == options.get("entity")


@pytest.mark.parametrize("options", [{"date_from": "2024-02-16"}, {"pit": "2000-05-01T00:00:00Z"}])
def test_an_empty_window_is_not_asked_for(options: dict[str, Any]) -> None:
    assert ask([], **options).requests == []


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        (("10-K",), ["10-K", "10-K/A"]),
        (("10-K/A",), ["10-K/A"]),
        (("-10-K",), ["10-Q"]),
        (("-10-K/A",), ["10-K", "10-Q"]),
        (("10-K", "-10-K/A"), ["10-K"]),
        (("10-q", "8-K"), ["10-Q"]),
        (("8-K",), []),
    ],
)
def test_forms(forms: tuple[str, ...], expected: list[str]) -> None:
    filed = enumerate(("10-K", "10-K/A", "10-Q"))
    filings = [Filing(number(place), form, f"2024-01-1{place} 12:00:00") for place, form in filed]
    fetched = ask(filings, forms=forms)
    assert sorted(record.payload["form"] for record in fetched.records) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tickers": ("AAPL",)}, [number(1)]),
        ({"tickers": ("aapl", "TSLA")}, [number(1), number(2)]),
        ({"tickers": ("BRK.B",)}, [number(3)]),
        ({"tickers": ("AAPL", "NONE")}, [number(1)]),
        ({"tickers": ("NONE",)}, []),
        ({"tickers": ("NONE",), "ciks": (str(TESLA),)}, [number(2)]),
        ({"ciks": (str(APPLE),), "tickers": ("TSLA",)}, [number(1), number(2)]),
    ],
)
def test_companies(options: dict[str, Any], expected: list[str]) -> None:
    ciks = {1: APPLE, 2: TESLA, 3: 1067983}
    filings = [Filing(number(n), "10-K", "2024-01-10 12:00:00", ciks=(cik,)) for n, cik in ciks.items()]
    app = sec.app(filings, tickers={"AAPL": APPLE, "TSLA": TESLA, "BRK-B": 1067983})
    assert ask(app, **options).ids == expected


@pytest.mark.parametrize(
    ("form", "spelling"),
    [
        ("10-K 10-Q", "10-K,10-Q"), ("SC13G;8K/A", "SC 13G,8-K/A"),
        ("8K", "8-K"), ("10k", "10-K"), ("10-KA", "10-K/A"), ("-8K", "8-K"), ("Form 4", "4"), ("DEF14A", "DEF 14A"),
        ("13F", "13F-HR"), ("sc13d/a", "SC 13D/A"), ("13D", "SCHEDULE 13D"), ("proxy", "DEF 14A"),
    ],
)  # fmt: skip
def test_a_form_that_edgar_spells_differently_is_refused_with_its_name(form: str, spelling: str) -> None:
    for run in (lambda: ask([], forms=("10-Q", form)), lambda: recorded([], forms=(form,))):
        with pytest.raises(ConfigError) as refused:
            run()
        assert f"EDGAR writes {spelling}" in refused.value.gap.reason


@pytest.mark.parametrize("form", ["-", "--4", "/A", "*", "- 4"])
def test_what_no_form_can_be_is_refused(form: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ask([], forms=("10-Q", form))
    expected = "--forms: a form begins with a letter or a digit, as 10-K does; -10-K excludes it."
    assert refused.value.gap.reason == expected


@pytest.mark.parametrize("cik", [str(TESLA), "0" * 5_000 + str(TESLA), f"CIK{TESLA:010d}", f"ci\N{KELVIN SIGN}{TESLA}"])
def test_a_number_is_read_however_it_is_written(cik: str) -> None:
    fetched = ask([Filing(number(1), "10-K", "2024-01-10 12:00:00", ciks=(TESLA,))], ciks=(cik,))
    assert (fetched.ids, fetched.error) == ([number(1)], None)


@pytest.mark.parametrize("options", [{"query": None}, {"ciks": ("Apple",)}, {"ciks": ("12345678901",)}])
def test_a_request_that_cannot_be_asked_is_refused_before_it_is(options: dict[str, Any]) -> None:
    def no_request(request: HttpRequest) -> Response:
        raise AssertionError

    with pytest.raises(ConfigError):
        ask(no_request, **options)


@pytest.mark.parametrize(
    ("user_agent", "fine"),
    [
        ("Example Research ops@example.com", True),
        ("Sample Company Name (admin@example.co.uk)", True),
        ("ops@example.com", False),
        ("Mozilla/5.0 (X11; Linux x86_64)", False),
        ("Company contact@mail", True),
        ("Company contact at mail.com", False),
        ("Société ops@example.com", False),
    ],
)
def test_who_asks(user_agent: str, fine: bool) -> None:
    problem = implausible(user_agent)
    assert (problem is None) is fine
    assert problem is None or user_agent not in problem


# How the window is read --------------------------------------------------------------------------


def test_old_hits_cost_one_request_a_day_and_no_header() -> None:
    filings = [Filing(number(n), "UPLOAD", f"2023-12-{4 + n % 3:02d} 12:00:00") for n in range(150)]
    fetched = ask(filings, limit=150)
    assert len(fetched.ids) == 150
    assert [request.query["from"] for request in searches(fetched)] == ["0", "100"]
    assert [path[-12:-4] for path in fetched.paths("daily-index")] == ["20231206", "20231205", "20231204"]
    assert len(fetched.requests) == 5


def test_the_search_ends_when_the_limit_is_filled() -> None:
    app = sec.app(daily(3000, "2024-02-15"), cap=1000)
    newest = ask(app, forms=("10-K", "10-Q"), limit=20)
    assert newest.ids == [number(n) for n in range(1, 21)]
    assert newest.selection.stopped == "limit"
    # The first window meets the cap, the next one is small enough; the PIT's own day needs a header, and weekends.
    assert len(newest.paths("search-index")) <= 6
    assert len(newest.paths("daily-index")) == 14
    assert len(newest.paths("-index-headers.html")) == 7


@pytest.mark.parametrize("options", [{}, {"forms": ("10-K", "UPLOAD")}, {"forms": ("-4",)}])
def test_a_letter_of_long_ago_that_was_just_released_comes_first(options: dict[str, Any]) -> None:
    letter = Filing(number(999), "UPLOAD", "2023-03-01 12:00:00", released="2024-02-14", private=True)
    fetched = ask(sec.app([*daily(300, "2024-01-31"), letter], cap=150), limit=3, **options)
    assert fetched.ids == [number(999), number(1), number(2)]


@pytest.mark.parametrize("cap", [150, 400])
def test_a_window_that_meets_the_cap_is_split_until_it_is_read_as_a_whole(cap: int) -> None:
    fetched = ask(sec.app(daily(600, "2024-02-01"), cap=cap), limit=2000, max_pages=20)
    assert fetched.ids == [number(n) for n in range(1, 601)]
    assert fetched.gaps == []


def test_a_day_that_meets_the_cap_is_a_gap_and_no_part_of_a_day() -> None:
    busy = [Filing(number(500 + n), "10-K", "2023-06-01 12:00:00") for n in range(200)]
    app = sec.app([*daily(3, "2023-06-03"), *busy], cap=150)
    fetched = ask(app, limit=1000)
    assert fetched.ids == [number(1), number(2)]
    assert fetched.gaps == ["result_cap"]


def test_pages_whose_hits_change_places_are_read_again() -> None:
    filings = daily(150, "2023-12-31")
    answer, asks = sec.app(filings), [0]

    def app(request: HttpRequest) -> Response:
        asks[0] += 1
        shift = 30 if asks[0] == 2 else 0
        return sec.app(filings[shift:] + filings[:shift])(request) if shift else answer(request)

    assert len(set(ask(app, limit=150).ids)) == 150
    assert asks[0] > 2


@pytest.mark.parametrize(("count", "total", "fine"), [(3, 3, True), (3, 5, False), (100, 300, False), (0, 0, True)])
def test_a_total_that_the_pages_do_not_hold_is_an_error(count: int, total: int, fine: bool) -> None:
    filings = daily(count, "2023-12-31")
    fetched = ask(
        app_finding([hit for filing in filings for hit in sec.hits(filing)], filings, total=total), limit=1000
    )
    assert (fetched.error is None) is fine
    assert len(fetched.ids) == (count if fine else 0)


@pytest.mark.parametrize("later_first", [False, True])
def test_of_two_dates_of_one_filing_the_later_one_counts(later_first: bool) -> None:
    days = ["2023-06-01", "2023-06-05"][:: -1 if later_first else 1]
    filings = [Filing(number(1), "10-K", f"{day} 12:00:00", files=((f"{day}.htm", ""),)) for day in days]
    (record,) = ask(app_finding([sec.hits(filing)[0] for filing in filings], filings)).records
    assert record.payload["filed"] == "2023-06-05"
    assert record.available_at == datetime(2023, 6, 6, 4, tzinfo=UTC)


def test_a_day_that_is_not_read_to_its_end_is_left_out() -> None:
    letters = [Filing(number(n), "UPLOAD", f"2023-{1 + n // 3:02d}-01 12:{n:02d}:00") for n in range(9)]

    app = sec.app(letters, pages=no_index)
    fetched = ask(failing_from(app, lambda path: number(4) in path, Response(hang=True)))
    assert fetched.error_code == "slow"
    assert fetched.ids == [number(8), number(7), number(6)]


# What a filing becomes ---------------------------------------------------------------------------


def test_an_accession_under_two_ciks_is_one_item_with_all_its_documents() -> None:
    filing = Filing(
        number(1), "8-K", "2024-02-14 12:00:00", ciks=(APPLE, TESLA), files=(("a.htm", ""), ("b.htm", "EX-99.1"))
    )
    first, second = sec.hits(filing)
    first["_source"]["ciks"], second["_source"]["ciks"] = ["0000320193"], ["0001318605"]
    (record,) = ask(app_finding([second, first], [filing])).records
    assert record.payload["ciks"] == ["0000320193", "0001318605"]
    assert [document["file_name"] for document in record.payload["documents"]] == ["a.htm", "b.htm"]
    assert [document["type"] for document in record.payload["documents"]] == ["8-K", "EX-99.1"]


# Where the time comes from -----------------------------------------------------------------------


def without(*endings: str) -> Callable[[str], Response | None]:
    return lambda path: sec.MISSING if path.endswith(endings) else None


def test_older_filings_stand_in_further_submissions_files() -> None:
    filing = Filing(number(1), "8-K", "2024-02-14 12:00:00")
    name = "CIK0000320193-submissions-001.json"
    row = {"name": name, "filingFrom": "2020-01-01", "filingTo": "2024-02-14"}

    def pages(path: str) -> Response | None:
        if path == "/submissions/CIK0000320193.json":
            return as_json({"filings": {"recent": {}, "files": [7, row]}})
        if path == f"/submissions/{name}":
            return as_json(sec.columns([filing], False))
        return without(".idx", ".html", ".sgml", ".htm")(path)

    assert ask(sec.app([filing], pages=pages)).ids == [number(1)]


def test_a_filing_of_an_ordinary_form_that_was_private_is_withheld_until_it_is_asked_for_exactly() -> None:
    late = Filing(number(1), "8-K", "2024-02-12 12:00:00", released="2024-02-14", private=True)
    assert ask([late], forms=("8-K",)).ids == []
    assert ask([late], forms=("8-K",), exact=True).ids == [number(1)]
    assert ask([late]).ids == [number(1)]


# Trouble -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        sec.UNDECLARED,
        sec.BLOCKED,
        sec.MISSING,
        sec.MAINTENANCE,
        Response(b"<html></html>"),
        Response(b""),
        Response(b'{"took": 3, "hits": {"total"'),
        as_json([]),
        as_json({"hits": []}),
        as_json({"hits": {"total": 3, "hits": []}}),
        as_json(sec.reply([], timed_out=True)),
        as_json(sec.reply([], _shards={"total": 50, "failed": 1})),
        as_json({"error": "SECRET"}),
        as_json({}, 404),
        as_json({}, 400),
    ],
)
def test_a_search_that_fails_is_an_error_and_no_empty_answer(response: Response) -> None:
    fetched = ask(lambda request: response)
    assert fetched.error is not None
    assert fetched.error.type == "upstream_error"
    assert "SECRET" not in fetched.error.reason


def test_a_search_that_a_part_of_the_index_answered_is_asked_again() -> None:
    answer, pending = sec.app(daily(1, "2023-12-31")), [as_json(sec.reply([], timed_out=True))]
    fetched = ask(lambda request: pending.pop() if pending else answer(request))
    assert (fetched.ids, fetched.error, len(fetched.paths("search-index"))) == ([number(1)], None, 2)


# A recorded reply --------------------------------------------------------------------------------


def recorded(filings: Sequence[Filing], **options: Any) -> list[str]:
    body = sec.text_of(sec.reply([hit for filing in filings for hit in sec.hits(filing)]))
    return ask([], body=body, **options).ids


RECORDED = [
    Filing(number(1), "10-K", "2024-02-08 12:00:00"),
    Filing(number(2), "10-K", "2024-02-09 12:00:00"),
    Filing(number(3), "UPLOAD", "2010-02-08 12:00:00"),
    Filing(number(4), "10-Q", "2023-02-08 12:00:00", ciks=(TESLA,)),
]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [2, 1, 4, 3]),
        ({"exact": True}, [2, 1, 4, 3]),
        ({"forms": ("10-Q",)}, [4]),
        ({"ciks": ("320193",)}, [2, 1, 3]),
        ({"date_to": "2023-12-31"}, [4, 3]),
        ({"date_from": "2024-02-01"}, [2, 1]),
    ],
)
def test_of_a_recorded_reply_nothing_is_served_with_a_pit(options: dict[str, Any], expected: list[int]) -> None:
    assert recorded(RECORDED, **options) == []
    assert recorded(RECORDED, pit=None, **options) == [number(n) for n in expected]


@pytest.mark.parametrize(
    ("total", "relation", "gaps"),
    [(1, "eq", []), (2, "eq", ["partial_file"]), (10_000, "gte", ["partial_file"]), (1, "gte", ["partial_file"])],
)
def test_a_recorded_reply_that_is_one_page_of_many_says_so(total: int, relation: str, gaps: list[str]) -> None:
    body = sec.text_of(sec.reply(sec.hits(RECORDED[0]), total=total, relation=relation))
    assert ask([], body=body, pit=None).gaps == gaps
    assert ask([], body=body).gaps == []


def test_the_hosts_are_counted_together_and_within_what_sec_allows() -> None:
    (rate,) = {host.rate for host in PROVIDER.hosts}
    assert rate is not None
    assert rate.bucket
    assert rate.calls / rate.seconds <= 10
