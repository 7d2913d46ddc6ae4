"""Capture a list of requests: each is fetched without a limit and recorded, to answer any later question.

An interrupted run is continued, and does not repeat the requests it has captured. The state of a run is recorded in
the archive itself, so the process may be killed at any point.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, translating
from pit_fetch.archive.store.index import FetchToIndex
from pit_fetch.archive_admin.capture import run_log
from pit_fetch.archive_admin.capture.estimate import SourcePlan, duration, plans
from pit_fetch.archive_admin.capture.request_list import PlannedFetch
from pit_fetch.archive_admin.capture.results import CaptureResult, State
from pit_fetch.archive_admin.capture.tasks import UNUSABLE, Task, ask_all
from pit_fetch.archive_admin.maintenance import ingest_pending
from pit_fetch.provider import Provider
from pit_fetch.runtime import Runtime
from pit_fetch.support.terminal import escape_unprintable

# How many requests of one source are under way at once, if nothing else is said.
_PARALLEL = 8
# How many captured requests are added to the index together: what was parsed of them is kept in memory so long.
_AT_ONCE = 100


class CaptureJob(NamedTuple):
    """What to capture, and which part of it now.

    planned   the fetches, as of when the list was read
    name      under which the archive notes the runs of the list
    again     ask for everything, even if the last run was broken off
    missing   ask only for what the last run did not get
    parallel  how many requests of one source are under way at once, if its rate allows them
    """

    planned: Sequence[PlannedFetch]
    name: str
    again: bool = False
    missing: bool = False
    parallel: int = _PARALLEL


class Prepared(NamedTuple):
    """A capture before anything is asked.

    results  one for each request: "held" if the run to be continued has captured it
    plans    what is asked of each source for the others
    run      the run to be continued, or a new one
    known    what the archive notes of the requests, by their texts
    """

    results: list[CaptureResult]
    plans: tuple[SourcePlan, ...]
    run: run_log.CaptureRun
    known: dict[str, run_log.ListedRequest]


class Shown(NamedTuple):
    """Where a capture says how far it is: ``show`` replaces the line before, ``tell`` leaves one that stays.

    ``note`` receives each result as it comes.
    """

    show: Callable[[str], None] = lambda text: None
    tell: Callable[[str], None] = lambda text: None
    note: Callable[[CaptureResult], None] = lambda result: None


def prepare(job: CaptureJob, connection: sqlite3.Connection | None, runtime: Runtime) -> Prepared:
    """Return what a capture will do, with an archive or, if there is none yet, without.

    Raise ArchiveError, or ConfigError for a malformed rate.
    """
    now = microseconds.to_micros(runtime.clock.now())
    last, known = None, dict[str, run_log.ListedRequest]()
    if connection is not None:
        with translating():
            last = None if job.again else run_log.continued(connection, job.name, now, job.missing)
            known = run_log.requests(connection, job.name)
    current = last or run_log.CaptureRun(os.urandom(6).hex(), now)
    due: dict[str, tuple[Provider, int]] = {}
    results = []
    for fetch in job.planned:
        provider, text = fetch.request.provider, fetch.text
        before = known.setdefault(text, run_log.ListedRequest(text, fetch.wanted.name))
        state: State = "held" if before.run == current.id else "not asked"
        results.append(CaptureResult(fetch.wanted.name, provider.name, text, state, note=fetch.note))
        if state != "held":
            due[text] = provider, before.calls
    return Prepared(results, plans(due.values(), runtime.environ), current, known)


def run(
    job: CaptureJob, start: Prepared, connection: sqlite3.Connection, runtime: Runtime, shown: Shown
) -> Iterator[CaptureResult]:
    """Fetch every request of a job that its run has not captured yet. Yield the results as they come.

    Once the archive can no longer be used, nothing more is fetched: it would cost the source, and be for nothing.
    """
    current, known = start.run, start.known
    # A process that is killed leaves a run that is continued.
    run_log.note(connection, job.name, current._replace(over=False))
    for planned in start.plans:
        shown.tell(planned.in_words)
    due, later, listed = list[Task](), list[CaptureResult](), set[str]()
    for fetch, result in zip(job.planned, start.results, strict=True):
        if result.state == "held":
            yield result
        elif result.request in listed:  # the list has it twice
            later.append(result)
        else:
            listed.add(result.request)
            due.append(Task(fetch, result, known[result.request]._replace(name=result.name)))
    pace, problem, parsed = _Pace(runtime.clock.monotonic, len(due)), "", list[FetchToIndex]()
    for done, outcome in enumerate(ask_all(due, runtime, job.parallel), 1):
        shown.show(f"{done} of {len(due)}{pace.left()}: {escape_unprintable(outcome.result.name)}")
        problem = problem or outcome.problem
        if outcome.known is not None:
            is_captured = outcome.result.state == "captured"
            known[outcome.result.request] = outcome.known._replace(run=current.id if is_captured else "")
            try:
                run_log.note_request(connection, job.name, known[outcome.result.request])
            except ArchiveError:
                problem = UNUSABLE
        parsed += [] if outcome.parsed is None else [outcome.parsed]
        if len(parsed) >= _AT_ONCE and not problem:
            _take_up(parsed, connection, runtime)
        yield outcome.result
    for result in later:
        is_held = known[result.request].run == current.id
        yield result._replace(state="held") if is_held else result._replace(reason="the list has it twice")
    if not problem:
        with contextlib.suppress(ArchiveError):  # otherwise the run is continued, and finds everything captured
            run_log.note(connection, job.name, current._replace(over=True))
        shown.show("taking up what was captured ...")
        _take_up(parsed, connection, runtime)


def _take_up(parsed: list[FetchToIndex], connection: sqlite3.Connection, runtime: Runtime) -> None:
    """Add what was captured to the index, so that the first question need not. It will do so if this fails."""
    with contextlib.suppress(ArchiveError, *BROKEN):
        ingest_pending(connection, runtime.find, parsed)
    parsed.clear()


class _Pace:
    """How long the rest of so many requests takes, if it takes as long as what was asked by now."""

    def __init__(self, clock: Callable[[], float], due: int) -> None:
        self.clock, self.began, self.due, self.asked = clock, clock(), due, 0

    def left(self) -> str:
        """Return how long the requests take that are left, with the next one; "" before the second."""
        seconds, asked = self.clock() - self.began, self.asked
        self.asked += 1
        return f", {duration((self.due - asked) * seconds / asked)} left" if 0 < asked < self.due else ""
