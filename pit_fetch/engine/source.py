"""The source of a fetch: a provider that is asked over the network, or a reply that is read from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.engine import credentials, input_files
from pit_fetch.errors import ConfigError, InputError, UpstreamError
from pit_fetch.gaps import Code, Gap
from pit_fetch.provider import Context, Page, Query, Record, Watermark
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import serves_nothing
from pit_fetch.runtime import Runtime
from pit_fetch.support.misuse import Declared
from pit_fetch.transport import RecordingTransport

if TYPE_CHECKING:
    from pit_fetch.archive.session import ArchiveSession
    from pit_fetch.engine.progress import Progress
    from pit_fetch.net.client import Client

Stream = Iterable[Record | Page | Watermark | Gap]
ParseReply = Callable[[bytes, Query], Iterable[Record | Gap]]


class Source(NamedTuple):
    """An opened source: its stream, the secrets that must not get out, and the HTTP client, if there is one."""

    stream: Stream
    secrets: tuple[str, ...] = ()
    client: Client | None = None

    @property
    def received_at(self) -> datetime | None:
        """When the last reply was received; None if there is none yet."""
        return None if self.client is None else self.client.received_at


def open_file(request: FetchRequest, query: Query, runtime: Runtime, deadline: float) -> Source:
    """Return the source of ``--input-file``. Raise InputError if it cannot be read by ``deadline`` (monotonic).

    Raise ConfigError if the operation reads no saved reply.
    """
    parse_reply = query.operation.parse_reply
    if parse_reply is None:
        name = query.operation.name or request.provider.name
        raise ConfigError(Code.USAGE, text=f"{name} reads no saved reply: leave out --input-file.")
    path, seconds = request.input_file or "", deadline - runtime.clock.monotonic()
    body = runtime.read_stdin(seconds) if path == "-" else input_files.read_file(runtime.path(path), seconds)
    body = input_files.unpacked(body)
    if not body.strip():
        problem = "standard input is empty" if path == "-" else "it is empty"
        # ``normalize`` reads no reply, but a list of items.
        code = Code.INPUT_MALFORMED if request.provider.hosts else Code.ITEMS_MALFORMED
        raise InputError(code, source=request.provider.name, problem=problem)
    return Source(() if serves_nothing(query) else _deferred(_records_in, parse_reply, body, query))


def _records_in(parse_reply: ParseReply, body: bytes, query: Query) -> Iterator[Record | Gap]:
    """Yield the records of a file. Raise UpstreamError, which names the file's format if it is a known one."""
    try:
        yield from parse_reply(body, query)
    except UpstreamError:
        form = input_files.form_of(body)
        if form:
            raise UpstreamError(Code.MALFORMED, problem=form) from None
        raise


def open_network(
    request: FetchRequest,
    query: Query,
    runtime: Runtime,
    progress: Progress,
    deadline: float,
    archive: ArchiveSession | None = None,
) -> Source:
    """Return the provider's stream, without a request yet. Raise ConfigError if something is not set up.

    ``archive`` records the stream and its exchanges. ``deadline`` is a reading of the monotonic clock.
    """
    from pit_fetch.net.client import Client
    from pit_fetch.net.clocks import ClockedTransport
    from pit_fetch.net.hosts import base_url
    from pit_fetch.net.ratelimit import rate_of

    provider = request.provider
    values = credentials.resolve(provider, runtime.environ, runtime.folder)
    resolved = Declared("credential", "Provider.credentials", values)
    secrets = tuple(value for each in provider.credentials if credentials.is_secret(each, value := values[each.name]))
    progress.hide(secrets)
    for host in provider.hosts:  # a broken variable is refused before the archive records a fetch
        base_url(host, runtime.environ)
        rate_of(host, runtime.environ)
    if archive is not None:
        archive.start(secrets)
    if serves_nothing(query):
        return Source((), secrets)
    network = ClockedTransport(runtime.transport)
    client = Client(
        hosts=provider.hosts,
        credentials=resolved,
        environ=runtime.environ,
        clock=runtime.clock,
        transport=network if archive is None else RecordingTransport(network, archive.recorder.note),
        timeout=request.timeout,
        deadline=deadline,
        on_request=progress.request,
    )
    files = {each.name: each for each in provider.credentials if each.is_file}
    declared = Declared("file", "Provider.credentials", files)
    context = Context(client, resolved, lambda name: credentials.path_of(declared[name], values[name], runtime.folder))
    stream = _deferred(query.operation.fetch, query, context)
    if archive is None:
        return Source(stream, secrets, client)
    client.on_cached = archive.recorder.note
    return Source(archive.recorder.watch(stream), secrets, client)


def _deferred(start: Callable[..., Iterable[Any]], *arguments: Any) -> Iterator[Any]:
    """Call ``start`` when the first record is needed, so that its exceptions are raised by the stream."""
    yield from start(*arguments)
