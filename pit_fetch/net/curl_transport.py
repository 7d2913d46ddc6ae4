"""One exchange as a browser makes it, by curl_cffi: for hosts that refuse other clients by their TLS handshake.

Loaded only for such a host. Cookies are the provider's business: none are stored here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from curl_cffi import CurlOpt  # noqa: TID253 - this module is loaded where it is needed
from curl_cffi.const import CurlECode  # noqa: TID253
from curl_cffi.requests import Session, exceptions  # noqa: TID253

from pit_fetch.transport import MAX_BODY_BYTES, Fault, HttpReply, HttpRequest, TransportError

# The newest Chrome that the installed curl_cffi knows.
IMPERSONATED = "chrome"
_STOP = 0xFFFFFFFF  # CURL_WRITEFUNC_ERROR

_NOT_VERIFIED = "this machine cannot verify it; is there a proxy in between?"
_FAULTS: tuple[tuple[type[Exception], Fault], ...] = (
    (exceptions.DNSError, "unresolved"),
    (exceptions.ProxyError, "proxy"),
    (exceptions.CertificateVerifyError, "certificate"),
    (exceptions.SSLError, "tls"),
    (exceptions.Timeout, "timeout"),
    (exceptions.InvalidURL, "unsendable"),
)
# After these, another try may succeed.
_PASSING = (exceptions.ConnectionError, exceptions.Timeout, exceptions.IncompleteRead, exceptions.ChunkedEncodingError)


def exchange(
    request: HttpRequest, now: Callable[[], datetime], *, connect_seconds: float, is_loopback: bool
) -> HttpReply:
    """Return the complete reply. Follow no redirect. Raise TransportError if there is no reply."""
    # A proxy of the environment is not meant for this machine itself.
    options = {CurlOpt.NOPROXY: "*"} if is_loopback else {}
    # As curl hands it over, decompressed: the standard library knows none of a browser's newer forms. A compressed
    # stream that breaks off in a complete body goes unnoticed here. The provider's reader refuses it.
    body = bytearray()

    def take(chunk: bytes) -> int:
        """Return the number of bytes taken. Any other than the chunk's length ends the exchange."""
        body.extend(chunk)
        return len(chunk) if len(body) <= MAX_BODY_BYTES else _STOP

    try:
        with Session(discard_cookies=True, curl_options=options) as session:
            response = session.request(
                request.method,
                request.url,
                params=dict(request.query),
                headers=dict(request.sent_headers),
                data=request.body,
                timeout=(min(connect_seconds, request.timeout), request.timeout),
                allow_redirects=False,
                impersonate=IMPERSONATED,
                http_version=None if request.url.startswith("https:") else "v1",  # no browser tries HTTP/2 without TLS
                content_callback=take,
            )
    except exceptions.RequestException as error:
        is_full = len(body) > MAX_BODY_BYTES
        is_proxied = not is_loopback and _is_proxied(request.url)
        raise TransportError("too_large") if is_full else _explained(error, is_proxied) from None
    return HttpReply(response.status_code, dict(response.headers), bytes(body), now())


def _is_proxied(url: str) -> bool:
    """Return whether the environment names a proxy for ``url``."""
    parts, proxies = urlsplit(url), getproxies()
    return bool(proxies.get(parts.scheme) or proxies.get("all")) and not proxy_bypass(parts.hostname or "")


def _explained(error: exceptions.RequestException, is_proxied: bool) -> TransportError:
    passing = isinstance(error, _PASSING)
    if error.code == CurlECode.COULDNT_CONNECT:  # to the proxy, if there is one
        return TransportError("proxy" if is_proxied else "refused", passing=passing)
    fault: Fault = next((fault for kind, fault in _FAULTS if isinstance(error, kind)), "network")
    return TransportError(fault, _NOT_VERIFIED if fault == "certificate" else "", passing=passing)
