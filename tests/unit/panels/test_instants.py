"""The instants of a panel, from every way to write them."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pit_fetch.courtesy.panels import example_rule
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.panels.instants import instants


def read(path: str) -> str:
    return {
        "pits.txt": "# month-ends\n2024-01-31T16:00:00-05:00\n\nmonthly 2024-02..2024-02 16:00[America/New_York]\n",
        "files.txt": "@pits.txt\n",
    }[path]


def written(pits: object) -> list[str]:
    return [instant.strftime("%Y-%m-%d %H:%M:%S") for instant in instants(pits, read)]


@pytest.mark.parametrize(
    ("pits", "expected"),
    [
        ("2024-02-15T16:00:00-05:00", ["2024-02-15 21:00:00"]),
        (datetime(2024, 2, 15, 16, tzinfo=timezone(timedelta(hours=-5))), ["2024-02-15 21:00:00"]),
        # In order, and each once.
        (["2024-02-16T00:00:00Z", "2024-02-15T00:00:00Z", "2024-02-14T19:00:00-05:00"],
         ["2024-02-15 00:00:00", "2024-02-16 00:00:00"]),
        ("@pits.txt", ["2024-01-31 21:00:00", "2024-02-29 21:00:00"]),
        # Across a clock change, at the same hour of the wall clock.
        ("daily 2024-03-09..2024-03-11 16:00[America/New_York]",
         ["2024-03-09 21:00:00", "2024-03-10 20:00:00", "2024-03-11 20:00:00"]),
        ("weekly fri 2024-02..2024-02 16:00:30Z",
         ["2024-02-02 16:00:30", "2024-02-09 16:00:30", "2024-02-16 16:00:30", "2024-02-23 16:00:30"]),
        ("weekly Fri 2024-02-01..2024-02-09 16:00Z", ["2024-02-02 16:00:00", "2024-02-09 16:00:00"]),
        ("weekly MON 2024-02-01..2024-02-09 16:00Z", ["2024-02-05 16:00:00"]),
        ("monthly 2023-12..2024-02 16:00+01:00", ["2023-12-31 15:00:00", "2024-01-31 15:00:00", "2024-02-29 15:00:00"]),
        # A holiday has no session, and the day before this one a short one.
        ("sessions XNYS 2024-07-03..2024-07-05 close+15min", ["2024-07-03 17:15:00", "2024-07-05 20:15:00"]),
        ("sessions XNYS 2024-07-05..2024-07-05 open-1h", ["2024-07-05 12:30:00"]),
        ("sessions XLON 2024-12-24..2024-12-27 close", ["2024-12-24 12:30:00", "2024-12-27 16:30:00"]),
        # A month whose end lies behind the last day has none.
        ("monthly 2024-01-15..2024-02-15 16:00Z", ["2024-01-31 16:00:00"]),
    ],
)  # fmt: skip
def test_what_is_written_is_what_is_asked(pits: object, expected: list[str]) -> None:
    assert written(pits) == expected


@pytest.mark.parametrize(
    ("pits", "problem"),
    [
        ([], "there is no instant"),
        (datetime(2024, 2, 15), "has no time zone"),  # noqa: DTZ001
        (7, "7 is no instant"),
        ("@files.txt", "files.txt: it names a file, @pits.txt"),
        ("2024-02-15", "has no time of day"),
        # An example of the rule that was probably meant stands in the refusal.
        ("monthly 2024-01..2024-02", "is no rule: write it as in 'monthly 2024-01..2024-12 16:00[America/New_York]'"),
        ("weekly 2024-01..2024-02 16:00Z", "write it as in 'weekly fri 2024-01..2024-12 16:00[America/New_York]'"),
        ("daily fri 2024-01..2024-02 16:00Z", "write it as in 'daily 2024-01..2024-12 16:00[America/New_York]'"),
        ("quarterly 2024", "write it as in 'monthly 2024-01..2024-12 16:00[America/New_York]', or list the instants"),
        ("monthly 2024-01..2024-03 25:00Z", "write it as in 'monthly "),
        ("sessions 2024-01..2024-03", "write it as in 'sessions XNYS 2024-01..2024-12 close'"),
        ("monthly 2024-01..2024-03 16:00[EST]", "the time zone [EST] is not known: write it as in 'monthly "),
        ("2024-01-31T16:00:00Z 2024-02-29T16:00:00Z", "write 2024-01-31T16:00:00Z,2024-02-29T16:00:00Z"),
        ('["2024-01-31T16:00:00Z"]', "write 2024-01-31T16:00:00Z"),
        ("instants.txt", "instants in a file are named with @: write @instants.txt"),
        ("monthly 2024-05..2024-02 16:00Z", "2024-05 is after 2024-02: swap them"),
        ("daily 2024-03-09..2024-03-11 16:00", "is no rule"),
        ("sessions XNYS 2024-07-03..2024-07-05 close+15", "write it as in 'sessions XNYS 2024-01..2024-12 close'"),
        ("sessions XXXX 2024-07-03..2024-07-05 close", "XXXX is no exchange that is known"),
        ("sessions XSHG 1980-01..1981-01 close", "are not known from 1980-01-01 to 1981-01-31"),
        ("sessions XNYS 2024-07-05..2024-07-03 close", "are not known from 2024-07-05"),
        ("sessions XNYS 2024-07-06..2024-07-06 close", "there is no instant"),
        # A time that a clock change skips, or shows twice: no other instant is taken for it, and the day is named.
        (
            "daily 2024-03-09..2024-03-11 02:30[America/New_York]",
            "clocks in America/New_York skip 02:30:00 on 2024-03-10",
        ),
        ("daily 2024-11-02..2024-11-04 01:30[America/New_York]", "on 2024-11-03, or show it twice"),
        ("daily 2024-03-09..2024-03-11 16:00[America/Nowhere]", "the time zone [America/Nowhere] is not known"),
    ],
)  # fmt: skip
def test_what_is_no_instant_is_refused(pits: object, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        instants(pits, read)


@pytest.mark.parametrize("frequency", ["daily", "weekly", "monthly", "sessions"])
def test_the_example_of_a_refusal_is_a_rule(frequency: str) -> None:
    if frequency == "sessions":
        pytest.importorskip("exchange_calendars")
    assert instants(example_rule(frequency), read)


def test_a_timestamp_of_pandas_is_a_plain_instant() -> None:
    pandas = pytest.importorskip("pandas")
    (instant,) = instants(pandas.Timestamp("2024-02-15T16:00:00.123456789Z"), read)
    assert (type(instant), instant) == (datetime, datetime(2024, 2, 15, 16, 0, 0, 123456, tzinfo=UTC))
    with pytest.raises(UsageError, match="NaT: a value is missing"):
        instants(pandas.NaT, read)


def test_sessions_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "exchange_calendars", None)
    with pytest.raises(ConfigError, match="The package exchange_calendars is missing: run"):
        instants("sessions XNYS 2024-07-03..2024-07-05 close", read)
