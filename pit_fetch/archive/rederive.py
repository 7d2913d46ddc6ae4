"""Derive the records of a recorded fetch from nothing but the archive, with the provider's current code.

A fetch with a PIT is run again, and its recorded exchanges answer it. A fetch without a PIT was shaped for its own
day, so each of its replies is parsed again as a PIT would show it. Where a reply alone does not show its records, since
headers are evidence or the provider chooses, the fetch is run again with the PIT of its own moment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.archive.interpreted import InterpretedFetch, client_of
from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.journal import Exchange
from pit_fetch.errors import PitFetchError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.select import Part, records_of, visibility
from pit_fetch.provider import Context, Provider, Query, Record
from pit_fetch.transport import HttpReply, HttpRequest, ReplayingTransport, Transport

OnError = Callable[[PitFetchError], object]


class Received(NamedTuple):
    """A record of a reply. It is not public if it is stamped later than its receipt, as a running bar is."""

    record: Record
    is_public: bool


class Rederived(NamedTuple):
    """The records of a recorded fetch, as its replies show them.

    has_every_item  every item that the fetch had is among them, so that the source did not have what they lack
    """

    received: Sequence[Received]
    has_every_item: bool


_NOTHING = Rederived((), has_every_item=False)


def _ignore(error: PitFetchError) -> None:
    """Drop an error: what could be read of the reply counts all the same."""


def records(recorded: InterpretedFetch, exchanges: Sequence[Exchange], on_error: OnError = _ignore) -> Iterator[Record]:
    """Yield the public and the undated records in the exchanges of a fetch. Pass an error to ``on_error``."""
    return (record for record, is_public in every_record(recorded, exchanges, on_error) if is_public)


def every_record(
    recorded: InterpretedFetch, exchanges: Sequence[Exchange], on_error: OnError = _ignore
) -> Iterator[Received]:
    """Yield every record in the exchanges of a fetch. Pass an error to ``on_error``."""
    if _is_reparsed(recorded):
        return _reparse_each(recorded, exchanges, on_error)
    return _fetch_again(recorded, ReplayingTransport(replies(exchanges)), _query_with_pit(recorded), on_error)


def reparse(recorded: InterpretedFetch, exchanges: Iterable[Exchange]) -> Iterator[Record]:
    """Yield the public records of each reply by itself, as a PIT would show them. Error statuses have none."""
    return (record for record, is_public in _reparse_each(recorded, exchanges, _ignore) if is_public)


def rederive(recorded: InterpretedFetch, exchanges: Sequence[Exchange]) -> Rederived:
    """Return the records in the exchanges of a fetch, for the index."""
    try:
        if recorded.is_snapshot:
            return Rederived([*_reparse_each(recorded, exchanges, _ignore)], has_every_item=True)
        if recorded.query.pit is not None:
            return _run_again(recorded, ReplayingTransport(replies(exchanges)), _query_with_pit(recorded))
        fetched = _run_again(recorded, ReplayingTransport(replies(exchanges)), recorded.query)
        if _is_reparsed(recorded):
            # A reply read by itself may lack what another reply states: an event, a date, the company. Its records
            # would then be dated by their receipt, and stand above newer ones.
            made = [*_reparse_each(recorded, exchanges, _ignore)]
            if _dates(fetched.received) == _dates(made):
                return Rederived(made, fetched.has_every_item)
        transport = ReplayingTransport(replies(exchanges))
        made_with_pit = _run_again(recorded, transport, _query_with_pit(recorded))
        # With a PIT it would have asked for more, to date things: with less, it may date them otherwise.
        if transport.is_lacking or not made_with_pit.has_every_item:
            return _NOTHING
        # What it leaves out since nothing dates it is not gone.
        return made_with_pit._replace(has_every_item=_ids(fetched.received) <= _ids(made_with_pit.received))
    except Exception:  # noqa: BLE001 - a provider's bug costs the index this fetch, and nothing else
        return _NOTHING


def received(part: Part, moment: datetime | None) -> list[Received]:
    """Return the records in a part of a stream whose last reply was received at ``moment`` (None: there is none)."""
    return [Received(record, visibility(record, moment) != "late") for record in records_of(part)]


def dating_headers(provider: Provider) -> tuple[str, ...]:
    """Return the names of the headers by which a provider's ``fetch`` dates records."""
    return tuple(dict.fromkeys(name for host in provider.hosts for name in host.evidence))


def replies(exchanges: Iterable[Exchange]) -> Iterator[tuple[HttpRequest, HttpReply]]:
    """Yield exchanges as pairs of a transport's request and reply."""
    for exchange in exchanges:
        method: Any = exchange.method
        yield HttpRequest(method, exchange.url, exchange.params, {}, exchange.sent), reply_of(exchange)


def reply_of(exchange: Exchange) -> HttpReply:
    return HttpReply(exchange.status, exchange.headers, exchange.body, microseconds.from_micros(exchange.seen))


def _is_reparsed(recorded: InterpretedFetch) -> bool:
    """Return whether each reply is read by itself: without a PIT, a fetch asks for less than it would with one."""
    query, provider = recorded.query, recorded.request.provider
    needs_fetch = bool(dating_headers(provider)) or query.operation.archiving.chooses
    is_alone = query.pit is None and not needs_fetch
    return query.operation.parse_reply is not None and (recorded.is_snapshot or is_alone)


def _reparse_each(recorded: InterpretedFetch, exchanges: Iterable[Exchange], on_error: OnError) -> Iterator[Received]:
    parse_reply = recorded.query.operation.parse_reply
    if parse_reply is None:  # a snapshot, of which no reply shows its records alone
        yield from _fetch_again(recorded, ReplayingTransport(replies(exchanges)), _query_with_pit(recorded), on_error)
        return
    for exchange in exchanges:
        if exchange.status == 200:
            moment = microseconds.from_micros(exchange.seen)
            query = recorded.query._replace(pit=moment, now=moment, started=moment)
            with _passing_errors(on_error):
                for part in parse_reply(exchange.body, query):
                    yield from received(part, moment)


def _run_again(recorded: InterpretedFetch, transport: Transport, query: Query) -> Rederived:
    """Return the records that the provider's fetch makes of the exchanges."""
    errors: list[PitFetchError] = []
    made = [*_fetch_again(recorded, transport, query, errors.append)]
    # That the source knows nothing of what was asked is an answer, and leaves nothing out.
    return Rederived(made, all(error.gap.code is Code.BAD_CALL for error in errors))


def _fetch_again(
    recorded: InterpretedFetch, transport: Transport, query: Query, on_error: OnError
) -> Iterator[Received]:
    """Yield what the provider's fetch makes of the replies, asked again in their order."""
    client = client_of(recorded, transport)
    context = Context(client, client.credentials)
    with _passing_errors(on_error):
        for part in query.operation.fetch(query, context):
            yield from received(part, client.received_at)


def _query_with_pit(recorded: InterpretedFetch) -> Query:
    return recorded.query._replace(pit=recorded.query.now)


@contextlib.contextmanager
def _passing_errors(on_error: OnError) -> Iterator[None]:
    try:
        yield
    except PitFetchError as error:
        on_error(error)


def _dates(received: Iterable[Received]) -> set[tuple[str, datetime | None]]:
    """Return the ids of records, with their dates. Fields may differ: with a PIT some are left out."""
    return {(part.record.id, part.record.available_at) for part in received if part.record.id}


def _ids(received: Iterable[Received]) -> set[str]:
    return {part.record.id for part in received if part.record.id}
