"""Captures from end to end, of a file or of requests in Python, into the archive at a path; and their reports."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from pit_fetch.archive.recorder import check_clock
from pit_fetch.archive.store import microseconds, schema
from pit_fetch.archive.store.errors import archive_error
from pit_fetch.archive_admin.capture import request_list, run_log
from pit_fetch.archive_admin.capture.estimate import SourcePlan
from pit_fetch.archive_admin.capture.results import CaptureResult
from pit_fetch.archive_admin.capture.run import CaptureJob, Shown, prepare, run
from pit_fetch.archive_admin.operators import VARIABLE
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.audience import OFFLINE_VARIABLE, is_offline
from pit_fetch.runtime import Runtime


class CaptureReport(NamedTuple):
    """The report of a capture. ``pandas.DataFrame(report.requests)`` is a frame of it.

    archive   the path of the archive
    requests  the result of each request, in the order of the list
    plan      what was asked of each source, and how long its rates make that take at least
    is_dry    nothing was asked
    """

    archive: str
    requests: tuple[CaptureResult, ...]
    plan: tuple[SourcePlan, ...]
    is_dry: bool = False

    @property
    def failed(self) -> tuple[CaptureResult, ...]:
        """The requests that failed, brought nothing, or were not asked any more. ``missing`` asks for them again."""
        failures = ("failed",) if self.is_dry else ("failed", "not asked", "empty")
        return tuple(result for result in self.requests if result.state in failures)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many requests were captured, were held already, brought nothing, and failed."""
        counts = {state: sum(row.state == state for row in self.requests) for state in ("captured", "empty", "held")}
        return {**counts, "failed": len(self.failed) - counts["empty"]}

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        rows = [result._asdict() for result in self.requests]
        plan = [{**planned._asdict(), "days": planned.days} for planned in self.plan]
        return {"archive": self.archive, **self.counts, "plan": plan, "requests": rows}


@contextlib.contextmanager
def file_job(file: str, runtime: Runtime) -> Iterator[CaptureJob]:
    """Yield the job of a list of requests, which no other capture can begin meanwhile. Raise UsageError."""
    with _locked(file) as text:
        folder = os.path.dirname(os.path.abspath(file))
        yield CaptureJob(request_list.parse(text, runtime._replace(folder=folder)), run_log.name_of(file))


def requests_job(requests: Iterable[Mapping[str, object]], runtime: Runtime) -> CaptureJob:
    """Return the job of requests given in Python. Raise UsageError, which names the one that cannot be used."""
    planned = request_list.fetches_of(requests, runtime)
    return CaptureJob(planned, run_log.name_of_requests(fetch.text for fetch in planned))


def carry_out(job: CaptureJob, path: str, runtime: Runtime, shown: Shown, *, is_dry: bool = False) -> CaptureReport:
    """Carry out a job, or only plan it, and return the report. Raise ArchiveError, or ConfigError for a broken rate.

    Raise UsageError if the environment lets the archive alone answer.
    """
    if is_offline(runtime.environ) and not is_dry:
        raise UsageError(Code.USAGE, text=f"{OFFLINE_VARIABLE} is set, and a capture asks the sources: unset it")
    runtime = runtime._replace(environ={**runtime.environ, VARIABLE: path})
    try:
        if not is_dry:
            with closing(schema.open_to_write(path, request_list.SECONDS)) as connection:  # as long as for a request
                check_clock(connection, microseconds.to_micros(runtime.clock.now()))
                start = prepare(job, connection, runtime)
                results = []
                for result in run(job, start, connection, runtime, shown):
                    shown.note(result)
                    results.append(result)
                order = {(result.name, result.request): place for place, result in enumerate(start.results)}
                results.sort(key=lambda result: order[result.name, result.request])
                return CaptureReport(path, tuple(results), start.plans)
        if os.path.exists(path):
            with closing(schema.open_to_read(path)) as reader, schema.snapshot(reader):
                start = prepare(job, reader, runtime)
        else:
            start = prepare(job, None, runtime)
        return CaptureReport(path, tuple(start.results), start.plans, is_dry=True)
    except sqlite3.Error as error:
        raise archive_error(error) from error


@contextlib.contextmanager
def _locked(file: str) -> Iterator[str]:
    """Yield the text of a file. Raise OSError, or UsageError if another capture of it is under way."""
    with open(file, encoding="utf-8-sig") as stream:  # with or without a byte order mark
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(Code.USAGE, text="another capture of it is under way") from None
        except (ImportError, OSError):  # Windows, or a file system without locks
            pass
        yield stream.read()
