"""``pit_fetch explain``: a source's records around a PIT, each with its verdict and the rule that dated it.

The operator's view: it shows the records that a fetch withholds, so the gate cannot pass it, and where an
agent may read the output it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.engine import credentials
from pit_fetch.engine.fetch import archive_of
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult, unjudged
from pit_fetch.engine.run import run as fetch
from pit_fetch.errors import UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.inspect.archived import Why, merge, with_archived_variants
from pit_fetch.inspect.diff import comparable, look_back_from, recalled, whole, why_empty
from pit_fetch.inspect.verdict import NOT_PROVED, with_verdict
from pit_fetch.pipeline.claims import CLAIMED, PROVED, Accept, accept_none, acceptor
from pit_fetch.pipeline.cursor import position
from pit_fetch.pipeline.select import records_of, set_period, visibility
from pit_fetch.provider import Provider, Query, Record
from pit_fetch.request import audience
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import candidate_operations, is_wanted
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import delayed, format_for_people, is_aware

# How far beyond the PIT it looks without --date-to.
_BEYOND = timedelta(days=1)


def run(request: FetchRequest, runtime: Runtime, progress: Progress, argv: list[str]) -> FetchResult:
    """Return the source's records in the window, up to a day after the PIT or to --date-to. Raise UsageError."""
    pit = _pit_of(request, runtime)
    beyond = request.until if request.until and request.until > pit else delayed(pit, _BEYOND) or pit
    end = min(beyond, max(pit, runtime.clock.now()))
    operation = candidate_operations(request.provider, request.options)[0]
    is_accepted = request.evidence == CLAIMED
    as_served = partial(_as_served, pit=pit, accept=acceptor(operation) if is_accepted else accept_none)
    found = _collect(request, as_served, end, runtime, progress, argv)
    explained = sorted(found.explained, key=lambda pair: position(set_period(as_served(pair[0]), operation.period)))
    records = [with_verdict(record, pit, operation, why, is_accepted) for record, why in explained]
    gaps = [*found.gaps, *_gaps_of_caps(len(records), request.limit, found.result)]
    if not records and not found.has_failed:
        gaps += why_empty(found.result) or [gap(Code.NOTHING)]
    fields = (*request.fields, *ADDED_FIELDS["explain"]) if request.fields else ()
    secrets = credentials.known_secrets(request.provider, runtime.environ, runtime.folder)
    request = request._replace(fields=fields, canonical=f"explain {request.canonical}")
    answer = unjudged(request, records[: request.limit], gaps, secrets, found.result.status)
    progress.as_of = f", explained as of {format_for_people(pit)}"
    progress.summary(request.provider.name, answer.kept, answer.gaps)
    return answer


class _Found(NamedTuple):
    """The records to explain, each with the reason of :func:`merge`, and the fetch that yielded them."""

    explained: list[tuple[Record, Why]]
    gaps: list[Gap]
    result: FetchResult

    @property
    def has_failed(self) -> bool:
        return any(known.is_failure for known in self.gaps)


def _pit_of(request: FetchRequest, runtime: Runtime) -> datetime:
    """Return the PIT of a request that may be explained. Raise UsageError for any other."""
    if audience.is_for_an_agent(runtime.environ):
        raise UsageError(Code.OPERATORS_ONLY, what="explain shows what is withheld")
    if request.pit is None:
        raise UsageError(Code.USAGE, text="explain needs a --pit: it says what is withheld at that instant, and why")
    if request.after is not None:
        raise UsageError(Code.USAGE, text="explain does not take --after: narrow it with --date-from and --date-to")
    return request.pit


