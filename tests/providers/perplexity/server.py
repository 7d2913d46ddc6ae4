"""Perplexity's ``POST /search`` and ``POST /v1/agent``: keys, filters, the most results, and its errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

KEY = "pplx-0123456789abcdef"
VARIABLES = {"PERPLEXITY_API_KEY": KEY}
Page = dict[str, Any]

_FILTERS = {
    *("search_domain_filter", "search_recency_filter", "search_after_date_filter", "search_before_date_filter"),
    *("last_updated_after_filter", "last_updated_before_filter"),
}
_SEARCH = _FILTERS | {"query", "max_results", "search_mode"}
# What it says in place of results, as recorded.
BAD_KEY = {
    "message": "Invalid API key provided. Ensure your API key is correct and active.",
    "type": "invalid_api_key",
    "code": 401,
}
RETIRED = {
    "message": "Sonar is now the Agent API. Use /v1/responses instead of /v1/sonar.",
    "type": "chat_completions_not_available",
    "code": 403,
}


def page(name: str, date: Any = "2024-02-01", last_updated: Any = ..., **changes: Any) -> Page:
    """Return a result in the shape of the wire, by default last updated on its date."""
    last_updated = date if last_updated is ... else last_updated
    made = {"title": f"Title {name}", "url": f"https://www.example.com/{name}", "snippet": f"Text of {name}"}
    return {**made, "date": date, "last_updated": last_updated, **changes}


def error(details: Mapping[str, Any], status: int) -> Response:
    return as_json({"error": dict(details)}, status)


def search_reply(pages: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a reply of the Search API."""
    return {"id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77", "results": list(pages), **more}


def agent_reply(pages: Sequence[Any], cited: Sequence[str], text: str = "An answer.", **more: Any) -> dict[str, Any]:
    """Return a reply of the Agent API: the pages of its search, and a text that cites some of them."""
    notes = [{"type": "url_citation", "url": url, "title": "", "start_index": 0, "end_index": 2} for url in cited]
    part = {"type": "output_text", "text": text, "annotations": notes}
    message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    output = [{"type": "search_results", "queries": ["x"], "results": list(pages)}, {**message, "id": "msg"}]
    return {"id": "resp", "object": "response", "model": "m", "status": "completed", "output": output, **more}


def app(
    pages: Sequence[Any],
    key: str = KEY,
    *,
    careless: bool = False,
    nested: bool = False,
    cited: Sequence[str] | None = None,
    text: str = "An answer.",
) -> App:
    """Return the server of ``pages``. ``careless``: it ignores dates and the number of results that are asked for.

    ``nested``: results of several queries come in lists of their own. ``cited``: the citations of an answer; default:
    all.
    """

    def reply(request: HttpRequest) -> Response:
        if request.header("Authorization") != f"Bearer {key}":
            return error({**BAD_KEY, "message": f"{BAD_KEY['message']} {request.header('Authorization')}"}, 401)
        fields = json.loads(request.body or b"{}")
        if request.path == "/search":
            if not fields.keys() <= _SEARCH or not 1 <= fields.get("max_results", 10) <= 20:
                return error({"message": "invalid", "type": "bad_request", "code": 400}, 400)
            served = [page for page in pages if careless or passes(page, fields)]
            served = served if careless else served[: fields.get("max_results", 10)]
            return _raw(search_reply([served[:1], served[1:]] if nested else served))
        if request.path == "/v1/agent":
            if not fields.keys() <= {"preset", "input", "tools"} or not isinstance(fields.get("input"), str):
                return error({"message": "unknown field", "type": "invalid_request", "code": 400}, 400)
            filters: Mapping[str, Any] = next((tool.get("filters", {}) for tool in fields.get("tools", ())), {})
            if not filters.keys() <= _FILTERS:
                return error({"message": "unknown field", "type": "invalid_request", "code": 400}, 400)
            served = [page for page in pages if careless or passes(page, filters)]
            urls = [page["url"] for page in served if isinstance(page, dict) and isinstance(page.get("url"), str)]
            return _raw(agent_reply(served, urls if cited is None else cited, text))
        if request.path == "/chat/completions":
            return error(RETIRED, 403)
        return Response(b"Not Found", 404)

    return reply


def _raw(document: Any) -> Response:
    return Response(body_of(document), 200, {"Content-Type": "application/json"})


def passes(page: Any, filters: Mapping[str, Any]) -> bool:
    page = {name: value for name, value in page.items() if _is_day(value)} if isinstance(page, dict) else {}
    before, after = filters.get("search_before_date_filter"), filters.get("search_after_date_filter")
    updated = filters.get("last_updated_before_filter")
    published, changed = page.get("date"), page.get("last_updated")
    return (
        (before is None or (published is not None and published <= _day(before)))
        and (after is None or (published is not None and published >= _day(after)))
        and (updated is None or (changed is not None and changed <= _day(updated)))
    )


def _is_day(value: Any) -> bool:
    try:
        return isinstance(value, str) and len(value) == 10 and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _day(text: str) -> str:
    return datetime.strptime(text, "%m/%d/%Y").date().isoformat()  # noqa: DTZ007 - a day
