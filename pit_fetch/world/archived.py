"""The network of a run with an archive: every reply is recorded before it is used, or the archive alone replies."""

from __future__ import annotations

import sqlite3
import threading
from datetime import datetime

from pit_fetch.archive.store import journal, microseconds, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, archive_error
from pit_fetch.provider import API_VERSION
from pit_fetch.support.redaction import body_redactor, redactor
from pit_fetch.support.version import __version__
from pit_fetch.transport import HttpReply, HttpRequest, Transport, TransportError

# The source of a run's requests in the journal: no provider has this name, so no question is answered by them.
SOURCE = "pit_fetch run"


class ArchivedTransport:
    """Records the exchanges of ``inner`` in the archive at ``path``; with None in its place, replies as recorded.

    problem  why nothing is recorded any more, or ""
    """

    def __init__(self, inner: Transport | None, path: str, pit: datetime, began: datetime) -> None:
        self._inner, self._path, self.problem = inner, path, ""
        self._connections = threading.local()
        self._lock = threading.Lock()
        self._key: journal.Key | None = None
        start, end = microseconds.to_micros(began), microseconds.to_micros(pit)
        self._entry = journal.FetchEntry(start, "live", SOURCE, f"{__version__}/{API_VERSION}", "", {}, SOURCE, end)

    def send(self, request: HttpRequest) -> HttpReply:
        if self._inner is None:
            return self._recorded(request)
        reply = self._inner.send(request)
        with self._lock:
            try:
                if not self.problem:
                    self._record(request, reply)
            except (ArchiveError, *BROKEN, OSError) as error:  # it ends the recording, and never costs a reply
                self.problem = error.problem if isinstance(error, ArchiveError) else archive_error(error).problem
        return reply

    def _record(self, request: HttpRequest, reply: HttpReply) -> None:
        connection = self._connection()
        with schema.transaction(connection):
            writer = journal.Writer(connection)
            self._key = self._key or writer.append_fetch(self._entry)
            writer.append_exchange(self._key, _exchange(request, reply))

    def finish(self, status: int) -> None:
        """Append how the run ended, if anything of it was recorded."""
        if self._key is not None and not self.problem:
            connection = self._connection()
            with schema.transaction(connection):
                writer = journal.Writer(connection)
                writer.append_answer(self._key, journal.Ended(writer.last_seen(), True, status), None)

    def _recorded(self, request: HttpRequest) -> HttpReply:
        asked = journal.request_digest(_exchange(request, HttpReply(0, {}, b"", microseconds.from_micros(0))))
        try:
            found = journal.reply_to(self._connection(), asked, microseconds.ALWAYS, status=None)
        except (ArchiveError, *BROKEN):
            found = None
        if found is None:
            raise TransportError("unrecorded")
        return HttpReply(found.status, found.headers, found.body, microseconds.from_micros(found.seen))

    def _connection(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        if not hasattr(self._connections, "one"):
            open_ = schema.open_to_read if self._inner is None else schema.open_to_write
            self._connections.one = open_(self._path)
        connection: sqlite3.Connection = self._connections.one
        return connection


def _exchange(request: HttpRequest, reply: HttpReply) -> journal.Exchange:
    """Return an exchange without its keys, and without those that the reply repeats."""
    secrets = (*request.signature.params.values(), *request.signature.headers.values())
    clean, clean_body = redactor(secrets), body_redactor(secrets)
    params = {n: clean(v) if isinstance(v, str) else [*map(clean, v)] for n, v in request.params.items()}
    headers = {name: clean(value) for name, value in reply.headers.items() if name.lower() != "set-cookie"}
    sent = None if request.body is None else clean_body(request.body)
    seen = microseconds.to_micros(reply.received_at)
    body = clean_body(reply.body)
    return journal.Exchange(seen, request.method, clean(request.url), params, sent, reply.status, headers, body)
