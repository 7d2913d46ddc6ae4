"""Runs one request: records from the network or a file, through the pipeline, into a judged envelope.

:func:`collect` asks and filters; :mod:`pit_fetch.engine.report` writes up the result. Between them passes
one value, :class:`CollectedRecords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.engine import audit, credentials, input_files
from pit_fetch.engine.report import CollectedRecords, FetchResult, report
from pit_fetch.errors import ConfigError, InputError, PitFetchError, UpstreamError
from pit_fetch.formats import json as as_json
from pit_fetch.gaps import Gap, gap
from pit_fetch.pipeline.cursor import Position, position
from pit_fetch.pipeline.select import Selection, SelectionBuilder, WithheldCounts, in_order, public, take
from pit_fetch.provider import Context, Page, Query, Record, Stage, Watermark
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import caveats, is_of_publication, is_out_of_reach
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime, TimeIsUp
from pit_fetch.support.redaction import redactor
from pit_fetch.times import format_for_people

if TYPE_CHECKING:
    from pit_fetch.archive.session import Held, Memory
    from pit_fetch.engine.progress import Progress
    from pit_fetch.net.client import Client

# The network and the stream of records stop at the deadline; the alarm is for a provider that never returns.
ALARM_GRACE_SECONDS = 1.0

Stream = Iterable[Record | Page | Watermark | Gap]


class Source(NamedTuple):
    """An opened source: its stream, the secrets that must not get out, and the HTTP client, if there is one."""

    stream: Stream
    secrets: tuple[str, ...] = ()
    client: Client | None = None


def run(request: FetchRequest, runtime: Runtime, log: Progress, argv: list[str]) -> FetchResult:
    """The outcome of ``request``. Raises UsageError if the audit file cannot be written."""
    audit_path = audit.path(runtime.environ)
    collected = collect(request, runtime, log)
    try:
        outcome = report(request, collected)
    except (TypeError, ValueError, RecursionError) as error:  # a payload that JSON cannot express
        collected = _failed(request, collected, error)
        outcome = report(request, collected)
    log.summary(request.provider.name, outcome.kept, outcome.gaps)
    if audit_path:
        audit.write(audit_path, audit.entry(request, runtime.clock.now(), argv, collected, outcome))
    if collected.memory is not None:
        # A binary answer is one of a person's tools: what is kept, and replayed, is the envelope that it was made of.
        text = outcome.text if isinstance(outcome.text, str) else as_json.render(outcome.envelope)
        collected.memory.finish(text, outcome.status)
    return outcome


def collect(request: FetchRequest, runtime: Runtime, log: Progress) -> CollectedRecords:
    """The public records of ``request``, ordered, selected and cut, and the gaps met on the way."""
    provider, started = request.provider, runtime.clock.now()
    deadline = runtime.clock.monotonic() + request.timeout
    log.detail(
        f"{provider.name} as of {format_for_people(request.pit or started)}" + ("" if request.pit else " (open mode)")
    )
    log.as_of = f", as of {format_for_people(request.pit)}" if request.pit else ""
    collected, source = CollectedRecords(Selection(), WithheldCounts()), Source(())
    try:
        query = build_query(request, started)
        memory = _memory(request, query, runtime)
        if memory is not None and request.offline:
            return _offline(request, query, runtime, log, memory)
        source = _source(request, query, runtime, log, deadline, memory)
        collected = collected._replace(
            secrets=source.secrets, opened=True, when_empty=_when_empty(request, query), memory=memory
        )
        said = tuple(caveats(query, provider.name))
        log.start(provider.name)
        stream = _until_it_ends(request, runtime, source.stream, deadline)
        selection = _take(request, query, runtime, log, stream, collected.withheld)
        collected = _saying(collected._replace(selection=selection), first=said)
        if memory is not None:
            collected = _mixed(request, query, runtime, log, memory, collected)
    except PitFetchError as error:
        # Something the request needs is missing: no fetch took place, so nothing was withheld either.
        collected = CollectedRecords(Selection(gaps=(error.gap,)), WithheldCounts(), _secrets(request, runtime))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a provider may raise anything, even SystemExit
        collected = _failed(request, collected._replace(secrets=_secrets(request, runtime)), error)
    return collected if source.client is None else collected._replace(requests=source.client.requests_made)


def _take(
    request: FetchRequest, query: Query, runtime: Runtime, log: Progress, stream: Stream, withheld: WithheldCounts
) -> Selection:
    """What is wanted of a source's stream, as far as it comes."""
    builder = SelectionBuilder()
    visible = public(stream, _cutoff(request, runtime), withheld)
    try:
        with runtime.alarm(request.timeout + ALARM_GRACE_SECONDS):
            _keep(request, query, log, in_order(visible), builder)
    except UpstreamError as error:  # the source broke its promised order; what came before the break is kept
        builder.gaps.append(error.gap)
    except TimeIsUp:
        builder.gaps += _deadline_gaps(request)
    return builder.build()


