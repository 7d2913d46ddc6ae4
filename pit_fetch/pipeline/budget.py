"""The largest envelope within a budget of characters: whole items from the first on, or a chunk of the first. Pure.

>>> from datetime import UTC, datetime
>>> from pit_fetch.pipeline.envelope import entries
>>> from pit_fetch.provider import Record
>>> instant = datetime(2024, 2, 15, 21, tzinfo=UTC)
>>> options = EnvelopeOptions(query="--source demo")
>>> shown = entries([Record(id, instant, {"text": "x" * 200}) for id in "abc"], options)
>>> sized = fit_to_budget(shown, [], options, json.dumps, 900)
>>> sized.record_count, len(sized.text) <= 900, sized.envelope.gaps[0]["cursor"]
(2, True, 'b@2024-02-15T16:00:00-05:00')
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.gaps import Code, Gap, Reason, gap
from pit_fetch.pipeline.chunks import Chunk, chunk, is_resumable, remaining_size
from pit_fetch.pipeline.cursor import format_cursor
from pit_fetch.pipeline.envelope import Entry, EnvelopeOptions, PlainEnvelope, envelope_of, is_quoting
from pit_fetch.provider import ENVELOPE_FIELDS

Write = Callable[[PlainEnvelope], Any]  # text, or the bytes of a binary format


class SizedEnvelope(NamedTuple):
    """An envelope within its budget, as it was written, and the number of records that it is done with."""

    envelope: PlainEnvelope
    text: Any
    record_count: int


def fit_to_budget(
    shown: Sequence[Entry], gaps: Sequence[Gap], options: EnvelopeOptions, write: Write, max_chars: int = 0
) -> SizedEnvelope:
    """Return the envelope whose text, as ``write`` makes it, has at most ``max_chars`` characters (0: any number).

    It has whole items only, from the first on, then a ``truncated`` gap with the cursor to continue from. If the first
    item alone is too large, it has a chunk of it, and the cursor leads to the rest.
    """
    items = [entry.item for entry in shown]
    if items:
        rest = _chunk(items[0], remaining_size(items[0], options.start, ENVELOPE_FIELDS), options)
        if rest.next is not None:  # it has to be cut once more, however much room there is
            return _fit_oversized(shown, gaps, options, write, max_chars or sys.maxsize)
        items[0] = rest.item
    whole = envelope_of(items, gaps, options)
    sized = SizedEnvelope(whole, write(whole), len(items))
    if not max_chars or len(sized.text) <= max_chars:
        return sized
    least, most = 0, len(items) - 1
    while least < most:
        count = (least + most + 1) // 2
        cut = _replace_cap_gaps(gaps, options, max_chars, format_cursor(shown[count - 1].record))
        candidate = envelope_of(items[:count], cut, options)
        text = write(candidate)
        if len(text) <= max_chars:
            least, sized = count, SizedEnvelope(candidate, text, count)
        else:
            most = count - 1
    return sized if least else _fit_oversized(shown, gaps, options, write, max_chars)


def can_continue(item: dict[str, Any], options: EnvelopeOptions) -> bool:
    """Return whether ``item`` continues where ``options`` start: its text has not changed since the last chunk."""
    return options.start is None or is_resumable(item, options.start, ENVELOPE_FIELDS)


def _left_out(names: Sequence[str], max_chars: int) -> Gap:
    from pit_fetch.support.wording import enumerate_names

    return gap(Code.FIELD_LEFT_OUT, max_chars=max_chars, fields=enumerate_names(names))


def _chunk(item: dict[str, Any], room: int, options: EnvelopeOptions) -> Chunk:
    return chunk(item, options.start, room, ENVELOPE_FIELDS, partial(is_quoting, pit=options.pit))


def _replace_cap_gaps(
    gaps: Sequence[Gap], options: EnvelopeOptions, max_chars: int, cursor: str, code: Reason = Code.MAX_CHARS
) -> list[Gap]:
    resumable, for_good = (
        gap(code, max_chars=max_chars, cursor=cursor),
        gap(Code.MAX_CHARS_FOR_GOOD, max_chars=max_chars),
    )
    # The budget cuts earlier than --limit and --max-pages do, so its cursor replaces theirs.
    return [*(gap for gap in gaps if not gap.code.is_cap), resumable if options.resumes else for_good]


def _fit_oversized(
    shown: Sequence[Entry], gaps: Sequence[Gap], options: EnvelopeOptions, write: Write, max_chars: int
) -> SizedEnvelope:
    """Return the first item alone, with as much of its texts as fits. If nothing does, continue after it."""
    item = shown[0].item if shown else {}
    # What is not a text cannot be cut. It is left out if it has to be, the largest first.
    others = [name for name, value in item.items() if name not in ENVELOPE_FIELDS and not isinstance(value, str)]
    others.sort(key=lambda name: (-len(json.dumps(item[name])), name))

    def fit_without(count: int) -> SizedEnvelope | None:
        shortened = {**item, **dict.fromkeys(others[:count])}
        return _longest_chunk(shown, shortened, others[:count], gaps, options, write, max_chars)

    fitting = fit_without(0) if shown else None
    if shown and fitting is None:  # the fewest fields without which it fits
        fitting = fit_without(
            1 + bisect_left(range(1, len(others)), True, key=lambda count: fit_without(count) is not None)
        )
    if fitting is not None:
        return fitting
    cut = gaps
    if shown:
        cut = _replace_cap_gaps(gaps, options, max_chars, format_cursor(shown[0].record), Code.ITEM_LEFT_OUT)
    empty = envelope_of((), cut, options)
    return SizedEnvelope(empty, write(empty), 0)


def _longest_chunk(
    shown: Sequence[Entry],
    item: dict[str, Any],
    left_out: Sequence[str],
    gaps: Sequence[Gap],
    options: EnvelopeOptions,
    write: Write,
    max_chars: int,
) -> SizedEnvelope | None:
    """Return the longest chunk of ``item``, which stands for the first one, that fits; None if not a character does."""
    record = shown[0].record
    notes = [_left_out(left_out, max_chars)] if left_out else []
    total = remaining_size(item, options.start, ENVELOPE_FIELDS)
    least, most, longest = min(1, total), total, None
    while least <= most:
        room = (least + most + 1) // 2
        candidate = _chunk(item, room, options)
        cut = list(gaps)
        if candidate.next is not None:
            resume = format_cursor(record, candidate.next)
            cut = _replace_cap_gaps(gaps, options, max_chars, resume, Code.CONTINUED)
        elif len(shown) > 1:
            cut = _replace_cap_gaps(gaps, options, max_chars, format_cursor(record))
        envelope = envelope_of([candidate.item], [*cut, *notes], options)
        text = write(envelope)
        if len(text) <= max_chars:
            longest, least = SizedEnvelope(envelope, text, 1), room + 1
        else:
            most = room - 1
    return longest
