"""alphavantage: from when on a statement is claimed, and what is asked for then."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import in_new_york
from tests.provider_harness import Fetched
from tests.provider_harness import ask as ask_source
from tests.providers.alphavantage import server as av
from tests.providers.alphavantage.server import Store, quarter

PIT = "2026-05-17T00:00:00Z"
# Recorded: IBM's reports.
REPORTS = (
    quarter("2025-03-31", "2025-04-23"),
    quarter("2024-12-31", "2025-01-29"),
    quarter("2024-09-30", "2024-10-23"),
    quarter("2024-06-30", "2024-07-24"),
    quarter("2023-12-31", "2024-01-24"),
)


def _row(ends: Any, **more: Any) -> dict[str, Any]:
    return {"fiscalDateEnding": ends, "reportedCurrency": "USD", "totalRevenue": "1", **more}


def ask(
    quarters: Any, years: Any = (), reports: Any = REPORTS, *, evidence: str = "claimed", pit: str | None = PIT
) -> Fetched:
    statement = {"symbol": "IBM", "annualReports": list(years), "quarterlyReports": list(quarters)}
    store = Store(documents={"INCOME_STATEMENT": statement, "EARNINGS": av.earnings([], reports)})
    return ask_source(
        "alphavantage", av.app(store), op="INCOME_STATEMENT", symbol="IBM", pit=pit, evidence=evidence, limit=100
    )


def _claims(records: list[Record]) -> dict[str, str]:
    return {
        f"{record.payload['record_type'][0]} {record.payload['fiscalDateEnding']}": in_new_york(record.available_at)[
            :10
        ]
        for record in records
        if record.available_at is not None
    }


def test_a_quarter_with_no_year_before_it_counts_as_the_last_of_its_own() -> None:
    assert _claims(ask([_row("2024-06-30")]).records) == {"q 2024-06-30": "2024-10-01"}


def test_a_year_that_was_reported_late_does_not_date_a_quarter() -> None:
    reports = (quarter("2023-12-31", "2025-01-15"), quarter("2024-06-30", "2024-07-24"))
    claims = _claims(ask([_row("2024-06-30")], [_row("2023-12-31")], reports).records)
    assert claims == {"a 2023-12-31": "2025-01-16", "q 2024-06-30": "2024-10-01"}


def test_of_a_claim_only_known_columns_are_served() -> None:
    (record,) = ask([_row("2024-06-30", nextGuidance="up")]).records
    assert record.payload == {"record_type": "quarterly_report", **_row("2024-06-30")}


def test_the_reports_are_asked_for_where_claims_are_accepted() -> None:
    functions = [request.query["function"] for request in ask([_row("2024-06-30")]).requests]
    assert functions == ["EARNINGS", "INCOME_STATEMENT"]
    assert ask([_row("2024-06-30")], evidence="proved").requests == []
    assert len(ask([_row("2024-06-30")], pit=None).requests) == 1
