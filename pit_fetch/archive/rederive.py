"""Derive the records of a recorded fetch from nothing but the archive, with the provider's current code.

A fetch with a PIT is run again, and its recorded exchanges answer it. A fetch without a PIT was shaped for its own
day, so each of its replies is parsed again as a PIT would show it. Where a reply alone does not show its records, since
headers are evidence or the provider chooses, the fetch is run again as with the PIT of its own moment.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pit_fetch.archive.store import history, index, ingestion, journal, microseconds, schema, versions
from pit_fetch.archive.store.checksums import DAMAGED_INDEX
from pit_fetch.archive.store.errors import Damaged, Lost
from pit_fetch.archive.store.journal import Exchange, Fetch, Key
from pit_fetch.errors import PitFetchError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.select import visibility
from pit_fetch.provider import Context, Gap, Host, Page, Provider, Query, Record, Watermark, Window
from pit_fetch.request import coverage
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, from_canonical
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Clock
from pit_fetch.transport import HttpReply, HttpRequest, ReplayingTransport, Transport, TransportError

if TYPE_CHECKING:
    from pit_fetch.net.client import Client

Find = Callable[[str], Provider]
OnError = Callable[[PitFetchError], object]

# A panel asks about each company as of a dozen instants, and there may be a list of names for each of these.
_BODIES = 16


class Received(NamedTuple):
    """A record of a reply. It is not public if it is stamped later than its receipt, as a bar is that was running."""

    record: Record
    is_public: bool


class Derived(NamedTuple):
    """The records of a recorded fetch, as its replies show them.

    is_all  every item that the fetch had is among them, so that the source did not have what they lack
    """

    received: Sequence[Received]
    is_all: bool


class RecordedFetch(NamedTuple):
    """A recorded fetch, and its request as today's code interprets it.

    query          what was asked for, with what its names stand for in its own list
    is_unresolved  it has names, and no list of its own says what they stand for
    """

    fetch: Fetch
    request: FetchRequest
    query: Query
    is_unresolved: bool = False

    @property
    def stream(self) -> str:
        return stream_of(self.request.provider, self.query, self.fetch)

    @property
    def is_snapshot(self) -> bool:
        """Whether the records carry no time of their own: each reply is one whole."""
        return self.query.operation.dating != "record"

    @property
    def evidence(self) -> frozenset[str]:
        """The fields that state how a record was dated: they are not part of its content."""
        return frozenset(field.name for field in self.query.operation.fields if field.is_evidence)

    @property
    def is_whole_capture(self) -> bool:
        """Whether it asked for all that its source had, so that it rests on nothing that came later than a PIT."""
        is_all = self.is_snapshot or self.query.operation.reach != "some"
        return self.fetch.kind == "capture" and not self.query.chooses and is_all

    @property
    def shows_absence(self) -> bool:
        """Whether the source no longer has what a complete fetch lacks, and nobody only left it out.

        A fetch of an operation that chooses leaves out what it cannot use, even of what the request names.
        """
        options, provider, operation = self.query.options, self.request.provider, self.query.operation
        is_full = all(options[option.name] for option in provider.options if option.covered_by == "evidence")
        return self.is_snapshot or (operation.reach != "some" and not operation.chooses and is_full)

    def counts_from(self, seen: int, *, is_whole: bool) -> int:
        """Return the first instant at which the fetch, received at ``seen``, counts: it depends on nothing later.

        A whole capture that ran to its end (``is_whole``) counts at every instant, unless its records are those of the
        moment. Any other fetch counts from its PIT or, without one, its receipt.
        """
        if is_whole and self.is_whole_capture and not self.is_snapshot:
            return microseconds.NEVER
        pit = self.fetch.pit
        return seen if pit is None or self.is_snapshot else min(seen, pit)

    def covers(self, records: Sequence[Record]) -> bool:
        """Return whether the window of the fetch would have covered one of these records, had it been there."""
        query, provider = self.query, self.request.provider
        earliest = query.operation.earliest(query)
        for record in records:
            public = record.available_at
            if public is None:
                if earliest is not None or query.horizon < query.now or query.operation.reach == "newest":
                    continue
            elif public > query.horizon or (earliest is not None and public < earliest):
                continue
            with contextlib.suppress(Exception):  # a provider's filter that fails proves nothing
                if query.in_window(record) and provider.select(query, record):
                    return True
        return False


def interpret(fetch: Fetch, find: Find) -> RecordedFetch:
    """Interpret the request of a fetch with today's code. Raise PitFetchError if its provider refuses it now."""
    request = from_canonical(fetch.request, find(fetch.source))
    if fetch.kind == "capture":
        request = request._replace(limit=UNLIMITED, max_pages=UNLIMITED, capture=True)
    return RecordedFetch(fetch, request, build_query(request, microseconds.from_micros(fetch.began)))


