"""What a fetch does with its archive: records, and answers with what was held.

memory = Memory(path, request, query, runtime)
memory.start(secrets)                   before anything is asked
transport, memory.watch(stream)         while it is asked
memory.settle()                         what was read is one more read, if the archive holds others
memory.recall(…)                        the records as of the PIT
memory.finish(text, status)             what was printed
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.recorder import Part, Recorder
from pit_fetch.archive.store import index, journal, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, of_broken
from pit_fetch.net.client import base_url
from pit_fetch.provider import Query, Record
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest
from pit_fetch.runtime import Runtime
from pit_fetch.support.version import __version__
from pit_fetch.transport import HttpReply, HttpRequest, RecordingTransport, Transport

# A label for the plan of a key, if several are used: plans may be served different data.
PLAN = "PIT_FETCH_PLAN"


class Held(NamedTuple):
    """What was held at an instant. ``is_snapshot``: it is one reply as a whole."""

    records: Iterator[Record]
    is_snapshot: bool = False


class Memory:
    """One fetch and its archive. Raises ArchiveError only where the archive alone answers."""

    def __init__(self, path: str, request: FetchRequest, query: Query, runtime: Runtime) -> None:
        provider = request.provider
        fetch = journal.Fetch(
            began=microseconds.number(query.started),
            kind=_kind(request),
            source=provider.name,
            version=f"{__version__}/{provider.api_version}",
            plan=runtime.environ.get(PLAN, ""),
            hosts={host.name: base_url(host, runtime.environ) for host in provider.hosts},
            request=request.canonical,
            pit=microseconds.maybe(request.pit),
        )
        self.path, self.query, self.runtime = path, query, runtime
        self.asked = rederive.Asked(fetch, request, query)
        self.recorder = Recorder(path, self.asked, runtime.find, schema.patience(request.timeout))
        self.pool = rederive.pool(provider, query, fetch)
        self._reading: sqlite3.Connection | None = None

    @property
    def problem(self) -> str:
        """Why nothing is recorded; "" if it is."""
        return self.recorder.problem

    def start(self, secrets: Iterable[str]) -> None:
        """Opens the archive to record; it is made if it is not there, unless it alone is to answer."""
        if not self.asked.request.offline or os.path.exists(self.path):
            self.recorder.start(secrets)

    def note(self, asked: HttpRequest, reply: HttpReply) -> None:
        self.recorder.note(asked, reply)

    def transport(self, inner: Transport) -> Transport:
        return RecordingTransport(inner, self.recorder.note)

    def watch(self, stream: Iterable[Part]) -> Iterator[Part]:
        return self.recorder.watch(stream)

    def settle(self) -> bool:
        """Whether the archive holds anything else that could change the answer; then what was read is taken up."""
        return self.recorder.settle(self.pool)

    def recall(self, at: datetime) -> Held | None:
        """What was held at ``at``, in the envelope's order; None if nothing of the kind was. Raises ArchiveError."""
        try:
            return self._recall(microseconds.number(at))
        except BROKEN as error:
            raise of_broken(error) from error

    def finish(self, text: str | None, status: int) -> None:
        self.recorder.finish(text, status, self.pool)
        if self._reading is not None:
            self._reading.close()

    def _recall(self, at: int) -> Held | None:
        connection, operation = self._indexed(), self.query.operation
        if operation.dating == "record":
            oldest = _oldest(self.query)
            newest = min(at, microseconds.number(self.query.horizon))
            return Held(index.ruling(connection, self.pool, at, newest, oldest))
        found = index.latest(connection, self.pool, at)
        if found is None:
            return None
        key, seen = found
        read = self._archived(connection).asked(key)
        if read is None:
            return None
        moment = microseconds.moment(seen)
        exchanges = journal.exchanges_of(connection, key)
        return Held(
            _readable(_seen(one, moment) for one in rederive.reread(read, exchanges) if one.id), is_snapshot=True
        )

    def _indexed(self) -> sqlite3.Connection:
        """The archive, with an index that holds all that was read for this question."""
        connection = self._connection()
        if index.due(connection, self.pool) and connection is self.recorder.connection:
            self.recorder.catch_up(self.pool)
            connection = self._connection()  # if it cannot be written, another one
        if index.due(connection, self.pool):
            schema.set_aside(connection, self.pool)
            self._archived(connection).take_up(self.pool)
        return connection

    def _archived(self, connection: sqlite3.Connection) -> rederive.Archived:
        return rederive.Archived(connection, self.runtime.find, {})

    def _connection(self) -> sqlite3.Connection:
        if self.recorder.connection is not None and not self.problem:
            return self.recorder.connection
        if self._reading is None:
            self._reading = schema.open_to_read(self.path)
        return self._reading


def _kind(request: FetchRequest) -> str:
    """A capture with a limit is a read like any other: what it leaves out depends on what there is besides."""
    if request.capture and request.limit == request.max_pages == UNLIMITED:
        return "capture"
    return "offline" if request.offline else "live"


def _readable(records: Iterator[Record]) -> Iterator[Record]:
    """``records``, whose bodies are read while they are asked for. Raises ArchiveError."""
    try:
        yield from records
    except BROKEN as error:
        raise of_broken(error) from error


def _seen(record: Record, moment: datetime) -> Record:
    """A record of a snapshot, which was public when the reply was in our hands; no stamp of its own counts."""
    return record._replace(available_at=moment, revised_at=None, at_receipt=True, first_seen_at=moment)


def _oldest(query: Query) -> int:
    """The position below which nothing can be wanted."""
    earliest = query.operation.earliest(query)
    return microseconds.NEVER if earliest is None else microseconds.number(earliest)
