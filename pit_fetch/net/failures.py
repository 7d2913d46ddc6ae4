"""Turn an exception of requests into the fault that a user can act on. Loaded only once an exchange has failed."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from socket import gaierror

import requests  # noqa: TID253 - by the time this module loads, requests is loaded

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.transport import Fault, TransportError

_ANOTHER_NAME = "it is for another host name"
_UNKNOWN_ISSUER = (
    "this machine does not know who issued it; if there is a proxy in between, name its certificate file in "
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
# A ValueError is about an address that requests cannot parse. It is a proxy's, since ours was checked before.
_PROXY_ERRORS = (requests.exceptions.ProxyError, ValueError)
_KINDS: tuple[tuple[tuple[type[BaseException], ...], Fault], ...] = (
    ((gaierror,), "unresolved"),
    ((ConnectionRefusedError,), "refused"),
    ((ssl.SSLError, requests.exceptions.SSLError), "tls"),
)
# After these, another try may succeed.
_PASSING = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


def explain(error: OSError | ValueError, *, answered: bool = False) -> TransportError:
    """Return ``error`` as the fault of an exchange. ``answered``: it was raised while the body was being read.

    Raise ConfigError if a package for the proxy is missing.
    """
    if isinstance(error, requests.exceptions.InvalidSchema) and "SOCKS" in str(error):
        from pit_fetch.support.install import install_command

        package = "PySocks (HTTPS_PROXY or ALL_PROXY names a SOCKS proxy)"
        raise ConfigError(Code.DEPENDENCY_MISSING, package=package, command=install_command("PySocks"))
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            problem = _CERTIFICATE_PROBLEMS.get(cause.verify_code, f"OpenSSL error code {cause.verify_code}")
            return TransportError("certificate", problem)
        if type(cause).__name__ == "CertificateError":  # urllib3's, which has moved between its modules
            return TransportError("certificate", _ANOTHER_NAME)
    passing = isinstance(error, _PASSING)
    if any(isinstance(cause, HTTPException) and not isinstance(cause, RemoteDisconnected) for cause in causes):
        is_cut = any(isinstance(cause, IncompleteRead) for cause in causes)
        return TransportError("network", passing=True) if is_cut else _not_http(passing)
    if answered and isinstance(error, ValueError):  # a chunk of negative size
        return _not_http(passing)
    if isinstance(error, _PROXY_ERRORS) or any(type(cause).__module__ == "socks" for cause in causes):  # of PySocks
        return TransportError("proxy", passing=passing)
    reasons = [cause.reason for cause in causes if isinstance(cause, ssl.SSLError)]
    if not isinstance(error, requests.RequestException) or "NO_CERTIFICATE_OR_CRL_FOUND" in reasons:
        return TransportError("certificate_file", passing=passing)
    for kinds, fault in _KINDS:
        if any(isinstance(cause, kinds) for cause in causes):
            return TransportError(fault, passing=passing)
    return TransportError("network", passing=passing)


def _not_http(passing: bool) -> TransportError:
    return TransportError("malformed", "it is not valid HTTP", passing=passing)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(20):  # a chain may be circular
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
