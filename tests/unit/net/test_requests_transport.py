"""The real transport over loopback sockets: one complete exchange, bounded in time and size, and what goes wrong."""

from __future__ import annotations

import gzip
import logging
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from pit_fetch.testing.server import Response
from pit_fetch.transport import MAX_BODY_BYTES, HttpRequest, Signature, TransportError
from tests.serving import Server, serve
from tests.unit.net.exchanges import CLOSED_PORT, NOW, fault, self_signed, send, transport


def test_no_log_shows_an_address(caplog: pytest.LogCaptureFixture) -> None:
    """urllib3 logs each address at level DEBUG, which notebooks set for all."""
    with caplog.at_level(logging.DEBUG), serve(lambda _: Response(b"")) as server:
        transport().send(HttpRequest("GET", f"{server.url}/path", signature=Signature({"token": "a-key"}, {})))
        assert "a-key" not in caplog.text
        requests.get(f"{server.url}/of-the-caller", timeout=5)
        assert "/of-the-caller" in caplog.text


def test_a_reply_is_complete_and_has_its_receipt() -> None:
    request = HttpRequest(
        "GET",
        "/path",
        {"q": "a b", "forms": ["8-K", "10-K"]},
        {"Accept": "application/json"},
        signature=Signature({"token": "k&1"}, {"X-Key": "k"}),
    )
    with serve(lambda _: Response(b"x" * 200_000, 404, {"X-Name": "value"})) as server:
        network = transport()
        reply = network.send(request._replace(url=f"{server.url}/path"))
        network.send(request._replace(url=f"{server.url}/path", params={"forms": ["8-K", "10-K"]}))
    assert (reply.status, reply.body, reply.received_at) == (404, b"x" * 200_000, NOW)
    assert reply.header("x-name") == "value"
    first, second = server.requests
    assert (first.path, first.query) == ("/path", {"q": "a b", "forms": "10-K", "token": "k&1"})
    assert second.query == {"forms": "10-K", "token": "k&1"}
    sent = {name: first.header(name) for name in ("User-Agent", "Accept", "X-Key")}
    assert sent == {"User-Agent": "pit_fetch", "Accept": "application/json", "X-Key": "k"}


def test_a_head_has_no_body_whatever_its_headers_say_of_one() -> None:
    headers = {"Last-Modified": "then", "Content-Encoding": "gzip"}
    with serve(lambda _: Response(b"x" * 9, 200, headers)) as server:
        network, request = transport(), HttpRequest("HEAD", f"{server.url}/file")
        replies = [network.send(request) for _ in range(2)]
    assert [(reply.status, reply.body, reply.header("Last-Modified")) for reply in replies] == [(200, b"", "then")] * 2
    assert [seen.method for seen in server.requests] == ["HEAD", "HEAD"]


@pytest.mark.parametrize("location", ["/other", "https://elsewhere.invalid/", "http://[::1", "http://127.0.0.1:port/"])
def test_a_redirect_is_a_reply(location: str) -> None:
    with serve(lambda _: Response(b"gone", 302, {"Location": location})) as server:
        reply = send(server.url)
    assert (reply.status, reply.header("location"), len(server.requests)) == (302, location, 1)


