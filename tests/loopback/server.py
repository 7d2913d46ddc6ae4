"""A loopback HTTP server around one function from request to response."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Response:
    """``cut`` closes the connection after so many bytes of the body; ``hang`` never answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: bool = False


def as_json(value: Any, status: int = 200, **headers: str) -> Response:
    body = json.dumps(value).encode()
    return Response(body, status, {"Content-Type": "application/json", **headers})


App = Callable[[Request], Response]


@dataclass
class Server:
    """A running server. ``requests`` is what it was asked, in order."""

    url: str
    requests: list[Request]


@contextmanager
def serve(app: App, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serves ``app`` on a free port until the block ends."""
    requests: list[Request] = []
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            request = Request(parts.path, dict(parse_qsl(parts.query)), dict(self.headers))
            requests.append(request)
            response = app(request)
            if response.hang:
                closing.wait(30)
                self.close_connection = True
                return
            head = f"HTTP/1.1 {response.status} X\r\nContent-Length: {len(response.body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in response.headers.items())
            body = response.body if response.cut is None else response.body[: response.cut]
            self.close_connection = response.cut is not None
            self.wfile.write(head.encode() + b"\r\n" + body)

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