def _saying(collected: CollectedRecords, *last: Gap, first: Iterable[Gap] = ()) -> CollectedRecords:
    """``collected`` with gaps before and after its own."""
    selection = collected.selection
    return collected._replace(selection=selection._replace(gaps=(*first, *selection.gaps, *last)))


def _keep(
    request: FetchRequest,
    query: Query,
    log: Progress,
    ordered: Iterable[Record | Watermark | Gap],
    builder: SelectionBuilder,
) -> None:
    """What is wanted of public records in order."""
    provider = request.provider
    stream = (one for one in ordered if not isinstance(one, Watermark))

    def select(record: Record) -> bool:
        wanted = query.in_window(record) and provider.select(query, record)
        if wanted:
            log.kept(provider.name, len(builder.records) + 1)
        return wanted

    derive = provider.derive(query)
    take(
        stream if derive is None else _derived(stream, derive, builder),
        builder,
        after=request.after.position if request.after else None,
        within=request.after is not None and request.after.within is not None,
        cap=request.max_pages * provider.page_size,
        limit=request.limit,
        select=select,
    )


def _memory(request: FetchRequest, query: Query, runtime: Runtime) -> Memory | None:
    """The archive of this fetch, if it has one. Raises ConfigError for --offline without one."""
    if request.input_file:
        return None
    path = request.archive or runtime.environ.get("PIT_FETCH_ARCHIVE")
    if path:
        from pit_fetch.archive.session import Memory

        return Memory(path, request, query, runtime)
    if request.offline:
        raise ConfigError("offline_without_archive")
    return None


def _offline(request: FetchRequest, query: Query, runtime: Runtime, log: Progress, memory: Memory) -> CollectedRecords:
    """What the archive alone holds. Raises ConfigError if it cannot be used."""
    from pit_fetch.archive.store.errors import ArchiveError

    secrets = _secrets(request, runtime)
    log.clean = redactor(secrets)
    memory.start(secrets)
    selection = Selection(gaps=(gap("offline"), *caveats(query, request.provider.name)))
    collected = CollectedRecords(
        selection, WithheldCounts(), secrets, opened=True, when_empty=_when_empty(request, query)
    )
    try:
        return _recalled(request, query, runtime, log, memory, collected, None)
    except ArchiveError as error:
        raise ConfigError("archive_unusable", problem=error.problem) from None


def _mixed(
    request: FetchRequest, query: Query, runtime: Runtime, log: Progress, memory: Memory, live: CollectedRecords
) -> CollectedRecords:
    """The live answer, as the archive completes and corrects it: the live read is one more of its reads.

    Without a PIT the live answer is today's. An archive that holds nothing else changes nothing.
    """
    from pit_fetch.archive.store.errors import ArchiveError

    read: Selection | None = None
    if not is_out_of_reach(query):  # or the network was not asked, and nothing had to be recorded either
        read = live.selection
        is_today = request.pit is None or query.operation.dating != "record" or request.capture
        holds_more = not is_today and memory.settle()
        if memory.problem:
            return _saying(live, gap("not_recorded", problem=memory.problem))
        if not holds_more:
            return live
    try:
        return _recalled(request, query, runtime, log, memory, live, read)
    except ArchiveError as error:
        return _saying(live, gap("archive_unusable", problem=error.problem))


