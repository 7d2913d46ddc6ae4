"""The kit reads a stamp by its parts, in whatever form, and writes others like it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.testing.timestamps import earliest, floor, is_date, is_naive, less_precise, more_precise, postpone

NEW_YORK = "America/New_York"
DATES = ("%Y-%m-%d", "%d %B %Y", "%b. %d, %Y", "%d-%b-%Y", "%Y/%m/%d", "%d.%m.%Y", "%A, %B %d, %Y")
CLOCKS = (" %H:%M:%S", " %I:%M:%S %p", "T%H:%M:%S")
WHOLE = ("%Y%m%dT%H%M%S", "%Y%m%d%H%M%S", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S", "%d/%m/%Y %H:%M:%S")
FORMS = (*(date + clock for date in DATES for clock in CLOCKS), *WHOLE)
READINGS = st.datetimes(datetime(1990, 1, 13), datetime(2090, 1, 1)).map(lambda r: r.replace(microsecond=0))  # noqa: DTZ001


@given(READINGS, st.sampled_from(FORMS), st.integers(1, 500))
def test_a_reading_of_a_clock_is_read_and_written_in_its_own_form(reading: datetime, form: str, days: int) -> None:
    reading = reading.replace(day=max(13, reading.day))  # else a day and a month could change places
    written = f"{reading:{form}}"
    assert floor(written, "UTC") == reading.replace(tzinfo=UTC)
    assert is_naive(written)
    assert not is_date(written)
    if "%B" in form and reading.month == 5:  # "May" is short, and long
        form = form.replace("%B", "%b")
    assert postpone(written, days) == f"{reading + timedelta(days=days):{form}}"


@given(READINGS, st.sampled_from((*DATES, "%Y%m%d", "%Y %m %d")))
def test_a_day_is_over_at_its_end(reading: datetime, form: str) -> None:
    reading = reading.replace(day=max(13, reading.day))
    written = f"{reading:{form}}"
    end = datetime.combine(reading.date() + timedelta(days=1), datetime.min.time(), ZoneInfo(NEW_YORK))
    assert floor(written, NEW_YORK) == end.astimezone(UTC)
    assert is_date(written)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2024-02-15T16:00:00-05:00", "2024-02-15T21:00:00+00:00"),
        ("Thu, 15 Feb 2024 16:00:00 -0500", "2024-02-15T21:00:00+00:00"),
        ("2024-02-15T16:00:00.5Z", "2024-02-15T16:00:00.500000+00:00"),
        ("2024-02-15T16:00Z", "2024-02-15T16:00:59+00:00"),
        ("2024-02-15 12:00:00 EST", "2024-02-15T17:00:00+00:00"),  # in the zone of the source, whatever EST means
        ("Thu Feb 15 2024 12:00:00 GMT+0000 (Coordinated Universal Time)", "2024-02-15T12:00:00+00:00"),
        ("February 1, 2024 at 4 PM EST", "2024-02-01T21:59:59+00:00"),
        ("05/02/2024", "2024-02-06T05:00:00+00:00"),  # the earlier of its two readings
        (20240215, "2024-02-16T05:00:00+00:00"),
        (1708030800, "2024-02-15T21:00:00+00:00"),
        ("1708030800000", "2024-02-15T21:00:00+00:00"),
        ("9999-12-31", "9999-12-31T23:59:59.999999+00:00"),
        ("Oil rises 2024-02-15", None),
        ("2023-Q4", None),
        ("123456789012", None),
        (True, None),
        (12, None),
    ],
)
def test_what_a_stamp_means(value: object, instant: str | None) -> None:
    read = floor(value, NEW_YORK)
    assert (read and read.isoformat()) == instant


def test_forms_that_say_less_and_more() -> None:
    stamp = "2024-02-15T16:00:00-05:00"
    assert list(less_precise(stamp)) == ["2024-02-15T16:00:00", "2024-02-15T16:00:00-00:00", "2024-02-15"]
    assert dict(more_precise(stamp)) == {
        "with another offset": "2024-02-15T16:00:00-10:00",
        "within its second": "2024-02-15T16:00:00.999999-05:00",
    }
    assert is_naive("2024-02-15T16:00:00-00:00")
    assert earliest("2024-02-15") == datetime(2024, 2, 14, 10, tzinfo=UTC)
    assert postpone("9999-12-31", 3) == "9999-12-31"
    with pytest.raises(ValueError, match="none"):
        postpone("none", 1)
