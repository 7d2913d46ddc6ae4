"""The point-in-time pipeline: filter first, then order, versions, resumption, selection, cut. Pure.

Every step after :func:`public` sees public records only. Nothing that follows (which records, in which order, how
many, where the fetch stops, whether they are the source's at all) can therefore depend on a withheld one. Gaps travel
in the stream of records, each at the point where it arose, so that nothing after the last wanted record is read.

>>> from datetime import UTC, datetime
>>> from pit_fetch.provider import Record
>>> pit = datetime(2024, 2, 15, 16, tzinfo=UTC)
>>> records = [Record(id, pit.replace(hour=hour), {}) for id, hour in (("a", 9), ("b", 17), ("c", 16))]
>>> withheld, builder = Withheld(), SelectionBuilder()
>>> ordered = in_order(public(records, lambda: pit, withheld))
>>> take(ordered, builder, after=None, cap=100, limit=10, select=lambda record: True)
>>> [record.id for record in builder.build().records]
['c', 'a']
>>> withheld.late
['b']
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline.claims import Accept, accept_none
from pit_fetch.pipeline.cursor import Position, instant_age, period_age, position, record_age
from pit_fetch.provider import Page, Record, Watermark
from pit_fetch.times import delayed, in_new_york, is_aware

# A shifting page cannot explain this many consecutive public records that were already on earlier pages.
MOST_REPEATED = 100

# What a provider's fetch yields.
Part = Record | Page | Watermark | Gap
Visibility = Literal["public", "late", "undated", "unusable"]
Stopped = Literal["", "limit", "max_pages"]


class Withheld:
    """The ids of the records that were withheld, by reason, and the number of records that have no id.

    Only the audit file may contain them: in PIT mode nothing of it reaches the envelope.
    """

    def __init__(self) -> None:
        self.late: list[str] = []
        self.undated: list[str] = []
        self.unusable = 0


class Selection(NamedTuple):
    """The records that a fetch keeps, and the gaps that it met.

    scanned  the number of public records that were examined
    stopped  the cap that ended the fetch; "" if it came to its end
    is_cut   whether an error or the deadline kept the source from being read to its end
    last     the last public record that was examined
    """

    records: tuple[Record, ...] = ()
    gaps: tuple[Gap, ...] = ()
    scanned: int = 0
    stopped: Stopped = ""
    is_cut: bool = False
    last: Record | None = None


class SelectionBuilder:
    """A selection that :func:`take` fills in place: what was kept before a deadline or an error is not lost."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.gaps: list[Gap] = []
        self.scanned = 0
        self.stopped: Stopped = ""
        self.is_cut = False
        self.last: Record | None = None

    def cut(self, *gaps: Gap) -> None:
        """Note that the source could not be read to its end, and why."""
        self.is_cut = True
        self.gaps += gaps

    def build(self) -> Selection:
        """Return what has been kept so far."""
        return Selection(tuple(self.records), tuple(self.gaps), self.scanned, self.stopped, self.is_cut, self.last)


def visibility(record: Record, cutoff: datetime | None) -> Visibility:
    """Return whether ``record`` was public at ``cutoff`` (UTC; None: open mode). Without aware stamps it is undated."""
    if not record.id:
        return "unusable"
    if cutoff is None:
        return "public"
    if not is_aware(record.available_at) or not (record.revised_at is None or is_aware(record.revised_at)):
        return "undated"
    is_late = (
        record.available_at > cutoff
        or (record.revised_at is not None and record.revised_at > cutoff)
        or (record.first_seen_at is not None and record.first_seen_at > cutoff)
    )
    return "late" if is_late else "public"


def records_of(part: Part) -> tuple[Record, ...]:
    """Return the records in a part of a provider's stream."""
    if isinstance(part, Page):
        return part.records
    return (part,) if isinstance(part, Record) else ()


