"""Sort a company's filings by their release, the newest first, and date each only when its turn comes.

A company's list is sorted by filing date. Most filings are released within a few days after it, so their order is known
without reading the whole list, and a filing that was released later is left out. Letters and drafts are usually
released much later: if the request asks for such a form, all filings are dated first.
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
from pit_fetch_providers.shared import new_york_day

# From its filing date to its release: the longest closure of the SEC, its opening, and a day for the time zone of the
# list. In 85,618 rows of ordinary forms, of which 29 were accepted after their filing date, none took longer.
SETTLED = timedelta(days=7)


class DatedRow(NamedTuple):
    """A filing with the UTC instant from which it was public; None if that cannot be proved."""

    row: Row
    at: datetime | None


class LeftOut(NamedTuple):
    """A filing that was released too late for its place in the order."""

    row: Row


class _Place(NamedTuple):
    """The instant by which a filing is sorted, and the error to raise there if it was public and cannot be dated."""

    at: datetime | None
    failure: UpstreamError | None = None


Wanted = Callable[[Row], bool]
# Returns the first day whose filings can matter beside a filing; for None, beside any filing.
First = Callable[[Row | None], date]


def _any_day(row: Row | None) -> date:
    return date.min


def is_settled(query: Query) -> bool:
    """Return whether filings that were released long after their filing date are left out."""
    named = [
        form for form in (*(query.options["forms"] or ()), query.options["form"] or "") if form[:1] not in ("", "-")
    ]
    return not named or forms.all_ordinary(named)


def newest_first(
    query: Query, context: Context, cik: int, wanted: Wanted, first: First = _any_day
) -> Iterator[DatedRow | LeftOut | None]:
    """Yield the ``wanted`` filings of a company, and None for an unreadable row of its list. Raise UpstreamError.

    ``first`` returns the day before which no filing matters beside one that was public. With a PIT, what was filed on a
    later day is left out, since it cannot have been public. A filing that was public and cannot be dated raises its
    error where it belongs in the order.
    """
    last = new_york_day(query.now if query.open_mode else query.horizon)
    dated, waiting, earliest = dating_rule(query, context, cik), _Waiting(is_settled(query)), first(None)
    every = submissions.newest_first(context, cik, last, lambda: earliest)
    for row in every:
        if row is None:
            yield None
        elif row.filed < earliest:
            break
        elif row.filed <= last:
            bound = _settled_by(row.filed)
            if _is_past(query, bound):
                break
            yield from map(_release_or_raise, waiting.settled(bound))
            if wanted(row):
                place = dated(row)
                if place is None:
                    continue
                if waiting.take(row, place, bound):
                    earliest = first_day_that_matters(query, place.at, earliest, first(row))
                else:
                    yield DatedRow(row, None) if place.at is None or query.open_mode else LeftOut(row)
    yield from map(_release_or_raise, waiting.rest())


def first_day_that_matters(query: Query, at: datetime | None, earliest: date, first: date) -> date:
    """Return the first day that matters. Only a filing that was public may decide what else is read."""
    return max(earliest, first) if is_public(query, at) else earliest


def public_releases(
    query: Query, context: Context, cik: int, wanted: Wanted, first: First = _any_day
) -> Iterator[DatedRow]:
    """Yield the filings of :func:`newest_first` that may be read."""
    for made in newest_first(query, context, cik, wanted, first):
        if isinstance(made, DatedRow) and is_public(query, made.at):
            yield made


class _Waiting:
    """A queue of releases. Filings of an earlier date may still belong before them."""

    def __init__(self, is_ordered: bool) -> None:
        self.is_ordered = is_ordered
        self.heap: list[tuple[float, str, int, DatedRow | UpstreamError]] = []
        self.taken = 0

    def take(self, row: Row, place: _Place, bound: datetime | None) -> bool:
        """Queue a filing, unless it is undated or was released after ``bound``. Return whether it was queued."""
        at = place.at
        if at is None or (self.is_ordered and (bound is None or at > bound)):
            return False
        self.taken += 1
        heapq.heappush(self.heap, (-at.timestamp(), row.accession, self.taken, place.failure or DatedRow(row, at)))
        return True

    def settled(self, bound: datetime | None) -> Iterator[DatedRow | UpstreamError]:
        """Yield the filings released after ``bound``: all that follow in the list were released before it."""
        while self.is_ordered and bound is not None and self.heap and -self.heap[0][0] > bound.timestamp():
            yield heapq.heappop(self.heap)[-1]

    def rest(self) -> Iterator[DatedRow | UpstreamError]:
        while self.heap:
            yield heapq.heappop(self.heap)[-1]


def _is_past(query: Query, bound: datetime | None) -> bool:
    """Return whether all filings that follow in the list were released before --date-from."""
    if query.open_mode or not is_settled(query) or query.since is None:
        return False
    return bound is not None and bound < query.since


def is_public(query: Query, at: datetime | None) -> bool:
    """Return whether a filing released at ``at`` may be read. Without a PIT, any may."""
    return query.open_mode or (at is not None and at <= query.horizon)


def dating_rule(query: Query, context: Context, cik: int) -> Callable[[Row], _Place | None]:
    """Return the function that dates a row: by its columns, with the filing's header if needed, or by its files.

    It returns None for a filing that was released after the PIT, however its row is read.
    """
    if query.open_mode and not query.options["exact"]:
        return lambda row: _Place(release.bound(filing_in(row), row.submitted))
    archive = answering_archive(query, context)

    def date_by_files(row: Row) -> _Place:
        dated = release.date_by_files(row.accession, cik, archive, query.now, exact=True)
        if dated is None:
            return undated(row, release.undoubted_by_row(filing_in(row), row.submitted))
        # A header counts for more than the row: it may show a later release.
        return undated(row, dated.undoubted) if dated.at is None else _Place(dated.at)

    def date_by_row(row: Row) -> _Place | None:
        filing = filing_in(row)
        reading = release.reading_of(filing, row.submitted)
        if release.is_to_come(reading, query.now):
            return None
        # A cursor or a date of the request must not change the instant, so it depends on the PIT alone.
        at = release.date_by_row(filing, reading, cik, archive, query.now, for_any_instant=query.capture)
        return _Place(at) if at is not None else undated(row, release.undoubted_by_row(filing, row.submitted))

    def undated(row: Row, undoubted: datetime | None) -> _Place:
        failure = release.missed(query, archive, row.accession, undoubted)
        if undoubted is None or failure is None:
            return _Place(None)
        # A day without a time is in doubt by years: sort it as if it had been released within a week.
        return _Place(min(undoubted, _settled_by(row.filed) or undoubted), failure)

    return date_by_files if query.options["exact"] else date_by_row


def _release_or_raise(release: DatedRow | UpstreamError) -> DatedRow:
    if isinstance(release, UpstreamError):
        raise release
    return release


def _settled_by(filed: date) -> datetime | None:
    """Return the UTC instant by which filings of this date are released; None past the end of the calendar."""
    try:
        return end_of_day(filed + SETTLED, NEW_YORK)
    except OverflowError:
        return None


def filing_in(row: Row) -> ListedFiling:
    """Return the filing in a row of the list."""
    return ListedFiling(row.accession, row.form, row.filed)
