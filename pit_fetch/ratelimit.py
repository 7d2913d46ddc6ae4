"""A sliding-window rate limit that holds across the processes of one user on one machine.

Agents run many short processes at once, and a provider counts requests per address. The instants
of the last granted requests stand in one small file per host, changed under an exclusive lock.
The state is timing and nothing else: it holds no request and is never shown.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pit_fetch import cache
from pit_fetch.provider import Rate

try:
    import fcntl
except ImportError:  # Windows: the limit then holds within each process only
    fcntl = None  # type: ignore[assignment]


@dataclass
class Limiter:
    """Grants requests at ``rate``. ``path`` is the shared state; "" keeps it in this process."""

    rate: Rate
    path: str
    clock: Callable[[], float]
    _granted: list[float]

    def reserve(self) -> float:
        """Enters the next request and returns how many seconds it has to wait."""
        now = self.clock()
        with self._state() as granted:
            # An instant beyond the window ahead comes from a clock that was set back: forget it.
            recent = [at for at in granted if now - self.rate.seconds < at <= now + 60 * self.rate.seconds]
            start = now if len(recent) < self.rate.calls else max(now, recent[-self.rate.calls] + self.rate.seconds)
            granted[:] = [*recent, start]
        return start - now

    @contextlib.contextmanager
    def _state(self) -> Iterator[list[float]]:
        if not self.path or fcntl is None:
            yield self._granted
            return
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError:
            yield self._granted
            return
        # Doubles, as many as the rate has calls: overwritten in place, since truncating a file is slow.
        layout = struct.Struct(f"<{self.rate.calls}d")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            stored = os.pread(handle, layout.size, 0)
            granted = [at for at in layout.unpack(stored.ljust(layout.size, b"\0")) if at]
            yield granted
            newest = granted[-self.rate.calls :]
            os.pwrite(handle, layout.pack(*[0.0] * (self.rate.calls - len(newest)), *newest), 0)
        finally:
            os.close(handle)


def limiter(rate: Rate, key: str, environ: Mapping[str, str], clock: Callable[[], float]) -> Limiter:
    """The limiter that all processes share for ``key`` (a bucket, or a host and port)."""
    folder = cache.folder(environ)
    name = "".join(char if char.isalnum() or char in ".-" else "_" for char in key)
    return Limiter(rate, os.path.join(folder, f"rate-{name}") if folder else "", clock, [])
