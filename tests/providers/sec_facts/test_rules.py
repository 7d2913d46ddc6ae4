"""sec_facts: which version of a fact stood at an instant, and what statements make of the versions."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pit_fetch_providers.sec_facts import PROVIDER, lines

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.request.fetch_request import from_values
from pit_fetch.request.query import build_query
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.times import NEW_YORK
from tests.provider_harness import Fetched, instead
from tests.provider_harness import ask as ask_source
from tests.providers.sec_facts import server
from tests.providers.sec_facts.server import Reported
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import always, failing_from
from tests.providers.sec_full_text.server import Filing

# A year, its quarters, and the next year, which restates the first: as filed by a company whose year ends in December.
Q1 = Filing(sec.number(1), "10-Q", "2022-05-02 16:30:00")
Q2 = Filing(sec.number(2), "10-Q", "2022-08-01 16:30:00")
Q3 = Filing(sec.number(3), "10-Q", "2022-11-01 16:30:00")
YEAR = Filing(sec.number(4), "10-K", "2023-02-15 18:04:00", filed="2023-02-16")
AMENDED = Filing(sec.number(5), "10-K/A", "2023-04-03 12:00:00")
NEXT_Q1 = Filing(sec.number(6), "10-Q", "2023-05-01 16:30:00")
PROXY = Filing(sec.number(7), "DEF 14A", "2023-03-01 12:00:00")
LATE = "2024-06-03T12:00:00-04:00"


def at(filing: Filing) -> datetime:
    """Return when a filing is public, an hour of business or the morning after."""
    moment = datetime.fromisoformat(filing.accepted).replace(tzinfo=NEW_YORK) + timedelta(hours=1)
    return moment if moment.date().isoformat() == filing.day else datetime(2023, 2, 16, 9, tzinfo=NEW_YORK)


def income(filing: Filing, start: str, end: str, value: float, concept: str = "NetIncomeLoss") -> Reported:
    return Reported(filing, concept, end, value, start)


HISTORY = (
    income(Q1, "2022-01-01", "2022-03-31", 10),
    income(Q2, "2022-04-01", "2022-06-30", 11),
    income(Q2, "2022-01-01", "2022-06-30", 21),
    income(Q3, "2022-07-01", "2022-09-30", 12),
    income(Q3, "2022-01-01", "2022-09-30", 33),
    income(YEAR, "2022-01-01", "2022-12-31", 47),
    income(NEXT_Q1, "2023-01-01", "2023-03-31", 15),
    income(NEXT_Q1, "2022-01-01", "2022-03-31", 10),
)
YEARLY = {"2022-03-31": 10, "2022-06-30": 11, "2022-09-30": 12, "2022-12-31": 14, "2023-03-31": 15}


def ask(facts: tuple[Reported, ...] | App, *, pit: str | None = LATE, **options: Any) -> Fetched:
    app = facts if callable(facts) else server.app(facts)
    if not options.keys() & {"symbol", "cik"}:
        options["cik"] = "320193"
    return ask_source("sec_facts", app, pit=pit, **options)


def values(fetched: Fetched) -> dict[str, Any]:
    return {record.payload["end"]: record.payload["value"] for record in fetched.records}


def cells(fetched: Fetched, name: str) -> dict[str, Any]:
    return {record.payload["period_end"]: record.payload[name] for record in fetched.records}


# The instant of a version.


def test_a_history_costs_no_more_requests_than_a_filing() -> None:
    few, many = (ask(facts, concept="NetIncomeLoss") for facts in (HISTORY[:1], HISTORY))
    assert [request.path for request in few.requests] == [request.path for request in many.requests]
    assert len(many.requests) == 3


def test_a_filing_that_the_submissions_leave_out_is_dated_by_its_header() -> None:
    app = instead(server.app(HISTORY[5:6]), sec.NO_SUCH_KEY, "/submissions/CIK0000320193.json")
    assert ask(app, concept="NetIncomeLoss").records[0].available_at == datetime(2023, 2, 16, 14, tzinfo=UTC)


UNEVEN = {"accessionNumber": [sec.number(1), sec.number(2)], "filingDate": ["2022-05-02"], "acceptanceDateTime": [""]}


@pytest.mark.parametrize(
    "reply",
    [sec.MAINTENANCE, sec.BLOCKED, Response(b'{"filings": {"rec'), Response(b"<html>"),
     as_json({"filings": {"recent": UNEVEN}}), as_json({"cik": "1", "filings": {"recent": {}}})],
)  # fmt: skip
def test_a_list_of_filings_that_fails_is_an_error_whatever_was_filed(reply: Response) -> None:
    for facts in (HISTORY, HISTORY[:1], ()):
        fetched = ask(instead(server.app(facts), reply, "/submissions/CIK0000320193.json"), concept="NetIncomeLoss")
        assert fetched.records == []
        assert fetched.error is not None


def test_where_a_file_of_the_list_ends_changes_nothing() -> None:
    morning = Filing(sec.number(8), "10-K/A", "2023-05-01 08:30:00")
    facts = (income(NEXT_Q1, "2023-01-01", "2023-03-31", 15), income(morning, "2022-01-01", "2022-12-31", 46))
    whole, cut = (ask(server.app(facts, true_utc=True, recent=most), concept="NetIncomeLoss") for most in (1_000, 1))
    assert whole.items == cut.items
    assert not cut.paths("/Archives/")


# Versions.


def test_the_vintages_of_a_fact() -> None:
    facts = (income(YEAR, "2022-01-01", "2022-12-31", 47), income(AMENDED, "2022-01-01", "2022-12-31", 46))
    assert values(ask(facts, concept="NetIncomeLoss")) == {"2022-12-31": 46}
    assert values(ask(facts, concept="NetIncomeLoss", vintage="first")) == {"2022-12-31": 47}
    every = ask(facts, concept="NetIncomeLoss", vintage="all").records
    assert [(made.payload["value"], made.payload["restated"]) for made in every] == [(46, True), (47, False)]
    assert [made.id.rpartition(":")[2] for made in every] == [AMENDED.accession, YEAR.accession]


def test_what_a_proxy_statement_tags_again_is_no_version() -> None:
    facts = (income(YEAR, "2022-01-01", "2022-12-31", 47_000), income(PROXY, "2022-01-01", "2022-12-31", 47))
    assert values(ask(facts, concept="NetIncomeLoss")) == {"2022-12-31": 47_000}


@pytest.mark.parametrize("forms", [("10-K", "10-K/A"), ("10-K/A", "10-K")])
def test_an_amendment_of_the_same_morning_is_the_newer_version(forms: tuple[str, str]) -> None:
    first, second = (
        Filing(sec.number(8 + place), form, f"2023-02-15 18:0{4 + place}:00", filed="2023-02-16")
        for place, form in enumerate(forms)
    )
    facts = tuple(income(made, "2022-01-01", "2022-12-31", len(made.form)) for made in (first, second))
    for vintage, form in (("latest", "10-K/A"), ("first", "10-K")):
        (record,) = ask(facts, concept="NetIncomeLoss", vintage=vintage).records
        assert (record.payload["form"], record.payload["value"]) == (form, len(form))


@pytest.mark.parametrize(
    ("concept", "expected"),
    [
        ("Assets", "us-gaap"),
        ("assets", "us-gaap"),
        ("ifrs-full:Assets", "ifrs-full"),
        ("IFRS-FULL:ASSETS", "ifrs-full"),
    ],
)
def test_a_concept_is_looked_up_in_one_taxonomy(concept: str, expected: str) -> None:
    facts = (Reported(YEAR, "Assets", "2022-12-31", 1), Reported(YEAR, "Assets", "2022-12-31", 2, taxonomy="ifrs-full"))
    assert [record.payload["taxonomy"] for record in ask(facts, concept=concept).records] == [expected]


def test_a_taxonomy_that_is_used_later_does_not_decide() -> None:
    facts = (
        Reported(YEAR, "Assets", "2022-12-31", 2, taxonomy="ifrs-full"),
        Reported(NEXT_Q1, "Assets", "2023-03-31", 1),
    )
    at = {"2023-04-28T12:00:00-04:00": "ifrs-full", LATE: "us-gaap"}
    for pit, taxonomy in at.items():
        assert {made.payload["taxonomy"] for made in ask(facts, pit=pit, concept="Assets").records} == {taxonomy}


def test_units_and_periods_are_chosen_among_the_facts() -> None:
    facts = (*HISTORY, HISTORY[5]._replace(unit="EUR", value=40), Reported(YEAR, "Assets", "2022-12-31", 9))
    by_period = {
        period: values(ask(facts, concept="NetIncomeLoss,Assets", unit="USD", period=period))
        for period in ("annual", "quarter", "ytd", "instant")
    }
    assert by_period == {
        "annual": {"2022-12-31": 47},
        "quarter": {"2022-03-31": 10, "2022-06-30": 11, "2022-09-30": 12, "2023-03-31": 15},
        "ytd": {"2022-06-30": 21, "2022-09-30": 33},
        "instant": {"2022-12-31": 9},
    }
    for unit in ("EUR", "eur"):
        assert values(ask(facts, concept="NetIncomeLoss", unit=unit)) == {"2022-12-31": 40}


# Statements.


def test_quarters_are_reported_or_derived() -> None:
    quarters = ask(HISTORY, op="statement", period="quarter")
    assert cells(quarters, "net_income") == YEARLY
    derived = {record.payload["period_end"] for record in quarters.records if record.payload["derived"]}
    assert derived == {"2022-12-31"}


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("2023-03-26", "quarter"),  # 12 weeks
        ("2023-04-29", "quarter"),  # 17 weeks
        ("2023-05-01", ""),  # four months and some days
        ("2023-06-18", "ytd"),  # two quarters of 12 weeks
        ("2023-10-07", "ytd"),  # one of 16 and two of 12
    ],
)
def test_a_quarter_has_twelve_to_seventeen_weeks(end: str, kind: str) -> None:
    reported = (income(NEXT_Q1, "2023-01-01", end, 5),)
    found = [
        period
        for period in ("annual", "quarter", "ytd")
        if values(ask(reported, concept="NetIncomeLoss", period=period))
    ]
    assert found == ([kind] if kind else [])


def amounts(*rows: tuple[Filing, str, str, int], concept: str) -> tuple[Reported, ...]:
    profits = tuple(income(filing, start, end, 7 * amount) for filing, start, end, amount in rows)
    return (*profits, *(income(filing, start, end, amount, concept) for filing, start, end, amount in rows))


@pytest.mark.parametrize(
    ("first", "second", "half", "year", "expected"),
    [
        (100, 100, 200, 400, (410, None)),
        (236, 212, 432, 844, (None, "contradicted")),  # the first quarter is of another basis than the half year
        (2486, 2500, 4976, 9964, (None, "contradicted")),  # as a note's "$2.5 billion" of the second does: it may be
    ],
)
def test_no_sum_has_a_part_that_is_contradicted(
    first: int, second: int, half: int, year: int, expected: tuple[int | None, str | None]
) -> None:
    cost, million = "ResearchAndDevelopmentExpense", 10**6
    reported = amounts(
        (Q1, "2022-01-01", "2022-03-31", first * million),
        (Q2, "2022-04-01", "2022-06-30", second * million),
        (Q2, "2022-01-01", "2022-06-30", half * million),
        (YEAR, "2022-01-01", "2022-12-31", year * million),
        (NEXT_Q1, "2023-01-01", "2023-03-31", 110 * million),
        concept=cost,
    )
    (newest, *_) = ask(reported, op="statement", period="ttm").records
    amount = newest.payload["research_and_development"]
    found = None if amount is None else amount // million
    assert (found, newest.payload["omitted"].get("research_and_development")) == expected


def test_nothing_is_derived_from_a_restated_figure() -> None:
    restated = (*HISTORY, income(AMENDED, "2022-01-01", "2022-12-31", 46))
    for period, end in (("quarter", "2022-12-31"), ("ttm", "2023-03-31")):
        fetched = ask(restated, op="statement", period=period)
        assert (cells(fetched, "net_income")[end], cells(fetched, "omitted")[end]) == (None, {"net_income": "restated"})
    untouched = ask(restated, pit="2023-04-02T12:00:00-04:00", op="statement", period="quarter")
    assert (cells(untouched, "net_income")["2022-12-31"], cells(untouched, "omitted")["2022-12-31"]) == (14, {})


def test_nothing_is_derived_across_a_recast() -> None:
    before = income(Q1, "2021-01-01", "2021-12-31", 50)
    recast = income(YEAR, "2021-01-01", "2021-12-31", 20)  # a part of the company was sold: 2022 is told without it
    fetched = ask((*HISTORY, before, recast), op="statement", period="quarter")
    found = cells(fetched, "net_income")
    assert (found["2022-12-31"], found["2022-06-30"]) == (None, 11)
    assert cells(fetched, "omitted")["2022-12-31"] == {"net_income": "restated"}


def test_a_cell_that_no_filing_gives_is_null_and_not_omitted() -> None:
    for period in ("annual", "quarter", "ttm"):
        for record in ask(HISTORY, op="statement", period=period).records:
            assert (record.payload["income_tax"], record.payload["omitted"]) == (None, {})


@pytest.mark.parametrize(("is_repeated", "gross_profit"), [(False, None), (True, 30)])
def test_a_sum_is_of_one_basis(is_repeated: bool, gross_profit: int | None) -> None:
    year = ("2022-01-01", "2022-12-31")
    facts = [income(YEAR, *year, 100, "Revenues"), income(YEAR, *year, 60, "CostOfRevenue")]
    facts += [income(AMENDED, *year, 90, "Revenues")]
    facts += [income(AMENDED, *year, 60, "CostOfRevenue")] * is_repeated
    (item,) = ask(tuple(facts), op="statement").records
    assert (item.payload["revenue"], item.payload["gross_profit"]) == (90, gross_profit)
    assert item.payload["omitted"] == ({} if is_repeated else {"gross_profit": "restated"})


def test_derived_cells_have_no_error_of_floats() -> None:
    facts = (
        income(Q3, "2022-01-01", "2022-09-30", 0.1),
        income(YEAR, "2022-01-01", "2022-12-31", 0.3),
        income(YEAR, "2022-01-01", "2022-12-31", 1.1, "Revenues"),
        income(YEAR, "2022-01-01", "2022-12-31", 0.8, "CostOfRevenue"),
    )
    quarter, year = (
        cells(ask(facts, op="statement", period=period), name)["2022-12-31"]
        for period, name in (("quarter", "net_income"), ("annual", "gross_profit"))
    )
    assert (quarter, year) == (0.2, 0.3)


def test_what_is_derived_from_first_versions_is_as_old_as_they_are() -> None:
    again = income(AMENDED, "2022-01-01", "2022-12-31", 47)
    for vintage, filing in (("first", YEAR), ("latest", AMENDED)):
        fetched = ask((*HISTORY, again), op="statement", period="quarter", vintage=vintage)
        sources = cells(fetched, "sources")["2022-12-31"]["net_income"]
        assert [source["accession"] for source in sources] == [filing.accession, Q3.accession]


def test_twelve_months_are_the_year_and_what_came_since_less_the_same_part_of_it() -> None:
    months = ask(HISTORY, op="statement", period="ttm")
    assert cells(months, "net_income") == {"2022-12-31": 47, "2023-03-31": 52}
    assert {record.payload["period_start"] for record in months.records} == {"2022-01-01", "2022-04-01"}


def test_what_is_per_share_is_never_derived() -> None:
    facts = tuple(
        fact._replace(concept=concept, unit=unit)
        for fact in HISTORY
        for concept, unit in (("NetIncomeLoss", "USD"), ("EarningsPerShareDiluted", "USD/shares"))
    )
    assert cells(ask(facts, op="statement", period="quarter"), "eps_diluted")["2022-12-31"] is None
    months = ask(facts, op="statement", period="ttm")
    assert cells(months, "eps_diluted") == {"2022-12-31": 47, "2023-03-31": None}
    assert cells(months, "omitted") == {"2022-12-31": {}, "2023-03-31": {"eps_diluted": "not_additive"}}


def test_the_newest_filing_decides_among_the_names_of_a_line() -> None:
    facts = (
        *HISTORY,
        income(YEAR, "2022-01-01", "2022-12-31", 100, "SalesRevenueNet"),
        income(AMENDED, "2022-01-01", "2022-12-31", 101, "RevenueFromContractWithCustomerExcludingAssessedTax"),
    )
    assert cells(ask(facts, op="statement"), "revenue") == {"2022-12-31": 101}
    assert cells(ask(facts, op="statement", vintage="first"), "revenue") == {"2022-12-31": 100}
    source = ask(facts, op="statement").records[0].payload["sources"]["revenue"]
    concept = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
    assert source == [{"concept": concept, "accession": AMENDED.accession}]


SHEET = ("Assets", "Liabilities", "CashAndCashEquivalentsAtCarryingValue")


def sheet(filing: Filing, end: str, value: float, names: tuple[str, ...] = SHEET) -> list[Reported]:
    return [Reported(filing, name, end, value) for name in names]


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (46, (46, {}, at(AMENDED))),
        (None, (None, {"net_income": "unreadable"}, at(AMENDED))),
        (-1.7e308, (None, {"net_income": "unreadable"}, at(AMENDED))),  # of which a sum is infinite
    ],
)
def test_a_cell_whose_value_cannot_be_read_is_left_out_since_then(amount: Any, expected: object) -> None:
    facts = [income(YEAR, "2022-01-01", "2022-12-31", 47), income(YEAR, "2022-01-01", "2022-12-31", 90, "Revenues")]
    answer = ask((*facts, income(AMENDED, "2022-01-01", "2022-12-31", amount)), op="statement")
    (item,) = answer.records
    assert (item.payload["net_income"], item.payload["omitted"], item.available_at) == expected
    assert item.payload["revenue"] == 90
    assert [gap.code for gap in answer.selection.gaps if gap.code is Code.MALFORMED] == [Code.MALFORMED][: amount != 46]


@pytest.mark.parametrize(
    ("concept", "cell", "before", "reasons"),
    [
        ("ShortTermBorrowings", "debt", None, ["incomplete", "incomplete"]),
        ("DebtCurrent", "debt", 1600, [None, "unreadable"]),
        ("LongTermDebtNoncurrent", "debt", 1600, [None, "unreadable"]),
    ],
)
def test_no_sum_is_made_without_what_cannot_be_read(
    concept: str, cell: str, before: int | None, reasons: list[str | None]
) -> None:
    names = {"LongTermDebtNoncurrent": 1000, "LongTermDebtCurrent": 100}
    names |= {concept: 600} if concept == "DebtCurrent" else {"DebtCurrent": 600} if before else {concept: 600}
    facts = [income(YEAR, "2022-01-01", "2022-12-31", 47)]
    facts += [Reported(YEAR, name, "2022-12-31", value) for name, value in names.items()]
    lost: Any = None
    facts.append(Reported(AMENDED, concept, "2022-12-31", lost))
    for pit, value, reason, since in (
        ("2023-03-01T12:00:00-05:00", before, reasons[0], YEAR),
        (LATE, None, reasons[1], YEAR if reasons[0] == reasons[1] else AMENDED),
    ):
        (item,) = ask(tuple(facts), pit=pit, op="statement", statement="balance").records
        assert (item.payload[cell], item.payload["omitted"].get(cell), item.available_at) == (value, reason, at(since))


def test_a_period_under_two_dates_with_two_values_has_neither() -> None:
    """A typing error, restated, or a company that made a fresh start on the next day: the facts do not tell."""
    facts = [income(Q1, "2022-01-01", "2022-03-31", 124), income(YEAR, "2022-01-01", "2022-04-01", -216)]
    for pit, profits in (
        ("2022-12-01T12:00:00-05:00", {"2022-03-31": 124}),
        (LATE, dict.fromkeys(("2022-04-01", "2022-03-31"))),
    ):
        answer = ask(tuple(facts), pit=pit, op="statement", period="quarter")
        assert cells(answer, "net_income") == profits
        omitted = {} if pit != LATE else {"net_income": "other_dates"}
        assert [item.payload["omitted"] for item in answer.records] == [omitted] * len(profits)


def test_nothing_is_derived_from_a_period_that_is_not_fiscal() -> None:
    """Abbott's nine months of 2011 had sales, but no net income."""
    facts = [fact for fact in HISTORY if (fact.start, fact.end) != ("2022-01-01", "2022-09-30")]
    facts += [income(YEAR, "2022-01-01", "2022-12-31", 470, "Revenues")]
    facts += [income(Q3, "2022-01-01", "2022-09-30", 330, "Revenues")]
    facts += [income(YEAR, "2022-10-01", "2022-12-31", 14)]
    answer = ask(tuple(facts), op="statement", period="quarter")
    item = next(made for made in answer.records if made.payload["period_end"] == "2022-12-31")
    assert (item.payload["net_income"], item.payload["revenue"]) == (14, None)
    assert item.payload["omitted"] == {"revenue": "not_fiscal"}


