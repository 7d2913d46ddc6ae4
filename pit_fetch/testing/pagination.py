"""A recorded reply as a server that keeps to the number of rows that it is asked for, page after page.

No name of a parameter is known here. What follows --limit is a limit; and where a page that is as full as a number in
the request is followed by another page, that number is its size.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Collection
from dataclasses import replace

from pit_fetch.testing.case import Case
from pit_fetch.testing.documents import Path, decode, leaves, node_at, require_format
from pit_fetch.testing.recording import RecordedReply, edited
from pit_fetch.testing.runner import observe
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest

_MOST = 1_000


def sizes_in(recording: RecordedReply) -> frozenset[Path]:
    """Return where a request says how many rows are wanted, if its provider lets that follow from its caller's wish.

    A number that neither moves nor is followed by a next page is the source's own cap: what it cuts there it
    does not serve.
    """
    case, container = recording.case, _only_list(recording)
    if case.own_server or container is None:
        return frozenset()
    few, more = ({request.path: _numbers(request) for request in reversed(_requests(case, limit))} for limit in (7, 9))
    moving = {
        place for path in few.keys() & more for place, number in few[path].items() if more[path].get(place) != number
    }
    constant = {(place, number) for path in few for place, number in few[path].items()} if not moving else set()
    for place, size in sorted(constant, key=str):
        if len(recording.every) <= size and _reads_on(recording, container, place, size):
            moving.add(place)
    return frozenset(moving)


def in_pages(case: Case, recording: RecordedReply, sizes: Collection[Path]) -> Case:
    """Return the case with such a server, for one run. Without ``sizes`` it gives all rows at once, and then none."""
    container = _only_list(recording)
    if container is None:
        return case
    # The path begins with the key of the box in which edits hold the document.
    path = container[1:]
    turns: dict[str, int] = {}

    def serve(reply: bytes, request: HttpRequest) -> Response:
        turn = turns[request.path] = turns.get(request.path, -1) + 1
        size = next((number for place, number in _numbers(request).items() if place in sizes), None)
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


def _reads_on(recording: RecordedReply, container: Path, place: Path, size: int) -> bool:
    """Return whether a first page of ``size`` rows is followed by another one."""

    def fill(tree: object) -> None:
        rows = node_at(tree, container)
        rows.extend(copy.deepcopy(rows[number % len(rows)]) for number in range(size))

    case = in_pages(recording.case.at_leisure(_MOST), recording, {place})
    with contextlib.suppress(KeyError, IndexError, TypeError, ValueError):
        paths = [request.path for request, _ in observe(case, case.now, reply=edited(case, fill)).exchanges]
        return len(paths) > len(recording.baseline.exchanges) and len(set(paths)) < len(paths)
    return False


def _requests(case: Case, limit: int) -> list[HttpRequest]:
    # Limits that no source has of its own.
    return [request for request, _ in observe(case.with_options(limit=limit), case.now).exchanges]


def _numbers(request: HttpRequest) -> dict[Path, int]:
    """Return what can be a number of rows in a request, in its address or in the body of a POST, by its place."""
    body: object = None
    with contextlib.suppress(ValueError):
        body = json.loads(request.body or b"null")
    return {
        path: int(value)
        for path, value in leaves([dict(request.params), body])
        if not isinstance(value, bool) and str(value).isdigit() and 1 < int(value) <= _MOST
    }