def public(
    stream: Iterable[Part],
    cutoff: Callable[[], datetime | None],
    withheld: Withheld,
    period: str = "",
    accept: Accept = accept_none,
) -> Iterator[Record | Watermark | Gap]:
    """Yield the records that were public at ``cutoff()``, with watermarks and gaps; enter the others in ``withheld``.

    ``cutoff`` is called for each record. ``period`` is the field that orders records of one instant. A record that its
    proof does not make public is what ``accept`` makes of its claim, or withheld. Pages are dissolved: on one with an
    order, each public record is followed by a watermark. The stream ends with a gap after as many slices without a
    public record as a watermark allows.
    Raises UpstreamError(Code.PAGING) if the source keeps repeating public records.
    """
    # Public records alone may decide where the watermarks stand, when a source repeats itself, and when a search is
    # fruitless. Where a page ends depends on how many withheld records there are in front of it: hence a watermark for
    # each public record and none for the page, and hence repeats are counted across pages.
    marks, fruitless_slices, is_fruitless = _PageMarks(), 0, True
    for element in stream:
        if isinstance(element, Record):
            served = _served(element, cutoff(), withheld, accept)
            if served is not None:
                is_fruitless = False
                yield set_period(served, period)
        elif isinstance(element, Page):
            judged = (_served(record, cutoff(), withheld, accept) for record in element.records)
            records = [record for record in judged if record is not None]
            is_fruitless = is_fruitless and not records
            for record, mark in marks.behind(records, element):
                yield set_period(record, period)
                yield from mark
        elif isinstance(element, Watermark):
            yield element
            fruitless_slices, is_fruitless = fruitless_slices + 1 if is_fruitless else 0, True
            if element.max_empty_slices and fruitless_slices >= element.max_empty_slices:
                yield gap(Code.SEARCH_LIMIT, day=in_new_york(element.at)[:10])
                return
        else:
            yield element


class _PageMarks:
    """Follows each public record of pages with the watermark of the oldest so far, and counts repeats."""

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()
        self._repeats = 0
        self._oldest: datetime | None = None

    def behind(self, records: Iterable[Record], page: Page) -> Iterator[tuple[Record, tuple[Watermark, ...]]]:
        """Yield the public records of ``page``, each with what follows it. Raise UpstreamError(Code.PAGING)."""
        if not page.continues_previous:
            self._seen = set()
        for record in records:
            version = (record.id, record.available_at, record.revised_at)
            self._repeats = self._repeats + 1 if version in self._seen else 0
            self._seen.add(version)
            yield record, self._mark(record, page)
            if self._repeats == MOST_REPEATED:
                raise UpstreamError(Code.PAGING)

    def _mark(self, record: Record, page: Page) -> tuple[Watermark, ...]:
        if not page.newest_first or not is_aware(record.available_at):
            return ()
        self._oldest = record.available_at if self._oldest is None else min(self._oldest, record.available_at)
        return (Watermark(delayed(self._oldest, page.slack) or self._oldest),)


def set_period(record: Record, field: str) -> Record:
    """Return the record with the text in ``field`` as its period."""
    text = record.payload.get(field) if field else None
    return Record(*record[:-1], text) if isinstance(text, str) else record


def _served(record: Record, cutoff: datetime | None, withheld: Withheld, accept: Accept) -> Record | None:
    """Return the record as it is served: by its proof, or else on its claim; None if it is withheld."""
    judged = visibility(record, cutoff)
    if judged == "public":
        return record
    if judged == "unusable":
        withheld.unusable += 1
        return None
    claimed = accept(record, cutoff)
    if claimed is None:
        (withheld.late if judged == "late" else withheld.undated).append(record.id)
    return claimed


def in_order(stream: Iterable[Record | Watermark | Gap]) -> Iterator[Record | Gap]:
    """Yield public records in the envelope's order, each id once, in its newest version.

    A watermark releases everything newer than it; the rest is sorted at the end. The newest version is the one with
    the later of its two stamps, but one that is proved goes before any claim. Raises UpstreamError(Code.ORDER_BROKEN)
    if a record breaks the order that its source promised. A version that is newer than the one delivered breaks it,
    too: it comes too late.
    """
    # A heap by age, so that many watermarks over many records stay cheap: each takes a few from its top.
    waiting: list[tuple[float, int, Record]] = []
    delivered: dict[str, float] = {}
    bound = float("-inf")

    def release(ready: Iterable[Record]) -> Iterator[Record]:
        for record in sorted(_newest_versions(ready), key=position):
            if record.id not in delivered:
                delivered[record.id] = _age_of_last_change(record)
                yield record
            elif _age_of_last_change(record) < delivered[record.id]:
                raise UpstreamError(Code.ORDER_BROKEN)

    for place, element in enumerate(stream):
        if isinstance(element, Gap):
            yield element
        elif isinstance(element, Watermark):
            age = instant_age(element.at)
            if age > bound:
                bound = age
                yield from release(_taken(waiting, bound))
        elif element.id in delivered and _age_of_last_change(element) >= delivered[element.id]:
            continue  # the page has shifted and repeats the record, or this is an older version of it
        else:
            age = record_age(element)
            if age < bound:
                raise UpstreamError(Code.ORDER_BROKEN)
            heappush(waiting, (age, place, element))
    yield from release(record for *_, record in sorted(waiting))


