"""Captures from end to end: of a file, or of requests in Python, into the archive at a path."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import archive_error
from pit_fetch.archive_admin.capture import request_list, run_log
from pit_fetch.archive_admin.capture.report import CaptureReport
from pit_fetch.archive_admin.capture.run import CaptureJob, Shown, prepare, run
from pit_fetch.archive_admin.operators import VARIABLE
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.runtime import Runtime


@contextlib.contextmanager
def of_file(file: str, runtime: Runtime) -> Iterator[CaptureJob]:
    """Yield the job of a list of requests, which no other capture can begin meanwhile. Raise UsageError."""
    with _locked(file) as text:
        folder = os.path.dirname(os.path.abspath(file))
        yield CaptureJob(request_list.parse(text, runtime._replace(folder=folder)), run_log.name_of(file))


def of_requests(requests: Iterable[Mapping[str, object]], runtime: Runtime) -> CaptureJob:
    """Return the job of requests that stand in no file. Raise UsageError, which names the one that cannot be used."""
    planned = request_list.fetches_of(requests, runtime)
    return CaptureJob(planned, run_log.name_of_requests(fetch.text for fetch in planned))


def carried_out(job: CaptureJob, path: str, runtime: Runtime, shown: Shown, *, is_dry: bool = False) -> CaptureReport:
    """Carry out a job, or only plan it, and return the report. Raise ArchiveError, or ConfigError for a broken rate."""
    runtime = runtime._replace(environ={**runtime.environ, VARIABLE: path})
    try:
        if is_dry and not os.path.exists(path):
            start = prepare(job, None, runtime)
            return CaptureReport(path, tuple(start.results), start.plans, is_dry=True)
        if is_dry:
            with closing(schema.open_to_read(path)) as reader, schema.snapshot(reader):
                start = prepare(job, reader, runtime)
            return CaptureReport(path, tuple(start.results), start.plans, is_dry=True)
        with closing(schema.open_to_write(path)) as connection:
            start = prepare(job, connection, runtime)
            results = run(job, start, connection, runtime, shown)
            return CaptureReport(path, tuple(results), start.plans)
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
