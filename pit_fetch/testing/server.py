"""The servers of tests: one function from request to response, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pit_fetch.net.decompress import content
from pit_fetch.transport import HttpReply, HttpRequest, TransportError


@dataclass(frozen=True)
class Response:
    """A server's response. It breaks off after ``cut`` bytes. With ``hang`` none ever comes."""

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


def ask_responses(request: HttpRequest) -> ServerAnswer:
    """Return the answer of the active ``responses`` mock, for an app of :class:`Answering`, say.

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
        reply = HttpReply(response.status, response.headers, b"", self.now())
        if request.method == "HEAD":
            return reply
        return reply._replace(body=content((response.body,), reply.header("Content-Encoding")))
