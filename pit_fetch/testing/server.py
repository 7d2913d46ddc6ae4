"""The servers of tests: one function from request to response, in this process or on a loopback socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pit_fetch.transport import HttpReply, HttpRequest, TransportError

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True)
class Response:
    """A server's response. ``cut`` is the number of bytes after which it breaks off; with ``hang`` none ever comes."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: bool = False


App = Callable[[HttpRequest], Response]
# Status, headers and body.
ServerAnswer = tuple[int, Mapping[str, str], bytes]


def as_json(value: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(value).encode(), status, {"Content-Type": "application/json", **headers})


def response_of(answer: ServerAnswer | Response) -> Response:
    if isinstance(answer, Response):
        return answer
    status, headers, body = answer
    return Response(body, status, headers)


def ask_responses(request: HttpRequest) -> ServerAnswer:
    """Return the answer of the active ``responses`` mock, for use inside ``serve``.

    >>> with responses.RequestsMock() as mock:
    ...     mock.get("https://api.example.com/items", body=reply)
    ...     return ask_responses(request)
    """
    import requests

    if "responses" not in requests.adapters.HTTPAdapter.send.__module__:
        raise RuntimeError("no responses mock is active: call ask_responses inside `with responses.RequestsMock()`")
    response = requests.request(
        request.method,
        request.url,
        params=dict(request.query),
        headers=dict(request.sent_headers),
        data=request.body,
        timeout=request.timeout,
    )
    return response.status_code, dict(response.headers), response.content


@dataclass
class Answering:
    """A transport that calls ``app`` in this process. ``error`` is the first exception of the app itself.

    ``wait`` receives the seconds after which a request that hangs is given up.
    """

    app: App
    now: Callable[[], datetime]
    wait: Callable[[float], object] = lambda seconds: None
    exchanges: list[tuple[HttpRequest, Response]] = field(default_factory=list)
    error: Exception | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        try:
            response = self.app(request)
        except Exception as error:
            self.error = self.error or error
            raise TransportError("network") from error
        self.exchanges.append((request, response))
        if response.hang:
            self.wait(request.timeout)
            raise TransportError("timeout")
        if response.cut is not None:
            raise TransportError("network", passing=True)
        body = b"" if request.method == "HEAD" else response.body
        return HttpReply(response.status, response.headers, body, self.now())


@dataclass
class Server:
    """A running server, and the requests that it received, in order."""

    url: str
    requests: list[HttpRequest]


@contextmanager
def serve(app: App, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve ``app`` on a free port of the loopback address until the block ends."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    requests: list[HttpRequest] = []
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer("GET", None)

        def do_HEAD(self) -> None:
            self._answer("HEAD", None)

        def do_POST(self) -> None:
            self._answer("POST", self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _answer(self, method: Literal["GET", "HEAD", "POST"], body: bytes | None) -> None:
            parts = urlsplit(self.path)
            url = f"http://{self.headers.get('Host', '')}{parts.path}"
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            request = HttpRequest(method, url, query, dict(self.headers), body=body)
            requests.append(request)
            response = app(request)
            if response.hang:
                closing.wait(30)
                self.close_connection = True
                return
            head = f"HTTP/1.1 {response.status} X\r\nContent-Length: {len(response.body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in response.headers.items())
            self.close_connection = response.cut is not None
            # Without a cut this is the whole body.
            content = b"" if method == "HEAD" else response.body[: response.cut]
            self.wfile.write(head.encode() + b"\r\n" + content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_address[1]}", requests)
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
