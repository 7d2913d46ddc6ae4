"""Tell the pages of a source's list from those that belong to a single row.

No name of a path or a parameter is known, so experiments decide. The page of a row is requested because of that row,
and holds nothing of any other: without the row, the request is not made. A page of the list also holds rows that are
not the reason why it is requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from pit_fetch.testing.case import ObservedRun, body_of, params_of, request_key
from pit_fetch.testing.documents import Path, leaves
from pit_fetch.testing.edits import say_otherwise
from pit_fetch.testing.recording import RecordedReply, ReplyRow, drop, edited
from pit_fetch.testing.runner import observe
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest

Key = tuple[str, str, bytes | None]


class Asked(NamedTuple):
    """A request for a page.

    causes        the rows without any one of which it is not made
    shown         the rows of which its answer holds something
    goes_on       it is a request that is made of an empty list, too, with something besides: a position, say
    """

    causes: frozenset[ReplyRow]
    shown: frozenset[ReplyRow]
    goes_on: bool

    @property
    def is_of_list(self) -> bool:
        """Return whether it is a page of the list: of no row, of several, or beyond the last."""
        return bool(self.shown - self.causes) or len(self.causes) > 1 or (self.goes_on and not self.shown)


def pages_of_rows(recording: RecordedReply, run: ObservedRun) -> set[Key]:
    """Return the keys of those requests of a run on the recorded reply that ask for pages of single rows.

    Without a server of the author's there is one answer to every request, and nothing shows what a page is of: all.
    """
    case, made_by_run = recording.case, _requests(run)
    if not case.own_server:
        return {*made_by_run}
    roots = _requests(observe(case, case.now, reply=edited(case, partial(drop, rows=recording.every))))
    others = {key: request for key, request in made_by_run.items() if key not in roots}
    if not others:
        return set()
    pit = None if run.query is None else run.query.pit
    absent = {
        row: {*observe(case, pit, reply=edited(case, partial(drop, rows=[row]))).requests} for row in recording.every
    }
    return {
        key
        for key, request in others.items()
        if not Asked(
            frozenset(row for row, made in absent.items() if key not in made),
            frozenset(_shown(recording, request)),
            any(_goes_on(request, root) for root in roots.values()),
        ).is_of_list
    }


def has_row_cursors(recording: RecordedReply) -> bool:
    """Return whether pages of the list are asked for by the id of a row, which then stands in the list once."""
    run, ids = recording.baseline, {version.id for version in recording.baseline.versions}
    if not recording.case.own_server or len(run.exchanges) < 2:
        return False
    of_list = _requests(run).keys() - pages_of_rows(recording, run)
    texts = [str(value) for key, request in _requests(run).items() if key in of_list for _, value in _values(request)]
    return any(name == text or (len(name) > 2 and name in text) for text in texts for name in ids)


def _requests(run: ObservedRun) -> dict[Key, HttpRequest]:
    return {request_key(request): request for request, _ in run.exchanges}


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


def _goes_on(request: HttpRequest, root: HttpRequest) -> bool:
    return request.path == root.path and _places(request) > _places(root)


def _places(request: HttpRequest) -> frozenset[Path]:
    return frozenset(place for place, value in _values(request) if value not in (None, ""))


def _values(request: HttpRequest) -> Iterator[tuple[Path, object]]:
    return leaves({"params": params_of(request), "body": body_of(request)})
