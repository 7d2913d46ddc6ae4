"""Leaks and losses of items that are delivered in parts."""

from __future__ import annotations

from typing import Any

from pit_fetch.pipeline.chunks import Chunk
from tests.laws.mutants.leak import Mutant, first, in_module

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
    """The item is cut as the source wrote it: half a key is no key that anything recognises."""

    def item(record: Any, view: Any) -> Any:
        shown = real(record, view)
        return {name: record.payload.get(name, value) for name, value in shown.items()}

    return item


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
        "pit_fetch.pipeline.envelope:_item",
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
        "_piece",
        lambda real: lambda text, room, is_refused: real(text, room, lambda piece: False),
        _HOSTILE,
    ),
    _chunks(
        "parts: the last piece is not looked at",
        "_piece",
        lambda real: lambda text, room, is_refused: text if len(text) <= room else real(text, room, is_refused),
        _HOSTILE,
    ),
    Mutant(
        "parts: an item begins anew whenever another is left out",
        "pit_fetch.engine.report:_start",
        lambda real: lambda request, shown: None,
        (*_HOSTILE, *_LAWS),
    ),
    Mutant(
        "parts: an item that quotes a late stamp ends the answer",
        "pit_fetch.pipeline.envelope:is_quoting",
        lambda real: lambda content, pit: False,
        _HOSTILE,
    ),
    Mutant(
        "parts: a cursor has no room for a long id",
        "pit_fetch.pipeline.cursor:_short",
        first,
        _HOSTILE,
    ),
    Mutant(
        "parts: long ids that begin alike are one place",
        "pit_fetch.pipeline.cursor:_short",
        lambda real: lambda name: name[:64],
        _HOSTILE,
    ),
    Mutant("parts: a text is read as deep as Python can", "pit_gate:_MAX_QUOTED_LEVELS", lambda real: 9_999, _HOSTILE),
)
