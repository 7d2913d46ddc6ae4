"""Runs one request: records from the network or a file, through the pipeline, into a judged envelope.

:func:`collect` asks and filters; :mod:`pit_fetch.report` writes up the result. Between them passes
one value, :class:`Collected`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch import audit, credentials, inputs
from pit_fetch.errors import InputError, PitFetchError, UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.operations import caveats, chosen, in_window, is_out_of_reach
from pit_fetch.pit import Taken, Tally, in_order, public, take
from pit_fetch.provider import Context, Page, Query, Record, Stage, Watermark
from pit_fetch.report import Collected, Outcome, report
from pit_fetch.request import Request
from pit_fetch.times import in_new_york
from pit_fetch.world import TimeIsUp, World

if TYPE_CHECKING:
    from pit_fetch.http import Client
    from pit_fetch.log import Log

# The network and the stream of records stop at the deadline; the alarm is for a provider that never returns.
ALARM_GRACE_SECONDS = 1.0

Stream = Iterable[Record | Page | Watermark | Gap]


class Source(NamedTuple):
    """An opened source: its stream, the secrets that must not get out, and the HTTP client, if there is one."""

    stream: Stream
    secrets: tuple[str, ...] = ()
    client: Client | None = None


def run(request: Request, world: World, log: Log, argv: list[str]) -> Outcome:
    """The outcome of ``request``. Raises UsageError if the audit file cannot be written."""
    audit_path = audit.path(world.environ)
    collected = collect(request, world, log)
    try:
        outcome = report(request, collected)
    except (TypeError, ValueError, RecursionError) as error:  # a payload that JSON cannot express
        collected = _failed(request, collected, error)
        outcome = report(request, collected)
    log.summary(request.provider.name, outcome.kept, outcome.gaps)
    if audit_path:
        audit.write(audit_path, audit.entry(request, world.clock.now(), argv, collected, outcome))
    return outcome


def collect(request: Request, world: World, log: Log) -> Collected:
    """The public records of ``request``, ordered, selected and cut, and the gaps met on the way."""
    provider, query = request.provider, _query(request, world)
    deadline = world.clock.monotonic() + request.timeout
    log.detail(f"{provider.name} as of {in_new_york(query.now)}" + ("" if request.pit else " (open mode)"))
    collected, source = Collected(Taken(), Tally()), Source(())
    try:
        query = chosen(provider, query)
        query = query._replace(horizon=_horizon(request, query))
        source = _source(request, query, world, log, deadline)
        collected = collected._replace(secrets=source.secrets, opened=True, when_empty=_when_empty(request, query))
        collected.taken.gaps += caveats(query)
        log.start(provider.name)
        _take(request, query, world, log, _until_it_ends(request, world, source.stream, deadline), collected)
    except PitFetchError as error:
        # Something the request needs is missing: no fetch took place, so nothing was withheld either.
        collected = Collected(Taken(gaps=[error.gap]), Tally(), _secrets(request, world))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a provider may raise anything, even SystemExit
        collected = _failed(request, collected._replace(secrets=_secrets(request, world)), error)
    return collected if source.client is None else collected._replace(requests=source.client.requests_made)


def _take(request: Request, query: Query, world: World, log: Log, stream: Stream, collected: Collected) -> None:
    provider, taken = request.provider, collected.taken

    def select(record: Record) -> bool:
        wanted = in_window(query, record) and provider.select(query, record)
        if wanted:
            log.kept(provider.name, len(taken.kept) + 1)
        return wanted

    visible = public(stream, _cutoff(request, world), collected.tally)
    try:
        with world.alarm(request.timeout + ALARM_GRACE_SECONDS):
            derive = provider.derive(query)
            take(
                in_order(visible) if derive is None else _derived(in_order(visible), derive, taken),
                taken,
                after=request.after.position if request.after else None,
                within=request.after is not None and request.after.within is not None,
                cap=request.max_pages * provider.page_size,
                limit=request.limit,
                select=select,
            )
    except UpstreamError as error:  # the source broke its promised order; what came before the break is kept
        taken.gaps.append(error.gap)
    except TimeIsUp:
        taken.gaps += _deadline_gaps(request)


def _derived(stream: Iterator[Record | Gap], derive: Stage, taken: Taken) -> Iterator[Record]:
    """What the provider computes across the public records. Gaps bypass it."""

    def records() -> Iterator[Record]:
        for one in stream:
            if isinstance(one, Gap):
                taken.gaps.append(one)
            else:
                yield one

    return derive(records())


def _until_it_ends(
    request: Request, world: World, stream: Stream, deadline: float
) -> Iterator[Record | Page | Watermark | Gap]:
    """``stream``, followed by a gap if an error or the deadline ends it.

    An error ends the stream as its last record would: what was complete before it is kept.
    """
    try:
        for one in stream:
            if not isinstance(one, (Record, Page, Watermark, Gap)):
                raise TypeError("a provider may yield only Record, Page, Watermark and Gap")
            yield one
            if world.clock.monotonic() > deadline:
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


def _deadline_gaps(request: Request) -> list[Gap]:
    timeout = request.timeout
    return [gap("deadline", timeout=timeout), gap("timeout", host=request.provider.name, timeout=timeout)]


def _query(request: Request, world: World) -> Query:
    started = world.clock.now()
    now = request.pit or started
    return Query(
        now=now,
        started=started,
        pit=request.pit,
        since=request.since,
        until=request.until,
        horizon=now,
        limit=request.limit,
        options=request.options,
        offline=request.input_file is not None,
    )


def _horizon(request: Request, query: Query) -> datetime:
    """The instant after which no record can be wanted. A stage that computes across records needs all of them.

    --date-to narrows it only where it compares what the records are ordered by, or where the provider
    applies it: what was published late may carry an early date of another kind.
    """
    if request.provider.derive(query):
        return query.now
    until = request.until if query.operation.window in ("", "available_on", None) else None
    after = request.after.instant if request.after else None
    return min(bound for bound in (query.now, until, after) if bound is not None)


def _when_empty(request: Request, query: Query) -> str:
    if query.pit is not None and query.since is not None and query.since > query.pit:
        return "--date-from is after the PIT: nothing from then on was public."
    return request.provider.when_empty(query)


def _cutoff(request: Request, world: World) -> Callable[[], datetime | None]:
    """The PIT, but never later than now: otherwise a PIT in the future would let a running bar through."""
    pit = request.pit
    if pit is None or pit <= world.clock.now():
        return lambda: pit
    return lambda: min(pit, world.clock.now())


def _source(request: Request, query: Query, world: World, log: Log, deadline: float) -> Source:
    """The source, opened as the request demands. Raises ConfigError and InputError."""
    if request.input_file:
        return _file(request, query, world, deadline)
    from pit_fetch.http import Client, base_url
    from pit_fetch.ratelimit import rate_of

    provider = request.provider
    resolved = credentials.resolve(provider, world.environ, world.folder)
    secrets = credentials.secret_values(provider, resolved)
    log.clean = credentials.redactor(secrets)
    for host in provider.hosts:
        base_url(host, world.environ)
        rate_of(host, world.environ)
    if is_out_of_reach(query):
        return Source((), secrets)
    client = Client(
        hosts=provider.hosts,
        credentials=resolved,
        environ=world.environ,
        clock=world.clock,
        transport=world.transport,
        timeout=request.timeout,
        deadline=deadline,
        on_request=log.request,
    )
    return Source(provider.fetch(query, Context(client, resolved)), secrets, client)


def _file(request: Request, query: Query, world: World, deadline: float) -> Source:
    path, seconds = request.input_file or "", deadline - world.clock.monotonic()
    body = world.read_stdin(seconds) if path == "-" else inputs.read_file(path, seconds)
    if not body.strip():
        raise InputError("input_malformed", source=request.provider.name, problem="it is empty")
    return Source(() if is_out_of_reach(query) else request.provider.read(body, query))


def _secrets(request: Request, world: World) -> tuple[str, ...]:
    """The secrets that must not get out of a failed fetch, however far it got."""
    return credentials.known_secrets(request.provider, world.environ, world.folder)


def _failed(request: Request, collected: Collected, error: BaseException) -> Collected:
    """Nothing from a crashed provider is used: which records it had yielded may depend on withheld ones."""
    hint = f"({type(error).__name__})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    said = gap("plugin_failed", source=request.provider.name, hint=hint)
    return collected._replace(taken=Taken(gaps=[said]), failure=_where(error))


def _where(error: BaseException) -> str:
    """The type and location of an exception, without its text, which may repeat what the source sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return type(error).__name__ + place
