"""The HTTP client that providers are given: declared hosts only, one deadline, whole exchanges or nothing.

All policy lives here, above a :class:`pit_fetch.transport.Transport`. An exchange is retried as a
whole on 408, 425, 429, 5xx and transport errors, with growing jittered pauses and the server's
``Retry-After``, for as long as the deadline allows. An error never repeats anything a server said,
nor a URL.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.net import cache
from pit_fetch.net.ratelimit import DAY, Limiter, limiter, rate_of, variable
from pit_fetch.net.requests_transport import is_loopback
from pit_fetch.provider import Bearer, HeaderKey, Host, HttpReply, Params, QueryKey, Rate, RetryAfter, T
from pit_fetch.runtime import Clock
from pit_fetch.transport import MAX_BODY_BYTES, Fault, HttpRequest, Signature, Transport, TransportError

MAX_TRIES = 4
MAX_REDIRECTS = 3
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
BACKOFF_SECONDS = 0.2


class Client:
    """Asks the ``hosts`` of one provider, until ``deadline`` (monotonic seconds).

    ``on_request`` is told of the address of each request, ``on_kept`` of a reply that the cache answered
    with: a transport never sees it.
    """

    def __init__(
        self,
        hosts: tuple[Host, ...],
        credentials: Mapping[str, str],
        environ: Mapping[str, str],
        clock: Clock,
        transport: Transport,
        timeout: float,
        deadline: float,
        on_request: Callable[[str], None],
    ) -> None:
        self.hosts, self.credentials, self.environ = hosts, credentials, environ
        self.clock, self.transport, self.timeout, self.deadline = clock, transport, timeout, deadline
        self.on_request = on_request
        self.on_kept: Callable[[HttpRequest, HttpReply], None] = lambda request, reply: None
        self.requests_made = 0
        self._limiters: dict[tuple[str, Rate], Limiter] = {}

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
    ) -> HttpReply:
        """See :meth:`pit_fetch.provider.Http.get`."""
        return self._ask(
            self._host(host), HttpRequest("GET", path, params or {}, headers or {}), retry_after, MAX_TRIES
        )

    def post(
        self,
        host: str,
        path: str,
        json: object,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
        repeatable: bool = False,
    ) -> HttpReply:
        """See :meth:`pit_fetch.provider.Http.post`."""
        from json import dumps

        headers = {"Content-Type": "application/json", **(headers or {})}
        request = HttpRequest("POST", path, params or {}, headers, dumps(json).encode())
        return self._ask(self._host(host), request, retry_after, MAX_TRIES if repeatable else 1)

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """See :meth:`pit_fetch.provider.Context.load`."""
        return self._ask(self._host(host), HttpRequest("LOAD", path, params, call=call), None, 1)

    def get_cached(
        self,
        host: str,
        path: str,
        seconds: float,
        decode: Callable[[HttpReply], T],
        keep: Callable[[T], bool] | None = None,
    ) -> T:
        """See :meth:`pit_fetch.provider.Http.get_cached`."""
        url = _address(self._host(host), base_url(self._host(host), self.environ), path)
        kept = cache.load(self.environ, url, seconds, self.clock.now().timestamp())
        if kept is not None:
            with contextlib.suppress(UpstreamError):
                held = HttpReply(200, {}, kept.body, datetime.fromtimestamp(kept.since, UTC))
                decoded = decode(held)
                self.on_kept(HttpRequest("GET", url), held)
                return decoded
        reply = self.get(host, path)
        decoded = decode(reply)
        if keep is None or keep(decoded):
            cache.store(self.environ, url, reply.body, reply.received_at.timestamp())
        return decoded

    def remaining(self) -> float:
        """Seconds until the deadline; negative when it has passed."""
        return self.deadline - self.clock.monotonic()

    def _host(self, name: str) -> Host:
        return {known.name: known for known in self.hosts}[name]

    def _ask(self, host: Host, request: HttpRequest, retry_after: RetryAfter | None, tries: int) -> HttpReply:
        """The reply, once there is a usable one.

        Raises UpstreamError if the host is unreachable, redirects elsewhere or throttles, if the deadline or
        the size limit is exceeded, or if a server error outlasts the retries.
        """
        base = base_url(host, self.environ)
        url = _address(host, base, request.url)
        request = request._replace(url=url, signature=signature(host, self.credentials), browser=host.browser)
        for attempt in range(1, tries + 1):
            reply = self._exchange(host, base, request)
            pause = BACKOFF_SECONDS * 2 ** (attempt - 1) * (1 + random.random())  # noqa: S311 - jitter need not be secret
            if isinstance(reply, HttpReply):
                complete = reply.status not in RETRIED
                wait = retry_after(reply) if complete and retry_after is not None else None
                if complete and wait is None:
                    return reply
                pause = max(pause, wait or 0.0, _retry_after(reply))
            if attempt == tries or pause >= self.remaining():
                break
            self.clock.sleep(pause)
        if isinstance(reply, UpstreamError):
            raise reply
        if reply.status not in RETRIED:
            return reply
        raise _given_up(host, reply)

    def _exchange(self, host: Host, base: str, request: HttpRequest) -> HttpReply | UpstreamError:
        """One exchange, when its turn comes. Follows redirects to the same host only.

        An error that a retry may overcome is returned; any other is raised.
        """
        for hop in range(MAX_REDIRECTS + 1):
            self._wait_for_turn(host, base)
            if self.remaining() <= 0:
                raise self._out_of_time(host)
            self.requests_made += 1
            self.on_request(request.url.partition("?")[0])
            try:
                reply = self.transport.send(request._replace(timeout=self.remaining()))
            except TransportError as error:
                if error.fault == "unsendable":
                    raise _elsewhere(host) if hop else _bad_base(host) from None
                if self.remaining() <= 0 or error.fault == "timeout":
                    raise self._out_of_time(host) from None
                said = _unreachable(host, base, error.fault, error.problem)
                if error.passing:
                    return said
                raise said from None
            location = reply.header("Location")
            if reply.status not in REDIRECTS or not location:
                return reply
            target = _target(request.url, location, base)
            # After any other redirect a POST may already have taken effect, and must not be repeated (RFC 9110, 15.4).
            if target is None or (request.method == "POST" and reply.status not in (307, 308)):
                break
            request = _redirected(request, target)
        raise _elsewhere(host)

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

    def _out_of_time(self, host: Host) -> UpstreamError:
        return UpstreamError("timeout", host=host.name, timeout=self.timeout)


def signature(host: Host, credentials: Mapping[str, str]) -> Signature:
    """How ``host`` learns who is asking, in the way it declares."""
    match host.auth:
        case None:
            return Signature()
        case Bearer(credential):
            return Signature(headers={"Authorization": f"Bearer {credentials[credential]}"})
        case QueryKey(credential, parameter):
            return Signature({parameter: credentials[credential]})
        case HeaderKey(credential, header):
            return Signature(headers={header: credentials[credential]})


def base_url(host: Host, environ: Mapping[str, str]) -> str:
    """Scheme and host of ``host``, overridden or not. Raises ConfigError for anything but https (or loopback)."""
    url = environ.get(host.url_variable) or host.url
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


def _bad_base(host: Host) -> ConfigError:
    return ConfigError("url_malformed", variable=host.url_variable)


def _elsewhere(host: Host) -> UpstreamError:
    return UpstreamError("redirected", host=host.name, variable=host.url_variable)


def _unreachable(host: Host, base: str, fault: Fault, problem: str) -> UpstreamError:
    parts = urlsplit(base)
    name = parts.hostname if fault == "proxy" else parts.netloc
    megabytes = MAX_BODY_BYTES // 1_000_000
    return UpstreamError(
        fault, host=host.name, name=name, problem=problem, variable=host.url_variable, megabytes=megabytes
    )


def _address(host: Host, base: str, path: str) -> str:
    """The URL of ``path`` on the host at ``base``. A path may come from a reply, and must not choose another host.

    Raises UpstreamError for a path that would, before anything is sent or looked up.
    """
    url = base + path
    if path[:1] != "/" or path[:2] == "//" or not _is_at(base, url):
        raise UpstreamError("not_a_path", host=host.name)
    return url


def _is_at(base: str, url: str) -> bool:
    """Whether ``url`` has the scheme, host and port of ``base``, and can be sent."""
    try:
        url.encode()
        return urlsplit(url)[:2] == urlsplit(base)[:2]
    except ValueError:
        return False


def _target(url: str, location: str, base: str) -> str | None:
    """Where a redirect leads, if it stays on the same host; None otherwise."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return None
    return target if _is_at(base, target) else None


def _redirected(request: HttpRequest, target: str) -> HttpRequest:
    """The request for ``target``, which already holds the query that the server wants.

    A key repeated there goes back into the signature: an address may be shown and remembered.
    """
    address, mark, query = urldefrag(target).url.partition("?")
    kept: list[str] = []
    keys: dict[str, str] = {}
    for part in query.split("&"):
        known = [one for one in parse_qsl(part) if one in request.signature.params.items()]
        keys.update(known)
        kept += [] if known else [part]
    url = address + mark + "&".join(kept) if kept else address
    return request._replace(url=url, params={}, signature=request.signature._replace(params=keys))


def _retry_after(reply: HttpReply) -> float:
    """The seconds that the server asks for, as a number or a date (RFC 9110); at most a day, 0 for none."""
    value = reply.header("Retry-After").strip()
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


def _given_up(host: Host, reply: HttpReply) -> UpstreamError:
    seconds = math.ceil(_retry_after(reply))
    if reply.status == 429:
        return UpstreamError(
            "throttled_wait" if seconds else "throttled", host=host.name, limit="HTTP 429", seconds=seconds
        )
    return UpstreamError(
        "http_wait" if seconds else "http_status", host=host.name, status=reply.status, seconds=seconds
    )