def indexed(
    key: Key,
    recorded: RecordedFetch,
    made: Derived,
    seen: int,
    complete: bool,
    clean: Callable[[str], str],
) -> index.IndexedFetch:
    """Return a fetch as the index takes it. ``clean`` redacts the payload of its records.

    A fetch of what the source chooses, by what came later, is never complete. One of its newest records covers the
    time since the oldest of them.
    """
    query, evidence = recorded.query, recorded.evidence
    items: dict[str, list[versions.FreshVersion]] = {}
    rows: set[int] = set()
    reach = query.operation.reach
    for record, is_public in made.received:
        if not record.id or not _is_encodable(record.id):
            continue
        if not recorded.is_snapshot:
            version = versions.fresh(record, evidence, clean)
            # A bar that ended before the last page came in was running when its own page did: it shows nothing.
            if is_public or not history.is_public(version.stamped_at, seen):
                items.setdefault(record.id, []).append(version)
        elif is_public:  # one reply as a whole, which is parsed again when a question needs it
            rows.add(versions.row_digest(record, evidence))
    # Sources send empty replies under load, so an empty one shows nothing as absent.
    is_whole = complete and made.is_all and bool(items or rows)
    since = microseconds.to_micros(query.operation.earliest(query))
    if reach == "newest":
        # Of several records of the oldest instant, some may have been dropped.
        stamps = [version.available for known in items.values() for version in known if version.available]
        since = max(min(stamps, default=seen) + 1, microseconds.NEVER if since is None else since)
    return index.IndexedFetch(
        key=key,
        stream=recorded.stream,
        seen=seen,
        is_complete=is_whole and recorded.shows_absence,
        is_all=made.is_all,
        counts_from=recorded.counts_from(seen, is_whole=is_whole),
        since=since,
        until=microseconds.to_micros(query.horizon),
        items=items,
        rows=rows,
    )


def stream_of(provider: Provider, query: Query, fetch: Fetch) -> str:
    """Return the name of the stream: source, hosts, plan, operation, and the options that affect a record."""
    shaping: dict[str, Any] = {**coverage.shaping(query, provider.options)}
    if query.operation.window == Window.BY_ASKING:  # only the source can apply it
        shaping["window"] = [str(query.since), str(query.until)]
    hosts = {name: urlsplit(base).hostname for name, base in fetch.hosts.items()}
    return json.dumps([provider.name, hosts, fetch.plan, query.operation.name, shaping], sort_keys=True)


def records(
    recorded: RecordedFetch, exchanges: Sequence[Exchange], on_error: OnError = lambda error: None
) -> Iterator[Record]:
    """Yield every public record in the exchanges of a fetch, and undated ones. Pass an error to ``on_error``."""
    return (record for record, is_public in every_record(recorded, exchanges, on_error) if is_public)


def derived(recorded: RecordedFetch, exchanges: Sequence[Exchange]) -> Derived:
    """Return the records in the exchanges of a fetch, for the index."""
    try:
        if recorded.is_snapshot:
            return Derived([*_every_reparsed(recorded, exchanges)], is_all=True)
        if recorded.query.pit is not None:
            return _as_fetched(recorded, _replay(exchanges), _as_with_a_pit(recorded.query))
        fetched = _as_fetched(recorded, _replay(exchanges), recorded.query)
        if _is_reparsed(recorded):
            # A reply that is read by itself can lack what another one says of it: an event, a date, or whose list it
            # is. What is dated by its receipt in their place would stand above what is newer.
            made = [*_every_reparsed(recorded, exchanges)]
            if _dates(fetched.received) == _dates(made):
                return Derived(made, fetched.is_all)
        return _as_if_with_a_pit(recorded, exchanges, fetched)
    except Exception:  # noqa: BLE001 - a provider's bug costs the index this fetch, and nothing else
        return Derived((), is_all=False)


