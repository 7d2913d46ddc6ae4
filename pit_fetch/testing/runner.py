"""Runs the whole program in this process, network and clock replaced by a case's."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pit_fetch.cli.arguments import parse
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Gap
from pit_fetch.provider import Context, Page, Provider, Query, Record, Watermark
from pit_fetch.request.values import flag_of, format_value
from pit_fetch.runtime import alarm
from pit_fetch.testing import sandbox
from pit_fetch.testing.case import Case, Seen, Wire, failure
from pit_fetch.testing.inprocess import TestClock, run, unhurried
from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import HttpRequest

# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0
# How many bytes of audit are kept for nothing.
_MUCH = 1_000_000


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
            return self._note(query, lambda: self.provider.parse_reply(body, query))

        return unhurried(self.provider)._replace(fetch=fetch, parse_reply=read)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """In the block what the provider's code warns of is noted like what it prints."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = self._warned  # type: ignore[assignment]
            yield

    def _warned(self, message: Warning | str, *more: object) -> None:
        if sys.stdout is self.printed:
            self.printed.write(f"{message}\n")

    def _note(self, query: Query, start: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        self.query = query
        stream: Iterator[Any] | None = None
        while True:
            streams = sys.stdout, sys.stderr
            sys.stdout = sys.stderr = self.printed
            try:
                stream = iter(start()) if stream is None else stream
                one = next(stream)
            except StopIteration:
                return
            finally:
                sys.stdout, sys.stderr = streams
            self.yielded.append(one)
            yield one


class ServerFailed(AssertionError):
    """The author's own ``serve`` raised."""


class Refused(AssertionError):
    """The request itself was refused."""


class _Ground:
    """Where runs leave files: one folder as long as the process, swept before each."""

    def __init__(self) -> None:
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="pit-fetch-kit-")))
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)
        self.home, self.audit, self.file = self.root / "home", self.root / "audit.jsonl", self.root / "reply"
        self.home.mkdir()
        self.descriptors = sandbox.Descriptors()

        self._audited = 0

    def sweep(self) -> None:
        """Removes what a run left, but for the audit file: to make a file costs more than the rest of a short run."""
        for place, _, names in os.walk(self.root):
            for name in names:
                if name != self.audit.name:
                    os.unlink(os.path.join(place, name))
        if self._audited > _MUCH:
            self.audit.unlink(missing_ok=True)
            self._audited = 0

    def entry(self) -> dict[str, Any] | None:
        """What the audit file says of the last run; None if that was none."""
        try:
            with open(self.audit, "rb") as file:
                file.seek(self._audited)
                line = file.read()
        except FileNotFoundError:
            return None
        self._audited += len(line)
        entry: dict[str, Any] | None = json.loads(line) if line else None
        return entry


@functools.cache
def _ground() -> _Ground:
    return _Ground()


def look(
    case: Case,
    pit: datetime | None,
    *,
    reply: bytes | None = None,
    wire: Wire | None = None,
    offline: bool = False,
    fresh: bool = True,
    watched: bool = False,
) -> Seen:
    """Runs one fetch at ``pit``. ``reply`` is the world that is served; ``wire`` changes each answer on its way.

    ``fresh``: the author's code holds what it held before the first run. ``watched``: clocks and the
    environment too. Raises AssertionError when the test itself is at fault: ``serve`` raised, or Refused.
    """
    served = case.reply if reply is None else reply
    clock, spy, ground = TestClock(case.now), _Spy(case.provider), _ground()
    overrun = False
    consulted: list[str] = []
    if fresh and case.state is not None:
        case.state.reset()

    def app(request: HttpRequest) -> Response:
        nonlocal overrun
        with sandbox.unwatched() if watched else contextlib.nullcontext():
            made = case.serve(served, request)
        if len(transport.exchanges) >= case.max_requests:
            overrun = True
            clock.passed += 1_000_000.0  # past every deadline: this is how the loop ends
        return wire(request, made) if wire else made

    transport = Answering(app, clock.now)
    given = {"limit": 100_000, "max_pages": 1_000, "pit": pit, **case.options, "verbose": True, "max_chars": 0}
    if offline:
        given["input_file"] = "-"
    ground.sweep()
    files = {one.variable: str(ground.file) for one in case.provider.files}
    if files:
        ground.file.write_bytes(served)
    environ = {"HOME": str(ground.home), **files, **case.environ, "PIT_FETCH_AUDIT": str(ground.audit)}
    words = (f"--source={case.provider.name}", *_words(given))
    if words not in case.requests:
        try:
            case.requests[words] = parse(words, case.provider, environ)
        except UsageError as error:
            raise Refused(f"the request is refused: {error}") from None
    with (
        sandbox.refused(str(ground.root)) as reached_out,
        ground.descriptors.caught(),
        spy.listening(),
        sandbox.consulted(case.state.authors) if watched and case.state else contextlib.nullcontext(consulted) as asked,
    ):
        left = run(
            words,
            transport=transport,
            clock=clock.value(),
            environ=environ,
            folder=ground.home,
            stdin=served,
            provider=case.provider,
            request=case.requests[words]._replace(provider=spy.watched()),
            alarm=_alarm,
        )
    said = ground.descriptors.text()
    entry = ground.entry()
    if entry is None:
        raise Refused(f"the request is refused: {left.err}")
    if transport.error is not None:
        raise ServerFailed(f"serve() raised {transport.error!r}: correct the test's own server") from transport.error
    return Seen(
        left.out,
        left.err + said,
        left.code,
        left.files,
        provider=case.provider,
        query=spy.query,
        yielded=tuple(spy.yielded),
        printed=spy.printed.getvalue() + said,
        audit=entry,
        exchanges=tuple(transport.exchanges),
        reached_out=tuple(reached_out),
        consulted=tuple(dict.fromkeys(asked)),
        asked_too_often=overrun,
    )


def baseline(case: Case) -> Seen:
    """The recorded reply as it is, all of it public. Raises AssertionError when there is nothing to test on."""
    seen = look(case, case.now)
    for one in seen.yielded:
        held = one.records if isinstance(one, Page) else ()
        odd = [row for row in held if not isinstance(row, Record)]
        if odd or not isinstance(one, (Record, Page, Gap, Watermark)):
            raise failure(
                f"the provider yields a {type(odd[0] if odd else one).__name__}{' in a page' if odd else ''}",
                "yield records, pages, watermarks and gaps from fetch; a page holds only records, so a function that "
                "paging calls returns records, and what else there is to say comes after the loop",
            )
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
            words.append(f"{flag_of(name)}={format_value(list(value) if several else value)}")  # type: ignore[call-overload]
    return words


def _alarm(seconds: float) -> AbstractContextManager[None]:
    """The command's alarm, at the suite's own patience; an author's runner may call from another thread."""
    in_main = threading.current_thread() is threading.main_thread()
    return alarm(PATIENCE_SECONDS) if in_main else contextlib.nullcontext()
