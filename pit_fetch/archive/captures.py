"""What the captures of an archive hold for a question: until when all that it asks for, and what they claim.

Until when depends on what the recorded requests asked for, never on what they brought, which would tell of what came
later. What the archive received by the PIT is a proof and takes the place of a claim, so no claim is served of an item
that it held by then, or that a complete fetch lacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import InterpretedFetch
from pit_fetch.archive.rederive import records
from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.provider import Option, Query, Record
from pit_fetch.request import coverage
from pit_fetch.request.operations import accepts_claims


def captured_until(
    archived: Archived, stream: str, question: Query, instant: datetime, options: tuple[Option, ...]
) -> datetime | None:
    """Return until when the fetches of a stream cover the question; None if from no time on. Raise Damaged."""
    requests = _requests(archived, stream, question, instant, options)
    return coverage.covered_until(requests, question, instant, options)


class CaptureSweep:
    """Until when the fetches of a stream cover a question without claims, as of one instant after another."""

    def __init__(
        self, archived: Archived, stream: str, question: Query, last: datetime, options: tuple[Option, ...]
    ) -> None:
        """``last`` is the last of the instants. Raise Damaged."""
        wanted = index.Wanted(instant=microseconds.to_micros(last), terms=_terms(question, options))
        made = ((read.seen, recorded) for read, recorded in _completed(archived, stream, wanted))
        counting = [(recorded.counts_from(seen, is_conclusive=True), seen, recorded.query) for seen, recorded in made]
        self._to_count = sorted(counting, key=lambda request: request[0], reverse=True)
        self._coverage = coverage.Coverage(question, options)

    def until(self, question: Query, instant: datetime) -> datetime | None:
        """Return until when the question is covered as of an instant that is no earlier than the one before."""
        return self.covered(coverage.time_asked(question, instant), microseconds.to_micros(instant))

    def covered(self, wanted: coverage.TimeSpan, at: int) -> datetime | None:
        """Return until when the wanted time is covered, by what counts ``at`` an instant in microseconds."""
        while self._to_count and self._to_count[-1][0] <= at:
            _, seen, request = self._to_count.pop()
            self._coverage.add(request, microseconds.from_micros(seen))
        return self._coverage.until(wanted)


def claimed_records(archived: Archived, stream: str) -> Iterator[Record]:
    """Yield the records of the whole captures of a stream, each item as the last capture that holds it has it.

    Raise Damaged.
    """
    seen: set[str] = set()
    for read, recorded in _completed(archived, stream):
        if recorded.is_whole_capture:
            made = list(records(recorded, list(journal.exchanges_of(archived.connection, read.key))))
            yield from (record for record in made if record.id not in seen)  # fetches come last first
            seen.update(record.id for record in made)


def unrefuted(archived: Archived, stream: str, claimed: Sequence[Record], at: int) -> list[Record]:
    """Return the records of which the archive knew nothing by ``at``, an instant in microseconds. Raise Damaged."""
    known = index.known_by(archived.connection, stream, [record.id for record in claimed], at)
    covers = archived.window_covers(stream)
    reads = [
        read for read in index.reads_of(archived.connection, stream, index.Wanted(seen_until=at)) if read.shows_absence
    ]

    def is_refuted(record: Record) -> bool:
        # Only a fetch after its claimed date could have seen it.
        since = microseconds.to_micros(record.available_at) or microseconds.NEVER
        return any(read.seen >= since and covers(read.key, [record]) for read in reads)

    return [record for record in claimed if record.id not in known and not is_refuted(record)]


def _requests(
    archived: Archived, stream: str, question: Query, instant: datetime, options: tuple[Option, ...]
) -> Iterator[tuple[Query, datetime]]:
    """Yield the requests that ran to their end and count at the instant, the newest first, each with its receipt.

    Those that could cover no part of the question are left out before they are interpreted.
    """
    span, at = coverage.time_asked(question, instant), microseconds.to_micros(instant)
    instant_counted = microseconds.ALWAYS if accepts_claims(question) else at
    wanted = index.Wanted(instant=instant_counted, terms=_terms(question, options))
    if question.operation.dating.by == "record":
        since, until = microseconds.to_micros(span.since), microseconds.to_micros(span.until)
        wanted = wanted._replace(asked_from=since, asked_until=until)
    for read, recorded in _completed(archived, stream, wanted):
        # One made after the instant counts on the condition of a claim of its reply: it depends on nothing later.
        counts_from = recorded.counts_from(read.seen, is_conclusive=True)
        answers_by_claims = accepts_claims(question) and recorded.is_whole_capture
        if answers_by_claims or counts_from <= at:
            yield recorded.query, microseconds.from_micros(read.seen)


def _terms(question: Query, options: tuple[Option, ...]) -> dict[str, frozenset[str] | None]:
    """Return the values that a question is narrowed to. One that asks for nothing is compared with every request."""
    return {name: values for name, values in coverage.terms(question, options).items() if question.options[name] != ()}


def _completed(
    archived: Archived, stream: str, wanted: index.Wanted = index.EVERY
) -> Iterator[tuple[index.FetchRow, InterpretedFetch]]:
    """Yield the fetches of a stream that ran to their end, and that the index has whole, the last one first."""
    for read in index.reads_of(archived.connection, stream, wanted):
        if read.is_ended and read.has_every_item:
            recorded = archived.interpret(read.key, stream)
            if recorded is not None:
                yield read, recorded
