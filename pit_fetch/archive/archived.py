"""The recorded fetches of an archive, for its index; and the archives that a loop of questions keeps open."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pit_fetch.archive.interpreted import Find, InterpretedFetch, interpret, resolve_by_stream, resolve_names
from pit_fetch.archive.rederive import Rederived, rederive, reply_of
from pit_fetch.archive.store import history, index, ingestion, journal, microseconds, schema, versions
from pit_fetch.archive.store.checksums import DAMAGED_INDEX
from pit_fetch.archive.store.errors import Damaged, Lost
from pit_fetch.archive.store.journal import Exchange, Key
from pit_fetch.errors import PitFetchError
from pit_fetch.provider import Record
from pit_fetch.request import coverage
from pit_fetch.transport import HttpReply, HttpRequest, TransportError

# Is called with how much is done, and of how much.
OnProgress = Callable[[int, int], None]
# A panel asks about each company as of a dozen instants, and there may be a list of names for each of these.
_BODIES = 16


def silently(done: int, whole: int) -> None:
    """Report no progress."""


class Archived:
    """The recorded fetches of an archive, for the index. ``fresh`` are those that this process has just parsed."""

    def __init__(
        self, connection: sqlite3.Connection, find: Find, fresh: dict[Key, index.FetchToIndex] | None = None
    ) -> None:
        self.connection, self.find = connection, find
        self.cache: dict[Key, InterpretedFetch | None] = {}  # the requests interpreted so far
        # The bodies read last, by their digests: many fetches begin with the same list of names.
        self.bodies: dict[bytes, bytes] = {}
        self.unasked: dict[str, set[tuple[int, str]]] = {}  # by source, the questions that needed no request
        # The stream whose index this connection has a copy of, since that of the file lacks something.
        self.overlaid: str | None = None
        self.is_all_overlaid = False  # the connection has an index of all streams instead
        self.fresh = {} if fresh is None else fresh

    def ensure_indexed(self, stream: str) -> None:
        """Let the index hold every fetch of a stream: in a copy for this connection, if it lacks one. Raise Damaged."""
        if self.is_all_overlaid:
            self.ingest_all(stream)
            return
        if self.overlaid is not None and self.overlaid != stream:
            schema.remove_overlay(self.connection)
            self.overlaid = None
        if self.overlaid is None and index.is_behind(self.connection, stream):
            schema.overlay_stream(self.connection, stream)
            self.overlaid = stream
            self.ingest_all(stream)

    def streams(self) -> list[str]:
        """Return the names of all streams. Raise Damaged.

        If the file does not say of which streams some of its fetches are, the index is made again for this connection.
        """
        if any(self.interpret(key) is not None for key in index.pending(self.connection, index.UNASSIGNED)):
            schema.overlay_everything(self.connection)
            self.is_all_overlaid = True
            self.assign()
        return index.streams(self.connection)

    def interpret(self, key: Key, stream: str = "") -> InterpretedFetch | None:
        """Return a fetch, or None if its source is not installed or refuses the request now.

        ``stream``, if given, is the one that the index has it in.
        """
        if key not in self.cache:
            self.cache[key] = None
            fetch = journal.fetch_of(self.connection, key)
            if fetch is not None:
                with contextlib.suppress(PitFetchError):
                    recorded = interpret(fetch, self.find)
                    self.cache[key] = resolve_by_stream(recorded, stream) or self.resolve_names(key, recorded)
        return self.cache[key]

    def resolve_names(self, key: Key, recorded: InterpretedFetch) -> InterpretedFetch:
        """Return a fetch with what its names stand for in its own list. One without a list is not complete anyway."""
        own = ArchivedReplies(self, microseconds.ALWAYS, key)
        return resolve_names(recorded, own) or recorded._replace(is_unresolved=True)

    def needed_no_request(self, fetch: journal.FetchEntry) -> bool:
        """Return whether this very question was asked as of its PIT, then past, and the source had not to be asked."""
        if fetch.source not in self.unasked:
            self.unasked[fetch.source] = journal.without_exchange(self.connection, fetch.source)
        return (fetch.pit, fetch.request) in self.unasked[fetch.source]

    def read_body(self, digest: bytes) -> bytes:
        """Return a body by its digest. Raise Damaged, or Lost."""
        body = self.bodies.pop(digest, None)
        self.bodies[digest] = journal.read_body(self.connection, digest) if body is None else body
        if len(self.bodies) > _BODIES:
            del self.bodies[next(iter(self.bodies))]
        return self.bodies[digest]

    def assign(self) -> None:
        """Put the fetches of an upgraded file into the streams of today's code. Raise Damaged."""
        for key in index.pending(self.connection, index.UNASSIGNED):
            recorded = self.interpret(key)
            if recorded is not None:  # else its source is not installed
                index.mark_ingested(self.connection, key)
                index.defer(self.connection, recorded.stream, key)

    def window_covers(self, stream: str) -> Callable[[Key, Sequence[Record]], bool]:
        """Return the function that says whether a fetch's window would have covered one of some records."""

        def covers(key: Key, records: Sequence[Record]) -> bool:
            recorded = self.interpret(key, stream)
            return recorded is not None and recorded.covers(records)

        return covers

    def fetch_to_index(self, key: Key) -> index.FetchToIndex | None:
        """Return a fetch as the index takes it, or None if it has no exchanges or cannot be interpreted."""
        if (fresh := self.fresh.pop(key, None)) is not None:
            return fresh
        recorded, exchanges = self.interpret(key), list(journal.exchanges_of(self.connection, key))
        if recorded is None or not exchanges:  # a fetch that was killed before its first reply shows nothing
            return None
        ended = journal.ended(self.connection, key)
        seen = exchanges[-1].seen if ended is None else ended.seen  # a fetch that was killed counts from its last reply
        complete = ended is not None and ended.complete
        return fetch_to_index(key, recorded, rederive(recorded, exchanges), seen, complete, str)

    def ingest(self, stream: str, seconds: float | None = None) -> bool:
        """Add the pending fetches of a stream to the index, for so many seconds. Return whether any is left.

        Raise Damaged.
        """
        self.assign()
        standings, until = None, float("inf")
        for key in index.pending(self.connection, stream):
            if time.monotonic() > until:
                return True
            # The pending row names a fetch that the journal does not have.
            if journal.fetch_of(self.connection, key) is None:
                raise Damaged(DAMAGED_INDEX)
            journal.check_span(self.connection, key)
            index.mark_ingested(self.connection, key)
            added = self.add(key, standings)
            if added is None:
                return True
            if standings is None and seconds is not None:  # the first one looks for what the others share
                until = time.monotonic() + seconds
            standings = added
        return False

    def rebuild(self, on_progress: OnProgress = silently) -> int:
        """Derive the whole index again. Return the number of fetches."""
        index.recreate(self.connection)
        keys = journal.fetches(self.connection)
        self.add_all(keys, on_progress)
        return len(keys)

    def add_all(self, keys: Sequence[Key], on_progress: OnProgress) -> None:
        """Add fetches to the index, in this order."""
        standings = None
        for done, key in enumerate(keys):
            on_progress(done, len(keys))
            standings = self.add(key, standings)

    def add(self, key: Key, standings: ingestion.Standings | None = None) -> ingestion.Standings | None:
        """Add a fetch to the index, with the ``standings`` of the one before it. Return those after it.

        If later ones of its stream are there, all of them are pending again, and None is returned.
        """
        fetch = self.fetch_to_index(key)
        if fetch is None:
            return standings or ingestion.Standings()
        if index.is_out_of_order(self.connection, fetch):
            index.defer_all(self.connection, fetch.stream)
            index.defer(self.connection, fetch.stream, key)
            return None
        return ingestion.add(self.connection, fetch, self.window_covers(fetch.stream), standings)

    def ingest_all(self, stream: str) -> None:
        """Add all pending fetches of a stream to the index. Raise Damaged."""
        while self.ingest(stream):
            pass


