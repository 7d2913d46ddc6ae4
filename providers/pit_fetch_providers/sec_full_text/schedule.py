"""Date the filings of a search day by day, newest first, so that a deadline loses as little as possible.

A day is dated as a whole or not at all: a deadline in the middle must not leave a part that looks complete. What is
read must not depend on filings that turn out to be withheld, except for the time it takes. So only public filings are
counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from pit_fetch.provider import Gap, Record, UpstreamError, Watermark
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch_providers.edgar.daily_index import Listed
from pit_fetch_providers.sec_full_text.evidence import Evidence
from pit_fetch_providers.sec_full_text.filings import Filing

# The headers of the PIT's own day wait until this many public filings of earlier days are found.
MOST_AHEAD = 100

Recorder = Callable[[Filing | None, Listed | None], Record | None]


class Day(NamedTuple):
    """All filings with one filing date; None for each unreadable hit."""

    filed_on: date
    filings: list[Filing | None]


def newest_first(
    slices: Iterable[list[Day] | Gap], evidence: Evidence, record: Recorder, limit: int
) -> Iterator[Record | Gap | Watermark]:
    """Yield the records of a search, with a watermark after each day if it ends when it has enough.

    The headers of the PIT's own day, most of which may show a later time, are read after up to ``limit`` public
    filings of earlier days.
    """
    waiting: list[Day] = []
    ahead, errors = 0, list[UpstreamError]()
    for days in _collect_failure(slices, errors):
        if isinstance(days, Gap):
            yield days
            continue
        for day in days:
            if day.filed_on >= evidence.today and not evidence.open_mode:
                waiting.append(day)
                continue
            records = _records(day, evidence.listed(day.filed_on, day.filings), record)
            yield from records
            ahead += _count_dated(records)
            if not waiting or ahead >= min(limit, MOST_AHEAD):
                yield from _header_records(waiting, record)
                waiting.clear()
                bound = end_of_day(day.filed_on - timedelta(days=1), NEW_YORK)
                if bound is not None and evidence.ordered:
                    yield Watermark(bound)
    yield from _header_records(waiting, record)
    if errors:
        raise errors[0]


def _records(day: Day, listed: Listed | None, record: Recorder) -> list[Record]:
    # As a list: a deadline between two of them must not leave a part of the day.
    made = (record(filing, listed) for filing in day.filings)
    return [known for known in made if known is not None]


def _count_dated(records: Iterable[Record]) -> int:
    # The PIT has left their day behind, so all that have an instant were public.
    return sum(record.available_at is not None for record in records)


def _header_records(waiting: Iterable[Day], record: Recorder) -> Iterator[Record]:
    for day in waiting:
        yield from _records(day, None, record)


def _collect_failure(slices: Iterable[list[Day] | Gap], errors: list[UpstreamError]) -> Iterator[list[Day] | Gap]:
    # The error waits until the days before it are dated.
    try:
        yield from slices
    except UpstreamError as error:
        errors.append(error)
