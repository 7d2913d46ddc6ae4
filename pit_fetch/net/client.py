"""The HTTP client that providers are given: declared hosts only, one deadline, whole exchanges or nothing.

All policy lives here, above a :class:`pit_fetch.transport.Transport`. An exchange is made again as a whole where the
host's :class:`pit_fetch.provider.Retry` has it, after growing jittered pauses or the server's ``Retry-After``, for as
long as the deadline allows. An error never repeats anything that a server sent, nor a URL.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import REASONS, Code
from pit_fetch.net import cache
from pit_fetch.net.hosts import bad_address, base_url
from pit_fetch.net.ratelimit import DAY, Limiter, limiter, rate_of, variable
from pit_fetch.provider import Bearer, HeaderKey, Host, HttpReply, Params, QueryKey, Rate, RetryAfter, T
from pit_fetch.runtime import Clock
from pit_fetch.support.misuse import Declared
from pit_fetch.support.version import __version__
from pit_fetch.transport import MAX_BODY_BYTES, HttpRequest, Signature, Transport, TransportError, as_texts

MAX_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# What is kept of a reply besides its body: when the file was written can be evidence.
_KEPT_HEADERS = ("Last-Modified",)


class _Policy(NamedTuple):
    """How one request is made.

    tries      the largest number of exchanges
    redirects  how many are followed in each; with None, a redirect is a reply
    patience   the share of the time left that one exchange, or a pause before the next, may take
    """

    tries: int = 1
    retry_after: RetryAfter | None = None
    redirects: int | None = MAX_REDIRECTS
    patience: float = 1.0


class Client:
    """The client of one provider's ``hosts``, until ``deadline`` in monotonic seconds.

    ``on_request`` is called with the address of each request, and ``on_cached`` with each reply from the cache, which
    no transport sees.
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
        self._by_name = Declared("host", "Provider.hosts", {host.name: host for host in hosts})
        self.clock, self.transport, self.timeout, self.deadline = clock, transport, timeout, deadline
        self.on_request = on_request
        self.on_cached: Callable[[HttpRequest, HttpReply], None] = lambda request, reply: None
        self.requests_made = 0
        self.received_at: datetime | None = None  # when the last reply was complete
        self._limiters: dict[tuple[str, Rate], Limiter] = {}

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
        follow: bool = True,
        patience: float = 1.0,
    ) -> HttpReply:
        """See :meth:`pit_fetch.provider.Http.get`."""
        declared = self._by_name[host]
        request = HttpRequest("GET", path, as_texts(params), headers or {})
        policy = _Policy(declared.retry.tries, retry_after, MAX_REDIRECTS if follow else None, patience)
        return self._ask(declared, request, policy)

    def head(self, host: str, path: str, patience: float = 1.0) -> HttpReply:
        """See :meth:`pit_fetch.provider.Http.head`."""
        declared = self._by_name[host]
        return self._ask(declared, HttpRequest("HEAD", path), _Policy(declared.retry.tries, patience=patience))

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
        request = HttpRequest("POST", path, as_texts(params), headers, dumps(json).encode())
        declared = self._by_name[host]
        return self._ask(declared, request, _Policy(declared.retry.tries if repeatable else 1, retry_after))

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """See :meth:`pit_fetch.provider.Context.load`."""
        return self._ask(self._by_name[host], HttpRequest("LOAD", path, as_texts(params), call=call), _Policy())

    def get_cached(
        self,
        host: str,
        path: str,
        seconds: float,
        decode: Callable[[HttpReply], T],
        keep: Callable[[T], bool] | None = None,
        most: int | None = None,
        patience: float = 1.0,
        is_head: bool = False,
        failed: UpstreamError | None = None,
    ) -> T:
        """See :meth:`pit_fetch.provider.Http.get_cached`."""
        url = _address(self._by_name[host], base_url(self._by_name[host], self.environ), path)
        request = HttpRequest("HEAD" if is_head else "GET", url)
        place = cache.Place(f"HEAD {url}" if is_head else url, most)
        stored = cache.load(self.environ, place, seconds, self.clock.now().timestamp())
        if stored is not None:
            cached = HttpReply(200, stored.headers, stored.body, datetime.fromtimestamp(stored.since, UTC))
            with contextlib.suppress(UpstreamError):
                decoded = decode(cached)
                self.on_cached(request, cached)
                return decoded
        if failed is not None:
            raise failed
        reply = self.head(host, path, patience) if is_head else self.get(host, path, patience=patience)
        decoded = decode(reply)
        if keep is None or keep(decoded):
            headers = {name: reply.header(name) for name in _KEPT_HEADERS if reply.header(name)}
            cache.store(self.environ, place, cache.Stored(headers, reply.body, reply.received_at.timestamp()))
        return decoded

    def remaining(self) -> float:
        """Return the seconds until the deadline, negative when it has passed."""
        return self.deadline - self.clock.monotonic()

    def _ask(self, host: Host, request: HttpRequest, policy: _Policy) -> HttpReply:
        """Return the first reply that the provider can use, by ``policy``.

        Raise UpstreamError if the host is unreachable or redirects elsewhere, if the deadline or the size limit is
        exceeded, or if a status of ``host.retry`` outlasts the tries.
        """
        base = base_url(host, self.environ)
        url = _address(host, base, request.url)
        request = request._replace(url=url, signature=signature(host, self.credentials), browser=host.browser)
        for attempt in itertools.count():
            reply = self._exchange(host, base, request, policy)
            # Jitter keeps processes that failed together from coming back together. It need not be secret.
            pause = host.retry.backoff * 2**attempt * (1 + random.random())  # noqa: S311
            if isinstance(reply, HttpReply):
                has_final = bool(host.retry.final and reply.header(host.retry.final))
                is_usable = reply.status not in host.retry.statuses or has_final
                wait = policy.retry_after(reply) if is_usable and policy.retry_after is not None else None
                if is_usable and wait is None:
                    return reply
                pause = max(pause, wait or 0.0, _retry_after(reply))
                if reply.status == 429 and not is_usable and host.retry.pause:
                    pause = max(pause, host.retry.pause)
                    self._close(host)
            if attempt + 1 >= policy.tries or pause >= self.remaining() * policy.patience:
                break
            self.clock.sleep(pause)
        if isinstance(reply, UpstreamError):
            raise reply
        if is_usable:
            return reply
        raise _final_failure(host, reply)

    def _exchange(self, host: Host, base: str, request: HttpRequest, policy: _Policy) -> HttpReply | UpstreamError:
        """Make one exchange, and follow redirects to its host. Return an error that may pass, and raise any other."""
        for hop in range((policy.redirects or 0) + 1):
            self._wait_for_turn(host, base)
            if self.remaining() <= 0:
                raise self._out_of_time(host)
            self.requests_made += 1
            self.on_request(request.url.partition("?")[0])
            try:
                reply = self.transport.send(request._replace(timeout=self.remaining() * policy.patience))
            except TransportError as error:
                if error.fault == "unsendable":
                    raise _elsewhere(host) if hop else bad_address(host) from None
                if error.fault == "timeout" and policy.patience < 1 and self.remaining() > 0:
                    raise UpstreamError(Code.SLOW, host=host.name) from None
                if self.remaining() <= 0 or error.fault == "timeout":
                    raise self._out_of_time(host) from None
                unreachable = _unreachable(host, base, error)
                if error.passing:
                    return unreachable
                raise unreachable from None
            self.received_at = reply.received_at
            location = reply.header("Location")
            if policy.redirects is None or reply.status not in REDIRECTS or not location:
                return reply
            target = _target(request.url, location, base)
            # After any other redirect a POST may already have taken effect, and must not be repeated (RFC 9110, 15.4).
            if target is None or (request.method == "POST" and reply.status not in (307, 308)):
                break
            request = _redirect_request(request, target)
        raise _elsewhere(host)

    def _limiter(self, host: Host, base: str) -> Limiter | None:
        """Return the limiter of a host. None for a host without a rate."""
        rate = rate_of(host, self.environ)
        if rate is None:
            return None
        key = _bucket(rate, base)
        if (key, rate) not in self._limiters:
            self._limiters[key, rate] = limiter(rate, key, self.environ, self.clock.shared)
        return self._limiters[key, rate]

    def _close(self, host: Host) -> None:
        """Let no process of this machine ask the address of ``host`` for as long as it wants after a refusal."""
        for known in self.hosts:
            turns = self._limiter(known, base_url(known, self.environ)) if known.url == host.url else None
            if turns is not None:
                turns.close(host.retry.pause)

    def _wait_for_turn(self, host: Host, base: str) -> None:
        """Wait until the host's rate allows a request. Raise UpstreamError if that is after the deadline."""
        turns = self._limiter(host, base)
        if turns is None:
            return
        remaining = self.remaining()
        if remaining <= 0:
            raise self._out_of_time(host)
        pause, rate = turns.reserve(within=remaining), turns.rate
        if pause >= remaining:
            limit = f"{rate.calls} request{'s' if rate.calls > 1 else ''} in {rate.seconds:g} s"
            limit += f", and none for {host.retry.pause:g} s after a 429" if host.retry.pause else ""
            name, bucket = variable(host), _bucket(rate, base)
            raise UpstreamError(Code.OWN_LIMIT, host=bucket, limit=limit, timeout=self.timeout, variable=name)
        if pause > 0:
            self.clock.sleep(pause)

    def _out_of_time(self, host: Host) -> UpstreamError:
        return UpstreamError(Code.TIMEOUT, host=host.name, timeout=self.timeout)