@pytest.mark.parametrize("vintage", ["latest", "first"])
def test_twelve_months_lose_no_days_where_a_year_moved(vintage: str) -> None:
    facts = [income(Q1, "2021-12-26", "2022-03-26", 91), income(YEAR, "2021-12-26", "2022-12-24", 364)]
    facts += [income(NEXT_Q1, "2022-12-25", "2022-12-31", 7), income(NEXT_Q1, "2023-01-01", "2023-03-31", 90)]
    answer = ask(tuple(facts), op="statement", period="ttm", vintage=vintage)
    assert cells(answer, "net_income") == {"2022-12-24": 364}


def test_a_later_filing_does_not_change_the_currency_of_the_first() -> None:
    first = income(YEAR, "2022-01-01", "2022-12-31", 47)
    later = [income(AMENDED, "2022-01-01", "2022-12-31", 40, name) for name in ("NetIncomeLoss", "Revenues")]
    facts = (first, *(fact._replace(unit="EUR") for fact in later))
    for vintage, currency in (("latest", "EUR"), ("first", "USD")):
        (item,) = ask(facts, op="statement", vintage=vintage).records
        assert item.payload["currency"] == currency


def test_a_company_that_changes_its_currency_shows_the_year_before_again() -> None:
    """Of as many figures, those of the newer report count. EUR comes before USD in the alphabet."""
    facts = (
        income(YEAR, "2022-01-01", "2022-12-31", 47)._replace(unit="EUR"),
        income(AMENDED, "2022-01-01", "2022-12-31", 50),
    )
    for vintage, shown in (("latest", ("USD", 50, at(AMENDED))), ("first", ("EUR", 47, at(YEAR)))):
        (item,) = ask(facts, op="statement", vintage=vintage).records
        assert (item.payload["currency"], item.payload["net_income"], item.available_at) == shown


