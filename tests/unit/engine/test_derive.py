"""Values that a provider computes across records: its stage sees the public ones alone, all of them and in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Gap, Operation, Page, Query, Record, gap
from tests.demo_source import PIT, at_pit, demo, record


class Numbering:
    """A stage that numbers what it sees, and remembers it."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.queries: list[Query] = []

    def __call__(self, query: Query):
        self.queries.append(query)
        return self.stage

    def stage(self, records: Iterator[Record]) -> Iterator[Record]:
        for place, public in enumerate(records):
            assert isinstance(public, Record)
            self.seen.append(public.id)
            yield public._replace(payload={"place": place})


RECORDS = [
    record("c", 3),
    record("late", -1),
    record("a", 1),
    record("revised", 2, revised=-1),
    record("b", 2),
    record("undated")._replace(available_at=None),
    record(""),
    record("d", 4),
]


def test_it_sees_public_records_only_newest_first_and_each_id_once(tmp_path: Path) -> None:
    number = Numbering()
    left = at_pit(tmp_path, demo([*RECORDS, record("b", 9)], derive=number))
    assert number.seen == ["a", "b", "c", "d"]
    assert [(item["id"], item["place"]) for item in left.data] == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]
    assert left.gap_types == ["pit_excluded", "unverifiable"]


def test_without_it_the_source_is_asked_for_what_can_be_wanted(tmp_path: Path) -> None:
    horizons = []

    def source(query: Query, context: Context) -> Iterator[Record]:
        horizons.append(query.horizon.isoformat())
        return iter(())

    at_pit(tmp_path, demo(source), "--date-to", "2024-02-15T15:57:00-05:00")
    at_pit(tmp_path, demo(source), "--after", "b@2024-02-15T15:58:00-05:00")
    assert horizons == ["2024-02-15T20:57:00+00:00", "2024-02-15T20:58:00+00:00"]


def test_it_may_depend_on_the_operation_and_is_asked_once_that_is_known(tmp_path: Path) -> None:
    number, horizons = Numbering(), []

    def source(query: Query, context: Context) -> Iterator[Record]:
        horizons.append(query.horizon == PIT)
        yield from RECORDS

    provider = demo(
        source,
        derive=lambda query: number(query) if query.operation.name == "numbered" else None,
        operations=(Operation("plain"), Operation("numbered")),
    )
    for op in ("plain", "numbered"):
        left = at_pit(tmp_path, provider, "--op", op, "--date-to", "2024-02-15T15:57:00-05:00")
        assert ["place" in item for item in left.data] == [op == "numbered"] * 2
    assert horizons == [False, True]


def test_it_reads_no_further_than_the_last_record_that_is_wanted(tmp_path: Path) -> None:
    number = Numbering()

    def source(query: Query, context: Context) -> Iterator[Page]:
        yield Page((record("a", 1), record("b", 2)), newest_first=True)
        yield Page((record("c", 3), record("d", 4)), newest_first=True, continues_previous=True)
        pytest.fail("asked for a page that is not needed")

    left = at_pit(tmp_path, demo(source, derive=number), "--limit", "2")
    assert ([item["id"] for item in left.data], number.seen) == (["a", "b"], ["a", "b", "c"])
    assert left.gap_types == ["pit_excluded", "unverifiable", "truncated"]


def test_it_may_yield_a_gap_in_its_place_among_the_records(tmp_path: Path) -> None:
    def stage(records: Iterator[Record]) -> Iterator[Record | Gap]:
        yield from records
        yield gap(Code.RESULT_CAP)

    left = at_pit(tmp_path, demo(RECORDS, derive=lambda query: stage))
    assert [item["id"] for item in left.data] == ["a", "b", "c", "d"]
    assert left.gap_types == ["pit_excluded", "unverifiable", "truncated"]


def test_it_may_leave_records_out_and_the_caps_count_what_it_gives(tmp_path: Path) -> None:
    def stage(records: Iterator[Record]) -> Iterator[Record]:
        return (record for record in records if record.id in ("b", "d"))

    left = at_pit(tmp_path, demo(RECORDS, derive=lambda query: stage, page_size=1), "--max-pages", "1")
    assert [item["id"] for item in left.data] == ["b"]
    assert left.gap_types == ["pit_excluded", "unverifiable", "truncated"]


def test_a_stage_that_fails_is_a_provider_that_fails(tmp_path: Path) -> None:
    def stage(records: Iterator[Record]) -> Iterator[Record]:
        yield next(records)
        raise RuntimeError("SECRET")

    def no_stage(query: Query):
        raise RuntimeError("SECRET")

    for derive in (lambda query: stage, no_stage):
        left = at_pit(tmp_path, demo(RECORDS, derive=derive))
        assert (left.code, left.data, left.gap_types) == (70, [], ["internal_error"])
        assert "SECRET" not in left.out + left.err
