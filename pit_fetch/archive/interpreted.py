"""A fetch as today's code interprets it: what it asks for, which stream it belongs to, and what it can show.

A question that an archive is asked is interpreted as a recorded fetch is, so that the two can be compared.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.journal import FetchEntry
from pit_fetch.errors import PitFetchError
from pit_fetch.provider import Context, Host, Provider, Query, Record
from pit_fetch.request import coverage
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, from_canonical
from pit_fetch.request.operations import is_wanted
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Clock
from pit_fetch.transport import Transport

if TYPE_CHECKING:
    from pit_fetch.net.client import Client

Find = Callable[[str], Provider]

# What the name of a stream has of fetches that a source answered as of a past PIT.
AS_OF_PIT = "as_of_pit"
# The archive has no keys, and what it answers needs none.
NO_KEY = "archived"


class InterpretedFetch(NamedTuple):
    """A fetch, recorded or about to be asked, and its request as today's code interprets it.

    query          what it asks for; of a recorded fetch, with what its names stand for in its own list
    is_unresolved  it has names, and no list of its own says what they stand for
    """

    fetch: FetchEntry
    request: FetchRequest
    query: Query
    is_unresolved: bool = False

    @property
    def stream(self) -> str:
        return stream_of(self.request.provider, self.query, self.fetch)

    @property
    def is_as_of_pit(self) -> bool:
        """Whether its stream is of its PIT alone: :func:`stream_of`."""
        return _is_as_of_pit(self.query, self.fetch)

    @property
    def host_variables(self) -> dict[str, str]:
        """The base addresses of its hosts, as the environment would give them."""
        hosts = self.fetch.hosts
        return {host.url_variable: hosts[host.name] for host in self.request.provider.hosts if host.name in hosts}

    @property
    def is_snapshot(self) -> bool:
        """Whether the records carry no time of their own: each reply is one whole."""
        return self.query.operation.dating.by != "record"

    @property
    def evidence_fields(self) -> frozenset[str]:
        """The fields that state how a record was dated: they are not part of its content."""
        return frozenset(field.name for field in self.query.operation.fields if field.is_evidence)

    @property
    def is_whole_capture(self) -> bool:
        """Whether it asked for all that its source had, so that it rests on nothing that came later than a PIT."""
        has_all = self.is_snapshot or self.query.operation.archiving.reach != "some"
        return self.fetch.kind == "capture" and not self.query.chooses and has_all

    @property
    def shows_absence(self) -> bool:
        """Whether an item that the fetch lacks, if it ran to its end, is gone from the source.

        It is not if the operation chooses, which leaves out what it cannot use, even of what the request names; nor if
        evidence that is optional (``covered_by="evidence"``) was not asked for.
        """
        options, provider, operation = self.query.options, self.request.provider, self.query.operation
        is_full = all(options[option.name] for option in provider.all_options if option.covered_by == "evidence")
        return self.is_snapshot or (operation.archiving.reach != "some" and not operation.archiving.chooses and is_full)

    def counts_from(self, seen: int, *, is_conclusive: bool) -> int:
        """Return the first instant at which the fetch, received at ``seen``, counts: it depends on nothing later.

        A whole capture that ran to its end and is not empty (``is_conclusive``) counts at every instant, unless its
        records are those of the moment. Any other fetch counts from its PIT or, without one, its receipt.
        """
        if is_conclusive and self.is_whole_capture and not self.is_snapshot:
            return microseconds.NEVER
        pit = self.fetch.pit
        return seen if pit is None or self.is_snapshot else min(seen, pit)

    def covers(self, records: Sequence[Record]) -> bool:
        """Return whether the window of the fetch would have covered one of these records, had it been there."""
        query, provider = self.query, self.request.provider
        earliest = query.operation.archiving.earliest(query)
        for record in records:
            public = record.available_at
            if public is None:
                if earliest is not None or query.horizon < query.now or query.operation.archiving.reach == "newest":
                    continue
            elif public > query.last_stamp or (earliest is not None and public < earliest):
                continue
            with contextlib.suppress(Exception):  # a provider's filter that fails proves nothing
                if is_wanted(provider, query, record):
                    return True
        return False


def interpret(fetch: FetchEntry, find: Find) -> InterpretedFetch:
    """Interpret the request of a fetch with today's code. Raise PitFetchError if its provider refuses it now."""
    request = from_canonical(fetch.request, find(fetch.source))
    if fetch.kind == "capture":
        # The canonical request does not say that it was a capture.
        request = request._replace(limit=UNLIMITED, max_pages=UNLIMITED, capture=True)
    return InterpretedFetch(fetch, request, build_query(request, microseconds.from_micros(fetch.began)))