def _collect(
    request: FetchRequest,
    as_served: Callable[[Record], Record],
    end: datetime,
    runtime: Runtime,
    progress: Progress,
    argv: list[str],
) -> _Found:
    """Return the records by ``end`` that the source sends, and those that an archive holds beside them."""
    seen: dict[tuple[object, ...], Record] = {}
    plain = whole(request, look_back_from(request))
    progress.nested = True
    # The pipeline hands on public records alone: the others are taken from the provider's own stream.
    result = fetch(
        plain._replace(provider=_watched(request.provider, seen, as_served), pit=end), runtime, progress, argv
    )
    gaps = [known for known in result.gaps if not known.code.per_fetch]
    # An archive may hold versions that the source no longer serves, or know that a stamp came later.
    proved = plain._replace(evidence=PROVED)
    has_failed = any(known.is_failure for known in gaps)
    at_pit = None if has_failed else _fetch_with_archive(proved, runtime, progress, argv)
    served = None if at_pit is None else comparable(at_pit, has_versions=True)
    if served is not None and served.reach is not None:  # the versions of then may lie below
        served = recalled(proved, runtime, progress, argv) or served
    progress.nested = False
    stamped = map(_without_broken_stamps, seen.values())
    live = [record for record in stamped if _is_by(record.available_at, end) or _is_claimed_by(record, end)]
    if at_pit is None or served is None:
        return _Found([(record, "") for record in live], gaps, result)
    derives = request.provider.derive(build_query(plain, runtime.clock.now())) is not None
    later = (record for record in result.public if not record.is_claimed)
    return _Found(merge(live, served, later, derives), with_archived_variants(gaps, at_pit.gaps), result)


def _gaps_of_caps(count: int, limit: int, result: FetchResult) -> Iterator[Gap]:
    """Yield a gap if not all of ``count`` records are shown, or more of them were not read."""
    if count > limit:
        yield gap(Code.EXPLAINED_IN_PART, limit=limit, count=count, is_by_limit=True)
    elif any(known.code.is_cap for known in result.gaps):
        is_by_limit = not any(known.code is Code.MAX_PAGES for known in result.gaps)
        yield gap(Code.EXPLAINED_TO_A_LIMIT, is_by_limit=is_by_limit)


def _is_by(moment: datetime | None, end: datetime) -> bool:
    return moment is None or moment <= end


def _is_claimed_by(record: Record, end: datetime) -> bool:
    return is_aware(record.claimed_at) and record.claimed_at <= end


def _without_broken_stamps(record: Record) -> Record:
    """Return the record, without its stamps if they are not instants: a fetch counts them as missing."""
    if visibility(record._replace(id="-"), datetime.max.replace(tzinfo=UTC)) != "undated":
        return record
    return record._replace(available_at=None, revised_at=None)


def _fetch_with_archive(
    request: FetchRequest, runtime: Runtime, progress: Progress, argv: list[str]
) -> FetchResult | None:
    """Return the answer at the PIT if there is an archive, which may hold more records; None if that fetch failed."""
    if not archive_of(request, runtime):
        return None
    result = fetch(request, runtime, progress, argv)
    return None if any(known.is_failure for known in result.gaps) else result


def _as_served(record: Record, *, pit: datetime, accept: Accept) -> Record:
    """Return the record as a fetch compares it with the window: on its claim, if only that shows it at ``pit``."""
    claimed = accept(record, pit) if visibility(record, pit) in NOT_PROVED else None
    return claimed or record


def _watched(
    provider: Provider, seen: dict[tuple[object, ...], Record], as_served: Callable[[Record], Record]
) -> Provider:
    """Return the provider, which enters the records it yields in ``seen``, as far as the query asks for them."""

    def watch(stream: Iterable[Any], query: Query) -> Iterator[Any]:
        for part in stream:
            for record in records_of(part):
                if _may_be_wanted(provider, query, as_served(record)):
                    seen.setdefault((record.id, record.available_at, record.revised_at, str(record.payload)), record)
            yield part

    return provider._replace(
        fetch=lambda query, context: watch(provider.fetch(query, context), query),
        parse_reply=lambda body, query: watch(provider.parse_reply(body, query), query),
    )


def _may_be_wanted(provider: Provider, query: Query, record: Record) -> bool:
    try:
        return is_wanted(provider, query, record)
    except Exception:  # noqa: BLE001 - a filter that cannot read the record
        return True
