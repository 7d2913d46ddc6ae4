"""A sliding-window rate limit that holds across the processes of one user on one machine.

Agents run many short processes at once, and a source counts requests per address. One small file per host holds the
instants of the last granted requests, and is changed under an exclusive lock. An instant may lie in the future, for a
request that waits for its turn. A request that cannot wait that long is not booked, or later ones would wait in vain.
After a refusal, the file also holds the instant before which the host wants no request. It holds instants alone, names
no request, and is never shown.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.net import cache
from pit_fetch.provider import Host, Rate

try:
    import fcntl
except ImportError:  # Windows: the limit then holds only within each process
    fcntl = None  # type: ignore[assignment]

# The longest that a request may wait (the maximum --timeout), and the longest window that a rate may have.
DAY = 86_400.0
MAX_CALLS = 10_000

_RATE = re.compile(r"([0-9]{1,5})/([0-9]{1,5}(?:\.[0-9]{1,3})?)")
_HEAD = struct.Struct("<8sddQ")
_MAGIC = b"pitrate3"


class State:
    """The instants of the last granted requests, in order, in seconds.

    ``written`` is the instant of this state itself, and ``closed`` that until which no further request is granted.
    """

    def __init__(self, granted: list[float], written: float = 0.0, closed: float = 0.0) -> None:
        self.granted, self.written, self.closed = granted, written, closed

    def book(self, rate: Rate, now: float, within: float) -> float:
        """Return the seconds from ``now`` to the next request's start. Book it if they are less than ``within``."""
        self._read_clock(now)
        # No request waits longer than a day, so an instant further ahead is corrupt.
        recent = sorted(at for at in self.granted if now - rate.seconds < at <= now + DAY)
        start = self.closed if now < self.closed <= now + DAY else now
        if len(recent) >= rate.calls:
            start = max(start, recent[-rate.calls] + rate.seconds)
        if start - now < within:
            # As many as the largest rate in use needs: processes may be configured differently.
            self.granted = sorted([*self.granted, start])[-max(rate.calls, len(self.granted)) :]
        return start - now

    def close(self, now: float, seconds: float) -> None:
        """Grant no request before ``seconds`` from ``now``, except those that are booked."""
        self._read_clock(now)
        self.closed = now + seconds

    def _read_clock(self, now: float) -> None:
        if now < self.written:  # the clock was set back: all that is ahead stays as far ahead as it was
            self.granted = [at - (self.written - now) for at in self.granted]
            self.closed -= self.written - now
        self.written = now


class Limiter:
    """Grants requests at ``rate``. ``path`` is the file of the state; with "", the state is that of this process."""

    def __init__(self, rate: Rate, path: str, clock: Callable[[], float], own: State) -> None:
        self.rate, self.path, self.clock, self.own = rate, path, clock, own

    def reserve(self, within: float) -> float:
        """Return the seconds that the next request has to wait. Book it if they are less than ``within``."""
        with self._state() as state:
            # The clock is read under the lock, so that the instants in the file are in order.
            return state.book(self.rate, self.clock(), within)

    def close(self, seconds: float) -> None:
        """Let no request start for ``seconds``, but those that are booked."""
        with self._state() as state:
            state.close(self.clock(), seconds)

    @contextlib.contextmanager
    def _state(self) -> Iterator[State]:
        handle = self._open()
        if handle is None:
            yield self.own
            return
        try:
            state = _unpack(os.pread(handle, _HEAD.size + 8 * MAX_CALLS, 0))
            yield state
            with contextlib.suppress(OSError):  # a full disk
                # Overwritten in place, since truncating a file is slow: the header says how much of it counts.
                os.pwrite(handle, _pack(state), 0)
        finally:
            os.close(handle)

    def _open(self) -> int | None:
        if not self.path or fcntl is None:
            return None
        try:
            handle = cache.open_own(self.path, os.O_RDWR | os.O_CREAT)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            os.close(handle)
            return None
        return handle


def limiter(rate: Rate, key: str, environ: Mapping[str, str], clock: Callable[[], float]) -> Limiter:
    """Return the limiter that all processes share for ``key``, a bucket or a host and port."""
    folder = cache.folder(environ)
    name = "".join(char if char.isalnum() or char in ".-" else "_" for char in key)
    return Limiter(rate, os.path.join(folder, f"rate-{name}") if folder else "", clock, State([]))


def variable(host: Host) -> str:
    """Return the variable that sets a host's rate: PIT_FETCH_RATE_API_EXAMPLE_COM for https://api.example.com."""
    return "PIT_FETCH_RATE_" + re.sub(r"[^A-Z0-9]", "_", (urlsplit(host.url).hostname or "").upper())


def rate_of(host: Host, environ: Mapping[str, str]) -> Rate | None:
    """Return the rate of ``host``: from its variable, or else as declared. Raise ConfigError for a malformed one."""
    text = environ.get(variable(host), "").strip()
    if not text:
        return host.rate
    match = _RATE.fullmatch(text)
    calls, seconds = (int(match[1]), float(match[2])) if match else (0, 0.0)
    if not (1 <= calls <= MAX_CALLS and 0 < seconds <= DAY):
        raise ConfigError(Code.RATE_MALFORMED, variable=variable(host), calls=MAX_CALLS, seconds=int(DAY))
    return Rate(calls, seconds, host.rate.bucket if host.rate else "")


def _pack(state: State) -> bytes:
    granted: Sequence[float] = state.granted[-MAX_CALLS:]
    return _HEAD.pack(_MAGIC, state.written, state.closed, len(granted)) + struct.pack(f"<{len(granted)}d", *granted)


def _unpack(stored: bytes) -> State:
    if len(stored) < _HEAD.size:
        return State([])
    magic, written, closed, count = _HEAD.unpack_from(stored)
    if magic != _MAGIC or len(stored) < _HEAD.size + 8 * count:
        return State([])
    return State(list(struct.unpack_from(f"<{count}d", stored, _HEAD.size)), written, closed)
