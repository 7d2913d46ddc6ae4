"""Judge a record as ``pit_fetch explain`` shows it: its verdict, the reason, and the rule that dated it. Pure.

>>> from datetime import UTC
>>> late = Record("a", datetime(2024, 2, 15, 21, 40, tzinfo=UTC), {"title": "Acme rises"})
>>> judge(late, datetime(2024, 2, 15, 21, tzinfo=UTC), Operation(), why="").payload["because"]
'published 40 minutes after the PIT, on Thursday 2024-02-15 16:40:00 in New York (-05:00)'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Literal

from pit_fetch.pipeline.claims import acceptor
from pit_fetch.pipeline.envelope import EnvelopeOptions, entries, is_quoting
from pit_fetch.pipeline.select import visibility
from pit_fetch.provider import Operation, Record
from pit_fetch.request.operations import DATINGS
from pit_fetch.times import format_for_people

# Why a fetch does not show a record, although its stamps may be good: another version in the archive replaces it, or
# the archive never saw it. "": neither.
Why = Literal["", "replaced", "unseen"]

# The verdicts of a record that a claim may show.
NOT_PROVED = ("late", "undated")


def judge(record: Record, pit: datetime, operation: Operation, why: Why, is_accepted: bool = False) -> Record:
    """Return the record with its verdict, the reason for it, and the rule that dated it, in front of its fields.

    ``why`` says why a fetch does not show the record. ``is_accepted``: the claims of the operation are
    accepted.
    """
    state = visibility(record, pit)
    claimed = acceptor(operation)(record, pit) if state in NOT_PROVED and why != "replaced" else None
    if claimed is not None and is_accepted:
        because = f"by a claim alone, of {_format_instant(claimed.available_at)}"
        marks = {"verdict": "public", "because": because, "rule": operation.dating.claims}
        return claimed._replace(payload={**marks, **claimed.payload})
    verdict, because = _verdict(record, pit, operation, why)
    because += "; the archive holds what it said before" if why == "replaced" else ""
    because += "".join(_left_out(record, pit, operation)) if verdict == "public" else ""
    if claimed is not None:
        because += f"; a claim of {_format_instant(claimed.available_at)} dates it, which --evidence claimed accepts"
    marks = {"verdict": verdict, "because": because, "rule": _rule(record, operation)}
    return record._replace(payload={**marks, **record.payload})


def _verdict(record: Record, pit: datetime, operation: Operation, why: Why) -> tuple[str, str]:
    """Return whether a fetch shows the record, and the reason."""
    state = visibility(record, pit)
    if state == "public" and why == "replaced":
        return "revised", "changed since without a mark"
    if state == "public" and why == "unseen":
        return "late", "stamped before the PIT, but what the archive saw by then lacks it"
    if state == "late" and record.available_at is not None and record.available_at <= pit:
        only = "" if why == "replaced" else ", and only that version is served"
        return "revised", f"revised {_format_delay(record.revised_at, pit)}{only}"
    if state == "late":
        event = "published" if record.first_seen_at is None else "first seen"
        return "late", f"{event} {_format_delay(record.available_at, pit)}"
    return state, _BECAUSE[state](record, operation)


def _left_out(record: Record, pit: datetime, operation: Operation) -> Iterator[str]:
    """Yield why an answer leaves the record out, although it was public."""
    if is_quoting(entries([record], EnvelopeOptions(pit=pit))[0].item, pit):
        yield "; but left out, for its texts quote a stamp after the PIT, or a field of an envelope"
    if operation.missing_in(record):
        yield f"; but left out, for it has no {' and no '.join(operation.missing_in(record))}"


def _rule(record: Record, operation: Operation) -> str:
    """Return by which rule the record is dated."""
    if record.first_seen_at is not None:
        return "by sight: what was in the archive was public"
    return (
        (operation.dating.rule or f"by {record.available_at_source}")
        if operation.dating.by == "record"
        else operation.dating.why
    )


def _format_instant(moment: datetime | None) -> str:
    return "" if moment is None else format_for_people(moment)


def _public(record: Record, operation: Operation) -> str:
    if record.available_at is None:
        return "available at or before the PIT"
    if record.first_seen_at is not None:
        return f"in the archive since {format_for_people(record.first_seen_at)}"
    revised = "" if record.revised_at is None else f", last revised on {format_for_people(record.revised_at)}"
    return f"published on {format_for_people(record.available_at)}{revised}"


def _undated(record: Record, operation: Operation) -> str:
    why = f": {DATINGS[operation.dating.by]}" if operation.dating.by != "record" else ""
    return f"nothing shows when it was published or last revised{why}"


_BECAUSE: dict[str, Callable[[Record, Operation], str]] = {
    "public": _public,
    "undated": _undated,
    "unusable": lambda record, operation: "it has no id",
}


def _format_delay(moment: datetime | None, pit: datetime) -> str:
    """Return a text like ``5 minutes after the PIT, on Thursday ...``."""
    if moment is None:
        return "after the PIT"
    seconds = (moment - pit).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'} after the PIT, on {format_for_people(moment)}"
    return f"less than a second after the PIT, on {format_for_people(moment)}"
