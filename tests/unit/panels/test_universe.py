"""Who is asked about, and on which days."""

from __future__ import annotations

from datetime import datetime

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.panels.universe import members, questions

CSV = "symbol,from,to\nIBM,,\nGE,2018-06-26,\nLEH,,2008-09-15\n"


def read(path: str) -> str:
    return {"plain.txt": "IBM\n# not this one\nGE\n", "index.csv": CSV, "bad.csv": "symbol,from\nIBM,soon\n"}[path]


def present(over: dict[str, object], instant: str) -> list[dict[str, object]]:
    named = {name: members(name, value, read) for name, value in over.items()}
    return [*questions(named, datetime.fromisoformat(instant))]


def test_every_combination_is_a_question() -> None:
    asked = present({"symbol": ["IBM", "GE"], "op": ["EARNINGS", "OVERVIEW"]}, "2024-02-15T16:00:00-05:00")
    assert [tuple(each.values()) for each in asked] == [
        ("IBM", "EARNINGS"), ("IBM", "OVERVIEW"), ("GE", "EARNINGS"), ("GE", "OVERVIEW"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2008-09-15T23:59:59-04:00", ["IBM", "LEH"]),
        ("2008-09-16T00:00:00-04:00", ["IBM"]),
        # The day is New York's: it is already the 26th in UTC.
        ("2018-06-26T03:59:59Z", ["IBM"]),
        ("2018-06-26T04:00:00Z", ["IBM", "GE"]),
    ],
)
def test_a_member_is_asked_about_on_its_days_alone(instant: str, expected: list[str]) -> None:
    assert [each["symbol"] for each in present({"symbol": "@index.csv"}, instant)] == expected


def test_a_file_without_days_is_a_list() -> None:
    assert [each["symbol"] for each in present({"symbol": "@plain.txt"}, "2008-09-16T00:00:00Z")] == ["IBM", "GE"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [("@bad.csv", "soon of IBM is no day"), ("IBM", "a list of values"), ([], "it has no value")],
)
def test_what_cannot_be_used_is_refused(value: object, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        members("symbol", value, read)
