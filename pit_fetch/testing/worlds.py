"""Checks of the first law: what was not public at the PIT changes no byte that leaves the process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from pit_fetch.testing.case import MICROSECOND, Case, Seen, failure, instants
from pit_fetch.testing.dates import floor
from pit_fetch.testing.documents import at
from pit_fetch.testing.program import baseline, look
from pit_fetch.testing.rows import Row, drop, edited, rows_of
from pit_fetch.testing.same import CANARY, Interference, same_bytes
from pit_fetch.testing.server import Response
from pit_fetch.transport import Request

_REQUESTS: Sequence[Mapping[str, int]] = ({}, {"limit": 1}, {"max_pages": 1})


def check_two_worlds(case: Case) -> None:
    """Two worlds that serve the same public records give the same bytes."""
    seen = baseline(case)
    rows = rows_of(case, seen)
    for pit in before_instants(seen):
        late = late_rows(rows, pit)
        worlds = changes_of(case, late)
        replies = [case.reply, *(edited(case, change) for change in worlds.values())]
        for options in _REQUESTS:
            asking = replace(case, options={**case.options, **options})
            try:
                same_bytes(lambda reply, at=pit, asked=asking: look(asked, at, reply=reply), replies, case.secrets)  # type: ignore[misc]
            except Interference as found:
                raise _interference(pit, late, ["as they are", *worlds][found.place], options, found.what) from None


def before_instants(seen: Seen) -> list[datetime]:
    """PITs at which something is not public yet: just before a version was."""
    return [moment - MICROSECOND for moment in instants(seen, at_most=5)]


def late_rows(rows: Sequence[Row], pit: datetime) -> list[Row]:
    return [row for row in rows if all(version.public_from > pit for version in row.versions)]


def check_ignored_window(case: Case) -> None:
    """A server that ignores the dates it is asked for gives nothing more, and nothing else."""
    seen = baseline(case)
    asked = {request.path: request for request, _ in reversed(seen.exchanges)}

    def serve(reply: bytes, request: Request) -> Response:
        return case.serve(reply, _without_window(request, asked.get(request.path, request)))

    careless = replace(case, serve=serve)
    for pit in (min(instants(seen)) - MICROSECOND, *instants(seen, at_most=5)):
        expected, other = look(case, pit), look(careless, pit)
        if other.crash:
            raise failure(f"the provider fails when the server ignores its window ({other.crash})", _WINDOW)
        added = other.stamps.keys() - expected.stamps.keys()
        if added:
            raise failure(f"item {sorted(added)[0]!r} is served at {pit} when the server ignores the window", _WINDOW)
        lost = expected.stamps.keys() - other.stamps.keys()
        if lost and not {"upstream_error", "truncated"} & set(other.gap_types):
            raise failure(f"item {sorted(lost)[0]!r} is lost at {pit} when the server ignores the window", _WINDOW)


_WINDOW = (
    "narrow the server's window as you like, but do not rely on it: yield every record with its own stamp, "
    "and never stop early because of a late one"
)


def changes_of(case: Case, late: Sequence[Row]) -> dict[str, Callable[[Any], None]]:
    """Changes of the late rows that leave them late, or undated."""

    def moved(tree: Any) -> None:
        taken = [(row, at(tree, row.path)) for row in late]
        drop(tree, late)
        for row, value in taken:
            container = at(tree, row.container)
            if isinstance(container, list):
                container.append(value)
            else:
                container[row.key] = value

    def repeated(tree: Any) -> None:
        for row in late:
            container = at(tree, row.container)
            if isinstance(container, list):  # and a full page would be one that another follows
                room = max(0, case.provider.page_size - 1 - len(container))
                container.extend([at(tree, row.path)] * min(2, room))

    def rewritten(tree: Any) -> None:
        for row in late:
            _replace(at(tree, row.path), lambda value: f"{value} {CANARY}" if floor(value) is None else value)

    def undated(tree: Any) -> None:
        for row in late:
            if floor(row.key) is None or isinstance(row.key, int):
                _replace(at(tree, row.path), lambda value: value if floor(value) is None else None)

    def unreadable(tree: Any) -> None:
        for row in late:
            node = at(tree, row.path)
            if isinstance(node, dict):
                node["unreadable"] = float("nan")

    return {
        "left out": lambda tree: drop(tree, late),
        "moved to the end": moved,
        "repeated": repeated,
        "rewritten": rewritten,
        "without their dates": undated,
        "unreadable (a NaN in each)": unreadable,
    }


def _replace(node: Any, change: Callable[[Any], Any]) -> None:
    """Replaces every text (and whatever looks like a date) in ``node``."""
    for key, child in list(
        node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    ):
        if isinstance(child, (dict, list)):
            _replace(child, change)
        elif isinstance(child, str) or floor(child) is not None:
            node[key] = change(child)


def _without_window(request: Request, first: Request) -> Request:
    """The request with every date in it as it was in the run that asked for everything."""
    params = _with_dates_of(dict(request.params), dict(first.params))
    return request._replace(params=params, body=_body_with_dates_of(request.body, first.body))


def _body_with_dates_of(body: bytes | None, first: bytes | None) -> bytes | None:
    try:
        return json.dumps(_with_dates_of(json.loads(body or b""), json.loads(first or b""))).encode()
    except ValueError:
        return body


def _with_dates_of(node: Any, first: Any) -> Any:
    if isinstance(node, dict) and isinstance(first, dict):
        kept = {name: _with_dates_of(value, first.get(name)) for name, value in node.items() if not _is_date(value)}
        return {**kept, **{name: value for name, value in first.items() if _is_date(value)}}
    if isinstance(node, list) and isinstance(first, list):
        return [_with_dates_of(*pair) for pair in zip_longest(node, first[: len(node)])]
    return first if _is_date(node) and _is_date(first) else node


def _is_date(value: object) -> bool:
    return floor(int(value) if isinstance(value, str) and value.isdigit() else value) is not None


def _interference(
    pit: datetime, late: Sequence[Row], what: str, options: Mapping[str, object], difference: str
) -> AssertionError:
    example = min((version for row in late for version in row.versions), key=lambda version: version[::-1])
    with_options = f" and {options}" if options else ""
    return failure(
        f"at the PIT {pit}{with_options} the output tells of records that were not public yet "
        f"({example.id!r} from {example.public_from} on, {len(late)} in all), here when they are {what}:\n"
        f"{difference}",
        "yield every record and every version with its stamps and let the framework decide: never cut to "
        "query.limit, choose, stop, count, sort, yield a gap or raise because of a record that may be late; "
        "wire.lenient_json reads rows so that one that is broken fails alone",
    )
