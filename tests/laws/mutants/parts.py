"""Leaks and losses of items that are delivered in parts."""

from __future__ import annotations

from typing import Any

from pit_fetch.pipeline.chunks import Chunk
from tests.laws.mutants.leak import Mutant, in_module

_LAWS = ("sample: continued",)
_HOSTILE = ("sample: hostile texts",)


def _late(real: Any) -> Any:
    def part(item: Any, start: Any, *rest: Any) -> Any:
        made = real(item, start, *rest)
        return made if made.next is None else Chunk(made.item, made.next._replace(offset=made.next.offset + 1))

    return part


def _over_again(real: Any) -> Any:
    return lambda item, start, *rest: real(item, None if start is None else start._replace(offset=0), *rest)


def _redacted_after_the_cut(real: Any) -> Any:
    """An item is cut as the source wrote it: half a key is no key that anything recognises."""

    def raw(record: Any, item: Any) -> Any:
        return {name: record.payload.get(name, value) for name, value in item.items()}

    return lambda records, options: [
        entry._replace(item=raw(entry.record, entry.item)) for entry in real(records, options)
    ]


def _unchecked(real: Any) -> Any:
    return lambda item, start, room, fixed, is_refused=None: real(item, start, room, fixed)


def _last_one_unchecked(real: Any) -> Any:
    def part(item: Any, start: Any, room: int, fixed: Any, is_refused: Any = lambda text: False) -> Any:
        made = real(item, start, room, fixed)
        return made if made.next is None else real(item, start, room, fixed, is_refused)

    return part


def _anew(real: Any) -> Any:
    def report(request: Any, collected: Any) -> Any:
        after = request.after and request.after._replace(within=None)
        return real(request._replace(after=after), collected)

    return report


def _by_id(place: Any) -> Any:
    return lambda real: lambda record: (real(record)[0], place(record.id))


_cursor = in_module("pit_fetch.pipeline.cursor")
_chunks = in_module("pit_fetch.pipeline.chunks")

MUTANTS = (
    _chunks("parts: a part begins a character late", "chunk", _late, _LAWS),
    _chunks("parts: a part begins where its text does", "chunk", _over_again, _LAWS),
    Mutant(
        "parts: the item that goes on is skipped",
        "pit_fetch.pipeline.select:take",
        lambda real: lambda stream, builder, **named: real(stream, builder, **{**named, "within": False}),
        _LAWS,
    ),
    Mutant(
        "parts: a text is cut before its keys are redacted",
        "pit_fetch.pipeline.envelope:entries",
        _redacted_after_the_cut,
        _LAWS,
    ),
    _chunks(
        "parts: parts of two texts are joined",
        "is_resumable",
        lambda real: lambda item, start, *rest: real(item, start._replace(checksum=""), *rest),
        ("sample: changed",),
    ),
    _chunks(
        "parts: the end of a text is not told",
        "chunk",
        lambda real: lambda *given: real(*given)._replace(next=None),
        _LAWS,
    ),
    _chunks(
        "parts: a piece is cut that the gate refuses",
        "chunk",
        _unchecked,
        _HOSTILE,
    ),
    _chunks(
        "parts: the last piece is not looked at",
        "chunk",
        _last_one_unchecked,
        _HOSTILE,
    ),
    Mutant(
        "parts: an item begins anew whenever another is left out",
        "pit_fetch.engine.report:report",
        _anew,
        (*_HOSTILE, *_LAWS),
    ),
    Mutant(
        "parts: an item that quotes a late stamp ends the answer",
        "pit_fetch.pipeline.envelope:is_quoting",
        lambda real: lambda content, pit: False,
        _HOSTILE,
    ),
    _cursor(
        "parts: long ids that begin alike are one place", "place_among_ties", _by_id(lambda name: name[:64]), _HOSTILE
    ),
)
