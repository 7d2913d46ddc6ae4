"""Which records lie in the window of a query."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from pit_fetch.provider import Operation, Query
from pit_fetch.times import window_end, window_start
from tests.demo_source import PIT, record
from tests.inprocess import NOW


def query(operation: Operation, since: datetime | None, until: datetime | None) -> Query:
    return Query(PIT, NOW, PIT, since, until, PIT, 50, {}, operation)


DAY = Operation(window="day")


@pytest.mark.parametrize(
    ("operation", "payload", "words", "inside"),
    [
        # A date counts with its last instant.
        (DAY, {"day": "2024-02-14"}, {"since": "2024-02-14"}, True),
        (DAY, {"day": "2024-02-14"}, {"since": "2024-02-15"}, False),
        (DAY, {"day": "2024-02-14"}, {"until": "2024-02-14"}, True),
        (DAY, {"day": "2024-02-14"}, {"until": "2024-02-13"}, False),
        (DAY, {"day": "2024-02-14"}, {"until": "2024-02-14T23:59:59-05:00"}, False),
        (DAY, {"day": "2024-02-14"}, {"since": "2024-02-14T23:59:59-05:00"}, True),
        (DAY, {"day": "2024-03-10"}, {"since": "2024-03-10", "until": "2024-03-10"}, True),  # a day of 23 hours
        # A clock without an offset is not an instant: its day counts.
        (DAY, {"day": "2024-02-14 12:00:00"}, {"until": "2024-02-13"}, False),
        (DAY, {"day": "2024-02-14T12:00"}, {"since": "2024-02-14T23:59:59-05:00"}, True),
        # An instant is one.
        (DAY, {"day": "2024-02-14T12:00:00Z"}, {"since": "2024-02-14T12:00:00Z"}, True),
        (DAY, {"day": "2024-02-14T12:00:00Z"}, {"since": "2024-02-14T07:00:01-05:00"}, False),
        (DAY, {"day": "2024-02-14T12:00:00Z"}, {"until": "2024-02-14T12:00:00Z"}, True),
        (DAY, {"day": "2024-02-15T04:30:00Z"}, {"until": "2024-02-14"}, True),
        # What has no readable date is not left out: a filter must not hide what nothing dates.
        (DAY, {}, {"since": "2024-02-14"}, True),
        (DAY, {"day": None}, {"since": "2024-02-14"}, True),
        (DAY, {"day": ["2024-02-14"]}, {"until": "2024-01-01"}, True),
        (DAY, {"day": "14 February"}, {"until": "2024-01-01"}, True),
        (DAY, {"day": "2024-02-14, about noon"}, {"until": "2024-01-01"}, True),
        (DAY, {"day": "9999-12-31"}, {"until": "2024-01-01"}, False),
        # By default the window is on available_at, which is 2024-02-15T15:59-05:00 here.
        (Operation(), {"day": "2020-01-01"}, {"since": "2024-02-15", "until": "2024-02-15"}, True),
        (Operation(), {}, {"since": "2024-02-15T16:00:00-05:00"}, False),
        (Operation(), {}, {"until": "2024-02-15T15:58:59-05:00"}, False),
        # Of what is available at the end of a day, that day.
        (Operation(), {}, {"until": "2024-02-15T15:59:00-05:00"}, True),
        (Operation(window="available_on"), {}, {"until": "2024-02-15T15:58:59-05:00"}, False),
        (Operation(window="available_on"), {}, {"until": "2024-02-15T15:58:59.999999-05:00"}, True),
        (Operation(window="available_on"), {}, {"since": "2024-02-15T15:59:00-05:00"}, False),
        # The provider applies it.
        (Operation(window="select"), {"day": "2020-01-01"}, {"since": "2025-01-01", "until": "2020-01-01"}, True),
    ],
)  # fmt: skip
def test_the_window(operation: Operation, payload: dict[str, Any], words: dict[str, str], inside: bool) -> None:
    since = window_start(words["since"]) if "since" in words else None
    until = window_end(words["until"]) if "until" in words else None
    assert query(operation, since, until).in_window(record("a", **payload)) is inside


def test_what_has_no_instant_is_in_every_window() -> None:
    undated = record("a")._replace(available_at=None)
    assert query(Operation(), NOW, NOW).in_window(undated)
