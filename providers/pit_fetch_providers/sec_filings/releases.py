"""A company's filings in the order of their release, newest first, each dated when it is its turn.

A company's list goes by filing dates. Most filings are released within a few days of theirs, so the order of releases
is settled without reading the whole list. A filing that was released later is left out. Some forms are usually released
later: if one of them is asked for, all filings are dated first. Only the request decides which way is taken.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.provider import Context, Query, UpstreamError
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch_providers.edgar import forms, release, submissions
from pit_fetch_providers.edgar.archive import answering_archive
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.edgar.submissions import Row

# After its filing date: the longest closure, its morning, and a day for the zone of a submissions file.
SETTLED = timedelta(days=7)


class Release(NamedTuple):
    """A filing with the UTC instant from which it was public; None if that cannot be shown."""

    row: Row
    at: datetime | None


class LeftOut(NamedTuple):
    """A filing that was released too late for its place in the order."""

    row: Row


class _Place(NamedTuple):
    """Where a filing stands in the order, and why it cannot be dated, of one that is missed."""

    at: datetime | None
    failure: UpstreamError | None = None


Wanted = Callable[[Row], bool]
# Returns the first day whose filings can matter beside a filing; of None, beside whatever there is.
First = Callable[[Row | None], date]


def _whenever(row: Row | None) -> date:
    return date.min


def is_settled(query: Query) -> bool:
    """Return whether filings released long after their filing date are left out: unless such a form is asked for."""
    named = [
        form for form in (*(query.options["forms"] or ()), query.options["form"] or "") if form[:1] not in ("", "-")
    ]
    return not named or forms.all_ordinary(named)


def newest_first(
    query: Query, context: Context, cik: int, wanted: Wanted, first: First = _whenever
) -> Iterator[Release | LeftOut | None]:
    """Yield the ``wanted`` filings of a company, and None for an unreadable row of its list. Raise UpstreamError.

    What was filed before the ``first`` day of one that was public is not looked at. With a PIT, what was filed on a
    later day is left out: it cannot have been public. One that was public and cannot be dated is an error in its place,
    behind which nothing comes.
    """
    last = _day(query.now if query.open_mode else query.horizon)
    dated, waiting, earliest = _dating(query, context, cik), _Waiting(is_settled(query)), first(None)
    every = submissions.newest_first(context, cik, last, lambda: earliest)
    for row in every:
        if row is None:
            yield None
        elif row.filed < earliest:
            break
        elif row.filed <= last:
            bound = _settled(row.filed)
            if _is_past(query, bound):
                break
            yield from map(_had, waiting.settled(bound))
            if wanted(row):
                place = dated(row)
                if place is None:
                    continue
                if waiting.take(row, place, bound):
                    earliest = _since(query, place.at, earliest, first(row))
                else:
                    yield Release(row, None) if place.at is None or query.open_mode else LeftOut(row)
    yield from map(_had, waiting.rest())


def _since(query: Query, at: datetime | None, earliest: date, first: date) -> date:
    """Return the first day that matters, by what was public alone: no other filing may decide what is read."""
    return max(earliest, first) if is_public(query, at) else earliest


def public(query: Query, context: Context, cik: int, wanted: Wanted, first: First = _whenever) -> Iterator[Release]:
    """Yield those of :func:`newest_first` that may be read."""
    for made in newest_first(query, context, cik, wanted, first):
        if isinstance(made, Release) and is_public(query, made.at):
            yield made


class _Waiting:
    """Releases whose place in the order is open, because a filing of an earlier date may have been released later."""

    def __init__(self, is_ordered: bool) -> None:
        self.is_ordered = is_ordered
        self.heap: list[tuple[float, str, int, Release | UpstreamError]] = []
        self.taken = 0

    def take(self, row: Row, place: _Place, bound: datetime | None) -> bool:
        """Take a filing if it has a place, and is in time for it. Return whether it was taken."""
        at = place.at
        if at is None or (self.is_ordered and (bound is None or at > bound)):
            return False
        self.taken += 1
        heapq.heappush(self.heap, (-at.timestamp(), row.accession, self.taken, place.failure or Release(row, at)))
        return True

    def settled(self, bound: datetime | None) -> Iterator[Release | UpstreamError]:
        """Yield the filings released after ``bound``. All that come later were released before it."""
        while self.is_ordered and bound is not None and self.heap and -self.heap[0][0] > bound.timestamp():
            yield heapq.heappop(self.heap)[-1]

    def rest(self) -> Iterator[Release | UpstreamError]:
        while self.heap:
            yield heapq.heappop(self.heap)[-1]


def _is_past(query: Query, bound: datetime | None) -> bool:
    """Return whether all filings that come later were released before --date-from."""
    if query.open_mode or not is_settled(query) or query.since is None:
        return False
    return bound is not None and bound < query.since


def is_public(query: Query, at: datetime | None) -> bool:
    """Return whether a filing released at ``at`` may be read: without a PIT, any."""
    return query.open_mode or (at is not None and at <= query.horizon)


def _dating(query: Query, context: Context, cik: int) -> Callable[[Row], _Place | None]:
    """Return how a row is dated: by its own columns, with the filing's header if needed, or by its files.

    A filing that was released after the PIT, however its row is read, has no place.
    """
    if query.open_mode and not query.options["exact"]:
        return lambda row: _Place(release.bound(listed(row), row.submitted))
    archive = answering_archive(query, context)

    def by_files(row: Row) -> _Place:
        dated = release.by_files(row.accession, cik, archive, query.now, exact=True)
        if dated is None:
            return undated(row, release.undoubted_by_row(listed(row), row.submitted))
        # A header counts for more than the row, of which it may show a later release.
        return undated(row, dated.undoubted) if dated.at is None else _Place(dated.at)

    def by_row(row: Row) -> _Place | None:
        filing = listed(row)
        reading = release.reading_of(filing, row.submitted)
        if release.is_to_come(reading, query.now):
            return None
        # By the PIT, and not by a cursor or a date: they must not change an instant.
        at = release.by_row(filing, reading, cik, archive, query.now, for_any_instant=query.capture)
        return _Place(at) if at is not None else undated(row, release.undoubted_by_row(filing, row.submitted))

    def undated(row: Row, undoubted: datetime | None) -> _Place:
        failure = release.missed(query, archive, row.accession, undoubted)
        if undoubted is None or failure is None:
            return _Place(None)
        # Not before what was released a week after it: the doubt about a day is one of years.
        return _Place(min(undoubted, _settled(row.filed) or undoubted), failure)

    return by_files if query.options["exact"] else by_row


def _had(release: Release | UpstreamError) -> Release:
    if isinstance(release, UpstreamError):
        raise release
    return release


def _settled(filed: date) -> datetime | None:
    """Return the UTC instant by which filings of this date and of earlier ones are usually released."""
    try:
        return end_of_day(filed + SETTLED, NEW_YORK)
    except OverflowError:
        return None


def listed(row: Row) -> ListedFiling:
    """Return the filing of a row, with the columns that date it."""
    return ListedFiling(row.accession, row.form, row.filed)


def _day(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()
