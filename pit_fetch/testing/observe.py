"""One run of the whole program on a recorded reply, in this process, its network and clock replaced."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import linecache
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple, TypeVar

from pit_fetch.errors import ExitStatus, PitFetchError, UsageError
from pit_fetch.provider import Page, Provider, Query, Record, Watermark
from pit_fetch.request.fetch_request import FetchRequest, from_values
from pit_fetch.request.operations import Run, wrap_operations
from pit_fetch.runtime import alarm
from pit_fetch.support.misuse import Misuse
from pit_fetch.support.redaction import redactor
from pit_fetch.testing import documents, sandbox
from pit_fetch.testing.inprocess import Left, TestClock, run, unhurried
from pit_fetch.testing.report import WorldCount
from pit_fetch.testing.server import Answering, Response
from pit_fetch.testing.source import RequestKey, Served, Source, request_key
from pit_fetch.testing.state import State
from pit_fetch.times import is_aware, parse_rfc3339
from pit_fetch.transport import HttpRequest

Wire = Callable[[HttpRequest, Response], Response]
T = TypeVar("T")

MICROSECOND = timedelta(microseconds=1)
# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0
# A reply of so many bytes gets as long again: a slow host may need that to read it.
_BYTES_OF_PATIENCE = 200_000
_END = object()
# The most that is quoted of an exception's text.
_LONGEST = 200
# The size in bytes at which the audit file, which grows by a line with each run, is removed.
_MOST_AUDIT_BYTES = 1_000_000


class Refused(AssertionError):
    """The program refused the request itself."""


@dataclass(frozen=True)
class Case:
    """A provider with its recording. ``now`` is the wall clock; every recorded record is public by then.

    stamp         the field of a record that the author's stamps are in
    state         what the provider's code held before the first run
    sizes         where requests say how many rows are wanted, besides what the recording declares
    keeps_window  the source cuts its rows by the window that is declared
    as_recorded   the options are those of the request that the recording answers
    worlds        what was run so far
    """

    provider: Provider
    source: Source
    options: Mapping[str, object]
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    now: datetime
    zone: str
    max_requests: int
    state: State = field(compare=False)
    stamp: str = "available_at"
    sizes: frozenset[documents.Path] = frozenset()
    keeps_window: bool = True
    as_recorded: bool = True
    worlds: WorldCount = field(default_factory=WorldCount, compare=False)

    def with_options(self, **options: object) -> Case:
        """Return this case with ``options`` besides its own. An option that is None is left out."""
        merged = {name: value for name, value in {**self.options, **options}.items() if value is not None}
        return replace(self, options=merged, as_recorded=False)

    def at_leisure(self, max_requests: int) -> Case:
        """Return this case with ``max_requests`` and no deadline, which on a slow host could hide a loop."""
        return replace(self.with_options(timeout=86_400), max_requests=max_requests)


class PublicVersion(NamedTuple):
    """One version of an item, and the instant from which it may be served: the later of its two stamps."""

    id: str
    public_from: datetime


@dataclass(frozen=True)
class ObservedRun(Left):
    """The outcome of one run: what leaves the process, and what only a test (or the audit file) sees.

    yielded  what the provider yields, records and pages and watermarks, before the framework touches it
    raised   what its functions raise
    crash    how the provider failed, and in which line of its own; "" if it did not
    query    the request as the provider received it; None where the provider was not called
    """

    provider: Provider = field(kw_only=True)
    query: Query | None = field(kw_only=True)
    yielded: tuple[Any, ...] = field(kw_only=True)
    raised: tuple[BaseException, ...] = field(kw_only=True)
    crash: str = field(kw_only=True)
    printed: str = field(kw_only=True)
    audit: Mapping[str, Any] = field(kw_only=True)
    exchanges: tuple[tuple[HttpRequest, Response], ...] = field(kw_only=True)
    reached_out: tuple[str, ...] = field(kw_only=True)
    consulted: tuple[str, ...] = field(kw_only=True)
    asked_too_often: bool = field(kw_only=True)

    @property
    def records(self) -> list[Record]:
        batches = (item.records if isinstance(item, Page) else (item,) for item in self.yielded)
        return [record for batch in batches for record in batch if isinstance(record, Record)]

    @property
    def requests(self) -> list[RequestKey]:
        """The key of each request, in order."""
        return [request_key(request) for request, _ in self.exchanges]

    @property
    def watermarks(self) -> list[datetime]:
        """The instants that were promised, each once, in the order of the promises."""
        return list(dict.fromkeys(item.at for item in self.yielded if isinstance(item, Watermark)))

    @cached_property
    def stamps(self) -> dict[str, datetime]:
        """Each served item's id, and the instant from which it may be served."""
        return {item["id"]: _item_public_from(item) for item in self.data}

    @cached_property
    def versions(self) -> frozenset[PublicVersion]:
        """Every public version: those that are served, and the older ones that they replace."""
        served = frozenset(PublicVersion(*stamp) for stamp in self.stamps.items())
        query = self.query
        if query is None or self.crash or self.provider.derive(query) is not None:
            return served
        public = [
            record for record in self.records if record.id and query.in_window(record)
            and self.provider.select(query, record)
        ]  # fmt: skip
        return served | {version for version in versions_of(public) if version.public_from <= query.now}


