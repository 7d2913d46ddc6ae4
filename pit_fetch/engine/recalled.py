"""Put the records of an archive in the order of an answer, and end them where the live read stopped. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING

from pit_fetch.gaps import REASONS, Gap, gap
from pit_fetch.pipeline.cursor import START, Position, place_among_ties, position, record_age
from pit_fetch.pipeline.select import Selection, in_order
from pit_fetch.provider import Record, Watermark

if TYPE_CHECKING:
    from pit_fetch.archive.session import ArchivedRecords

# A stream after the filter by the PIT.
PublicStream = Iterable[Record | Watermark | Gap]


def with_claims(stream: PublicStream, claimed: Sequence[Record]) -> PublicStream:
    """Return ordered records with those on claims, which are of other items, at their places."""
    records = (part for part in stream if isinstance(part, Record))
    return merge(records, (part for part in in_order(claimed) if isinstance(part, Record)), key=position)


def in_envelope_order(held: ArchivedRecords, stream: PublicStream) -> PublicStream:
    """Sort a snapshot's records, which come in the order of its reply.

    Those of the index come newest first, and those of one instant in no order.
    """
    if held.is_snapshot:
        return in_order(stream)
    records = (part for part in stream if isinstance(part, Record))
    return (record for _, ties in groupby(records, record_age) for record in sorted(ties, key=place_among_ties))


def stop_of(live: Selection) -> Position | None:
    """Return the last position that the live read reached; None if it came to its end."""
    if not (live.stopped or live.is_cut):
        return None
    return START if live.last is None else position(live.last)


def up_to(stream: Iterable[Record | Gap], stop: Position) -> Iterator[Record | Gap]:
    """Yield the parts of an answer, in its order, as far as ``stop``."""
    for part in stream:
        if isinstance(part, Record) and position(part) > stop:
            return
        yield part


def archived_variant(original: Gap) -> Gap:
    """Return the gap that replaces one about a snapshot, once the archive holds the item."""
    code = original.code.archived
    return gap(REASONS[code], **original.params) if code else original
