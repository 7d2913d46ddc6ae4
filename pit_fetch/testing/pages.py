"""Find how a provider asks for pages, and serve a recorded reply in such pages.

No name of a parameter or a field is known, so experiments decide. A number that follows --limit is a limit, wherever a
request has it. If a page with as many rows as a number in the request is followed by another page, that number is its
size. A value beside the rows that, once filled in, makes the provider ask again announces the next page. And the page
of a single row is one that is not asked for without it, and that holds something of it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pit_fetch.testing.documents import Path, decode, encode_like, leaves, node_at
from pit_fetch.testing.recording import IMPOSSIBLE, RecordedReply, ReplyRow, drop, edited, repeat
from pit_fetch.testing.runner import Case, ObservedRun, RequestKey, body_of, observe, params_of, request_key
from pit_fetch.testing.server import Response
from pit_fetch.testing.timestamps import floor
from pit_fetch.testing.worlds import leaves_beside, say_otherwise
from pit_fetch.transport import HttpRequest

_MOST = 1_000
_TOKENS = ("page", "cursor", "page[cursor]", "page[after]", "after", "offset", "start", "token", "next", "bookmark")
# What a source can write where there is a next page: its token, its number, that there is one, a link with a token.
_NEXT: tuple[Callable[[int], object], ...] = (
    lambda page: f"page-{page}",
    lambda page: page,
    lambda page: True,
    lambda page: f"https://source.example/next?{'&'.join(f'{name}=page-{page}' for name in _TOKENS)}",
)


class Paging(NamedTuple):
    """How a reply comes in pages.

    sizes    where a request says how many rows are wanted
    pointers what stands beside the rows of each page but the last, by its path, for the number of the next one
    """

    sizes: frozenset[Path] = frozenset()
    pointers: tuple[tuple[Path, Callable[[int], object]], ...] = ()


UNPAGED = Paging()


def paging_of(recording: RecordedReply) -> Paging:
    """Return how the provider asks for pages, as far as its recording shows it.

    A number that neither moves with --limit nor is followed by a next page is the source's own cap: what it cuts there
    it does not serve.
    """
    case = recording.case
    if case.own_server or _only_list(recording) is None:
        return UNPAGED
    pointers = next(filter(lambda ways: asks_again(recording, Paging(pointers=ways)), _pointers(recording)), ())
    # Limits that no source has of its own.
    few, more = (
        [request for request, _ in observe(case.with_options(limit=limit), case.now).exchanges] for limit in (7, 9)
    )
    moving = {
        place
        for first, second in zip(few, more, strict=False)
        for place, number in numbers_in(first).items()
        if numbers_in(second).get(place, number) != number
    }
    constant = {item for request in few for item in numbers_in(request, alone=True).items()} if not moving else ()
    for place, size in sorted(constant, key=str):
        if len(recording.every) <= size and asks_again(recording, Paging(frozenset({place})), size):
            moving.add(place)
    return Paging(frozenset(moving), pointers)


def in_pages(case: Case, recording: RecordedReply, paging: Paging) -> Case:
    """Return the case with such a server, for one run.

    With pointers alone the last row is a page of its own; without those and sizes all rows come at once, and then none.
    """
    container = _only_list(recording)
    if container is None:
        return case
    # The path begins with the key of the box in which edits hold the document.
    path = container[1:]
    turns: dict[str, int] = {}

    def serve(reply: bytes, request: HttpRequest) -> Response:
        turn = turns[request.path] = turns.get(request.path, -1) + 1
        size = next((number for place, number in numbers_in(request).items() if place in paging.sizes), None)
        if not turn and size is None and not paging.pointers:
            return case.serve(reply, request)
        with contextlib.suppress(*IMPOSSIBLE):
            document = decode(reply)
            rows = node_at(document, path)
            size = size or (max(1, len(rows) - 1) if paging.pointers else len(rows))
            has_more = len(rows) > (turn + 1) * size
            if turn or has_more:
                rows[:] = rows[turn * size : (turn + 1) * size]
                for place, pointer in paging.pointers if has_more else ():
                    node_at(document, place[1:-1])[place[-1]] = pointer(turn + 2)
                reply = encode_like(case.reply, document)
        return case.serve(reply, request)

    return replace(case, serve=serve)


def pages_of_rows(recording: RecordedReply, run: ObservedRun) -> set[RequestKey]:
    """Return the keys of those requests of a run on the recorded reply that ask for pages of single rows.

    Without a server of the author's there is one answer to every request, and nothing shows what a page is of: all.
    """
    case, made = recording.case, {request_key(request): request for request, _ in run.exchanges}
    if not case.own_server:
        return {*made}
    pit = None if run.query is None else run.query.pit
    causes: dict[RequestKey, list[ReplyRow]] = {key: [] for key in made}
    for row in recording.every:
        for key in made.keys() - {*observe(case, pit, reply=edited(case, partial(drop, rows=[row]))).requests}:
            causes[key].append(row)
    return {key for key, rows in causes.items() if len(rows) == 1 and [*_shown(recording, made[key])] == rows}


def has_row_cursors(recording: RecordedReply) -> bool:
    """Return whether pages of the list are asked for by the id of a row, which then stands in the list once."""
    run, ids = recording.baseline, {version.id for version in recording.baseline.versions}
    if not recording.case.own_server or len(run.exchanges) < 2:
        return False
    of_rows = pages_of_rows(recording, run)
    requests = [request for request, _ in run.exchanges if request_key(request) not in of_rows]
    places = ({"params": params_of(request), "body": body_of(request)} for request in requests)
    texts = [str(value) for place in places for _, value in leaves(place)]
    return any(name == text or (len(name) > 2 and name in text) for text in texts for name in ids)


def _shown(recording: RecordedReply, request: HttpRequest) -> Iterator[ReplyRow]:
    """Yield the rows of which the answer to a request holds something: it changes with their texts and figures."""
    case = recording.case

    def answer(reply: bytes) -> Response | None:
        try:
            return case.serve(reply, request)
        except Exception:  # noqa: BLE001 - the author's own server may raise anything
            return None

    recorded = answer(case.reply)
    for row in recording.every:
        if answer(edited(case, partial(say_otherwise, recording, rows=[row]))) != recorded:
            yield row


def _only_list(recording: RecordedReply) -> Path | None:
    lists = [path for path in recording.containers if isinstance(node_at(recording.tree, path), list)]
    return lists[0] if len(lists) == 1 else None


def _pointers(recording: RecordedReply) -> Iterator[tuple[tuple[Path, Callable[[int], object]], ...]]:
    """Yield what may announce the next page: each empty value beside the rows, and all of them together."""
    empty = [path for path, value in leaves_beside(recording, recording.tree) if value in (None, "") or value is False]
    for way in _NEXT:
        every = tuple((path, way) for path in empty)
        yield from ((pointer,) for pointer in every)
        yield every


def asks_again(recording: RecordedReply, paging: Paging, size: int = 0) -> bool:
    """Return whether a first page, of ``size`` rows if that is not 0, is followed by another one."""
    fill = partial(repeat, container=_only_list(recording) or (), size=2 * size)
    case = recording.case.at_leisure(_MOST)
    case = case if case.own_server else in_pages(case, recording, paging)
    with contextlib.suppress(*IMPOSSIBLE):
        paths = [request.path for request, _ in observe(case, case.now, reply=edited(case, fill)).exchanges]
        return len(paths) > len(recording.baseline.exchanges) and len(set(paths)) < len(paths)
    return False


def numbers_in(request: HttpRequest, alone: bool = False) -> dict[Path, int]:
    """Return what can be a number of rows in a request, by its place: in its path, parameters, headers or body.

    alone  only numbers that are a whole value
    """
    params, headers = params_of(request), dict(request.headers)
    places = {"path": request.path, "params": params, "headers": headers, "body": body_of(request)}
    return {
        (*place, nth): int(digits)
        for place, value in leaves(places)
        if not isinstance(value, bool) and floor(value) is None and (not alone or str(value).isdigit())
        for nth, digits in enumerate(re.findall(r"\d+", str(value)))
        if 1 < int(digits) <= _MOST
    }
