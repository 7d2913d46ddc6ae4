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
from pit_fetch.pipeline.select import series_name, set_period, visibility
from pit_fetch.provider import Operation, Record

_PLAIN = Operation()


class NotSwept(Exception):
    """A single fetch has to answer: of this question, or as of this instant."""


class HeldSlice(NamedTuple):
    """The records as of an instant, in the order of an answer.

    computed  what was computed from just these before
    series    the name of the series of each
    """

    records: Sequence[Record]
    computed: dict[str, Any]
    series: Sequence[str]


class HeldRecords:
    """The records of a stream as of one instant after another, the earliest first."""

    def __init__(
        self, valid: Iterable[index.ValidRecord], operation: Operation = _PLAIN, fields: Sequence[str] = ()
    ) -> None:
        """``valid`` comes by when it begins to be the answer; ``fields`` tell series apart."""
        self._waiting, self._operation = iter(valid), operation
        self._required, self._fields = frozenset(operation.required), fields
        self._next = next(self._waiting, None)
        self._stops: list[tuple[int, tuple[Any, ...]]] = []
        self._keys: list[tuple[Any, ...]] = []  # where each stands: the newest first, then as of one instant
        self._records: list[Record] = []
        self._series: list[str] = []
        self._count = 0
        self._slice: tuple[tuple[int, int], HeldSlice] | None = None

    def at(self, instant: int, newest: int = microseconds.ALWAYS, oldest: int = microseconds.NEVER) -> HeldSlice:
        """Return the records of ``newest`` to ``oldest``.

        Raise NotSwept for one with a later stamp, or without a required field.
        """
        while self._next is not None and self._next.start <= instant:
            _, stop, record = self._next
            self._next = next(self._waiting, None)
            if stop is None or stop > instant:
                self._begin(instant, stop, set_period(record, self._operation.period))
        while self._stops and self._stops[0][0] <= instant:
            place = bisect_left(self._keys, heappop(self._stops)[1])
            del self._keys[place], self._records[place], self._series[place]
            self._slice = None
        bounds = bisect_left(self._keys, (-newest,)), bisect_left(self._keys, (1 - oldest,))
        if self._slice is None or self._slice[0] != bounds:
            self._slice = bounds, HeldSlice(self._records[slice(*bounds)], {}, self._series[slice(*bounds)])
        return self._slice[1]

    def _begin(self, instant: int, stop: int | None, record: Record) -> None:
        is_public = visibility(record, microseconds.from_micros(instant)) == "public"
        if not is_public or not self._required <= record.payload.keys():
            raise NotSwept
        self._count += 1
        key = (-(microseconds.to_micros(record.available_at) or 0), *place_among_ties(record), self._count)
        place = bisect_left(self._keys, key)
        self._keys.insert(place, key)
        self._records.insert(place, record)
        self._series.insert(place, series_name(record, self._fields) if self._fields else "")
        self._slice = None
        if stop is not None:
            heappush(self._stops, (stop, key))
