"""A recorded reply as a server that keeps to the number of rows that it is asked for, page after page."""

from __future__ import annotations

import contextlib
import copy
import json
from dataclasses import replace
from typing import Any

from pit_fetch.testing.case import Case
from pit_fetch.testing.documents import Path, decode, node_at, require_format
from pit_fetch.testing.recording import RecordedReply, edited
from pit_fetch.testing.runner import observe
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest

# Names of parameters that limit how many rows a reply holds.
_SIZES = frozenset(
    {"limit", "size", "count", "rows", "top", "first", "take", "max", "num", "n", "page_size", "pagesize", "per_page",
     "perpage", "max_results", "maxresults", "page[size]", "$top", "pagelimit", "page_limit"}
)  # fmt: skip


def rests_on_sizes(recording: RecordedReply) -> bool:
    """Return whether the provider asks for as many rows as its caller wants, or reads on where a page is full.

    A number that neither moves nor is followed by a next page is the source's own cap: what it cuts there it
    does not serve.
    """
    case = recording.case
    container = _only_list(recording)
    if case.own_server or container is None:
        return False
    # Limits that no source has of its own: sizes that differ follow from them.
    few, more = (_sizes(case.with_options(limit=limit)) for limit in (7, 9))
    if few != more or not few:
        return few != more

    def fill(tree: Any) -> None:
        rows = node_at(tree, container)
        rows.extend(copy.deepcopy(rows[number % len(rows)]) for number in range(min(few)))

    full = observe(in_pages(case.at_leisure(1_000), recording, sized=True), case.now, reply=edited(case, fill))
    paths = [request.path for request, _ in full.exchanges]
    return len(paths) > len(recording.baseline.exchanges) and len(set(paths)) < len(paths)


def in_pages(case: Case, recording: RecordedReply, *, sized: bool) -> Case:
    """Return the case with such a server, for one run. Without ``sized`` it gives all rows at once, and then none."""
    container = _only_list(recording)
    if container is None:
        return case
    # The path begins with the key of the box in which edits hold the document.
    path = container[1:]
    turns: dict[str, int] = {}

    def serve(reply: bytes, request: HttpRequest) -> Response:
        turn = turns[request.path] = turns.get(request.path, -1) + 1
        size = _size(request) if sized else None
        if not turn and size is None:
            return case.serve(reply, request)
        try:
            document = decode(reply)
            rows = node_at(document, path)
        except (KeyError, IndexError, TypeError, ValueError):
            return case.serve(reply, request)
        if turn or (size is not None and len(rows) > size):
            rows[:] = rows[turn * size : (turn + 1) * size] if size is not None else []
            reply = require_format(case.reply).encode(document)
        return case.serve(reply, request)

    return replace(case, serve=serve)


def _only_list(recording: RecordedReply) -> Path | None:
    lists = [path for path in recording.containers if isinstance(node_at(recording.tree, path), list)]
    return lists[0] if len(lists) == 1 else None


def _sizes(case: Case) -> set[int]:
    exchanges = observe(case, case.now).exchanges
    return {size for request, _ in exchanges if (size := _size(request)) is not None}


def _size(request: HttpRequest) -> int | None:
    """Return how many rows the request asks for, in its address or in the body of a POST."""
    params: dict[str, Any] = dict(request.params)
    with contextlib.suppress(ValueError):
        body = json.loads(request.body or b"{}")
        params.update(body if isinstance(body, dict) else {})
    for name, value in params.items():
        if name.casefold() in _SIZES and str(value).isdigit() and 0 < int(value) < 1_000:
            return int(value)
    return None
