"""What an answer says that it cannot show: the same whether a source gives it or an archive, so never "today"."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.engine.registry import BUNDLED_NAMES, load
from pit_fetch.provider import Operation, Query
from pit_fetch.request.operations import caveats
from tests.unit.archive.scene import Archive, at, estimates

ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"
OPERATIONS = [(name, operation) for name in BUNDLED_NAMES for operation in load(name).operations]


def query_of(name: str, operation: Operation, *, full: bool) -> Query:
    """Return a query with a PIT, with no option or with a value for each."""
    now = at("2026-06-01 15:00")
    options = {
        option.name: (["X"] if option.kind == "list" or option.repeatable else "X")
        if full or option.name in operation.needs
        else option.default
        for option in load(name).all_options
    }
    return Query(now, now, now, None, None, now, 50, options, operation)


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=lambda value: getattr(value, "name", value))
def test_no_caveat_speaks_of_today(name: str, operation: Operation) -> None:
    for full in (True, False):
        text = " ".join(gap.reason for gap in caveats(query_of(name, operation, full=full), name))
        assert "{" not in text
        assert "today" not in text


def test_a_snapshot_is_served_by_an_archive_that_held_it(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.app = estimates(("2026-06-30", "2.50"))
    archive.fetch(ESTIMATES, "2026-06-01 15:00")
    before = archive.offline(ESTIMATES, "2026-06-05 12:00", pit="2026-06-01 14:00")
    held = archive.offline(ESTIMATES, "2026-06-05 12:00", pit="2026-06-01 16:00")
    for left in (before, held):
        assert "the latest complete reply that an archive held by then is served, or nothing" in left.reasons
    assert (before.ids, len(held.ids)) == ([], 1)
