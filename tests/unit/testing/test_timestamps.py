"""The kit reads stamps in the usual forms and in those that are declared, and writes others like them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.testing.timestamps import earliest, floor, is_date, is_naive, less_precise, more_precise, postpone

NEW_YORK = "America/New_York"
DATES = ("%Y-%m-%d", "%Y%m%d", "%d %b %Y", "%a, %d %b %Y")
CLOCKS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y%m%dT%H%M%S", "%Y%m%d%H%M%S", "%a, %d %b %Y %H:%M:%S")
DECLARED_DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%b. %d, %Y", "%d-%b-%Y", "%y%m%d")
DECLARED_CLOCKS = ("%d/%m/%Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%B %d, %Y at %I:%M:%S %p")
FORMS = (*((form, "") for form in (*DATES, *CLOCKS)), *((form, form) for form in (*DECLARED_DATES, *DECLARED_CLOCKS)))
READINGS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)).map(lambda r: r.replace(microsecond=0))  # noqa: DTZ001


@given(READINGS, st.sampled_from(FORMS), st.integers(1, 500))
def test_a_stamp_is_read_and_written_in_its_own_form(reading: datetime, forms: tuple[str, str], days: int) -> None:
    """Those of the usual forms are read as they are, others as they are declared."""
    form, declared = forms
    written = f"{reading:{form}}"
    if form in (*DATES, *DECLARED_DATES):
        end = datetime.combine(reading.date() + timedelta(days=1), datetime.min.time(), ZoneInfo(NEW_YORK))
        assert floor(written, NEW_YORK, declared) == end.astimezone(UTC)
        assert is_date(written, declared)
    else:
        assert floor(written, "UTC", declared) == reading.replace(tzinfo=UTC)
        assert not is_date(written, declared)
    assert is_naive(written, declared)
    assert postpone(written, days, declared) == f"{reading + timedelta(days=days):{form}}"


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2024-02-15T16:00:00-05:00", "2024-02-15T21:00:00+00:00"),
        ("Thu, 15 Feb 2024 16:00:00 -0500", "2024-02-15T21:00:00+00:00"),
        ("2024-02-15T16:00:00.5Z", "2024-02-15T16:00:00.500000+00:00"),
        ("2024-02-15T16:00Z", "2024-02-15T16:00:59+00:00"),
        ("20240215T150000Z", "2024-02-15T15:00:00+00:00"),
        ("2024-02-15 12:00:00 EST", None),
        ("05/02/2024", None),  # only the source knows which is the month
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


def test_a_zone_s_name_is_no_offset() -> None:
    """A reading is one in the zone of the source, whatever the letters mean."""
    form = "%B %d, %Y at %I %p %Z"
    assert floor("February 1, 2024 at 4 PM EST", NEW_YORK, form) == datetime(2024, 2, 1, 21, 59, 59, tzinfo=UTC)
    assert postpone("May 1, 2025 at 4 PM EDT", 31, form) == "June 01, 2025 at 04 PM EDT"


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
