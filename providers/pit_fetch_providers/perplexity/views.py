"""How Perplexity's search looks to a program as of an instant. Its models answer with what they know today: refused."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch_providers.perplexity import SEARCH, pages, request
from pit_fetch_providers.shared import refuse

_BEFORE = ("search_before_date_filter", "last_updated_before_filter")
_USUAL = 10  # results of a search without max_results (documentation)


def _body(asked: Asked) -> dict[str, Any]:
    body = asked.body if isinstance(asked.body, dict) else {}
    query = body.get("query")
    if isinstance(query, list) and len(query) == 1:
        body = {**body, "query": query[0]}
    if not isinstance(body.get("query"), str) or body.get("search_recency_filter"):
        refuse("a search has one query, and no search_recency_filter, which counts back from now.")
    return body


def _ask(asked: Asked) -> Generator[HttpReply, int, None]:
    body, last = _body(asked), request.last_day(asked.query)
    if last is None:
        refuse("nothing was public then.")
    for name in _BEFORE:
        try:
            given = datetime.strptime(str(body.get(name)), "%m/%d/%Y").date()  # noqa: DTZ007 - a day
        except ValueError:
            given = last
        body[name] = request.spelled(min(given, last))
    body["max_results"] = request.MOST_RESULTS
    yield asked.context.http.post(SEARCH.name, asked.path, body, repeatable=True)


def _page(asked: Asked) -> tuple[int, int]:
    most = _body(asked).get("max_results", _USUAL)
    return 0, most if type(most) is int else _USUAL


def _record(row: Row, asked: Asked) -> Record:
    return next(pages.records([row.value]))


def _frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    return {"id": "", "results": []}


VIEWS = (
    View(
        SEARCH.name, "/search", "search", ("results/*",), _record, _ask, _page,
        fields=("title", "url", "snippet", "date", "last_updated"), frame=_frame, method="POST",
    ),
)  # fmt: skip
