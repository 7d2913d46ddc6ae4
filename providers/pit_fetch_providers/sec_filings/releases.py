"""A company's filings in the order of their release, newest first, each dated when it is its turn.

A company's list goes by filing dates. Most filings are released within a few days of theirs, so the order of releases
is settled without reading the whole list. What was released later than that is left out of this order, unless all
filings are dated first (``is_complete``): which of the two it is depends on the request alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.provider import Context, Query
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch_providers.edgar import release, submissions
from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.edgar.submissions import Row

# After its filing date: the longest closure, its morning, and a day for the zone of a submissions file.
SETTLED = timedelta(days=7)


class Release(NamedTuple):
    """A filing with the UTC instant from which it was public; None if that cannot be shown."""

    row: Row
    at: datetime | None


Wanted = Callable[[Row], bool]


def newest_first(
    query: Query, context: Context, cik: int, wanted: Wanted, is_complete: bool
) -> Iterator[Release | None]:
    """Yield the ``wanted`` filings of a company, and None for an unreadable row of its list. Raise UpstreamError.

    With a PIT, what was filed on a later day is left out: it cannot have been public. With --date-from, what was filed
    long before is not looked for.
    """
    last = _day(query.now if query.open_mode else query.horizon)
    rows = (row for row in submissions.newest_first(context, cik) if row is None or row.filed <= last)
    dated = _dating(query, context, cik)
    since = None if query.open_mode or is_complete else query.since
    waiting: list[tuple[float, str, int, Release]] = []
    for place, row in enumerate(rows):
        if row is None:
            yield None
            continue
        bound = _settled(row.filed)
        if since is not None and bound is not None and bound < since:
            break
        while waiting and not is_complete and bound is not None and -waiting[0][0] > bound.timestamp():
            yield heapq.heappop(waiting)[-1]
        if wanted(row):
            at = dated(row)
            if at is None or bound is None or (at > bound and not is_complete):
                yield Release(row, None)
            else:
                heapq.heappush(waiting, (-at.timestamp(), row.accession, place, Release(row, at)))
    while waiting:
        yield heapq.heappop(waiting)[-1]


def is_public(query: Query, at: datetime | None) -> bool:
    """Return whether a filing released at ``at`` may be read: without a PIT, any."""
    return query.open_mode or (at is not None and at <= query.horizon)


def _dating(query: Query, context: Context, cik: int) -> Callable[[Row], datetime | None]:
    """Return how a row is dated: by its own words, with the filing's header where it is needed, or by its files."""
    if query.open_mode and not query.options["exact"]:
        return lambda row: release.bound(_listed(row), row.submitted)
    archive = Archive(context, query.started)

    def by_files(row: Row) -> datetime | None:
        dated = release.by_files(row.accession, cik, archive, query.now, exact=True)
        return None if dated is None else dated[1]

    def by_row(row: Row) -> datetime | None:
        # By the PIT, and not by a cursor or a date: they must not change an instant.
        return release.by_row(_listed(row), row.submitted, cik, archive, query.now)

    if not query.options["exact"]:
        return by_row
    archive.check_host()  # whatever was filed
    return by_files


def _settled(filed: date) -> datetime | None:
    """Return the UTC instant by which what has this filing date, or an earlier one, is released as a rule."""
    try:
        return end_of_day(filed + SETTLED, NEW_YORK)
    except OverflowError:
        return None


def _listed(row: Row) -> ListedFiling:
    return ListedFiling(row.accession, row.form, row.filed)


def _day(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()
