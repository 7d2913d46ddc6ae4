"""Captures: a list of requests, each asked without a limit and recorded, to answer any later question.

A run that was broken off is continued: what it has is not asked again. Which run that is, is recorded in
the archive itself, so that a process may be killed at any point.
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
from pit_fetch.archive.store import microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, of_broken
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ConfigError, ExitStatus, PitFetchError, UsageError
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, of_values
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.support import suggest
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.support.toml import NotToml, table_of

# What a request of the list may say besides the options of its source. None of them changes what is asked for by what
# was asked before; the rest of a fetch's options say as of when, or how an answer is printed.
OPTIONS = ("date_from", "date_to", "limit", "max_pages", "timeout")
# A request may have to wait for its turn, page after page.
SECONDS = 600
# A run that was broken off longer ago is not continued: its first half would no longer be of one day with the second.
CONTINUED_WITHIN = timedelta(hours=12)

State = Literal["captured", "held", "failed", "not asked"]


class Wanted(NamedTuple):
    """One request of a list, as it was written."""

    name: str
    source: str
    options: Mapping[str, object]


class Done(NamedTuple):
    """What became of a request. ``items`` are those of the reply that were public; None if it was not asked.

    ``reason`` is why it failed, or why the source ended before everything that was asked for was there.
    """

    name: str
    source: str
    request: str
    state: State
    items: int | None = None
    exchanges: int = 0
    reason: str = ""


class Run(NamedTuple):
    """One passage through a list. ``over``: everything in it was tried."""

    began: int
    over: bool = False


def read(text: str, runtime: Runtime) -> list[Wanted]:
    """The requests of a capture file. Raises UsageError, which names the request that cannot be used."""
    try:
        table = table_of(text)
    except NotToml as error:
        raise UsageError("usage", text=f"it is not TOML: {error}") from None
    unknown = [name for name in table if name != "request"]
    if unknown or not isinstance(table.get("request"), list) or not table["request"]:
        said = f"it has {suggest.shown(unknown[0])}, which means nothing there" if unknown else "it has no requests"
        raise UsageError("usage", text=f'{said}: write [[request]], and source = "NAME" below it')
    found = [_wanted(place, one) for place, one in enumerate(table["request"], 1)]
    for one in found:
        request_of(one, runtime, runtime.clock.now())
    return found


def _wanted(place: int, table: Any) -> Wanted:
    where = f"request {place}"
    if not isinstance(table, dict):
        raise UsageError("usage", text=f"{where} is not a table: write [[request]]")
    options = dict(table)
    source, name = options.pop("source", None), options.pop("name", None)
    if not isinstance(source, str):
        raise UsageError("usage", text=f'{where} has no source: write source = "NAME"')
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError("usage", text=f'{where} has a name that is not a text: write name = "NAME"')
    return Wanted(name or f"{where} ({source})", source, options)


def request_of(wanted: Wanted, runtime: Runtime, now: datetime) -> FetchRequest:
    """What is asked of a source ``now``. Raises UsageError, which names the request.

    With a PIT of now a source is asked for all that dates its records. What would not be answered with one is asked
    without, and so is what has a limit: that is a fetch like any other.
    """
    try:
        provider = runtime.find(wanted.source)
        known = {*OPTIONS, *(option.name for option in provider.options)}
        odd = next((name for name in wanted.options if name not in known), None)
        if odd is not None:
            close = suggest.name(odd, known)
            hint = f" (did you mean {close}?)" if close else ""
            raise UsageError(
                "usage", text=f"{suggest.shown(odd)} is not an option of a capture from {provider.name}{hint}"
            )
        values = {"timeout": SECONDS, **wanted.options}
        undated = of_values(values, provider, {})
        is_dated = build_query(undated, now).operation.dating == "record"
        is_whole = "limit" not in values and "max_pages" not in values
        request = _dated(values, undated, now) if is_dated and is_whole else undated
    except PitFetchError as error:
        raise UsageError("usage", text=f"{wanted.name}: {error.gap.reason}") from None
    return request._replace(
        capture=True,
        limit=request.limit if "limit" in wanted.options else UNLIMITED,
        max_pages=request.max_pages if "max_pages" in wanted.options else UNLIMITED,
    )


def _dated(values: Mapping[str, object], undated: FetchRequest, now: datetime) -> FetchRequest:
    request = of_values({**values, "pit": now}, undated.provider, {})
    try:
        build_query(request, now)
    except ConfigError:  # it needs more with a PIT than without
        return undated
    return request


def run(
    wanted: Sequence[Wanted],
    connection: sqlite3.Connection,
    name: str,
    runtime: Runtime,
    progress: Progress,
    fresh: bool,
    missing: bool,
) -> Iterator[Done]:
    """Asks for everything that is ``wanted`` and that the run under ``name`` does not have yet.

    Without an archive nothing is asked: each request would cost the source, and be for nothing.
    """
    now = microseconds.number(runtime.clock.now())
    try:
        last = None if fresh else continued(connection, name, now, missing)
        # A new run has nothing yet, even if the clock was ahead when something was captured.
        has = set() if last is None else _has(connection, last.began)
    except BROKEN as error:
        raise of_broken(error) from None
    current = last or Run(now)
    _note(connection, name, current._replace(over=False))
    problem = ""
    for place, one in enumerate(wanted, 1):
        request = request_of(one, runtime, runtime.clock.now())
        shown = plain(request.canonical)
        done = Done(one.name, request.provider.name, shown, "held", None)
        if problem:
            done = done._replace(state="not asked", reason=problem)
        elif shown not in has:
            progress.show(f"{place} of {len(wanted)}: {escape_unprintable(one.name)} ...")
            done, problem = _ask(request, done, runtime)
            if done.state == "captured":
                has.add(shown)
        yield done
    if not problem:
        with contextlib.suppress(ArchiveError):  # a run that is not over is continued, and has everything
            _note(connection, name, current._replace(over=True))
        progress.show("taking up what was captured ...")
        _take_up(connection, runtime)


def _take_up(connection: sqlite3.Connection, runtime: Runtime) -> None:
    """Takes up what is due, so that the first question need not; if it cannot be done now, that one does it."""
    with contextlib.suppress(ArchiveError, *BROKEN):
        pools = connection.execute("SELECT name FROM pools WHERE id IN (SELECT pool FROM due)").fetchall()
        for (pool,) in pools:
            is_left = True
            while is_left:
                with schema.transaction(connection):
                    is_left = rederive.Archived(connection, runtime.find, {}).take_up(pool, AT_ONCE)


def _ask(request: FetchRequest, done: Done, runtime: Runtime) -> tuple[Done, str]:
    """What became of a request; and why the archive can no longer be used, or ""."""
    collected = collect(request, runtime, Progress())
    clean = redactor(collected.secrets)
    failures = [one for one in collected.selection.gaps if one.is_failure]
    memory = collected.archive
    if memory is not None:
        memory.finish(None, ExitStatus.FOUND if failures else ExitStatus.OK)
        if memory.problem and not failures:
            failures = [ConfigError("not_recorded", problem=memory.problem).gap]
    problem = "the archive can no longer be used" if memory is not None and memory.problem else ""
    said = failures or [one for one in collected.selection.gaps if one.type == "truncated"]
    reason = clean(" ".join(dict.fromkeys(one.reason for one in said)))
    state: State = "failed" if failures else "captured"
    items = len(collected.selection.records)
    return done._replace(state=state, items=items, exchanges=collected.requests, reason=reason), problem


def continued(connection: sqlite3.Connection, name: str, now: int, missing: bool = False) -> Run | None:
    """The run under ``name`` that goes on: one that was broken off lately, or, for what is ``missing``, the last."""
    row = connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    last = Run(**json.loads(row[0]))
    is_recent = abs(microseconds.moment(now) - microseconds.moment(last.began)) < CONTINUED_WITHIN
    return last if missing or (is_recent and not last.over) else None


def name_of(path: str) -> str:
    """The name under which the runs of a file are kept in the archive. It does not reveal the path."""
    return "capture " + sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _note(connection: sqlite3.Connection, name: str, run: Run) -> None:
    with schema.transaction(connection):
        connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(run._asdict())))


def _has(connection: sqlite3.Connection, since: int) -> set[str]:
    """The requests that were captured since an instant."""
    rows = connection.execute(
        "SELECT f.request FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE f.began >= ? AND a.answer IS NULL AND a.status = 0",
        (since,),
    )
    return {plain(request) for (request,) in rows}


def plain(canonical: str) -> str:
    """The request as it is written in the list, where it has no PIT."""
    words = shlex.split(canonical)
    place = words.index("--pit") if "--pit" in words else len(words)
    return shlex.join([*words[:place], *words[place + 2 :]])
