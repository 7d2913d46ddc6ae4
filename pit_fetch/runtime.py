"""Everything outside the program as one value, so that a test can replace any part of it by keyword."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from pit_fetch.provider import Provider
    from pit_fetch.transport import HttpReply, HttpRequest, Transport


class Clock(NamedTuple):
    """The wall clock (UTC), a monotonic clock, one that all processes share (both in seconds), and sleep."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    shared: Callable[[], float]
    sleep: Callable[[float], None]


def _no_alarm(seconds: float) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


class Runtime(NamedTuple):
    """What the program finds around it.

    environ     the environment variables
    folder      the working directory, where a .env is looked for
    clock       the only clock
    transport   the network
    find        a source's name -> its provider; raises UsageError
    read_stdin  all of standard input, within a number of seconds; raises InputError
    alarm       limits a block by raising :class:`TimeIsUp` in it; without one, only the network is limited
    stdout, stderr  where the answer goes
    """

    environ: Mapping[str, str]
    folder: str
    clock: Clock
    transport: Transport
    find: Callable[[str], Provider]
    read_stdin: Callable[[float], bytes]
    alarm: Callable[[float], AbstractContextManager[None]] = _no_alarm
    stdout: TextIO | None = None
    stderr: TextIO | None = None


class TimeIsUp(BaseException):
    """The alarm rang. No ordinary ``except`` of a provider swallows it."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises TimeIsUp in a block that takes longer than ``seconds``, if the platform has timers; main thread only."""
    import signal

    def ring(signum: int, frame: object) -> None:
        raise TimeIsUp

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Network:
    """The real network, loaded at the first request: a file or --help needs no network."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._network: Transport | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        if self._network is None:
            from pit_fetch.net.requests_transport import Network

            self._network = Network(self._now)
        return self._network.send(request)


def _found(source: str) -> Provider:
    from pit_fetch.engine.registry import load

    return load(source)


def _from_stdin(seconds: float) -> bytes:
    from pit_fetch.engine.input_files import read_stdin

    return read_stdin(seconds)


def real_runtime(alarm: Callable[[float], AbstractContextManager[None]] = _no_alarm) -> Runtime:
    """The runtime of this process."""
    import sys
    import time

    clock = Clock(lambda: datetime.now(UTC), time.monotonic, time.time, time.sleep)
    return Runtime(
        environ=os.environ,
        folder=working_folder(),
        clock=clock,
        transport=_Network(clock.now),
        find=_found,
        read_stdin=_from_stdin,
        alarm=alarm,
        stdout=sys.stdout,
        stderr=sys.stderr,
    )


def working_folder() -> str:
    """The working directory, or the root if it was removed: there is no .env there, and nothing else depends on it."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep
