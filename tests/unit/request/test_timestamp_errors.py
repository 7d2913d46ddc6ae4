"""A refused PIT: what is wrong with this one, and the form that it was probably meant to have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pit_fetch.request.timestamp_errors import EXAMPLE, date_problem, problem
from pit_fetch.times import parse_pit

GOOD = "2024-02-15T16:00:00-05:00"
IN_NEW_YORK = "2024-02-15T16:00:00[America/New_York]"
FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+?(?=[,.;]?(?:\s|$))")
OF_NO_INSTANT = f"write it like {EXAMPLE}"


@pytest.mark.parametrize(
    ("text", "fault", "fix"),
    [
        # A form is shown if the text states which instant it means.
        (f" {GOOD}", "has spaces around it", GOOD),
        (f'"{GOOD}"', "has quotes in it", GOOD),
        ("2024-02-15T16:00:00\u221205:00", "has characters that are not ASCII (such as a long dash)", GOOD),
        ("1708030800", "is a Unix time", "2024-02-15T21:00:00Z"),
        ("1708030800123", "is a Unix time", "2024-02-15T21:00:00.123Z"),
        ("Thu, 15 Feb 2024 16:00:00 -0500", "is in the date format of e-mail", "2024-02-15T21:00:00Z"),
        ("20240215T210000Z", "has a date that is not YYYY-MM-DD", "2024-02-15T21:00:00Z"),
        ("2024/02/15 16:00:00-05:00", "has a date that is not YYYY-MM-DD", GOOD),
        ("2024-02-15 16:00:00-05:00", "has no capital T between date and time", GOOD),
        ("2024-02-15 4:00 PM ET", "has no capital T between date and time", IN_NEW_YORK),
        ("2024-02-15T16:00-05:00", "has no seconds", GOOD),
        ("2024-02-15T16:00[America/New_York]", "has no seconds", IN_NEW_YORK),
        ("2024-02-15T160000-05:00", "has a time that is not HH:MM:SS", GOOD),
        ("2024-02-15T12:00:00 a.m. -05:00", "has a time that is not HH:MM:SS", "2024-02-15T00:00:00-05:00"),
        ("2024-02-15T24:00:00Z", "names the end of a day as 24:00", "2024-02-16T00:00:00Z"),
        ("2024-02-15T16:00:00,5-05:00", "is not a point and digits", "2024-02-15T16:00:00.5-05:00"),
        ("2024-02-15T16:00:00 -05:00", "has a space before its zone", GOOD),
        ("2024-02-15T21:00:00 UTC", "has a space before its zone", "2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00 America/New_York", "has a space before its zone", IN_NEW_YORK),
        (f"{GOOD} [America/New_York]", "has a space before its zone", f"{GOOD}[America/New_York]"),
        ("2024-02-15T16:00:00-0500", "has an offset that is not +HH:MM or -HH:MM", GOOD),
        ("2024-02-15T16:00:00GMT-5", "has an offset that is not +HH:MM or -HH:MM", GOOD),
        ("2024-02-15T16:00:00-05:00;", "has something after its offset", GOOD),
        ("2024-02-15T21:00:00GMT", "has a name in the place of Z, an offset or a [Zone/Name]", "2024-02-15T21:00:00Z"),
        ("2024-02-15T16:00:00EST", "has a name in the place of Z", f"{GOOD}[America/New_York]"),
        ("2024-02-15T16:00:00[america/new_york]", "has a zone in brackets that this machine does not", IN_NEW_YORK),
        ("2024-02-15T16:00:00-05:00[New York]", "has a zone in brackets that this machine does not know", GOOD),
        *(
            (f"2024-02-15T16:00:00[{zone}]", "has a zone in brackets that this machine does not know", IN_NEW_YORK)
            for zone in ("New_York", "NewYork", "new-york", "NY", "ET", "EST5EDT", "America/New York")
        ),
        ("2024-02-15T16:00:00[Tokyo]", "has a zone in brackets", "2024-02-15T16:00:00[Asia/Tokyo]"),
        ("2024-02-15T16:00:00(America/New_York)", "has something after its time", IN_NEW_YORK),
        # If the text may mean several, each of them is shown.
        ("2024-02-15T16:00:00", "has no offset", f"{GOOD} for New York or 2024-02-15T16:00:00Z for UTC"),
        ("2024-07-15T16:00:00", "has no offset", "2024-07-15T16:00:00-04:00 for New York or 2024-07-15T16:00:00Z for"),
        (
            "2024-11-03T01:30:00",
            "has no offset",
            "2024-11-03T01:30:00-04:00 or 2024-11-03T01:30:00-05:00 for New York or 2024-11-03T01:30:00Z for UTC",
        ),
        ("2024-02-15T16:00:00 05:00", "has a space before its zone", f"2024-02-15T16:00:00+05:00 or {GOOD}"),
        (
            "2024-03-10T02:30:00[America/New_York]",
            "is a time or an offset that clocks in America/New_York do not show, or show twice",
            "2024-03-10T01:30:00-05:00[America/New_York] or 2024-03-10T03:30:00-04:00[America/New_York]",
        ),
        (
            "2024-07-15T16:00:00.25Z[Europe/Paris]",
            "is a time or an offset that clocks in Europe/Paris do not show",
            "2024-07-15T16:00:00.25+02:00[Europe/Paris] or 2024-07-15T18:00:00.25+02:00[Europe/Paris]",
        ),
        (
            "2024-07-15T16:00:00EST",
            "has a name in the place of Z",
            "2024-07-15T16:00:00-04:00[America/New_York] or 2024-07-15T17:00:00-04:00[America/New_York]",
        ),
    ],
)
def test_the_form_that_was_meant(text: str, fault: str, fix: str) -> None:
    assert parse_pit(text) is None
    assert fault in problem(text)
    assert f": write {fix}" in problem(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("now", "is a word, but a PIT is a fixed instant"),
        ("2024-02", "has no day"),
        ("02/15/2024 16:00", "does not start with the year"),
        ("15 Feb 2024", "does not start with the year"),
        ("2024-W07-4", "is not a date and time"),
        ("2024046", "is not a date and time"),
        ("x" * 9_999, "is not a date and time"),
        ("2024-07-15[America/New_York]", "has no time of day"),
        ("9999-12-31", "has no time of day"),
        ("2024-02-15T16.00.00Z", "has a time that is not HH:MM:SS"),
        ("2024-02-15T23:59:60Z", "names a leap second (write it as 59)"),
        ("2024-02-15T24:00:01Z", "names a time that does not exist: "),
        ("2024-02-15T16:60:00Z", "names a time that does not exist: "),
        ("2024-02-15 13:00 PM ET", "has no capital T between date and time"),
        ("2024-02-30T16:00:00Z", "names a date that is not in the calendar"),
        ("0001-01-01T00:00:00+23:59", "is not within the years 1 to 9999 of UTC"),
        ("9999-12-31T23:59:59.5-00:01", "is not within the years 1 to 9999 of UTC"),
        ("9999-12-31T23:59:59[America/New_York]", "is not within the years 1 to 9999 of UTC"),
        ("0001-01-01T00:00:00[Asia/Tokyo]", "is not within the years 1 to 9999 of UTC"),
        ("2024-02-15T16:00:00+25:00", "an offset that does not exist"),
        ("2024-02-15T16:00:00Z-05:00", "has something after its offset"),
        (f"{GOOD},2024-02-16T16:00:00-05:00", "has something after its offset"),
        ("2024-02-15T16:00:00 CST", "has a space before its zone"),
        ("2024-02-15T16:00:00-05:00 CST", "has a space before its zone"),
        *(
            (f"2024-07-15T16:00:00[{zone}]", "has a zone in brackets")
            for zone in ("GMT+5", "PST", "Central", "", "York")
        ),
        ("2024-07-15T16:00:00[Europe/Nowhere]", "has a zone in brackets that this machine does not know"),
        ("2024-07-15T16:00:00[right/America/New_York]", "has a zone in brackets that this machine does not know"),
        ("1883-11-18T12:00:00[America/New_York]", "is a time or an offset that clocks in America/New_York do not show"),
        ("1800-01-01T00:00:00+09:18[Asia/Tokyo]", "is a time or an offset that clocks in Asia/Tokyo do not show"),
    ],
)
def test_no_form_is_shown_of_what_states_no_instant(text: str, fault: str) -> None:
    assert parse_pit(text) is None
    assert fault in problem(text)
    assert problem(text).endswith(f": {OF_NO_INSTANT}")


def test_a_date_is_answered_with_its_close_and_its_end() -> None:
    assert problem("2024-07-15") == (
        "has no time of day: 2024-07-15T16:00:00-04:00 is 16:00 on that day, 2024-07-16T00:00:00-04:00 is its end"
    )


def test_a_pit_that_the_shell_cut_at_a_blank() -> None:
    assert problem("2024-02-15", ["16:00:00-05:00"]) == f"was cut at a space: write {GOOD}"
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
        ("02/10/2024", ""),
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
