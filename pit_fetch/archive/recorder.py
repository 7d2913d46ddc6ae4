"""One fetch as it is recorded. Nothing that goes wrong here costs the answer: it ends the recording, and is told.

An exchange is kept before anything is made of it, so that a process that dies loses at most the one
under way. How the fetch ended and what it printed follow when it is over.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pit_fetch.archive import rederive
from pit_fetch.archive.store import index, journal, microseconds, redaction, schema
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, of_broken, of_os
from pit_fetch.archive.store.journal import Exchange, Key
from pit_fetch.gaps import Gap
from pit_fetch.provider import Page, Record, Watermark
from pit_fetch.support.redaction import MIN_LENGTH_IN_DATA, redactor
from pit_fetch.transport import HttpReply, HttpRequest

# What a client decides by, and what tells one reply from another.
_HEADERS = ("date", "content-type", "last-modified", "etag", "location", "retry-after")

# How many reads are taken up in one transaction: others wait for the archive that long.
AT_ONCE = 8

# Gaps that do not say that something is missing from a read.
_HARMLESS = ("unverifiable", "no_data")

Part = Record | Page | Watermark | Gap


class Recorder:
    """Records one fetch in the archive at ``path``. ``problem`` says why it no longer does; "" while it does."""

    def __init__(self, path: str, asked: rederive.Asked, find: rederive.Find, busy_seconds: float) -> None:
        self.path, self.asked, self.find, self.busy_seconds = path, asked, find, busy_seconds
        self.problem = ""
        self.connection: sqlite3.Connection | None = None
        self._key: Key | None = None
        self._clean: Callable[[str], str] = str
        self._clean_data: Callable[[str], str] = str
        self._clean_body: Callable[[bytes], bytes] = bytes
        self._exchanges: list[Exchange] = []
        self._records: list[Record] = []
        self._is_ended = self._is_flawed = self._is_taken_up = False
        self._seen = microseconds.NEVER
        self._deletions = 0
        self._held = contextlib.ExitStack()  # a transaction that goes on until the fetch is over

    def start(self, secrets: Iterable[str]) -> None:
        """Opens the archive, before anything is asked. ``secrets`` never reach it."""
        values = tuple(secrets)
        self._clean = redactor(values)
        self._clean_data = redactor(values, MIN_LENGTH_IN_DATA)
        self._clean_body = redaction.redactor(values)

        def open_it() -> None:
            self.connection = schema.open_to_write(self.path, self.busy_seconds)
            self._deletions = journal.deletions(self.connection)

        self._attempt(open_it)

    def note(self, request: HttpRequest, reply: HttpReply) -> None:
        """Appends one exchange; it is on disk when this returns."""
        one = self._exchange(request, reply)

        def append(writer: journal.Writer) -> None:
            seen = writer.exchange(self._begun(writer), one)
            self._exchanges.append(one._replace(seen=seen))
            self._seen = max(self._seen, seen)

        self.write(append)

    def watch(self, stream: Iterable[Part]) -> Iterator[Part]:
        """The provider's stream, unchanged. Whether it comes to its end shows whether the read is complete."""
        for part in stream:
            self._records += rederive.records_in(part)
            self._is_flawed = self._is_flawed or (isinstance(part, Gap) and part.type not in _HARMLESS)
            yield part
        self._is_ended = True

    def catch_up(self, pool: str) -> None:
        """Takes up what is due of a pool, a few reads at a time, so that others can write meanwhile."""
        left = [True]

        def some(writer: journal.Writer) -> None:
            left[0] = rederive.Archived(writer.connection, self.find, {}).take_up(pool, AT_ONCE)

        while left[0] and self.connection is not None and not self.problem:
            self.write(some)

    def settle(self, pool: str) -> bool:
        """Takes up all that was read of a pool, this fetch last. False if nothing else is held, or it went wrong.

        Where nothing else is held the live answer stands, and what was read is put off until it matters.
        What is taken up here stays only if the fetch comes to its end: one that is killed must not have been used.
        """
        others: list[bool] = []

        def take_up(writer: journal.Writer) -> None:
            key = self._begun(writer)
            self._forget_unfinished(writer, pool, key)
            index.done(writer.connection, key)
            others.append(index.holds_any(writer.connection, pool))
            if not others[0]:
                return
            # An index is read in the order of receipt, so no read counts as received before one that is in it.
            self._seen = max(self._seen, writer.last_seen())
            archived = rederive.Archived(writer.connection, self.find, {key: self.asked})
            archived.take_up(pool)
            read = rederive.found(key, self.asked, self._said(), self._seen, self._is_complete, self._clean_data)
            index.add(writer.connection, read, archived.holds)

        if self._exchanges:
            self.catch_up(pool)
            self.write(take_up, goes_on=lambda: others == [True])
        self._is_taken_up = not self.problem and others == [True]
        return self._is_taken_up

    def finish(self, text: str | None, status: int, pool: str) -> None:
        """Appends how the fetch ended and what it printed, if it did. What was read is due, unless it was taken up."""

        def append(writer: journal.Writer) -> None:
            is_due = bool(self._exchanges) and not self._is_taken_up
            seen = self._seen if self._is_taken_up else max(self._seen, writer.last_seen())
            answer = None if text is None else self._clean_body(text.encode("utf-8", "surrogatepass"))
            key = self._begun(writer)
            # It may repeat what was deleted while it was made.
            is_kept = journal.deletions(writer.connection) == self._deletions
            writer.answer(key, journal.Ended(seen, self._is_complete, status), answer, is_kept=is_kept)
            if is_due:
                self._forget_unfinished(writer, pool, key)
                index.put_off(writer.connection, pool, key)

        self.write(append)
        self.close()

    def _forget_unfinished(self, writer: journal.Writer, pool: str, key: Key) -> None:
        """What was made of this fetch before it was over: the index may have been made again meanwhile."""
        if self._exchanges and index.holds_read(writer.connection, pool, key, self._exchanges[0].seen):
            index.put_off_again(writer.connection, pool)

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

    def _said(self) -> list[Record]:
        """What was read, as it will be read from the log again: all of a reply, wherever the answer stopped."""
        if self.asked.fetch.pit is not None and self._is_ended:
            return self._records
        said: list[Record] = []
        with contextlib.suppress(Exception):  # a provider's bug costs the index this read, and nothing else
            said = list(rederive.records(self.asked, self._exchanges))
        return said

    def _begun(self, writer: journal.Writer) -> Key:
        if self._key is None:
            fetch = self.asked.fetch
            self._key = writer.fetch(fetch._replace(request=self._clean(fetch.request)))
        return self._key

    def _exchange(self, request: HttpRequest, reply: HttpReply) -> Exchange:
        """The exchange without its signature, and without what a secret is repeated in."""
        headers = {name: self._clean_header(reply.header(name)) for name in _HEADERS if reply.header(name)}
        dated = journal.moment_of(headers.get("date", ""))
        received = max(reply.received_at, dated) if dated else reply.received_at
        params = {name: _cleaned(value, self._clean) for name, value in request.params.items()}
        return Exchange(
            seen=microseconds.number(received),
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

    def write(self, action: Callable[[journal.Writer], None], goes_on: Callable[[], bool] = lambda: False) -> None:
        """Does it in one transaction; what goes wrong is the ``problem``. If it ``goes_on``, the next write ends it."""
        connection = self.connection
        if connection is None:
            return
        key = self._key

        def write() -> None:
            with self._held.pop_all() as held:
                if not connection.in_transaction:
                    held.enter_context(schema.transaction(connection))
                if key is not None and journal.fetch_of(connection, key) is None:
                    raise ArchiveError("this fetch was deleted from it meanwhile (archive drop)")
                action(journal.Writer(connection, self.path))
                if goes_on():
                    self._held = held.pop_all()

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
        except BROKEN as error:
            self.problem = of_broken(error).problem
        except OSError as error:
            self.problem = of_os(error).problem


def _cleaned(value: str | Sequence[str], clean: Callable[[str], str]) -> Any:
    return clean(value) if isinstance(value, str) else [clean(one) for one in value]
