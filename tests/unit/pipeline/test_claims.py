"""What is served on a claim: only where it is accepted, only what nothing proves, and marked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest

from pit_fetch.pipeline.claims import acceptor
from pit_fetch.pipeline.select import Withheld, in_order, public
from pit_fetch.provider import Dating, Field, Operation, Record
from tests.unit.pipeline.selecting import PIT

OPERATION = Operation(
    dating=Dating(claims="by its first stamp"),
    window="day",
    period="session",
    fields=(
        Field("title"), Field("updated", "instant"), Field("seen", "date"), Field("day", "date"),
        Field("session", "date"),
    ),
)  # fmt: skip
accept = acceptor(OPERATION)
SECOND = timedelta(seconds=1)


def record(name: str, proof: float | None, claim: float | None, revised: float | None = None, **payload: Any) -> Record:
    """A record whose stamps lie so many seconds before the PIT; None stands for a stamp that it does not have."""
    stamps = [None if seconds is None else PIT - seconds * SECOND for seconds in (proof, revised, claim)]
    available, revised_at, claimed_at = stamps
    return Record(name, available, payload, revised_at, claimed_at=claimed_at)


def served(records: Iterable[Record], *, claims: bool = True) -> list[Record]:
    stream = (
        public(records, lambda: PIT, Withheld(), accept=accept) if claims else public(records, lambda: PIT, Withheld())
    )
    return [part for part in in_order(stream) if isinstance(part, Record)]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (record("a", 1, 1), "proved"),
        (record("a", 1, None), "proved"),
        (record("a", 0, 5), "proved"),
        (record("a", 9, 9, revised=-1), "claimed"),
        (record("a", 9, 0, revised=-1), "claimed"),
        (record("a", None, 0), "claimed"),
        (record("a", -1, 1), "claimed"),
        (record("a", None, -1e-6), ""),
        (record("a", 9, None, revised=-1), ""),
        (record("a", None, None), ""),
        (record("", None, 1), ""),
        (record("a", None, 1)._replace(claimed_at=datetime(2020, 1, 1)), ""),  # noqa: DTZ001
        (record("a", None, 1)._replace(at_receipt=True), "claimed"),
    ],
)
def test_a_proof_goes_first_and_a_claim_counts_from_its_own_instant(item: Record, expected: str) -> None:
    shown = served([item])
    assert [("claimed" if made.is_claimed else "proved") for made in shown] == ([expected] if expected else [])
    assert [made.id for made in served([item], claims=False)] == (["a"] if expected == "proved" else [])
    if expected == "claimed":
        (made,) = shown
        stamps = made.available_at, made.revised_at, made.first_seen_at, made.at_receipt
        assert stamps == (item.claimed_at, None, None, False)
    elif shown:
        assert shown == [item]


def test_without_a_pit_nothing_rests_on_a_claim() -> None:
    item = record("a", None, 1)
    assert list(public([item], lambda: None, Withheld(), accept=accept)) == [item]


def test_what_is_served_on_a_claim_was_not_withheld() -> None:
    withheld = Withheld()
    records = [record("a", -1, 1), record("b", -1, -1), record("c", None, None), record("", None, 1)]
    assert len(list(public(records, lambda: PIT, withheld, accept=accept))) == 1
    assert (withheld.late, withheld.undated, withheld.unusable) == (["b"], ["c"], 1)


@pytest.mark.parametrize(
    ("field", "value", "is_kept"),
    [
        ("updated", "2024-02-15T16:00:00-05:00", True),
        ("updated", "2024-02-15T16:00:00.000001-05:00", False),
        ("updated", "Thu, 15 Feb 2024 16:00:01 -0500", False),
        ("updated", "Thu, 15 Feb 2024 15:59:00 -0500", True),
        ("updated", "yesterday", False),
        ("updated", 1_708_000_000, False),
        ("updated", None, True),
        ("seen", "2024-02-14", True),  # over everywhere on Earth
        ("seen", "2024-02-15", False),
        ("seen", "2024-02", False),
        ("day", "2024-02-15", True),  # what the claim is of
        ("session", "2024-02-15", True),
        ("title", "2030-01-01T00:00:00Z", True),
    ],
)
def test_a_later_stamp_in_its_payload_is_left_out(field: str, value: object, is_kept: bool) -> None:
    (made,) = served([record("a", None, 1)._replace(payload={field: value, "n": 1})])
    assert made.payload == ({field: value, "n": 1} if is_kept else {"n": 1})
    proved = record("a", 1, 1)._replace(payload={field: value})
    assert served([proved]) == [proved]


def test_a_claim_may_have_a_payload_of_its_own() -> None:
    item = record("a", -1, 1, close=1)._replace(claimed_payload={"close": 4, "updated": "2030-01-01T00:00:00Z"})
    assert [made.payload for made in served([item])] == [{"close": 4}]
    assert [made.payload for made in served([item._replace(available_at=PIT)])] == [{"close": 1}]
