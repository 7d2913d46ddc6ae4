"""The order of a source that has none, settled by its watermarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.pipeline.select import Withheld, public
from pit_fetch.provider import Page, Record, Watermark
from tests.unit.pipeline.selecting import PIT, select

NOON = PIT - timedelta(hours=9)


def at(hours: float | None) -> datetime | None:
    return None if hours is None else NOON + timedelta(hours=hours)


def item(hours: float | None) -> Record:
    return Record(str(hours), at(hours), {})


def mark(hours: float) -> Watermark:
    return Watermark(NOON + timedelta(hours=hours))


def kept(source: Iterable[Record | Watermark], limit: int = 100) -> list[str]:
    return [record.id for record in select(source, limit=limit).records]


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ([item(1), item(3), item(2)], ["3", "2", "1"]),
        ([item(1), item(3), mark(2), item(2), item(0)], ["3", "2", "1", "0"]),
        ([item(3), mark(2), mark(5), item(2)], ["3", "2"]),
        ([mark(9), item(9), item(3)], ["9", "3"]),
        ([item(3), item(None), mark(2), item(1), mark(0), item(None)], ["3", "1"]),
    ],
)
def test_the_order_is_that_of_the_instants(source: list[Record | Watermark], order: list[str]) -> None:
    assert kept(source) == order


def test_a_page_whose_stamps_cannot_be_compared_is_ordered_by_those_that_can() -> None:
    page = Page((item(2), Record("naive", datetime(2024, 2, 15), {})), newest_first=True)  # noqa: DTZ001
    elements = public([page], lambda: None, Withheld())
    assert [element for element in elements if isinstance(element, Watermark)] == [mark(2)]


def test_a_fetch_with_enough_ends_at_the_mark() -> None:
    def source() -> Iterator[Record | Watermark]:
        yield from (item(1), item(3), item(2), mark(0))
        raise AssertionError("the fetch went on")

    assert kept(source(), limit=2) == ["3", "2"]


def test_what_is_not_settled_is_not_taken() -> None:
    # 1 is at the mark: an item of the same instant with a smaller id may still come.
    source: list[Record | Watermark] = [item(1), mark(1), Record("0", at(1), {}), item(0)]
    assert kept(source, limit=1) == ["0"]


def test_a_promise_that_is_broken_in_public_is_an_error() -> None:
    with pytest.raises(UpstreamError):
        kept([item(1), mark(1), item(2)])
    with pytest.raises(UpstreamError):
        kept([item(9), mark(1), mark(5), item(3)])
    late = item(24 * 30)
    assert kept([item(1), mark(1), late, item(0)]) == ["1", "0"]


# A search that brings nothing.

_DAY = timedelta(days=1)


def barren(*slices: Iterable[Record | Page], patience: int = 2) -> tuple[list[str], list[str], int]:
    """What is kept of a source that is asked day by day, what is said of it, and how many days it was asked for."""
    asked = 0

    def source() -> Iterator[Record | Page | Watermark]:
        nonlocal asked
        for number, records in enumerate(slices):
            asked += 1
            yield from records
            yield Watermark(NOON - number * _DAY, patience)

    builder = select(source())
    return [record.id for record in builder.records], [gap.reason for gap in builder.gaps], asked


def test_slices_without_a_public_record_end_the_search() -> None:
    none, late, old = list[Record](), [item(10), item(None)], [item(-99)]
    kept, reasons, asked = barren(none, none, old)
    assert (kept, asked) == ([], 2)
    assert reasons == ["Looked back to 2024-02-14 and no further. Narrow the request (--date-from, --date-to)."]
    # What is withheld is nothing; after a public record the count begins again; without patience it goes on.
    assert barren(late, late, old) == (kept, reasons, asked)
    assert barren(none, old, none, none, old)[2] == 4
    assert barren(none, none, old, patience=0) == (["-99"], [], 3)


def test_what_was_found_before_the_search_ends_is_kept() -> None:
    assert barren([item(-1)], [], [], [item(-99)])[0] == ["-1"]
    page = [Page((item(-1),))]
    assert barren(page, [], [], [])[2] == 3
