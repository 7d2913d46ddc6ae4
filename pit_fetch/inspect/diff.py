"""``pit_fetch diff``: the items that became public, changed or went between two instants.

One request is run at both. Each answer is filtered at its own PIT, and the comparison is judged at the
later one, so it shows nothing that a fetch at that PIT would not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.engine import credentials
from pit_fetch.engine.fetch import archive_of
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import CollectedRecords, FetchResult, report
from pit_fetch.engine.run import run
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code, Gap, GapType, gap
from pit_fetch.pipeline.claims import CLAIMED, PROVED
from pit_fetch.pipeline.cursor import START, Position, position
from pit_fetch.pipeline.envelope import EVIDENCE
from pit_fetch.pipeline.select import Selection, Withheld
from pit_fetch.provider import Record
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest
from pit_fetch.request.operations import candidate_operations, compares_publication
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import format_for_people, in_new_york

# Runs a request, with all else as it is.
RunRequest = Callable[[FetchRequest], FetchResult]

TWO_PITS = "diff needs two different instants: --pit EARLIER --pit LATER"


class ComparableAnswer(NamedTuple):
    """An answer as far as another one can be compared with it.

    records       by id
    reach         the position down to which the answer is complete; None: to its end
    has_versions  the other answer may give an item another stamp, so that nothing below a cut can be compared
    is_by_limit   it was cut by ``--limit`` alone
    """

    records: Mapping[str, Record]
    reach: Position | None = None
    has_versions: bool = False
    is_by_limit: bool = False

    def covers(self, record: Record) -> bool:
        """Return whether the answer would contain ``record`` if the source had sent it."""
        return self.reach is None or (not self.has_versions and position(record) <= self.reach)

    @property
    def may_lack_versions(self) -> bool:
        """Whether an item that the answer lacks may be in the part that was cut, in another version."""
        return self.reach is not None and self.has_versions


def diff(
    earlier: FetchRequest, later: FetchRequest, runtime: Runtime, progress: Progress, argv: list[str]
) -> FetchResult:
    """Return the difference between the answers to two requests that differ in their PIT alone. Raise UsageError."""
    given = earlier
    earlier, later = _sort_by_pit(earlier, later)
    if given is later:
        progress.tell("diff: the later instant was given first; changes are shown from the earlier one to it.")
    since, runtime = earliest_instant(earlier), _share_stdin(earlier, runtime)
    wanted = [comparable_request(request, since) for request in (earlier, later)]
    if _has_versions(later):
        # The earlier version of an item may lie far below the newer one that the later answer shows.
        wanted[0] = wanted[0]._replace(limit=UNLIMITED)
    progress.nested = True  # only the comparison has a summary
    run_request: RunRequest = partial(run, runtime=runtime, progress=progress, argv=argv)
    results = [run_request(request) for request in wanted]
    gaps = [gap for result in results for gap in result.gaps if not gap.code.per_fetch]
    # Most gaps are in both answers.
    selection = Selection(gaps=tuple({(gap.code, gap.reason): gap for gap in gaps}.values()))
    failed = any(gap.is_failure for gap in gaps)  # a fetch that broke off would let its missing items look new, or gone
    if not failed:
        # A proof may be later than the claim by which an item was served before.
        is_archived = bool(archive_of(later, runtime))
        is_restamped = later.evidence == CLAIMED or is_archived or _has_versions(later)
        before, after = (comparable_answer(result, is_restamped) for result in results)
        if before.reach is not None and is_archived and later.evidence == PROVED:
            before = archived_answer(wanted[0], run_request) or before
        changed = changes(before, after, earlier.pit, _origin_fields(later))
        cuts = _cut_gaps((earlier, later), (before, after))
        selection = Selection(
            tuple(changed), (*selection.gaps, *cuts, *(() if changed else _no_difference(before, results[1])))
        )
    progress.nested = False
    fields = (*later.fields, *ADDED_FIELDS["diff"]) if later.fields else ()
    query = f"diff {earlier.canonical} --pit {in_new_york(later.pit)}" if later.pit else ""
    secrets = credentials.known_secrets(later.provider, runtime.environ, runtime.folder)
    collected = CollectedRecords(selection, Withheld(), secrets, opened=not failed, resumes=False)
    result = report(later._replace(fields=fields, canonical=query), collected)
    progress.as_of = (
        f", changes from {format_for_people(earlier.pit)} to {format_for_people(later.pit)}"
        if earlier.pit and later.pit
        else ""
    )
    progress.summary(later.provider.name, result.kept, result.gaps)
    return result


def _share_stdin(request: FetchRequest, runtime: Runtime) -> Runtime:
    """Return the runtime for two fetches, which share one standard input."""
    if request.input_file != "-":
        return runtime
    content: list[bytes] = []

    def read(seconds: float) -> bytes:
        if not content:
            content.append(runtime.read_stdin(seconds))
        return content[0]

    return runtime._replace(read_stdin=read)


def changes(
    before: ComparableAnswer, after: ComparableAnswer, earlier: datetime | None, origin: AbstractSet[str] = frozenset()
) -> list[Record]:
    """Return the items that differ in ``after``, newest first, each with what became of it as ``change``. Pure.

    It is new, changed, gone or repeated. Only records that both answers cover are compared. ``earlier`` is the PIT of
    ``before``. ``origin`` are the fields that name where a version stands.
    """
    changed = []
    for name, record in after.records.items():
        known = before.records.get(name)
        if known is not None:
            differing = _earlier_values(known, record)
            if differing:
                change = "repeated" if _is_repeated(differing, origin) else "changed"
                changed.append(_mark(record, change, differing))
        elif before.may_lack_versions:  # an older version of it may lie below the cut
            continue
        elif _became_public_after(record, earlier):
            changed.append(_mark(record, "changed" if _was_public_at(record, earlier) else "new"))
        elif before.covers(record):
            changed.append(_mark(record, "new"))
    # An item that the later answer covers and lacks.
    gone = (record for name, record in before.records.items() if name not in after.records and after.covers(record))
    changed += [_mark(record, "gone") for record in gone]
    return sorted(changed, key=position)


def _origin_fields(request: FetchRequest) -> frozenset[str]:
    """Return the fields that name where a version of an item of the request's operation stands."""
    operations = candidate_operations(request.provider, request.options)
    return frozenset(field.name for field in operations[0].fields if field.is_origin)


