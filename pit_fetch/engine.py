"""Runs one request: records from the network or a file, through the pipeline, into a judged envelope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch import audit, credentials, envelope, inputs
from pit_fetch.errors import ConfigError, ExitStatus, InputError, PitFetchError, UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.log import Log
from pit_fetch.pit import Page, Tally, cursor, in_order, public, take
from pit_fetch.provider import Context, Query, Record, Watermark
from pit_fetch.request import Request
from pit_fetch.times import in_new_york
from pit_fetch.world import TimeIsUp, World

if TYPE_CHECKING:
    from pit_fetch.http import Client

# The network and the stream of records end at the deadline; the alarm is for a provider that does not come back.
ALARM_GRACE_SECONDS = 1.0

_STATUS_OF_TYPE = {
    "config": ExitStatus.CONFIG,
    "input_error": ExitStatus.INPUT,
    "upstream_error": ExitStatus.UPSTREAM,
}


class Outcome(NamedTuple):
    """What leaves the process: the envelope's text, the exit status, and the line for stderr (or "")."""

    text: str
    status: ExitStatus
    complaint: str = ""


@dataclass
class _Fetch:
    """The state of one run."""

    request: Request
    world: World
    log: Log
    deadline: float
    page: Page = field(default_factory=Page)
    tally: Tally = field(default_factory=Tally)
    gaps: list[Gap] = field(default_factory=list)
    secrets: tuple[str, ...] = ()
    client: Client | None = None
    when_empty: str = ""
    started: bool = False
    failure: str = ""


def run(request: Request, world: World, log: Log, argv: list[str]) -> Outcome:
    """The outcome of ``request``. Raises UsageError when the audit file cannot be written."""
    audit_path = audit.path(world.environ)
    fetch = _Fetch(request, world, log, deadline=world.clock.monotonic() + request.timeout)
    try:
        _collect(fetch)
    except PitFetchError as error:
        # Raised before anything was asked for: no fetch took place, so nothing was withheld either.
        fetch.page, fetch.gaps, fetch.started = Page(), [error.gap], False
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a provider may raise anything, SystemExit too
        _note_failure(fetch, error)
    try:
        outcome, kept = _finish(fetch)
    except (TypeError, ValueError, RecursionError) as error:  # a payload that JSON cannot say
        _note_failure(fetch, error)
        outcome, kept = _finish(fetch)
    if audit_path:
        audit.write(audit_path, _entry(fetch, argv, outcome, kept))
    return outcome


def _collect(fetch: _Fetch) -> None:
    request, provider = fetch.request, fetch.request.provider
    query = _query(request, fetch.world)
    fetch.log.detail(f"{provider.name} as of {in_new_york(query.now)}" + ("" if request.pit else " (open mode)"))
    source = _offline(fetch, query) if request.input_file else _online(fetch, query)
    fetch.started = True
    fetch.gaps += [gap("caveat", text=text) for text in provider.caveats(query)]
    fetch.when_empty = provider.when_empty(query)
    fetch.log.start(provider.name)

    def select(record: Record) -> bool:
        wanted = provider.select(query, record)
        if wanted:
            fetch.log.kept(provider.name, len(fetch.page.kept) + 1)
        return wanted

    records = public(_until_it_ends(fetch, source), _cutoff(request, fetch.world), fetch.tally)
    try:
        with fetch.world.alarm(request.timeout + ALARM_GRACE_SECONDS):
            take(
                in_order(records, provider.newest_first and not request.input_file),
                fetch.page,
                after=request.after,
                cap=request.max_pages * provider.page_size,
                limit=request.limit,
                select=select,
            )
    except UpstreamError as error:  # the order that the source promised; what stood before the break is kept
        fetch.gaps.append(error.gap)
    except TimeIsUp:
        _note_deadline(fetch)


def _query(request: Request, world: World) -> Query:
    started = world.clock.now()
    now = request.pit or started
    bounds = (now, request.until, request.after_instant)
    return Query(
        now=now,
        started=started,
        pit=request.pit,
        since=request.since,
        until=request.until,
        horizon=min(bound for bound in bounds if bound is not None),
        limit=request.limit,
        options=request.options,
        offline=request.input_file is not None,
    )


def _cutoff(request: Request, world: World) -> Callable[[], datetime | None]:
    """The PIT; one in the future never later than now, or a bar that is still running would pass."""
    pit = request.pit
    if pit is None or pit <= world.clock.now():
        return lambda: pit
    return lambda: min(pit, world.clock.now())


def _online(fetch: _Fetch, query: Query) -> Iterator[Record | Gap | Watermark]:
    request, world, provider = fetch.request, fetch.world, fetch.request.provider
    resolved = credentials.resolve(provider, world.environ, world.folder)
    fetch.secrets = credentials.secret_values(provider, resolved)
    fetch.log.clean = credentials.redactor(fetch.secrets)
    try:
        import requests  # noqa: F401 - asked for here, so that a missing package is one clear gap
    except ImportError:
        raise ConfigError("dependency_missing", package="requests", command="python3 -m pip install requests") from None
    from pit_fetch.http import Client, base_url
    from pit_fetch.ratelimit import rate_of

    for host in provider.hosts:
        base_url(host, world.environ)
        rate_of(host, world.environ)
    fetch.client = Client(
        hosts=provider.hosts,
        environ=world.environ,
        clock=world.clock,
        timeout=request.timeout,
        deadline=fetch.deadline,
        on_request=fetch.log.request,
    )
    return iter(provider.fetch(query, Context(fetch.client, resolved)))


