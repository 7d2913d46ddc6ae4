"""What an archive holds for one question, as of one instant after another: each version is read once.

>>> from pit_fetch.archive.store.index import ValidRecord
>>> def made(hour, title): return Record("a", microseconds.from_micros(hour), {"title": title})
>>> held = HeldRecords([ValidRecord(1, 5, made(1, "first")), ValidRecord(5, None, made(1, "second"))])
>>> [[record.payload["title"] for record in held.at(instant).records] for instant in (0, 4, 5)]
[[], ['first'], ['second']]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple

from pit_fetch.archive import captures, names
from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.interpreted import InterpretedFetch
from pit_fetch.archive.session import ArchivedRecords, ArchiveSession, Resolved
from pit_fetch.archive.store import index, microseconds
from pit_fetch.pipeline.cursor import place_among_ties
from pit_fetch.pipeline.select import set_period, visibility
from pit_fetch.provider import Query, Record
from pit_fetch.request import coverage
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runtime import Runtime


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


class ArchiveSweep(ArchiveSession):
    """One question and its archive, which alone answers it, as of one instant after another, the earliest first."""

    def __init__(
        self, path: str, request: FetchRequest, query: Query, runtime: Runtime, archives: OpenArchives, last: datetime
    ) -> None:
        super().__init__(path, request, query, runtime, archives)
        self._first, self._last = microseconds.to_micros(query.now), microseconds.to_micros(last)
        self._held: dict[str, tuple[int, HeldRecords]] = {}
        self._captures: dict[str, tuple[Any, captures.CaptureSweep]] = {}
        self._meant: tuple[Any, Resolved] | None = None
        self._moments: list[int] | None = None

    def move(self, request: FetchRequest, query: Query) -> None:
        """Go on to the question as of the next instant."""
        fetch = self.question.fetch._replace(pit=microseconds.to_micros(request.pit), request=request.canonical)
        self.query, self.question = query, InterpretedFetch(fetch, request, query)
        self._resolved = {}

    def is_unchanged(self, pit: datetime) -> bool:
        """Return whether a question without a window has the same records as of a later instant, and all were captured.

        Names must mean the same. What is not known for certain is a change.
        """
        at = microseconds.to_micros(pit)
        if self._meant is None or self.question.is_as_of_pit or self._meant[0][0] != self._lists_received(at):
            return False
        stream = self._meant[1].stream
        if stream not in self._held or stream not in self._captures or self._held[stream][1].changes_by(at):
            return False
        wanted = coverage.TimeSpan(coverage.EVER, pit)
        return self._captures[stream][1].covered(wanted, at) == pit

    def _resolve(self, at: int) -> Resolved:
        if self.question.is_as_of_pit:
            return super()._resolve(at)
        known = self._lists_received(at), self.query.options
        if self._meant is None or self._meant[0] != known:
            self._meant = known, super()._resolve(at)
        archived, stream, meaning = self._meant[1]
        if meaning is not None:
            query = self.query._replace(options=meaning.question.query.options)
            meaning = meaning._replace(question=self.question._replace(query=query))
        return Resolved(archived, stream, meaning)

    def _lists_received(self, at: int) -> int:
        """Return a number that is equal for instants at which names mean the same."""
        if self._moments is None:
            rows: Iterable[tuple[int]] = ()
            if names.has_names(self.question):
                rows = self._open().connection.execute(
                    "SELECT seen FROM exchanges WHERE seen BETWEEN ?1 AND ?2 "
                    "UNION SELECT began FROM fetches WHERE began BETWEEN ?1 AND ?2 ORDER BY 1",
                    (self._first, self._last),
                )
            self._moments = [moment for (moment,) in rows]
        return bisect_right(self._moments, at)

    def _covered_until(self, asked: Resolved, at: int) -> datetime | None:
        archived, stream, meaning = asked
        if meaning is None or not meaning.has_every_name:
            return None
        query = meaning.question.query
        told = query.options, query.since, query.until
        if stream not in self._captures or self._captures[stream][0] != told:
            options = self.question.request.provider.all_options
            last = microseconds.from_micros(self._last)
            self._captures[stream] = told, captures.CaptureSweep(archived, stream, query, last, options)
        return self._captures[stream][1].until(query, microseconds.from_micros(at))

    def _dated_records(self, asked: Resolved, question: Query, at: int, newest: int, oldest: int) -> ArchivedRecords:
        archived, stream, _ = asked
        if stream not in self._held:
            valid = index.records_between(archived.connection, stream, at, self._last, oldest)
            self._held[stream] = oldest, HeldRecords([*valid], question.operation.period)
        reach, held = self._held[stream]
        if oldest < reach:  # what was read does not go back so far
            raise NotSwept
        found = held.at(at, newest, oldest)
        return ArchivedRecords(iter(found.records), question, held=found)
