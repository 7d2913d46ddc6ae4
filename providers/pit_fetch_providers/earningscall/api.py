"""EarningsCall's API: its host and key, its four replies, and what it may say instead of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pit_fetch.provider import Context, Credential, Host, HttpReply, Params, QueryKey, Rate, UpstreamError
from pit_fetch.times import parse_http_date

# No limit is documented; the source's own library waits after a 429.
HOST = Host(
    "EarningsCall",
    "https://v2.api.earningscall.biz",
    "PIT_FETCH_EARNINGSCALL_URL",
    Rate(calls=5),
    QueryKey("key", "apikey"),
)
KEY = Credential(
    name="key",
    variables=("ECALL_API_KEY", "EARNINGSCALL_API_KEY"),
    hint="The key demo serves AAPL and MSFT; others come from https://earningscall.biz/api-pricing.",
)
SYMBOLS_KEPT_SECONDS = 86_400.0
# The list for the key demo has two companies: it is not everybody's, and so it is not kept.
FEW_SYMBOLS = 100


def symbols(context: Context, find: Callable[[str], Sequence[str]]) -> Sequence[str]:
    """What ``find`` finds in today's list of symbols."""

    def text(reply: HttpReply) -> str:
        body = _checked(reply, "symbols")
        if body is None and reply.status == 404:  # a list of everybody's is never missing
            raise UpstreamError("moved", host=HOST.name, variable=HOST.url_variable)
        if body is None:
            raise UpstreamError("http_status", host=HOST.name, status=reply.status)
        if b"\t" not in body:
            raise UpstreamError("malformed", problem="it is not a list of symbols")
        return body.decode("utf-8", "replace")

    return find(
        context.http.get_cached(
            HOST.name, "/symbols-v2.txt", SYMBOLS_KEPT_SECONDS, text, lambda kept: kept.count("\n") > FEW_SYMBOLS
        )
    )


def events(context: Context, exchange: str, symbol: str) -> bytes | None:
    """The list of a company's calls; None if there is none. Raises UpstreamError, here and below."""
    return _get(context, "events", {"exchange": exchange, "symbol": symbol})


class Stored(NamedTuple):
    """A reply, and when what it serves was stored (its ``Last-Modified``): it has not changed since."""

    body: bytes
    at: datetime | None


def transcript(context: Context, call: Mapping[str, Any]) -> Stored | None:
    """The plain text of one call. Further levels name speakers, by today's list of them."""
    reply = context.http.get(HOST.name, "/transcript", {**_named(call), "level": "1"})
    body = _checked(reply, "transcript")
    return None if body is None else Stored(body, parse_http_date(reply.header("Last-Modified")))


def day(context: Context, text: str) -> bytes:
    """All calls of one day."""
    wanted = date.fromisoformat(text)
    asked = {"year": str(wanted.year), "month": str(wanted.month), "day": str(wanted.day)}
    return _get(context, "calendar", asked) or b"[]"


def address(what: str, call: Mapping[str, Any]) -> str:
    """Where the slides or the audio of a call are, without a key."""
    return f"{HOST.url}/{what}?{urlencode(_named(call))}"


def _named(call: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(call[name]) for name in ("exchange", "symbol", "year", "quarter")}


def _get(context: Context, what: str, asked: Params) -> bytes | None:
    return _checked(context.http.get(HOST.name, f"/{what}", asked), what)


def _checked(reply: HttpReply, what: str) -> bytes | None:
    """The body; None where there is no such thing, which is a 404, or a 403 that names no plan (recorded)."""
    if reply.status == 200:
        return reply.body
    if reply.status == 401:
        raise UpstreamError("credential_refused", host=HOST.name, variables=" or ".join(KEY.variables))
    if reply.status == 403 and reply.header("X-Plan-Name"):
        raise UpstreamError("not_entitled", host=HOST.name, operation=what)
    if reply.status in (403, 404):
        return None
    raise UpstreamError("http_status", host=HOST.name, status=reply.status)
