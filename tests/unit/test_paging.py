"""The page loops of providers: which pages they read, and when they end."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.paging import by_time, follow, numbered, slices
from pit_fetch.provider import Gap, Page, Record, Watermark

NOON = datetime(2024, 2, 15, 12, tzinfo=UTC)
Kept = TypeVar("Kept")


def rows(count: int) -> list[Record]:
    return [Record(str(n), NOON, {}) for n in range(count)]


def drain(loop: Generator[Page, None, Kept]) -> tuple[list[Page], Kept]:
    pages: list[Page] = []
    while True:
        try:
            pages.append(next(loop))
        except StopIteration as end:
            return pages, end.value


@pytest.mark.parametrize(
    ("counts", "arguments", "numbers", "cut"),
    [
        ([3, 3, 2], {}, [0, 1, 2], 0),
        ([3, 0], {}, [0, 1], 0),
        ([0], {}, [0], 0),
        ([5, 1], {}, [0, 1], 0),  # a page with more rows than its size
        ([3, 3, 2], {"first": 1}, [1, 2, 3], 0),
        ([3, 3, 2], {"step": 3}, [0, 3, 6], 0),
        ([3, 3, 2], {"first": 1, "step": 3}, [1, 4, 7], 0),
        ([3, 3, 3, 3], {"most": 2}, [0, 1], 3),
        ([3, 2], {"most": 2}, [0, 1], 0),
        ([3, 3, 3], {"most": 2, "first": 1, "step": 10}, [1, 11], 3),
        ([3], {"most": 1}, [0], 3),
    ],
)
def test_numbered_pages(counts: list[int], arguments: dict[str, Any], numbers: list[int], cut: int) -> None:
    read_so_far: list[int] = []

    def read(number: int) -> Sequence[Record]:
        read_so_far.append(number)
        return rows(counts[len(read_so_far) - 1])

    pages, left = drain(numbered(read, size=3, newest_first=True, **arguments))
    assert read_so_far == numbers
    assert [len(page.records) for page in pages] == counts[: len(numbers)]
    assert [page.continues_previous for page in pages] == [place > 0 for place in range(len(numbers))]
    assert {page.newest_first for page in pages} == {True}
    assert len(left) == cut, "the rows of the last page where the cap ended the loop"


def test_a_page_that_is_not_wanted_is_not_asked_for() -> None:
    numbers: list[int] = []
    loop = numbered(lambda number: numbers.append(number) or rows(3), size=3)  # type: ignore[func-returns-value]
    assert [len(next(loop).records), len(next(loop).records), numbers] == [3, 3, [0, 1]]


def test_pages_by_the_position_in_each_reply() -> None:
    replies = {"": (iter(rows(2)), "x"), "x": (rows(0), "y"), "y": (rows(1), None)}
    pages, _ = drain(follow(lambda token: replies[token], ""))
    assert [(len(page.records), page.newest_first, page.continues_previous) for page in pages] == [
        (2, False, False),
        (0, False, True),
        (1, False, True),
    ]


def test_a_reply_that_leads_back_ends_the_loop() -> None:
    replies = {"": "x", "x": "y", "y": "x"}
    tokens: list[str] = []

    def read(token: str) -> tuple[list[Record], str]:
        tokens.append(token)
        return rows(1), replies[token]

    with pytest.raises(UpstreamError, match="same page"):
        drain(follow(read, ""))
    assert tokens == ["", "x", "y"]


@pytest.mark.parametrize(
    ("hours", "asked", "cut"),
    [
        ([9, 8, 7, 6, 5], [10, 7, 5], False),  # the oldest row of a window is asked for again
        ([9, 8], [10], False),
        ([], [10], False),
        ([9, 8, 8, 8, 8, 7], [10, 8], True),  # more rows of one instant than a reply has
    ],
)
def test_windows_that_walk_by_the_oldest_row(hours: list[int], asked: list[int], cut: bool) -> None:
    so_far: list[int] = []

    def read(until: datetime) -> list[Record]:
        so_far.append(until.hour)
        wanted = [(place, hour) for place, hour in enumerate(hours) if hour <= until.hour]
        return [Record(str(place), NOON.replace(hour=hour), {}) for place, hour in wanted[:3]]

    made = list(by_time(read, NOON.replace(hour=10), size=3))
    assert so_far == asked
    assert [isinstance(part, Gap) for part in made] == [False] * len(asked) + [True] * cut
    assert [part.continues_previous for part in made if isinstance(part, Page)] == [n > 0 for n in range(len(asked))]


def test_slices_of_time_each_with_its_watermark() -> None:
    spans: list[tuple[int, int]] = []

    def read(start: datetime, end: datetime) -> list[Record]:
        spans.append((start.hour, end.hour))
        return rows(1)

    made = list(slices(read, NOON.replace(hour=5), NOON, timedelta(hours=3), slack=timedelta(hours=1), max_empty=4))
    assert spans == [(9, 12), (6, 9), (5, 6)]
    assert [(mark.at.hour, mark.max_empty_slices) for mark in made if isinstance(mark, Watermark)] == [
        (10, 4), (7, 4), (6, 4),
    ]  # fmt: skip
