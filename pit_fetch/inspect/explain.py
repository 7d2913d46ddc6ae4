"""``pit_fetch explain``: what a source said around a PIT, each record with its verdict and the rule that dated it.

The operator's view: it shows what a fetch withholds, so the gate cannot pass it, and where an agent may
read the output it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.engine import credentials
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult, unjudged
from pit_fetch.engine.run import run as ask
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Gap, gap
from pit_fetch.inspect.archived import complete_to, in_gaps, joined
from pit_fetch.inspect.diff import look_back_from
from pit_fetch.pipeline.cursor import position
from pit_fetch.pipeline.envelope import EnvelopeOptions, is_quoting
from pit_fetch.pipeline.select import visibility
from pit_fetch.provider import Operation, Page, Provider, Query, Record
from pit_fetch.request import audience
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import DATINGS, candidate_operations
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import format_for_people

# The fields that an explanation adds to an item.
FIELDS = ("verdict", "because", "rule")
# How far beyond the PIT it looks, unless --date-to says so.
_BEYOND = timedelta(days=1)
# What a fetch at the PIT would say about itself.


def run(request: FetchRequest, runtime: Runtime, log: Progress, argv: list[str]) -> FetchResult:
    """The source's records in the request's window, up to a day after the PIT, or to --date-to. Raises UsageError."""
    if audience.is_for_an_agent(runtime.environ):
        raise UsageError("operators_only")
    pit = request.pit
    if pit is None:
        raise UsageError("usage", text="explain needs a --pit: it says what is withheld at that instant, and why")
    if request.after is not None:
        raise UsageError("usage", text="explain does not take --after: narrow it with --date-from and --date-to")
    end = min(request.until if request.until and request.until > pit else pit + _BEYOND, max(pit, runtime.clock.now()))
    seen: dict[tuple[object, ...], Record] = {}
    plain = request._replace(since=look_back_from(request), fields=(), max_chars=0, format="json", pretty=False)
    log.reads = True
    outcome = ask(plain._replace(provider=_watched(request.provider, seen), pit=end), runtime, log, argv)
    gaps = [one for one in outcome.gaps if not one.code.per_fetch]
    failed = any(one.is_failure for one in gaps)
    at_pit = None if failed else _with_archive(plain, runtime, log, argv)
    log.reads = False
    live = [one for one in map(_with_instants, seen.values()) if one.available_at is None or one.available_at <= end]
    if at_pit is None:
        found = [(one, "") for one in live]
    else:
        gaps = in_gaps(gaps, at_pit.gaps)
        derives = request.provider.derive(build_query(plain, runtime.clock.now())) is not None
        found = joined(live, at_pit.public, outcome.public, complete_to(at_pit), derives)
    operation = candidate_operations(request.provider, request.options)[0]
    shown = [_explained(one, pit, operation, why) for one, why in sorted(found, key=lambda pair: position(pair[0]))]
    if len(shown) > request.limit:
        gaps.append(gap("explained_in_part", limit=request.limit, count=len(shown)))
    elif any(one.code.is_cap for one in outcome.gaps):
        gaps.append(gap("explained_to_a_limit"))
    if not shown and not failed:
        gaps.append(gap("nothing"))
    fields = (*request.fields, *FIELDS) if request.fields else ()
    secrets = credentials.known_secrets(request.provider, runtime.environ, runtime.folder)
    request = request._replace(fields=fields, canonical=f"explain {request.canonical}")
    answer = unjudged(request, shown[: request.limit], gaps, secrets, outcome.status)
    log.as_of = f", explained as of {format_for_people(pit)}"
    log.summary(request.provider.name, answer.kept, answer.gaps)
    return answer


def _with_instants(record: Record) -> Record:
    """The record without its stamps if they are not instants, since a fetch counts them as missing."""
    if visibility(record._replace(id="-"), datetime.max.replace(tzinfo=UTC)) != "undated":
        return record
    return record._replace(available_at=None, revised_at=None)


def _with_archive(request: FetchRequest, runtime: Runtime, log: Progress, argv: list[str]) -> FetchResult | None:
    """What a fetch at the PIT shows, if it has an archive: that may hold more, and know better. None if it failed."""
    if request.input_file or not (request.archive or runtime.environ.get("PIT_FETCH_ARCHIVE")):
        return None
    answer = ask(request, runtime, log, argv)
    return None if any(one.is_failure for one in answer.gaps) else answer


def _watched(provider: Provider, seen: dict[tuple[object, ...], Record]) -> Provider:
    """The provider, with what it yields entered in ``seen``, as far as it was asked for."""

    def watch(stream: Iterable[Any], query: Query) -> Iterator[Any]:
        for one in stream:
            for record in one.records if isinstance(one, Page) else (one,) if isinstance(one, Record) else ():
                if _is_wanted(provider, query, record):
                    seen.setdefault((record.id, record.available_at, record.revised_at, str(record.payload)), record)
            yield one

    def fetch(query: Query, context: Any) -> Iterator[Any]:
        return watch(provider.fetch(query, context), query)

    def read(body: bytes, query: Query) -> Iterator[Record | Gap]:
        return watch(provider.parse_reply(body, query), query)

    return provider._replace(fetch=fetch, parse_reply=read)


def _is_wanted(provider: Provider, query: Query, record: Record) -> bool:
    try:
        return query.in_window(record) and provider.select(query, record)
    except Exception:  # noqa: BLE001 - a filter that cannot read the record says nothing about it
        return True


def _explained(record: Record, pit: datetime, operation: Operation, why: str) -> Record:
    """``why`` a fetch with an archive does not show it: "replaced", "unseen", or ""."""
    judged = visibility(record, pit)
    if judged == "public" and why == "replaced":
        said, because = "revised", "changed since without a mark"
    elif judged == "public" and why == "unseen":
        said, because = "late", "stamped before the PIT, but what the archive saw by then lacks it"
    elif judged == "late" and record.available_at is not None and record.available_at <= pit:
        only = "" if why == "replaced" else ", and only that version is served"
        said, because = "revised", f"revised {_since(record.revised_at, pit)}{only}"
    elif judged == "late":
        what = "published" if record.first_seen_at is None else "first seen"
        said, because = "late", f"{what} {_since(record.available_at, pit)}"
    else:
        said, because = judged, _BECAUSE[judged](record, operation)
    because += "; the archive holds what it said before" if why == "replaced" else ""
    if said == "public" and is_quoting(record, EnvelopeOptions(pit=pit)):
        because += "; but left out, for its texts quote a stamp after the PIT, or a field of an envelope"
    if record.first_seen_at is not None:
        rule = "by sight: what was in the archive was public"
    elif operation.dating == "record":
        rule = operation.rule or f"by {record.available_at_source}"
    else:
        rule = operation.why
    return record._replace(payload={"verdict": said, "because": because, "rule": rule, **record.payload})


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
    """``5 minutes after the PIT, on Thursday ...``."""
    if moment is None:
        return "after the PIT"
    seconds = (moment - pit).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'} after the PIT, on {format_for_people(moment)}"
    return f"less than a second after the PIT, on {format_for_people(moment)}"
