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
from pit_fetch.engine.run import run
from pit_fetch.errors import UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.inspect.diff import (
    ComparableAnswer,
    RunRequest,
    archived_answer,
    comparable_answer,
    comparable_request,
    earliest_instant,
    why_empty,
)
from pit_fetch.inspect.verdict import NOT_PROVED, Why, judge
from pit_fetch.pipeline.claims import CLAIMED, PROVED, Accept, accept_none, acceptor
from pit_fetch.pipeline.cursor import position
from pit_fetch.pipeline.select import records_of, set_period, visibility
from pit_fetch.provider import Provider, Query, Record
from pit_fetch.request import audience
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import Run, candidate_operations, is_wanted, wrap_operations
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import delayed, format_for_people, is_aware

# How far beyond the PIT it looks without --date-to.
_BEYOND = timedelta(days=1)


def explain(request: FetchRequest, runtime: Runtime, progress: Progress, argv: list[str]) -> FetchResult:
    """Return the source's records in the window, up to a day after the PIT or to --date-to. Raise UsageError."""
    pit = _pit_of(request, runtime)
    beyond = request.until if request.until and request.until > pit else delayed(pit, _BEYOND) or pit
    end = min(beyond, max(pit, runtime.clock.now()))  # what is stamped after now cannot have been served
    operation = candidate_operations(request.provider, request.options)[0]
    is_accepted = request.evidence == CLAIMED
    as_served = partial(_served_record, pit=pit, accept=acceptor(operation) if is_accepted else accept_none)
    progress.nested = True  # only the explanation has a summary
    found = _collect(request, as_served, end, runtime, partial(run, runtime=runtime, progress=progress, argv=argv))
    progress.nested = False
    explained = sorted(found.explained, key=lambda pair: position(set_period(as_served(pair[0]), operation.period)))
    records = [judge(record, pit, operation, why, is_accepted) for record, why in explained]
    gaps = [*found.gaps, *_gaps_of_caps(len(records), request.limit, found.result)]
    if not found.has_failed:
        since = earliest_instant(request)
        start = f"from {format_for_people(since)} " if since else ""
        gaps.insert(0, gap(Code.EXPLAINED_WINDOW, since=start, until=format_for_people(end)))
    if not records and not found.has_failed:
        gaps += why_empty(found.result) or [gap(Code.NOTHING)]
    fields = (*request.fields, *ADDED_FIELDS["explain"]) if request.fields else ()
    secrets = credentials.known_secrets(request.provider, runtime.environ, runtime.folder)
    request = request._replace(fields=fields, canonical=f"explain {request.canonical}")
    answer = unjudged(request, records[: request.limit], gaps, secrets, found.result.status)
    progress.as_of = f", explained as of {format_for_people(pit)}"
    progress.summary(request.provider.name, answer.kept, answer.gaps)
    return answer


class _Explanation(NamedTuple):
    """The records to explain, each with the reason of :func:`_merge`, and the fetch that yielded them."""

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
    run_request: RunRequest,
) -> _Explanation:
    """Return the records by ``end`` that the source sends, and those that an archive holds beside them."""
    seen: dict[tuple[object, ...], Record] = {}
    plain = comparable_request(request, earliest_instant(request))
    # The pipeline hands on public records alone: the others are taken from the provider's own stream.
    result = run_request(plain._replace(provider=_watch(request.provider, seen, as_served), pit=end))
    origin = [gap(Code.OFFLINE)] if request.offline else []
    gaps = [*origin, *(known for known in result.gaps if not known.code.per_fetch)]
    # An archive may hold versions that the source no longer serves, or know that a stamp came later.
    proved = plain._replace(evidence=PROVED)
    has_failed = any(known.is_failure for known in gaps)
    at_pit = None if has_failed else _run_with_archive(proved, runtime, run_request)
    served = None if at_pit is None else comparable_answer(at_pit, has_versions=True)
    if served is not None and served.reach is not None:  # the versions of then may lie below
        served = archived_answer(proved, run_request) or served
    stamped = map(_drop_broken_stamps, seen.values())
    live = [record for record in stamped if _is_available(record.available_at, end) or _is_claimed(record, end)]
    if at_pit is None or served is None:
        return _Explanation([(record, "") for record in live], gaps, result)
    derives = request.provider.derive(build_query(plain, runtime.clock.now())) is not None
    later = (record for record in result.public if not record.is_claimed)
    return _Explanation(_merge(live, served, later, derives), gaps, result)


def _merge(
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


def _gaps_of_caps(count: int, limit: int, result: FetchResult) -> Iterator[Gap]:
    """Yield a gap if not all of ``count`` records are shown, or more of them were not read."""
    if count > limit:
        yield gap(Code.EXPLAINED_IN_PART, limit=limit, count=count, is_by_limit=True)
    elif any(known.code.is_cap for known in result.gaps):
        is_by_limit = not any(known.code is Code.MAX_PAGES for known in result.gaps)
        yield gap(Code.EXPLAINED_TO_A_LIMIT, is_by_limit=is_by_limit)


def _is_available(moment: datetime | None, end: datetime) -> bool:
    return moment is None or moment <= end


def _is_claimed(record: Record, end: datetime) -> bool:
    return is_aware(record.claimed_at) and record.claimed_at <= end


def _drop_broken_stamps(record: Record) -> Record:
    """Return the record, without its stamps if they are not instants: a fetch counts them as missing."""
    if visibility(record._replace(id="-"), datetime.max.replace(tzinfo=UTC)) != "undated":
        return record
    return record._replace(available_at=None, revised_at=None)


def _run_with_archive(request: FetchRequest, runtime: Runtime, run_request: RunRequest) -> FetchResult | None:
    """Return the answer at the PIT if there is an archive, which may hold more records; None if that fetch failed."""
    if not archive_of(request, runtime):
        return None
    result = run_request(request)
    return None if any(known.is_failure for known in result.gaps) else result


def _served_record(record: Record, *, pit: datetime, accept: Accept) -> Record:
    """Return the record with the dates that a fetch compares with the window: those of its claim, if it needs one."""
    claimed = accept(record, pit) if visibility(record, pit) in NOT_PROVED else None
    return claimed or record


def _watch(
    provider: Provider, seen: dict[tuple[object, ...], Record], as_served: Callable[[Record], Record]
) -> Provider:
    """Return the provider, which enters the records it yields in ``seen``, as far as the query asks for them."""

    def watch(run: Run, query: Query) -> Iterator[Any]:
        for part in run(query):
            for record in records_of(part):
                if _may_be_wanted(provider, query, as_served(record)):
                    # A page may be read twice.
                    seen.setdefault((record.id, record.available_at, record.revised_at, str(record.payload)), record)
            yield part

    return wrap_operations(provider, watch)


def _may_be_wanted(provider: Provider, query: Query, record: Record) -> bool:
    try:
        return is_wanted(provider, query, record)
    except Exception:  # noqa: BLE001 - a filter that cannot read the record
        return True