def instants(run: ObservedRun, at_most: int = 12) -> list[datetime]:
    """Return the instants at which versions became public, in order; evenly thinned out where there are many."""
    every = sorted({version.public_from for version in run.versions})
    return sorted({*every[:: max(1, -(-len(every) // at_most))], every[-1]})


def pits_before(run: ObservedRun) -> list[datetime]:
    """Return PITs at which something is not public yet: a microsecond before a version was."""
    return [instant - MICROSECOND for instant in instants(run, at_most=5)]


def middle_pit(run: ObservedRun) -> datetime:
    pits = pits_before(run)
    return pits[len(pits) // 2]


def public_from(record: Record) -> datetime | None:
    """Return the instant from which a record may be served: the later of its two stamps, None without a usable one."""
    stamps = (record.available_at, record.revised_at or record.available_at)
    aware = [stamp for stamp in stamps if is_aware(stamp)]
    return max(aware) if len(aware) == len(stamps) else None


def versions_of(records: Iterable[Record]) -> set[PublicVersion]:
    """Return a version for each record that can be served at some PIT."""
    return {PublicVersion(record.id, stamp) for record in records if (stamp := public_from(record)) is not None}


def _item_public_from(item: Mapping[str, Any]) -> datetime:
    stamps = [parse_rfc3339(item.get(name)) for name in ("available_at", "revised_at")]
    return max((stamp for stamp in stamps if stamp is not None), default=datetime.min.replace(tzinfo=UTC))


def substitute(response: Response, requests: Collection[object] | None = None) -> Wire:
    """Return a wire that answers with ``response``: every request, or those whose keys are in ``requests``."""
    return lambda request, made: response if requests is None or request_key(request) in requests else made


# --- one run


def observe(
    case: Case,
    pit: datetime | None,
    *,
    world: Served | None = None,
    wire: Wire | None = None,
    offline: bool = False,
    saved: bytes | None = None,
    fresh: bool = True,
    watched: bool = False,
) -> ObservedRun:
    """Run one fetch at ``pit`` and return what it produced. Raise Refused where the program refuses the request.

    world    what is served, in place of the recording
    wire     changes each response on its way
    offline  the document with the rows comes by --input-file, or ``saved`` in its place
    fresh    the state of the author's modules is reset first
    watched  uses of clocks and of the environment are noted, too
    """
    served = world or case.source.recorded
    server = _Server(case, served, wire, watched)
    spy, workspace = _Spy(case.provider), _workspace()
    if fresh:
        case.state.reset()
    workspace.clear()
    saved = served.body if saved is None else saved
    environ = _environ(case, saved, workspace)
    request = _request(case, pit, offline, environ)
    with (
        sandbox.refused(str(workspace.root)) as reached_out,
        workspace.descriptors.caught(),
        sandbox.consulted(case.state.authors) if watched else contextlib.nullcontext(list[str]()) as consulted,
    ):
        output = run(
            ("--source", case.provider.name),
            transport=server.transport,
            clock=server.clock.value(),
            environ=environ,
            folder=workspace.home,
            stdin=saved,
            provider=case.provider,
            request=request._replace(provider=spy.wrapped()),
            alarm=partial(_alarm, saved),
        )
    written = workspace.descriptors.text()
    entry = workspace.audit_entry()
    if entry is None:
        raise Refused(f"the request is refused: {output.err}")
    return ObservedRun(
        output.out,
        output.err + written,
        output.code,
        output.files,
        provider=case.provider,
        query=spy.query,
        yielded=tuple(spy.yielded),
        raised=tuple(spy.raised),
        crash=_crash(case, output, spy.raised, entry),
        printed=spy.printed.getvalue() + written,
        audit=entry,
        exchanges=tuple(server.transport.exchanges),
        reached_out=tuple(reached_out),
        consulted=tuple(dict.fromkeys(consulted)),
        asked_too_often=server.asked_too_often,
    )


def described(error: BaseException, case: Case) -> str:
    """Return an exception as its author needs it: what it says, and the last line of the author's that led to it."""
    text = redactor(case.secrets)(" ".join(str(error).split()))
    lines = [text if isinstance(error, Misuse) else f"{type(error).__name__}: {text}"[:_LONGEST].rstrip(": ")]
    for frame, number in walk_tb(error.__traceback__):
        module, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
        if case.state.authors.wrote(module, file):
            line = linecache.getline(file, number, frame.f_globals).strip()
            lines[1:] = [f"    {min(file, os.path.relpath(file), key=len)}:{number}: {line}"]
    return "\n".join(lines)


def _crash(case: Case, output: Left, raised: Iterable[BaseException], audit: Mapping[str, Any]) -> str:
    if output.code != ExitStatus.BUG:
        return ""
    error = next((error for error in raised if not isinstance(error, PitFetchError)), None)
    return described(error, case) if error else str(audit.get("failure") or output.envelope["gaps"][0]["reason"])


def _environ(case: Case, served: bytes, workspace: _Workspace) -> dict[str, str]:
    """Return the environment of a run, after writing the file that a provider of local files reads."""
    files = {each.variables[0]: str(workspace.file) for each in case.provider.credentials if each.is_file}
    if files:
        workspace.file.write_bytes(served)
    return {"HOME": str(workspace.home), **case.environ, **files, "PIT_FETCH_AUDIT": str(workspace.audit)}


def _request(case: Case, pit: datetime | None, offline: bool, environ: dict[str, str]) -> FetchRequest:
    # Verbose, since what is logged leaves the process, too; max_chars=0, so that nothing is left out for its size.
    options = {"limit": 100_000, "max_pages": 1_000, "pit": pit, **case.options, "verbose": True, "max_chars": 0}
    if offline:
        options["input_file"] = "-"
    try:
        return from_values(options, case.provider, environ)
    except UsageError as error:
        raise Refused(f"the request is refused: {error}") from None


def _alarm(served: bytes, seconds: float) -> contextlib.AbstractContextManager[None]:
    """Return the command's alarm, later for a large reply; an author's runner may call from another thread."""
    in_main = threading.current_thread() is threading.main_thread()
    patience = PATIENCE_SECONDS * (1 + len(served) / _BYTES_OF_PATIENCE)
    return alarm(patience) if in_main else contextlib.nullcontext()


class _Server:
    """The source in one run, with its clock. Asked more often than the case allows, it lets the time run out."""

    def __init__(self, case: Case, served: Served, wire: Wire | None, watched: bool) -> None:
        self.clock = TestClock(case.now)
        self.transport = Answering(self._answer, self.clock.now)
        self.asked_too_often = False
        self._case, self._served, self._wire, self._watched = case, served, wire, watched
        self._asked: dict[str, list[RequestKey]] = {}

    def _answer(self, request: HttpRequest) -> Response:
        case = self._case
        with sandbox.unwatched() if self._watched else contextlib.nullcontext():
            made = self._served.answer(request, self._asked, case.sizes, case.keeps_window)
        if len(self.transport.exchanges) >= case.max_requests:
            self.asked_too_often = True
            self.clock.passed += 1_000_000.0  # past every deadline: this is how the loop ends
        return self._wire(request, made) if self._wire else made


@dataclass
class _Spy:
    """Notes what a provider yields and prints, before the framework touches it."""

    provider: Provider
    query: Query | None = None
    yielded: list[Any] = field(default_factory=list)
    raised: list[BaseException] = field(default_factory=list)
    printed: io.StringIO = field(default_factory=io.StringIO)

    def wrapped(self) -> Provider:
        provider = self.provider
        return wrap_operations(unhurried(provider), self._note)._replace(
            select=lambda query, record: self._watched(lambda: provider.select(query, record)),
        )

    def _watched(self, call: Callable[[], T]) -> T:
        """Return what the author's code returns, and note what it raises, prints and warns of."""
        with (
            contextlib.redirect_stdout(self.printed),
            contextlib.redirect_stderr(self.printed),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = self._warned  # type: ignore[assignment]
            try:
                return call()
            except BaseException as error:
                self.raised.append(error)
                raise

    def _warned(self, message: Warning | str, *more: object) -> None:
        self.printed.write(f"{message}\n")

    def _note(self, run: Run, query: Query) -> Iterator[Any]:
        self.query = query

        def begun() -> Iterator[Any]:
            made: object = run(query)
            if not isinstance(made, Iterable):
                raise Misuse(f"it returns {made!r:.40}: write it as a generator, with yield, or return records")
            return iter(made)

        stream = self._watched(begun)
        while (item := self._watched(partial(next, stream, _END))) is not _END:
            self.yielded.append(item)
            yield item


class _Workspace:
    """The folder in which runs leave files. It lives as long as the process and is cleared before each run."""

    def __init__(self) -> None:
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="pit-fetch-kit-")))
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)
        self.home, self.audit, self.file = self.root / "home", self.root / "audit.jsonl", self.root / "reply"
        self.home.mkdir()
        self.descriptors = sandbox.Descriptors()
        self._audited = 0

    def clear(self) -> None:
        """Remove what a run left, except the audit file: creating one costs more than the rest of a short run."""
        for place, _, names in os.walk(self.root):
            for name in names:
                if name != self.audit.name:
                    os.unlink(os.path.join(place, name))
        if self._audited > _MOST_AUDIT_BYTES:
            self.audit.unlink(missing_ok=True)
            self._audited = 0

    def audit_entry(self) -> dict[str, Any] | None:
        """Return the last run's entry in the audit file, None where the run wrote none."""
        if not self.audit.exists():
            return None
        with open(self.audit, "rb") as file:
            file.seek(self._audited)
            line = file.read()
        self._audited += len(line)
        entry: dict[str, Any] | None = json.loads(line) if line else None
        return entry


@functools.cache
def _workspace() -> _Workspace:
    return _Workspace()
