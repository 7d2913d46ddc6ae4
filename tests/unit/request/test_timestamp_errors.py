"""A refused PIT: what is wrong with this one, and the form that it was probably meant to have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pit_fetch.request.timestamp_errors import date_problem, problem
from pit_fetch.times import parse_pit

GOOD = "2024-02-15T16:00:00-05:00"
FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+?(?=[,.;]?(?:\s|$))")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty: write it like " + GOOD),
        (" ", "is empty"),
        (f" {GOOD}", f"has spaces around it: write {GOOD}"),
        (f'"{GOOD}"', f"has quotes in it: write {GOOD}"),
        ("2024-02-15T16:00-05:00", f"has no seconds: write {GOOD}"),
        ("2024-02-15 16:00:00-05:00", f"has no T between date and time: write {GOOD}"),
        ("2024-02-15T16:00:00 -05:00", f"has a space before its zone: write {GOOD}"),
        ("2024-02-15t21:00:00z", "has a lower-case t and a lower-case z: write 2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00-0500", f"has an offset that is not +HH:MM or -HH:MM: write {GOOD}"),
        ("2024-02-15T16:00:00-05", f"write {GOOD}"),
        ("2024-02-15T16:00:00-5:00", f"write {GOOD}"),
        ("2024-02-15T16:00:00GMT-5", f"write {GOOD}"),
        ("2024-02-15T21:00:00 UTC", "before its zone and a name instead of Z: write 2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00", f"has no offset: write {GOOD} for New York or 2024-02-15T16:00:00Z for UTC"),
        ("2024-07-15T16:00:00", "has no offset: write 2024-07-15T16:00:00-04:00 for New York or 2024-07-15T16:00:00Z"),
        (
            "2024-11-03T01:30:00",
            "write 2024-11-03T01:30:00-04:00 or 2024-11-03T01:30:00-05:00 for New York (its clock shows it twice)",
        ),
        ("2024-03-10T02:30:00", "New York's clock skips that time; for UTC write 2024-03-10T02:30:00Z"),
        ("2024-02-15T16:00:00 05:00", "and no sign before its offset: write 2024-02-15T16:00:00+05:00 or " + GOOD),
        (
            "1883-11-18T12:00:00[America/New_York]",
            f"is from before America/New_York had an offset in whole minutes: write it like {GOOD}",
        ),
        (
            "2024-02-15T16:00:00[america/new_york]",
            "has a zone's name in the wrong case: write 2024-02-15T16:00:00-05:00[America/New_York]",
        ),
        ("2024-02-15T16:00:00[ET]", f"has a zone's name instead of its offset: write {GOOD}"),
        (
            "2024-02-15T16:00[America/New_York]",
            "has no seconds: write 2024-02-15T16:00:00[America/New_York]",
        ),
        (
            "2024-02-15T16:00:00 America/New_York",
            "and a zone's name without brackets: write 2024-02-15T16:00:00-05:00[America/New_York]",
        ),
        (
            "2024-02-15T16:00:00-05:00 [America/New_York]",
            "has a space before its bracket: write 2024-02-15T16:00:00-05:00[America/New_York]",
        ),
        (
            "2024-11-03T01:30:00[America/New_York]",
            "is a time that clocks in America/New_York show twice: write 2024-11-03T01:30:00-04:00[America/New_York] "
            "or 2024-11-03T01:30:00-05:00[America/New_York]",
        ),
        (
            "2024-03-10T02:30:00[America/New_York]",
            "is a time that clocks in America/New_York skip: write 2024-03-10T01:30:00-05:00[America/New_York] "
            "or 2024-03-10T03:30:00-04:00[America/New_York]",
        ),
        (
            "2024-07-15T16:00:00-05:00[America/New_York]",
            "has the offset -05:00, but America/New_York is at -04:00 then: write 2024-07-15T16:00:00-04:00"
            "[America/New_York] for that clock time or 2024-07-15T17:00:00-04:00[America/New_York] for that instant",
        ),
        (
            "2024-07-15T16:00:00.25Z[Europe/Paris]",
            "has Z, but Europe/Paris is at +02:00 then: write 2024-07-15T16:00:00.25+02:00[Europe/Paris] for that "
            "clock time or 2024-07-15T18:00:00.25+02:00[Europe/Paris] for that instant",
        ),
        ("1800-01-01T00:00:00+09:18[Asia/Tokyo]", "is from before Asia/Tokyo had an offset in whole minutes: write it"),
        ("9999-12-31T23:59:59[America/New_York]", "is outside the calendar: write it like"),
        ("2024-07-15T16:00:00[Europe/Nowhere]", "has a zone's name that this machine does not know: write it like"),
        (
            "2024-02-15T16:00:00-05:00[New York]",
            f"has a zone in brackets that this machine does not know: write {GOOD}",
        ),
        ("2024-07-15T16:00:00[right/America/New_York]", "write it like"),
        ("2024-07-15[America/New_York]", "has no time of day"),
        (
            "2024-02-15 4:00 PM ET",
            f"a.m. or p.m., a space before its zone and a zone's name instead of its offset: write {GOOD}",
        ),
        ("2024-07-15T16:00:00 EST", "write 2024-07-15T16:00:00-04:00 or 2024-07-15T16:00:00-05:00"),
        ("2024-02-15T16:00:00 CST", "and a zone's name instead of its offset: write it like " + GOOD),
        (
            "2024-02-15",
            f"has no time of day: {GOOD} is 16:00 on that day, 2024-02-16T00:00:00-05:00 is its",
        ),
        ("2024-07-15", "has no time of day: 2024-07-15T16:00:00-04:00 is 16:00 on that day"),
        ("2024-02-30T16:00:00Z", "names a day that the month does not have: write it like"),
        ("2024-13-01T16:00:00Z", "names month 13: write it like"),
        ("0000-01-01T00:00:00Z", "names year 0000"),
        ("2024-02-15T25:00:00Z", "names a time that does not exist"),
        ("2024-02-15T16:61:00Z", "names a time that does not exist"),
        ("2024-02-15T23:59:60Z", "(a leap second is written as 59)"),
        ("2024-02-15T24:00:00Z", "names hour 24, which is hour 0 of the next day: write 2024-02-16T00:00:00Z"),
        ("2024-02-15T16:00:00+25:00", "has an impossible offset"),
        ("0001-01-01T00:00:00+23:59", "is outside the calendar"),
        ("9999-12-31T24:00:00Z", "is outside the calendar"),
        ("1708030800", "is a Unix time: write 2024-02-15T21:00:00Z"),
        ("1708030800123", "is a Unix time: write 2024-02-15T21:00:00.123000Z"),
        (
            "20240215T210000Z",
            "has a date that is not YYYY-MM-DD and a time that is not HH:MM:SS: write 2024-02-15T21",
        ),
        ("2024/02/15 16:00:00-05:00", f"write {GOOD}"),
        ("2024-2-5T9:30:00Z", "write 2024-02-05T09:30:00Z"),
        ("02/15/2024 16:00", "does not start with the year"),
        ("Feb 15, 2024", "does not start with the year"),
        ("15 Feb 2024", "does not start with the year"),
        ("2024-02-15T16:00:00,5-05:00", "has a comma in its seconds: write 2024-02-15T16:00:00.5-05:00"),
        ("2024-02-15T16:00:00.-05:00", f"has no digits after the point: write {GOOD}"),
        ("2024-02-15T16:00:00\u221205:00", f"has characters that are not ASCII (such as a long dash): write {GOOD}"),
        ("Thu, 15 Feb 2024 16:00:00 -0500", "is in the date format of e-mail: write 2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00Z-05:00", "has more than one offset after its time"),
        ("2024-02-15T16:00:00Z.", "has something after its offset: write 2024-02-15T16:00:00Z"),
        ("2024-02-15T16:00:00-05:00;", f"has something after its offset: write {GOOD}"),
        (f"{GOOD},2024-02-16T16:00:00-05:00", "has something after its offset: write it like"),
        ("2024-02-15T16.00.00Z", "has no minutes and seconds and something after its time that is not an offset"),
        (f"{GOOD} America/New_York", "has more than one offset after its time"),
        ("2024-W07-4", "is a week date"),
        ("2024-046", "is an ordinal date"),
        ("2024-02", "has no day"),
        ("now", "is a word, but a PIT is a fixed instant"),
        ("-1d", "is not a date and time"),
        ("x" * 9_999, "is not a date and time"),
    ],
)
def test_what_is_wrong_and_the_form_that_was_meant(text: str, said: str) -> None:
    assert parse_pit(text) is None
    assert said in problem(text)
    assert all(parse_pit(form) for form in FORM.findall(problem(text)))


def test_a_pit_that_the_shell_cut_at_a_blank() -> None:
    assert problem("2024-02-15", ["16:00:00-05:00"]) == f"was cut at a space: write {GOOD}"
    assert problem("2024-02-15", ["16:00", "-05:00", "x"]) == f"was cut at a space: write {GOOD}"
    assert problem("2024-02-15", ["EARNINGS"]).startswith("has no time of day")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2024/02/10", "write 2024-02-10"),
        ("20240210", "write 2024-02-10"),
        ("2024-2-1", "write 2024-02-01"),
        ("2024-02-30", "that day is not in the calendar"),
        ("2024-02-10T09:30:00", "write 2024-02-10T09:30:00-05:00 for New York or 2024-02-10T09:30:00Z for UTC"),
        ("02/10/2024", ""),
        ("yesterday", ""),
    ],
)
def test_a_bound_that_may_be_a_date(text: str, said: str) -> None:
    assert date_problem(text) == said


_PIECES = (
    "2024 02 15 2 29 13 - / T t : 16 4 60 . , 5 PM Z z UTC + -05:00 05 EST [America/New_York] Europe/Nowhere "
    '\u2212 9999-12-31 0001-01-01T00 "'
)
_PARTS = st.sampled_from([" ", *_PIECES.split(" ")])


@settings(deadline=None)
@given(st.one_of(st.lists(_PARTS, max_size=14).map("".join), st.text(max_size=40)))
def test_every_refused_text_has_an_answer_and_every_form_in_it_is_one(text: str) -> None:
    if parse_pit(text):
        return
    said = problem(text, ["16:00"])
    assert all(said.partition(": ")[::2])
    assert said.isascii()
    assert all(parse_pit(form) for form in FORM.findall(said)), said
    date_problem(text)


@given(
    st.integers(1, 9998),
    st.integers(1, 12),
    st.integers(0, 23),
    st.sampled_from(["America/New_York", "europe/amsterdam", "Asia/Kolkata"]),
)
def test_whatever_a_zone_makes_of_it_there_is_a_reason(year: int, month: int, hour: int, zone: str) -> None:
    text = f"{year:04}-{month:02}-18T{hour:02}:00:00[{zone}]"
    said = problem(text) if parse_pit(text) is None else "is fine: "
    assert re.match(r"(is|has|names) \w", said)
