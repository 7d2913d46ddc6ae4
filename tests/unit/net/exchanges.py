"""Single exchanges over the real network, and files planted where the program keeps its own."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.net.requests_transport import Network
from pit_fetch.transport import HttpReply, HttpRequest, TransportError

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)


def send(url: str, timeout: float = 10.0, browser: bool = False) -> HttpReply:
    return Network(lambda: NOW).send(HttpRequest("GET", url, timeout=timeout, browser=browser))


def fault(url: str, timeout: float = 10.0, browser: bool = False) -> tuple[str, bool]:
    """Return which fault ends the exchange, and whether another try may overcome it."""
    with pytest.raises(TransportError) as failed:
        send(url, timeout, browser)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None, "a library's words would be shown"
    return failed.value.fault, failed.value.passing


def self_signed() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parents[2] / "loopback" / "self_signed.pem")
    return context


def plant(kind: str, path: Path, other: Path) -> None:
    """Put something else in the place of a file: a link to another one, a pipe, a folder."""
    match kind:
        case "link":
            path.symlink_to(other)
        case "hard link":
            path.hardlink_to(other)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
