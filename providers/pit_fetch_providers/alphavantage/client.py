"""Send one request to Alpha Vantage, slowly when throttled, and read its messages."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Credential, Host, HttpReply, Params, Query, QueryKey, Rate
from pit_fetch_providers.alphavantage.function import Function
from pit_fetch_providers.alphavantage.reply import Document, decode
from pit_fetch_providers.shared import key_refused, refuse, status_error

HOST = Host(
    "Alpha Vantage",
    "https://www.alphavantage.co",
    "PIT_FETCH_ALPHAVANTAGE_URL",
    Rate(calls=1),
    QueryKey("key", "apikey"),
    free_calls=25,
)
KEY = Credential(
    name="key",
    variables=("ALPHAVANTAGE_API_KEY",),
    hint="A free key (25 requests a day) comes from https://www.alphavantage.co/support/#api-key.",
    public=("demo",),
)

# A throttled request is asked again after so many seconds: free keys have one request a second, old
# texts name a limit per minute.
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_PER_MINUTE = 15.0
# No text of the source's is longer than a few hundred characters; real rows are not searched for one.
MESSAGE_MAX_BYTES = 10_000

# Texts recorded, or quoted by clients and the documentation, between 2017 and 2026. The order matters: a throttle text
# names the premium plans and what they unlock, and one the daily limit beside the per-second one. A premium notice
# names plans by their requests per minute. No text is ever repeated: one echoes the key.
Meaning = Literal["refused", "throttled", "daily", "not_entitled", "no_function", "nothing", "bad_call", "unknown"]

_MARKS: tuple[tuple[Meaning, tuple[str, ...]], ...] = (
    ("refused", ("apikey is invalid", "invalid or missing", "demo** api key", "demo purposes", "invalid api key")),
    ("not_entitled", ("is a premium", "artificial", "entitle")),
    ("throttled", ("per second", "burst pattern", "spreading out", "sparingly", "call frequency", "call volume")),
    ("daily", ("per day", "daily rate limit", "daily limit")),
    ("throttled", ("rate limit",)),
    ("not_entitled", ("premium endpoint", "premium feature", "premium membership")),
    ("throttled", ("per minute",)),
    ("no_function", ("this api function",)),
    ("nothing", ("no articles found", "no data for", "no data found", "no data available")),
    ("bad_call", ("invalid api call", "invalid inputs")),
    # The key under which the source complains about a call, whatever its text.
    ("bad_call", ("error message:",)),
)


class DecodedReply(NamedTuple):
    """A reply's document and the instant of its receipt."""

    document: Document
    received_at: datetime


def ask(context: Context, function: Function, parameters: Params, query: Query) -> DecodedReply:
    """Return the decoded reply, without rows if the source has none. Raise UpstreamError and ConfigError."""
    reply = context.http.get(HOST.name, "/query", parameters, retry_after=lambda reply: pause(reply, function))
    if reply.status != 200:  # an unknown symbol comes with HTTP 200
        raise status_error(reply, HOST)
    document = decode(reply.body, function)
    check_message(document.message, function, query)
    return DecodedReply(document, reply.received_at)


def pause(reply: HttpReply, function: Function) -> float | None:
    if reply.status != 200 or len(reply.body) > MESSAGE_MAX_BYTES:
        return None
    try:
        message = decode(reply.body, function).message
    except UpstreamError:
        return None
    if not message or meaning(message) != "throttled":
        return None
    return PAUSE_SECONDS_PER_MINUTE if "per minute" in message else PAUSE_SECONDS


def check_message(message: str, function: Function, query: Query) -> None:
    """Raise the error that a message without rows stands for. Return if it only reports that there is no data.

    With a PIT a complaint about a well-formed call counts as no data: the answer must not reveal whether the source
    knows a symbol or a month today.
    """
    operation = function.operation
    match meaning(message) if message else "nothing":
        case "refused":
            raise key_refused(HOST, KEY)
        case "throttled":
            raise UpstreamError(Code.THROTTLED, host=HOST.name, limit="the key's limit per second or minute")
        case "daily":
            raise UpstreamError(Code.THROTTLED, host=HOST.name, limit="the key's daily limit")
        case "not_entitled":
            is_whole = not query.open_mode and "outputsize" in operation.takes
            whole = " with outputsize=full, which --pit needs," if is_whole else ""
            raise UpstreamError(Code.NOT_ENTITLED, host=HOST.name, operation=operation.name + whole)
        case "no_function":
            refuse(f"{HOST.name} no longer has the function {operation.name}.")
        case "bad_call" if query.may_report_today:
            raise UpstreamError(Code.BAD_CALL, host=HOST.name)
        case "unknown":
            raise UpstreamError(Code.MALFORMED, problem="it holds a message and no rows")
        case _:
            return


def meaning(message: str) -> Meaning:
    """Return the class of a message. An unknown text under "Error Message" is a complaint about the call."""
    text = message.casefold()
    return next((kind for kind, marks in _MARKS if any(mark in text for mark in marks)), "unknown")
