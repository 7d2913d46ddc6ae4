"""Runs the whole program in this process, network and clock replaced by a case's."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pit_fetch.coercion import flag_of, spell
from pit_fetch.provider import Context, Provider, Query
from pit_fetch.testing import outside
from pit_fetch.testing.case import Case, Seen, Wire, failure
from pit_fetch.testing.process import TestClock, run
from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import Request
from pit_fetch.world import alarm

# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0


@dataclass
class _Spy:
    """The provider, what it yields and prints noted as it comes, before the framework touches them."""

    provider: Provider
    query: Query | None = None
    yielded: list[Any] = field(default_factory=list)
    printed: io.StringIO = field(default_factory=io.StringIO)

    def watched(self) -> Provider:
        def fetch(query: Query, context: Context) -> Iterator[Any]:
            return self._note(query, lambda: self.provider.fetch(query, context))

        def read(body: bytes, query: Query) -> Iterator[Any]:
            return self._note(query, lambda: self.provider.read(body, query))

        return dataclasses.replace(self.provider, fetch=fetch, read=read)

    def _note(self, query: Query, start: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        self.query = query
        stream: Iterator[Any] | None = None
        while True:
            with contextlib.redirect_stdout(self.printed), contextlib.redirect_stderr(self.printed):
                stream = iter(start()) if stream is None else stream
                try:
                    one = next(stream)
                except StopIteration:
                    return
            self.yielded.append(one)
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
    clock, spy = TestClock(case.now), _Spy(case.provider)
    overrun = False

    def app(request: Request) -> Response:
        nonlocal overrun
        made = case.serve(served, request)
        if len(transport.exchanges) >= case.max_requests:
            overrun = True
            clock.passed += 1_000_000.0  # past every deadline: this is how the loop ends
        return wire(request, made) if wire else made

    transport = Answering(app, clock.now)
    given = {"limit": 100_000, "max_pages": 1_000, "pit": pit, **case.options, "verbose": True, "max_chars": 0}
    if offline:
        given["input_file"] = "-"
    with tempfile.TemporaryDirectory() as root, outside.refused() as reached_out:
        audit, home = Path(root, "audit.jsonl"), Path(root, "home")
        home.mkdir()
        left = run(
            [f"--source={case.provider.name}", *_words(given)],
            transport=transport,
            clock=clock.value(),
            environ={"HOME": str(home), **case.environ, "PIT_FETCH_AUDIT": str(audit)},
            folder=home,
            stdin=served,
            provider=spy.watched(),
            alarm=_alarm,
        )
        if not audit.exists():
            raise AssertionError(f"the request is refused: {left.err}")
        entry = json.loads(audit.read_text(encoding="utf-8"))
    if transport.error is not None:
        raise AssertionError(f"serve() raised {transport.error!r}: correct the test's own server") from transport.error
    return Seen(
        *left.leaves,
        provider=case.provider,
        query=spy.query,
        yielded=tuple(spy.yielded),
        printed=spy.printed.getvalue(),
        audit=entry,
        exchanges=tuple(transport.exchanges),
        reached_out=tuple(reached_out),
        asked_too_often=overrun,
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


def _words(given: Mapping[str, object]) -> list[str]:
    """A Python call's options as a command line."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append(flag_of(name))
        elif value is not None and value is not False:
            several = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
            words.append(f"{flag_of(name)}={spell(list(value) if several else value)}")  # type: ignore[call-overload]
    return words


def _alarm(seconds: float) -> AbstractContextManager[None]:
    """The command's alarm, at the suite's own patience; an author's runner may call from another thread."""
    in_main = threading.current_thread() is threading.main_thread()
    return alarm(PATIENCE_SECONDS) if in_main else contextlib.nullcontext()
