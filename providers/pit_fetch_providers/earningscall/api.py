"""EarningsCall's API: its host and key, its four replies, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Credential, Host, HttpReply, Params, QueryKey, Rate, UpstreamError
from pit_fetch.times import parse_http_date
from pit_fetch_providers.shared import key_refused, status_error

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
    public=("demo",),
)
SYMBOLS_KEPT_SECONDS = 86_400.0
# The list for the key demo has two companies: it is not the list of other keys, so it is not kept.
FEW_SYMBOLS = 100
# The transcript that never comes may be one that was not public.
_PATIENCE = 0.25
# The list names an exchange by its place here (the order of the source's own library).
EXCHANGES = ("NYSE", "NASDAQ", "AMEX", "TSX", "TSXV", "OTC", "LSE", "CBOE", "STO")


def exchanges_of(context: Context, symbol: str) -> list[str]:
    """Return the exchanges that list ``symbol`` in today's list of symbols."""

    def text(reply: HttpReply) -> str:
        body = _checked(reply, "symbols")
        if body is None:  # the list of all symbols is never missing
            raise status_error(reply, HOST)
        if b"\t" not in body:
            raise UpstreamError(Code.MALFORMED, problem="it is not a list of symbols")
        return body.decode("utf-8", "replace")

    def is_whole(listed: str) -> bool:
        return listed.count("\n") > FEW_SYMBOLS

    listed = context.http.get_cached(HOST.name, "/symbols-v2.txt", SYMBOLS_KEPT_SECONDS, text, is_whole)
    # A row is tab-separated: the exchange's place, the symbol, a name, …
    rows = (line.split("\t") for line in listed.splitlines())
    places = {int(row[0]) for row in rows if len(row) > 1 and row[1].upper() == symbol and row[0].isdecimal()}
    return [name for place, name in enumerate(EXCHANGES) if place in places]


def events(context: Context, exchange: str, symbol: str) -> bytes | None:
    """Return the list of a company's calls; None if there is none. Raise UpstreamError, here and below."""
    return _get(context, "events", {"exchange": exchange, "symbol": symbol})


class Stored(NamedTuple):
    """A reply, and when its content was stored (its ``Last-Modified``): it has not changed since."""

    body: bytes
    at: datetime | None


def transcript(context: Context, call: Mapping[str, Any]) -> Stored | None:
    """Return the plain text of one call. Further levels name speakers, by today's list of them."""
    reply = context.http.get(HOST.name, "/transcript", {**_named(call), "level": "1"}, patience=_PATIENCE)
    body = _checked(reply, "transcript")
    return None if body is None else Stored(body, parse_http_date(reply.header("Last-Modified")))


def day(context: Context, text: str) -> bytes:
    """Return all calls of one day."""
    wanted = date.fromisoformat(text)
    params = {"year": str(wanted.year), "month": str(wanted.month), "day": str(wanted.day)}
    return _get(context, "calendar", params) or b"[]"


def address(endpoint: str, call: Mapping[str, Any]) -> str:
    """Return the address of the slides or the audio of a call, without a key."""
    return f"{HOST.url}/{endpoint}?{urlencode(_named(call))}"


def _named(call: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(call[name]) for name in ("exchange", "symbol", "year", "quarter")}


def _get(context: Context, endpoint: str, params: Params) -> bytes | None:
    return _checked(context.http.get(HOST.name, f"/{endpoint}", params), endpoint)


def _checked(reply: HttpReply, endpoint: str) -> bytes | None:
    """Return the body; None where there is no such object, which is a 404, or a 403 that names no plan (recorded)."""
    if reply.status == 200:
        return reply.body
    if reply.status == 401:
        raise key_refused(HOST, KEY)
    if reply.status == 403 and reply.header("X-Plan-Name"):
        raise UpstreamError(Code.NOT_ENTITLED, host=HOST.name, operation=endpoint)
    if reply.status in (403, 404):
        return None
    raise status_error(reply, HOST)
