"""Checks of the first law: what was not public at the PIT changes no byte that leaves the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pit_fetch.testing.case import MICROSECOND, Case, Seen, failure, instants
from pit_fetch.testing.dates import floor
from pit_fetch.testing.documents import at
from pit_fetch.testing.program import baseline, look
from pit_fetch.testing.rows import Row, drop, edited, rows_of
from pit_fetch.testing.transport import Answer, Request

CANARY = "KIT-CANARY"

_REQUESTS: Sequence[Mapping[str, int]] = ({}, {"limit": 1}, {"max_pages": 1})


def check_two_worlds(case: Case) -> None:
    """Two worlds that serve the same public records give the same bytes."""
    seen = baseline(case)
    rows = rows_of(case, seen)
    public_from = {row: max(seen.stamps[item] for item in row.ids) for row in rows}
    first = min(seen.stamps.values())
    for pit in (first - MICROSECOND, *instants(seen, at_most=5)):
        late = [row for row in rows if all(seen.stamps[item] > pit for item in row.ids)]
        if not late:
            continue
        for options in _REQUESTS:
            expected = look(_asking(case, options), pit)
            for what, change in _worlds(late).items():
                other = look(_asking(case, options), pit, reply=edited(case, change))
                if other.leaves != expected.leaves:
                    raise _interference(pit, late, public_from, what, options, expected, other)


def _asking(case: Case, options: Mapping[str, int]) -> Case:
    return replace(case, options={**case.options, **options})


def check_ignored_window(case: Case) -> None:
    """A server that ignores the dates it is asked for gives nothing more, and nothing else."""
    seen = baseline(case)
    asked = {request.path: request.params for request, _ in reversed(seen.exchanges)}

    def serve(reply: bytes, request: Request) -> Answer:
        return case.serve(reply, request._replace(params=_without_window(request, asked.get(request.path, {}))))

    careless = replace(case, serve=serve)
    for pit in (min(seen.stamps.values()) - MICROSECOND, *instants(seen, at_most=5)):
        expected, other = look(case, pit), look(careless, pit)
        if other.crash:
            raise failure(f"the provider fails when the server ignores its window ({other.crash})", _WINDOW)
        added = other.stamps.keys() - expected.stamps.keys()
        if added:
            raise failure(f"item {sorted(added)[0]!r} is served at {pit} when the server ignores the window", _WINDOW)
        lost = expected.stamps.keys() - other.stamps.keys()
        if lost and not other.gap_types & {"upstream_error", "truncated"}:
            raise failure(f"item {sorted(lost)[0]!r} is lost at {pit} when the server ignores the window", _WINDOW)


_WINDOW = (
    "narrow the server's window as you like, but do not rely on it: yield every record with its own stamp, "
    "and never stop early because of a late one"
)


def _worlds(late: Sequence[Row]) -> dict[str, Callable[[Any], None]]:
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
            if isinstance(container, list):
                container.extend([at(tree, row.path)] * 2)

    def rewritten(tree: Any) -> None:
        for row in late:
            _replace(at(tree, row.path), lambda value: f"{value} {CANARY}" if floor(value) is None else value)

    def undated(tree: Any) -> None:
        for row in late:
            if floor(row.key) is None or isinstance(row.key, int):
                _replace(at(tree, row.path), lambda value: value if floor(value) is None else None)

    return {
        "left out": lambda tree: drop(tree, late),
        "moved to the end": moved,
        "repeated": repeated,
        "rewritten": rewritten,
        "without their dates": undated,
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


def _without_window(request: Request, first: Mapping[str, str]) -> dict[str, str]:
    """The request with every date in it as it was in the run that asked for everything."""
    kept = {name: value for name, value in request.params.items() if not _is_date(value)}
    return {**kept, **{name: value for name, value in first.items() if _is_date(value)}}


def _is_date(value: str) -> bool:
    return floor(value) is not None or (value.isdigit() and floor(int(value)) is not None)


def _interference(
    pit: datetime,
    late: Sequence[Row],
    public_from: Mapping[Row, datetime],
    what: str,
    options: Mapping[str, object],
    expected: Seen,
    other: Seen,
) -> AssertionError:
    example = min(late, key=lambda row: public_from[row])
    with_options = f" and {options}" if options else ""
    return failure(
        f"at the PIT {pit}{with_options} the output tells of records that were not public yet "
        f"({sorted(example.ids)[0]!r} from {public_from[example]} on, {len(late)} in all): "
        f"it changes when they are {what}.\n{_difference(expected, other)}",
        "yield every record with its stamps and let the framework decide: never cut to query.limit, stop, count, "
        "sort, yield a gap or raise because of a record that may be late",
    )


def _difference(expected: Seen, other: Seen) -> str:
    for left, right in zip(expected.leaves, other.leaves, strict=True):
        if left != right:
            texts = str(left), str(right)
            start = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
            return "\n".join(f"  {text[max(0, start - 60) : start + 60]!r}" for text in texts)
    return ""
