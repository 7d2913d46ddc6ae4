"""The real transport over loopback sockets: one complete exchange, bounded in time and size, and what goes wrong."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from pit_fetch.net.failures import explain
from pit_fetch.net.requests_transport import Network
from pit_fetch.testing.server import Response, Server, serve
from pit_fetch.transport import MAX_BODY_BYTES, HttpRequest, Signature, TransportError
from tests.unit.net.exchanges import NOW, fault, self_signed, send

NOBODY = "http://127.0.0.1:9"  # the discard service, which nobody runs


def test_a_reply_is_complete_and_has_its_receipt() -> None:
    request = HttpRequest(
        "GET",
        "/path",
        {"q": "a b", "forms": ["8-K", "10-K"]},
        {"Accept": "application/json"},
        signature=Signature({"token": "k&1"}, {"X-Key": "k"}),
    )
    with serve(lambda _: Response(b"x" * 200_000, 404, {"X-Name": "value"})) as server:
        network = Network(lambda: NOW)
        reply = network.send(request._replace(url=f"{server.url}/path"))
        network.send(request._replace(url=f"{server.url}/path", params={"forms": ["8-K", "10-K"]}))
    assert (reply.status, reply.body, reply.received_at) == (404, b"x" * 200_000, NOW)
    assert reply.header("x-name") == "value"
    first, second = server.requests
    assert (first.path, first.query) == ("/path", {"q": "a b", "forms": "10-K", "token": "k&1"})
    assert second.query == {"forms": "10-K", "token": "k&1"}
    sent = {name: first.header(name) for name in ("User-Agent", "Accept", "X-Key")}
    assert sent == {"User-Agent": "pit_fetch", "Accept": "application/json", "X-Key": "k"}


def test_a_post_arrives_with_its_body() -> None:
    with serve(lambda _: Response(b"ok")) as server:
        Network(lambda: NOW).send(HttpRequest("POST", f"{server.url}/ask", headers={"A": "1"}, body=b'{"q": 1}'))
    (seen,) = server.requests
    assert (seen.method, seen.path, seen.body, seen.header("a")) == ("POST", "/ask", b'{"q": 1}', "1")


@pytest.mark.parametrize("location", ["/other", "https://elsewhere.invalid/", "http://[::1", "http://127.0.0.1:port/"])
def test_a_redirect_is_a_reply(location: str) -> None:
    with serve(lambda _: Response(b"gone", 302, {"Location": location})) as server:
        reply = send(server.url)
    assert (reply.status, reply.header("location"), len(server.requests)) == (302, location, 1)


def test_a_netrc_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("default login someone password something\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serve(lambda _: Response(b"ok")) as server:
        # Of a host that is not loopback requests reads the surroundings: here by way of a proxy.
        monkeypatch.setenv("HTTP_PROXY", server.url)
        for url in (server.url, "http://demo.invalid/"):
            send(url)
    assert [request.header("authorization") for request in server.requests] == ["", ""]


# What goes wrong.


def test_a_port_that_nobody_listens_on() -> None:
    assert fault(NOBODY) == ("refused", True)


def test_a_name_that_nobody_has() -> None:
    assert fault("https://demo.invalid") == ("unresolved", True)


@pytest.mark.parametrize("url", ["https://a..b", "https://[::1", f"https://{'a' * 64}.example", "https://"])
def test_an_address_that_nobody_can_ask(url: str) -> None:
    assert fault(url) == ("unsendable", False)


@pytest.mark.parametrize("address", ["http://user:SECRET@127.0.0.1:9", "http://[::1", "socks5://127.0.0.1:9"])
def test_a_proxy_that_lets_nothing_through(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    assert fault("https://demo.invalid")[0] == "proxy"
    monkeypatch.setenv("NO_PROXY", "demo.invalid")
    assert fault("https://demo.invalid")[0] == "unresolved"


def test_a_proxy_is_asked_for_a_host_elsewhere_and_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda _: Response(b"by the proxy")) as proxy, serve(lambda _: Response(b"here")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        network = Network(lambda: NOW)
        bodies = [
            network.send(HttpRequest("GET", f"{url}/path")).body
            for url in ("http://demo.invalid", server.url, "http://demo.invalid")
        ]
    assert bodies == [b"by the proxy", b"here", b"by the proxy"]


def test_certificates_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such/file")
    assert fault("https://demo.invalid") == ("certificate_file", False)


def test_a_certificate_that_nobody_vouches_for() -> None:
    with serve(lambda _: Response(b"ok"), self_signed()) as server, pytest.raises(TransportError) as failed:
        send(server.url.replace("http:", "https:"))
    assert (failed.value.fault, failed.value.passing, server.requests) == ("certificate", False, [])
    assert failed.value.problem.startswith("it is self-signed; ")
    assert "REQUESTS_CA_BUNDLE" in failed.value.problem


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (10, "has expired"), (9, "not valid yet"), (62, "another host name"), (20, "who issued it"),
        (99, "OpenSSL error code 99"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_certificate(code: int, problem: str) -> None:
    cause = ssl.SSLCertVerificationError("SECRET")
    cause.verify_code = code
    error = requests.exceptions.SSLError("SECRET")
    error.__context__ = cause
    explained = explain(error)
    assert (explained.fault, explained.passing, problem in explained.problem) == ("certificate", False, True)
    assert "SECRET" not in repr(explained)


def test_a_server_without_tls() -> None:
    with serve(lambda _: Response(b"ok")) as server:
        assert fault(server.url.replace("http:", "https:"))[0] == "tls"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (Response(b"0123456789", cut=4), ("network", True)),
        (Response(b"no gzip", headers={"Content-Encoding": "gzip"}), ("malformed", False)),
        (Response(b"xyz", headers={"Content-Encoding": "br"}), ("malformed", False)),  # which was not asked for
    ],
)
def test_a_body_that_is_cut_or_cannot_be_unpacked(response: Response, expected: tuple[str, bool]) -> None:
    with serve(lambda _: response) as server:
        assert fault(server.url) == expected
        assert server.requests[0].header("Accept-Encoding") == "gzip, deflate"


TEXT = b"a,b\n" + b"1,2\n" * 50_000
RAW_DEFLATE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT, 0)),
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


def test_a_body_without_bytes_needs_no_compression() -> None:
    with serve(lambda _: Response(b"", 404, {"Content-Encoding": "gzip"})) as server:
        assert send(server.url).body == b""


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "malformed"),
        (b"HTTP/1.1 two hundred\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 500 + b"\r\n", "malformed"),
        (CHUNKED + b"-5\r\nabc\r\n0\r\n\r\n", "malformed"),
        (CHUNKED + b"5\r\nabc", "network"),
        (b"", "network"),
    ],
)
def test_what_is_not_http_is_neither_the_network_nor_a_proxy(sent: bytes, kind: str) -> None:
    with sending(sent) as server:
        assert fault(server.url)[0] == kind


def test_a_body_above_the_cap_however_small_it_is_on_the_way() -> None:
    packed = gzip.compress(bytes(MAX_BODY_BYTES + 1), 1)
    assert len(packed) < MAX_BODY_BYTES / 100
    with serve(lambda _: Response(packed, headers={"Content-Encoding": "gzip"})) as server:
        assert fault(server.url) == ("too_large", False)


def test_a_server_that_hangs_ends_at_the_deadline() -> None:
    with serve(lambda _: Response(hang=True)) as server:
        assert fault(server.url, 0.1)[0] in ("timeout", "network")


def test_a_body_that_drips_ends_at_the_deadline() -> None:
    # A byte now and then, so that no wait for the next one is long.
    with sending(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", drip=True) as server:
        assert fault(server.url, 0.15) == ("timeout", False)


@pytest.mark.parametrize("timeout", [0.0, -1.0])
def test_without_time_there_is_no_reply(timeout: float) -> None:
    assert fault(NOBODY, timeout) == ("timeout", False)


@contextmanager
def sending(reply: bytes, drip: bool = False) -> Iterator[Server]:
    """A server that sends exactly these bytes and closes the connection, or goes on with a byte now and then."""
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
