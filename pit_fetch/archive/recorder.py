"""Record one fetch. An error here ends the recording and is reported, but never costs the answer.

An exchange is on disk before the provider parses it, so a process that is killed loses at most the exchange under
way. How the fetch ended and what it printed are appended when it is over.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from pit_fetch.archive import rederive
from pit_fetch.archive.archived import Archived, fetch_to_index
from pit_fetch.archive.interpreted import Find, InterpretedFetch
from pit_fetch.archive.store import index, ingestion, journal, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, archive_error
from pit_fetch.archive.store.journal import Exchange, Key
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Code, Gap
from pit_fetch.net.clocks import MOST_APART
from pit_fetch.pipeline.select import Part
from pit_fetch.support.redaction import SHORTEST_SECRET, body_redactor, redactor
from pit_fetch.transport import HttpReply, HttpRequest

# The headers that a client decides by, and that tell one reply from another.
_HEADERS = ("date", "content-type", "last-modified", "etag", "location", "retry-after")

# How long one transaction ingests fetches: other processes wait for the archive that long, and for the last one.
SECONDS = 0.5

# The gaps of every answer with a PIT, and of an empty one: the fetch lacks nothing because of them.
_HARMLESS = ("unverifiable", "no_data")


def check_clock(connection: sqlite3.Connection, now: int) -> None:
    """Raise ConfigError if the last entry of an archive is more than ten minutes after ``now``, in microseconds.

    What is recorded would count as received at that entry, maybe long after its receipt.
    """
    if now < journal.Writer(connection).last_seen() - MOST_APART // timedelta(microseconds=1):
        raise ConfigError(Code.CLOCK_BEFORE_ARCHIVE)


class ArchiveRecorder:
    """Records one fetch in the archive at ``path``.

    problem  why it no longer does, or ""
    key      of the fetch in the journal; None until something of it is recorded
    """

    def __init__(self, path: str, recorded: InterpretedFetch, find: Find, lock_timeout: float) -> None:
        self.path, self.recorded, self.find, self.lock_timeout = path, recorded, find, lock_timeout
        self.problem = ""
        self.connection: sqlite3.Connection | None = None
        self.key: Key | None = None
        self._clean: Callable[[str], str] = str
        self._clean_data: Callable[[str], str] = str
        self._clean_body: Callable[[bytes], bytes] = bytes
        self._headers = (*_HEADERS, *rederive.dating_headers(recorded.request.provider))
        self._exchanges: list[Exchange] = []
        self._records: list[rederive.Received] = []
        self._resolved: InterpretedFetch | None = None
        self._is_ended = self._is_flawed = self._is_ingested = False
        self._seen = microseconds.NEVER
        self._deletions = 0
        self._transaction = contextlib.ExitStack()  # one that stays open until the fetch is over

    def start(self, secrets: Iterable[str]) -> None:
        """Open the archive, before the source is asked. ``secrets`` are redacted from all that is recorded.

        Raise ConfigError for a request that repeats one: redacted, it would be another request.
        """
        values = tuple(secrets)
        self._clean = redactor(values)
        self._clean_data = redactor(values, SHORTEST_SECRET)
        self._clean_body = body_redactor(values)
        request = self.recorded.fetch.request
        if self._clean(request) != request:
            raise ConfigError(Code.CREDENTIAL_IN_REQUEST)
        self._attempt(self._open)

    def _open(self) -> None:
        self.connection = schema.open_to_write(self.path, self.lock_timeout)  # the source needs the rest of the time
        self._deletions = journal.deletions(self.connection)
        check_clock(self.connection, self.recorded.fetch.began)

    def note(self, request: HttpRequest, reply: HttpReply) -> None:
        """Append one exchange. It is on disk when this returns."""
        exchange = self._exchange(request, reply)

        def append(writer: journal.Writer) -> None:
            seen = writer.append_exchange(self._begun(writer), exchange)
            self._exchanges.append(exchange._replace(seen=seen))
            self._seen = max(self._seen, seen)

        self._write(append)

    def watch(self, stream: Iterable[Part]) -> Iterator[Part]:
        """Yield the provider's stream unchanged. The fetch is complete if it is read to its end without a gap."""
        try:
            for part in stream:
                seen = microseconds.from_micros(self._seen) if self._exchanges else None
                self._records += rederive.received(part, seen)
                self._is_flawed = self._is_flawed or (isinstance(part, Gap) and part.type not in _HARMLESS)
                yield part
        except UpstreamError as error:
            # That the source knows nothing of it is an answer: how it says so may depend on what came later.
            self._is_ended = error.gap.code is Code.BAD_CALL
            raise
        self._is_ended = True

    def catch_up(self, stream: str) -> None:
        """Ingest the pending fetches of a stream, a few at a time, so that others can write meanwhile."""
        left = [True]

        def ingest_some(writer: journal.Writer) -> None:
            left[0] = Archived(writer.connection, self.find).ingest(stream, SECONDS)

        while left[0] and self.connection is not None and not self.problem:
            self._write(ingest_some)

    def ingest_if_needed(self) -> bool:
        """Ingest all fetches of the stream, this one last, if there is another. Return whether that was done.

        Without another fetch the live answer stands, and this one is deferred. What is ingested here is committed
        only if the fetch comes to its end: one that is killed must leave no trace in the index.
        """
        others: list[bool] = []

        def ingest(writer: journal.Writer) -> None:
            key = self._begun(writer)
            self._forget_unfinished(writer, stream, key)
            index.mark_ingested(writer.connection, key)  # or it would count as another fetch of its own stream
            others.append(index.has_fetches(writer.connection, stream))
            if not others[0]:
                return
            # The index takes fetches in the order of receipt: none counts as received before one that is in it.
            self._seen = max(self._seen, writer.last_seen())
            archived = Archived(writer.connection, self.find)
            archived.cache[key] = recorded = self._resolve_names(writer.connection, key)
            archived.ingest_all(stream)
            fetch = fetch_to_index(key, recorded, self._derived(), self._seen, self._is_complete, self._clean_data)
            ingestion.add(writer.connection, fetch, archived.window_covers(stream))

        stream = self._stream() if self._exchanges else ""
        if stream:
            self.catch_up(stream)
            self._write(ingest, stays_open=lambda: others == [True])
        self._is_ingested = not self.problem and others == [True]
        return self._is_ingested

    def _stream(self) -> str:
        """Return the stream of this fetch, by its own list of names; "" if the archive cannot be read."""
        connection, key = self.connection, self.key
        if connection is not None and key is not None:
            self._attempt(lambda: self._resolve_names(connection, key))
        return "" if self._resolved is None else self._resolved.stream

    def _resolve_names(self, connection: sqlite3.Connection, key: Key) -> InterpretedFetch:
        """Return this fetch, of which all is read, with what its names stand for in its own list."""
        if self._resolved is None:  # to read a list of thousands again takes longer than to record
            self._resolved = Archived(connection, self.find).resolve_names(key, self.recorded)
        return self._resolved

    def finish(self, text: str | None, status: int) -> None:
        """Append how the fetch ended and what it printed, if anything. Defer its ingestion, unless it is ingested."""

        def append(writer: journal.Writer) -> None:
            is_pending = bool(self._exchanges) and not self._is_ingested
            self._seen = seen = self._seen if self._is_ingested else max(self._seen, writer.last_seen())
            answer = None if text is None else self._clean_body(text.encode("utf-8", "surrogatepass"))
            key = self._begun(writer)
            # If something was deleted while the answer was made, the answer may repeat it.
            is_kept = journal.deletions(writer.connection) == self._deletions  # a deletion changes their number
            writer.append_answer(key, journal.Ended(seen, self._is_complete, status), answer, is_kept=is_kept)
            if is_pending:
                with schema.savepoint(writer.connection):
                    stream = self._resolve_names(writer.connection, key).stream
                    self._forget_unfinished(writer, stream, key)
                    index.defer(writer.connection, stream, key)

        self._write(append)
        self.close()

    def to_index(self) -> index.FetchToIndex | None:
        """Return the fetch, once it is over, as the index takes it; None if that has it, or must read it again."""
        if self.key is None or self._resolved is None or self._is_ingested or self.problem or not self._is_read_whole:
            return None
        made = self._derived()
        return fetch_to_index(self.key, self._resolved, made, self._seen, self._is_complete, self._clean_data)

    def _forget_unfinished(self, writer: journal.Writer, stream: str, key: Key) -> None:
        """Remove from the index what a rebuild, in another process, has made of this fetch before its end."""
        if self._exchanges and index.has_ingested(writer.connection, stream, key, self._exchanges[0].seen):
            index.defer_all(writer.connection, stream)

    def close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self.connection.close()
            self.connection = None

    @property
    def _is_complete(self) -> bool:
        return self._is_ended and not self._is_flawed

    @property
    def _is_read_whole(self) -> bool:
        """Whether the stream was watched to its end, as a PIT shows it: nothing need be parsed again."""
        return self.recorded.fetch.pit is not None and self._is_ended

    def _derived(self) -> rederive.Rederived:
        """Return the records as a later ingestion would derive them: all of each reply, wherever the answer ended."""
        if self._is_read_whole:
            return rederive.Rederived(self._records, has_every_item=True)
        return rederive.rederive(self.recorded, self._exchanges)

    def _begun(self, writer: journal.Writer) -> Key:
        if self.key is None:
            self.key = writer.append_fetch(self.recorded.fetch)
        return self.key

    def _exchange(self, request: HttpRequest, reply: HttpReply) -> Exchange:
        """Return the exchange without its signature, and without the secrets that the reply repeats."""
        headers = {name: self._clean_header(reply.header(name)) for name in self._headers if reply.header(name)}
        params = {
            name: self._clean(value) if isinstance(value, str) else [*map(self._clean, value)]
            for name, value in request.params.items()
        }
        return Exchange(
            seen=microseconds.to_micros(reply.received_at),
            method=request.method,
            url=self._clean(request.url),
            params=params,
            sent=None if request.body is None else self._clean_body(request.body),
            status=reply.status,
            headers=headers,
            body=self._clean_body(reply.body),
        )

    def _clean_header(self, text: str) -> str:
        plain = self._clean_body(text.encode("utf-8", "surrogatepass"))
        return self._clean(plain.decode("utf-8", "surrogatepass"))

    def _write(self, action: Callable[[journal.Writer], None], stays_open: Callable[[], bool] = lambda: False) -> None:
        """Run ``action`` in one transaction. If that fails, ``problem`` is set.

        If ``stays_open`` then returns true, the transaction goes on, and the next write commits it.
        """
        connection = self.connection
        if connection is None:
            return
        key = self.key

        def write() -> None:
            with self._transaction.pop_all() as transaction:
                if not connection.in_transaction:  # or the one that ingest_if_needed left open goes on
                    transaction.enter_context(schema.transaction(connection))
                if key is not None and journal.fetch_of(connection, key) is None:
                    raise ArchiveError("this fetch was deleted from it meanwhile (archive drop)")
                action(journal.Writer(connection))
                if stays_open():
                    self._transaction = transaction.pop_all()

        self._attempt(write)
        if self.problem:  # the row of a transaction that was rolled back has no key
            self.key = key

    def _attempt(self, action: Callable[[], object]) -> None:
        """Run ``action``, unless there was a problem before: waiting for a locked file once is enough."""
        if self.problem:
            return
        try:
            action()
        except ArchiveError as error:
            self.problem = error.problem
        except (*BROKEN, OSError) as error:
            self.problem = archive_error(error).problem
