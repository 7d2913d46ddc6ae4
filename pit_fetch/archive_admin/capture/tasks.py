"""Ask for the requests of a capture, several at once: of each source as many as its rate allows."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import ceil
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.index import FetchToIndex
from pit_fetch.archive_admin.capture import run_log
from pit_fetch.archive_admin.capture.documents import Documents, View
from pit_fetch.archive_admin.capture.request_list import PlannedFetch, plan
from pit_fetch.archive_admin.capture.results import CaptureResult, State, Traffic
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import CollectedRecords, nothing
from pit_fetch.errors import ConfigError, ExitStatus
from pit_fetch.gaps import Code, Gap, GapType
from pit_fetch.net import cache
from pit_fetch.net.ratelimit import rate_of
from pit_fetch.provider import Provider, Query
from pit_fetch.request import coverage
from pit_fetch.runtime import Runtime, no_alarm
from pit_fetch.support.redaction import redactor
from pit_fetch.times import format_for_people

UNUSABLE = "the archive can no longer be used"
# A request that has not ended so many seconds after its time limit is given up: its provider never returns.
_GRACE = 60
_PATIENCE = 2


class Task(NamedTuple):
    """A request to be asked, its result so far, and what was noted of it before."""

    fetch: PlannedFetch
    result: CaptureResult
    before: run_log.ListedRequest


class Outcome(NamedTuple):
    """A request that was asked.

    known    what is to be noted of it, if it ran to its end
    problem  why nothing more can be asked
    parsed   what the index is to take of it
    """

    result: CaptureResult
    known: run_log.ListedRequest | None = None
    problem: str = ""
    parsed: FetchToIndex | None = None


def ask_all(tasks: Sequence[Task], runtime: Runtime, parallel: int) -> Iterator[Outcome]:
    """Yield what becomes of each request, as they end. After a problem with the archive, none is begun."""
    if parallel == 1:
        problem = ""
        for task in tasks:
            outcome = (
                _not_asked(task, problem) if problem else _capture(task, runtime, Documents(1, runtime.clock.now()))
            )
            problem = problem or outcome.problem
            yield outcome
        return
    with contextlib.ExitStack() as stack:
        environ = runtime.environ
        if not cache.folder(environ):  # there, the requests of a host share its rate
            environ = {**environ, "XDG_CACHE_HOME": stack.enter_context(TemporaryDirectory())}
        # An alarm rings in the main thread alone.
        workers = _Workers(tasks, runtime._replace(alarm=no_alarm, environ=environ), parallel)
        stack.callback(workers.end)
        yield from workers.outcomes()


def _not_asked(task: Task, problem: str) -> Outcome:
    return Outcome(task.result._replace(state="not asked", reason=problem))


class _Workers:
    """Threads that ask, some for each source, so that none waits for the rate of another.

    They end with the process: what a fetch has received by then is recorded.
    """

    def __init__(self, tasks: Sequence[Task], runtime: Runtime, parallel: int) -> None:
        self.runtime, self.stop, self.problem = runtime, threading.Event(), ""
        self.done: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
        self.tasks = dict(enumerate(tasks))
        self.threads: list[threading.Thread] = []
        by_source: dict[str, list[int]] = {}
        for number, task in self.tasks.items():
            by_source.setdefault(task.result.source, []).append(number)
        for numbers in by_source.values():
            most = at_once(self.tasks[numbers[0]].fetch.request.provider, runtime.environ, parallel)
            together = [*self._together(numbers, most)]
            waiting: queue.SimpleQueue[Sequence[int]] = queue.SimpleQueue()
            for unit in together:
                waiting.put(unit)
            self._start(waiting, min(len(together), most // max(map(len, together))) - 1)

    def _together(self, numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
        """Yield the requests of a source, together those that may need the same documents, at most so many."""
        alike: dict[object, list[int]] = {}
        for number in numbers:
            request, query = self.tasks[number].fetch.request, self.tasks[number].fetch.query
            shaping = coverage.shaping(query, request.provider.all_options)
            alike.setdefault((query.operation.name, *sorted(shaping.items())), []).append(number)
        for group in alike.values():
            yield from (group[place : place + most] for place in range(0, len(group), most))

    def _start(self, waiting: queue.SimpleQueue[Sequence[int]], others: int = 0) -> None:
        """Start a thread, which starts so many others once it has an answer: the first one loads what they need."""
        self.threads.append(threading.Thread(target=self._work, args=(waiting, others), daemon=True))
        self.threads[-1].start()

    def end(self) -> None:
        """Begin nothing more, and wait a little for what is under way: after an interrupt, nobody waits for long."""
        self.stop.set()
        until = time.monotonic() + _PATIENCE
        for thread in [*self.threads]:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self, waiting: queue.SimpleQueue[Sequence[int]], others: int) -> None:
        while not self.stop.is_set():
            try:
                first, *rest = unit = waiting.get_nowait()
            except queue.Empty:
                return
            documents = Documents(len(unit), self.runtime.clock.now())
            threads = [threading.Thread(target=self._ask, args=(number, documents), daemon=True) for number in rest]
            self.threads += threads
            for thread in threads:
                thread.start()
            self._ask(first, documents)
            for thread in threads:
                thread.join()
            for _ in range(others):
                self._start(waiting)
            others = 0

    def _ask(self, number: int, documents: Documents) -> None:
        task = self.tasks[number]
        try:
            outcome = _not_asked(task, self.problem) if self.problem else _capture(task, self.runtime, documents)
            self.done.put((number, outcome))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self.done.put((number, error))

    def outcomes(self) -> Iterator[Outcome]:
        left = {*self.tasks}
        while left:
            longest = max(self.tasks[number].fetch.request.timeout for number in left) + _GRACE
            try:
                number, outcome = self.done.get(timeout=longest)
            except KeyboardInterrupt:
                yield from self._ended()
                raise
            except queue.Empty:  # nothing ended for longer than any of them may take
                for number in sorted(left):
                    yield Outcome(
                        self.tasks[number].result._replace(state="failed", reason="its source never returned")
                    )
                return
            left.discard(number)
            if isinstance(outcome, BaseException):
                yield from self._ended()
                raise outcome
            self.problem = self.problem or outcome.problem
            yield outcome

    def _ended(self) -> Iterator[Outcome]:
        """Begin nothing more, and yield what has ended by then."""
        self.end()
        with contextlib.suppress(queue.Empty):
            while True:
                _, outcome = self.done.get_nowait()
                if isinstance(outcome, Outcome):
                    yield outcome


def at_once(provider: Provider, environ: Mapping[str, str], parallel: int) -> int:
    """Return how many requests of a source are under way at once: as many as its rate lets begin in two seconds.

    More would wait for their turns, each within its own time limit.
    """
    rates = [rate_of(host, environ) for host in provider.hosts]
    starts = [ceil(2 * rate.calls / rate.seconds) for rate in rates if rate is not None]
    return max(1, min([parallel, *starts]))


def _capture(task: Task, runtime: Runtime, documents: Documents) -> Outcome:
    """Fetch a request. One that failed leaves what was noted of it before."""
    planned, result, before = task
    began, traffic = runtime.clock.monotonic(), Traffic(runtime.transport)
    runtime = runtime._replace(transport=View(documents, traffic, set()))
    # Planned again for its turn: a PIT from when the list was read would leave out what came since.
    wanted, request, query, _ = plan(planned.wanted, runtime, documents.began)
    collected = collect(request, runtime, Progress(), None, documents.began)
    # Of a short time there may be nothing, but not of something that was never there.
    is_short = query.operation.archiving.earliest(query) is not None
    may_be_empty = wanted.may_be_empty or (is_short and before.has_brought)

    selection, session = collected.selection, collected.archive
    failures = [gap for gap in selection.gaps if gap.is_failure]
    is_empty = not selection.records and not may_be_empty
    if session is not None:
        session.finish(None, ExitStatus.FOUND if failures or is_empty else ExitStatus.OK)
        if session.problem and not failures:
            failures = [ConfigError(Code.NOT_RECORDED, problem=session.problem).gap]
    problem = UNUSABLE if session is not None and session.problem else ""
    gaps = failures or [*_shortfalls(collected), *([nothing(collected)] if is_empty else [])]
    reason = redactor(collected.secrets)(" ".join(dict.fromkeys(gap.reason for gap in gaps)))
    state: State = "failed" if failures else "empty" if is_empty else "captured"
    missing = "" if failures else _hole(query, microseconds.from_micros(before.last))
    result = result._replace(
        state=state,
        items=len(selection.records),
        exchanges=collected.requests,
        reason=reason,
        missing=missing,
        bytes=traffic.bytes,
        seconds=runtime.clock.monotonic() - began,
        retries=dict(traffic.retries),
    )
    parsed = None if session is None else session.recorder.to_index()
    if failures or session is None or session.recorder.key is None:
        return Outcome(result, None, problem, parsed)
    after = before._replace(
        fetch=str(session.recorder.key),
        last=microseconds.to_micros(query.started),
        calls=max(1, collected.requests),
        has_brought=before.has_brought or bool(selection.records),
    )
    return Outcome(result, after, problem, parsed)


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
