"""The table of gaps: every reason is of a known type, short, and states what to do about a failure."""

from __future__ import annotations

import re

import pytest

from pit_fetch import gaps as gap_table
from pit_fetch.gaps import Code, gap


def test_every_reason_is_of_a_known_type_and_short() -> None:
    known = {
        "no_data", "pit_excluded", "unverifiable", "config", "invalid_pit", "upstream_error", "input_error",
        "internal_error", "truncated",
    }  # fmt: skip
    assert set(gap_table.GapType) == known
    assert [code for code in gap_table.REASONS.values() if len(code.template) > 200] == []


# What to do about a failure: in the reason itself, or in what fills it in. An interrupt was somebody's wish.
TO_DO = re.compile(
    r"\b(check|try again|set|run|give|write|use|raise|narrow|fix|correct|name|look for|needs?|must be|report)\b"
    r"|they have|\{(advice|text|hint)\}|it does not run",
    re.IGNORECASE,
)


@pytest.mark.parametrize("code", [code for code in gap_table.REASONS.values() if code.type in gap_table.FAILURES])
def test_the_reason_of_a_failure_says_what_to_do(code: gap_table.Reason) -> None:
    assert code == "interrupted" or TO_DO.search(code.template)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (204, "does not answer the request"),
        (400, "check the options"),
        (401, "check the key"),
        (403, "check the key"),
        (404, "look for a newer version"),
        (410, "look for a newer version"),
        (429, "try again later"),
        (500, "try again later"),
        (599, "try again later"),
    ],
)
def test_a_status_says_what_to_do_about_it(status: int, advice: str) -> None:
    reason = gap(Code.HTTP_STATUS, host="Demo", status=status).reason
    assert reason.startswith(f"Demo answered with HTTP {status}: ")
    assert advice in reason


def test_a_gap_outside_the_table_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        gap("something_else")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        gap(Code.LIMIT, limit=1)


def test_a_cursor_that_begins_with_a_hyphen_is_printed_as_it_can_be_given() -> None:
    assert gap(Code.LIMIT, limit=1, cursor="-a@receipt").reason.endswith("Continue with --after=-a@receipt")
    assert gap(Code.LIMIT, limit=1, cursor="a@receipt").reason.endswith("Continue with --after a@receipt")