def signature(host: Host, credentials: Mapping[str, str]) -> Signature:
    """Return the parameters and headers that authenticate a request to ``host``, as it declares."""
    return _signature(host.auth, credentials)


def _signature(auth: Bearer | QueryKey | HeaderKey | None, credentials: Mapping[str, str]) -> Signature:
    match auth:
        case None:
            return Signature()
        case Bearer(credential):
            return Signature(headers={"Authorization": f"Bearer {credentials[credential]}"})
        case QueryKey(credential, parameter):
            return Signature({parameter: credentials[credential]})
        case HeaderKey(credential, header, form, beside):
            others = _signature(beside, credentials).headers
            own = form.format(value=credentials[credential], version=__version__)
            return Signature(headers={header: own, **others})


def _elsewhere(host: Host) -> UpstreamError:
    return UpstreamError(Code.REDIRECTED, host=host.name, variable=host.url_variable)


def _unreachable(host: Host, base: str, error: TransportError) -> UpstreamError:
    parts = urlsplit(base)
    return UpstreamError(
        REASONS[error.fault],
        host=host.name,
        # NO_PROXY takes names without a port.
        name=parts.hostname if error.fault == "proxy" else parts.netloc,
        problem=error.problem,
        variable=host.url_variable,
        megabytes=MAX_BODY_BYTES // 1_000_000,
    )


