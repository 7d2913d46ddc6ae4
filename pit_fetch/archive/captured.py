"""Until when an archive holds all that a question asks for, as of an instant.

What the recorded requests asked for decides, and not what they brought: that would tell of what came later. A request
that was made after the instant counts if it depends on nothing after it, as its claims do.
"""

from __future__ import annotations

from datetime import datetime

from pit_fetch.archive.rederive import Archived
from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.provider import Query
from pit_fetch.request import coverage
from pit_fetch.request.coverage import Reach


def captured_until(archived: Archived, stream: str, question: Query, instant: datetime) -> datetime | None:
    """Return until when requests of the stream that ran to their end cover the question; None if from no time on.

    Of snapshots, the latest one is the answer, however old it is. Raise Damaged.
    """
    wanted, parts = coverage.reach(question, instant), list[Reach]()
    for read in index.reads_of(archived.connection, stream):
        part = _part(archived, read, question, instant)
        if part is not None:
            parts.append(wanted if question.operation.dating != "record" else part)
            if coverage.reached(parts[-1:], wanted) == wanted.until:
                return wanted.until
    return coverage.reached(parts, wanted)


def _part(archived: Archived, read: index.Read, question: Query, instant: datetime) -> Reach | None:
    """Return the time for which a fetch covers the question, or None."""
    recorded, ended = archived.recorded(read.key), journal.ended(archived.connection, read.key)
    if recorded is None or ended is None or not ended.complete:
        return None
    if recorded.counts_from(read.seen, is_whole=True) > (microseconds.to_micros(instant) or 0):
        return None
    if any(coverage.unasked(recorded.query, question, recorded.request.provider.options)):
        return None
    return coverage.reach(recorded.query, microseconds.from_micros(read.seen))
