"""What an archive adds to an explanation: the records that it holds beside those that the source sends. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.engine.report import FetchResult
from pit_fetch.gaps import REASONS, Gap
from pit_fetch.pipeline.cursor import Position, position
from pit_fetch.provider import Record


def complete_to(answer: FetchResult) -> Position:
    """The position down to which an answer is complete."""
    if not any(one.type == "truncated" for one in answer.gaps):
        return float("inf"), ""
    return position(answer.public[-1]) if answer.public else (float("-inf"), "")


def in_gaps(gaps: list[Gap], held: Iterable[Gap]) -> list[Gap]:
    """``gaps``, with what an archive says of a snapshot in place of what a source alone would show."""
    codes = {gap.code for gap in held}
    kept = [gap for gap in gaps if gap.code.archived not in codes]
    archived = {code.archived for code in REASONS} - {""}
    return [*kept, *(gap for gap in held if gap.code in archived and gap not in kept)]


def joined(
    live: Iterable[Record],
    served: Iterable[Record],
    later: Iterable[Record],
    reach: Position = (float("inf"), ""),
    derives: bool = False,
) -> list[tuple[Record, str]]:
    """What a source sends now and what an archive holds, as one list. Pure.

    ``served`` is what a fetch at the PIT shows, down to ``reach``; ``later`` what is known beyond the PIT. Each record
    comes with why a fetch does not show it, although its stamps may be good: "replaced" by what the archive holds, or
    "unseen" by it; else "". ``derives``: payloads cannot be compared, since they hold what was computed across records.
    """

    def version(one: Record) -> tuple[object, ...]:
        return one.id, one.available_at, one.revised_at, "" if derives else str(one.payload)

    by_id = {one.id: one for one in served}
    found = []
    for one in live:
        other = by_id.get(one.id)
        if other is None:
            found.append((one, "unseen" if position(one) <= reach else ""))
        elif version(other) == version(one):
            found.append((one, ""))
        elif other.payload != one.payload:
            found.append((one, "replaced"))
    known = {version(one) for one, _ in found}
    for one in (*by_id.values(), *later):
        if version(one) not in known:
            known.add(version(one))
            found.append((one, "" if one.id in by_id and by_id[one.id] is one else "unseen"))
    return found
