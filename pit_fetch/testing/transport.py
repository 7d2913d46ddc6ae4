"""The network of a test: every request of this process is answered by a function, and no socket opens."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

Answer = tuple[int, Mapping[str, str], bytes]


class Request(NamedTuple):
    """One request as a server sees it. ``prepared`` is the requests library's own object."""

    url: str
    host: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    prepared: Any = None


@dataclass
class Traffic:
    """What went over the network: exchanges in order, sockets that were refused, and an error of ``answer`` itself."""

    exchanges: list[tuple[Request, Answer]] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    error: Exception | None = None


@contextlib.contextmanager
def answered_by(answer: Callable[[Request], Answer]) -> Iterator[Traffic]:
    """In the block every request made with the requests library is answered by ``answer``."""
    import requests

    traffic = Traffic()

    def send(adapter: object, prepared: requests.PreparedRequest, **_: object) -> requests.Response:
        request = _request(prepared)
        try:
            status, headers, body = answer(request)
        except Exception as error:
            traffic.error = traffic.error or error
            raise requests.ConnectionError from error
        traffic.exchanges.append((request, (status, headers, body)))
        made: requests.Response = _response(prepared, status, headers, body)
        return made

    def refuse(*arguments: Any, **_: object) -> None:
        traffic.sockets.append(str(arguments[-1] if len(arguments) == 2 else arguments[0]))
        raise OSError("no network in a test")

    with (
        patch.object(requests.adapters.HTTPAdapter, "send", send),
        patch.object(socket.socket, "connect", refuse),
        patch.object(socket, "getaddrinfo", refuse),
    ):
        yield traffic


def ask_responses(request: Request) -> Answer:
    """The answer of the active ``responses`` mock, for use inside ``serve``.

    >>> with responses.RequestsMock() as mock:
    ...     mock.get("https://api.example.com/items", body=reply)
    ...     return ask_responses(request)
    """
    import requests

    if "responses" not in requests.adapters.HTTPAdapter.send.__module__:
        raise RuntimeError("no responses mock is active: call ask_responses inside `with responses.RequestsMock()`")
    response = requests.adapters.HTTPAdapter().send(request.prepared)
    return response.status_code, dict(response.headers), response.content


def _request(prepared: Any) -> Request:
    parts = urlsplit(prepared.url)
    params = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Request(prepared.url, parts.hostname or "", parts.path, params, dict(prepared.headers), prepared)


def _response(prepared: Any, status: int, headers: Mapping[str, str], body: bytes) -> Any:
    import requests

    response = requests.Response()
    response.status_code, response.url, response.request = status, prepared.url, prepared
    response.headers.update(headers)
    response.raw = io.BytesIO(body)
    return response
