"""One provider in a made-up world: the whole program runs in this process, its network and clock replaced."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.engine import run
from pit_fetch.errors import ExitStatus
from pit_fetch.log import Log
from pit_fetch.provider import Context, Provider, Query, Record
from pit_fetch.request import argv_of, parse
from pit_fetch.testing.transport import Answer, Request, answered_by
from pit_fetch.times import parse_rfc3339
from pit_fetch.world import Clock, TimeIsUp, World

Serve = Callable[[bytes, Request], Answer]
Wire = Callable[[Request, Answer], Answer]

MICROSECOND = timedelta(microseconds=1)
# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0


@dataclass(frozen=True)
class Case:
    """A provider with a recorded reply. ``now`` is the wall clock; every recorded record is public by then."""

    provider: Provider
    reply: bytes
    options: Mapping[str, object]
    serve: Serve
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    now: datetime
    zone: str = ""
    max_requests: int = 100


@dataclass(frozen=True)
class Seen:
    """What one run came to: what leaves the process, and what only a test (or the audit file) sees."""

    text: str
    complaint: str
    status: int
    log: str
    printed: str
    audit: Mapping[str, Any]
    records: tuple[Any, ...]
    exchanges: tuple[tuple[Request, Answer], ...]
    sockets: tuple[str, ...]
    asked_too_often: bool

    @property
    def leaves(self) -> tuple[str, str, str, int]:
        """Every byte that leaves the process."""
        return self.text, self.complaint, self.log, self.status

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    @property
    def stamps(self) -> dict[str, datetime]:
        """Each served item's id, and the instant from which it may be served: the later of its two stamps."""
        return {item["id"]: _public_from(item) for item in self.envelope["data"]}

    @property
    def gap_types(self) -> set[str]:
        return {gap["type"] for gap in self.envelope["gaps"]}

    @property
    def crash(self) -> str:
        """Where the provider failed, or ""."""
        if self.status != ExitStatus.BUG:
            return ""
        return str(self.audit.get("failure") or self.envelope["gaps"][0]["reason"])


@dataclass
class _Clock:
    start: datetime
    passed: float = 0.0

    def sleep(self, seconds: float) -> None:
        self.passed += seconds

    def value(self) -> Clock:
        now = lambda: self.start + timedelta(seconds=self.passed)  # noqa: E731
        return Clock(now, lambda: self.passed, lambda: self.passed, self.sleep)


@dataclass
class _Spy:
    """The provider, its records noted as they come, before the framework touches them."""

    provider: Provider
    records: list[Any] = field(default_factory=list)

    def watched(self) -> Provider:
        def fetch(query: Query, context: Context) -> Iterator[Any]:
            return self._note(self.provider.fetch(query, context))

        def read(body: bytes, query: Query) -> Iterator[Any]:
            return self._note(self.provider.read(body, query))

        return dataclasses.replace(self.provider, fetch=fetch, read=read)

    def _note(self, records: Iterable[Any]) -> Iterator[Any]:
        for one in records:
            if isinstance(one, Record):
                self.records.append(one)
            yield one


def look(
    case: Case,
    pit: datetime | None,
    *,
    reply: bytes | None = None,
    wire: Wire | None = None,
    offline: bool = False,
) -> Seen:
    """Runs one fetch at ``pit``. ``reply`` is the world that is served; ``wire`` changes each answer on its way.

    Raises AssertionError when the test itself is at fault: ``serve`` raised, or the request is refused.
    """
    served = case.reply if reply is None else reply
    clock, spy = _Clock(case.now), _Spy(case.provider)
    overrun = False

    def answer(request: Request) -> Answer:
        nonlocal overrun
        made = case.serve(served, request)
        if len(traffic.exchanges) >= case.max_requests:
            overrun = True
            clock.passed += 1_000_000.0  # past every deadline: this is how the loop ends
        return wire(request, made) if wire else made

    given = {"limit": 100_000, "max_pages": 1_000, **case.options}
    if offline:
        given["input_file"] = "-"
    argv = argv_of(case.provider.name, pit, {name: value for name, value in given.items() if value is not None})
    stream, printed = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        environ = {**case.environ, "PIT_FETCH_AUDIT": os.path.join(folder, "audit.jsonl")}
        world = World(environ, folder, clock.value(), lambda: served, _alarm)
        request = parse(argv, spy.watched(), environ, agent_budget=False)
        traffic = stack.enter_context(answered_by(answer))
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        outcome = run(request, world, Log(stream, verbose=True, pit_mode=pit is not None), argv)
        with open(environ["PIT_FETCH_AUDIT"], encoding="utf-8") as file:
            audit = json.loads(file.read())
    if traffic.error is not None:
        raise AssertionError(f"serve() raised {traffic.error!r}: correct the test's own server") from traffic.error
    return Seen(
        outcome.text,
        outcome.complaint,
        int(outcome.status),
        stream.getvalue(),
        printed.getvalue(),
        audit,
        tuple(spy.records),
        tuple(traffic.exchanges),
        tuple(traffic.sockets),
        overrun,
    )


def baseline(case: Case) -> Seen:
    """The recorded reply as it is, when all of it was public. Raises AssertionError when there is nothing to test on."""
    seen = look(case, case.now)
    if seen.crash:
        raise failure(f"the provider fails on its own recorded reply ({seen.crash})", "correct it first")
    if seen.asked_too_often:
        raise failure(
            f"the recorded reply makes the provider ask more than {case.max_requests} times",
            'stop when a page brings nothing new (raise UpstreamError("paging")), '
            "or override serve(), so that the pages of the recording come to an end",
        )
    if not seen.stamps:
        reasons = " ".join(gap["reason"] for gap in seen.envelope["gaps"][2:])
        raise failure(
            f"the recorded reply gives no dated record at {case.now.isoformat()} ({reasons})",
            "check options (a look-back, a symbol, date_from) and recorded_at, "
            "and that records carry an aware available_at",
        )
    return seen


def instants(seen: Seen, at_most: int = 12) -> list[datetime]:
    """The instants at which served items became public, in order; evenly thinned out where there are many."""
    every = sorted(set(seen.stamps.values()))
    step = max(1, -(-len(every) // at_most))
    return sorted({*every[::step], every[-1]})


def is_aware(stamp: object) -> bool:
    return isinstance(stamp, datetime) and stamp.utcoffset() is not None


def failure(what: str, advice: str) -> AssertionError:
    """What is wrong, and what to do about it."""
    return AssertionError(f"{what}\n  What to do: {advice}.")


def _public_from(item: Mapping[str, Any]) -> datetime:
    stamps = [parse_rfc3339(item.get(name)) for name in ("available_at", "revised_at")]
    return max((stamp for stamp in stamps if stamp is not None), default=datetime.min.replace(tzinfo=UTC))


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: object) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
