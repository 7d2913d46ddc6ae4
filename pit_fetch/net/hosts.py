"""The addresses of hosts: the declared ones, or those that the environment has in their place."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.provider import Host


def base_url(host: Host, environ: Mapping[str, str]) -> str:
    """Return the scheme and host of ``host``, from its variable if that is set.

    Raise ConfigError for any scheme but https, unless the host is loopback, and for a URL with more than these parts.
    """
    url = environ.get(host.url_variable) or host.url
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise bad_address(host) from None
    is_plain = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    is_secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not (is_plain and is_secure and parts.hostname):
        raise bad_address(host)
    return f"{parts.scheme}://{parts.netloc}"


def bad_address(host: Host) -> ConfigError:
    """Return the refusal of the address that the environment has for a host."""
    return ConfigError(Code.URL_MALFORMED, variable=host.url_variable)


def is_loopback(hostname: str) -> bool:
    """Return whether a host is this machine."""
    if hostname == "localhost":
        return True
    from ipaddress import ip_address

    try:
        return ip_address(hostname).is_loopback
    except ValueError:
        return False
