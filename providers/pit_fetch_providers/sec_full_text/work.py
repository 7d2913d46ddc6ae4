"""The order in which the days of a search are dated, so that a deadline loses as little as possible.

A day is dated as a whole or not at all: a deadline in the middle must not leave a part that looks
complete. What is read must not depend on filings that turn out to be withheld, except for the time it
takes; so only public filings are counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from operator import itemgetter
from typing import NamedTuple

from pit_fetch.provider import Gap, Record, UpstreamError, Watermark
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch_providers.sec_full_text.evidence import Evidence
from pit_fetch_providers.sec_full_text.filings import Filing

# The headers of the PIT's own day wait until this many public filings of earlier days are found; in a search whose
# order is known only at the end, a day that needs more headers than this is read last.
MOST_AHEAD = 100

Filed = list[Filing | None]
Recorder = Callable[[Filing | None, frozenset[str] | None], Record]


class Day(NamedTuple):
    """All filings with one filing date; None for each unreadable hit."""

    day: date
    filed: Filed


def whole(slices: Iterable[list[Day] | Gap], evidence: Evidence, record: Recorder) -> Iterator[Record | Gap]:
    """Every day of a search whose order is known only at the end, those that need the fewest headers first.

    A day that needs very many of them waits for all other slices: most of its filings may be withheld.
    """
    crowded: list[tuple[Day, frozenset[str] | None]] = []
    trouble = list[UpstreamError]()
    for days in _until_it_fails(slices, trouble):
        if isinstance(days, Gap):
            yield days
            continue
        waiting: list[tuple[int, Day, frozenset[str] | None]] = []
        for filing in days:
            listed = evidence.listed(filing.day, filing.filed)
            headers = sum(evidence.needs_header(filing, listed) for filing in filing.filed)
            if headers > MOST_AHEAD:
                crowded.append((filing, listed))
            elif headers:
                waiting.append((headers, filing, listed))
            else:
                yield from [record(filing, listed) for filing in filing.filed]
        for _, filing, listed in sorted(waiting, key=itemgetter(0)):
            yield from [record(filing, listed) for filing in filing.filed]
    for filing, listed in crowded:
        yield from [record(filing, listed) for filing in filing.filed]
    if trouble:
        raise trouble[0]


def newest_first(
    slices: Iterable[list[Day] | Gap], evidence: Evidence, record: Recorder, limit: int
) -> Iterator[Record | Gap | Watermark]:
    """The days of a search that ends when it has enough, with a watermark after each.

    The headers of the PIT's own day, most of which may show a later time, are read after up to
    ``limit`` public filings of earlier days.
    """
    waiting: list[Day] = []
    ahead, trouble = 0, list[UpstreamError]()
    for days in _until_it_fails(slices, trouble):
        if isinstance(days, Gap):
            yield days
            continue
        for filing in days:
            if filing.day >= evidence.today and not evidence.open_mode:
                waiting.append(filing)
                continue
            listed = evidence.listed(filing.day, filing.filed)
            found = [record(filing, listed) for filing in filing.filed]
            yield from found
            ahead += _count_dated(found)
            if not waiting or ahead >= min(limit, MOST_AHEAD):
                yield from _dated(waiting, record)
                waiting.clear()
                bound = end_of_day(filing.day - timedelta(days=1), NEW_YORK)
                if bound is not None:
                    yield Watermark(bound)
    yield from _dated(waiting, record)
    if trouble:
        raise trouble[0]


def _count_dated(found: Iterable[Record]) -> int:
    """How many filings were public, of days that the PIT has left behind: what has no instant is withheld."""
    return sum(made.available_at is not None for made in found)


def _dated(waiting: Iterable[Day], record: Recorder) -> Iterator[Record]:
    for filing in waiting:
        yield from [record(filing, None) for filing in filing.filed]


def _until_it_fails(slices: Iterable[list[Day] | Gap], trouble: list[UpstreamError]) -> Iterator[list[Day] | Gap]:
    try:
        yield from slices
    except UpstreamError as error:
        trouble.append(error)