@pytest.mark.parametrize(
    ("other", "year", "quarter", "reason"),
    [
        (42, 105, 22, None),
        (40, 105, 22, None),  # HD's income statement has a part of what is added back in the statement of cash flows
        (50, 113, None, "renamed"),  # and so has McDonald's, whose names are the other way round
    ],
)
def test_of_two_values_in_one_filing_the_total_is_the_line(
    other: int, year: int, quarter: int | None, reason: str | None
) -> None:
    facts = (
        income(Q1, "2022-01-01", "2022-03-31", 20, "DepreciationDepletionAndAmortization"),
        income(Q2, "2022-01-01", "2022-06-30", 42, "DepreciationDepletionAndAmortization"),
        income(Q2, "2022-01-01", "2022-06-30", other, "DepreciationAndAmortization"),
        income(YEAR, "2022-01-01", "2022-12-31", 105, "DepreciationDepletionAndAmortization"),
        income(YEAR, "2022-01-01", "2022-12-31", 63 + other, "DepreciationAndAmortization"),
    )
    for period, end, expected in (("annual", "2022-12-31", year), ("quarter", "2022-06-30", quarter)):
        shown = ask((*HISTORY, *facts), op="statement", statement="cashflow", period=period)
        assert cells(shown, "depreciation_and_amortization").get(end) == expected
        assert cells(shown, "omitted")[end].get("depreciation_and_amortization") == (None if expected else reason)