class ArchivedReplies(NamedTuple):
    """A transport that answers with the last reply that was received by ``instant``, or else the first after it.

    fetch  if given, only its own replies count
    """

    archived: Archived
    instant: int
    fetch: Key | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        """Return the reply. Raise TransportError if the request was never recorded."""
        asked = Exchange(0, request.method, request.url, request.params, request.body, 0, {}, b"")
        exchange = None
        with contextlib.suppress(Lost):
            digest, connection = journal.request_digest(asked), self.archived.connection
            exchange = journal.reply_to(connection, digest, self.instant, self.fetch, self.archived.read_body)
        if exchange is None:
            raise TransportError("network")  # to the provider, a reply that was never recorded is a host that is down
        return reply_of(exchange)


def fetch_to_index(
    key: Key,
    recorded: InterpretedFetch,
    made: Rederived,
    seen: int,
    complete: bool,
    clean: Callable[[str], str],
) -> index.FetchToIndex:
    """Return a fetch as the index takes it. ``clean`` redacts the payload of its records.

    A fetch of what the source chooses, by what came later, is never complete. One of its newest records covers the
    time since the oldest of them.
    """
    query, evidence = recorded.query, recorded.evidence_fields
    items: dict[str, list[versions.FreshVersion]] = {}
    rows: set[int] = set()
    reach = query.operation.archiving.reach
    for record, is_public in made.received:
        if not record.id or not _is_encodable(record.id):  # an answer leaves out what has no id, too
            continue
        if not recorded.is_snapshot:
            version = versions.fresh(record, evidence, clean)
            # A bar that ended before the last page came in was running when its own page did: it shows nothing.
            if is_public or not history.is_public(version.stamped_at, seen):
                items.setdefault(record.id, []).append(version)
        elif is_public:  # one reply as a whole, which is parsed again when a question needs it
            rows.add(versions.row_digest(record, evidence))
    # Sources send empty replies under load, so an empty one shows nothing as absent.
    is_conclusive = complete and made.has_every_item and bool(items or rows)
    since = microseconds.to_micros(query.operation.archiving.earliest(query))
    if reach == "newest":
        # Of several records of the oldest instant, some may have been dropped.
        stamps = [version.available for known in items.values() for version in known if version.available]
        since = max(min(stamps, default=seen) + 1, microseconds.NEVER if since is None else since)
    return index.FetchToIndex(
        key=key,
        stream=recorded.stream,
        seen=seen,
        shows_absence=is_conclusive and recorded.shows_absence,
        has_every_item=made.has_every_item,
        counts_from=recorded.counts_from(seen, is_conclusive=is_conclusive),
        since=since,
        until=microseconds.to_micros(query.last_stamp),
        items=items,
        rows=rows,
        asked=_asked(recorded, seen, is_ended=complete),
        fields={option.name: option.field for option in recorded.request.provider.options if option.field},
    )


