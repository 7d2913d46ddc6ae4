"""A refused PIT: what is wrong with this one, and the form that it was probably meant to have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pit_fetch.courtesy.timestamps import EXAMPLE, date_problem, problem
from pit_fetch.times import parse_pit

GOOD = "2024-02-15T16:00:00-05:00"
IN_NEW_YORK = "2024-02-15T16:00:00[America/New_York]"
FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+?(?=[,.;]?(?:\s|$))")
ZONE = "has a zone that is not known, or a time that clocks there skip or show twice"
NONE_STATED = f"write it like {EXAMPLE}"


@pytest.mark.parametrize(
    ("text", "fault", "fix"),
    [
        # A form is shown if the text states which instant it means.
        (f" {GOOD}", "has quotes or spaces around it", f"write {GOOD}"),
        (f'"{GOOD}"', "has quotes or spaces around it", f"write {GOOD}"),
        ("2024-02-15T16:00:00\u221205:00", "has another form", f"write {GOOD}"),
        ("1708030800", "is a Unix time", "write 2024-02-15T21:00:00Z"),
        ("20240215T210000Z", "has another form", "write 2024-02-15T21:00:00Z"),
        ("2024/02/15 16:00:00-05:00", "has another form", f"write {GOOD}"),
        ("2024-02-15 16:00:00-05:00", "has no capital T between date and time", f"write {GOOD}"),
        ("2024-02-15T16:00-05:00", "has no seconds", f"write {GOOD}"),
        ("2024-02-15T16:00:00 -05:00", "has a space before its zone", f"write {GOOD}"),
        ("2024-02-15T21:00:00 UTC", "has a space before its zone", "write 2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00-0500", "has another form", f"write {GOOD}"),
        ("2024-02-15T16:00:00GMT-5", "has another form", f"write {GOOD}"),
        ("2024-02-15T16:00:00EST", "has another form", f"write {GOOD}[America/New_York]"),
        ("2024-02-15T16:00:00-05:00[New York]", ZONE, f"write {GOOD}[America/New_York]"),
        *((f"2024-02-15T16:00:00[{zone}]", ZONE, f"write {IN_NEW_YORK}") for zone in ("NewYork", "NY", "ET")),
        ("2024-02-15T16:00:00[Tokyo]", ZONE, "write 2024-02-15T16:00:00[Asia/Tokyo]"),
        # If the text may mean several, each of them is shown.
        ("2024-02-15T16:00:00", "has no offset", f"write {GOOD} for New York or 2024-02-15T16:00:00Z for UTC"),
        (
            "2024-11-03T01:30:00",
            "has no offset",
            "write 2024-11-03T01:30:00-04:00 or 2024-11-03T01:30:00-05:00 for New York or 2024-11-03T01:30:00Z for UTC",
        ),
        (
            "2024-07-15",
            "has no time of day",
            "2024-07-15T16:00:00-04:00 is 16:00 on that day, 2024-07-16T00:00:00-04:00 is its end",
        ),
        # Otherwise an example is.
        ("", "is empty", NONE_STATED),
        ("now", "is a word, but a PIT is a fixed instant", NONE_STATED),
        ("02/15/2024 16:00", "does not start with the year", NONE_STATED),
        ("15 Feb 2024", "does not start with the year", NONE_STATED),
        ("2024-02", "has another form", NONE_STATED),
        ("x" * 9_999, "is not a date and time", NONE_STATED),
        ("9999-12-31", "has no time of day", NONE_STATED),
        ("2024-02-30T16:00:00Z", "names a day, a time or an offset that does not exist", NONE_STATED),
        ("2024-02-15T16:00:00Z-05:00", "has another form", NONE_STATED),
        ("2024-02-15T16:00:00 05:00", "has a space before its zone", NONE_STATED),
        ("2024-07-15T16:00:00EST", "has another form", NONE_STATED),
        ("2024-03-10T02:30:00[America/New_York]", ZONE, NONE_STATED),
        ("2024-07-15T16:00:00Z[Europe/Paris]", ZONE, NONE_STATED),
        *((f"2024-07-15T16:00:00[{zone}]", ZONE, NONE_STATED) for zone in ("GMT+5", "PST", "Central", "", "York")),
    ],
)
def test_what_is_wrong_with_a_timestamp_and_what_to_write(text: str, fault: str, fix: str) -> None:
    assert parse_pit(text) is None
    assert problem(text) == f"{fault}: {fix}"


def test_a_pit_that_the_shell_cut_at_a_blank() -> None:
    assert problem("2024-02-15", ["16:00", "-05:00", "x"]) == f"was cut at a space: write {GOOD}"
    assert problem("2024-02-15", ["EARNINGS"]).startswith("has no time of day")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("2024/02/10", "write 2024-02-10"),
        ("20240210", "write 2024-02-10"),
        ("2024-2-1", "write 2024-02-01"),
        ("2024-02-30", "that day is not in the calendar"),
        ("2024-02-10T09:30:00", "write 2024-02-10T09:30:00-05:00 for New York or 2024-02-10T09:30:00Z for UTC"),
        ("yesterday", ""),
    ],
)
def test_a_bound_that_may_be_a_date(text: str, advice: str) -> None:
    assert date_problem(text) == advice


_PIECES = (
    "2024 02 15 2 29 13 - / T t : 16 4 60 . , 5 PM Z z UTC + -05:00 05 EST [America/New_York] Europe/Nowhere "
    '\u2212 9999-12-31 0001-01-01T00 "'
)
_PARTS = st.sampled_from([" ", *_PIECES.split(" ")])
_IN_ZONES = st.builds(
    "{:04}-{:02}-18T{:02}:00:00[{}]".format,
    st.integers(1, 9999),
    st.integers(1, 12),
    st.integers(0, 23),
    st.sampled_from(["America/New_York", "europe/amsterdam", "Asia/Kolkata"]),
)


@settings(deadline=None)
@given(st.one_of(st.lists(_PARTS, max_size=14).map("".join), _IN_ZONES, st.text(max_size=40)))
def test_every_refused_text_has_an_answer_and_every_form_in_it_is_one(text: str) -> None:
    if parse_pit(text):
        return
    answer = problem(text, ["16:00"])
    assert re.match(r"(is|has|names|does|was) \w.*: \S", answer)
    assert answer.isascii()
    assert all(parse_pit(form) for form in FORM.findall(answer)), answer
    date_problem(text)
