"""The HTTP client that providers are given: declared hosts only, one deadline, whole exchanges or nothing.

An exchange is a request and its complete body. It is tried again as a whole on 408, 425, 429, 5xx
and transport errors, with growing jittered pauses and the server's ``Retry-After``, as long as the
deadline allows. Nothing that a server said, and no URL, ever stands in an error.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pit_fetch import cache
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.provider import Host, Params, Reply, T
from pit_fetch.ratelimit import Limiter, limiter
from pit_fetch.world import Clock

if TYPE_CHECKING:
    import requests

MAX_BODY_BYTES = 64_000_000
MAX_TRIES = 4
MAX_REDIRECTS = 3
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
CONNECT_SECONDS = 10.0
BACKOFF_SECONDS = 0.2


@dataclass
class Client:
    """GET for the ``hosts`` of one provider, until ``deadline`` (monotonic seconds)."""

    hosts: tuple[Host, ...]
    environ: Mapping[str, str]
    clock: Clock
    timeout: float
    deadline: float
    on_request: Callable[[str], None]
    requests_made: int = 0
    _session: requests.Session | None = None
    _limiters: dict[str, Limiter] = field(default_factory=dict)

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        busy: Callable[[Reply], float | None] | None = None,
    ) -> Reply:
        """See :meth:`pit_fetch.provider.Http.get`.

        Raises UpstreamError: unreachable, over the deadline or the body cap, redirected elsewhere,
        throttled, or a server error that outlasts the retries.
        """
        declared = {known.name: known for known in self.hosts}[host]
        base = base_url(declared, self.environ)
        for attempt in range(1, MAX_TRIES + 1):
            self._wait_for_turn(declared, base)
            reply = self._exchange_in_time(declared, base, base + path, params or {}, headers or {})
            complete = reply is not None and reply.status not in RETRIED
            wait = busy(reply) if complete and busy is not None and reply is not None else None
            if reply is not None and complete and wait is None:
                return reply
            pause = BACKOFF_SECONDS * 2 ** (attempt - 1) * (1 + random.random())  # noqa: S311 - jitter is no secret
            if reply is not None:
                pause = max(pause, wait or 0.0, _retry_after(reply))
            if attempt == MAX_TRIES or pause >= self.remaining():
                break
            self.clock.sleep(pause)
        if reply is not None and reply.status not in RETRIED:
            return reply
        raise _given_up(declared, reply)

    def get_cached(
        self,
        host: str,
        path: str,
        headers: Mapping[str, str],
        seconds: float,
        decode: Callable[[Reply], T],
    ) -> T:
        """See :meth:`pit_fetch.provider.Http.get_cached`."""
        url = base_url({known.name: known for known in self.hosts}[host], self.environ) + path
        kept = cache.load(self.environ, url, seconds, self.clock.shared())
        if kept is not None:
            with contextlib.suppress(UpstreamError):
                return decode(Reply(200, {}, kept.body, datetime.fromtimestamp(kept.since, UTC)))
        reply = self.get(host, path, headers=headers)
        decoded = decode(reply)
        cache.store(self.environ, url, reply.body)
        return decoded

    def remaining(self) -> float:
        """Seconds until the deadline; negative when it has passed."""
        return self.deadline - self.clock.monotonic()

    def _wait_for_turn(self, host: Host, base: str) -> None:
        if host.rate is not None:
            key = host.rate.bucket or urlsplit(base).netloc
            if key not in self._limiters:
                self._limiters[key] = limiter(host.rate, key, self.environ, self.clock.shared)
            pause = self._limiters[key].reserve()
            if pause >= self.remaining():
                raise UpstreamError("timeout", host=host.name, timeout=self.timeout)
            if pause > 0:
                self.clock.sleep(pause)

    def _exchange_in_time(
        self, host: Host, base: str, url: str, params: Params, headers: Mapping[str, str]
    ) -> Reply | None:
        """The exchange on a thread of its own: no socket time-out bounds a name look-up or a dripping server."""
        outcome: list[Reply | UpstreamError | None] = []

        def work() -> None:
            try:
                outcome.append(self._exchange(host, base, url, params, headers))
            except UpstreamError as error:
                outcome.append(error)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(max(self.remaining(), 0))
        if worker.is_alive():
            raise UpstreamError("timeout", host=host.name, timeout=self.timeout)
        if isinstance(outcome[0], UpstreamError):
            raise outcome[0]
        return outcome[0]

    def _exchange(self, host: Host, base: str, url: str, params: Params, headers: Mapping[str, str]) -> Reply | None:
        """One request with its complete body; None when the transport failed. Follows redirects to itself only."""
        import requests

        for _ in range(MAX_REDIRECTS + 1):
            remaining = self.remaining()
            if remaining <= 0:
                raise UpstreamError("timeout", host=host.name, timeout=self.timeout)
            self.requests_made += 1
            self.on_request(url.split("?")[0])
            try:
                with contextlib.closing(
                    self._open_session(base).get(
                        url,
                        params=dict(params),
                        headers=dict(headers),
                        timeout=(min(CONNECT_SECONDS, remaining), remaining),
                        allow_redirects=False,
                        stream=True,
                    )
                ) as response:
                    body = self._read(response, host)
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
                if self.remaining() <= 0:
                    raise UpstreamError("timeout", host=host.name, timeout=self.timeout) from None
                return None
            except requests.RequestException:
                raise UpstreamError("network", host=host.name) from None
            if not response.is_redirect:
                return Reply(response.status_code, response.headers, body, self.clock.now())
            target = requests.compat.urljoin(url, response.headers["location"])
            if urlsplit(target)[:2] != urlsplit(base)[:2]:
                break
            url, params = target, {}
            self._wait_for_turn(host, base)
        raise UpstreamError("redirected", host=host.name)

    def _read(self, response: requests.Response, host: Host) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(65_536):
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise UpstreamError("too_large", host=host.name, megabytes=MAX_BODY_BYTES // 1_000_000)
            if self.remaining() <= 0:
                raise UpstreamError("timeout", host=host.name, timeout=self.timeout)
        return bytes(body)

    def _open_session(self, base: str) -> requests.Session:
        if self._session is None:
            import requests

            self._session = requests.Session()
            self._session.headers["User-Agent"] = "pit_fetch"
            self._session.auth = _no_auth  # or requests would add what a .netrc says
        self._session.trust_env = not is_loopback(urlsplit(base).hostname)
        return self._session


def base_url(host: Host, environ: Mapping[str, str]) -> str:
    """Scheme and host of ``host``, overridden or not. Raises ConfigError for anything but https (or loopback)."""
    url = environ.get(host.override) or host.url
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ConfigError("url_malformed", variable=host.override) from None
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    if not (plain and secure and parts.hostname):
        raise ConfigError("url_malformed", variable=host.override)
    return f"{parts.scheme}://{parts.netloc}"


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


def _retry_after(reply: Reply) -> float:
    """Seconds that the server asks for, given as a number or as a date."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    value = reply.headers.get("Retry-After")
    try:
        return Retry().parse_retry_after(value) if value else 0.0
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0


def _given_up(host: Host, reply: Reply | None) -> UpstreamError:
    if reply is None:
        return UpstreamError("network", host=host.name)
    if reply.status == 429:
        return UpstreamError("throttled", host=host.name, limit="HTTP 429")
    return UpstreamError("http_status", host=host.name, status=reply.status)
