"""Leaks and losses of items that are delivered in parts."""

from __future__ import annotations

from typing import Any

from pit_fetch.pipeline.chunks import Chunk
from tests.laws.mutants.leak import Mutant, in_module

_LAWS = ("sample: continued",)


def _late(real: Any) -> Any:
    def part(item: Any, start: Any, room: Any, kept: Any) -> Any:
        made = real(item, start, room, kept)
        return made if made.next is None else Chunk(made.item, made.next._replace(offset=made.next.offset + 1))

    return part


def _over_again(real: Any) -> Any:
    return lambda item, start, room, kept: real(item, None if start is None else start._replace(offset=0), room, kept)


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
        lambda real: lambda item, place, kept: real(item, place._replace(checksum=""), kept),
        ("sample: changed",),
    ),
    _chunks(
        "parts: the end of a text is not told",
        "chunk",
        lambda real: lambda item, start, room, kept: real(item, start, room, kept)._replace(next=None),
        _LAWS,
    ),
)
