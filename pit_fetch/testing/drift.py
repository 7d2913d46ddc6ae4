"""Checks of replies whose fields are not what they were: renamed, missing, retyped, less precise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pit_fetch.testing.case import Case, Seen, failure
from pit_fetch.testing.documents import Format, Pattern, Place, document, format_of, name, places
from pit_fetch.testing.recording import Recording
from pit_fetch.testing.runner import look
from pit_fetch.testing.server import Response
from pit_fetch.testing.timestamps import less_precise
from pit_fetch.transport import HttpRequest

# One value of each JSON type, and numbers that are neither a time nor a size.
_VALUES: tuple[Any, ...] = (None, True, 0, 10**30, "drift", "", [], {}, [None])

TOLERANT = (
    "read every field as if it could be missing or of another type (row.get, isinstance), "
    'yield available_at=None where the stamp is not what it was, and raise UpstreamError("malformed", problem="…") '
    "where the reply as a whole is"
)


def check_drift(recording: Recording) -> None:
    """Each field renamed, missing, retyped: no crash, no earlier stamp, no item that was not served before."""
    case, seen = recording.case, recording.seen
    for body in _bodies(seen):
        known = format_of(body)
        if known is None:
            continue
        for pattern in dict.fromkeys(place.pattern for place in places(document(body))):
            for what, change in _changes(_first_value(document(body), pattern)).items():
                tree = document(body)
                for place in [place for place in places(tree) if place.pattern == pattern]:
                    change(place)
                _compare(case, seen, body, _encoded(known, tree), f"{name(pattern)} is {what}", TOLERANT)


def check_imprecise(recording: Recording) -> None:
    """A stamp that says less than it did never means an earlier instant."""
    case, seen = recording.case, recording.seen
    advice = (
        "withhold what cannot be dated (None), or take the latest instant it can mean: "
        "times.end_of_day for a date, times.wall_clock in the zone of the source for a reading without an offset"
    )
    for body in _bodies(seen):
        known = format_of(body)
        if known is None:
            continue
        patterns = dict.fromkeys(place.pattern for place in places(document(body)))
        for pattern in patterns:
            for form in range(3):
                tree, example = document(body), ""
                for place in [place for place in places(tree) if place.pattern == pattern]:
                    forms = list(less_precise(place.parent[place.key]))
                    if form < len(forms):
                        example = place.parent[place.key] = forms[form]
                if example:
                    _compare(case, seen, body, _encoded(known, tree), f"{name(pattern)} reads {example!r}", advice)


def _bodies(seen: Seen) -> list[bytes]:
    return list(dict.fromkeys(made.body for _, made in seen.exchanges))[:5]


def _first_value(tree: Any, pattern: Pattern) -> Any:
    return next(place.parent[place.key] for place in places(tree) if place.pattern == pattern)


def _changes(value: Any) -> Mapping[str, Callable[[Place], None]]:
    """What can happen to a field that held ``value``."""

    def rename(place: Place) -> None:
        place.parent[f"{place.key}_drift"] = place.parent.pop(place.key)

    def remove(place: Place) -> None:
        del place.parent[place.key]

    def retype(new: Any) -> Callable[[Place], None]:
        def change(place: Place) -> None:
            place.parent[place.key] = new

        return change

    others = [new for new in _VALUES if type(new) is not type(value) or new in (10**30, "drift")]
    return {
        "renamed": rename,
        "missing": remove,
        "wrapped in a list": lambda place: place.parent.update({place.key: [place.parent[place.key]]}),
        **{f"{new!r} (retyped)": retype(new) for new in others},
    }


def _encoded(known: Format, tree: Any) -> bytes | None:
    """The changed document; None where its form cannot say that: a typed column holds no other type."""
    try:
        return known.encode(tree)
    except (ValueError, TypeError):
        return None


def _compare(case: Case, seen: Seen, old: bytes, new: bytes | None, what: str, advice: str) -> None:
    if new is None:
        return

    def wire(request: HttpRequest, made: Response) -> Response:
        return replace(made, body=new) if made.body == old else made

    other = look(case, case.now, wire=wire)
    not_worse(seen, other, what, advice)


def not_worse(seen: Seen, other: Seen, what: str, advice: str) -> None:
    """No crash, no endless asking, no earlier stamp, not more items than before at any instant."""
    if other.crash:
        raise failure(f"when {what}, the provider fails: {other.crash}", advice)
    if other.asked_too_often:
        raise failure(f"when {what}, the provider asks for ever", "stop when a page brings nothing new")
    known: dict[str, list[datetime]] = {}
    for version in sorted(seen.versions, key=lambda version: version.public_from):
        known.setdefault(version.id, []).append(version.public_from)
    for item, stamp in other.stamps.items():
        before = known.get(item, [stamp])
        if stamp < before[-1] and stamp not in before:
            raise failure(f"when {what}, item {item!r} counts as public from {stamp} on, not from {before[-1]}", advice)
    counts = sorted(other.stamps.values()), sorted(stamp for stamps in known.values() for stamp in stamps)
    if len(counts[0]) > len(counts[1]) or any(new < old for new, old in _paired(*counts)):
        raise failure(f"when {what}, items are served that were not served before", advice)


def _paired(new: list[Any], old: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The k-th newest of both: with fewer new ones, the old ones may be any, so the latest pair up."""
    return zip(new, old, strict=False)
