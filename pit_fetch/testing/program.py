"""Runs the whole program in this process, network and clock replaced by a case's."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pit_fetch.engine import run
from pit_fetch.log import Log
from pit_fetch.provider import Context, Provider, Query, Record
from pit_fetch.request import argv_of, parse
from pit_fetch.testing.case import Case, Seen, Wire, failure
from pit_fetch.testing.transport import Answer, Request, answered_by
from pit_fetch.world import Clock, World, alarm

# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0


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
    """The recorded reply as it is, all of it public. Raises AssertionError when there is nothing to test on."""
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
            "check options (a look-back, a symbol, date_from), recorded_at and credentials, "
            "and that records carry an aware available_at",
        )
    return seen


def _alarm(seconds: float) -> AbstractContextManager[None]:
    """The command's alarm, at the suite's own patience; an author's runner may call from another thread."""
    in_main = threading.current_thread() is threading.main_thread()
    return alarm(PATIENCE_SECONDS) if in_main else contextlib.nullcontext()