def stream_of(provider: Provider, query: Query, fetch: FetchEntry) -> str:
    """Return the name of the stream: source, hosts, plan, operation, and the options that affect a record.

    What a source answered as of a past PIT (:attr:`~pit_fetch.provider.Archiving.as_of_pit`) belongs to that PIT alone:
    at its receipt something newer may have been there.
    """
    shaping: dict[str, Any] = {**coverage.shaping(query, provider.all_options)}
    if _is_as_of_pit(query, fetch):
        shaping[AS_OF_PIT] = fetch.pit
    # A port or a path of a proxy makes no other source.
    hosts = {name: urlsplit(base).hostname for name, base in fetch.hosts.items()}
    return json.dumps([provider.name, hosts, fetch.plan, query.operation.name, shaping], sort_keys=True)


def _is_as_of_pit(query: Query, fetch: FetchEntry) -> bool:
    is_past = fetch.kind != "capture" and fetch.pit is not None and fetch.pit < fetch.began
    return query.operation.archiving.as_of_pit and is_past


def resolve_by_stream(recorded: InterpretedFetch, stream: str) -> InterpretedFetch | None:
    """Return a fetch of a stream with what its names stand for, as the name of the stream has it; None if it has not.

    To look a name up in a list of thousands takes longer than to answer a question.
    """
    if not stream:
        return None
    provider, options, shaping = recorded.request.provider, dict(recorded.query.options), json.loads(stream)[-1]
    kinds = {option.name: option.kind for option in provider.all_options}
    for option in provider.all_options:
        if option.stands_for and options[option.name]:
            if kinds.get(option.stands_for) != "text" or option.stands_for not in shaping:
                return None
            options |= {option.name: None, option.stands_for: shaping[option.stands_for]}
    named = recorded._replace(query=recorded.query._replace(options=options))
    return named if named.stream == stream else None


def resolve_names(recorded: InterpretedFetch, archive: Transport) -> InterpretedFetch | None:
    """Return the fetch with what the names in its request stand for in the list that ``archive`` holds.

    None if it holds none: what was asked for is not known.
    """
    resolve = recorded.query.operation.archiving.resolve
    if resolve is None:
        return recorded
    client = client_of(recorded, archive)
    try:
        return recorded._replace(query=resolve(recorded.query, Context(client, client.credentials)))
    except PitFetchError:
        return None


def client_of(recorded: InterpretedFetch, transport: Transport) -> Client:
    """Return a client to which ``transport`` alone answers, at the time of the fetch."""
    from pit_fetch.net.client import Client

    provider, fetch = recorded.request.provider, recorded.fetch
    began = microseconds.from_micros(fetch.began)
    return Client(
        hosts=tuple(without_rate(host) for host in provider.hosts),
        credentials={credential.name: NO_KEY for credential in provider.credentials},
        environ=recorded.host_variables,
        # A replay must not wait, nor see a later day than the fetch did.
        clock=Clock(lambda: began, lambda: 0.0, began.timestamp, lambda seconds: None),
        transport=transport,
        timeout=recorded.request.timeout,
        deadline=float("inf"),  # the archive answers at once
        on_request=lambda url: None,
    )


def without_rate(host: Host) -> Host:
    return host._replace(rate=None)
