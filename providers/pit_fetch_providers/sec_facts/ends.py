"""Take the days on which periods end, or begin, for one where they are a few days apart. Pure.

A filing types the end of a quarter a day off, or writes the last day of the month where the company's quarters end with
a week. No company has two periods that end within a week of each other: there would be a fifth quarter in its year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import itemgetter
from typing import Any

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.lines import ANCHORS, TOTALS
from pit_fetch_providers.sec_facts.periods import is_near, kind_of
from pit_fetch_providers.sec_facts.versions import age

# A period as its dates are typed; without a start, an instant.
_Typed = tuple[str | None, str]


def one_for_each_week(records: Iterable[Record]) -> list[Record]:
    """Return the versions, with the days of a period that were first reported in the place of others close to them.

    Those that come later change nothing: a period keeps its end, and its start. Of two facts that a filing reports of
    one period so, that of the kept days counts. An instant is what it is, unless it is of a balance sheet: a debt of
    some day stands in a note.
    """
    every = list(records)
    typed: set[_Typed] = set(map(itemgetter("start", "end"), [record.payload for record in every]))
    if not _are_close({end for _, end in typed}) and not _are_close({start for start, _ in typed if start is not None}):
        return every  # in most cases
    anchors = [record for record in every if _concept(record) in ANCHORS and _is_fiscal(record)]
    ends = _kept(anchors, "end")
    flows, sheets = _flows(typed, anchors, ends), _sheets(every, ends)

    def placed(record: Record) -> Record:
        start, end = span = record.payload["start"], record.payload["end"]
        return _at(
            record, (start, sheets.get((record.payload["accession"], end), end)) if start is None else flows[span]
        )

    kept = {record.id: record for record in every}
    moved = [(record, new) for record in every if (new := placed(record)) is not record]
    for record, _ in moved:
        del kept[record.id]
    for _, new in sorted(moved, key=lambda pair: pair[0].id, reverse=True):
        kept.setdefault(new.id, new)
    return list(kept.values())


def _are_close(days: Iterable[str]) -> bool:
    """Return whether any two of the days are within a week of each other."""
    return any(is_near(*pair) for pair in pairwise(sorted(map(date.fromisoformat, days))))


def _kept(versions: Iterable[Record], name: str) -> list[date]:
    """Return the days of the field ``name`` that no other was within a week of when they were first reported."""
    by_day: dict[str, list[Record]] = {}
    for version in versions:
        by_day.setdefault(version.payload[name], []).append(version)
    kept = list[date]()
    for day in map(date.fromisoformat, sorted(by_day, key=lambda day: (*_shown(by_day[day]), day))):
        if not any(is_near(day, other) for other in kept):
            kept.append(day)
    return kept


def _flows(typed: Iterable[_Typed], anchors: Iterable[Record], ends: Sequence[date]) -> Mapping[_Typed, _Typed]:
    """Return the place of each period: its kept end, and the start that was first reported of a period of this end."""
    by_end: dict[date, list[Record]] = {}
    for version in anchors:
        by_end.setdefault(_first_near(date.fromisoformat(version.payload["end"]), ends), []).append(version)
    starts = {end: _kept(versions, "start") for end, versions in by_end.items()}
    return {span: _place(span, ends, starts) for span in typed}


def _place(span: _Typed, ends: Sequence[date], starts: Mapping[date, Sequence[date]]) -> _Typed:
    if span[0] is None:
        return span
    start, end = date.fromisoformat(span[0]), date.fromisoformat(span[1])
    kind = kind_of(start, end)
    if not kind:  # no period as companies report on
        return span
    end = _first_near(end, ends)
    kept = _first_near(start, starts.get(end, ()))
    return (kept if kind_of(kept, end) == kind else start).isoformat(), end.isoformat()


def _sheets(records: Iterable[Record], ends: Sequence[date]) -> Mapping[tuple[str, str], str]:
    """Return the kept end for each day of a filing's balance sheets that is close to one, by accession number and day.

    A balance sheet has a total, and at least half as many figures as the fullest of its filing: an opening balance, of
    the day after, has fewer. It is the period's, if the filing has none of the kept end itself.
    """
    figures: dict[str, Counter[str]] = {}
    totals: dict[str, set[str]] = {}
    for record in records:
        payload = record.payload
        if payload["start"] is None:
            figures.setdefault(payload["accession"], Counter())[payload["end"]] += 1
            if _concept(record) in TOTALS:
                totals.setdefault(payload["accession"], set()).add(payload["end"])
    return {
        (accession, day): end
        for accession, days in totals.items()
        for day, end in _of_one_filing(days, figures[accession], ends)
    }


def _of_one_filing(days: Iterable[str], figures: Mapping[str, int], ends: Sequence[date]) -> Iterator[tuple[str, str]]:
    """Yield the days of a filing's balance sheets that are not a kept end, with the one that they are close to."""
    near = {day: _first_near(date.fromisoformat(day), ends).isoformat() for day in days}
    taken = {day for day, end in near.items() if day == end}
    for day in sorted(near, key=lambda day: (-figures[day], day)):
        if near[day] not in taken and 2 * figures[day] >= max(figures.values()):
            taken.add(near[day])
            yield day, near[day]


def _first_near(day: date, kept: Iterable[date]) -> date:
    """Return the first of the ``kept`` days within a week of ``day``; itself if there is none."""
    return next((other for other in kept if is_near(other, day)), day)


def _shown(versions: Iterable[Record]) -> tuple[Any, int]:
    """Return what orders days: when the first of their versions was public, and how many its filing has of them."""
    ages = Counter(map(age, versions))
    first = min(ages)
    return first, -ages[first]


def _is_fiscal(record: Record) -> bool:
    """Return whether a fact is of a period as companies report on."""
    start, end = record.payload["start"], record.payload["end"]
    return start is not None and kind_of(date.fromisoformat(start), date.fromisoformat(end)) != ""


def _concept(record: Record) -> str:
    return f"{record.payload['taxonomy']}:{record.payload['concept']}"


def _at(record: Record, span: _Typed) -> Record:
    """Return a version as one of another period; itself if it is of this one."""
    payload = record.payload
    if span == (payload["start"], payload["end"]):
        return record
    start, end = span
    fact, _, accession = record.id.rpartition(":")
    placed = f"{fact.rsplit(':', 2)[0]}:{start or ''}:{end}:{accession}"
    return record._replace(id=placed, payload={**payload, "start": start, "end": end})