def _recalled(
    request: FetchRequest,
    query: Query,
    runtime: Runtime,
    log: Progress,
    memory: Memory,
    collected: CollectedRecords,
    live: Selection | None,
) -> CollectedRecords:
    """``collected`` with the records that the archive holds at the PIT, down to where the ``live`` read stopped.

    Raises ArchiveError if the archive cannot be read.
    """
    instant = _cutoff(request, runtime)() or query.now
    said, builder = collected.selection.gaps, SelectionBuilder()
    held = memory.recall(instant)
    if held is None:
        return collected._replace(memory=memory)
    if held.is_snapshot:
        said = tuple(_as_held(one) for one in said)
    stream = _ordered(held, public(held.records, lambda: instant, collected.withheld))
    stop = None if live is None or held.is_snapshot else _stop(live)
    _keep(request, query, log, stream if stop is None else _down_to(stream, stop), builder)
    selection = builder.build()
    if live is not None and not selection.stopped and live.stopped and not held.is_snapshot:
        selection = selection._replace(stopped=live.stopped, last=live.last, resume=live.last)
    return _saying(collected._replace(selection=selection, memory=memory), first=said)


def _ordered(held: Held, stream: Iterable[Record | Watermark | Gap]) -> Iterable[Record | Watermark | Gap]:
    """The index answers in the envelope's order, a snapshot in that of its reply."""
    return in_order(stream) if held.is_snapshot else stream


def _stop(live: Selection) -> Position | None:
    """The last position that the live read reached; None if it came to its end."""
    is_cut = live.stopped or any(one.type in ("truncated", "upstream_error") for one in live.gaps)
    if not is_cut:
        return None
    return (float("-inf"), "") if live.last is None else position(live.last)


def _down_to(stream: Iterable[Record | Watermark | Gap], stop: Position) -> Iterator[Record | Watermark | Gap]:
    for one in stream:
        if isinstance(one, Record) and position(one) > stop:
            return
        yield one


def _as_held(one: Gap) -> Gap:
    """Return what takes the place of a gap about a snapshot, once the archive holds one."""
    archived = one.code.about.archived
    return gap(archived, **one.params) if archived else one


def _derived(stream: Iterator[Record | Gap], derive: Stage, builder: SelectionBuilder) -> Iterator[Record]:
    """What the provider computes across the public records. Gaps bypass it."""

    def records() -> Iterator[Record]:
        for one in stream:
            if isinstance(one, Gap):
                builder.gaps.append(one)
            else:
                yield one

    return derive(records())


def _until_it_ends(
    request: FetchRequest, runtime: Runtime, stream: Stream, deadline: float
) -> Iterator[Record | Page | Watermark | Gap]:
    """``stream``, followed by a gap if an error or the deadline ends it.

    An error ends the stream as its last record would: what was complete before it is kept.
    """
    try:
        for one in stream:
            if not isinstance(one, (Record, Page, Watermark, Gap)):
                raise TypeError("a provider may yield only Record, Page, Watermark and Gap")
            yield one
            if runtime.clock.monotonic() > deadline:
                yield from _deadline_gaps(request)
                return
    except UpstreamError as error:
        said = error.gap
        if request.input_file:
            problem = error.gap.params.get("problem", "the source reports an error")
            said = gap("input_malformed", source=request.provider.name, problem=problem)
        if error.is_deadline:
            yield gap("deadline", timeout=request.timeout)
        yield said
    except TimeIsUp:
        yield from _deadline_gaps(request)