def _as_if_with_a_pit(recorded: RecordedFetch, exchanges: Sequence[Exchange], fetched: Derived) -> Derived:
    """Return what a fetch without a PIT, which made ``fetched``, would have made with one.

    It would have asked for more, to date things, and it leaves out what nothing dates. None of that is gone.
    """
    transport = _replay(exchanges)
    made = _as_fetched(recorded, transport, _as_with_a_pit(recorded.query))
    if not made.is_all:
        return Derived((), is_all=False)
    return made._replace(is_all=not transport.is_lacking and _ids(fetched.received) <= _ids(made.received))


def _dates(received: Iterable[Received]) -> set[tuple[str, datetime | None]]:
    """Return the ids of records, with their dates. Fields may differ: with a PIT some are left out."""
    return {(part.record.id, part.record.available_at) for part in received if part.record.id}


def _ids(received: Iterable[Received]) -> set[str]:
    return {part.record.id for part in received if part.record.id}


def _as_fetched(recorded: RecordedFetch, transport: Transport, query: Query) -> Derived:
    """Return the records that the provider's fetch makes of the exchanges. That it knows nothing is an answer."""
    errors: list[PitFetchError] = []
    made = [*_replayed(recorded, transport, query, errors.append)]
    return Derived(made, all(error.gap.code is Code.BAD_CALL for error in errors))


def every_record(
    recorded: RecordedFetch, exchanges: Sequence[Exchange], on_error: OnError = lambda error: None
) -> Iterator[Received]:
    """Yield every record in the exchanges of a fetch. Pass an error to ``on_error``."""
    if _is_reparsed(recorded):
        return _every_reparsed(recorded, exchanges, on_error)
    return _replayed(recorded, _replay(exchanges), _as_with_a_pit(recorded.query), on_error)


def _as_with_a_pit(query: Query) -> Query:
    return query._replace(pit=query.now)


def _is_reparsed(recorded: RecordedFetch) -> bool:
    """Return whether each reply is read by itself: without a PIT, a fetch asks for less than it would with one."""
    query, provider = recorded.query, recorded.request.provider
    needs_fetch = bool(evidence_of(provider)) or query.operation.chooses
    return recorded.is_snapshot or (query.pit is None and not needs_fetch)


def _replay(exchanges: Iterable[Exchange]) -> ReplayingTransport:
    return ReplayingTransport(replies(exchanges))


def _replayed(recorded: RecordedFetch, transport: Transport, query: Query, on_error: OnError) -> Iterator[Received]:
    """Yield what the provider's fetch makes of the replies, asked again in their order."""
    client = _client(recorded, transport)
    context = Context(client, client.credentials)
    with _reporting(on_error):
        for part in recorded.request.provider.fetch(query, context):
            yield from received(part, client.received_at)


def evidence_of(provider: Provider) -> tuple[str, ...]:
    """Return the names of the headers by which a provider's ``fetch`` dates records."""
    return tuple(dict.fromkeys(name for host in provider.hosts for name in host.evidence))


def reparse(
    recorded: RecordedFetch, exchanges: Iterable[Exchange], on_error: OnError = lambda error: None
) -> Iterator[Record]:
    """Yield the public records of each reply by itself, as a PIT would show them. Error statuses have none."""
    return (record for record, is_public in _every_reparsed(recorded, exchanges, on_error) if is_public)


def _every_reparsed(
    recorded: RecordedFetch, exchanges: Iterable[Exchange], on_error: OnError = lambda error: None
) -> Iterator[Received]:
    for exchange in exchanges:
        if exchange.status == 200:
            moment = microseconds.from_micros(exchange.seen)
            query = recorded.query._replace(pit=moment, now=moment, started=moment)
            with _reporting(on_error):
                for part in recorded.request.provider.parse_reply(exchange.body, query):
                    yield from received(part, moment)


@contextlib.contextmanager
def _reporting(on_error: OnError) -> Iterator[None]:
    try:
        yield
    except PitFetchError as error:
        on_error(error)


def received(part: Record | Page | Watermark | Gap, moment: datetime | None) -> list[Received]:
    """Return the records in a part of a stream whose last reply was received at ``moment`` (None: there is none)."""
    records = part.records if isinstance(part, Page) else (part,) if isinstance(part, Record) else ()
    return [Received(record, visibility(record, moment) != "late") for record in records]