def test_a_netrc_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("default login someone password something\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serve(lambda _: Response(b"ok")) as server:
        # For a host that is not loopback, requests reads the environment: here it is asked by way of a proxy.
        monkeypatch.setenv("HTTP_PROXY", server.url)
        for url in (server.url, "http://demo.invalid/"):
            send(url)
    assert [request.header("authorization") for request in server.requests] == ["", ""]


# What goes wrong.


@pytest.mark.parametrize(
    ("url", "ended"),
    [
        (CLOSED_PORT, ("refused", True)),
        ("https://demo.invalid", ("unresolved", True)),
        *(
            (url, ("unsendable", False))
            for url in ("https://a..b", "https://[::1", "https://", f"https://{'a' * 64}.b")
        ),
    ],
)
def test_an_address_that_leads_nowhere(url: str, ended: tuple[str, bool]) -> None:
    assert fault(url) == ended


@pytest.mark.parametrize("address", ["http://user:SECRET@127.0.0.1:9", "http://[::1"])
def test_a_proxy_that_lets_nothing_through(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    assert fault("https://demo.invalid")[0] == "proxy"
    monkeypatch.setenv("NO_PROXY", "demo.invalid")
    assert fault("https://demo.invalid")[0] == "unresolved"


def test_a_proxy_is_asked_for_a_host_elsewhere_and_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda _: Response(b"by the proxy")) as proxy, serve(lambda _: Response(b"here")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        network = transport()
        bodies = [
            network.send(HttpRequest("GET", f"{url}/path")).body
            for url in ("http://demo.invalid", server.url, "http://demo.invalid")
        ]
    assert bodies == [b"by the proxy", b"here", b"by the proxy"]


def test_a_certificate_of_an_unknown_issuer() -> None:
    with serve(lambda _: Response(b"ok"), self_signed()) as server, pytest.raises(TransportError) as failed:
        send(server.url.replace("http:", "https:"))
    assert (failed.value.fault, failed.value.passing, server.requests) == ("certificate", False, [])
    assert failed.value.problem.startswith("it is self-signed; ")
    assert "REQUESTS_CA_BUNDLE" in failed.value.problem


@pytest.mark.parametrize(
    ("response", "ended"),
    [
        (Response(b"0123456789", cut=4), ("network", True)),
        (Response(b"no gzip", headers={"Content-Encoding": "gzip"}), ("malformed", False)),
        (Response(b"xyz", headers={"Content-Encoding": "br"}), ("malformed", False)),
        # Above the limit once it is unpacked.
        (
            Response(gzip.compress(bytes(MAX_BODY_BYTES + 1), 1), headers={"Content-Encoding": "gzip"}),
            ("too_large", False),
        ),
    ],
    ids=["cut", "no gzip", "a form that was not asked for", "too large"],
)
def test_a_body_that_cannot_be_used(response: Response, ended: tuple[str, bool]) -> None:
    assert len(response.body) < MAX_BODY_BYTES / 100
    with serve(lambda _: response) as server:
        assert fault(server.url) == ended
    assert server.requests[0].header("Accept-Encoding") == "gzip, deflate"


TEXT = b"a,b\n" + b"1,2\n" * 50_000
RAW_DEFLATE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT, 0)),
        ("\r\nContent-Encoding: gzip", gzip.compress(TEXT)),  # a line without a value, and another
        ("gzip\r\nContent-Encoding:", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:])),
        ("gzip", gzip.compress(TEXT) + bytes(100)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", RAW_DEFLATE.compress(TEXT) + RAW_DEFLATE.flush()),
        ("identity", TEXT),
    ],
)
def test_a_compressed_body_is_whole_or_an_error(encoding: str, packed: bytes) -> None:
    parts = [packed, *(packed[:place] for place in (len(packed) // 2, 15))]
    with serve(lambda request: Response(parts[int(request.query["n"])], 200, {"Content-Encoding": encoding})) as server:
        assert send(f"{server.url}/?n=0").body == TEXT
        for n in (1, 2) if encoding != "identity" else ():
            assert fault(f"{server.url}/?n={n}") == ("malformed", False)


def test_a_server_that_hangs_ends_at_the_deadline() -> None:
    with serve(lambda _: Response(hang=True)) as server:
        assert fault(server.url, 0.1)[0] in ("timeout", "network")


def test_a_body_that_drips_ends_at_the_deadline() -> None:
    # No wait for the next byte is long.
    with sending(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", drip=True) as server:
        assert fault(server.url, 0.15) == ("timeout", False)


@contextmanager
def sending(reply: bytes, drip: bool = False) -> Iterator[Server]:
    """Yield a server that sends exactly these bytes and then closes the connection, or goes on byte by byte."""
    closing = threading.Event()

    def work() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(reply)
            while drip and not closing.wait(0.01):
                connection.send(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{listener.getsockname()[1]}", [])
        finally:
            closing.set()
            thread.join(5)
