"""One fetch and its archive: the fetch is recorded, and answered with what the archive holds.

session.start(secrets)                    before the source is asked
session.recorder.note, .watch(stream)     while it is asked
session.ingest_if_needed()                adds this fetch to the index, if the archive holds others
session.recall(…)                         returns the records as of the PIT
session.captured(), .unrefuted(…)         the same of what is served on a claim
session.finish(text, status)              records what was printed
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pit_fetch.archive import claims, rederive
from pit_fetch.archive.open_archives import OpenArchives, advice
from pit_fetch.archive.recorder import ArchiveRecorder
from pit_fetch.archive.store import index, journal, microseconds, schema, versions
from pit_fetch.archive.store.errors import BROKEN, archive_error
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import Query, Record, Window
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runtime import Runtime
from pit_fetch.support.version import __version__

# A label for the plan of a key, if several are used: plans may be served different data.
PLAN = "PIT_FETCH_PLAN"


class ArchivedRecords(NamedTuple):
    """The records as of an instant.

    query        what selects the wanted ones, with names resolved by the list that the archive holds
    is_snapshot  they are one reply as a whole
    """

    records: Iterator[Record]
    query: Query
    is_snapshot: bool = False


class ArchiveSession:
    """It raises ArchiveError only where the archive alone answers."""

    def __init__(
        self, path: str, request: FetchRequest, query: Query, runtime: Runtime, archives: OpenArchives | None = None
    ) -> None:
        provider = request.provider
        fetch = journal.Fetch(
            began=microseconds.to_micros(query.started),
            kind=_kind(request),
            source=provider.name,
            version=f"{__version__}/{provider.api_version}",
            plan=runtime.environ.get(PLAN, ""),
            hosts={host.name: base_url(host, runtime.environ) for host in provider.hosts},
            request=request.canonical,
            pit=microseconds.to_micros(request.pit),
        )
        self.path, self.query, self.runtime = path, query, runtime
        self.recorded = rederive.RecordedFetch(fetch, request, query)
        self.recorder = ArchiveRecorder(path, self.recorded, runtime.find, schema.lock_timeout(request.timeout))
        self.stream = self.recorded.stream
        self._archives = archives
        self._reading: sqlite3.Connection | None = None
        self._known: rederive.Archived | None = None

    @property
    def problem(self) -> str:
        """Why nothing is recorded, or "" if it is."""
        return self.recorder.problem

    @property
    def advice(self) -> str:
        """What would make questions like this one faster, or "". Raise ArchiveError."""
        return advice(self._archived.connection, self.recorded.request)

    def start(self, secrets: Iterable[str]) -> None:
        """Open the archive to record, unless it alone has to answer. It is created if missing."""
        if not self.recorded.request.offline:
            self.recorder.start(secrets)

    def ingest_if_needed(self) -> bool:
        """See :meth:`ArchiveRecorder.ingest_if_needed`."""
        return self.recorder.ingest_if_needed(self.stream)

    def recall(self, at: datetime) -> ArchivedRecords | None:
        """Return the records as of ``at``, in the envelope's order; None without a reply. Raise ArchiveError."""
        try:
            return self._recall(microseconds.to_micros(at))
        except BROKEN as error:
            raise archive_error(error) from error

    def captured(self) -> Iterator[Record]:
        """Yield the records of whole captures, which rest on nothing later, each as the last of them has it.

        Raise ArchiveError.
        """
        try:
            yield from claims.captured(self._archived, self.stream)
        except BROKEN as error:
            raise archive_error(error) from error

    def unrefuted(self, claimed: Iterable[Record], at: datetime) -> list[Record]:
        """Return the records on claims of which the archive has no sight of its own by ``at``. Raise ArchiveError."""
        try:
            return claims.unrefuted(self._archived, self.stream, list(claimed), microseconds.to_micros(at))
        except BROKEN as error:
            raise archive_error(error) from error

    def finish(self, text: str | None, status: int) -> None:
        self.recorder.finish(text, status, self.stream)
        if self._reading is not None:
            self._reading.close()

    def captured_until(self, at: datetime) -> datetime | None:
        """Return until when the archive holds all that the question asks for as of ``at``; None if from no time on.

        Raise ArchiveError.
        """
        from pit_fetch.archive import captured

        try:
            # As for a capture, every name has to be known: of one that the list lacks, nobody asked for anything.
            question = self._resolved(microseconds.to_micros(at), self.query._replace(capture=True))
            options = self.recorded.request.provider.options
            if question is None:
                return None
            return captured.captured_until(self._archived, self.stream, question, at, options)
        except BROKEN as error:
            raise archive_error(error) from error

    def _recall(self, at: int) -> ArchivedRecords | None:
        connection, operation = self._archived.connection, self.query.operation
        if operation.dating == "record":
            question = self._resolved(at, self.query)
            if question is None:
                return None
            earliest = operation.earliest(question)
            oldest = microseconds.NEVER if earliest is None else microseconds.to_micros(earliest)
            # Where the provider compares dates itself, they may be others than that of publication.
            is_own = isinstance(operation.window, Window)
            newest = at if is_own else min(at, microseconds.to_micros(question.horizon))
            return ArchivedRecords(index.records_as_of(connection, self.stream, at, newest, oldest), question)
        latest = index.latest(connection, self.stream, at)
        recorded = None if latest is None else self._archived.recorded(latest[0])
        if latest is None or recorded is None:
            return None
        key, seen = latest
        records = [
            (versions.row_digest(record, recorded.evidence), record)
            for record in rederive.reparse(recorded, journal.exchanges_of(connection, key))
            if record.id
        ]
        first_held = index.first_held(connection, self.stream, [digest for digest, _ in records])
        return ArchivedRecords(
            (_of_snapshot(record, seen, first_held.get(digest, seen)) for digest, record in records),
            self.query,
            is_snapshot=True,
        )

    def _resolved(self, at: int, question: Query) -> Query | None:
        """Return the question with what its names stand for: by its own list if it asked for one, else as of ``at``.

        None if that is not known.
        """
        replies = rederive.ArchivedReplies(self._archived, at, self.recorder.key)
        recorded = rederive.resolved(self.recorded._replace(query=question), replies)
        return None if recorded is None else recorded.query

    @property
    def _archived(self) -> rederive.Archived:
        """The recorded fetches, by a connection whose index holds every fetch of the stream."""
        if self._known is None:
            kept_open = None if self.recorder.connection is not None else self._archives
            self._known = self._own() if kept_open is None else kept_open.read(self.path)
            self._known.complete(self.stream)
            index.known_stream(self._known.connection, self.stream)  # or it would seem to hold nothing of it
        return self._known

    def _own(self) -> rederive.Archived:
        connection = self._connection()
        if connection is self.recorder.connection and index.is_behind(connection, self.stream):
            self.recorder.catch_up(self.stream)
            connection = self._connection()  # another one, if the file could not be written
        return rederive.Archived(connection, self.runtime.find)

    def _connection(self) -> sqlite3.Connection:
        if self.recorder.connection is not None and not self.problem:
            return self.recorder.connection
        if self._reading is None:
            self._reading = schema.open_to_read(self.path)
        return self._reading


def _kind(request: FetchRequest) -> str:
    # Which items a capture with a limit lacks depends on later ones: it counts as a live fetch.
    return "capture" if request.captures_all else "live"


def _of_snapshot(record: Record, seen: int, first_held: int) -> Record:
    """Return a record of a reply: it was public at its receipt, whatever its own timestamps state."""
    return record._replace(
        available_at=microseconds.from_micros(seen),
        revised_at=None,
        at_receipt=True,
        first_seen_at=microseconds.from_micros(first_held),
    )
