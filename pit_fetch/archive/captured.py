"""Until when an archive holds all that a question asks for, as of an instant.

That depends on what the recorded requests asked for, and not on what they brought, which would tell of what came later.
A request that was made after the instant counts under the same condition as a claim of its reply: that it depends on
nothing after the instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import InterpretedFetch
from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.provider import Option, Query
from pit_fetch.request import coverage
from pit_fetch.request.operations import accepts_claims


def completed(archived: Archived, stream: str) -> Iterator[tuple[index.Read, InterpretedFetch]]:
    """Yield the fetches of a stream that ran to their end, and that the index has whole, the last one first.

    Raise Damaged.
    """
    for read in index.reads_of(archived.connection, stream):
        recorded, ended = archived.interpreted(read.key, stream), journal.ended(archived.connection, read.key)
        if recorded is not None and ended is not None and ended.complete and read.has_every_item:
            yield read, recorded


def captured_until(
    archived: Archived, stream: str, question: Query, instant: datetime, options: tuple[Option, ...]
) -> datetime | None:
    """Return until when the fetches of a stream cover the question; None if from no time on. Raise Damaged."""
    return coverage.covered_until(_requests(archived, stream, question, instant), question, instant, options)


def _requests(archived: Archived, stream: str, question: Query, instant: datetime) -> Iterator[tuple[Query, datetime]]:
    """Yield the requests that ran to their end and count at the instant, the newest first, each with its receipt."""
    for read, recorded in completed(archived, stream):
        counts_from = recorded.counts_from(read.seen, is_conclusive=True)
        answers_by_claims = accepts_claims(question) and recorded.is_whole_capture
        if answers_by_claims or counts_from <= microseconds.to_micros(instant):
            yield recorded.query, microseconds.from_micros(read.seen)
