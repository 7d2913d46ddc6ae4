"""``pit_fetch diff``: what became public between two instants, what changed, and what went.

The same question is asked at both. Each answer is filtered at its own PIT, and the comparison is
judged at the later one, so it shows nothing that a fetch at that PIT would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.engine import credentials
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import CollectedRecords, FetchResult, report
from pit_fetch.engine.run import run as ask
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Gap, gap
from pit_fetch.pipeline.cursor import Position, position
from pit_fetch.pipeline.select import Selection, WithheldCounts
from pit_fetch.provider import Record
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import is_of_publication
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.times import format_for_people, in_new_york

# The fields that a comparison adds to an item.
FIELDS = ("change", "before")
TWO_PITS = "diff needs two different instants: --pit EARLIER --pit LATER"


class Read(NamedTuple):
    """An answer: its records by id, and the position down to which it is complete (None: to the end)."""

    records: Mapping[str, Record]
    reach: Position | None = None

    def covers(self, record: Record) -> bool:
        """Whether the answer would hold the record if it had been there."""
        return self.reach is None or position(record) <= self.reach


def run(earlier: FetchRequest, later: FetchRequest, runtime: Runtime, log: Progress, argv: list[str]) -> FetchResult:
    """The difference between the answers to two requests that differ in their PIT alone. Raises UsageError."""
    earlier, later = _in_order(earlier, later)
    since, runtime = look_back_from(earlier), _reading_once(earlier, runtime)
    log.reads = True
    outcomes = [ask(_whole(one, since), runtime, log, argv) for one in (earlier, later)]
    log.reads = False
    gaps = [one for outcome in outcomes for one in outcome.gaps if not one.code.per_fetch]
    reads = [_read(outcome) for outcome in outcomes]
    selection = Selection(gaps=tuple(_once(gaps)))
    failed = any(one.is_failure for one in gaps)
    if not failed:
        changed = changes(reads[0], reads[1], earlier.pit)
        said = (*_cuts((earlier, later), reads), *(() if changed else (gap("no_difference"),)))
        selection = Selection(tuple(changed), (*selection.gaps, *said))
    fields = (*later.fields, *FIELDS) if later.fields else ()
    query = f"diff {earlier.canonical} --pit {in_new_york(later.pit)}" if later.pit else ""
    secrets = credentials.known_secrets(later.provider, runtime.environ, runtime.folder)
    collected = CollectedRecords(selection, WithheldCounts(), secrets, opened=not failed, resumes=False)
    outcome = report(later._replace(fields=fields, canonical=query), collected)
    log.as_of = (
        f", changes from {format_for_people(earlier.pit)} to {format_for_people(later.pit)}"
        if earlier.pit and later.pit
        else ""
    )
    log.summary(later.provider.name, outcome.kept, outcome.gaps)
    return outcome


def _reading_once(request: FetchRequest, runtime: Runtime) -> Runtime:
    """The runtime for two reads: what comes in by standard input comes once."""
    if request.input_file != "-":
        return runtime
    held: list[bytes] = []

    def read(seconds: float) -> bytes:
        if not held:
            held.append(runtime.read_stdin(seconds))
        return held[0]

    return runtime._replace(read_stdin=read)


def changes(before: Read, after: Read, earlier: datetime | None) -> list[Record]:
    """The items that are different in ``after``, newest first, each with a ``change``: new, changed or gone. Pure.

    Only what both answers cover is compared: one that ended early says nothing about what came after its end.
    """
    found = []
    for name, record in after.records.items():
        known = before.records.get(name)
        if known is not None:
            differing = _differing(known, record)
            if differing:
                found.append(_marked(record, "changed", differing))
        elif _became_public_after(record, earlier):
            found.append(_marked(record, "changed" if _was_there(record, earlier) else "new"))
        elif before.covers(record):
            found.append(_marked(record, "new"))
    gone = (record for name, record in before.records.items() if name not in after.records and after.covers(record))
    found += [_marked(record, "gone") for record in gone]
    return sorted(found, key=position)


def _became_public_after(record: Record, instant: datetime | None) -> bool:
    stamps = (record.available_at, record.revised_at)
    return instant is not None and any(stamp is not None and stamp > instant for stamp in stamps)


def _was_there(record: Record, instant: datetime | None) -> bool:
    """Whether the item was public before, in a version that the source no longer serves."""
    return instant is not None and record.available_at is not None and record.available_at <= instant


def _differing(before: Record, after: Record) -> dict[str, Any]:
    """What the fields that differ held before. A snapshot's own instant is when it was fetched: no change."""
    names = dict.fromkeys((*before.payload, *after.payload))
    found = {name: before.payload.get(name) for name in names if before.payload.get(name) != after.payload.get(name)}
    if not after.at_receipt:
        for name in ("available_at", "revised_at"):
            was, now = getattr(before, name), getattr(after, name)
            if was != now:
                found[name] = None if was is None else in_new_york(was)
    return found


def _marked(record: Record, change: str, before: Mapping[str, Any] | None = None) -> Record:
    marks: dict[str, Any] = {"change": change, **({"before": before} if before else {})}
    return record._replace(payload={**marks, **record.payload})


def _in_order(one: FetchRequest, other: FetchRequest) -> tuple[FetchRequest, FetchRequest]:
    if one.pit is None or other.pit is None or one.pit == other.pit:
        raise UsageError("usage", text=TWO_PITS)
    if one.after is not None:
        raise UsageError("usage", text="diff does not take --after: narrow it with --date-from and --date-to")
    return (one, other) if one.pit < other.pit else (other, one)


def look_back_from(request: FetchRequest) -> datetime | None:
    """Return where the request's window begins, if only because the provider counts it back from the PIT; else None."""
    if request.since is not None or request.input_file or request.pit is None:
        return request.since
    try:
        query = build_query(request, started=request.pit)
    except ConfigError:  # the fetch reports it
        return None
    return query.operation.earliest(query) if is_of_publication(query.operation) else None


def _whole(request: FetchRequest, since: datetime | None) -> FetchRequest:
    """The request for an answer that is to be compared: every field, of any size, in one window."""
    return request._replace(since=since, fields=(), max_chars=0, format="json", pretty=False)


def _read(outcome: FetchResult) -> Read:
    records = {record.id: record for record in outcome.public}
    is_cut = any(one.type == "truncated" for one in outcome.gaps)
    last = position(outcome.public[-1]) if outcome.public else (float("-inf"), "")
    return Read(records, last if is_cut else None)


def _cuts(requests: Sequence[FetchRequest], reads: Sequence[Read]) -> list[Gap]:
    return [
        gap("compared_in_part", pit=format_for_people(request.pit))
        for request, read in zip(requests, reads, strict=True)
        if read.reach is not None and request.pit is not None
    ]


def _once(gaps: Sequence[Gap]) -> list[Gap]:
    """Each gap once: most are said at both instants."""
    return list({(one.code, one.reason): one for one in gaps}.values())