def _bucket(rate: Rate, base: str) -> str:
    """Return under which name the requests to a host are counted."""
    return rate.bucket or urlsplit(base).netloc


def _address(host: Host, base: str, path: str) -> str:
    """Return the URL of ``path`` on the host at ``base``. Raise UpstreamError if it would lead to another host."""
    # Before anything is sent or looked up, since a path may come from a reply.
    url = base + path
    if path[:1] != "/" or path[:2] == "//" or not _is_same_host(base, url):
        raise UpstreamError(Code.NOT_A_PATH, host=host.name)
    return url


def _is_same_host(base: str, url: str) -> bool:
    try:
        url.encode()
        return urlsplit(url)[:2] == urlsplit(base)[:2]
    except ValueError:
        return False


def _target(url: str, location: str, base: str) -> str | None:
    """Return the URL that a redirect leads to, or None if that is not on the same host."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return None
    return target if _is_same_host(base, target) else None


def _redirect_request(request: HttpRequest, target: str) -> HttpRequest:
    """Return the request for ``target``, whose own query takes the place of the parameters.

    A key that the server repeats there goes back into the signature, since addresses are shown and stored.
    """
    address, mark, query = urldefrag(target).url.partition("?")
    others: list[str] = []
    keys: dict[str, str] = {}
    for part in query.split("&"):
        in_signature = [pair for pair in parse_qsl(part) if pair in request.signature.params.items()]
        keys.update(in_signature)
        others += [] if in_signature else [part]
    url = address + mark + "&".join(others) if others else address
    return request._replace(url=url, params={}, signature=request.signature._replace(params=keys))


def _retry_after(reply: HttpReply) -> float:
    """Return the seconds in ``Retry-After``, a number or a date (RFC 9110): at most a day, and 0 for none."""
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


def _final_failure(host: Host, reply: HttpReply) -> UpstreamError:
    # Rounded up, so that a wait of less than a second counts as one.
    seconds = math.ceil(_retry_after(reply))
    if reply.status == 429:
        return UpstreamError(
            Code.THROTTLED_WAIT if seconds else Code.THROTTLED, host=host.name, limit="HTTP 429", seconds=seconds
        )
    return UpstreamError(
        Code.HTTP_WAIT if seconds else Code.HTTP_STATUS, host=host.name, status=reply.status, seconds=seconds
    )