def _became_public_after(record: Record, instant: datetime | None) -> bool:
    stamps = (record.available_at, record.revised_at)
    return instant is not None and any(stamp is not None and stamp > instant for stamp in stamps)


def _was_public_at(record: Record, instant: datetime | None) -> bool:
    """Return whether the item was public before, in a version that the source no longer serves."""
    return instant is not None and record.available_at is not None and record.available_at <= instant


def _earlier_values(before: Record, after: Record) -> dict[str, Any]:
    """Return the earlier values of the fields that differ."""
    names = dict.fromkeys((*before.payload, *after.payload))
    values = {name: before.payload.get(name) for name in names}
    values = {name: value for name, value in values.items() if value != after.payload.get(name)}
    if not after.at_receipt:  # a snapshot is stamped with the instant of its fetch, which is no change
        for name in ("available_at", "revised_at"):
            was, now = getattr(before, name), getattr(after, name)
            if was != now:
                values[name] = None if was is None else in_new_york(was)
    if before.is_claimed == after.is_claimed:
        # The same content, dated by other evidence: a filing by its header near the PIT, by its list later.
        return {} if values.keys() == {"available_at"} else values
    values[EVIDENCE] = CLAIMED if before.is_claimed else PROVED
    return values


def _is_repeated(differing: Mapping[str, Any], origin: AbstractSet[str]) -> bool:
    """Return whether another filing, say, has the same item in the same words."""
    return not origin.isdisjoint(differing) and differing.keys() <= {*origin, "available_at"}


def _mark(record: Record, change: str, before: Mapping[str, Any] | None = None) -> Record:
    marks: dict[str, Any] = {"change": change, **({"before": before} if before else {})}
    return record._replace(payload={**marks, **record.payload})


def _sort_by_pit(first: FetchRequest, second: FetchRequest) -> tuple[FetchRequest, FetchRequest]:
    if first.pit is None or second.pit is None or first.pit == second.pit:
        raise UsageError(Code.USAGE, text=TWO_PITS)
    if first.after is not None:
        raise UsageError(Code.USAGE, text="diff does not take --after: narrow it with --date-from and --date-to")
    return (first, second) if first.pit < second.pit else (second, first)


def earliest_instant(request: FetchRequest) -> datetime | None:
    """Return where the request's window begins, if only because the provider counts it back from the PIT; else None."""
    if request.since is not None or request.input_file or request.pit is None:
        return request.since
    try:
        query = build_query(request, started=request.pit)
    except ConfigError:  # the fetch reports it
        return None
    return query.operation.archiving.earliest(query) if compares_publication(query.operation) else None


def comparable_request(request: FetchRequest, since: datetime | None) -> FetchRequest:
    """Return the request for an answer to compare: every field, of any size, in a window from ``since``."""
    # A budget or a choice of fields would hide differences, or look like some.
    return request._replace(since=since, fields=(), max_chars=0, format="json", pretty=False)


def archived_answer(request: FetchRequest, run_request: RunRequest) -> ComparableAnswer | None:
    """Return all that an archive holds at the request's PIT, without the network; None if it cannot be read."""
    result = run_request(request._replace(offline=True, limit=UNLIMITED, max_pages=UNLIMITED))
    return None if any(gap.is_failure for gap in result.gaps) else comparable_answer(result, has_versions=True)


def _has_versions(request: FetchRequest) -> bool:
    """Return whether the source or the file of a request may send an item in several versions.

    Others serve one, at an instant that never moves.
    """
    if request.input_file or request.pit is None:
        return True
    try:
        query = build_query(request, started=request.pit)
    except ConfigError:  # the fetch reports it
        return False
    return query.operation.archiving.versions or request.provider.derive(query) is not None


def comparable_answer(result: FetchResult, has_versions: bool) -> ComparableAnswer:
    """Return the public records of a fetch, and how far they reach. ``has_versions``: see the field of that name."""
    records = {record.id: record for record in result.public}
    cuts = [gap for gap in result.gaps if gap.type == GapType.TRUNCATED]
    last = position(result.public[-1]) if result.public else START
    return ComparableAnswer(records, last if cuts else None, has_versions, all(gap.is_by_limit for gap in cuts))


def why_empty(result: FetchResult) -> list[Gap]:
    """Return what a fetch without records says of that."""
    return [gap for gap in result.gaps if gap.type == "no_data" and gap.code.per_fetch]


def _no_difference(before: ComparableAnswer, later: FetchResult) -> list[Gap]:
    """Return the gaps of a comparison without a difference: equal answers, or none at all."""
    return [gap(Code.NO_DIFFERENCE)] if before.records or later.public else why_empty(later)


def _cut_gaps(requests: Sequence[FetchRequest], answers: Sequence[ComparableAnswer]) -> list[Gap]:
    return [
        gap(Code.COMPARED_IN_PART, pit=format_for_people(request.pit), is_by_limit=answer.is_by_limit)
        for request, answer in zip(requests, answers, strict=True)
        if answer.reach is not None and request.pit is not None
    ]