def _is_encodable(name: str) -> bool:
    """Return whether a database can store the text, and find it again.

    Half of a surrogate pair is legal in JSON and in no encoding. SQLite's functions for JSON end a text at a NUL.
    """
    try:
        return "\0" not in name and bool(name.encode())
    except UnicodeEncodeError:
        return False


class Archived:
    """The recorded fetches of an archive, for the index."""

    def __init__(self, connection: sqlite3.Connection, find: Find) -> None:
        self.connection, self.find = connection, find
        # The requests interpreted so far.
        self.cache: dict[Key, RecordedFetch | None] = {}
        # Bodies that were read last, by their digests: many fetches begin with the same list of names.
        self.bodies: dict[bytes, bytes] = {}
        # The stream of which the connection has a copy of the index, if that of the file lacks something.
        self.aside: str | None = None
        # Whether the connection has an index of all streams instead.
        self.has_all_aside = False

    def complete(self, stream: str) -> None:
        """Let the index hold every fetch of a stream: in a copy for this connection, if it lacks one. Raise Damaged."""
        if self.has_all_aside:
            self.ingest_all(stream)
            return
        if self.aside is not None and self.aside != stream:
            schema.take_back(self.connection)
            self.aside = None
        if self.aside is None and (schema.is_outdated(self.connection) or index.is_behind(self.connection, stream)):
            schema.set_aside(self.connection, stream)
            self.aside = stream
            self.ingest_all(stream)

    def streams(self) -> list[str]:
        """Return the names of all streams. Raise Damaged.

        If the file does not say of which streams some of its fetches are, the index is made again for this connection.
        """
        is_outdated = schema.is_outdated(self.connection)
        unassigned = () if is_outdated else index.pending(self.connection, index.UNASSIGNED)
        if is_outdated or any(self.recorded(key) is not None for key in unassigned):
            schema.set_all_aside(self.connection)
            self.has_all_aside = True
            self.assign()
        return index.streams(self.connection)

    def recorded(self, key: Key, stream: str = "") -> RecordedFetch | None:
        """Return a fetch, or None if its source is not installed or refuses the request now.

        ``stream``, if given, is the one that the index has it in.
        """
        if key not in self.cache:
            self.cache[key] = None
            fetch = journal.fetch_of(self.connection, key)
            if fetch is not None:
                with contextlib.suppress(PitFetchError):
                    recorded = interpret(fetch, self.find)
                    self.cache[key] = in_stream(recorded, stream) or self.resolved(key, recorded)
        return self.cache[key]

    def resolved(self, key: Key, recorded: RecordedFetch) -> RecordedFetch:
        """Return a fetch with what its names stand for in its own list. One without a list is not complete anyway."""
        own = ArchivedReplies(self, microseconds.ALWAYS, key)
        return resolved(recorded, own) or recorded._replace(is_unresolved=True)

    def read_body(self, digest: bytes) -> bytes:
        """Return a body by its digest. Raise Damaged, or Lost."""
        body = self.bodies.pop(digest, None)
        self.bodies[digest] = journal.read_body(self.connection, digest) if body is None else body
        if len(self.bodies) > _BODIES:
            del self.bodies[next(iter(self.bodies))]
        return self.bodies[digest]

    def assign(self) -> None:
        """Put the fetches in a file of an earlier format into the streams of today's code. Raise Damaged."""
        for key in index.pending(self.connection, index.UNASSIGNED):
            recorded = self.recorded(key)
            if recorded is not None:  # else its source is not installed
                index.mark_ingested(self.connection, key)
                index.defer(self.connection, recorded.stream, key)

    def window_covers(self, stream: str) -> Callable[[Key, Sequence[Record]], bool]:
        """Return whether the window of a fetch of a stream would have covered one of some records."""

        def covers(key: Key, records: Sequence[Record]) -> bool:
            recorded = self.recorded(key, stream)
            return recorded is not None and recorded.covers(records)

        return covers

    def indexed(self, key: Key) -> index.IndexedFetch | None:
        """Return a fetch as the index takes it, or None if it has no exchanges or cannot be interpreted."""
        recorded, exchanges = self.recorded(key), list(journal.exchanges_of(self.connection, key))
        if recorded is None or not exchanges:
            return None
        ended = journal.ended(self.connection, key)
        seen = exchanges[-1].seen if ended is None else ended.seen
        complete = ended is not None and ended.complete
        return indexed(key, recorded, derived(recorded, exchanges), seen, complete, str)

    def ingest(self, stream: str, at_most: int | None = None) -> bool:
        """Add the pending fetches of a stream to the index, ``at_most`` so many. Return whether any is left.

        Raise Damaged.
        """
        self.assign()
        pending = index.pending(self.connection, stream)
        for key in pending[:at_most]:
            if journal.fetch_of(self.connection, key) is None:
                raise Damaged(DAMAGED_INDEX)
            journal.check_span(self.connection, key)
            index.mark_ingested(self.connection, key)
            if not self.add(key):
                return True
        return at_most is not None and len(pending) > at_most

    def rebuild(self, on_progress: Callable[[int], None] = lambda done: None) -> None:
        """Derive the whole index again. ``on_progress`` is called with the number of fetches that are done."""
        index.create_anew(self.connection)
        for done, key in enumerate(journal.fetches(self.connection)):
            on_progress(done)
            self.add(key)

    def add(self, key: Key) -> bool:
        """Add a fetch to the index. Return whether that was done.

        If later ones of its stream are there, all of them are pending again.
        """
        fetch = self.indexed(key)
        if fetch is not None and index.is_late(self.connection, fetch):
            index.defer_all(self.connection, fetch.stream)
            index.defer(self.connection, fetch.stream, key)
            return False
        if fetch is not None:
            ingestion.add(self.connection, fetch, self.window_covers(fetch.stream))
        return True

    def ingest_all(self, stream: str) -> None:
        """Add all pending fetches of a stream to the index. Raise Damaged."""
        while self.ingest(stream):
            pass


