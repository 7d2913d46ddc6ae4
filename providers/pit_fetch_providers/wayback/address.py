"""Read addresses as people write them, as the index matches them, and as a page links to others. Pure.

>>> parse("https://WWW.Example.com:443/News?utm_source=x&id=3#top"), key("http://example.com/news/")
('www.example.com/News?id=3', 'example.com/news')
>>> resolve_link("https://example.com/a/b", "../c#top"), resolve_link("https://example.com/", "mailto:a@b.example")
('https://example.com/c', None)
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code

# Parameters that track a click. The page is the same without them, and was seldom archived with them.
_TRACKING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|gclsrc|gbraid|wbraid|dclid|msclkid|yclid|twclid|ttclid|igshid|igsh|mc_cid|mc_eid|_ga|_gl"
    r"|mkt_tok|ref_src|vero_id|oly_\w+_id|s_cid|cmpid|soc_src|soc_trk|guccounter|guce_referrer(?:_sig)?)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)
_SCHEME = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?//|(mailto|data|javascript|tel|about):", re.IGNORECASE)
_WWW = re.compile(r"www\d*\.")
_HOST = re.compile(r"(?=.{1,253}(?::\d+)?$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?::\d{1,5})?")
_USUAL_PORTS = ("", "80", "443")
# What a path and a query may hold as they are (RFC 3986), and "%", since the rest is spelled with it.
_KEPT = "/:@!$&'()*+,;=~-._%"
_ARCHIVE = re.compile(r"(?:www\.)?(?:web\.archive\.org/|(?:wayback\.)?archive\.org/web/[\d*])")


def parse(text: str) -> str:
    """Return an address in its one spelling: without scheme, fragment, usual port and parameters that track clicks.

    Raise UsageError for anything that is not the address of a page on the web.
    """
    parts = _split(text.strip())
    if "*" in (parts.netloc + parts.path)[:1] or parts.path.endswith("*"):
        _refuse("url has no *: use match=prefix for all below an address, or match=host for all of a host")
    host = _host(parts)
    if not _HOST.fullmatch(host):
        _refuse("url is the address of a page on the web, e.g. www.example.com/news")
    if _ARCHIVE.match(f"{host}{parts.path}/"):
        _refuse("url is the address of the page itself: leave out https://web.archive.org/web/…/ (--pit chooses)")
    query = "&".join(part for part in parts.query.split("&") if not _TRACKING.fullmatch(part))
    return host + quote(parts.path or "/", _KEPT) + (f"?{quote(query, _KEPT + '/?')}" if query else "")


def _split(text: str) -> SplitResult:
    match = _SCHEME.match(text)
    scheme = (match[1] or match[2] or "http").lower() if match else "http"
    if scheme not in ("http", "https"):
        _refuse("url is the address of a page on the web (http or https)")
    try:
        parts = urlsplit(f"{scheme}://{text[match.end() :] if match else text}")
        _ = parts.port
    except ValueError:
        _refuse("url is not an address that can be read")
    if match is None and "@" in parts.netloc:
        _refuse("url is the address of a page, not of mail")
    if "\\" in parts.netloc:  # what is before it is the host in browsers, and what is behind it in libraries
        _refuse("url is not an address that can be read: write / for \\")
    return parts


def _host(parts: SplitResult) -> str:
    """Return host and port in small letters, as the network spells them."""
    name, _, port = parts.netloc.rpartition("@")[2].lower().partition(":")
    port = port.lstrip("0")
    try:
        name = name.rstrip(".") if name.isascii() else name.rstrip(".").encode("idna").decode()
    except UnicodeError:
        return ""
    return name if port in _USUAL_PORTS else f"{name}:{port}"


def key(url: str) -> str:
    """Return what is common to the addresses that the index takes for one: scheme, www, case and order do not count."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    query = "&".join(sorted(parts.query.lower().split("&")))
    path = unquote(parts.path).lower().rstrip("/")
    return _WWW.sub("", _host(parts), count=1) + path + (f"?{query}" if query else "")


def host_key(url: str) -> str:
    """Return the host of an address as the index matches it: without www and a usual port."""
    return _WWW.sub("", _host(urlsplit(url if "://" in url else f"http://{url}")), count=1)


def is_web(url: str) -> bool:
    """Return whether an address is that of a page: the index also holds mail and data."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    is_page = parts.scheme in ("http", "https") and "@" not in parts.netloc and "#" not in url and url.isprintable()
    return is_page and bool(_HOST.fullmatch(_host(parts)))


def resolve_link(url: str, link: str) -> str | None:
    """Return the address that ``link`` on the page ``url`` leads to, without its fragment; None if it is not a page."""
    if not link.strip().partition("#")[0]:
        return None
    try:
        target = urljoin(url, link.strip()).partition("#")[0]
    except ValueError:
        return None
    return target if is_web(target) else None


def _refuse(text: str) -> None:
    raise UsageError(Code.USAGE, text=f"{text}.")
