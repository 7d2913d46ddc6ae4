"""Source stamps: the latest instant that each could mean, or undated."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch import times

NEW_YORK = times.NEW_YORK


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


_IN_NEW_YORK = partial(times.parse_compact, zone=times.NEW_YORK)


@pytest.mark.parametrize(
    ("parse", "text", "instant"),
    [
        (times.parse_rfc2822, "Wed, 24 Jan 2024 23:15:52 -0400", "2024-01-25T03:15:52"),
        (times.parse_http_date, "Wed, 24 Jan 2024 23:15:52 GMT", "2024-01-24T23:15:52"),
        (times.parse_unix, "1708030800", "2024-02-15T21:00:00"),
        (times.parse_unix, 1708030800, "2024-02-15T21:00:00"),
        (times.parse_unix, 1708030800.5, "2024-02-15T21:00:00.500000"),
        (times.parse_unix, "1708030800.0000001", "2024-02-15T21:00:00.000001"),
        (partial(times.parse_unix, per_second=1_000), 1708030800123, "2024-02-15T21:00:00.123000"),
        (times.parse_compact, "20240215T210000Z", "2024-02-15T21:00:00"),
        (_IN_NEW_YORK, "20240215T160000", "2024-02-15T21:00:00"),
        (_IN_NEW_YORK, "202402151600", "2024-02-15T21:00:59.999999"),
        (_IN_NEW_YORK, "20241103013000", "2024-11-03T06:30:00"),
        (_IN_NEW_YORK, "20240215", "2024-02-16T05:00:00"),
        (times.parse_http_date, "Wednesday, 24-Jan-24 23:15:52 GMT", "2024-01-24T23:15:52"),
        (times.parse_http_date, "Friday, 11-Jul-97 06:39:57 GMT", "1997-07-11T06:39:57"),
        (times.parse_rfc2822, "24 Jan 2024 23:15:52 -0400", "2024-01-25T03:15:52"),
        (times.parse_rfc2822, "Wed, 24 Jan 2024 23:15:52 +0000", "2024-01-24T23:15:52"),
        (times.parse_rfc2822, "Wed, 24 Jan 2024 23:15 -0400", "2024-01-25T03:15:59.999999"),
        # A stamp is rounded up, a PIT down.
        (times.parse_rfc3339, "2024-02-15T16:00:00-05:00", "2024-02-15T21:00:00"),
        (times.parse_rfc3339, "2024-02-15T16:00:00Z", "2024-02-15T16:00:00"),
        (times.parse_rfc3339, "2024-02-15T16:00:00.1234567Z", "2024-02-15T16:00:00.123457"),
        (times.parse_rfc3339, "2024-02-15T23:59:59.9999999Z", "2024-02-16T00:00:00"),
        (times.parse_pit, "2024-02-15T16:00:00-05:00", "2024-02-15T21:00:00"),
        (times.parse_pit, "2024-02-15T16:00:00.9999999Z", "2024-02-15T16:00:00.999999"),
        (times.parse_pit, "2024-02-15T16:00:00.9999999[America/New_York]", "2024-02-15T21:00:00.999999"),
        (times.parse_pit, "2024-07-15T16:00:00Z[UTC]", "2024-07-15T16:00:00"),
    ],
)
def test_a_text_is_an_instant(parse: Callable[[str], datetime | None], text: str, instant: str) -> None:
    assert parse(text) == utc(instant)


@pytest.mark.parametrize(
    ("text", "latest"),
    [
        ("2024-02-15T16:00:00", "2024-02-15T16:00:59.999999"),
        ("2024-02-15T23:59:00", "2024-02-15T23:59:59.999999"),
        ("9999-12-31T23:59:00", "9999-12-31T23:59:59.999999"),
        ("2024-02-15T16:00:00.000001", "2024-02-15T16:00:00.000001"),
        ("2024-02-15T16:00:01", "2024-02-15T16:00:01"),
    ],
)
def test_a_stamp_without_seconds_may_mean_the_end_of_its_minute(text: str, latest: str) -> None:
    assert times.end_of_minute(utc(text)) == utc(latest)
    assert times.end_of_minute(datetime.fromisoformat(text)) == datetime.fromisoformat(latest)


def test_a_weekend_is_saturday_and_sunday() -> None:
    days = [date(2012, 7, 6) + timedelta(days=n) for n in range(4)]
    assert [times.is_weekend(day) for day in days] == [False, True, True, False]


UNREADABLE: dict[Callable[..., datetime | None], tuple[object, ...]] = {
    times.parse_rfc2822: (
        *("Wed, 24 Jan 2024 23:15:52 -0000", "Wed, 24 Jan 2024 23:15:52 EST", "Wed, 24 Jan 2024 23:15:52 GMT"),
        *("Wed, 24 Jan 2024 23:15:52", "Thu, 24 Jan 2024 23:15:52 -0400", "Wed, 32 Jan 2024 23:15:52 -0400"),
        *("Wed, 24 Jan 2024 25:15:52 -0400", "Fri, 31 Dec 9999 23:59:59 -0400", "10", "", None, 1706152552, {}),
    ),
    times.parse_http_date: (
        *("Thursday, 24-Jan-24 23:15:52 GMT", "Wednesday, 24-Jan-24 23:15:52", "Wed Jan 24 23:15:52 2024", "0", ""),
        *("Wed, 24 Jan 2024 23:15:52 EST", "Wednesday, 24-Jan-2024 23:15:52 GMT", None),
    ),
    times.parse_rfc3339: (
        *("2024-02-15T16:00:00", "2024-02-15T16:00:00-00:00", "2024-02-15 16:00:00Z", "2024-02-15", None),
        *("2024-02-15T24:00:00Z", "2024-02-15T16:00:60Z", "9999-12-31T23:59:59.9999999Z", "0001-01-01T00:00:00+10:00"),
    ),
    times.parse_unix: (True, 0, -1, 20240215, 1708030800123, "1708030800 ", "1e9", 1e300, float("nan"), "", None, []),
    times.parse_compact: (
        "20240215T160000",
        "20240215",
        "2024021",
        "20240230T160000Z",
        "20240215T25Z",
        "",
        None,
        20240215,
    ),
    times.parse_pit: (
        *(" 2024-02-15T16:00:00Z", "2024-02-15T16:00:00Z\n", "2024-02-30T16:00:00Z", "2024-02-15"),
        *("2024-07-15T16:00:00 [America/New_York]", "2024-07-15T16:00:00[America/New_York] "),
        *("2024-07-15T16:00:00[!America/New_York]", "2024-07-15T16:00:00[America/New_York][u-ca=iso8601]"),
        *("2024-07-15T16:00:00[right/America/New_York]", "2024-07-15T16:00:00[../UTC]", "2024-07-15T16:00:00[America]"),
        *("2024-07-15T16:00:00[America/Indiana]", "2024-07-15T16:00:00[Europe/Nowhere]", "2024-07-15T16:00:00[EST]"),
        *("2024-07-15T16:00:00[]", "2024-07-15[America/New_York]", "0001-01-01T00:00:00[Asia/Tokyo]"),
    ),
}


@pytest.mark.parametrize(("parse", "text"), [(parse, text) for parse, texts in UNREADABLE.items() for text in texts])
def test_a_text_is_no_instant(parse: Callable[[object], datetime | None], text: object) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("wall", "instant", "why"),
    [
        ("2024-02-15T09:30:00", "2024-02-15T14:30:00", "winter"),
        ("2024-07-15T09:30:00", "2024-07-15T13:30:00", "summer"),
        ("2024-11-03T01:30:00", "2024-11-03T06:30:00", "repeated: the second pass"),
        ("2024-03-10T02:30:00", "2024-03-10T07:30:00", "skipped: the later reading"),
        ("2024-11-03T00:59:59", "2024-11-03T04:59:59", "before the repeated hour"),
        ("2024-11-03T02:00:00", "2024-11-03T07:00:00", "after it"),
    ],
)
def test_a_wall_clock_means_its_latest_reading(wall: str, instant: str, why: str) -> None:
    assert times.wall_clock(datetime.fromisoformat(wall), NEW_YORK) == utc(instant), why


@pytest.mark.parametrize(
    ("day", "zone", "instant"),
    [
        ("2024-02-15", "America/New_York", "2024-02-16T05:00:00"),
        ("2024-03-10", "America/New_York", "2024-03-11T04:00:00"),
        ("2024-11-03", "America/New_York", "2024-11-04T05:00:00"),
        ("2024-12-31", "UTC", "2025-01-01T00:00:00"),
        ("2024-04-25", "Africa/Cairo", "2024-04-25T22:00:00"),
        ("9999-12-31", "UTC", None),
    ],
)
def test_a_day_ends_at_the_next_midnight(day: str, zone: str, instant: str | None) -> None:
    # In Cairo the clock skipped from 00:00 to 01:00 on 26 April 2024: that midnight is 22:00 UTC in both readings.
    assert times.end_of_day(date.fromisoformat(day), ZoneInfo(zone)) == (utc(instant) if instant else None)


def test_a_window_of_one_date_is_its_whole_new_york_day() -> None:
    assert times.window_start("2024-02-15") == utc("2024-02-15T05:00:00")
    assert times.window_end("2024-02-15") == utc("2024-02-16T04:59:59.999999")
    assert times.window_end("2024-02-15T16:00:00Z") == utc("2024-02-15T16:00:00")
    assert times.window_start("15.02.2024") is None
    assert times.window_end("9999-12-31") == utc("9999-12-31T23:59:59.999999")


@given(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_new_york_text_is_the_same_instant_for_the_gate(moment: datetime) -> None:
    assert times.parse_rfc3339(times.in_new_york(moment)) == moment


@given(st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001
def test_no_reading_of_a_wall_clock_is_later(wall: datetime) -> None:
    latest = times.wall_clock(wall, NEW_YORK)
    assert latest is not None
    for fold in (0, 1):
        assert wall.replace(tzinfo=NEW_YORK, fold=fold).astimezone(UTC) <= latest
    assert abs(latest.astimezone(NEW_YORK).replace(tzinfo=None) - wall) <= timedelta(hours=1)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2024-02-15T21:00:00", "Thursday 2024-02-15 16:00:00 in New York (-05:00)"),
        ("2024-07-16T03:59:59.500000", "Monday 2024-07-15 23:59:59.500000 in New York (-04:00)"),
        ("1800-01-01T00:00:00", "Wednesday 1800-01-01 00:00:00 UTC (+00:00)"),
    ],
)
def test_an_instant_in_words(moment: str, text: str) -> None:
    assert times.format_for_people(utc(moment)) == text


@pytest.mark.parametrize(
    ("day", "following"),
    [
        ("2024-02-15", "2024-02-16"),
        ("2024-02-16", "2024-02-20"),  # Washington's Birthday
        ("2024-05-24", "2024-05-28"),  # Memorial Day
        ("2024-11-27", "2024-11-29"),  # Thanksgiving
        ("2021-12-23", "2021-12-27"),  # Christmas Day on a Saturday
        ("2022-12-23", "2022-12-27"),  # on a Sunday
        ("2023-11-09", "2023-11-13"),  # Veterans Day on a Saturday
    ],
)
def test_the_next_business_day(day: str, following: str) -> None:
    assert times.next_business_day(date.fromisoformat(day)) == date.fromisoformat(following)


def test_the_last_minute_of_the_calendar_has_no_instant_behind_it() -> None:
    assert times.parse_wall_clock("9999-12-31 23:59", NEW_YORK) is None