@pytest.mark.parametrize(
    ("newest", "expected", "reason"),
    [
        ({"PaymentsOfDividends": 50, "PaymentsOfDividendsCommonStock": 47}, 50, {}),
        ({"PaymentsOfDividendsCommonStock": 50}, 50, {}),
        ({"PaymentsOfDividends": 51}, 51, {}),
        ({"PaymentsOfDividendsCommonStock": 47}, 50, {}),
        # The total was restated, or this is the other measure, restated.
        ({"PaymentsOfDividendsCommonStock": 48}, None, {"dividends_paid": "two_values"}),
    ],
)
def test_what_was_another_measure_once_is_no_version_of_the_line(
    newest: dict[str, int], expected: int | None, reason: dict[str, str]
) -> None:
    year = ("2022-01-01", "2022-12-31")
    facts = [income(YEAR, *year, 50, "PaymentsOfDividends"), income(YEAR, *year, 47, "PaymentsOfDividendsCommonStock")]
    facts += [income(AMENDED, *year, value, concept) for concept, value in newest.items()]
    (item,) = ask((*HISTORY, *facts), op="statement", statement="cashflow").records
    assert (item.payload["dividends_paid"], item.payload["omitted"]) == (expected, reason)


_CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"
_MINORITIES = "NetIncomeLossAttributableToNoncontrollingInterest"
_WITHOUT_DEPRECIATION = "CostOfGoodsAndServiceExcludingDepreciationDepletionAndAmortization"
_ROUNDED = {"CostOfRevenue": 59_123, "CostOfGoodsAndServicesSold": 60_000}
_SELLING, _ADMINISTRATIVE = "SellingAndMarketingExpense", "GeneralAndAdministrativeExpense"
_SGA, _SHARES = "selling_general_administrative", "WeightedAverageNumberOfSharesOutstandingBasic"
_UNITS = {"EarningsPerShareBasic": "USD/shares", _SHARES: "shares"}


