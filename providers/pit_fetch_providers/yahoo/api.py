"""Yahoo's hosts: their endpoints, the cookie and the crumb, and their errors.

No interface of Yahoo's is documented. The requests are those of its own pages (as in yfinance), and a reply that is
not one of the known ones is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Host, HttpReply, Rate, UpstreamError
from pit_fetch_providers.shared import error_document, status_error

# No limit is documented. All three count together, as Yahoo counts by address.
_RATE = Rate(calls=2, seconds=1, bucket="yahoo")
QUERY = Host("Yahoo Finance", "https://query2.finance.yahoo.com", "PIT_FETCH_YAHOO_URL", _RATE, browser=True)
WEB = Host("Yahoo Finance's pages", "https://finance.yahoo.com", "PIT_FETCH_YAHOO_WEB_URL", _RATE, browser=True)
COOKIES = Host("Yahoo's cookie host", "https://fc.yahoo.com", "PIT_FETCH_YAHOO_COOKIE_URL", _RATE, browser=True)

# Rows of one page of the earnings calendar; Yahoo sends no more at once (yfinance: "Yahoo caps limit at 100").
PAGE_ROWS = 100
# How many articles are asked for. Recorded: 50 were asked for, and 50 came. No cap is documented.
ARTICLES = 100

# The tabs of a company's news page, and what they ask for.
TABS: Mapping[str, str] = {"news": "latestNews", "all": "newsAll", "press-releases": "pressRelease"}

_COOKIE = re.compile(r"(?:^|,)\s*([A-Za-z0-9_]+)=([^;,\s]*)\s*;")
# Recorded: eleven letters and digits. The text of a refusal has spaces or tags.
_CRUMB = re.compile(r"[!-;=?-~]{1,64}")


class Key(NamedTuple):
    """The proof for Yahoo that its pages were visited: a cookie, and a word that goes with it."""

    cookie: str = ""
    crumb: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": self.cookie} if self.cookie else {}

    @property
    def params(self) -> dict[str, str]:
        return {"crumb": self.crumb} if self.crumb else {}


def chart(context: Context, symbol: str, params: Mapping[str, str]) -> HttpReply | None:
    """Return the chart of ``symbol``; None if there is none. Raise UpstreamError, here and below."""

    def ask(key: Key) -> HttpReply:
        path = f"/v8/finance/chart/{quote(symbol, safe='')}"
        return context.http.get(QUERY.name, path, {**params, **key.params}, key.headers)

    return _checked(_ask_with_cookie(context, ask, Key()), QUERY)


def summary(context: Context, symbol: str, modules: str) -> HttpReply | None:
    """Return modules of a company's summary; None if there is none. It is never answered without a crumb."""
    key = _fetch_crumb(context, _cookie(context))
    path = f"/v10/finance/quoteSummary/{quote(symbol, safe='')}"
    params = {"modules": modules, "formatted": "false", **key.params}
    return _checked(context.http.get(QUERY.name, path, params, key.headers), QUERY)


def news(context: Context, symbol: str, tab: str) -> HttpReply:
    """Return the newest articles about ``symbol``."""
    body = {"serviceConfig": {"snippetCount": ARTICLES, "s": [symbol]}}

    def ask(key: Key) -> HttpReply:
        params = {"queryRef": TABS[tab], "serviceKey": "ncp_fin", **key.params}
        return context.http.post(WEB.name, "/xhr/ncp", body, params, key.headers, repeatable=True)

    return _page(_ask_with_cookie(context, ask, _cookie(context)))


def earnings(context: Context, symbol: str) -> Callable[[int], HttpReply]:
    """Return a reader of the earnings calendar of ``symbol``, by the number of the first row."""
    key = _cookie(context)

    def page(offset: int) -> HttpReply:
        def ask(key: Key) -> HttpReply:
            params = {"symbol": symbol, "offset": str(offset), "size": str(PAGE_ROWS), **key.params}
            return context.http.get(WEB.name, "/calendar/earnings", params, key.headers)

        return _page(_ask_with_cookie(context, ask, key))

    return page


def _ask_with_cookie(context: Context, ask: Callable[[Key], HttpReply], key: Key) -> HttpReply:
    """Return the reply. If Yahoo refuses at first, send the request once more with cookie and crumb."""
    reply = ask(key)
    if reply.status not in (401, 403):
        return reply
    return ask(_fetch_crumb(context, key if key.cookie else _cookie(context)))


def _cookie(context: Context) -> Key:
    """Return the cookie of this host, which answers 404 and sets it all the same."""
    header = context.http.get(COOKIES.name, "/").header("Set-Cookie")
    return Key("; ".join(f"{name}={value}" for name, value in _COOKIE.findall(header)))


def _fetch_crumb(context: Context, key: Key) -> Key:
    reply = context.http.get(QUERY.name, "/v1/test/getcrumb", headers=key.headers)
    text = reply.body.decode("ascii", "replace").strip()
    if reply.status != 200:
        raise UpstreamError(Code.HTTP_STATUS, host=QUERY.name, status=reply.status)
    if not _CRUMB.fullmatch(text):
        raise UpstreamError(Code.MALFORMED, problem="it is not a crumb, which the next request needs")
    return key._replace(crumb=text)


def _checked(reply: HttpReply, host: Host) -> HttpReply | None:
    """Return the reply; None where there is nothing of the kind, which Yahoo states in the error."""
    if reply.status == 200:
        return reply
    code, description = _complaint(reply)
    if reply.status == 404 and code == "Not Found":
        return None
    if reply.status == 400 and description.startswith("Data doesn't exist for startDate"):
        return None
    raise status_error(reply, host)


def _page(reply: HttpReply) -> HttpReply:
    if reply.status != 200:
        raise status_error(reply, WEB)
    return reply


def _complaint(reply: HttpReply) -> tuple[str, str]:
    for part in error_document(reply).values():
        error = part.get("error") if isinstance(part, dict) else None
        if isinstance(error, dict):
            return str(error.get("code")), str(error.get("description"))
    return "", ""


def object_in(value: Any, name: str) -> Mapping[str, Any]:
    """Return ``value``, the ``name`` of a reply, if it is an object. Raise UpstreamError, here and below."""
    if not isinstance(value, dict):
        raise UpstreamError(Code.MALFORMED, problem=f"it has no {name}")
    return value


def only_object(value: Any, name: str) -> Mapping[str, Any]:
    """Return the object in a list of one."""
    if not isinstance(value, list) or len(value) != 1:
        raise UpstreamError(Code.MALFORMED, problem=f"it has no single {name}")
    return object_in(value[0], name)
