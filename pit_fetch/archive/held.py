"""The records of a stream as of one instant after another, each version of which was read once. Pure.

>>> from pit_fetch.archive.store.index import ValidRecord
>>> def made(hour, title): return Record("a", microseconds.from_micros(hour), {"title": title})
>>> held = HeldRecords([ValidRecord(1, 5, made(1, "first")), ValidRecord(5, None, made(1, "second"))])
>>> [[record.payload["title"] for record in held.at(instant).records] for instant in (0, 4, 5)]
[[], ['first'], ['second']]
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from pit_fetch.archive.store import index, microseconds
from pit_fetch.pipeline.cursor import place_among_ties
from pit_fetch.pipeline.select import set_period, visibility
from pit_fetch.provider import Record


class NotSwept(Exception):
    """A single fetch has to answer: of this question, or as of this instant."""


class HeldSlice(NamedTuple):
    """The records as of an instant, in the order of an answer.

    computed  what was computed from just these before
    series    the series of records of any instant, by their identity
    """

    records: Sequence[Record]
    computed: dict[str, Any]
    series: dict[int, tuple[Record, str]]


class HeldRecords:
    """The records of a stream as of one instant after another, the earliest first."""

    def __init__(self, valid: Iterable[index.ValidRecord], period: str = "") -> None:
        """``valid`` comes by when it begins to be the answer; ``period`` is the field that orders those of a moment."""
        self._waiting, self._period = iter(valid), period
        self._next = next(self._waiting, None)
        self._stops: list[tuple[int, tuple[Any, ...]]] = []
        self._keys: list[tuple[Any, ...]] = []  # where each stands: the newest first, then as of one instant
        self._records: list[Record] = []
        self._series: dict[int, tuple[Record, str]] = {}
        self._count, self._at = 0, microseconds.NEVER
        self._slice: tuple[tuple[int, int], HeldSlice] | None = None

    def at(self, instant: int, newest: int = microseconds.ALWAYS, oldest: int = microseconds.NEVER) -> HeldSlice:
        """Return the records of ``newest`` to ``oldest``. Raise NotSwept for one that shows a later stamp."""
        self._at = instant
        while self._next is not None and self._next.start <= instant:
            _, stop, record = self._next
            self._next = next(self._waiting, None)
            if stop is None or stop > instant:
                self._begin(instant, stop, set_period(record, self._period))
        while self._stops and self._stops[0][0] <= instant:
            place = bisect_left(self._keys, heappop(self._stops)[1])
            del self._keys[place], self._records[place]
            self._slice = None
        bounds = bisect_left(self._keys, (-newest,)), bisect_left(self._keys, (1 - oldest,))
        if self._slice is None or self._slice[0] != bounds:
            self._slice = bounds, HeldSlice(self._records[slice(*bounds)], {}, self._series)
        return self._slice[1]

    def changes_by(self, instant: int) -> bool:
        """Return whether a record begins or ends to be the answer from the last instant to this one."""
        begins = self._next is not None and self._next.start <= instant
        return begins or bool(self._stops and self._stops[0][0] <= instant) or instant < self._at

    def _begin(self, instant: int, stop: int | None, record: Record) -> None:
        if visibility(record, microseconds.from_micros(instant)) != "public":
            raise NotSwept
        self._count += 1
        key = (-(microseconds.to_micros(record.available_at) or 0), *place_among_ties(record), self._count)
        place = bisect_left(self._keys, key)
        self._keys.insert(place, key)
        self._records.insert(place, record)
        self._slice = None
        if stop is not None:
            heappush(self._stops, (stop, key))
