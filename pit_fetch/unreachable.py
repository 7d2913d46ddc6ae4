"""Why an exchange failed, told from the exception that requests raised; in words and numbers of our own.

Loaded when something failed, never before.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from socket import gaierror
from typing import Any
from urllib.parse import urlsplit

import requests  # noqa: TID253 - nothing loads this module before requests is

from pit_fetch.errors import UpstreamError
from pit_fetch.provider import Host

_ANOTHER_NAME = "it is for another host name"
_UNKNOWN_ISSUER = (
    "this machine does not know who issued it; if a proxy stands between, name its certificate file in "
    "REQUESTS_CA_BUNDLE"
)
_SELF_SIGNED = "it is self-signed; if it is your proxy's, name its certificate file in REQUESTS_CA_BUNDLE"
# OpenSSL's X509_V_ERR_ codes (openssl/x509_vfy.h).
_CERTIFICATE_PROBLEMS = {
    2: _UNKNOWN_ISSUER,
    9: "it is not valid yet, or this machine's clock is slow",
    10: "it has expired, or this machine's clock is fast",
    18: _SELF_SIGNED,
    19: _SELF_SIGNED,
    20: _UNKNOWN_ISSUER,
    21: _UNKNOWN_ISSUER,
    62: _ANOTHER_NAME,
    64: _ANOTHER_NAME,
}
# What makes no sense to requests (a ValueError) is a proxy's address: our own was looked at before.
_PROXY_ERRORS = (requests.exceptions.ProxyError, ValueError)
_KINDS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((gaierror,), "unresolved"),
    ((ConnectionRefusedError,), "refused"),
    ((ssl.SSLError, requests.exceptions.SSLError), "tls"),
)


def explain(error: OSError | ValueError, host: Host, base: str) -> UpstreamError:
    """The error that names what to look at, for what requests raised at ``base``."""
    name = urlsplit(base).netloc
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            problem = _CERTIFICATE_PROBLEMS.get(cause.verify_code, f"OpenSSL's code {cause.verify_code}")
            return UpstreamError("certificate", host=host.name, name=name, problem=problem)
        if type(cause).__name__ == "CertificateError":  # urllib3's, which has moved between its modules
            return UpstreamError("certificate", host=host.name, name=name, problem=_ANOTHER_NAME)
    if isinstance(error, requests.exceptions.ContentDecodingError):
        return UpstreamError("malformed", problem="its compression is broken")
    if isinstance(error, _PROXY_ERRORS):
        return UpstreamError("proxy", host=host.name, name=urlsplit(base).hostname)
    if not isinstance(error, requests.RequestException) or _has(causes, "NO_CERTIFICATE_OR_CRL_FOUND"):
        return UpstreamError("certificate_file", host=host.name)
    for kinds, code in _KINDS:
        if any(isinstance(cause, kinds) for cause in causes):
            return UpstreamError(code, host=host.name, name=name, variable=host.override)
    return UpstreamError("network", host=host.name)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and those that it came from."""
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _has(causes: list[BaseException], reason: str) -> bool:
    return any(_reason(cause) == reason for cause in causes)


def _reason(cause: Any) -> Any:
    return cause.reason if isinstance(cause, ssl.SSLError) else None
