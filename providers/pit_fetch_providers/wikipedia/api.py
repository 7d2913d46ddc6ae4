"""Wikipedia's API (``/w/api.php``): its host, one for each language, its manners and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HeaderKey, Host, HttpReply, Rate, UpstreamError
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import CONTACT, error_document, key_refused, status_error

# API etiquette asks for one request after another. The limits since March 2026 are not published as figures.
HOST = Host(
    "Wikipedia",
    "https://{lang}.wikipedia.org",
    "PIT_FETCH_WIKIPEDIA_URL",
    Rate(5, 1, "wikipedia"),
    HeaderKey("contact", "User-Agent", "pit_fetch/{version} ({value})"),
)
_LAG_SECONDS = 5.0
# The depth of a revision in a reply: query, pages, a page, revisions, a revision. An unreadable one fails alone.
_ROWS = 5


def query(context: Context, params: Mapping[str, str]) -> dict[str, Any]:
    """Return the ``query`` of a reply; an empty one if there can be no such title. Raise UpstreamError."""
    asked = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5", **params}
    reply = context.http.get(HOST.name, "/w/api.php", asked, retry_after=_lag_seconds)
    if reply.status == 403:  # an HTML page, for an agent that it does not accept
        raise key_refused(HOST, CONTACT)
    if reply.status != 200:
        raise status_error(reply, HOST)
    document = lenient_json(reply.body, _ROWS)
    if not isinstance(document, dict):
        raise UpstreamError(Code.MALFORMED, problem="it is no JSON object")
    if "error" in document:  # with HTTP 200
        if _error_code(document["error"]) == "invalidtitle":
            return {"continue": None}
        raise upstream_error(document["error"])
    result = document.get("query")
    if not isinstance(result, dict):
        raise UpstreamError(Code.MALFORMED, problem="it has no query")
    return {**result, "continue": document.get("continue")}


def _lag_seconds(reply: HttpReply) -> float | None:
    """Return the seconds to wait for a copy of the database that lags: it may lack what was public."""
    if reply.status != 200 or not reply.body.startswith(b'{"error"'):
        return None
    return _LAG_SECONDS if _error_code(error_document(reply).get("error")) == "maxlag" else None


def _error_code(error: Any) -> Any:
    return error.get("code") if isinstance(error, dict) else None


def upstream_error(error: Any) -> UpstreamError:
    if _error_code(error) in ("maxlag", "ratelimited", "readonly"):
        return UpstreamError(Code.THROTTLED, host=HOST.name, limit="its servers are busy")
    return UpstreamError(Code.MALFORMED, problem="it is an error message")