def _offline(fetch: _Fetch, query: Query) -> Iterator[Record | Gap | Watermark]:
    path = fetch.request.input_file or ""
    if path == "-":
        body = fetch.world.read_stdin()
    else:
        body = inputs.read_file(path, fetch.deadline - fetch.world.clock.monotonic())
    if not body.strip():
        raise InputError("input_malformed", source=fetch.request.provider.name, problem="it is empty")
    return iter(fetch.request.provider.read(body, query))


def _until_it_ends(fetch: _Fetch, source: Iterator[Record | Gap | Watermark]) -> Iterator[Record | Watermark]:
    """The records and watermarks of ``source``. Its gaps, and the error or deadline that ends it, are noted on the way.

    An error ends the stream like its last record would: what was complete before it is kept.
    """
    try:
        for one in source:
            if isinstance(one, Gap):
                fetch.gaps.append(one)
            elif isinstance(one, (Record, Watermark)):
                yield one
            else:
                raise TypeError("a provider yields Record, Gap and Watermark only")
            if fetch.world.clock.monotonic() > fetch.deadline:
                _note_deadline(fetch)
                return
    except UpstreamError as error:
        if fetch.request.input_file:
            problem = error.gap.params.get("problem", "the source reports an error")
            said = gap("input_malformed", source=fetch.request.provider.name, problem=problem)
        else:
            said = error.gap
        if error.is_deadline:
            fetch.gaps.append(gap("deadline", timeout=fetch.request.timeout))
        fetch.gaps.append(said)
    except TimeIsUp:
        _note_deadline(fetch)


def _note_deadline(fetch: _Fetch) -> None:
    timeout = fetch.request.timeout
    fetch.gaps.append(gap("deadline", timeout=timeout))
    fetch.gaps.append(gap("timeout", host=fetch.request.provider.name, timeout=timeout))


def _note_failure(fetch: _Fetch, error: BaseException) -> None:
    request = fetch.request
    hint = f"({type(error).__name__})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    fetch.failure = _where(error)
    fetch.page = Page()
    fetch.gaps = [gap("plugin_failed", source=request.provider.name, hint=hint)]


def _finish(fetch: _Fetch) -> tuple[Outcome, int]:
    request, page = fetch.request, fetch.page
    form = envelope.Form(
        query=request.canonical,
        clean=credentials.redactor(fetch.secrets),
        clean_data=credentials.redactor(fetch.secrets, credentials.MIN_LENGTH_IN_DATA),
        fields=request.fields,
        max_chars=request.max_chars,
        pretty=request.pretty,
        pit=request.pit,
    )
    gaps = _all_gaps(fetch)
    text, kept = envelope.render(page.kept, gaps, form)
    status = ExitStatus.BUG if fetch.failure else ExitStatus.OK
    code = envelope.judge(text, form)
    if code is not None:
        gaps, kept, status = [gap("gate_refused", finding=code)], 0, ExitStatus.BUG
        text = envelope.gaps_only(gaps, form._replace(pretty=False))
    if status is ExitStatus.OK and request.fail:
        status = next((_STATUS_OF_TYPE[kind] for kind in _STATUS_OF_TYPE if any(g.type == kind for g in gaps)), status)
    fetch.log.summary(request.provider.name, page.kept[:kept], gaps)
    return Outcome(text, status, form.clean(_complaint(gaps, status))), kept


def _complaint(gaps: list[Gap], status: ExitStatus) -> str:
    if status is ExitStatus.OK:
        return ""
    return next(one.reason for one in gaps if status is ExitStatus.BUG or _STATUS_OF_TYPE.get(one.type) is status)


def _all_gaps(fetch: _Fetch) -> list[Gap]:
    """The gaps in the envelope's order: the constant ones of PIT mode, the provider's, and how the fetch ended."""
    request, page, tally = fetch.request, fetch.page, fetch.tally
    gaps = list(fetch.gaps)
    if fetch.failure or not fetch.started:
        return gaps
    if request.pit is not None:
        gaps = [gap("late"), gap("undated"), *gaps]
    else:
        undated = sum(record.available_at is None for record in page.kept)
        gaps += [gap("undated_served", count=undated)] if undated else []
        gaps += [gap("unusable", count=tally.unusable)] if tally.unusable else []
    if page.stopped == "limit":
        gaps.append(gap("limit", limit=request.limit, cursor=cursor(page.kept[-1])))
    elif page.stopped == "max_pages" and page.last is not None:
        gaps.append(gap("max_pages", public=page.scanned, max_pages=request.max_pages, cursor=cursor(page.last)))
    failed = any(one.type in _STATUS_OF_TYPE for one in gaps)
    if not page.kept and not failed:
        gaps.append(gap("nothing_with_hint", hint=fetch.when_empty) if fetch.when_empty else gap("nothing"))
    return gaps


def _where(error: BaseException) -> str:
    """Type and place of an exception, without its text, which may hold what the source sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return type(error).__name__ + place


def _entry(fetch: _Fetch, argv: list[str], outcome: Outcome, kept: int) -> dict[str, Any]:
    request, redact = fetch.request, credentials.redactor(fetch.secrets)
    return {
        "time": fetch.world.clock.now().isoformat(),
        "argv": [redact(word) for word in argv],
        "pit": request.pit.isoformat() if request.pit else None,
        "source": request.provider.name,
        "requests": fetch.client.requests_made if fetch.client else 0,
        "kept": [redact(record.id) for record in fetch.page.kept[:kept]],
        "withheld": [redact(name) for name in fetch.tally.late],
        "undated": [redact(name) for name in fetch.tally.undated],
        "unusable": fetch.tally.unusable,
        "gaps": [one.type for one in fetch.gaps],
        "failure": fetch.failure,
        "exit": int(outcome.status),
    }
