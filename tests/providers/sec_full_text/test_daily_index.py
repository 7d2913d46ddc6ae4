"""The daily index as evidence: how it is read, which days it may date, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pit_fetch_providers.edgar import daily_index

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import PIT, ask
from tests.providers.sec_full_text.server import Filing, number

DAY = date(2024, 2, 14)
LISTED = Filing(number(1), "8-K", "2024-02-14 12:00:00")
GOOD = sec.daily_index(DAY, [LISTED])


# The file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["master", "form", "company"])
def test_each_layout_lists_its_filings(layout: str) -> None:
    both = Filing(number(2), "SC 13D/A", "2024-02-14 12:00:00", ciks=(sec.APPLE, sec.TESLA), name="A  B, INC. /NEW/")
    text = sec.daily_index(DAY, [LISTED, both, Filing(number(3), "8-K", "2024-02-15 12:00:00")], layout)
    listed = daily_index.parse(text.encode(), DAY) or {}
    assert listed.keys() == {number(1), number(2), "0001209191-18-064398"}
    # The bars of one layout alone show where a name ends.
    names = ("A  B, INC. /NEW/",) if layout == "master" else ()
    assert (listed[number(2)], listed[number(1)]) == (names, ("Apple Inc.",) if layout == "master" else ())


@pytest.mark.parametrize(
    ("damage", "listed"),
    [
        (lambda text: text.replace("\n", "\r\n"), True),
        (lambda text: text.replace("20240214|", "2024-02-14|"), True),
        (lambda text: text.replace("Apple Inc.", "Soci\xe9t\xe9 | Fr\xe8res"), True),
        (lambda text: text.replace("Last Data Received:", "Last Data:"), None),
        (lambda text: text.replace("Feb 14, 2024", "Xyz 14, 2024"), None),
        (lambda text: text.replace("Daily Index of EDGAR Dissemination Feed", "Daily Index"), None),
        (lambda text: "", None),
        (lambda text: text.replace("320193|Apple", "x" * 9_000 + "|Apple"), True),
        (lambda text: text.replace(f"{number(1)}.txt", number(1)), False),
        (lambda text: text.replace("|20240214|edgar/data/320193", "||edgar/data/320193"), False),
    ],
)
def test_a_row_or_a_file_that_cannot_be_read_lists_nothing(damage: Callable[[str], str], listed: bool | None) -> None:
    parsed = daily_index.parse(damage(GOOD).encode("latin-1"), DAY)
    assert (None if parsed is None else number(1) in parsed) is listed


@pytest.mark.parametrize(
    ("day", "path"),
    [
        ("2018-12-31", "/Archives/edgar/daily-index/2018/QTR4/master.20181231.idx"),
        ("2020-03-18", "/Archives/edgar/daily-index/2020/QTR1/master.20200318.idx"),
        ("2022-10-03", "/Archives/edgar/daily-index/2022/QTR4/master.20221003.idx"),
        ("2024-02-17", None),
        ("2024-02-18", None),
    ],
)
def test_where_the_index_of_a_day_is(day: str, path: str | None) -> None:
    assert daily_index.path(date.fromisoformat(day)) == path


@pytest.mark.parametrize(
    ("sent", "complete"),
    [
        ("Thu, 15 Feb 2024 05:00:00 GMT", True),
        ("Thu, 15 Feb 2024 04:59:59 GMT", False),
        ("Wed, 14 Feb 2024 22:31:00 GMT", False),
        ("Fri, 01 Mar 2024 00:00:00 GMT", True),
        ("yesterday", True),
        (None, True),
    ],
)
def test_an_index_is_complete_when_its_day_is_over_by_the_servers_clock(sent: str | None, complete: bool) -> None:
    assert daily_index.is_complete(DAY, sent) is complete


# What it dates -----------------------------------------------------------------------------------


def test_no_index_is_asked_for_of_the_pits_own_day_or_a_weekend() -> None:
    days = ("2024-02-15", "2024-02-11", "2024-02-10", "2024-02-09")
    fetched = ask([Filing(number(n), "8-K", f"{day} 12:00:00") for n, day in enumerate(days)])
    assert len(fetched.ids) == 4
    assert [path[-12:-4] for path in fetched.paths("daily-index")] == ["20240209"]


def test_an_exact_search_reads_the_index_where_the_header_fails() -> None:
    filings = [Filing(number(n), "UPLOAD", "2024-02-14 12:00:00") for n in (1, 2)]

    def pages(path: str) -> Response | None:
        return sec.MISSING if number(1).replace("-", "") in path else None

    fetched = ask(sec.app(filings, pages=pages), exact=True)
    assert {record.id: record.available_at_source for record in fetched.records} == {
        number(1): "provider_metadata",
        number(2): "edgar_accepted",
    }


# What is kept ------------------------------------------------------------------------------------

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


class Machine:
    """Run fetches with a cache folder that stays. ``requests`` are all that were sent; ``now`` is the wall clock."""

    def __init__(self, app: App, home: Path) -> None:
        self.app, self.home, self.requests = app, home, list[HttpRequest]()

    def __call__(self, pit: str = PIT, now: datetime = NOON, **options: Any) -> list[str]:
        fetched = ask(self.app, pit=pit, now=now, folder=str(self.home), **options)
        self.requests += fetched.requests
        return fetched.ids


def test_an_index_is_asked_for_once_and_kept_for_good(tmp_path: Path) -> None:
    machine = Machine(sec.app([LISTED]), tmp_path)
    assert machine() == machine(now=NOON + timedelta(days=4_000)) == [number(1)]
    assert sum("daily-index" in request.path for request in machine.requests) == 1
    (file,) = tmp_path.rglob("file-*")
    assert file.stat().st_size < len(GOOD)
