"""``pit_fetch explain``: a source's records around a PIT, each with its verdict and the rule that dated it.

The operator's view: it shows the records that a fetch withholds, so the gate cannot pass it, and where an
agent may read the output it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pit_fetch.engine import credentials
from pit_fetch.engine.fetch import archive_of
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult, unjudged
from pit_fetch.engine.run import run as fetch
from pit_fetch.errors import UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code, gap
from pit_fetch.inspect.archived import merge, with_archived_variants
from pit_fetch.inspect.diff import comparable, look_back_from, recalled, whole, why_empty
from pit_fetch.pipeline.claims import CLAIMED, PROVED, Accept, accept_none, acceptor
from pit_fetch.pipeline.cursor import position
from pit_fetch.pipeline.envelope import EnvelopeOptions, entries, is_quoting
from pit_fetch.pipeline.select import visibility, with_period
from pit_fetch.provider import Operation, Page, Provider, Query, Record
from pit_fetch.request import audience
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import DATINGS, candidate_operations, is_wanted
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import delayed, format_for_people, is_aware

# The verdicts of a record that a claim may show.
_NOT_PROVED = ("late", "undated")
# How far beyond the PIT it looks without --date-to.
_BEYOND = timedelta(days=1)


def run(request: FetchRequest, runtime: Runtime, progress: Progress, argv: list[str]) -> FetchResult:
    """Return the source's records in the window, up to a day after the PIT or to --date-to. Raise UsageError."""
    if audience.is_for_an_agent(runtime.environ):
        raise UsageError(Code.OPERATORS_ONLY, what="explain shows what is withheld")
    pit = request.pit
    if pit is None:
        raise UsageError(Code.USAGE, text="explain needs a --pit: it says what is withheld at that instant, and why")
    if request.after is not None:
        raise UsageError(Code.USAGE, text="explain does not take --after: narrow it with --date-from and --date-to")
    beyond = request.until if request.until and request.until > pit else delayed(pit, _BEYOND) or pit
    end = min(beyond, max(pit, runtime.clock.now()))
    seen: dict[tuple[object, ...], Record] = {}
    operation = candidate_operations(request.provider, request.options)[0]
    is_accepted = request.evidence == CLAIMED
    as_served = partial(_as_served, pit=pit, accept=acceptor(operation) if is_accepted else accept_none)
    plain = whole(request, look_back_from(request))
    progress.nested = True
    # The pipeline hands on public records alone: the others are taken from the provider's own stream.
    result = fetch(
        plain._replace(provider=_watched(request.provider, seen, as_served), pit=end), runtime, progress, argv
    )
    gaps = [gap for gap in result.gaps if not gap.code.per_fetch]
    failed = any(gap.is_failure for gap in gaps)
    # An archive may hold versions that the source no longer serves, or know that a stamp came later.
    proved = plain._replace(evidence=PROVED)
    at_pit = None if failed else _fetch_with_archive(proved, runtime, progress, argv)
    served = None if at_pit is None else comparable(at_pit, has_versions=True)
    if served is not None and served.reach is not None:  # the versions of then may lie below
        served = recalled(proved, runtime, progress, argv) or served
    progress.nested = False
    stamped = map(_without_broken_stamps, seen.values())
    live = [record for record in stamped if _is_by(record.available_at, end) or _is_claimed_by(record, end)]
    if at_pit is None or served is None:
        explained = [(record, "") for record in live]
    else:
        gaps = with_archived_variants(gaps, at_pit.gaps)
        derives = request.provider.derive(build_query(plain, runtime.clock.now())) is not None
        later = (record for record in result.public if not record.is_claimed)
        explained = merge(live, served, later, derives)
    explained.sort(key=lambda pair: position(with_period(as_served(pair[0]), operation.period)))
    records = [_explained(record, pit, operation, why, is_accepted) for record, why in explained]
    if len(records) > request.limit:
        gaps.append(gap(Code.EXPLAINED_IN_PART, limit=request.limit, count=len(records), is_by_limit=True))
    elif any(gap.code.is_cap for gap in result.gaps):
        is_by_limit = not any(gap.code is Code.MAX_PAGES for gap in result.gaps)
        gaps.append(gap(Code.EXPLAINED_TO_A_LIMIT, is_by_limit=is_by_limit))
    if not records and not failed:
        gaps += why_empty(result) or [gap(Code.NOTHING)]
    fields = (*request.fields, *ADDED_FIELDS["explain"]) if request.fields else ()
    secrets = credentials.known_secrets(request.provider, runtime.environ, runtime.folder)
    request = request._replace(fields=fields, canonical=f"explain {request.canonical}")
    answer = unjudged(request, records[: request.limit], gaps, secrets, result.status)
    progress.as_of = f", explained as of {format_for_people(pit)}"
    progress.summary(request.provider.name, answer.kept, answer.gaps)
    return answer


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
    return None if any(gap.is_failure for gap in result.gaps) else result


