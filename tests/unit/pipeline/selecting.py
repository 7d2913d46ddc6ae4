"""The pipeline of one fetch, from a source's stream to what is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from pit_fetch.gaps import Gap
from pit_fetch.pipeline.cursor import parse_cursor
from pit_fetch.pipeline.select import SelectionBuilder, Withheld, in_order, public, take
from pit_fetch.provider import Page, Record, Watermark

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)


def select(
    stream: Iterable[Record | Page | Watermark | Gap],
    builder: SelectionBuilder | None = None,
    *,
    limit: int = 50,
    cap: int = 1000,
    after: str = "",
    period: str = "",
    wanted: Callable[[Record], bool] = lambda record: True,
) -> SelectionBuilder:
    """Return the builder with what is public at the PIT. A given one keeps what came before an error."""
    builder, cursor = builder or SelectionBuilder(), parse_cursor(after)
    ordered = in_order(public(stream, lambda: PIT, Withheld(), period))
    take(ordered, builder, after=cursor and cursor.position, cap=cap, limit=limit, select=wanted)
    return builder
