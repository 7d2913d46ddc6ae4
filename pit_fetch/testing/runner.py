"""One fetch of the whole program in this process, its network and clock replaced by a case's."""

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
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pit_fetch.errors import UsageError
from pit_fetch.provider import Provider, Query
from pit_fetch.request.fetch_request import FetchRequest, from_values
from pit_fetch.runtime import alarm
from pit_fetch.support.misuse import Misuse
from pit_fetch.testing import sandbox
from pit_fetch.testing.case import Case, ObservedRun, Wire, described
from pit_fetch.testing.inprocess import TestClock, run, unhurried
from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import HttpRequest

_END = object()
T = TypeVar("T")
# Real seconds, for a provider that loops without asking for anything.
PATIENCE_SECONDS = 10.0
# The size in bytes at which the audit file, which grows by a line with each run, is removed.
_MOST_AUDIT_BYTES = 1_000_000


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
        return unhurried(provider)._replace(
            fetch=lambda query, context: self._note(query, "fetch", lambda: provider.fetch(query, context)),
            parse_reply=lambda body, query: self._note(query, "parse_reply", lambda: provider.parse_reply(body, query)),
            select=lambda query, record: self._watched(lambda: provider.select(query, record)),
        )

    def _watched(self, call: Callable[[], T]) -> T:
        """Return what the author's code returns, and note what it raises."""
        try:
            return call()
        except BaseException as error:
            self.raised.append(error)
            raise

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Note in the block what the provider's code warns of, like what it prints."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = self._warned  # type: ignore[assignment]
            yield

    def _warned(self, message: Warning | str, *more: object) -> None:
        if sys.stdout is self.printed:
            self.printed.write(f"{message}\n")

    def _note(self, query: Query, name: str, start: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        self.query = query
        stream: Iterator[Any] | None = None

        def begun() -> Iterator[Any]:
            made: object = start()
            if not isinstance(made, Iterable):
                raise Misuse(f"{name} returns {made!r:.40}: write it as a generator, with yield, or return records")
            return iter(made)

        while True:
            with contextlib.redirect_stdout(self.printed), contextlib.redirect_stderr(self.printed):
                stream = self._watched(begun) if stream is None else stream
                item = self._watched(partial(next, stream, _END))
            if item is _END:
                return
            self.yielded.append(item)
            yield item


class ServerFailed(AssertionError):
    """The author's own ``serve`` raised."""


class Refused(AssertionError):
    """The program refused the request itself."""


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
def _workspace() -> _Workspace:
    return _Workspace()


class _Server:
    """The case's server in one run, with its clock. Asked more often than the case allows, it lets the time run out."""

    def __init__(self, case: Case, served: bytes, wire: Wire | None, watched: bool) -> None:
        self.clock = TestClock(case.now)
        self.transport = Answering(self._answer, self.clock.now)
        self.asked_too_often = False
        self._case, self._served, self._wire, self._watched = case, served, wire, watched

    def _answer(self, request: HttpRequest) -> Response:
        with sandbox.unwatched() if self._watched else contextlib.nullcontext():
            made = self._case.serve(self._served, request)
        if len(self.transport.exchanges) >= self._case.max_requests:
            self.asked_too_often = True
            self.clock.passed += 1_000_000.0  # past every deadline: this is how the loop ends
        return self._wire(request, made) if self._wire else made

    def check(self) -> None:
        """Raise ServerFailed if the author's own server raised."""
        if self.transport.error is not None:
            raised = described(self.transport.error, self._case)
            raise ServerFailed(f"serve() fails: {raised}\n  What to do: correct the test's own server.") from None


def observe(
    case: Case,
    pit: datetime | None,
    *,
    reply: bytes | None = None,
    wire: Wire | None = None,
    offline: bool = False,
    fresh: bool = True,
    watched: bool = False,
) -> ObservedRun:
    """Run one fetch at ``pit`` and return what it produced.

    reply    the world that is served, in place of the recorded reply
    wire     changes each response on its way
    offline  the reply comes by --input-file
    fresh    the state of the author's modules is reset first
    watched  uses of clocks and of the environment are noted, too

    Raises AssertionError when the test itself is at fault: ServerFailed, or Refused.
    """
    served = case.reply if reply is None else reply
    server, spy, workspace = _Server(case, served, wire, watched), _Spy(case.provider), _workspace()
    if fresh:
        case.state.reset()
    workspace.clear()
    environ = _environ(case, served, workspace)
    request = _request(case, pit, offline, environ)
    with (
        sandbox.refused(str(workspace.root)) as reached_out,
        workspace.descriptors.caught(),
        spy.listening(),
        sandbox.consulted(case.state.authors) if watched else contextlib.nullcontext(list[str]()) as consulted,
    ):
        output = run(
            ("--source", case.provider.name),
            transport=server.transport,
            clock=server.clock.value(),
            environ=environ,
            folder=workspace.home,
            stdin=served,
            provider=case.provider,
            request=request._replace(provider=spy.wrapped()),
            alarm=_alarm,
        )
    written = workspace.descriptors.text()
    entry = workspace.audit_entry()
    if entry is None:
        raise Refused(f"the request is refused: {output.err}")
    server.check()
    return ObservedRun(
        output.out,
        output.err + written,
        output.code,
        output.files,
        provider=case.provider,
        query=spy.query,
        yielded=tuple(spy.yielded),
        printed=spy.printed.getvalue() + written,
        audit=entry,
        exchanges=tuple(server.transport.exchanges),
        raised=tuple(spy.raised),
        reached_out=tuple(reached_out),
        consulted=tuple(dict.fromkeys(consulted)),
        asked_too_often=server.asked_too_often,
        describe=partial(described, case=case),
    )


def _environ(case: Case, served: bytes, workspace: _Workspace) -> dict[str, str]:
    """Return the environment of a run, after writing the file that a provider of local files reads."""
    files = {file.variable: str(workspace.file) for file in case.provider.files}
    if files:
        workspace.file.write_bytes(served)
    return {"HOME": str(workspace.home), **files, **case.environ, "PIT_FETCH_AUDIT": str(workspace.audit)}


def _request(case: Case, pit: datetime | None, offline: bool, environ: dict[str, str]) -> FetchRequest:
    # Verbose, since what is logged leaves the process, too; max_chars=0, so that nothing is left out for its size.
    options = {"limit": 100_000, "max_pages": 1_000, "pit": pit, **case.options, "verbose": True, "max_chars": 0}
    if offline:
        options["input_file"] = "-"
    try:
        return from_values(options, case.provider, environ)
    except UsageError as error:
        raise Refused(f"the request is refused: {error}") from None


def _alarm(seconds: float) -> AbstractContextManager[None]:
    """Return the command's alarm, after PATIENCE_SECONDS; an author's runner may call from another thread."""
    in_main = threading.current_thread() is threading.main_thread()
    return alarm(PATIENCE_SECONDS) if in_main else contextlib.nullcontext()
