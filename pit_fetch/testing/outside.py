"""Watches whether a provider goes around the client it is given: a socket, or another program."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

# Python's own audit events: whatever library opens a connection or starts a program raises one.
_EVENTS = frozenset(
    {
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.sendto",
        "socket.sendmsg",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
    }
)
_watching: list[list[str]] = []
_installed: list[bool] = []


@contextlib.contextmanager
def refused() -> Iterator[list[str]]:
    """In the block nothing of this process reaches out; what tries is refused, and named in the list."""
    if not _installed:  # an audit hook stays for good, so there is one, which mostly looks away
        sys.addaudithook(_hook)
        _installed.append(True)
    tried: list[str] = []
    _watching.append(tried)
    try:
        yield tried
    finally:
        _watching.remove(tried)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event in _EVENTS:
        _watching[-1].append(f"{event} {arguments[-1] if event == 'socket.connect' else arguments[0]}")
        raise OSError("nothing reaches out in a test: ask through context.http")