def in_stream(recorded: RecordedFetch, stream: str) -> RecordedFetch | None:
    """Return a fetch of a stream with what its names stand for, as the name of the stream has it; None if it has not.

    To look a name up in a list of thousands takes longer than to answer a question.
    """
    if not stream:
        return None
    provider, options, shaping = recorded.request.provider, dict(recorded.query.options), json.loads(stream)[-1]
    kinds = {option.name: option.kind for option in provider.options}
    for option in provider.options:
        if option.stands_for and options[option.name]:
            if kinds.get(option.stands_for) != "text" or option.stands_for not in shaping:
                return None
            options |= {option.name: None, option.stands_for: shaping[option.stands_for]}
    named = recorded._replace(query=recorded.query._replace(options=options))
    return named if named.stream == stream else None


def resolved(recorded: RecordedFetch, archive: Transport) -> RecordedFetch | None:
    """Return the fetch with what the names in its request stand for in the list that ``archive`` holds.

    None if it holds none: what was asked for is not known.
    """
    resolve = recorded.request.provider.resolve
    if resolve is None:
        return recorded
    client = _client(recorded, archive)
    try:
        return recorded._replace(query=resolve(recorded.query, Context(client, client.credentials)))
    except PitFetchError:
        return None


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
            raise TransportError("network")
        return _reply(exchange)


def _client(recorded: RecordedFetch, transport: Transport) -> Client:
    """Return a client to which ``transport`` alone answers, at the time of the fetch."""
    from pit_fetch.net.client import Client

    provider, fetch = recorded.request.provider, recorded.fetch
    began = microseconds.from_micros(fetch.began)
    overrides = {host.url_variable: fetch.hosts[host.name] for host in provider.hosts if host.name in fetch.hosts}
    return Client(
        hosts=tuple(without_rate(host) for host in provider.hosts),
        credentials={credential.name: "archived" for credential in provider.credentials},
        environ=overrides,
        clock=Clock(lambda: began, lambda: 0.0, began.timestamp, lambda seconds: None),
        transport=transport,
        timeout=recorded.request.timeout,
        deadline=float("inf"),
        on_request=lambda url: None,
    )


def without_rate(host: Host) -> Host:
    return host._replace(rate=None)


def replies(exchanges: Iterable[Exchange]) -> Iterator[tuple[HttpRequest, HttpReply]]:
    """Yield exchanges as pairs of a transport's request and reply."""
    for exchange in exchanges:
        method: Any = exchange.method
        params: Mapping[str, Any] = exchange.params
        yield HttpRequest(method, exchange.url, params, {}, exchange.sent), _reply(exchange)


def _reply(exchange: Exchange) -> HttpReply:
    return HttpReply(exchange.status, exchange.headers, exchange.body, microseconds.from_micros(exchange.seen))