def _taken(waiting: list[tuple[float, int, Record]], bound: float) -> Iterator[Record]:
    """Take the records newer than ``bound`` from the heap, the newest first. Those of one age keep their order."""
    while waiting and waiting[0][0] < bound:
        yield heappop(waiting)[-1]


def _newest_versions(records: Iterable[Record]) -> Iterable[Record]:
    newest: dict[str, Record] = {}
    for record in records:
        rival = newest.setdefault(record.id, record)
        if rival is not record:
            newest[record.id] = max(rival, record, key=_version)
    return newest.values()


def require_fields(
    stream: Iterable[Record | Gap], required: Sequence[str], flaw: Callable[[Sequence[str]], Gap]
) -> Iterator[Record | Gap]:
    """Yield the records that have all ``required`` fields. Yield a gap of ``flaw`` in the place of the first other one.

    The stream holds public records only, so nothing is disclosed about withheld rows that lack something.
    """
    is_flawed, needed = False, frozenset(required)
    for element in stream:
        if isinstance(element, Gap) or needed <= element.payload.keys():
            yield element
        elif not is_flawed:
            is_flawed = True
            yield flaw([name for name in required if name not in element.payload])


def take(
    stream: Iterable[Record | Gap],
    builder: SelectionBuilder,
    *,
    after: Position | None,
    within: bool = False,
    cap: int,
    limit: int,
    select: Callable[[Record], bool],
) -> None:
    """Fill ``builder`` from ordered public records: after ``after``, at most ``cap`` examined and ``limit`` kept.

    within  the record at ``after`` itself is still wanted: only a part of it has been delivered
    select  returns whether a record is wanted
    """
    for element in stream:
        if isinstance(element, Gap):
            builder.gaps.append(element)
            continue
        if after is not None and (position(element) < after or (position(element) == after and not within)):
            continue
        if builder.scanned >= cap:
            builder.stopped = "max_pages"
            return
        builder.scanned += 1
        if select(element):
            # The limit ends the fetch at the first record beyond it: only then is it known that there is one.
            if len(builder.records) == limit:
                builder.stopped = "limit"
                return
            builder.records.append(element)
        builder.last = element


def newest_periods(parts: Iterable[Record | Gap], series: Sequence[str], count: int) -> Iterator[Record | Gap]:
    """Yield the records of the ``count`` newest periods of each series, in their order, and the gaps.

    ``series`` names the series of each part.
    """
    every = [*zip(parts, series, strict=True)]
    periods: dict[str, set[str]] = {}
    for part, name in every:
        if isinstance(part, Record):
            periods.setdefault(name, set()).add(part.period)
    kept = {name: frozenset(sorted(known, key=period_age)[:count]) for name, known in periods.items()}
    yield from (part for part, name in every if isinstance(part, Gap) or part.period in kept[name])


def series_name(record: Record, fields: Sequence[str]) -> str:
    """Return one name for all records with the same values of the fields that tell series apart."""
    return repr([record.payload.get(name) for name in fields])


def fingerprint(payload: Mapping[str, Any]) -> bytes:
    """Return a digest of the payload of a record: of two versions with equal stamps, the greater one is served."""
    from hashlib import sha256

    return sha256(json.dumps(payload, sort_keys=True, default=str).encode()).digest()[:16]


def _age_of_last_change(record: Record) -> float:
    return min(record_age(record), instant_age(record.revised_at))


def _version(record: Record) -> tuple[bool, float, float, bytes]:
    available, revised = instant_age(record.available_at), instant_age(record.revised_at)
    # Equal stamps are settled by content, never by the order of arrival, which a withheld record could change.
    return not record.is_claimed, -min(available, revised), -available, fingerprint(record.payload)
