"""Checks of what has no stamp of its own, and so is as it is today: counters, lists beside the rows, newest pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from pit_fetch.testing.documents import Path, decode, encode_like, format_of, leaves, node_at
from pit_fetch.testing.interference import MOST_BESIDE, shown_beside
from pit_fetch.testing.pages import asks_again, numbers_in, paging_of
from pit_fetch.testing.recording import RecordedReply, drop, edited, field_of
from pit_fetch.testing.runner import (
    RequestKey,
    body_of,
    failure,
    middle_pit,
    observe_world,
    params_of,
    pits_before,
    request_key,
    substitute,
)
from pit_fetch.testing.server import Response
from pit_fetch.testing.timestamps import floor
from pit_fetch.testing.worlds import rewrite
from pit_fetch.transport import HttpRequest

# What readers and other records add to an item after it was published, by the names that sources give it.
_COUNTERS = (
    "views?|reads?|likes?|dislikes?|(up|down)?votes?|points|score|karma|stars?|stargazers|forks?|downloads|citations?|"
    "cited_?by|cites|comments?|replies|retweets|reposts|reactions?|claps|favou?rites|followers|subscribers|descendants|"
    "popularity|clicks|plays|hearts|helpful|bookmarks|watchers"
)
_COUNTER = re.compile(rf"(^|_)(num(ber)?_?(of_?)?)?({_COUNTERS})(_?(count|total|number))?$", re.IGNORECASE)
_BOUND = re.compile(r"(^|_)(min|max|gte?|lte?|over|above|below|at_?least|at_?most|more_?than|from)(_|$)", re.IGNORECASE)
_COMPARED = re.compile(r"(\w+)\s*(?:[<>]=?|:>|:\[|\bgte?\b|\bdesc\b)", re.IGNORECASE)
_SORTS = re.compile(r"^(sort|order|rank)(_?by)?$", re.IGNORECASE)
_NO_SIZE = re.compile(r"day|month|year|week|hour|minute|interval|version|offset|(^|_)id$", re.IGNORECASE)
# A number of rows that a source sends at once is seldom smaller.
_LEAST_SIZE = 10


def check_today(recording: RecordedReply, constants: Collection[str], not_counters: Collection[str]) -> None:
    """Check that nothing of an item, and no choice of items, is as it stands today whatever the PIT is."""
    if not recording.operation.dating.claims:
        _check_counters(recording, not_counters)
        _check_filters(recording, not_counters)
    if recording.operation.archiving.reach == "all":
        _check_bound(recording, constants)
    _check_other_replies(recording, constants)


def _check_counters(recording: RecordedReply, not_counters: Collection[str]) -> None:
    """Check that no number that goes on growing is served as what the item said when it was published."""
    for record in recording.baseline.records:
        for path, value in leaves(dict(record.payload)) if record.id not in recording.snapshots else ():
            field = field_of(path)
            is_number = type(value) in (int, float) or (isinstance(value, str) and value.isdigit())
            if is_number and field not in not_counters and _COUNTER.search(_snake(field)):
                raise failure(
                    f"item {record.id!r} shows {field} = {value!r}, which by its name goes on counting after "
                    "publication: what is served for an early PIT is today's",
                    f"leave {field} out of the payload, or keep it for the claim alone (Record.claimed_payload, "
                    f'Dating.claims); if it is as published for ever, name it: not_counters = ("{field}",)',
                )


def _check_filters(recording: RecordedReply, not_counters: Collection[str]) -> None:
    """Check that no request lets the source choose by a number that goes on growing."""
    for request, _ in recording.baseline.exchanges:
        for field in _filters(request):
            if field not in not_counters:
                raise failure(
                    f"the request lets the source choose by {field}, which by its name goes on counting: what it "
                    "leaves out or puts last rests on what came after the PIT",
                    "ask for all, and leave the choice to who reads it; if records are served on a claim, say so in "
                    f'Dating.claims; if {field} never changes, say so in the test: not_counters = ("{field}",)',
                )


def _filters(request: HttpRequest) -> Iterator[str]:
    """Yield the names of counters by which a request filters or sorts.

    Such are ``min_points=100``, ``{"range": {"points": {"gte": 100}}}``, ``filter=points>100`` and ``sort=points``.
    """
    for path, value in leaves([params_of(request), body_of(request)]):
        names, text = [_snake(part) for part in path if isinstance(part, str)], _snake(str(value))
        if not names:
            continue
        bare = [_BOUND.sub("_", name).strip("_") for name in names]
        if any(map(_BOUND.search, names)):
            yield from filter(_COUNTER.search, bare)
        elif _SORTS.search(names[-1]):
            yield from filter(_COUNTER.search, re.split(r"[^a-z_]+|_(?:desc|asc)\b", text))
        else:
            yield from filter(_COUNTER.search, _COMPARED.findall(text))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _check_bound(recording: RecordedReply, constants: Collection[str]) -> None:
    """Check that a request for one page of a fixed size has a bound: else what came later crowds out the rest."""
    run = recording.baseline
    paths = [request.path for request, _ in run.exchanges]
    if run.requests != recording.run_at(pits_before(run)[0]).requests or len(set(paths)) < len(paths):
        return  # something moves with the PIT, or the source is asked for all of its pages
    paging = paging_of(recording)
    if paging.pointers:
        return
    known = {place[:-1] for place in paging.sizes}
    for request, _ in run.exchanges:
        for place, size in numbers_in(request, alone=True).items():
            name = str(place[-2])
            is_known = place[:-1] in known or name in constants or _NO_SIZE.search(name) is not None
            if size < max(_LEAST_SIZE, len(recording.every)) or is_known:
                continue
            if not (recording.case.own_server and asks_again(recording, paging, size)):
                raise failure(
                    f"nothing in the request moves with the PIT, and {name} = {size} looks like the size of "
                    "its only page: if the source sends its newest rows first, those after the PIT crowd out what was "
                    "public",
                    "send a bound (query.horizon), or go on with more pages (paging.numbered, paging.follow). If the "
                    'source has no older rows, declare Operation(reach="newest"), and if it chooses, reach="some"; if '
                    f'{name} is no size, say so in the test: constants = ("{name}",)',
                )


def _check_other_replies(recording: RecordedReply, constants: Collection[str]) -> None:
    """Check that nothing of a reply without rows is served: it has no stamp, and is today's."""
    case, pit = recording.case, middle_pit(recording.baseline)
    if not case.own_server:
        return
    whole = recording.run_at(pit)
    empty = observe_world(case, pit, reply=edited(case, partial(drop, rows=recording.every)))
    always = {*empty.requests} if empty else set()
    others = {request_key(request): (request, made) for request, made in whole.exchanges}
    for key, (request, made) in others.items():
        if key not in always or format_of(made.body) is None or _depends_on_rows(recording, request):
            continue
        values = [*leaves(decode(made.body))][:MOST_BESIDE]
        # What has a date may have been said by the PIT.
        for path, value in values if all(floor(value) is None for _, value in values) else ():
            field = field_of(path)
            if field in constants:
                continue

            def run_with(other: object, made: Response = made, key: RequestKey = key, path: Path = path) -> Any:
                tree = decode(made.body)
                node_at(tree, path[:-1])[path[-1]] = other
                return observe_world(
                    case, pit, wire=substitute(replace(made, body=encode_like(made.body, tree)), {key})
                )

            if shown_beside(recording, pit, value, run_with):
                raise failure(
                    f"at the PIT {pit} what {field} in the reply to {request.path} says is in the output. That "
                    "reply holds no row and no stamp, so it is today's",
                    f"leave {field} out of the payload, or take it from what the source said by the PIT. If it "
                    f'never changes (a unit, a name of an exchange), say so in the test: constants = ("{field}",)',
                )


def _depends_on_rows(recording: RecordedReply, request: HttpRequest) -> bool:
    """Return whether the answer to a request changes with the rows of the recording."""

    def otherwise(tree: Any) -> None:
        for row in recording.every:
            rewrite(node_at(tree, row.path))

    case = recording.case
    try:
        changed = case.serve(edited(case, otherwise), request).body
        return changed != case.serve(case.reply, request).body
    except Exception:  # noqa: BLE001 - the author's own server may raise anything
        return True
