"""From a request to the :class:`~pit_fetch.provider.Query` that its provider sees. Pure.

>>> str(clamp(datetime(1, 1, 1, tzinfo=UTC)))
'0100-01-01 00:00:00+00:00'
"""

from __future__ import annotations

from datetime import UTC, datetime

from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.provider import Query
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest
from pit_fetch.request.operations import compares_publication, resolve_operation

# A provider adds and subtracts days and years: that must not lead out of the calendar.
_FIRST, _LAST = datetime(100, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def build_query(request: FetchRequest, started: datetime) -> Query:
    """Return the query of ``request`` for a fetch that starts at ``started`` (UTC). Raise ConfigError."""
    pit = clamp(request.pit)
    now = pit or started
    query = Query(
        now=now,
        started=started,
        pit=pit,
        since=clamp(request.since),
        until=clamp(request.until),
        horizon=now,
        limit=UNLIMITED if request.newest else request.limit,  # the choice is among all of them
        options=request.options,
        offline=request.input_file is not None,
        capture=request.capture,
        accepts_claims=request.evidence == CLAIMED,
    )
    query = resolve_operation(request.provider, query)
    return query._replace(horizon=_horizon(request, query))


def _horizon(request: FetchRequest, query: Query) -> datetime:
    """Return the instant after which no record can be wanted."""
    # A stage that computes across records and the choice among versions, or periods, need all records.
    if query.operation.archiving.versions or request.newest or request.provider.derive(query):
        return query.now
    # --date-to narrows it only where it compares what the records are ordered by, or where the provider applies it:
    # what was published late may carry an early date of another kind.
    until = query.until if compares_publication(query.operation) else None
    after = clamp(request.after.instant) if request.after else None
    return min(bound for bound in (query.now, until, after) if bound is not None)


def clamp(moment: datetime | None) -> datetime | None:
    """Return the nearest instant that leaves room in the calendar. No source has records from beyond it."""
    return None if moment is None else min(max(moment, _FIRST), _LAST)