def _asked(recorded: InterpretedFetch, seen: int, *, is_ended: bool) -> index.Asked:
    span = coverage.time_asked(recorded.query, microseconds.from_micros(seen))
    terms = coverage.terms(recorded.query, recorded.request.provider.options)
    return index.Asked(
        is_ended,
        microseconds.to_micros(span.since),
        microseconds.to_micros(span.until),
        recorded.counts_from(seen, is_conclusive=True),
        {name: values or {index.ANY} for name, values in terms.items() if values is not None},
    )


def _is_encodable(name: str) -> bool:
    """Return whether a database can store the text, and find it again.

    Half of a surrogate pair is legal in JSON and in no encoding. SQLite's functions for JSON end a text at a NUL.
    """
    try:
        return "\0" not in name and bool(name.encode())
    except UnicodeEncodeError:
        return False


class OpenArchives:
    """The archives that a loop of questions reads, each opened once, and as of one moment. For one thread.

    Every question of the loop sees what an archive held when the first of them read it.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._open: dict[str, Archived] = {}

    def open_archive(self, path: str) -> Archived:
        """Return the recorded fetches of the archive at ``path``. Raise ArchiveError."""
        if path not in self._open:
            connection = schema.open_to_read(path)
            connection.execute("BEGIN")  # what other processes append from the first question on is not seen
            self._open[path] = Archived(connection, self._find)
        return self._open[path]

    def check_unchanged(self) -> None:
        """Raise Changed if what was read of them may not be of one moment."""
        for archived in self._open.values():
            schema.check_unchanged(archived.connection)

    def close(self) -> None:
        """Close the archives."""
        while self._open:
            self._open.popitem()[1].connection.close()
