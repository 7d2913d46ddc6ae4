"""One exchange over loopback sockets, by requests or as a browser makes it."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.net.requests_transport import RequestsTransport
from pit_fetch.transport import HttpReply, HttpRequest, TransportError

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)
CLOSED_PORT = "http://127.0.0.1:9"  # the discard service, which no machine runs any more


def transport() -> RequestsTransport:
    return RequestsTransport(lambda: NOW)


def send(url: str, timeout: float = 10.0, *, browser: bool = False) -> HttpReply:
    return transport().send(HttpRequest("GET", url, timeout=timeout, browser=browser))


def fault(url: str, timeout: float = 10.0, *, browser: bool = False) -> tuple[str, bool]:
    """Return the fault that ends the exchange, and whether another try may overcome it."""
    with pytest.raises(TransportError) as failed:
        send(url, timeout, browser=browser)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None, "a library's words would be shown"
    return failed.value.fault, failed.value.passing


def self_signed() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parents[2] / "loopback" / "self_signed.pem")
    return context
