"""The runs of captures, as the archive notes them: what is on a list, and when it was captured last."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import NamedTuple

from pit_fetch.archive.store import about, microseconds, schema

# An older run is not continued: its two halves would not be of one day.
CONTINUED_WITHIN = timedelta(hours=12)
_PREFIX = "capture "


class ListedRequest(NamedTuple):
    """A request of a list, as it was before the run began.

    last         when it was captured last; None if it never was
    has_brought  it once brought an item
    """

    name: str
    last: int | None = None
    has_brought: bool = False


class CaptureRun(NamedTuple):
    """One pass through a list. ``over``: every request in it was tried."""

    began: int
    over: bool = False
    requests: Mapping[str, ListedRequest] = {}


def begin(connection: sqlite3.Connection, name: str, now: int, wanted: Mapping[str, str]) -> CaptureRun:
    """Return a new run of the ``wanted`` requests, whose names are given by their texts."""
    before = noted(connection, name) or CaptureRun(now)
    captured = captured_since(connection, before.began)
    with_items = captured_since(connection, before.began, with_items=True)
    requests = {}
    for text, title in wanted.items():
        known = before.requests.get(text, ListedRequest(title))
        requests[text] = ListedRequest(title, captured.get(text, known.last), text in with_items or known.has_brought)
    return CaptureRun(now, requests=requests)


def continued(connection: sqlite3.Connection, name: str, now: int, missing: bool = False) -> CaptureRun | None:
    """Return the run under ``name`` to continue: a recent one that was interrupted or, if ``missing``, the last one."""
    last = noted(connection, name)
    if last is None:
        return None
    is_recent = abs(microseconds.from_micros(now) - microseconds.from_micros(last.began)) < CONTINUED_WITHIN
    return last if missing or (is_recent and not last.over) else None


def noted(connection: sqlite3.Connection, name: str) -> CaptureRun | None:
    """Return the last run under ``name``, or None."""
    text = about.get(connection, name)
    return None if text is None else _parse(text)


def note(connection: sqlite3.Connection, name: str, run: CaptureRun) -> None:
    with schema.transaction(connection):
        about.put(connection, name, json.dumps(run._asdict()))


def names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the names of all requests that are on a list, by their texts."""
    lists = [_parse(text) for name, text in about.sound(connection) if name.startswith(_PREFIX)]
    return {text: listed.name for run in lists for text, listed in run.requests.items()}


def name_of(path: str) -> str:
    """Return the name under which the archive notes the runs of a file. It does not reveal the path."""
    return _name(os.path.realpath(path))


def captured_since(connection: sqlite3.Connection, since: int, *, with_items: bool = False) -> dict[str, int]:
    """Return when requests were captured last, if at or after ``since``: in full, or ``with_items``."""
    rows = connection.execute(
        "SELECT f.request, f.began FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE f.began >= ? AND a.answer IS NULL AND (a.status = 0 OR (a.complete AND NOT ?)) ORDER BY f.began",
        (since, with_items),
    )
    return {without_pit(request): began for request, began in rows}  # the last one wins, since they come in order


def calls(connection: sqlite3.Connection, name: str) -> dict[str, int]:
    """Return how many exchanges each request took that the last run under ``name`` captured to its end."""
    last = noted(connection, name)
    if last is None:
        return {}
    rows = connection.execute(
        "SELECT f.request, (SELECT count(*) FROM exchanges e WHERE e.origin = f.origin AND e.fetch = f.seq) "
        "FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE f.began >= ? AND a.answer IS NULL AND a.complete ORDER BY f.began",
        (last.began,),
    )

    return {without_pit(request): max(1, count) for request, count in rows}


def name_of_requests(texts: Iterable[str]) -> str:
    """Return the name under which the archive notes the runs of requests that were given in Python."""
    return _name("\n".join(sorted(texts)))


def _name(text: str) -> str:
    return _PREFIX + sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def without_pit(canonical: str) -> str:
    """Return the canonical request without its PIT, as it is written in the list."""
    arguments = shlex.split(canonical)
    place = arguments.index("--pit") if "--pit" in arguments else len(arguments)
    return shlex.join([*arguments[:place], *arguments[place + 2 :]])


def _parse(text: str) -> CaptureRun:
    run = CaptureRun(**json.loads(text))
    return run._replace(requests={name: ListedRequest(*listed) for name, listed in run.requests.items()})
