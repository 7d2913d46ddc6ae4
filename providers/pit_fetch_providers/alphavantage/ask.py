"""One question to Alpha Vantage and its answer: asked slowly when throttled, and once more when empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.provider import Context, Query, Reply
from pit_fetch_providers.alphavantage.function import Function
from pit_fetch_providers.alphavantage.messages import meaning
from pit_fetch_providers.alphavantage.reply import Document, decode

HOST = "Alpha Vantage"
KEY_VARIABLE = "ALPHAVANTAGE_API_KEY"

# A throttled request is asked again after so many seconds: free keys have one request a second, old
# texts name a limit per minute.
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_PER_MINUTE = 15.0
# No text of the source's is longer than a few hundred characters; real rows are not searched for one.
MESSAGE_MAX_BYTES = 10_000


class Answer(NamedTuple):
    document: Document
    received: datetime
    gap: Gap | None = None


def ask(context: Context, function: Function, parameters: Mapping[str, str | Sequence[str]], query: Query) -> Answer:
    """The answer's rows; none when the source knows none. Raises UpstreamError and ConfigError.

    Under load the source sends well-formed empty replies for symbols that it knows (108 of 796 at 70
    requests a minute), so an empty one is asked for once more. Where it says that there is nothing,
    it is believed.
    """
    answer, said = _once(context, function, parameters, query)
    if answer.document.rows or said:
        return answer
    again, said = _once(context, function, parameters, query)
    if again.document.rows or said or query.pit is not None:
        return again
    return again._replace(gap=gap("empty_twice", host=HOST))


def _once(
    context: Context, function: Function, parameters: Mapping[str, str | Sequence[str]], query: Query
) -> tuple[Answer, bool]:
    """An answer, and whether the source said in words that there is nothing."""
    reply = context.http.get(
        HOST, "/query", {**parameters, "apikey": context.credentials["key"]}, busy=lambda got: _pause(got, function)
    )
    if reply.status != 200:  # a 404 as well: what the source does not know it says with HTTP 200
        raise UpstreamError("http_status", host=HOST, status=reply.status)
    document = decode(reply.body, function)
    if document.message:
        check_message(document.message, function, query)
    return Answer(document, reply.received_at), bool(document.message)


def _pause(reply: Reply, function: Function) -> float | None:
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
    match meaning(message):
        case "refused":
            raise UpstreamError("credential_refused", host=HOST, variables=KEY_VARIABLE)
        case "throttled":
            raise UpstreamError("throttled", host=HOST, limit="the key's limit per second or minute")
        case "daily":
            raise UpstreamError("throttled", host=HOST, limit="the key's daily limit")
        case "not_entitled":
            whole = " with outputsize=full, which --pit needs," if query.pit and "outputsize" in function.takes else ""
            raise UpstreamError("not_entitled", host=HOST, operation=function.name + whole)
        case "no_function":
            raise ConfigError("operation", text=f"{HOST} no longer has the function {function.name}.")
        case "bad_call" if query.pit is None:
            raise UpstreamError("bad_call", host=HOST)
        case "unknown":
            raise UpstreamError("malformed", problem="it holds a message and no rows")
        case _:
            return
