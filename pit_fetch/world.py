"""Everything outside the program as one value, so that a test replaces the world by keyword."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import NamedTuple


class Clock(NamedTuple):
    """The wall clock (UTC), a monotonic one and one that all processes share (both in seconds), and a sleep."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    shared: Callable[[], float]
    sleep: Callable[[float], None]


def _no_alarm(seconds: float) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


class World(NamedTuple):
    """``alarm`` bounds a block by raising :class:`TimeIsUp` in it; without one only the network is bounded."""

    environ: Mapping[str, str]
    folder: str
    clock: Clock
    read_stdin: Callable[[], bytes]
    alarm: Callable[[float], AbstractContextManager[None]] = _no_alarm


class TimeIsUp(BaseException):
    """The alarm rang. No ordinary ``except`` of a provider swallows it."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises TimeIsUp in the block once it has taken ``seconds``, where the platform has timers; main thread only."""
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


def real_world(
    environ: Mapping[str, str],
    read_stdin: Callable[[], bytes],
    alarm: Callable[[float], AbstractContextManager[None]] = _no_alarm,
) -> World:
    import time

    clock = Clock(lambda: datetime.now(UTC), time.monotonic, time.time, time.sleep)
    return World(environ, working_folder(), clock, read_stdin, alarm)


def working_folder() -> str:
    """The working directory; the root where it was removed: no .env there, and nothing else is asked of it."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep
