"""What an archive holds for one question, as of one instant after another. Each version of an item is read once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pit_fetch.archive import captures, names
from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.held import HeldRecords, HeldSlice, NotSwept
from pit_fetch.archive.interpreted import InterpretedFetch
from pit_fetch.archive.session import ArchivedRecords, ArchiveSession, Resolved
from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.provider import Query
from pit_fetch.request import coverage
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import series_fields
from pit_fetch.runtime import Runtime


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
        self._asked: set[tuple[int, str]] | None = None
        self._others: dict[str, list[tuple[str, dict[str, str]]]] = {}

    def move(self, request: FetchRequest, query: Query) -> None:
        """Go on to the question as of the next instant."""
        fetch = self.question.fetch._replace(pit=microseconds.to_micros(request.pit), request=request.canonical)
        self.query, self.question = query, InterpretedFetch(fetch, request, query)
        self._resolved = {}

    def was_asked(self, pit: datetime, request: str) -> bool:
        """Return whether this very question was asked before: it has the answer that it had then."""
        if self._asked is None:
            source = self.question.request.provider.name
            self._asked = journal.asked_of_the_past(self._open().connection, source)
        return bool(self._asked) and (microseconds.to_micros(pit), request) in self._asked

    def held_at(self, pit: datetime) -> HeldSlice | None:
        """Return the records as of a later instant for a question without a window, if all were captured by then.

        None if that is not known for certain: a name may mean something else by then, say.
        """
        at = microseconds.to_micros(pit)
        if self._meant is None or self.question.is_as_of_pit or self._meant[0][0] != self._lists_received(at):
            return None
        stream = self._meant[1].stream
        if stream not in self._held or stream not in self._captures:
            return None
        wanted = coverage.TimeSpan(coverage.EVER, pit)
        return self._held[stream][1].at(at) if self._captures[stream][1].covered(wanted, at) == pit else None

    def _of_other_hosts(self, asked: Resolved) -> list[tuple[str, dict[str, str]]]:
        if asked.stream not in self._others:  # there may be thousands of streams
            self._others[asked.stream] = super()._of_other_hosts(asked)
        return self._others[asked.stream]

    def _forget(self) -> None:
        super()._forget()
        self._meant = None

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
            fields = series_fields(question.operation) if self.question.request.newest else ()
            self._held[stream] = oldest, HeldRecords([*valid], question.operation, fields)
        reach, held = self._held[stream]
        if oldest < reach:  # what was read does not go back so far
            raise NotSwept
        found = held.at(at, newest, oldest)
        return ArchivedRecords(iter(found.records), question, held=found)
