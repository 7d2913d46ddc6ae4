"""One question to Alpha Vantage and what it says: asked slowly when throttled, and once more when empty."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.provider import Context, Credential, Host, HttpReply, Params, Query, QueryKey, Rate
from pit_fetch_providers.alphavantage.function import Function
from pit_fetch_providers.alphavantage.messages import meaning
from pit_fetch_providers.alphavantage.reply import Document, decode

HOST = Host(
    "Alpha Vantage",
    "https://www.alphavantage.co",
    "PIT_FETCH_ALPHAVANTAGE_URL",
    Rate(calls=1),
    QueryKey("key", "apikey"),
)
KEY = Credential(
    name="key",
    variables=("ALPHAVANTAGE_API_KEY",),
    hint="A free key (25 requests a day) comes from https://www.alphavantage.co/support/#api-key.",
)

# A throttled request is asked again after so many seconds: free keys have one request a second, old
# texts name a limit per minute.
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_PER_MINUTE = 15.0
# No text of the source's is longer than a few hundred characters; real rows are not searched for one.
MESSAGE_MAX_BYTES = 10_000


class Said(NamedTuple):
    document: Document
    received: datetime
    gap: Gap | None = None


def ask(context: Context, function: Function, parameters: Params, query: Query) -> Said:
    """The reply's rows; none when the source knows none. Raises UpstreamError and ConfigError.

    Under load the source sends well-formed empty replies for symbols that it knows (108 of 796 at 70
    requests a minute), so an empty one is asked for once more. Where it says that there is nothing,
    it is believed.
    """
    said = _once(context, function, parameters, query)
    if _is_believed(said.document):
        return said
    try:
        again = _once(context, function, parameters, query)
    except UpstreamError as error:
        if error.is_deadline:  # no time, or no turn, for a second one: whether there is one must not show
            return said
        raise
    is_in_doubt = query.open_mode and not _is_believed(again.document)
    return again._replace(gap=gap("empty_twice", host=HOST.name)) if is_in_doubt else again


def _is_believed(document: Document) -> bool:
    return bool(document.rows or document.message)


def _once(context: Context, function: Function, parameters: Params, query: Query) -> Said:
    reply = context.http.get(HOST.name, "/query", parameters, retry_after=lambda got: _pause(got, function))
    if reply.status == 404:  # what the source does not know, it says with HTTP 200
        raise UpstreamError("moved", host=HOST.name, variable=HOST.url_variable)
    if reply.status != 200:
        raise UpstreamError("http_status", host=HOST.name, status=reply.status)
    document = decode(reply.body, function)
    check_message(document.message, function, query)
    return Said(document, reply.received_at)


def _pause(reply: HttpReply, function: Function) -> float | None:
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
    """Raises what a message in place of rows means; returns where it means that there is nothing.

    Under a PIT a complaint about a well-formed call means nothing more: whether the source knows a
    symbol or a month today is not to be told.
    """
    operation = function.operation
    match meaning(message) if message else "nothing":
        case "refused":
            raise UpstreamError("credential_refused", host=HOST.name, variables=KEY.variables[0])
        case "throttled":
            raise UpstreamError("throttled", host=HOST.name, limit="the key's limit per second or minute")
        case "daily":
            raise UpstreamError("throttled", host=HOST.name, limit="the key's daily limit")
        case "not_entitled":
            is_whole = not query.open_mode and "outputsize" in operation.takes
            whole = " with outputsize=full, which --pit needs," if is_whole else ""
            raise UpstreamError("not_entitled", host=HOST.name, operation=operation.name + whole)
        case "no_function":
            raise ConfigError("usage", text=f"{HOST.name} no longer has the function {operation.name}.")
        case "bad_call" if query.open_mode:
            raise UpstreamError("bad_call", host=HOST.name)
        case "unknown":
            raise UpstreamError("malformed", problem="it holds a message and no rows")
        case _:
            return
