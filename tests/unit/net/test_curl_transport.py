"""Hosts that answer browsers only: one exchange by curl_cffi over loopback sockets, and what holds without it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from pit_fetch.testing.server import Response
from pit_fetch.transport import MAX_BODY_BYTES, HttpRequest, Signature
from tests.serving import serve
from tests.unit.net import exchanges
from tests.unit.net.exchanges import NOW, transport

with_browser = pytest.mark.skipif(find_spec("curl_cffi") is None, reason="needs the extra yahoo")
send, fault = partial(exchanges.send, browser=True), partial(exchanges.fault, browser=True)


@with_browser
def test_a_browser_asks() -> None:
    request = HttpRequest(
        "GET",
        "/path",
        {"q": "a b", "symbols": ["^GSPC", "EURUSD=X"]},
        {"Cookie": "A3=d=1&S=2"},
        signature=Signature({"token": "k&1"}, {"X-Key": "k"}),
        browser=True,
    )
    cookies = {"Set-Cookie": "A1=x; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "X-Name": "value"}
    with serve(lambda _: Response(b"x" * 200_000, 404, cookies)) as server:
        network = transport()
        reply = network.send(request._replace(url=f"{server.url}/path"))
        network.send(HttpRequest("GET", f"{server.url}/again", browser=True))
    assert (reply.status, reply.body, reply.received_at) == (404, b"x" * 200_000, NOW)
    assert (reply.header("x-name"), reply.header("Set-Cookie")) == ("value", cookies["Set-Cookie"])
    first, second = server.requests
    assert "Chrome/" in first.header("User-Agent")
    assert (first.header("Cookie"), first.header("X-Key")) == ("A3=d=1&S=2", "k")
    assert (first.query["q"], first.query["token"], first.query["symbols"]) == ("a b", "k&1", "EURUSD=X")
    assert second.header("Cookie") == "", "a cookie was kept"


@with_browser
def test_a_compressed_body_is_unpacked() -> None:
    with serve(lambda _: Response(gzip.compress(b"whole"), 200, {"Content-Encoding": "gzip"})) as server:
        assert send(server.url).body == b"whole"


@with_browser
def test_a_body_that_is_not_whole_is_an_error() -> None:
    large = gzip.compress(bytes(MAX_BODY_BYTES + 1), 1)
    with serve(lambda _: Response(large, 200, {"Content-Encoding": "gzip"})) as server:
        assert fault(server.url) == ("too_large", False)
    with serve(lambda _: Response(b"x" * 1000, cut=10)) as server:
        assert fault(server.url) == ("network", True)


@with_browser
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize(
    "address",
    ["socks5://user:SECRET@127.0.0.1:9", "socks5h://127.0.0.1:9", "http://127.0.0.1:9", "127.0.0.1:9", "socks9://[::1"],
)
def test_a_proxy_that_lets_nothing_through(monkeypatch: pytest.MonkeyPatch, variable: str, address: str) -> None:
    monkeypatch.setenv(variable, address)
    assert fault("https://nothing.invalid/")[0] == "proxy"
    monkeypatch.setenv("NO_PROXY", "nothing.invalid")
    assert fault("https://nothing.invalid/")[0] == "unresolved"


# Without the package. A process of its own finds no curl_cffi, whether it is installed or not.


def fetch_without_the_package(*words: str, env: Mapping[str, str]) -> dict[str, list[dict[str, str]]]:
    code = (
        "import sys; sys.modules['curl_cffi'] = None\nfrom pit_fetch.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--source", "yahoo", *words],
        env=dict(env),
        capture_output=True,
        timeout=60,
        check=False,
    )
    envelope: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
    return envelope


def test_without_the_package_a_fetch_names_the_install_command(tmp_path: Path) -> None:
    (gap,) = fetch_without_the_package("upgrades", "symbol=AAPL", env={"HOME": str(tmp_path)})["gaps"]
    assert gap["type"] == "config"
    assert "pip install curl_cffi" in gap["reason"]
