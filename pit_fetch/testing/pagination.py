"""A recorded reply as a server that keeps to the number of rows that it is asked for, page after page."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

from pit_fetch.testing.case import Case
from pit_fetch.testing.documents import Path, at, must_format
from pit_fetch.testing.recording import Recording, edited, tree_of
from pit_fetch.testing.runner import look
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest

# A parameter that says how many rows a reply may hold.
_SIZES = frozenset(
    {"limit", "size", "count", "rows", "top", "first", "take", "max", "num", "n", "page_size", "pagesize", "per_page",
     "perpage", "max_results", "maxresults", "page[size]", "$top", "pagelimit", "page_limit"}
)  # fmt: skip


def rests_on_sizes(recording: Recording) -> bool:
    """Whether the provider asks for as many rows as are wanted of it, or reads on where a page is full.

    A number that neither moves nor is followed by a next page is the source's own result cap: what it cuts there it
    does not serve.
    """
    case = recording.case
    containers = _containers(recording)
    if case.own_server or len(containers) != 1:
        return False
    few, more = (_sizes(case.asking(limit=limit)) for limit in (7, 9))
    if few != more:
        return True
    size = min(few, default=0)
    if not size:
        return False

    def fill(tree: Any) -> None:
        rows = at(tree, containers[0])
        rows.extend(copy.deepcopy(rows[n % len(rows)]) for n in range(size))

    patient = replace(case.asking(timeout=86_400), max_requests=1_000)
    full = look(in_pages(patient, recording, sized=True), case.now, reply=edited(case, fill))
    paths = [request.path for request, _ in full.exchanges]
    return len(paths) > len(recording.seen.exchanges) and len(set(paths)) < len(paths)


def in_pages(case: Case, recording: Recording, *, sized: bool) -> Case:
    """The case with such a server; without ``sized`` it gives all its rows at once, and then none. For one run."""
    containers = _containers(recording)
    if len(containers) != 1:
        return case
    asked: dict[str, int] = {}
    known, parts = must_format(case.reply), list[Any]()

    def serve(reply: bytes, request: HttpRequest) -> Response:
        turn = asked[request.path] = asked.get(request.path, -1) + 1
        size = _size(request) if sized else None
        if not turn and size is None:
            return case.serve(reply, request)
        try:
            if not parts:
                tree = tree_of(replace(case, reply=reply))
                parts.extend([tree, at(tree, containers[0]), list(at(tree, containers[0]))])
        except (KeyError, IndexError, TypeError, ValueError):
            return case.serve(reply, request)
        if not turn and size is not None and len(parts[2]) <= size:
            return case.serve(reply, request)
        parts[1][:] = parts[2][turn * size : (turn + 1) * size] if size is not None else []
        return case.serve(known.encode(next(iter(parts[0].values()))), request)

    return replace(case, serve=serve)


def _containers(recording: Recording) -> list[Path]:
    return list(dict.fromkeys(row.container for row in recording.rows if isinstance(row.key, int)))


def _sizes(case: Case) -> set[int]:
    found = {_size(request) for request, _ in look(case, case.now).exchanges}
    return {size for size in found if size is not None}


def _size(request: HttpRequest) -> int | None:
    """How many rows the request asks for, in its address or in the body of a POST."""
    asked: dict[str, Any] = dict(request.params)
    try:
        document = json.loads(request.body or b"{}")
        asked.update(document if isinstance(document, dict) else {})
    except ValueError:
        pass
    for name, value in asked.items():
        if name.casefold() in _SIZES and str(value).isdigit() and 0 < int(value) < 1_000:
            return int(value)
    return None