@pytest.mark.parametrize(
    ("reported", "line", "expected", "reason"),
    [
        # Walmart's total revenues beside its net sales, and the part that a bank or BLK calls so.
        ({_CONTRACTS: 97, "Revenues": 100}, "revenue", 100, None),
        ({_CONTRACTS: 100, "Revenues": 60}, "revenue", None, "two_values"),
        ({_CONTRACTS: 45}, "revenue", 45, None),
        ({_CONTRACTS: 45, "InterestAndDividendIncomeOperating": 900}, "revenue", None, "unproved"),
        ({_CONTRACTS: 45, "PremiumsEarnedNet": 900}, "revenue", None, "unproved"),
        ({_CONTRACTS: 45, "RegulatedAndUnregulatedOperatingRevenue": 900}, "revenue", None, "unproved"),
        ({"ProfitLoss": 7}, "net_income", None, "unproved"),
        ({"ProfitLoss": 7, "NetIncomeLoss": 6}, "net_income", 6, None),
        # NICE's share of minorities has the wrong sign, or its net income has.
        ({"ProfitLoss": 442, "NetIncomeLoss": 439, _MINORITIES: -3}, "net_income", None, "contradicted"),
        ({"ProfitLoss": 442, "NetIncomeLoss": 445, _MINORITIES: -3}, "net_income", 445, None),
        (
            {"ProfitLoss": 442, "NetIncomeLoss": 439, _MINORITIES: -3, "EarningsPerShareBasic": 4.42, _SHARES: 100},
            "net_income",
            442,
            None,
        ),
        (
            {"ProfitLoss": 442, "NetIncomeLoss": 439, _MINORITIES: -3, "EarningsPerShareBasic": 4.39, _SHARES: 100},
            "net_income",
            None,
            "contradicted",
        ),
        ({_CONTRACTS: 37, "RevenuesNetOfInterestExpense": 65}, "revenue", 65, None),  # AXP
        ({"Revenues": 90, "CostOfRevenue": 60, "CostOfGoodsSold": 20}, "cost_of_revenue", 60, None),
        # A note rounded it.
        ({"Revenues": 90, **_ROUNDED}, "cost_of_revenue", None, "two_values"),
        # LIN's face leaves depreciation out: no gross profit is made of it.
        ({"Revenues": 90, _WITHOUT_DEPRECIATION: 50}, "cost_of_revenue", 50, None),
        ({"Revenues": 90, _WITHOUT_DEPRECIATION: 50}, "gross_profit", None, "unproved"),
        ({"Revenues": 90, "CostOfRevenue": 60, _WITHOUT_DEPRECIATION: 50}, "cost_of_revenue", 60, None),
        ({"Revenues": 90, _SELLING: 11, _ADMINISTRATIVE: 9}, _SGA, 20, None),  # META
        ({"Revenues": 90, "SellingGeneralAndAdministrativeExpense": 21, _ADMINISTRATIVE: 9}, _SGA, 21, None),
        ({"CostsAndExpenses": 80, "Revenues": 90}, "costs_and_expenses", 80, None),
    ],
)
def test_the_line_is_the_whole_and_not_a_part_or_another_measure(
    reported: dict[str, float], line: str, expected: int | None, reason: str | None
) -> None:
    facts = [
        income(YEAR, "2022-01-01", "2022-12-31", value, concept)._replace(unit=_UNITS.get(concept, "USD"))
        for concept, value in reported.items()
    ]
    (item,) = ask((*facts,), op="statement").records
    assert (item.payload[line], item.payload["omitted"].get(line)) == (expected, reason)


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ({}, None),
        # Alphabet's report of 2022 gives the year under both names: they are synonyms there.
        ({"2022-12-31": 100}, 110),
        ({"2022-12-31": 100, "2022-09-30": 74}, None),  # and so nowhere else, where two values tell them apart
    ],
)
def test_a_sum_of_parts_under_different_names_is_left_out_unless_they_are_synonyms(
    beside: dict[str, int], expected: int | None
) -> None:
    facts = [
        income(YEAR, "2022-01-01", "2022-12-31", 100, "Revenues"),
        income(Q1, "2022-01-01", "2022-03-31", 20, "SalesRevenueNet"),
        income(Q3, "2022-01-01", "2022-09-30", 75, "Revenues"),
        income(NEXT_Q1, "2023-01-01", "2023-03-31", 30, "Revenues"),
        *(
            income(YEAR if end == "2022-12-31" else Q3, "2022-01-01", end, value, "SalesRevenueNet")
            for end, value in beside.items()
        ),
    ]
    months = ask((*HISTORY, *facts), op="statement", period="ttm")
    assert cells(months, "revenue")["2023-03-31"] == expected
    assert cells(months, "omitted")["2023-03-31"] == ({} if expected else {"revenue": "renamed"})


