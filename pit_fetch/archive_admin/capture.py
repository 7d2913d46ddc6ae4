"""Capture a list of requests: each is fetched without a limit and recorded, to answer any later question.

An interrupted run is continued, and does not repeat the requests it has captured. The state of a run is recorded in
the archive itself, so the process may be killed at any point.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.recorder import AT_ONCE
from pit_fetch.archive.store import about, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, archive_error
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ConfigError, ExitStatus, PitFetchError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, from_values
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.support import suggest
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.support.toml import NotToml, parse_toml

# The common options that a request of the list may have. The others determine as of when, or how an answer is printed.
OPTIONS = ("date_from", "date_to", "limit", "max_pages", "timeout")
# A request may have to wait for its turn, page after page.
SECONDS = 600
# An older run is not continued: its two halves would not be of one day.
CONTINUED_WITHIN = timedelta(hours=12)

State = Literal["captured", "held", "failed", "not asked"]


class CaptureRequest(NamedTuple):
    """One request of a list, as it is written there."""

    name: str
    source: str
    options: Mapping[str, object]


class CaptureResult(NamedTuple):
    """The result of a request. ``items`` is the number of public items; None if the source was not asked.

    ``reason`` is why it failed, or why the source returned less than was requested.
    """

    name: str
    source: str
    request: str
    state: State
    items: int | None = None
    exchanges: int = 0
    reason: str = ""


class CaptureRun(NamedTuple):
    """One pass through a list. ``over``: every request in it was tried."""

    began: int
    over: bool = False


def parse(text: str, runtime: Runtime) -> list[CaptureRequest]:
    """Parse the requests of a capture file. Raise UsageError, which names the request that cannot be used."""
    try:
        table = parse_toml(text)
    except NotToml as error:
        raise UsageError(Code.USAGE, text=f"it is not TOML: {error}") from None
    unknown = [name for name in table if name != "request"]
    if unknown or not isinstance(table.get("request"), list) or not table["request"]:
        problem = (
            f"it has {suggest.truncate(unknown[0])}, which means nothing there" if unknown else "it has no requests"
        )
        raise UsageError(Code.USAGE, text=f'{problem}: write [[request]], and source = "NAME" below it')
    wanted = [_parse_request(place, request) for place, request in enumerate(table["request"], 1)]
    for request in wanted:
        request_of(request, runtime, runtime.clock.now())
    return wanted


def _parse_request(place: int, table: Any) -> CaptureRequest:
    where = f"request {place}"
    if not isinstance(table, dict):
        raise UsageError(Code.USAGE, text=f"{where} is not a table: write [[request]]")
    options = dict(table)
    source, name = options.pop("source", None), options.pop("name", None)
    if not isinstance(source, str):
        raise UsageError(Code.USAGE, text=f'{where} has no source: write source = "NAME"')
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(Code.USAGE, text=f'{where} has a name that is not a text: write name = "NAME"')
    return CaptureRequest(name or f"{where} ({source})", source, options)


def request_of(wanted: CaptureRequest, runtime: Runtime, now: datetime) -> FetchRequest:
    """Return the fetch to be made ``now``. Raise UsageError, which names the request.

    The PIT is ``now``, so that a source is asked for everything that dates its records. Snapshots, which no PIT
    serves, are fetched without one, and so is a request with a limit, which is a fetch like any other.
    """
    try:
        provider = runtime.find(wanted.source)
        known = {*OPTIONS, *(option.name for option in provider.options)}
        unknown = next((name for name in wanted.options if name not in known), None)
        if unknown is not None:
            close = suggest.name(unknown, known)
            hint = f" (did you mean {close}?)" if close else ""
            raise UsageError(
                Code.USAGE, text=f"{suggest.truncate(unknown)} is not an option of a capture from {provider.name}{hint}"
            )
        values = {"timeout": SECONDS, **wanted.options}
        undated = from_values(values, provider, {})
        is_dated = build_query(undated, now).operation.dating == "record"
        is_whole = "limit" not in values and "max_pages" not in values
        request = _dated(values, undated, now) if is_dated and is_whole else undated
    except PitFetchError as error:
        raise UsageError(Code.USAGE, text=f"{wanted.name}: {error.gap.reason}") from None
    return request._replace(
        capture=True,
        limit=request.limit if "limit" in wanted.options else UNLIMITED,
        max_pages=request.max_pages if "max_pages" in wanted.options else UNLIMITED,
    )


def _dated(values: Mapping[str, object], undated: FetchRequest, now: datetime) -> FetchRequest:
    request = from_values({**values, "pit": now}, undated.provider, {})
    try:
        build_query(request, now)
    except ConfigError:  # with a PIT it needs more
        return undated
    return request


def run(
    wanted: Sequence[CaptureRequest],
    connection: sqlite3.Connection,
    name: str,
    runtime: Runtime,
    progress: Progress,
    fresh: bool,
    missing: bool,
) -> Iterator[CaptureResult]:
    """Fetch every request that is ``wanted`` and that the run under ``name`` has not captured yet.

    ``fresh`` starts a new run, ``missing`` continues the last one. Once the archive can no longer be used, nothing more
    is fetched: it would cost the source, and be for nothing.
    """
    now = microseconds.to_micros(runtime.clock.now())
    try:
        last = None if fresh else continued(connection, name, now, missing)
        # A new run has captured nothing, even if the clock was ahead during an earlier one.
        captured = set() if last is None else _captured_since(connection, last.began)
    except BROKEN as error:
        raise archive_error(error) from None
    current = last or CaptureRun(now)
    _record_run(connection, name, current._replace(over=False))
    problem = ""
    for place, entry in enumerate(wanted, 1):
        request = request_of(entry, runtime, runtime.clock.now())
        text = without_pit(request.canonical)
        result = CaptureResult(entry.name, request.provider.name, text, "held", None)
        if problem:
            result = result._replace(state="not asked", reason=problem)
        elif text not in captured:
            progress.show(f"{place} of {len(wanted)}: {escape_unprintable(entry.name)} ...")
            result, problem = _fetch(request, result, runtime)
            if result.state == "captured":
                captured.add(text)
        yield result
    if not problem:
        with contextlib.suppress(ArchiveError):  # otherwise the run is continued, and finds everything captured
            _record_run(connection, name, current._replace(over=True))
        progress.show("taking up what was captured ...")
        _ingest_all(connection, runtime)


def _ingest_all(connection: sqlite3.Connection, runtime: Runtime) -> None:
    """Ingest all pending fetches, so that the first question need not. It will do so if this fails."""
    with contextlib.suppress(ArchiveError, *BROKEN):
        streams = connection.execute("SELECT name FROM pools WHERE id IN (SELECT pool FROM due)").fetchall()
        for (stream,) in streams:
            is_left = True
            while is_left:
                with schema.transaction(connection):
                    is_left = rederive.Archived(connection, runtime.find).ingest(stream, AT_ONCE)


def _fetch(request: FetchRequest, result: CaptureResult, runtime: Runtime) -> tuple[CaptureResult, str]:
    """Fetch a request. Return its result, and why the archive can no longer be used, or ""."""
    collected = collect(request, runtime, Progress())
    clean = redactor(collected.secrets)
    failures = [gap for gap in collected.selection.gaps if gap.is_failure]
    session = collected.archive
    if session is not None:
        session.finish(None, ExitStatus.FOUND if failures else ExitStatus.OK)
        if session.problem and not failures:
            failures = [ConfigError(Code.NOT_RECORDED, problem=session.problem).gap]
    problem = "the archive can no longer be used" if session is not None and session.problem else ""
    gaps = failures or [gap for gap in collected.selection.gaps if gap.type == "truncated"]
    reason = clean(" ".join(dict.fromkeys(gap.reason for gap in gaps)))
    state: State = "failed" if failures else "captured"
    items = len(collected.selection.records)
    return result._replace(state=state, items=items, exchanges=collected.requests, reason=reason), problem


def continued(connection: sqlite3.Connection, name: str, now: int, missing: bool = False) -> CaptureRun | None:
    """Return the run under ``name`` to continue: a recent one that was interrupted or, if ``missing``, the last one."""
    noted = about.get(connection, name)
    if noted is None:
        return None
    last = CaptureRun(**json.loads(noted))
    is_recent = abs(microseconds.from_micros(now) - microseconds.from_micros(last.began)) < CONTINUED_WITHIN
    return last if missing or (is_recent and not last.over) else None


def name_of(path: str) -> str:
    """Return the name under which the archive records the runs of a file. It does not reveal the path."""
    return "capture " + sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _record_run(connection: sqlite3.Connection, name: str, run: CaptureRun) -> None:
    with schema.transaction(connection):
        about.put(connection, name, json.dumps(run._asdict()))


def _captured_since(connection: sqlite3.Connection, since: int) -> set[str]:
    rows = connection.execute(
        "SELECT f.request FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE f.began >= ? AND a.answer IS NULL AND a.status = 0",
        (since,),
    )
    return {without_pit(request) for (request,) in rows}


def without_pit(canonical: str) -> str:
    """Return the canonical request without its PIT, as it is written in the list."""
    arguments = shlex.split(canonical)
    place = arguments.index("--pit") if "--pit" in arguments else len(arguments)
    return shlex.join([*arguments[:place], *arguments[place + 2 :]])
