"""A server of tests on a loopback socket: one function from request to response."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, urlsplit

from pit_fetch.testing.server import App
from pit_fetch.transport import HttpRequest

if TYPE_CHECKING:
    import ssl


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