@pytest.mark.parametrize(
    ("sheet", "expected", "reason"),
    [
        # It may include what is due within a year.
        ({"LongTermDebt": 70}, None, {"long_term_debt": "unproved"}),
        ({"LongTermDebt": 70, "LongTermDebtNoncurrent": 60}, 60, {}),
        ({"LongTermDebtNoncurrent": 60}, 60, {}),
        # With leases, as on Home Depot's balance sheet: no sum is made of that and of debt without them.
        ({"LongTermDebt": 70, "LongTermDebtAndCapitalLeaseObligations": 62}, 62, {}),
        ({"LongTermDebtAndCapitalLeaseObligations": 62, "DebtCurrent": 5}, 62, {"debt": "unproved"}),
        ({"LongTermDebtNoncurrent": 60, "LongTermDebtAndCapitalLeaseObligations": 62}, 60, {}),
        ({}, None, {}),
    ],
)
def test_long_term_debt_is_what_is_due_after_a_year(
    sheet: dict[str, int], expected: int | None, reason: dict[str, str]
) -> None:
    facts = (Reported(YEAR, concept, "2022-12-31", value) for concept, value in {"Assets": 500, **sheet}.items())
    balance = ask((*HISTORY, *facts), op="statement", statement="balance")
    assert cells(balance, "long_term_debt") == {"2022-12-31": expected}
    assert cells(balance, "omitted")["2022-12-31"] == reason


# Twelve weeks, three times, and sixteen (COST); two years that end in one calendar year (JNJ).
COSTCO = ("2021-08-30", "2021-11-21", "2022-02-13", "2022-05-08", "2022-08-28", "2022-11-20")
JOHNSON = ("2016-01-04", "2016-04-03", "2016-07-03", "2016-10-02", "2017-01-01", "2017-04-02", "2017-07-02",
           "2017-10-01", "2017-12-31", "2018-04-01")  # fmt: skip


def calendar(*days: str) -> tuple[Reported, ...]:
    """Return what a company reports whose year begins on the first of ``days``, and whose quarters end on the others.

    The quarters earn the powers of seven.
    """
    ends = [date.fromisoformat(day) for day in days]
    begins = [ends[0], *(end + timedelta(days=1) for end in ends[1:])]
    facts = list[Reported]()
    for place, end in enumerate(ends[1:], 1):
        filing = Filing(sec.number(20 + place), "10-Q" if place % 4 else "10-K", f"{end + timedelta(days=40)} 12:00:00")
        year = (place - 1) // 4 * 4
        for last, last_end in [(place, end), *([(place - 4, ends[place - 4])] if place > 4 else [])]:
            first = year - (place - last)
            for start in {first, *([last - 1] if place % 4 else [])}:
                amount = sum(7**quarter for quarter in range(start, last))
                facts.append(income(filing, f"{begins[start]}", f"{last_end}", amount))
    return tuple(facts)


