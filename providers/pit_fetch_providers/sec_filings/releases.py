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

from pit_fetch.provider import Context, Query
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


Wanted = Callable[[Row], bool]


def is_settled(query: Query) -> bool:
    """Return whether filings released long after their filing date are left out: unless such a form is asked for."""
    named = [
        form for form in (*(query.options["forms"] or ()), query.options["form"] or "") if form[:1] not in ("", "-")
    ]
    return not named or forms.all_ordinary(named)


def newest_first(query: Query, context: Context, cik: int, wanted: Wanted) -> Iterator[Release | LeftOut | None]:
    """Yield the ``wanted`` filings of a company, and None for an unreadable row of its list. Raise UpstreamError.

    With a PIT, what was filed on a later day is left out: it cannot have been public.
    """
    last = _day(query.now if query.open_mode else query.horizon)
    dated, waiting = _dating(query, context, cik), _Waiting(is_settled(query))
    for row in submissions.newest_first(context, cik):
        if row is None:
            yield None
        elif row.filed <= last:
            bound = _settled(row.filed)
            if _is_past(query, bound):
                break
            yield from waiting.settled(bound)
            if wanted(row):
                at = dated(row)
                if not waiting.take(row, at, bound):
                    yield Release(row, None) if at is None or query.open_mode else LeftOut(row)
    yield from waiting.rest()


def public(query: Query, context: Context, cik: int, wanted: Wanted) -> Iterator[Release]:
    """Yield those of :func:`newest_first` that may be read."""
    for made in newest_first(query, context, cik, wanted):
        if isinstance(made, Release) and is_public(query, made.at):
            yield made


class _Waiting:
    """Releases whose place in the order is open, because a filing of an earlier date may have been released later."""

    def __init__(self, is_ordered: bool) -> None:
        self.is_ordered = is_ordered
        self.heap: list[tuple[float, str, int, Release]] = []
        self.taken = 0

    def take(self, row: Row, at: datetime | None, bound: datetime | None) -> bool:
        """Take a filing if it is dated, and in time for its place. Return whether it was taken."""
        if at is None or (self.is_ordered and (bound is None or at > bound)):
            return False
        self.taken += 1
        heapq.heappush(self.heap, (-at.timestamp(), row.accession, self.taken, Release(row, at)))
        return True

    def settled(self, bound: datetime | None) -> Iterator[Release]:
        """Yield the filings released after ``bound``. All that come later were released before it."""
        while self.is_ordered and bound is not None and self.heap and -self.heap[0][0] > bound.timestamp():
            yield heapq.heappop(self.heap)[-1]

    def rest(self) -> Iterator[Release]:
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


def _dating(query: Query, context: Context, cik: int) -> Callable[[Row], datetime | None]:
    """Return how a row is dated: by its own columns, with the filing's header if needed, or by its files."""
    if query.open_mode and not query.options["exact"]:
        return lambda row: release.bound(listed(row), row.submitted)
    archive = answering_archive(query, context)

    def by_files(row: Row) -> datetime | None:
        dated = release.by_files(row.accession, cik, archive, query.now, exact=True)
        return None if dated is None else dated[1]

    def by_row(row: Row) -> datetime | None:
        # By the PIT, and not by a cursor or a date: they must not change an instant.
        return release.by_row(listed(row), row.submitted, cik, archive, query.now, for_any_instant=query.capture)

    return by_files if query.options["exact"] else by_row


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
