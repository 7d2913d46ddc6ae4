"""What a recorded fetch says: its records, by the provider's code of today, from nothing but the archive.

A fetch with a PIT is run again, answered by its own exchanges. One without a PIT was shaped for
today's eyes, so each of its replies is read again as a PIT would show it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pit_fetch.archive.store import index, journal, microseconds
from pit_fetch.archive.store.journal import Exchange, Fetch, Key
from pit_fetch.errors import PitFetchError
from pit_fetch.provider import Context, Gap, Host, Page, Provider, Query, Record, Watermark, Window
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, from_canonical
from pit_fetch.request.operations import OPTION
from pit_fetch.request.query import build_query
from pit_fetch.request.values import format_value
from pit_fetch.runtime import Clock
from pit_fetch.transport import HttpReply, HttpRequest, ReplayingTransport

Find = Callable[[str], Provider]


class Asked(NamedTuple):
    """A recorded fetch in the terms of today's code."""

    fetch: Fetch
    request: FetchRequest
    query: Query


def asked(fetch: Fetch, find: Find) -> Asked:
    """The request of a fetch as its provider understands it today. Raises PitFetchError if it no longer does."""
    provider = find(fetch.source)
    request = from_canonical(fetch.request, provider)
    if fetch.kind == "capture":
        request = request._replace(limit=UNLIMITED, max_pages=UNLIMITED)
    return Asked(fetch, request, build_query(request, microseconds.moment(fetch.began)))


def found(
    key: Key, one: Asked, records: Iterable[Record], seen: int, complete: bool, clean: Callable[[str], str]
) -> index.Found:
    """A read for the index. A capture that ran to its end depends on nothing; any other on its own PIT, or its time."""
    query, fetch = one.query, one.fetch
    evidence = frozenset(field.name for field in query.operation.fields if field.is_evidence)
    said: dict[str, list[index.Fresh]] = {}
    is_dated, is_empty = query.operation.dating == "record", True
    for record in records:
        if record.id and _is_text(record.id):
            is_empty = False
            if is_dated:  # a snapshot is one reply as a whole, and read again when it is asked for
                said.setdefault(record.id, []).append(index.fresh(record, evidence, clean))
    free = min(seen, seen if fetch.pit is None else fetch.pit)
    whole = complete and not is_empty
    return index.Found(
        key=key,
        pool=pool(one.request.provider, query, fetch),
        seen=seen,
        complete=whole,
        free=microseconds.NEVER if fetch.kind == "capture" and whole else free,
        since=microseconds.maybe(query.operation.earliest(query)),
        until=microseconds.number(query.horizon),
        said=said,
    )


def pool(provider: Provider, query: Query, fetch: Fetch) -> str:
    """The question whose records belong together: source, hosts, plan, operation, and what shapes a record."""
    shaping: dict[str, Any] = {}
    for option in provider.options:
        value = query.options[option.name]
        if option.affects_records and option.name != OPTION and value not in (None, False, option.default):
            shaping[option.name] = format_value(value)
    if query.operation.window == Window.BY_ASKING:  # no filter can apply it later
        shaping["window"] = [str(query.since), str(query.until)]
    hosts = {name: urlsplit(base).hostname for name, base in fetch.hosts.items()}
    return json.dumps([provider.name, hosts, fetch.plan, query.operation.name, shaping], sort_keys=True)


def holds(one: Asked, records: Sequence[Record]) -> bool:
    """Whether the window of a fetch would have held one of these records, had it been there."""
    query, provider = one.query, one.request.provider
    earliest = query.operation.earliest(query)
    for record in records:
        public = record.available_at
        if public is None:
            if earliest is not None or query.horizon < query.now:
                continue
        elif public > query.horizon or (earliest is not None and public < earliest):
            continue
        with contextlib.suppress(Exception):  # a filter of a provider's that fails proves nothing
            if query.in_window(record) and provider.select(query, record):
                return True
    return False


def records(
    one: Asked, exchanges: Sequence[Exchange], failed: Callable[[PitFetchError], object] = lambda error: None
) -> Iterator[Record]:
    """Every record that the exchanges of a fetch yield, the running and the undated ones, too.

    ``failed`` is told what today's code could not read, or ended with.
    """
    if one.query.pit is None:
        yield from reread(one, exchanges, failed)
        return
    with _telling(failed):
        for part in one.request.provider.fetch(one.query, _context(one, exchanges)):
            yield from records_in(part)


