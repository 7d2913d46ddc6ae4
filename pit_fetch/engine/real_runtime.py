"""The runtime of this process: its environment, clock, streams and network."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pit_fetch.runtime import Alarm, Clock, Environment, Runtime, no_alarm

if TYPE_CHECKING:
    from pit_fetch.provider import Provider
    from pit_fetch.transport import HttpReply, HttpRequest, Transport


def real_runtime(alarm: Alarm = no_alarm) -> Runtime:
    clock = Clock(lambda: datetime.now(UTC), time.monotonic, time.time, time.sleep)
    return Runtime(
        environ=Environment(os.environ),
        folder=_working_folder(),
        clock=clock,
        transport=_LazyNetwork(clock.now),
        find=_find,
        read_stdin=_read_stdin,
        alarm=alarm,
        browse=_browse,
        stdout=sys.stdout,
        stderr=sys.stderr,
    )


# Each of these loads its module at the first call: --help needs no network, and a listing needs no provider.


class _LazyNetwork:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._network: Transport | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        if self._network is None:
            from pit_fetch.net.requests_transport import RequestsTransport

            self._network = RequestsTransport(self._now)
        return self._network.send(request)


def _find(source: str) -> Provider:
    from pit_fetch.engine.registry import load

    return load(source)


def _read_stdin(seconds: float) -> bytes:
    from pit_fetch.engine.input_files import read_stdin

    return read_stdin(seconds)


def _browse(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        # It was removed. The root has no .env, and nothing else depends on the folder.
        return os.sep
