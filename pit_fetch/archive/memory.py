"""What a fetch does with its archive: records, and answers with what was held.

memory = Memory(path, request, query, world)
memory.start(secrets)                   before anything is asked
transport, memory.watch(stream)         while it is asked
memory.settle()                         what was read is one more read of the archive
memory.recall(…)                        the records as of the PIT
memory.finish(text, status)             what was printed
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pit_fetch import __version__
from pit_fetch.archive import derive, index, instants, log, schema
from pit_fetch.archive.errors import of_sqlite
from pit_fetch.archive.recorder import Part, Recorder
from pit_fetch.http import base_url
from pit_fetch.provider import Query, Record
from pit_fetch.request import UNLIMITED, Request
from pit_fetch.transport import Recorder as Recording
from pit_fetch.transport import Reply, Transport
from pit_fetch.transport import Request as Sent
from pit_fetch.world import World

# A label for the plan of a key, if several are used: plans may be served different data.
PLAN = "PIT_FETCH_PLAN"


class Held(NamedTuple):
    """What was held at an instant. ``is_snapshot``: it is one reply as a whole."""

    records: Iterator[Record]
    is_snapshot: bool = False


class Memory:
    """One fetch and its archive. Raises ArchiveError only where the archive alone answers."""

    def __init__(self, path: str, request: Request, query: Query, world: World) -> None:
        provider = request.provider
        fetch = log.Fetch(
            began=instants.number(query.started),
            kind=_kind(request),
            source=provider.name,
            version=f"{__version__}/{provider.api_version}",
            plan=world.environ.get(PLAN, ""),
            hosts={host.name: base_url(host, world.environ) for host in provider.hosts},
            request=request.canonical,
            pit=instants.maybe(request.pit),
        )
        self.path, self.query, self.world = path, query, world
        self.asked = derive.Asked(fetch, request, query)
        self.recorder = Recorder(path, self.asked, world.find, min(schema.BUSY_SECONDS, request.timeout))
        self.pool = derive.pool(provider, query, fetch)
        self._reading: sqlite3.Connection | None = None

    @property
    def problem(self) -> str:
        """Why nothing is recorded; "" if it is."""
        return self.recorder.problem

    def start(self, secrets: Iterable[str]) -> None:
        """Opens the archive to record; it is made if it is not there, unless it alone is to answer."""
        if not self.asked.request.offline or os.path.exists(self.path):
            self.recorder.start(secrets)

    def note(self, asked: Sent, reply: Reply) -> None:
        self.recorder.note(asked, reply)

    def transport(self, inner: Transport) -> Transport:
        return Recording(inner, self.recorder.note)

    def watch(self, stream: Iterable[Part]) -> Iterator[Part]:
        return self.recorder.watch(stream)

    def settle(self) -> bool:
        """Takes up what was read. Whether the archive holds anything else that could change the answer."""
        read = self.recorder.take_up()
        if read is None or self.recorder.connection is None:
            return False
        return index.has_others(self.recorder.connection, self.pool, read.key)

    def recall(self, at: datetime) -> Held | None:
        """What was held at ``at``, in the envelope's order; None if nothing of the kind was. Raises ArchiveError."""
        try:
            return self._recall(instants.number(at))
        except sqlite3.Error as error:
            raise of_sqlite(error) from error

    def finish(self, text: str | None, status: int) -> None:
        self.recorder.finish(text, status)
        if self._reading is not None:
            self._reading.close()

    def _recall(self, at: int) -> Held | None:
        connection, operation = self._connection(), self.query.operation
        if operation.dating == "record":
            oldest = _oldest(self.query)
            newest = min(at, instants.number(self.query.horizon))
            return Held(index.ruling(connection, self.pool, at, newest, oldest))
        found = index.latest(connection, self.pool, at)
        if found is None:
            return None
        key, seen = found
        archived = derive.Archived(connection, self.world.find, {})
        read = archived.asked(key)
        if read is None:
            return None
        moment = instants.moment(seen)
        exchanges = log.exchanges_of(connection, key)
        return Held((_seen(one, moment) for one in derive.reread(read, exchanges) if one.id), is_snapshot=True)

    def _connection(self) -> sqlite3.Connection:
        if self.recorder.connection is not None and not self.problem:
            return self.recorder.connection
        if self._reading is None:
            self._reading = schema.open_to_read(self.path)
        return self._reading


def _kind(request: Request) -> str:
    """A capture with a limit is a read like any other: what it leaves out depends on what there is besides."""
    if request.capture and request.limit == request.max_pages == UNLIMITED:
        return "capture"
    return "offline" if request.offline else "live"


def _seen(record: Record, moment: datetime) -> Record:
    """A record of a snapshot, which was public when the reply was in our hands; no stamp of its own counts."""
    return record._replace(available_at=moment, revised_at=None, at_receipt=True, first_seen_at=moment)


def _oldest(query: Query) -> int:
    """The position below which nothing can be wanted."""
    earliest = query.operation.earliest(query)
    return instants.NEVER if earliest is None else instants.number(earliest)
