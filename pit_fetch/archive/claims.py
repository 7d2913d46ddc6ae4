"""The claims that an archive's captures hold, and which of them its own fetches do not refute.

What the archive received by the PIT is a proof, and takes the place of a claim. So no claim is served of an item that
it held by then, or that a complete fetch lacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.captured import completed
from pit_fetch.archive.rederive import records
from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.provider import Record


def captured(archived: Archived, stream: str) -> Iterator[Record]:
    """Yield the records of the whole captures of a stream, each item as the last capture that holds it has it.

    Raise Damaged.
    """
    seen: set[str] = set()
    for read, recorded in completed(archived, stream):
        if not recorded.is_whole_capture:
            continue
        made = list(records(recorded, list(journal.exchanges_of(archived.connection, read.key))))
        yield from (record for record in made if record.id not in seen)
        seen.update(record.id for record in made)


def unrefuted(archived: Archived, stream: str, claimed: Sequence[Record], at: int) -> list[Record]:
    """Return the records of which the archive knew nothing by ``at``, an instant in microseconds. Raise Damaged."""
    known = index.known_by(archived.connection, stream, [record.id for record in claimed], at)
    covers = archived.window_covers(stream)
    reads = [read for read in index.reads_of(archived.connection, stream) if read.shows_absence and read.seen <= at]

    def is_refuted(record: Record) -> bool:
        since = microseconds.to_micros(record.available_at) or microseconds.NEVER
        return any(read.seen >= since and covers(read.key, [record]) for read in reads)

    return [record for record in claimed if record.id not in known and not is_refuted(record)]
