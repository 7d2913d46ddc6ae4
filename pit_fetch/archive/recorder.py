"""One fetch as it is recorded. Nothing that goes wrong here costs the answer: it ends the recording, and is told.

An exchange is kept before anything is made of it, so that a process that dies loses at most the one
under way. How the fetch ended and what it printed follow when it is over.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pit_fetch import credentials
from pit_fetch.archive import derive, index, instants, log, redaction, schema
from pit_fetch.archive.errors import ArchiveError, of_os, of_sqlite
from pit_fetch.archive.log import Exchange, Key
from pit_fetch.gaps import Gap
from pit_fetch.provider import Page, Record, Watermark
from pit_fetch.transport import Reply, Request

# What a client decides by, and what tells one reply from another.
_HEADERS = ("date", "content-type", "last-modified", "etag", "location", "retry-after")

# Gaps that do not say that something is missing from a read.
_HARMLESS = ("unverifiable", "no_data")

Part = Record | Page | Watermark | Gap


class Recorder:
    """Records one fetch in the archive at ``path``. ``problem`` says why it no longer does; "" while it does."""

    def __init__(self, path: str, asked: derive.Asked, find: derive.Find, busy_seconds: float) -> None:
        self.path, self.asked, self.find, self.busy_seconds = path, asked, find, busy_seconds
        self.problem = ""
        self.connection: sqlite3.Connection | None = None
        self._key: Key | None = None
        self._clean: Callable[[str], str] = str
        self._clean_data: Callable[[str], str] = str
        self._clean_body: Callable[[bytes], bytes] = bytes
        self._exchanges: list[Exchange] = []
        self._records: list[Record] = []
        self._is_ended = self._is_flawed = False
        self._seen = instants.NEVER

    def start(self, secrets: Iterable[str]) -> None:
        """Opens the archive, before anything is asked. ``secrets`` never reach it."""
        values = tuple(secrets)
        self._clean = credentials.redactor(values)
        self._clean_data = credentials.redactor(values, credentials.MIN_LENGTH_IN_DATA)
        self._clean_body = redaction.redactor(values)

        def open_it() -> None:
            self.connection = schema.open_to_write(self.path, self.busy_seconds)

        self._attempt(open_it)

    def note(self, request: Request, reply: Reply) -> None:
        """Appends one exchange; it is on disk when this returns."""
        one = self._exchange(request, reply)

        def append(writer: log.Writer) -> None:
            seen = writer.exchange(self._begun(writer), one)
            self._exchanges.append(one._replace(seen=seen))
            self._seen = max(self._seen, seen)

        self._write(append)

    def watch(self, stream: Iterable[Part]) -> Iterator[Part]:
        """The provider's stream, unchanged. Whether it comes to its end shows whether the read is complete."""
        for part in stream:
            self._records += derive.records_in(part)
            self._is_flawed = self._is_flawed or (isinstance(part, Gap) and part.type not in _HARMLESS)
            yield part
        self._is_ended = True

    def take_up(self) -> index.Found | None:
        """Adds what was read to the index, and returns it; None if nothing was asked, or nothing is recorded."""
        if not self._exchanges:
            return None
        records = self._records
        if self.asked.fetch.pit is None:
            records = []
            with contextlib.suppress(Exception):  # a provider's bug costs the index this read, and nothing else
                records = list(derive.reread(self.asked, self._exchanges))
        taken: list[index.Found] = []

        def add(writer: log.Writer) -> None:
            # An index is read in the order of receipt, so no read counts as received before one that is in it.
            self._seen = max(self._seen, writer.last_seen())
            key = self._begun(writer)
            read = derive.found(key, self.asked, records, self._seen, self._is_complete, self._clean_data)
            archived = derive.Archived(writer.connection, self.find, {key: self.asked})
            taken.append(read)
            index.add(writer.connection, read, archived.holds)

        self._write(add)
        return taken[0] if taken and not self.problem else None

    def finish(self, text: str | None, status: int) -> None:
        """Appends how the fetch ended and what it printed, if it did."""

        def append(writer: log.Writer) -> None:
            seen = self._seen if self._exchanges else writer.last_seen()
            answer = None if text is None else self._clean_body(text.encode("utf-8", "surrogatepass"))
            writer.answer(self._begun(writer), log.Answer(seen, self._is_complete, status, answer))

        self._write(append)
        self.close()

    def close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self.connection.close()
            self.connection = None

    @property
    def key(self) -> Key | None:
        """The fetch in the archive, once something of it is there."""
        return self._key

    @property
    def _is_complete(self) -> bool:
        return self._is_ended and not self._is_flawed

    def _begun(self, writer: log.Writer) -> Key:
        if self._key is None:
            fetch = self.asked.fetch
            self._key = writer.fetch(fetch._replace(request=self._clean(fetch.request)))
        return self._key

    def _exchange(self, request: Request, reply: Reply) -> Exchange:
        """The exchange without its signature, and without what a secret is repeated in."""
        headers = {name: self._clean(reply.header(name)) for name in _HEADERS if reply.header(name)}
        dated = log.moment_of(headers.get("date", ""))
        received = max(reply.received_at, dated) if dated else reply.received_at
        params = {name: _cleaned(value, self._clean) for name, value in request.params.items()}
        return Exchange(
            seen=instants.number(received),
            method=request.method,
            url=self._clean(request.url),
            params=params,
            sent=None if request.body is None else self._clean_body(request.body),
            status=reply.status,
            headers=headers,
            body=self._clean_body(reply.body),
        )

    def _write(self, action: Callable[[log.Writer], None]) -> None:
        connection = self.connection
        if connection is None:
            return
        key = self._key

        def write() -> None:
            with schema.transaction(connection):
                action(log.Writer(connection, self.path))

        self._attempt(write)
        if self.problem:
            self._key = key

    def _attempt(self, action: Callable[[], None]) -> None:
        """Does it, unless something went wrong before: waiting for a locked file once is enough."""
        if self.problem:
            return
        try:
            action()
        except ArchiveError as error:
            self.problem = error.problem
        except sqlite3.Error as error:
            self.problem = of_sqlite(error).problem
        except OSError as error:
            self.problem = of_os(error).problem


def _cleaned(value: str | Sequence[str], clean: Callable[[str], str]) -> Any:
    return clean(value) if isinstance(value, str) else [clean(one) for one in value]
