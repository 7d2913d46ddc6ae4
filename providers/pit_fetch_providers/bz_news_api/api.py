"""Benzinga's API: its host and key, one page of articles, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Credential, Host, HttpReply, QueryKey, Rate, UpstreamError
from pit_fetch.wire import check_rows, lenient_json, strict_json
from pit_fetch_providers.bz_news_api import articles
from pit_fetch_providers.shared import key_refused, status_error

HOST = Host(
    "Benzinga", "https://api.benzinga.com", "PIT_FETCH_BENZINGA_URL", Rate(calls=50), QueryKey("token", "token")
)
TOKEN = Credential(
    name="token",
    variables=("BENZINGANEWS_API_KEY", "BENZINGA_API_KEY"),
    hint="Keys come from Benzinga's API console.",
)


def page(context: Context, parameters: Mapping[str, str]) -> list[Any]:
    """Return the articles of one page, as they are. Raise UpstreamError."""
    reply = context.http.get(HOST.name, "/api/v2/news", parameters, {"Accept": "application/json"})
    return rows(lenient_json(reply.body, 1)) if reply.status == 200 else _no_articles(reply)


def _no_articles(reply: HttpReply) -> list[Any]:
    """Return no articles if the reply reports that there are none. Raise UpstreamError for any other reply."""
    try:
        document = strict_json(reply.body)
    except UpstreamError:
        document = None
    if reply.status in (401, 403) or _is_access_denied(document):
        raise key_refused(HOST, TOKEN)
    if reply.status == 404 and (document == [] or _has_error(document, "no_data_found")):
        return []
    # Benzinga reports that there is nothing in one of these two ways, so another page is not Benzinga's.
    raise status_error(reply, HOST)


def rows(reply: Any) -> list[Any]:
    """Return the articles of a decoded reply, None for an unreadable one. Raise UpstreamError for a message."""
    if _is_access_denied(reply):
        raise key_refused(HOST, TOKEN)
    if not isinstance(reply, list):
        raise UpstreamError(Code.MALFORMED, problem="it is not an array of articles")
    if len(reply) == 1 and isinstance(reply[0], str):
        raise UpstreamError(Code.MALFORMED, problem="it holds a message instead of articles")
    check_rows(reply, articles.CREATED, articles.UPDATED)
    return reply


def _is_access_denied(reply: Any) -> bool:
    if isinstance(reply, list):
        return len(reply) == 1 and str(reply[0]).startswith("Access denied")
    return _has_error(reply, "auth_failed")


def _has_error(reply: Any, code: str) -> bool:
    errors = reply.get("errors") if isinstance(reply, dict) else None
    return isinstance(errors, list) and any(isinstance(error, dict) and error.get("code") == code for error in errors)
