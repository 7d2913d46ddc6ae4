"""Take the ends of periods that are a few days apart for one. Pure.

A filing types the end of a quarter a day off, or writes the last day of the month where the company's quarters end with
a week. No company has two periods that end within a week of each other: there would be a fifth quarter in its year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.periods import kind_of
from pit_fetch_providers.sec_facts.versions import age

# A quarter that ends with a week ends up to six days before its month does.
_WEEK = timedelta(days=7)


def one_for_each_week(records: Iterable[Record]) -> list[Record]:
    """Return the versions, with the end that was first reported in the place of others that are a few days off.

    Those that come later change nothing: a period keeps its end. Of two facts that a filing reports of one period so,
    that of the kept end counts. An instant is what it is: a debt of some day stands in a note.
    """
    every = list(records)
    moved = _moved(every)
    if not moved:
        return every
    kept = {record.id: record for record in every if not _is_fiscal(record) or record.payload["end"] not in moved}
    for record in sorted(every, key=lambda record: record.id, reverse=True):
        if record.id not in kept:
            placed = _at(record, moved[record.payload["end"]])
            kept.setdefault(placed.id, placed)
    return list(kept.values())


def _moved(records: Iterable[Record]) -> Mapping[str, str]:
    """Return the ends that are others than was first reported, as ISO writes them, with that one."""
    by_end: dict[str, list[Record]] = {}
    for record in records:
        if record.payload["start"] is not None:
            by_end.setdefault(record.payload["end"], []).append(record)
    days = sorted(map(date.fromisoformat, by_end))
    close = {day for pair in pairwise(days) if pair[1] - pair[0] < _WEEK for day in pair}
    fiscal = {day: list(filter(_is_fiscal, by_end[day.isoformat()])) for day in close}
    kept, moved = list[date](), dict[str, str]()
    for day in sorted((day for day in fiscal if fiscal[day]), key=lambda day: (*_shown(fiscal[day]), day)):
        near = next((other for other in kept if abs(other - day) < _WEEK), None)
        if near is None:
            kept.append(day)
        else:
            moved[day.isoformat()] = near.isoformat()
    return moved


def _shown(versions: Iterable[Record]) -> tuple[Any, int]:
    """Return what orders ends: when the first of their versions was public, and how many its filing has of them."""
    ages = Counter(map(age, versions))
    first = min(ages)
    return first, -ages[first]


def _is_fiscal(record: Record) -> bool:
    """Return whether a fact is of a period as companies report on."""
    start, end = record.payload["start"], record.payload["end"]
    return start is not None and kind_of(date.fromisoformat(start), date.fromisoformat(end)) != ""


def _at(record: Record, end: str) -> Record:
    fact, _, accession = record.id.rpartition(":")
    return record._replace(id=f"{fact.rpartition(':')[0]}:{end}:{accession}", payload={**record.payload, "end": end})
