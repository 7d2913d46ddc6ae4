"""One fetch and its archive: the fetch is recorded, and answered with what the archive holds.

session.start(secrets)                    before the source is asked
session.recorder.note, .watch(stream)     while it is asked
session.ingest_if_needed()                adds this fetch to the index, if the archive holds others
session.recall(…)                         returns the records as of the PIT
session.captured(…), .unrefuted(…)        returns the records that are served on a claim
session.asked_before(…)                   returns what was received when this very question was asked before
session.finish(text, status)              records what was printed
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch.archive import captures, names, rederive
from pit_fetch.archive.archived import Archived, OpenArchives
from pit_fetch.archive.interpreted import InterpretedFetch
from pit_fetch.archive.recorder import ArchiveRecorder
from pit_fetch.archive.store import index, journal, microseconds, schema, versions
from pit_fetch.archive.store.errors import translating
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import API_VERSION, Query, Record
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.support.version import __version__
from pit_fetch.transport import ReplayingTransport

if TYPE_CHECKING:
    from pit_fetch.archive.held import HeldSlice

# A label for the plan of a key, if several are used: plans may be served different data.
PLAN = "PIT_FETCH_PLAN"


class ArchivedRecords(NamedTuple):
    """The records as of an instant.

    query        what selects the wanted ones, with names resolved by the list that the archive holds
    is_snapshot  they are one reply as a whole
    held         the same, of a sweep: public, and in the order of an answer
    """

    records: Iterator[Record]
    query: Query
    is_snapshot: bool = False
    held: HeldSlice | None = None


class Resolved(NamedTuple):
    """A question as of an instant, resolved: who answers it, of which stream, and what its names mean.

    archived  the recorded fetches; their index holds every fetch of ``stream``
    meaning   None: it has names, and no list is held that says what they stand for
    """

    archived: Archived
    stream: str
    meaning: names.Meaning | None


class ArchiveSession:
    """One fetch and its archive. ArchiveError is raised only where the archive alone answers."""

    def __init__(
        self, path: str, request: FetchRequest, query: Query, runtime: Runtime, archives: OpenArchives | None = None
    ) -> None:
        provider = request.provider
        fetch = journal.FetchEntry(
            began=microseconds.to_micros(query.started),
            kind=_kind(request),
            source=provider.name,
            version=f"{__version__}/{API_VERSION}",
            plan=runtime.environ.get(PLAN, ""),
            hosts={host.name: base_url(host, runtime.environ) for host in provider.hosts},
            request=request.canonical,
            pit=microseconds.to_micros(request.pit),
        )
        self.path, self.query, self.runtime = path, query, runtime
        self.question = InterpretedFetch(fetch, request, query)
        # A capture has no reader who waits: maintenance of the archive may take its time.
        seconds = request.timeout if request.capture else schema.lock_timeout(request.timeout)
        self.recorder = ArchiveRecorder(path, self.question, runtime.find, seconds)
        self._archives = archives
        self._reading: sqlite3.Connection | None = None
        self._known: Archived | None = None
        self._resolved: dict[int, Resolved] = {}

    @property
    def problem(self) -> str:
        """Why nothing is recorded, or "" if it is."""
        return self.recorder.problem

    def start(self, secrets: Iterable[str]) -> None:
        """Open the archive to record, unless it alone has to answer. It is created if missing."""
        if not self.question.request.offline:
            self.recorder.start(secrets)

    def ingest_if_needed(self) -> bool:
        """See :meth:`ArchiveRecorder.ingest_if_needed`."""
        return self.recorder.ingest_if_needed()

    def recall(self, at: datetime) -> ArchivedRecords | None:
        """Return the records as of ``at``, in the envelope's order; None without a reply. Raise ArchiveError."""
        with translating():
            return self._recall(microseconds.to_micros(at))

    def captured(self, at: datetime) -> Iterator[Record]:
        """Yield the records of whole captures, which rest on nothing later, each as the last of them has it.

        ``at`` is the instant as of which names are known. Raise ArchiveError.
        """
        with translating():
            asked = self._resolve(microseconds.to_micros(at))
            yield from captures.claimed_records(asked.archived, asked.stream)

    def unrefuted(self, claimed: Iterable[Record], at: datetime) -> list[Record]:
        """Return the claimed records that the archive had not observed itself by ``at``. Raise ArchiveError."""
        with translating():
            instant = microseconds.to_micros(at)
            asked = self._resolve(instant)
            return captures.unrefuted(asked.archived, asked.stream, list(claimed), instant)

    def asked_before(self, at: datetime) -> tuple[InterpretedFetch, ReplayingTransport] | None:
        """Return the last fetch of this very question as of its PIT, then past, with its replies; None without one.

        Raise ArchiveError.
        """
        with translating():
            asked = self._resolve(microseconds.to_micros(at))
            connection, key = asked.archived.connection, self._last_asked(asked)
            fetch = None if key is None else journal.fetch_of(connection, key)
            if key is None or fetch is None:
                needed_none = asked.archived.needed_no_request(self.question.fetch)
                return (self.question, ReplayingTransport(())) if needed_none else None
            query = build_query(self.question.request, microseconds.from_micros(fetch.began))
            recorded = self.question._replace(fetch=fetch, query=query)
            return recorded, ReplayingTransport(rederive.replies(journal.exchanges_of(connection, key)))

    def _last_asked(self, asked: Resolved) -> journal.Key | None:
        fetch = self.question.fetch
        if fetch.pit is None:
            return None
        return index.last_asked(asked.archived.connection, asked.stream, fetch.pit, fetch.request)

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Return what raises Changed on leaving if what was read of the archive may not be of one moment."""
        return schema.checking(self._check_unchanged)

    def finish(self, text: str | None, status: int) -> None:
        self.recorder.finish(text, status)
        self.close()

    def close(self) -> None:
        """Close what this question alone reads."""
        if self._reading is not None:
            self._reading.close()

    def captured_until(self, at: datetime) -> datetime | None:
        """Return until when the archive holds all that the question asks for as of ``at``; None if from no time on.

        Raise ArchiveError.
        """
        with translating():
            instant = microseconds.to_micros(at)
            return self._covered_until(self._resolve(instant), instant)

    def other_addresses(self, at: datetime) -> list[str]:
        """Return the variables of the hosts that had another address when what is asked for was captured.

        Raise ArchiveError.
        """
        with translating():
            instant = microseconds.to_micros(at)
            asked = self._resolve(instant)
            hosts = json.loads(asked.stream)[1]
            for stream, others in self._of_other_hosts(asked):
                other = self._resolve_stream(stream, asked.archived, asked.meaning)
                self._forget()  # an overlay of the other stream may have taken the place of the first
                if self._covered_until(other, instant) is not None:
                    declared = self.question.request.provider.hosts
                    return [host.url_variable for host in declared if others.get(host.name) != hosts[host.name]]
        return []

    def _of_other_hosts(self, asked: Resolved) -> list[tuple[str, dict[str, str]]]:
        """Return the streams that differ in the addresses of their hosts alone, with these."""
        source, hosts, *same = json.loads(asked.stream)
        streams = [(stream, json.loads(stream)) for stream in index.streams(asked.archived.connection)]
        return [
            (stream, other[1]) for stream, other in streams if other == [source, other[1], *same] and other[1] != hosts
        ]

    def _forget(self) -> None:
        """Forget what was resolved."""
        self._resolved = {}

    def _covered_until(self, asked: Resolved, at: int) -> datetime | None:
        archived, stream, meaning = asked
        # No request for a name without a meaning was recorded.
        if meaning is None or not meaning.has_every_name:
            return None
        options = self.question.request.provider.all_options
        instant = microseconds.from_micros(at)
        return captures.captured_until(archived, stream, meaning.question.query, instant, options)

    def _recall(self, at: int) -> ArchivedRecords | None:
        archived, stream, meaning = asked = self._resolve(at)
        if meaning is None:
            return None
        connection, operation, question = archived.connection, self.query.operation, meaning.question.query
        if operation.dating.by == "record":
            earliest = operation.archiving.earliest(question)
            oldest = microseconds.NEVER if earliest is None else microseconds.to_micros(earliest)
            # Where the provider compares dates itself, they may be others than that of publication.
            is_own = operation.window == "select"  # it filters by a date of its own
            newest = at if is_own else min(at, microseconds.to_micros(question.last_stamp))
            return self._dated_records(asked, question, at, newest, oldest)
        latest = index.latest_complete_fetch(connection, stream, at)
        recorded = None if latest is None else archived.interpret(latest[0], stream)
        if latest is None or recorded is None:  # nothing was held by then, or its source is not installed
            return None
        key, seen = latest
        records = [
            (versions.row_digest(record, recorded.evidence_fields), record)
            for record in rederive.reparse(recorded, journal.exchanges_of(connection, key))
            if record.id
        ]
        first_held = index.first_held(connection, stream, [digest for digest, _ in records])
        return ArchivedRecords(
            (_snapshot_record(record, seen, first_held.get(digest, seen)) for digest, record in records),
            question,
            is_snapshot=True,
        )

    def _dated_records(self, asked: Resolved, question: Query, at: int, newest: int, oldest: int) -> ArchivedRecords:
        """Return the records of ``newest`` to ``oldest``, which carry times of their own."""
        records = index.records_as_of(asked.archived.connection, asked.stream, at, newest, oldest)
        return ArchivedRecords(records, question)

    def _resolve(self, at: int) -> Resolved:
        """Return the question as of ``at``. Raise ArchiveError."""
        if at not in self._resolved:
            archived = self._open()
            meaning = names.meaning(archived, self.question, at, self.recorder.key)
            question = self.question if meaning is None else meaning.question
            asked = self._resolve_stream(question.stream, archived, meaning)
            # What was just asked of the source is compared with its own stream alone.
            is_general = question.is_as_of_pit and question.request.offline and self._last_asked(asked) is None
            if is_general and self._covered_until(asked, at) is None:
                of_its_moment = question._replace(fetch=question.fetch._replace(pit=None))
                general = self._resolve_stream(of_its_moment.stream, asked.archived, meaning)
                is_covered = self._covered_until(general, at) is not None
                asked = general if is_covered else self._resolve_stream(question.stream, general.archived, meaning)
            self._resolved = {at: asked}  # one question asks as of few instants, and mostly as of one
        return self._resolved[at]

    def _resolve_stream(self, stream: str, archived: Archived, meaning: names.Meaning | None) -> Resolved:
        """Return the question, resolved to a stream whose index is complete."""
        archived = self._complete(archived, stream)
        index.known_stream(archived.connection, stream)  # or it would seem to hold nothing of it
        return Resolved(archived, stream, meaning)

    def _open(self) -> Archived:
        """Return the recorded fetches."""
        if self._known is None:
            kept_open = None if self.recorder.connection is not None else self._archives
            if kept_open is not None:
                self._known = kept_open.open_archive(self.path)
            else:
                self._known = Archived(self._connection(), self.runtime.find)
        return self._known

    def _check_unchanged(self) -> None:
        if self._known is not None:
            schema.check_unchanged(self._known.connection)

    def _complete(self, archived: Archived, stream: str) -> Archived:
        """Return the recorded fetches by a connection whose index holds every fetch of a stream."""
        connection = self.recorder.connection
        if archived.connection is connection and index.is_behind(connection, stream):
            self.recorder.catch_up(stream)
            self._known = None
            archived = self._open()  # by another connection, if the file could not be written
        archived.ensure_indexed(stream)
        return archived

    def _connection(self) -> sqlite3.Connection:
        if self.recorder.connection is not None and not self.problem:
            return self.recorder.connection
        if self._reading is None:
            # Without a network, a question can be asked again.
            self._reading = schema.open_to_read(self.path, is_brief=self.question.request.offline)
            self._reading.execute("BEGIN")  # one moment for all of it, and one lock
        return self._reading


def _kind(request: FetchRequest) -> str:
    # With a limit, later items push earlier ones out, so that such a capture counts as a live fetch.
    return "capture" if request.captures_all else "live"


def _snapshot_record(record: Record, seen: int, first_held: int) -> Record:
    """Return a record of a reply: it was public at its receipt, whatever its own timestamps state."""
    return record._replace(
        available_at=microseconds.from_micros(seen),
        revised_at=None,
        at_receipt=True,
        first_seen_at=microseconds.from_micros(first_held),
    )