def _as_served(record: Record, *, pit: datetime, accept: Accept) -> Record:
    """Return the record as a fetch compares it with the window: on its claim, if only that shows it at ``pit``."""
    claimed = accept(record, pit) if visibility(record, pit) in _NOT_PROVED else None
    return claimed or record


def _watched(
    provider: Provider, seen: dict[tuple[object, ...], Record], as_served: Callable[[Record], Record]
) -> Provider:
    """Return the provider, which enters the records it yields in ``seen``, as far as the query asks for them."""

    def watch(stream: Iterable[Any], query: Query) -> Iterator[Any]:
        for part in stream:
            for record in part.records if isinstance(part, Page) else (part,) if isinstance(part, Record) else ():
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


def _explained(record: Record, pit: datetime, operation: Operation, why: str, is_accepted: bool = False) -> Record:
    """Return the record with its verdict. ``why``: the reason of :func:`merge`, "replaced", "unseen" or "".

    ``is_accepted``: the claims of the operation are accepted.
    """
    judged = visibility(record, pit)
    claimed = acceptor(operation)(record, pit) if judged in _NOT_PROVED and why != "replaced" else None
    if claimed is not None and is_accepted:
        because = f"by a claim alone, of {_at(claimed.available_at)}"
        marks = {"verdict": "public", "because": because, "rule": operation.claims}
        return claimed._replace(payload={**marks, **claimed.payload})
    if judged == "public" and why == "replaced":
        verdict, because = "revised", "changed since without a mark"
    elif judged == "public" and why == "unseen":
        verdict, because = "late", "stamped before the PIT, but what the archive saw by then lacks it"
    elif judged == "late" and record.available_at is not None and record.available_at <= pit:
        only = "" if why == "replaced" else ", and only that version is served"
        verdict, because = "revised", f"revised {_since(record.revised_at, pit)}{only}"
    elif judged == "late":
        event = "published" if record.first_seen_at is None else "first seen"
        verdict, because = "late", f"{event} {_since(record.available_at, pit)}"
    else:
        verdict, because = judged, _BECAUSE[judged](record, operation)
    because += "; the archive holds what it said before" if why == "replaced" else ""
    if verdict == "public" and is_quoting(entries([record], EnvelopeOptions(pit=pit))[0].item, pit):
        because += "; but left out, for its texts quote a stamp after the PIT, or a field of an envelope"
    if verdict == "public" and operation.missing_in(record):
        because += f"; but left out, for it has no {' and no '.join(operation.missing_in(record))}"
    if claimed is not None:
        because += f"; a claim of {_at(claimed.available_at)} dates it, which --evidence claimed accepts"
    if record.first_seen_at is not None:
        rule = "by sight: what was in the archive was public"
    elif operation.dating == "record":
        rule = operation.rule or f"by {record.available_at_source}"
    else:
        rule = operation.why
    return record._replace(payload={"verdict": verdict, "because": because, "rule": rule, **record.payload})


def _at(moment: datetime | None) -> str:
    return "" if moment is None else format_for_people(moment)


def _public(record: Record, operation: Operation) -> str:
    if record.available_at is None:
        return "available at or before the PIT"
    if record.first_seen_at is not None:
        return f"in the archive since {format_for_people(record.first_seen_at)}"
    revised = "" if record.revised_at is None else f", last revised on {format_for_people(record.revised_at)}"
    return f"published on {format_for_people(record.available_at)}{revised}"


def _undated(record: Record, operation: Operation) -> str:
    why = f": {DATINGS[operation.dating]}" if operation.dating != "record" else ""
    return f"nothing shows when it was published or last revised{why}"


_BECAUSE: dict[str, Callable[[Record, Operation], str]] = {
    "public": _public,
    "undated": _undated,
    "unusable": lambda record, operation: "it has no id",
}


def _since(moment: datetime | None, pit: datetime) -> str:
    """Return a text like ``5 minutes after the PIT, on Thursday ...``."""
    if moment is None:
        return "after the PIT"
    seconds = (moment - pit).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'} after the PIT, on {format_for_people(moment)}"
    return f"less than a second after the PIT, on {format_for_people(moment)}"
