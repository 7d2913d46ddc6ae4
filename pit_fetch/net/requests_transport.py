"""The real transport, built on requests: one exchange with its complete body, bounded in time and size.

A host that answers browsers only is asked by :mod:`pit_fetch.net.curl_transport`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pit_fetch.errors import ConfigError
from pit_fetch.net.decompress import ACCEPTED, content
from pit_fetch.transport import MAX_BODY_BYTES, HttpReply, HttpRequest, TransportError

if TYPE_CHECKING:
    import requests

CONNECT_SECONDS = 10.0


class Network:
    """Opens its session at the first request, so that a run without requests loads nothing. ``now``: the clock."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._session: requests.Session | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        """The exchange, on a thread of its own: no socket timeout bounds a name lookup or a server that drips."""
        if request.timeout <= 0:
            raise TransportError("timeout")
        import threading

        outcome: list[HttpReply | BaseException] = []
        make = self._loaded if request.call is not None else self._asked(request)

        def work() -> None:
            try:
                outcome.append(make(request))
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                outcome.append(error)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(request.timeout)
        if not outcome:
            raise TransportError("timeout")
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def _loaded(self, request: HttpRequest) -> HttpReply:
        """What the library says. Nothing of its errors gets out: their texts repeat addresses and replies."""
        try:
            said = request.call() if request.call is not None else None
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
        except Exception:  # noqa: BLE001 - a library may raise anything
            raise TransportError("network") from None
        if len(body) > MAX_BODY_BYTES:
            raise TransportError("too_large")
        return HttpReply(200, {}, body, self._now())

    def _asked(self, request: HttpRequest) -> Callable[[HttpRequest], HttpReply]:
        if request.browser:
            is_near = is_loopback(urlsplit(request.url).hostname)
            try:
                from pit_fetch.net import curl_transport
            except ImportError:
                # A server on this machine is a test's or a proxy's: neither asks for a browser's handshake.
                if not is_near:
                    command = "python3 -m pip install curl_cffi"
                    raise ConfigError("dependency_missing", package="curl_cffi", command=command) from None
            else:
                return lambda request: curl_transport.exchange(
                    request, self._now, connect_seconds=CONNECT_SECONDS, is_near=is_near
                )
        session = self._open()
        _check(request.url)
        session.trust_env = not is_loopback(urlsplit(request.url).hostname)
        return lambda request: self._exchange(session, request)

    def _exchange(self, session: requests.Session, request: HttpRequest) -> HttpReply:
        answered = False
        try:
            with contextlib.closing(
                session.request(
                    request.method,
                    request.url,
                    params=dict(request.query),
                    headers=dict(request.sent_headers),
                    data=request.body,
                    timeout=(min(CONNECT_SECONDS, request.timeout), request.timeout),
                    allow_redirects=False,
                    stream=True,
                )
            ) as response:
                answered = True
                # Without this header, urllib3 leaves the body as it came.
                encoding = response.raw.headers.pop("Content-Encoding", "")
                body = content(response.iter_content(65_536), encoding)
        except (OSError, ValueError) as error:  # all of requests' own errors, and some that it lets through
            from pit_fetch.net.failures import explain

            raise explain(error, answered=answered) from None
        return HttpReply(response.status_code, response.headers, body, self._now())

    def _open(self) -> requests.Session:
        if self._session is None:
            try:
                import requests
            except ImportError:
                command = "python3 -m pip install requests"
                raise ConfigError("dependency_missing", package="requests", command=command) from None

            self._session = requests.Session()
            self._session.headers.update({"User-Agent": "pit_fetch", "Accept-Encoding": ACCEPTED})
            self._session.auth = _no_auth  # otherwise requests would use a .netrc
            # Redirects are not followed here, but requests would still parse their addresses, and fails on some.
            self._session.resolve_redirects = _no_redirects  # type: ignore[method-assign]
        return self._session


def is_loopback(hostname: str | None) -> bool:
    if hostname == "localhost":
        return True
    from ipaddress import ip_address

    try:
        return ip_address(hostname or "").is_loopback
    except ValueError:
        return False


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _no_redirects(*_: object, **__: object) -> Iterator[Any]:
    return iter(())


def _check(url: str) -> None:
    """Raises TransportError for an address that requests cannot use; it may have come from a server."""
    import requests

    try:
        prepared = requests.Request("GET", url).prepare()
        (urlsplit(prepared.url or "").hostname or "").encode("idna")
    except (requests.RequestException, ValueError):
        raise TransportError("unsendable") from None