@pytest.mark.parametrize("days", [COSTCO, JOHNSON], ids=["12 and 16 weeks", "two years in a calendar year"])
def test_the_periods_of_a_fiscal_year_of_weeks(days: tuple[str, ...]) -> None:
    quarters = {day: 7**place for place, day in enumerate(days[1:])}
    months = {day: 400 * 7**place for place, day in enumerate(days[4:])}  # 1 + 7 + 49 + 343
    years = {day: months[day] for day in days[4::4]}
    for period, expected in (("quarter", quarters), ("ttm", months), ("annual", years)):
        answer = ask(calendar(*days), op="statement", period=period)
        assert cells(answer, "net_income") == dict(reversed(expected.items()))
        derived = [item for item in answer.records if item.payload["derived"]]
        assert len(derived) == {"quarter": (len(days) - 1) // 4, "ttm": len(months) - len(years), "annual": 0}[period]


@pytest.mark.parametrize("vintage", ["latest", "first"])
@pytest.mark.parametrize(
    ("start", "end"), [("2022-01-01", "2022-10-01"), ("2022-01-02", "2022-09-30"), ("2021-12-28", "2022-09-27")]
)
def test_nothing_is_derived_from_a_period_that_has_another_value_under_other_dates(
    start: str, end: str, vintage: str
) -> None:
    """A filing types the dates of nine months a few days off (NVDA, GS and PFE, in their first years of XBRL)."""
    for amount, profit, omitted in ((33, 14, {}), (32, None, {"net_income": "other_dates"})):
        facts = (*HISTORY, income(AMENDED, start, end, amount))
        answer = ask(facts, op="statement", period="quarter", vintage=vintage)
        item = next(made for made in answer.records if made.payload["period_end"] == "2022-12-31")
        assert (item.payload["net_income"], item.payload["omitted"]) == (profit, omitted)
        assert item.available_at == (at(AMENDED) if omitted else datetime(2023, 2, 16, 9, tzinfo=NEW_YORK))


def test_a_figure_that_is_reported_under_other_dates_alone_is_left_out() -> None:
    typed = ("2022-01-02", "2022-12-31")
    facts = (*HISTORY, income(AMENDED, *typed, 47), income(AMENDED, *typed, 90, "OperatingIncomeLoss"))
    (item,) = ask(facts, op="statement").records
    assert (item.payload["period_start"], item.payload["operating_income"]) == ("2022-01-01", None)
    assert (item.payload["omitted"], item.available_at) == ({"operating_income": "other_dates"}, at(AMENDED))


def test_a_quarter_of_a_cash_flow_is_the_difference_of_two_sums() -> None:
    flow = "NetCashProvidedByUsedInOperatingActivities"
    totals = {"2022-03-31": 5, "2022-06-30": 12, "2022-09-30": 20, "2022-12-31": 30}
    filings = dict(zip(totals, (Q1, Q2, Q3, YEAR), strict=True))
    facts = (*HISTORY, *(income(filings[end], "2022-01-01", end, total, flow) for end, total in totals.items()))
    flows = cells(ask(facts, op="statement", statement="cashflow", period="quarter"), "operating_cash_flow")
    assert flows == {"2022-03-31": 5, "2022-06-30": 7, "2022-09-30": 8, "2022-12-31": 10}


@pytest.mark.parametrize(
    ("reported", "debt"),
    [
        ({"LongTermDebtNoncurrent": 70, "DebtCurrent": 20}, 90),
        ({"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10}, 80),
        ({"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "CommercialPaper": 5}, 85),
        ({"LongTermDebtNoncurrent": 70}, None),
        # Commercial paper and another short-term borrowing as one (AAPL, March and June 2020).
        ({"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "OtherShortTermBorrowings": 7}, None),
        (
            {"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "CommercialPaper": 5, "ShortTermBorrowings": 6},
            None,
        ),
        ({"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "OtherShortTermBorrowings": 0}, 80),
        # Another name of a part, or of several (MRVL's annual reports).
        ({"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "ShortTermBorrowings": 10}, 80),
        (
            {"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 10, "CommercialPaper": 5, "ShortTermBorrowings": 15},
            85,
        ),
        ({"LongTermDebtNoncurrent": 70, "ShortTermBorrowings": 10}, None),  # MRVL's quarters
        ({"LongTermDebtNoncurrent": 70, "DebtCurrent": 20, "ShortTermBorrowings": 7}, 90),
    ],
)
def test_debt_is_a_sum_of_what_is_reported(reported: dict[str, int], debt: int | None) -> None:
    facts = (*HISTORY, *(Reported(YEAR, concept, "2022-12-31", value) for concept, value in reported.items()))
    balance = ask((*facts, Reported(YEAR, "Assets", "2022-12-31", 500)), op="statement", statement="balance")
    assert cells(balance, "debt") == {"2022-12-31": debt}


@pytest.mark.parametrize(("part", "others"), [("CommercialPaper", {"LongTermDebtCurrent": 10}), ("DebtCurrent", {})])
def test_debt_whose_part_is_of_another_basis_is_not_told_without_it(part: str, others: dict[str, int]) -> None:
    reported = {"LongTermDebtNoncurrent": 70, part: 20, "LongTermDebtCurrent": 10, **others}
    facts = (*HISTORY, *(Reported(YEAR, concept, "2022-12-31", value) for concept, value in reported.items()))
    amended = Reported(AMENDED, part, "2022-12-31", 25)
    assert cells(ask((*facts, amended), op="statement", statement="balance"), "debt") == {"2022-12-31": None}


def test_a_saved_reply_of_another_company_is_refused() -> None:
    saved = as_json({"cik": 320193, "facts": {}}).body
    for cik, reason in (("320193", None), ("1", "it is of another company than cik says")):
        fetched = ask_source("sec_facts", server.app(()), body=saved, pit=None, concept="NetIncomeLoss", cik=cik)
        errors = [gap.params["problem"] for gap in fetched.selection.gaps if gap.type == "input_error"]
        assert errors == ([] if reason is None else [reason])


IFRS = [
    (statement, line, concept)
    for statement, of_statement in lines.LINES.items()
    for line in of_statement
    for concept in (*line.concepts, *line.wider)
    if concept.startswith("ifrs-full:")
]


@pytest.mark.parametrize(("statement", "line", "concept"), IFRS, ids=[concept for *_, concept in IFRS])
def test_a_line_of_ifrs(statement: str, line: lines.Line, concept: str) -> None:
    report, name = Filing(sec.number(8), "20-F", "2023-04-28 12:00:00"), concept.partition(":")[2]
    start, unit = "" if statement == "balance" else "2022-01-01", line.unit("USD")
    facts = [Reported(report, name, "2022-12-31", 42, start, unit, "ifrs-full")]
    if name != "ProfitLoss":  # it shows the company's periods
        facts.append(Reported(report, "ProfitLoss", "2022-12-31", 7, "2022-01-01", "USD", "ifrs-full"))
    cell = cells(ask(tuple(facts), op="statement", statement=statement), line.name)
    assert cell == {"2022-12-31": None if concept in line.wider else 42}


def test_a_company_that_reports_in_several_currencies_has_one_in_a_statement() -> None:
    report = Filing(sec.number(8), "20-F", "2023-04-28 12:00:00")
    concept = "ProfitLossAttributableToOwnersOfParent"
    facts = [
        Reported(report, name, "2022-12-31", value, "2022-01-01", unit, "ifrs-full")
        for name, value, unit in ((concept, 7, "USD"), ("Revenue", 90, "USD"), (concept, 28_000, "COP"))
    ]
    facts.append(Reported(report, "ProfitLoss", "2022-12-31", 7, "2022-01-01", "USD", "ifrs-full"))
    item = ask(tuple(facts), op="statement").records[0].payload
    assert (item["currency"], item["net_income"], item["revenue"]) == ("USD", 7, 90)


@pytest.mark.parametrize("vintage", ["latest", "first"])
@pytest.mark.parametrize("currency", ["CNY", "ZAR"])
def test_a_translation_of_the_newest_year_is_not_its_currency(currency: str, vintage: str) -> None:
    report = Filing(sec.number(8), "20-F", "2023-04-28 12:00:00")
    years = ((2021, currency, 700), (2022, currency, 800), (2022, "USD", 110))
    facts = (
        Reported(report, "NetIncomeLoss", f"{year}-12-31", value, f"{year}-01-01", unit) for year, unit, value in years
    )
    answer = ask(tuple(facts), op="statement", vintage=vintage)
    assert cells(answer, "currency") == dict.fromkeys(("2021-12-31", "2022-12-31"), currency)


def test_the_concepts_that_had_been_reported() -> None:
    facts = (*HISTORY, Reported(NEXT_Q1, "Assets", "2023-03-31", 1))
    at = {"2023-04-02T12:00:00-04:00": {"NetIncomeLoss"}, LATE: {"NetIncomeLoss", "Assets"}}
    for pit, concepts in at.items():
        assert {record.payload["concept"] for record in ask(facts, pit=pit, op="concepts").records} == concepts


# What cannot be answered.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"cik": "32o193"}, "cik is a number of up to ten digits"),
        ({"cik": "320193", "symbol": "AAPL"}, "Give either cik=320193 or symbol=AAPL."),
        ({"concept": "Assets", "period": "ttm"}, "period of facts is one of any, annual, quarter, ytd, instant."),
        ({"op": "statement", "period": "ytd"}, "period of statement is one of annual, quarter, ttm."),
        ({"op": "statement", "vintage": "all"}, "vintage of statement is latest or first"),
    ],
)
def test_a_question_that_no_company_could_answer_is_refused(options: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ask(HISTORY, **options)
    assert text in refused.value.gap.reason


@pytest.mark.parametrize(
    ("app", "options"),
    [
        (server.app(()), {"cik": "320193"}),  # a fund, or a company without XBRL
        (server.app(HISTORY), {"cik": "1"}),
        (server.app(HISTORY), {"symbol": "NONE"}),
        (server.app(HISTORY), {"cik": "320193", "concept": "Revenue"}),
    ],
)
def test_what_does_not_exist_is_no_data(app: App, options: dict[str, str]) -> None:
    fetched = ask(app, **{"concept": "Assets", **options})
    assert (fetched.records, fetched.error) == ([], None)


def test_a_slip_in_the_name_of_a_concept_is_asked_about() -> None:
    for concept, meant in (
        ("EarningPerShareDiluted", "Did you mean EarningsPerShareDiluted?"),
        ("us-gaap:netincomloss", "Did you mean NetIncomeLoss?"),
        ("EPSDiluted", "Did you mean EarningsPerShareDiluted?"),
        ("DilutedEPS", "Did you mean EarningsPerShareDiluted?"),
        ("EarningsPerShareDiluted", "those it had reported."),
        ("EPS", "those it had reported."),
    ):
        request = from_values({"cik": "320193", "concept": concept, "pit": LATE}, PROVIDER, {})
        assert PROVIDER.when_empty(build_query(request, datetime(2026, 7, 1, tzinfo=UTC))).endswith(meant)


@pytest.mark.parametrize("reply", [sec.MISSING, Response(b"", 404)], ids=["refused", "elsewhere"])
@pytest.mark.parametrize("part", ["/api/xbrl/companyfacts/", "/submissions/"])
def test_a_refusal_in_the_place_of_a_file_is_an_error_whatever_it_holds(part: str, reply: Response) -> None:
    for facts in ((), HISTORY):
        app = server.app(facts)
        fetched = ask(instead(app, reply, f"{part}CIK0000320193.json"), concept="Assets")
        assert (fetched.records, fetched.error is None) == ([], False)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b"[]",
        b'{"facts": {}}',
        b'{"cik": 1, "facts": {}}',
        json.dumps(server.document(HISTORY))[:99].encode(),
    ],
)
def test_a_reply_that_is_not_of_the_company_is_malformed(body: bytes) -> None:
    fetched = ask(server.app(HISTORY, body=body), concept="Assets")
    assert fetched.error_code == "malformed"


@pytest.mark.parametrize("wrong", [None, "units", 5, {}, []], ids=str)
@pytest.mark.parametrize("depth", range(4), ids=["taxonomy", "concept", "units", "rows"])
def test_a_part_of_a_reply_that_is_no_container_is_no_fact_that_was_never_reported(depth: int, wrong: Any) -> None:
    whole = server.document(HISTORY)
    inside = whole["facts"]
    for name in ("us-gaap", "NetIncomeLoss", "units", "USD")[:depth]:
        inside = inside[name]
    inside[("us-gaap", "NetIncomeLoss", "units", "USD")[depth]] = wrong
    is_empty = wrong == ([] if depth == 3 else {}) and depth != 1  # a concept has units
    # Whatever was public, and whatever was filed since.
    for facts in (HISTORY, ()):
        fetched = ask(server.app(facts, body=json.dumps(whole).encode()), concept="NetIncomeLoss", pit=LATE)
        assert (fetched.records, fetched.error_code) == ([], "" if is_empty else "malformed")


def test_a_saved_reply_proves_no_release() -> None:
    body = json.dumps(server.document(HISTORY)).encode()
    with_pit, without = (
        ask_source("sec_facts", server.app(()), body=body, pit=pit, concept="NetIncomeLoss") for pit in (LATE, None)
    )
    assert (with_pit.records, len(without.records)) == ([], 7)


def test_a_host_that_refuses_is_an_error_whatever_it_holds() -> None:
    for facts in ((), HISTORY):
        app = instead(server.app(facts), Response(b"", 500), "/api/xbrl/companyfacts/CIK0000320193.json")
        assert ask(app, concept="Assets").error_code == "http_status"


def test_edgars_archive_fails_alike_whatever_was_reported() -> None:
    late = Filing(sec.number(9), "10-Q", "2024-06-03 12:05:00")
    reported = ((), HISTORY, (*HISTORY, income(late, "2023-04-01", "2023-06-30", 16)))
    every = [
        ask(failing_from(server.app(facts), always, sec.MAINTENANCE), concept="NetIncomeLoss") for facts in reported
    ]
    assert [fetched.error_code for fetched in every] == ["http_status"] * 3
    assert len({tuple(fetched.paths("")) for fetched in every}) == 1
