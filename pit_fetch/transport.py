"""The one seam to the network: ``send(request) -> HttpReply``.

A transport makes one exchange, complete or not at all. All policy (the hosts, retries, redirects, rates, the
deadline, the texts of errors) sits above it in :mod:`pit_fetch.net.client`, so the real network, a recording, a replay
and a test's server are peers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

__all__ = [
    "Fault",
    "HttpReply",
    "HttpRequest",
    "Params",
    "RecordingTransport",
    "ReplayingTransport",
    "Signature",
    "Transport",
    "TransportError",
]

# What a provider gives as parameters, and their texts: numbers, flags as "true" and "false", and what is None not at
# all. A parameter with several values is sent several times.
Params = Mapping[str, str | float | bool | Iterable[str | float] | None]
SentParams = Mapping[str, str | Sequence[str]]
_NONE: Mapping[str, str] = MappingProxyType({})
# Why an exchange did not complete; all but the last are rows of the table of gaps.
Fault = Literal[
    "network", "unresolved", "refused", "proxy", "tls", "certificate", "certificate_file", "malformed", "timeout",
    "too_large", "unrecorded", "unsendable",
]  # fmt: skip

MAX_BODY_BYTES = 64_000_000


class Signature(NamedTuple):
    """The parameters and headers of a request that hold a key."""

    params: Mapping[str, str] = _NONE
    headers: Mapping[str, str] = _NONE

    def __repr__(self) -> str:
        return "<Signature>"


class HttpRequest(NamedTuple):
    """One exchange to make.

    url        scheme, host and path; the query is in ``params``
    body       the bytes of a POST; None for others
    signature  kept apart from everything else, so that code that stores or shows a request never handles a key
    timeout    seconds for the whole exchange, including the reply's last byte
    call       for a LOAD: makes the exchange, with a library that does its own HTTP
    browser    the host answers browsers only

    The identity of a request is its method, ``url``, ``params`` and ``body``.
    """

    method: Literal["GET", "HEAD", "POST", "LOAD"]
    url: str
    params: SentParams = _NONE
    headers: Mapping[str, str] = _NONE
    body: bytes | None = None
    signature: Signature = Signature()
    timeout: float = 60.0
    call: Callable[[], object] | None = None
    browser: bool = False

    @property
    def host(self) -> str:
        """Return the host's name, in lower case."""
        from urllib.parse import urlsplit

        return urlsplit(self.url).hostname or ""

    @property
    def path(self) -> str:
        from urllib.parse import urlsplit

        return urlsplit(self.url).path

    @property
    def query(self) -> Mapping[str, Any]:
        """Return every parameter that the host sees, including the key."""
        return {**self.params, **self.signature.params}

    @property
    def sent_headers(self) -> Mapping[str, str]:
        """Return every header that the host sees, including the key."""
        return {**self.headers, **self.signature.headers}

    def header(self, name: str) -> str:
        """Return the value of a header that the host sees, by case-insensitive name; "" for none."""
        return _header(self.sent_headers, name)


class HttpReply(NamedTuple):
    """A complete reply. ``received_at`` is the UTC instant after its last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    received_at: datetime

    def header(self, name: str) -> str:
        """Return the value of a header, by case-insensitive name; "" for none."""
        return _header(self.headers, name)


class TransportError(Exception):
    """An exchange that did not complete.

    problem  details for the user, which repeat nothing of the server's
    passing  another try may succeed
    """

    def __init__(self, fault: Fault, problem: str = "", *, passing: bool = False) -> None:
        self.fault, self.problem, self.passing = fault, problem, passing
        super().__init__(fault)


class Transport(Protocol):
    def send(self, request: HttpRequest) -> HttpReply:
        """Return the complete reply, with any status. Follow no redirect. Raise TransportError if there is none."""


class RecordingTransport(NamedTuple):
    """Pass each exchange on to ``inner``, and call ``note`` with those that complete."""

    inner: Transport
    note: Callable[[HttpRequest, HttpReply], None]

    def send(self, request: HttpRequest) -> HttpReply:
        reply = self.inner.send(request)
        self.note(request, reply)
        return reply


class ReplayingTransport:
    """Answer from recorded exchanges: the replies to a request come in the order in which they were recorded.

    The last reply to a request answers every further one. A request that was never recorded fails as such, and
    ``is_lacking`` tells that there was one.
    """

    def __init__(self, exchanges: Iterable[tuple[HttpRequest, HttpReply]]) -> None:
        self._replies: dict[object, list[HttpReply]] = {}
        self.is_lacking = False
        for request, reply in exchanges:
            self._replies.setdefault(identity(request), []).append(reply)

    def send(self, request: HttpRequest) -> HttpReply:
        replies = self._replies.get(identity(request))
        if not replies:
            self.is_lacking = True
            raise TransportError("unrecorded")
        return replies.pop(0) if len(replies) > 1 else replies[0]


def as_texts(params: Params | None) -> SentParams:
    """Return parameters as an address spells them: every transport, recorder and replay sees the same request."""
    present = {name: value for name, value in (params or {}).items() if value is not None}
    return {
        name: _format_value(value)
        if isinstance(value, str) or not isinstance(value, Iterable)
        else [*map(_format_value, value)]
        for name, value in present.items()
    }


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def identity(request: HttpRequest) -> tuple[object, ...]:
    """Return a value that is equal for requests for the same thing, whatever their keys, headers and ``timeout``."""
    params = {name: (value,) if isinstance(value, str) else tuple(value) for name, value in request.params.items()}
    return request.method, request.url, tuple(sorted(params.items())), request.body


def _header(headers: Mapping[str, str], name: str) -> str:
    wanted = name.casefold()
    return next((value for key, value in headers.items() if key.casefold() == wanted), "")
