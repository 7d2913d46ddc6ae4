"""The HTTP client that providers are given: declared hosts only, one deadline, whole exchanges or nothing.

An exchange is a request and its complete body. It is tried again as a whole on 408, 425, 429, 5xx
and transport errors, with growing jittered pauses and the server's ``Retry-After``, as long as the
deadline allows. Nothing that a server said, and no URL, ever stands in an error.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pit_fetch import cache
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.provider import Host, Params, Rate, Reply, T
from pit_fetch.ratelimit import DAY, Limiter, limiter, rate_of, variable
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
    _limiters: dict[tuple[str, Rate], Limiter] = field(default_factory=dict)

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
            pause = BACKOFF_SECONDS * 2 ** (attempt - 1) * (1 + random.random())  # noqa: S311 - jitter is no secret
            if isinstance(reply, Reply):
                complete = reply.status not in RETRIED
                wait = busy(reply) if complete and busy is not None else None
                if complete and wait is None:
                    return reply
                pause = max(pause, wait or 0.0, _retry_after(reply))
            if attempt == MAX_TRIES or pause >= self.remaining():
                break
            self.clock.sleep(pause)
        if isinstance(reply, UpstreamError):
            raise reply
        if reply.status not in RETRIED:
            return reply
        raise _given_up(declared, reply)

    def get_cached(
        self,
        host: str,
        path: str,
        headers: Mapping[str, str],
        seconds: float,
        decode: Callable[[Reply], T],
        keep: Callable[[T], bool] | None = None,
    ) -> T:
        """See :meth:`pit_fetch.provider.Http.get_cached`."""
        url = base_url({known.name: known for known in self.hosts}[host], self.environ) + path
        kept = cache.load(self.environ, url, seconds, self.clock.now().timestamp())
        if kept is not None:
            with contextlib.suppress(UpstreamError):
                return decode(Reply(200, {}, kept.body, datetime.fromtimestamp(kept.since, UTC)))
        reply = self.get(host, path, headers=headers)
        decoded = decode(reply)
        if keep is None or keep(decoded):
            cache.store(self.environ, url, reply.body, reply.received_at.timestamp())
        return decoded

    def remaining(self) -> float:
        """Seconds until the deadline; negative when it has passed."""
        return self.deadline - self.clock.monotonic()

    def _wait_for_turn(self, host: Host, base: str) -> None:
        rate = rate_of(host, self.environ)
        if rate is None:
            return
        key = rate.bucket or urlsplit(base).netloc
        if (key, rate) not in self._limiters:
            self._limiters[key, rate] = limiter(rate, key, self.environ, self.clock.shared)
        remaining = self.remaining()
        if remaining <= 0:
            raise self._out_of_time(host)
        pause = self._limiters[key, rate].reserve(within=remaining)
        if pause >= remaining:
            limit = f"{rate.calls} request{'s' if rate.calls > 1 else ''} in {rate.seconds:g} s"
            raise UpstreamError("own_limit", host=key, limit=limit, timeout=self.timeout, variable=variable(host))
        if pause > 0:
            self.clock.sleep(pause)

    def _exchange_in_time(
        self, host: Host, base: str, url: str, params: Params, headers: Mapping[str, str]
    ) -> Reply | UpstreamError:
        """The exchange on a thread of its own: no socket time-out bounds a name look-up or a dripping server."""
        outcome: list[Reply | UpstreamError] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                outcome.append(self._exchange(host, base, url, params, headers))
            except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
                failure.append(error)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(max(self.remaining(), 0))
        if worker.is_alive():
            raise self._out_of_time(host)
        if failure:
            raise failure[0]
        return outcome[0]

    def _exchange(
        self, host: Host, base: str, url: str, params: Params, headers: Mapping[str, str]
    ) -> Reply | UpstreamError:
        """One request with its complete body. Follows redirects to the same host only.

        An error that another try may overcome is returned; any other is raised.
        """
        import requests

        for hop in range(MAX_REDIRECTS + 1):
            remaining = self.remaining()
            if remaining <= 0:
                raise self._out_of_time(host)
            if not _can_be_asked(url):
                raise UpstreamError("redirected", host=host.name) if hop else _bad_base(host)
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
            except (OSError, ValueError) as error:  # all of requests' own, and some that it lets through
                if self.remaining() <= 0:
                    raise self._out_of_time(host) from None
                from pit_fetch.unreachable import explain

                said = explain(error, host, base)
                passing = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
                if isinstance(error, passing) and said.gap.code != "certificate":
                    return said
                raise said from None
            if not response.is_redirect:
                return Reply(response.status_code, response.headers, body, self.clock.now())
            target = _target(url, response.headers["location"], base)
            if target is None:
                break
            url, params = target, {}
            self._wait_for_turn(host, base)
        raise UpstreamError("redirected", host=host.name)

    def _out_of_time(self, host: Host) -> UpstreamError:
        return UpstreamError("timeout", host=host.name, timeout=self.timeout)

    def _read(self, response: requests.Response, host: Host) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(65_536):
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise UpstreamError("too_large", host=host.name, megabytes=MAX_BODY_BYTES // 1_000_000)
            if self.remaining() <= 0:
                raise self._out_of_time(host)
        return bytes(body)

    def _open_session(self, base: str) -> requests.Session:
        if self._session is None:
            import requests

            self._session = requests.Session()
            self._session.headers["User-Agent"] = "pit_fetch"
            self._session.auth = _no_auth  # or requests would add what a .netrc says
            # Redirects are followed here: requests would look at their addresses, too, and fails at some.
            self._session.resolve_redirects = _no_redirects  # type: ignore[method-assign]
        self._session.trust_env = not is_loopback(urlsplit(base).hostname)
        return self._session


def base_url(host: Host, environ: Mapping[str, str]) -> str:
    """Scheme and host of ``host``, overridden or not. Raises ConfigError for anything but https (or loopback)."""
    url = environ.get(host.override) or host.url
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise _bad_base(host) from None
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    if not (plain and secure and parts.hostname):
        raise _bad_base(host)
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(hostname: str | None) -> bool:
    if hostname == "localhost":
        return True
    from ipaddress import ip_address

    try:
        return ip_address(hostname or "").is_loopback
    except ValueError:
        return False


def _no_redirects(*_: object, **__: object) -> Iterator[Any]:
    return iter(())


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _bad_base(host: Host) -> ConfigError:
    return ConfigError("url_malformed", variable=host.override)


def _can_be_asked(url: str) -> bool:
    """Whether requests can make a request of ``url``, which may come from a server."""
    import requests

    try:
        prepared = requests.Request("GET", url).prepare()
        (urlsplit(prepared.url or "").hostname or "").encode("idna")
    except (requests.RequestException, ValueError):
        return False
    return True


def _target(url: str, location: str, base: str) -> str | None:
    """Where a redirect leads, if that is an address of the same host."""
    try:
        target = urljoin(url, location)
        return target if urlsplit(target)[:2] == urlsplit(base)[:2] else None
    except ValueError:
        return None


def _retry_after(reply: Reply) -> float:
    """Seconds that the server asks for, given as a number or as a date (RFC 9110); a day at most, 0 for none."""
    value = reply.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), DAY) if len(value) <= 9 else DAY
    from email.utils import parsedate_tz

    parts = parsedate_tz(value)
    if parts is None:
        return 0.0
    try:
        moment = datetime(*parts[:6], tzinfo=UTC) - timedelta(seconds=parts[9] or 0)
    except (ValueError, OverflowError):
        return 0.0
    return min(max((moment - reply.received_at).total_seconds(), 0.0), DAY)


def _given_up(host: Host, reply: Reply) -> UpstreamError:
    seconds = math.ceil(_retry_after(reply))
    if reply.status == 429:
        code = "throttled_wait" if seconds else "throttled"
        return UpstreamError(code, host=host.name, limit="HTTP 429", seconds=seconds)
    return UpstreamError(
        "http_wait" if seconds else "http_status", host=host.name, status=reply.status, seconds=seconds
    )
