"""The records that an archive adds to an explanation, beside those that the source sends. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pit_fetch.gaps import REASONS, Gap
from pit_fetch.inspect.diff import ComparableAnswer
from pit_fetch.provider import Record

# Why a fetch does not show a record, although its stamps may be good: another version in the archive replaces it, or
# the archive never saw it. "": neither.
Why = Literal["", "replaced", "unseen"]


def with_archived_variants(gaps: list[Gap], archived: Iterable[Gap]) -> list[Gap]:
    """Return ``gaps``, with an archive's gaps about a snapshot in place of those that a source alone would have."""
    codes = {gap.code for gap in archived}
    kept = [gap for gap in gaps if gap.code.archived not in codes]
    variants = {code.archived for code in REASONS.values()} - {""}
    return [*kept, *(gap for gap in archived if gap.code in variants and gap not in kept)]


def merge(
    live: Iterable[Record], served: ComparableAnswer, later: Iterable[Record], derives: bool = False
) -> list[tuple[Record, Why]]:
    """Return the records that a source sends now and those that an archive holds, as one list.

    ``served`` is the answer of a fetch at the PIT; ``later`` are records known beyond the PIT. Each record comes with
    the reason why a fetch does not show it. ``derives``: payloads hold values computed across records, so that
    they cannot be compared.
    """

    def version(record: Record) -> tuple[object, ...]:
        return record.id, record.available_at, record.revised_at, "" if derives else str(record.payload)

    merged: list[tuple[Record, Why]] = []
    for record in live:
        archived = served.records.get(record.id)
        if archived is None:
            merged.append((record, "unseen" if served.covers(record) else ""))
        elif version(archived) == version(record):
            merged.append((record, ""))
        elif archived.payload != record.payload:
            merged.append((record, "replaced"))
    versions = {version(record) for record, _ in merged}
    for record in (*served.records.values(), *later):
        if version(record) not in versions:
            versions.add(version(record))
            merged.append((record, "" if served.records.get(record.id) is record else "unseen"))
    return merged
