"""Checks of replies whose fields have changed: renamed, missing, retyped, less precise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pit_fetch.testing.case import ObservedRun, failure
from pit_fetch.testing.documents import Format, Pattern, TreeNode, decode, field_name, fields_in, format_of
from pit_fetch.testing.recording import RecordedReply
from pit_fetch.testing.runner import observe
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


def check_drift(recording: RecordedReply) -> None:
    """Check each field renamed, missing, retyped: no crash, no earlier stamp, no item that was not served before."""
    for body, known, pattern in _fields(recording):
        for label, change in _changes(_nodes(decode(body), pattern)[0].value).items():
            tree = decode(body)
            for node in _nodes(tree, pattern):
                change(node)
            _check_changed(recording, body, known, tree, f"{field_name(pattern)} is {label}", TOLERANT)


def check_imprecise(recording: RecordedReply) -> None:
    """Check that a stamp with less in it (no offset, no clock) never means an earlier instant."""
    advice = (
        "withhold what cannot be dated (None), or take the latest instant it can mean: "
        "times.end_of_day for a date, times.wall_clock in the zone of the source for a reading without an offset"
    )
    for body, known, pattern in _fields(recording):
        for number in range(3):  # less_precise has up to three forms
            tree, example = decode(body), ""
            for node in _nodes(tree, pattern):
                forms = list(less_precise(node.value))
                if number < len(forms):
                    example = node.parent[node.key] = forms[number]
            if example:
                _check_changed(recording, body, known, tree, f"{field_name(pattern)} reads {example!r}", advice)


def _fields(recording: RecordedReply) -> Iterator[tuple[bytes, Format, Pattern]]:
    """Yield each field of the first five bodies that were served, with its body and the body's format."""
    for body in list(dict.fromkeys(made.body for _, made in recording.baseline.exchanges))[:5]:
        known = format_of(body)
        if known is not None:
            for pattern in dict.fromkeys(node.pattern for node in fields_in(decode(body))):
                yield body, known, pattern


def _nodes(tree: Any, pattern: Pattern) -> list[TreeNode]:
    return [node for node in fields_in(tree) if node.pattern == pattern]


def _changes(value: Any) -> Mapping[str, Callable[[TreeNode], object]]:
    """Return what can happen to a field that held ``value``."""

    def put(new: Any) -> Callable[[TreeNode], object]:
        return lambda node: node.parent.update({node.key: new})

    others = [new for new in _VALUES if type(new) is not type(value) or new in (10**30, "drift")]
    return {
        "renamed": lambda node: node.parent.update({f"{node.key}_drift": node.parent.pop(node.key)}),
        "missing": lambda node: node.parent.pop(node.key),
        "wrapped in a list": lambda node: node.parent.update({node.key: [node.value]}),
        **{f"{new!r} (retyped)": put(new) for new in others},
    }


def _check_changed(recording: RecordedReply, old: bytes, known: Format, tree: Any, event: str, advice: str) -> None:
    try:
        new = known.encode(tree)
    except (ValueError, TypeError):
        return  # the format cannot express the change: a typed column holds no other type

    def wire(request: HttpRequest, made: Response) -> Response:
        return replace(made, body=new) if made.body == old else made

    run = observe(recording.case, recording.case.now, wire=wire)
    check_not_worse(recording.baseline, run, event, advice)


def check_not_worse(baseline: ObservedRun, run: ObservedRun, event: str, advice: str) -> None:
    """Check a run against the baseline: no crash, no endless asking, no earlier stamp, and at no instant more items."""
    if run.crash:
        raise failure(f"when {event}, the provider fails: {run.crash}", advice)
    if run.asked_too_often:
        raise failure(f"when {event}, the provider asks for ever", "stop when a page brings nothing new")
    known: dict[str, list[datetime]] = {}
    for version in sorted(baseline.versions, key=lambda version: version.public_from):
        known.setdefault(version.id, []).append(version.public_from)
    for item, stamp in run.stamps.items():
        before = known.get(item, [stamp])
        if stamp < before[-1] and stamp not in before:
            raise failure(
                f"when {event}, item {item!r} counts as public from {stamp} on, not from {before[-1]}", advice
            )
    new, old = sorted(run.stamps.values()), sorted(stamp for stamps in known.values() for stamp in stamps)
    # Where there are fewer new ones, the old ones that remain may be any, so the earliest pair up.
    if len(new) > len(old) or any(after < before for after, before in zip(new, old, strict=False)):
        raise failure(f"when {event}, items are served that were not served before", advice)
