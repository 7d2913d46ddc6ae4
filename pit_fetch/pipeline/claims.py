"""Which records are served on a claim, where the operator accepts one. Pure.

A record that is public by its proof is served by it, whether or not it has a claim. One that is not is served on its
claim from the claimed instant on, and marked: its content may have changed since, unmarked.

>>> from datetime import UTC, datetime
>>> from pit_fetch.provider import Dating, Field
>>> def at(hour): return datetime(2024, 2, 15, hour, tzinfo=UTC)
>>> operation = Operation(dating=Dating(claims="by created"), fields=(Field("updated", "instant"),))
>>> edited = Record("a", at(9), {"updated": "2024-02-15T17:00:00Z"}, at(17), claimed_at=at(9))
>>> accept = acceptor(operation)
>>> claimed = accept(edited, at(16))
>>> claimed.available_at.hour, claimed.revised_at, claimed.payload, claimed.is_claimed
(9, None, {}, True)
>>> accept(edited, at(8)) is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pit_fetch.provider import FieldKind, Operation, Record
from pit_fetch.times import end_of_day_anywhere, is_aware, parse_date, parse_rfc2822, parse_rfc3339

# The grades of evidence.
PROVED, CLAIMED = GRADES = ("proved", "claimed")

# From a record that its proof does not show at an instant, and that instant, to the record on its claim, or None.
Accept = Callable[[Record, datetime | None], Record | None]


def accept_none(record: Record, cutoff: datetime | None) -> None:
    """Accept no claim."""


def acceptor(operation: Operation) -> Accept:
    """Return what accepts the claims of an operation."""
    # Never drop the date that a record is about. A date counts as its end, so that the day of a bar which is claimed at
    # 20:00 would seem to lie after the PIT.
    about = (operation.period, operation.window)
    stamps = {
        field.name: field.kind
        for field in operation.fields
        if field.kind in ("instant", "date") and field.name not in about
    }

    def accept(record: Record, cutoff: datetime | None) -> Record | None:
        at = record.claimed_at
        if cutoff is None or at is None or not is_aware(at) or at > cutoff:
            return None
        payload = record.payload if record.claimed_payload is None else record.claimed_payload
        return record._replace(
            available_at=at,
            payload=_drop_late_stamps(cutoff, payload, stamps),
            revised_at=None,
            at_receipt=False,
            first_seen_at=None,
            is_claimed=True,
        )

    return accept


def _drop_late_stamps(
    cutoff: datetime, payload: Mapping[str, Any], stamps: Mapping[str, FieldKind]
) -> Mapping[str, Any]:
    """Return the payload without the stamps that lie after ``cutoff``, or cannot be read."""
    return {
        name: value
        for name, value in payload.items()
        if value is None or name not in stamps or _is_past(cutoff, value, stamps[name])
    }


def _is_past(cutoff: datetime, value: object, kind: FieldKind) -> bool:
    if kind == "date":
        day = parse_date(value)
        moment = None if day is None else end_of_day_anywhere(day)
    else:
        moment = parse_rfc3339(value) or parse_rfc2822(value)
    return moment is not None and moment <= cutoff
