"""The answers of one archive to one question, as of one instant after another, as single fetches would give them.

A single fetch is written up by the same functions, from what is read for its instant alone. What differs here is below
them: :class:`pit_fetch.archive.sweep.ArchiveSweep` reads each version once, and an item is made, and judged by the
gate, when it is first public. A stamp that is not later than one instant is not later than any that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.sweep import ArchiveSweep, NotSwept
from pit_fetch.engine import audit, credentials
from pit_fetch.engine.fetch import archive_of, when_empty
from pit_fetch.engine.from_archive import ArchiveAnswer
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.record_filter import RecordFilter
from pit_fetch.engine.report import CollectedRecords, FetchResult, answer_gaps, envelope_options
from pit_fetch.formats import json as as_json
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.select import Selection
from pit_fetch.provider import Record
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import accepts_claims
from pit_fetch.request.query import build_query
from pit_fetch.request.values import format_value
from pit_fetch.runtime import Runtime

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
        self._secrets = credentials.known_secrets(first.provider, runtime.environ, runtime.folder)
        self._options = envelope_options(first, self._secrets, resumes=True)
        self._items: dict[int, tuple[Record, dict[str, Any]]] = {}

    def at(self, pit: datetime) -> FetchResult:
        """Return the answer as of an instant, without its text. Whatever is raised, a single fetch has to answer."""
        request = self._as_of(pit)
        query = build_query(request, self._runtime.clock.now())
        self._archive.move(request, query)
        wanted = RecordFilter(request, query, self._progress)
        collected = CollectedRecords(Selection(), wanted.withheld, self._secrets, opened=True)
        collected = ArchiveAnswer(self._archive, wanted, self._runtime.clock).alone(collected)
        records = collected.selection.records
        if not records:
            collected = collected._replace(when_empty=when_empty(request, query))
        gaps = answer_gaps(request, collected, records)
        provenance = self._options.provenance and self._options.provenance._replace(query=request.canonical, pit=pit)
        options = self._options._replace(query=request.canonical, pit=pit, provenance=provenance)
        shown = envelope.envelope_of(self._shown(records, options), gaps, options)
        return FetchResult(shown, "", gaps=tuple(gaps), kept=records, public=records)

    def _as_of(self, pit: datetime) -> FetchRequest:
        return self._request._replace(pit=pit, canonical=f"{self._before}{format_value(pit)}{self._behind}")

    def _shown(self, records: Sequence[Record], options: envelope.EnvelopeOptions) -> list[dict[str, Any]]:
        """Return the items of records. Raise NotSwept if the gate refuses one."""
        known = self._items
        fresh = envelope.entries((record for record in records if id(record) not in known), options)
        if fresh:
            items = [entry.item for entry in fresh]
            judged = envelope.judge(as_json.render(envelope.PlainEnvelope(items)), options.pit)
            if judged is not None or any(envelope.is_quoting(item, options.pit) for item in items):
                raise NotSwept
            if len(known) > _MOST_ITEMS:
                known.clear()
                return self._shown(records, options)
            known.update((id(entry.record), (entry.record, entry.item)) for entry in fresh)
        return [known[id(record)][1] for record in records]
