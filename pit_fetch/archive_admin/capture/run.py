"""Capture a list of requests: each is fetched without a limit and recorded, to answer any later question.

An interrupted run is continued, and does not repeat the requests it has captured. The state of a run is recorded in
the archive itself, so the process may be killed at any point.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, translating
from pit_fetch.archive_admin.capture import run_log
from pit_fetch.archive_admin.capture.estimate import SourcePlan, duration, plans
from pit_fetch.archive_admin.capture.request_list import PlannedFetch, plan
from pit_fetch.archive_admin.maintenance import ingest_pending
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import CollectedRecords, nothing
from pit_fetch.errors import ConfigError, ExitStatus
from pit_fetch.gaps import Code, Gap, GapType
from pit_fetch.provider import Provider, Query
from pit_fetch.runtime import Runtime
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.times import format_for_people

State = Literal["captured", "empty", "held", "failed", "not asked"]


class CaptureResult(NamedTuple):
    """The result of a request. ``items`` is the number of public items; None if the source was not asked.

    reason   why it failed or is empty, or why the source returned less than was requested
    missing  what came since the last capture, and is not in this one
    note     what a later question has to know
    """

    name: str
    source: str
    request: str
    state: State
    items: int | None = None
    exchanges: int = 0
    reason: str = ""
    missing: str = ""
    note: str = ""


class CaptureJob(NamedTuple):
    """What to capture, and which part of it now.

    planned  the fetches, as of when the list was read
    name     under which the archive notes the runs of the list
    again    ask for everything, even if the last run was broken off
    missing  ask only for what the last run did not get
    """

    planned: Sequence[PlannedFetch]
    name: str
    again: bool = False
    missing: bool = False


class Prepared(NamedTuple):
    """A capture before anything is asked.

    results   one for each request: "held" if the run to be continued has captured it
    plans     what is asked of each source for the others
    last      the run to be continued; None for a new one
    captured  when each request was captured in it
    """

    results: list[CaptureResult]
    plans: tuple[SourcePlan, ...]
    last: run_log.CaptureRun | None
    captured: dict[str, int]


class Shown(NamedTuple):
    """Where a capture says how far it is: ``show`` replaces the line before, ``tell`` leaves one that stays."""

    show: Callable[[str], None] = lambda text: None
    tell: Callable[[str], None] = lambda text: None


def prepare(job: CaptureJob, connection: sqlite3.Connection | None, runtime: Runtime) -> Prepared:
    """Return what a capture will do, with an archive or, if there is none yet, without.

    Raise ArchiveError, or ConfigError for a malformed rate.
    """
    last, captured, calls = _history(job, connection, microseconds.to_micros(runtime.clock.now()))
    due: dict[str, tuple[Provider, int]] = {}
    results = []
    for fetch in job.planned:
        provider, text = fetch.request.provider, fetch.text
        state: State = "held" if text in captured else "not asked"
        results.append(CaptureResult(fetch.wanted.name, provider.name, text, state, note=fetch.note))
        if state != "held":
            due[text] = provider, calls.get(text, 1)
    return Prepared(results, plans(due.values(), runtime.environ), last, captured)


def _history(
    job: CaptureJob, connection: sqlite3.Connection | None, now: int
) -> tuple[run_log.CaptureRun | None, dict[str, int], dict[str, int]]:
    """Return the run to be continued, when it captured what, and the calls of the last run. Raise ArchiveError."""
    if connection is None:
        return None, {}, {}
    with translating():
        last = None if job.again else run_log.continued(connection, job.name, now, job.missing)
        # A new run has captured nothing, even if the clock was ahead during an earlier one.
        captured = {} if last is None else run_log.captured_since(connection, last.began, with_items=True)
        return last, captured, run_log.calls(connection, job.name)


def run(
    job: CaptureJob, start: Prepared, connection: sqlite3.Connection, runtime: Runtime, shown: Shown
) -> Iterator[CaptureResult]:
    """Fetch every request of a job that its run has not captured yet.

    Once the archive can no longer be used, nothing more is fetched: it would cost the source, and be for nothing.
    """
    now = microseconds.to_micros(runtime.clock.now())
    captured, listed = {**start.captured}, {result.request: result.name for result in start.results}
    with translating():
        current = start.last or run_log.begin(connection, job.name, now, listed)
    # A process that is killed leaves a run that is continued.
    run_log.note(connection, job.name, current._replace(over=False))
    for planned in start.plans:
        shown.tell(planned.in_words)
    pace, problem = _Pace(runtime.clock.monotonic, sum(planned.requests for planned in start.plans)), ""
    for place, (fetch, result) in enumerate(zip(job.planned, start.results, strict=True), 1):
        if problem:
            result = result._replace(state="not asked", reason=problem)
        elif result.request in captured:
            result = result._replace(state="held")
        else:
            shown.show(f"{place} of {len(job.planned)}{pace.left()}: {escape_unprintable(result.name)} ...")
            result, problem = _capture(fetch, result, current, runtime)
            if result.state == "captured":
                captured[result.request] = now
        yield result
    if not problem:
        with contextlib.suppress(ArchiveError):  # otherwise the run is continued, and finds everything captured
            run_log.note(connection, job.name, current._replace(over=True))
        shown.show("taking up what was captured ...")
        # So that the first question need not. It will do so if this fails.
        with contextlib.suppress(ArchiveError, *BROKEN):
            ingest_pending(connection, runtime.find)


class _Pace:
    """How long the rest of so many requests takes, if it takes as long as what was asked by now."""

    def __init__(self, clock: Callable[[], float], due: int) -> None:
        self.clock, self.began, self.due, self.asked = clock, clock(), due, 0

    def left(self) -> str:
        """Return how long the requests take that are left, with the next one; "" before the second."""
        seconds, asked = self.clock() - self.began, self.asked
        self.asked += 1
        return f", {duration((self.due - asked) * seconds / asked)} left" if 0 < asked < self.due else ""


def _capture(
    planned: PlannedFetch, result: CaptureResult, current: run_log.CaptureRun, runtime: Runtime
) -> tuple[CaptureResult, str]:
    """Fetch a request. Return its result, and why the archive can no longer be used, or ""."""
    # Planned again for its turn: a PIT from when the list was read would leave out what came since.
    wanted, request, query, _ = plan(planned.wanted, runtime, runtime.clock.now())
    before = current.requests.get(result.request, run_log.ListedRequest(wanted.name))
    # Of a short time there may be nothing, but not of something that was never there.
    is_short = query.operation.archiving.earliest(query) is not None
    may_be_empty = wanted.may_be_empty or (is_short and before.has_brought)

    collected = collect(request, runtime, Progress())
    selection, session = collected.selection, collected.archive
    failures = [gap for gap in selection.gaps if gap.is_failure]
    is_empty = not selection.records and not may_be_empty
    if session is not None:
        session.finish(None, ExitStatus.FOUND if failures or is_empty else ExitStatus.OK)
        if session.problem and not failures:
            failures = [ConfigError(Code.NOT_RECORDED, problem=session.problem).gap]
    problem = "the archive can no longer be used" if session is not None and session.problem else ""
    gaps = failures or [*_shortfalls(collected), *([nothing(collected)] if is_empty else [])]
    reason = redactor(collected.secrets)(" ".join(dict.fromkeys(gap.reason for gap in gaps)))
    state: State = "failed" if failures else "empty" if is_empty else "captured"
    missing = "" if failures else _hole(query, microseconds.from_micros(before.last))
    result = result._replace(state=state, items=len(selection.records), exchanges=collected.requests, reason=reason)
    return result._replace(missing=missing), problem


def _hole(query: Query, last: datetime | None) -> str:
    """Return what is missing since the ``last`` capture of a request, if it looks back less far than that; else ""."""
    earliest = query.operation.archiving.earliest(query)
    if last is None or earliest is None or earliest <= last:
        return ""
    hours = (query.started - last).total_seconds() / 3600
    return (
        f"The last capture was {hours:.0f} hours ago, and this one looks back to {format_for_people(earliest)}: what "
        "came in between is missing. Let it look back further, and run it with --again."
    )


def _shortfalls(collected: CollectedRecords) -> list[Gap]:
    """Return the gaps that say why there is less than was asked for. Caveats hold for every capture alike."""
    return [
        gap
        for gap in collected.selection.gaps
        if gap.type == GapType.TRUNCATED or gap.code in (Code.EMPTY_TWICE, Code.SEARCH_LIMIT)
    ]