def _deadline_gaps(request: FetchRequest) -> list[Gap]:
    timeout = request.timeout
    return [gap("deadline", timeout=timeout), gap("timeout", host=request.provider.name, timeout=timeout)]


def _when_empty(request: FetchRequest, query: Query) -> str:
    # Of another date than that of publication it would not be true: a forecast is of a day to come.
    is_late = query.pit is not None and query.since is not None and query.since > query.pit
    if is_late and is_of_publication(query.operation):
        return "--date-from is after the PIT: nothing from then on was public."
    return request.provider.when_empty(query)


def _cutoff(request: FetchRequest, runtime: Runtime) -> Callable[[], datetime | None]:
    """The PIT, but never later than now: otherwise a PIT in the future would let a running bar through."""
    pit = request.pit
    if pit is None or pit <= runtime.clock.now():
        return lambda: pit
    return lambda: min(pit, runtime.clock.now())


def _source(
    request: FetchRequest, query: Query, runtime: Runtime, log: Progress, deadline: float, memory: Memory | None = None
) -> Source:
    """The source, opened as the request demands. Raises ConfigError and InputError."""
    if request.input_file:
        return _file(request, query, runtime, deadline)
    from pit_fetch.net.client import Client, base_url
    from pit_fetch.net.ratelimit import rate_of

    provider = request.provider
    resolved = credentials.resolve(provider, runtime.environ, runtime.folder)
    secrets = credentials.secret_values(provider, resolved)
    log.clean = redactor(secrets)
    for host in provider.hosts:
        base_url(host, runtime.environ)
        rate_of(host, runtime.environ)
    if memory is not None:
        memory.start(secrets)
    if is_out_of_reach(query):
        return Source((), secrets)
    client = Client(
        hosts=provider.hosts,
        credentials=resolved,
        environ=runtime.environ,
        clock=runtime.clock,
        transport=runtime.transport if memory is None else memory.transport(runtime.transport),
        timeout=request.timeout,
        deadline=deadline,
        on_request=log.request,
    )
    context = Context(
        client, resolved, lambda name: input_files.path_of(provider, name, runtime.environ, runtime.folder)
    )
    stream = _begun(provider.fetch, query, context)
    if memory is None:
        return Source(stream, secrets, client)
    client.on_kept = memory.note
    return Source(memory.watch(stream), secrets, client)


def _begun(start: Callable[..., Iterable[Any]], *given: Any) -> Iterator[Any]:
    """What ``start`` returns, begun with its first record: an error is one of the stream, however it is written."""
    yield from start(*given)


def _file(request: FetchRequest, query: Query, runtime: Runtime, deadline: float) -> Source:
    path, seconds = request.input_file or "", deadline - runtime.clock.monotonic()
    body = runtime.read_stdin(seconds) if path == "-" else input_files.read_file(path, seconds)
    if not body.strip():
        problem = "standard input is empty" if path == "-" else "it is empty"
        raise InputError("input_malformed", source=request.provider.name, problem=problem)
    return Source(() if is_out_of_reach(query) else _begun(request.provider.parse_reply, body, query))


def _secrets(request: FetchRequest, runtime: Runtime) -> tuple[str, ...]:
    """The secrets that must not get out of a failed fetch, however far it got."""
    return credentials.known_secrets(request.provider, runtime.environ, runtime.folder)


def _failed(request: FetchRequest, collected: CollectedRecords, error: BaseException) -> CollectedRecords:
    """Nothing from a crashed provider is used: which records it had yielded may depend on withheld ones."""
    hint = f"({type(error).__name__})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    said = gap("plugin_failed", source=request.provider.name, hint=hint)
    return collected._replace(selection=Selection(gaps=(said,)), failure=_where(error))


def _where(error: BaseException) -> str:
    """The type and location of an exception, without its text, which may repeat what the source sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return type(error).__name__ + place
