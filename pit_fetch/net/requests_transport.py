"""The real transport, built on requests: one exchange with its complete body, bounded in time and size.

A host that answers only browsers is handled by :mod:`pit_fetch.net.curl_transport`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.net.decompress import ACCEPTED, content
from pit_fetch.net.hosts import is_loopback
from pit_fetch.transport import MAX_BODY_BYTES, HttpReply, HttpRequest, TransportError

if TYPE_CHECKING:
    import logging

    import requests

CONNECT_SECONDS = 10.0
_THREAD = "pit_fetch exchange"


class RequestsTransport:
    """The network. ``now`` is the wall clock."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._session: requests.Session | None = None

    def send(self, request: HttpRequest) -> HttpReply:
        """See :meth:`pit_fetch.transport.Transport.send`."""
        if request.timeout <= 0:
            raise TransportError("timeout")
        import threading

        outcome: list[HttpReply | BaseException] = []
        make = self._load if request.call is not None else self._exchange_for(request)

        def work() -> None:
            try:
                outcome.append(make(request))
            except BaseException as error:  # noqa: BLE001 - raised again below
                outcome.append(error)

        # On a thread of its own, because no socket timeout bounds a name lookup or a server that sends byte by byte.
        worker = threading.Thread(target=work, name=_THREAD, daemon=True)
        worker.start()
        worker.join(request.timeout)
        if not outcome:
            raise TransportError("timeout")
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def _load(self, request: HttpRequest) -> HttpReply:
        try:
            result = request.call() if request.call is not None else None
            body = result if isinstance(result, bytes) else json.dumps(result).encode()
        except Exception:  # noqa: BLE001 - a library may raise anything
            # Without the library's error, whose text may repeat addresses and replies.
            raise TransportError("network") from None
        if len(body) > MAX_BODY_BYTES:
            raise TransportError("too_large")
        return HttpReply(200, {}, body, self._now())

    def _exchange_for(self, request: HttpRequest) -> Callable[[HttpRequest], HttpReply]:
        """Return the function that makes the exchange. Raise ConfigError if a package for it is missing."""
        if request.browser:
            is_local = is_loopback(request.host)
            try:
                from pit_fetch.net import curl_transport
            except ImportError:
                # A server on this machine is a test's or a proxy's, which ask for no browser's handshake.
                if not is_local:
                    raise ConfigError(Code.DEPENDENCY_MISSING, package="curl_cffi") from None
            else:
                return lambda request: curl_transport.exchange(
                    request, self._now, connect_seconds=CONNECT_SECONDS, is_loopback=is_local
                )
        session = self._open()
        _check(request.url)
        session.trust_env = not is_loopback(request.host)
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
                # Without this header, urllib3 leaves the body compressed.
                encoding = response.raw.headers.pop("Content-Encoding", "")
                body = content(response.iter_content(65_536), encoding)
        except (OSError, ValueError) as error:  # requests' own errors, and some of other libraries that pass through it
            from pit_fetch.net.failures import explain

            raise explain(error, answered=answered) from None
        return HttpReply(response.status_code, response.headers, body, self._now())

    def _open(self) -> requests.Session:
        # At the first request, so that a run without requests loads nothing.
        if self._session is None:
            try:
                import requests
            except ImportError:
                raise ConfigError(Code.DEPENDENCY_MISSING, package="requests") from None
            import logging

            # At level DEBUG it logs each address with its query, which may hold a key. The caller's own requests stay.
            logging.getLogger("urllib3.connectionpool").addFilter(_is_another_s)
            self._session = requests.Session()
            self._session.headers.update({"User-Agent": "pit_fetch", "Accept-Encoding": ACCEPTED})
            self._session.auth = lambda request: request  # or requests would use a .netrc
            # Redirects are not followed here, but requests would still parse their addresses, and fails on some.
            self._session.resolve_redirects = lambda *_, **__: iter(())  # type: ignore[method-assign]
        return self._session


def _is_another_s(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD


def _check(url: str) -> None:
    """Raise TransportError for an address that requests cannot use. A reply may have brought it."""
    import requests

    try:
        prepared = requests.Request("GET", url).prepare()
        (urlsplit(prepared.url or "").hostname or "").encode("idna")
    except (requests.RequestException, ValueError):
        raise TransportError("unsendable") from None
