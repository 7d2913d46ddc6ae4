"""Where an answer of network and archive ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pit_fetch.engine.from_archive import stop_of
from pit_fetch.gaps import Code, gap
from pit_fetch.pipeline.cursor import START, Position, position
from pit_fetch.pipeline.select import Selection
from pit_fetch.provider import Record

LAST = Record("a", datetime(2026, 6, 1, tzinfo=UTC), {})
UNREADABLE = gap(Code.MALFORMED, problem="a value is no number")


@pytest.mark.parametrize(
    ("live", "stop"),
    [
        (Selection(last=LAST), None),
        (Selection(last=LAST, gaps=(UNREADABLE,)), None),  # of a row that was read, or of what is computed
        (Selection(last=LAST, stopped="limit"), position(LAST)),
        (Selection(last=LAST, is_cut=True, gaps=(UNREADABLE,)), position(LAST)),
        (Selection(is_cut=True, gaps=(UNREADABLE,)), START),
    ],
)
def test_it_ends_where_the_source_was_not_read_on(live: Selection, stop: Position | None) -> None:
    assert stop_of(live) == stop
