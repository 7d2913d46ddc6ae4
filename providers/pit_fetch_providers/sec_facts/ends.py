"""Take periods whose days are a few days apart for one where filings prove that they are. Pure.

A filing types the end of a quarter a day off, or writes the last day of the month where the company's quarters end with
a week. But a company that leaves chapter 11 or moves the end of its year has two periods of its own, as close. So it is
not the days that tell: the later filing repeats the profit of the period that was reported before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.lines import ANCHORS, PROFITS
from pit_fetch_providers.sec_facts.periods import Span, is_near, kind_of
from pit_fetch_providers.sec_facts.versions import RELEASED, age, concept_of, first_shown

# A period as its dates are typed, as ISO writes them.
_Typed = tuple[str, str]


class Same(NamedTuple):
    """The period that another is, with the days that were reported first, and the version that proved it."""

    period: Span
    shown: Record


def same_periods(records: Iterable[Record]) -> Mapping[Span, Same]:
    """Return the periods that are proved to be one that was reported before, in the order in which they were.

    Each is judged once, by what was public when it was first reported. Nothing that comes later changes it.
    """
    every = list(records)
    typed: set[tuple[str | None, str]] = set(map(itemgetter("start", "end"), [record.payload for record in every]))
    if not _are_close({end for _, end in typed}) and not _are_close({start for start, _ in typed if start is not None}):
        return {}  # in most cases
    versions: dict[_Typed, list[Record]] = {}
    for record in every:
        if concept_of(record) in ANCHORS and _is_fiscal(record):
            versions.setdefault((record.payload["start"], record.payload["end"]), []).append(record)
    kept, same = list[_Typed](), dict[Span, Same]()
    for period in sorted(versions, key=lambda period: (*first_shown(versions[period]), period)):
        first = min(versions[period], key=age)
        near = (other for other in kept if _are_near(period, other))
        proved = (other for other in near if _agree(*(_public(versions[one], first) for one in (other, period))))
        if (other := next(proved, None)) is None:
            kept.append(period)
        else:
            same[_span(period)] = Same(_span(other), first)
    return same


def one_for_each_period(records: Iterable[Record], same: Mapping[Span, Same]) -> list[Record]:
    """Return the versions, with those of a period that is another one in its place, since that was proved.

    Those that were public before stay in their own place, too: what was answered then does not change. Of two facts
    that a filing reports of one period so, that of the days that were reported first counts.
    """
    if not same:  # in most cases
        return list(records)
    proofs = {(str(typed.start), str(typed.end)): proof for typed, proof in same.items()}
    kept, moved = dict[str, Record](), list[Record]()
    for record in records:
        proof = proofs.get((record.payload["start"], record.payload["end"]))
        if proof is None or age(record)[0] < age(proof.shown)[0]:
            kept[record.id] = record
        if proof is not None:
            moved.append(_moved(record, proof))
    for record in sorted(moved, key=lambda record: record.id):
        kept.setdefault(record.id, record)
    return list(kept.values())


def _are_close(days: Iterable[str]) -> bool:
    """Return whether any two of the days are within a week of each other."""
    return any(is_near(*pair) for pair in pairwise(sorted(map(date.fromisoformat, days))))


def _span(typed: _Typed) -> Span:
    start, end = map(date.fromisoformat, typed)
    return Span(start, end)


def _are_near(one: _Typed, other: _Typed) -> bool:
    """Return whether two periods are of one kind, and begin and end within a week of each other."""
    days = [[*map(date.fromisoformat, typed)] for typed in (one, other)]
    return all(map(is_near, *days)) and kind_of(*days[0]) == kind_of(*days[1])


def _public(versions: Iterable[Record], first: Record) -> list[Record]:
    """Return the versions that were public when ``first`` was."""
    return [version for version in versions if age(version)[0] <= age(first)[0]]


def _agree(one: Sequence[Record], other: Sequence[Record]) -> bool:
    """Return whether filings give two periods the same profit, and no other value of what tells of both."""
    values, others = _values(one), _values(other)
    common = {what: values[what] & others[what] for what in values.keys() & others.keys()}
    return all(common.values()) and any(what[0] in PROFITS and common[what] - {0} for what in common)


def _values(versions: Iterable[Record]) -> Mapping[tuple[str, str], set[Any]]:
    by_concept: dict[tuple[str, str], set[Any]] = {}
    for version in versions:
        by_concept.setdefault((concept_of(version), version.payload["unit"]), set()).add(version.payload["value"])
    return by_concept


def _is_fiscal(record: Record) -> bool:
    """Return whether a fact is of a period as companies report on."""
    start, end = record.payload["start"], record.payload["end"]
    return start is not None and kind_of(date.fromisoformat(start), date.fromisoformat(end)) != ""


def _moved(record: Record, proof: Same) -> Record:
    """Return a version as one of the period that its own was proved to be."""
    start, end = map(str, proof.period)
    fact, _, accession = record.id.rpartition(":")
    payload = {**record.payload, "start": start, "end": end}
    moved = record._replace(id=f"{fact.rsplit(':', 2)[0]}:{start}:{end}:{accession}", payload=payload)
    if age(record)[0] >= age(proof.shown)[0]:
        return moved
    return moved._replace(available_at=proof.shown.available_at, payload={**payload, RELEASED: record.available_at})
