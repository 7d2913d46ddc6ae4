"""The runs of captures, as the archive notes them: which request of a list was captured by which run, and when last.

A request is held if its note names the run and a fetch that is in the archive. Times decide nothing: clocks go wrong.
"""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from typing import NamedTuple

from pit_fetch.archive.store import about, microseconds, schema

# An older run is not continued: its two halves would not be of one day.
CONTINUED_WITHIN = timedelta(hours=12)
_PREFIX = "capture "


class ListedRequest(NamedTuple):
    """A request of a list, as it was when it last ran to its end.

    run          the run that captured it
    fetch        its key in the journal
    last         when it was captured; None if it never was
    calls        how many exchanges that took
    has_brought  it once brought an item
    """

    text: str
    name: str
    run: str = ""
    fetch: str = ""
    last: int | None = None
    calls: int = 1
    has_brought: bool = False


class CaptureRun(NamedTuple):
    """One pass through a list. ``over``: every request in it was tried."""

    id: str
    began: int
    over: bool = False


def continued(connection: sqlite3.Connection, name: str, now: int, missing: bool = False) -> CaptureRun | None:
    """Return the run under ``name`` to continue: a recent one that was interrupted or, if ``missing``, the last one."""
    text = about.get(connection, name)
    if text is None:
        return None
    noted = json.loads(text)
    if "id" not in noted:  # of format 8, whose requests do not say which run captured them
        return None
    last = CaptureRun(**noted)
    is_recent = abs(microseconds.from_micros(now) - microseconds.from_micros(last.began)) < CONTINUED_WITHIN
    return last if missing or (is_recent and not last.over) else None


def note(connection: sqlite3.Connection, name: str, run: CaptureRun) -> None:
    with schema.transaction(connection):
        about.put(connection, name, json.dumps(run._asdict()))


def note_request(connection: sqlite3.Connection, name: str, request: ListedRequest) -> None:
    """Note how a request of the list under ``name`` was captured. Raise ArchiveError."""
    with schema.transaction(connection):
        about.put(connection, f"{name} {_digest(request.text)}", json.dumps(request))


def requests(connection: sqlite3.Connection, name: str) -> dict[str, ListedRequest]:
    """Return the requests of the list under ``name``, by their texts. One whose fetch is gone was never captured."""
    listed = {request.text: request for request in _noted(connection, f"{name} ")}
    query = "SELECT 1 FROM fetches WHERE origin = ? AND seq = ?"
    gone = [
        text
        for text, request in listed.items()
        if request.fetch and not connection.execute(query, request.fetch.rsplit("-", 1)).fetchone()
    ]
    return listed | {text: ListedRequest(text, listed[text].name) for text in gone}


def names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the names of all requests that are on a list, by their texts."""
    return {request.text: request.name for request in _noted(connection, _PREFIX)}


def name_of(path: str) -> str:
    """Return the name under which the archive notes the runs of a file. It does not reveal the path."""
    return _PREFIX + _digest(os.path.realpath(path))


def name_of_requests(texts: Iterable[str]) -> str:
    """Return the name under which the archive notes the runs of requests that were given in Python."""
    return _PREFIX + _digest("\n".join(sorted(texts)))


def without_pit(canonical: str) -> str:
    """Return the canonical request without its PIT, as it is written in the list."""
    arguments = shlex.split(canonical)
    place = arguments.index("--pit") if "--pit" in arguments else len(arguments)
    return shlex.join([*arguments[:place], *arguments[place + 2 :]])


def _noted(connection: sqlite3.Connection, prefix: str) -> Iterable[ListedRequest]:
    for name, value in about.sound(connection).items():
        if f"{name} ".startswith(prefix):
            noted = json.loads(value)
            if isinstance(noted, list):
                yield ListedRequest(*noted)
            else:  # up to format 8, a run had all of its requests, as they were before it
                for text, (title, last, has_brought) in noted.get("requests", {}).items():
                    yield ListedRequest(text, title, last=last, has_brought=has_brought)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
