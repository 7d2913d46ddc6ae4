"""The answers of one archive to one question, as of one instant after another, as single fetches would give them.

A single fetch is written up by the same functions, from what is read for its instant alone. What differs here is below
them: :class:`pit_fetch.archive.sweep.ArchiveSweep` reads each version once, and an item is made, and judged by the
gate, when it is first public. A stamp that is not later than one instant is not later than any that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.held import HeldSlice, NotSwept
from pit_fetch.archive.sweep import ArchiveSweep
from pit_fetch.engine import audit, credentials
from pit_fetch.engine.fetch import archive_of, when_empty
from pit_fetch.engine.from_archive import ArchiveAnswer
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.record_filter import RecordFilter
from pit_fetch.engine.report import CollectedRecords, FetchResult, answer_gaps, envelope_options
from pit_fetch.formats import json as as_json
from pit_fetch.gaps import Gap
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.select import Selection, newest_periods
from pit_fetch.provider import Query, Record
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import accepts_claims, wants_all
from pit_fetch.request.query import build_query
from pit_fetch.request.values import format_value
from pit_fetch.runtime import Runtime

Items = Sequence[dict[str, Any]]
# Of items that are made anew for each instant, as computed ones are, no more than these are kept.
_MOST_ITEMS = 100_000


def can_sweep(request: FetchRequest, runtime: Runtime) -> bool:
    """Return whether a question is asked of an archive alone, of records with times of their own that are proved."""
    if not request.offline or request.pit is None or request.after or request.max_chars:
        return False
    query = build_query(request, runtime.clock.now())
    # An audit has a line of each question.
    is_plain = not audit.path(runtime.environ) and CEILING_VARIABLE not in runtime.environ
    return is_plain and query.operation.dating.by == "record" and not accepts_claims(query)


class SweptAnswer(NamedTuple):
    """The answer as of an instant.

    items     those of its envelope, which answers share
    is_plain  it has items, and nothing that was asked for may be missing
    write     returns the whole answer, without its text
    """

    items: Items
    is_plain: bool
    write: Callable[[], FetchResult]


class Sweep:
    """A question of an archive, as of one instant after another, the earliest first."""

    def __init__(self, first: FetchRequest, last: FetchRequest, runtime: Runtime, archives: OpenArchives) -> None:
        """``first`` and ``last`` are the question as of two instants. Raise NotSwept if more tells them apart."""
        self._request, self._runtime, self._progress = first, runtime, Progress()
        self._before, _, self._behind = first.canonical.partition(format_value(first.pit))
        if last.pit is None or self._as_of(last.pit) != last:
            raise NotSwept
        query = build_query(first, runtime.clock.now())
        path = runtime.path(archive_of(first, runtime))
        self._archive = ArchiveSweep(path, first, query, runtime, archives, build_query(last, query.started).now)
        self._has_no_window = wants_all(first.provider, query) and query.operation.archiving.earliest(query) is None
        # A gap may tell of what is computed across records, and of fields that none of them has.
        has_more_to_say = first.provider.derive(query) or (first.fields and not query.operation.fields)
        self._most = 0 if has_more_to_say else min(first.limit, first.max_pages * first.provider.page_size)
        self._secrets = credentials.known_secrets(first.provider, runtime.environ, runtime.folder)
        self._options = envelope_options(first, self._secrets, resumes=True)
        self._items: dict[int, tuple[Record, dict[str, Any]]] = {}
        # What was held at the last instant, and the answer, if it had nothing to say but what any answer of it says.
        self._steady: tuple[HeldSlice, Items, tuple[Record, ...]] | None = None

    @property
    def provenance(self) -> envelope.Provenance:
        """What the answers have in common, as of the first instant."""
        return self._options.provenance or envelope.Provenance()

    def was_asked(self, pit: datetime) -> bool:
        """Return whether the archive holds what was answered as of an instant: a single fetch answers with that."""
        return self._archive.was_asked(pit, self._canonical(pit))

    def at(self, pit: datetime) -> SweptAnswer:
        """Return the answer as of an instant. Whatever is raised, a single fetch has to answer."""
        if self._steady is not None and (later := self._later(pit)) is not None:
            items, records = later
            return SweptAnswer(items, is_plain=True, write=partial(self._write, pit, items, records))
        request, query, wanted = self._question(pit)
        self._archive.move(request, query)
        answering = ArchiveAnswer(self._archive, wanted, self._runtime.clock)
        collected = CollectedRecords(Selection(), wanted.withheld, self._secrets, opened=True)
        with self._archive.at_one_moment():
            cautious = answering.with_caveats(collected, answering.uncaptured())
            collected = answering.recalled(cautious, None)
        records, only_caveats = collected.selection.records, collected.selection.gaps == cautious.selection.gaps
        if not records:
            collected = collected._replace(when_empty=when_empty(request, query))
        gaps = answer_gaps(request, collected, records)
        is_plain = bool(records) and not any(gap.is_lack for gap in gaps)
        items = self._shown(records, pit)
        is_steady = is_plain and only_caveats and self._has_no_window
        held = self._archive.held_at(pit) if is_steady else None
        self._steady = None if held is None else (held, items, tuple(records))
        return SweptAnswer(items, is_plain, partial(self._written, request, items, records, gaps))

    def _later(self, pit: datetime) -> tuple[Items, tuple[Record, ...]] | None:
        """Return the items and records as of an instant that has nothing else to say, either; None if it may have."""
        held = self._archive.held_at(pit) if pit <= self._runtime.clock.now() else None
        if held is None or self._steady is None:
            return None
        known, items, records = self._steady
        if held is not known:
            newest = self._request.newest
            parts = newest_periods(held.records, held.series, newest) if newest else held.records
            records = tuple(part for part in parts if isinstance(part, Record))
            if not 0 < len(records) <= self._most:
                return None
            items = self._shown(records, pit)
            self._steady = held, items, records
        return items, records

    def _question(self, pit: datetime) -> tuple[FetchRequest, Query, RecordFilter]:
        request = self._as_of(pit)
        query = build_query(request, self._runtime.clock.now())
        return request, query, RecordFilter(request, query, self._progress)

    def _canonical(self, pit: datetime) -> str:
        return f"{self._before}{format_value(pit)}{self._behind}"

    def _as_of(self, pit: datetime) -> FetchRequest:
        return self._request._replace(pit=pit, canonical=self._canonical(pit))

    def _write(self, pit: datetime, items: Items, records: tuple[Record, ...]) -> FetchResult:
        """Return the answer of these records, if all were captured, and nothing else is to be said."""
        request, _, wanted = self._question(pit)
        answering = ArchiveAnswer(self._archive, wanted, self._runtime.clock)
        collected = CollectedRecords(Selection(records), wanted.withheld, self._secrets, opened=True)
        gaps = answer_gaps(request, answering.with_caveats(collected, ()), records)
        return self._written(request, items, records, gaps)

    def _written(
        self, request: FetchRequest, items: Items, records: Sequence[Record], gaps: Sequence[Gap]
    ) -> FetchResult:
        query, pit = request.canonical, request.pit
        options = self._options._replace(
            query=query, pit=pit, provenance=self.provenance._replace(query=query, pit=pit)
        )
        shown = envelope.envelope_of(map(dict, items), gaps, options)  # an envelope is its reader's to change
        return FetchResult(shown, "", gaps=tuple(gaps), kept=tuple(records), public=tuple(records))

    def _shown(self, records: Sequence[Record], pit: datetime) -> list[dict[str, Any]]:
        """Return the items of records. Raise NotSwept if the gate refuses one."""
        known = self._items
        fresh = envelope.entries((record for record in records if id(record) not in known), self._options)
        if fresh:
            items = [entry.item for entry in fresh]
            judged = envelope.judge(as_json.render(envelope.PlainEnvelope(items)), pit)
            if judged is not None or any(envelope.is_quoting(item, pit) for item in items):
                raise NotSwept
            if len(known) > _MOST_ITEMS:
                known.clear()
                return self._shown(records, pit)
            known.update((id(entry.record), (entry.record, entry.item)) for entry in fresh)
        return [known[id(record)][1] for record in records]