def reread(
    one: Asked, exchanges: Iterable[Exchange], failed: Callable[[PitFetchError], object] = lambda error: None
) -> Iterator[Record]:
    """The records of each reply by itself, as a PIT would show them; what is not a reply of records has none."""
    for said in exchanges:
        if said.status == 200:
            moment = microseconds.moment(said.seen)
            query = one.query._replace(pit=moment, now=moment, started=moment)
            with _telling(failed):
                for part in one.request.provider.parse_reply(said.body, query):
                    yield from records_in(part)


@contextlib.contextmanager
def _telling(failed: Callable[[PitFetchError], object]) -> Iterator[None]:
    try:
        yield
    except PitFetchError as error:
        failed(error)


def records_in(part: Record | Page | Watermark | Gap) -> tuple[Record, ...]:
    if isinstance(part, Record):
        return (part,)
    return part.records if isinstance(part, Page) else ()


def _is_text(name: str) -> bool:
    """Whether a database can hold it: half of a surrogate pair is legal in JSON and in no encoding."""
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


class Archived(NamedTuple):
    """The recorded fetches of an archive, for the index. ``cache`` keeps what requests mean."""

    connection: sqlite3.Connection
    find: Find
    cache: dict[Key, Asked | None]

    def asked(self, key: Key) -> Asked | None:
        """None for a fetch of a source that is not installed, or a request that is no longer understood."""
        if key not in self.cache:
            self.cache[key] = None
            fetch = journal.fetch_of(self.connection, key)
            if fetch is not None:
                with contextlib.suppress(PitFetchError):
                    self.cache[key] = asked(fetch, self.find)
        return self.cache[key]

    def holds(self, key: Key, found: Sequence[Record]) -> bool:
        one = self.asked(key)
        return one is not None and holds(one, found)

    def read(self, key: Key) -> index.Found | None:
        """A recorded fetch as a read; None if it has no exchanges or is not understood."""
        one, exchanges = self.asked(key), list(journal.exchanges_of(self.connection, key))
        if one is None or not exchanges:
            return None
        ended = journal.ended(self.connection, key)
        seen = exchanges[-1].seen if ended is None else ended.seen
        complete = ended is not None and ended.complete
        said: list[Record] = []
        with contextlib.suppress(Exception):  # a provider's bug costs the index this read, and nothing else
            said = list(records(one, exchanges))
        return found(key, one, said, seen, complete, str)

    def take_up(self, pool: str, at_most: int | None = None) -> bool:
        """Takes up the reads of a pool that its index does not hold yet. Whether any is left."""
        due = index.due(self.connection, pool)
        for key in due[:at_most]:
            read = self.read(key)
            if read is not None:
                index.add(self.connection, read, self.holds)
            index.done(self.connection, key)
        return at_most is not None and len(due) > at_most

    def rebuild(self, told: Callable[[int], None] = lambda done: None) -> None:
        """Makes the index from the start. ``told`` is called with how many fetches are done."""
        index.clear(self.connection)
        for done, key in enumerate(journal.fetches(self.connection)):
            told(done)
            read = self.read(key)
            if read is not None:
                index.add(self.connection, read, self.holds)


def _context(one: Asked, exchanges: Sequence[Exchange]) -> Context:
    """A context in which nothing but the archive answers, at the time of the fetch."""
    from pit_fetch.net.client import Client

    provider, began = one.request.provider, microseconds.moment(one.fetch.began)
    overrides = {
        host.url_variable: one.fetch.hosts[host.name] for host in provider.hosts if host.name in one.fetch.hosts
    }
    credentials = {credential.name: "archived" for credential in provider.credentials}
    client = Client(
        hosts=tuple(unlimited(host) for host in provider.hosts),
        credentials=credentials,
        environ=overrides,
        clock=still(began),
        transport=ReplayingTransport(replies(exchanges)),
        timeout=one.request.timeout,
        deadline=float("inf"),
        on_request=lambda url: None,
    )
    return Context(client, credentials)


def unlimited(host: Host) -> Host:
    return host._replace(rate=None)


def still(moment: datetime) -> Clock:
    """A stopped clock."""
    return Clock(lambda: moment, lambda: 0.0, moment.timestamp, lambda seconds: None)


def replies(exchanges: Iterable[Exchange]) -> Iterator[tuple[HttpRequest, HttpReply]]:
    """Exchanges as a transport sees them."""
    for one in exchanges:
        method: Any = one.method
        params: Mapping[str, Any] = one.params
        sent = HttpRequest(method, one.url, params, {}, one.sent)
        yield sent, HttpReply(one.status, one.headers, one.body, microseconds.moment(one.seen))
