"""The point-in-time pipeline: filter first, then order, versions, resumption, selection, cut. Pure.

Every step after :func:`public` sees public records only, so nothing that follows (which records,
in which order, how many, where it stops) can depend on a withheld one. Gaps travel in the stream of
records, each at the point where it arose: anything after the last wanted record is never read.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from operator import itemgetter
from typing import Literal, NamedTuple, TypeGuard

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.provider import Page, Record, Watermark
from pit_fetch.times import in_new_york, parse_pit

Position = tuple[float, str]

# A shifting page cannot explain this many consecutive public records that were already on earlier pages.
MOST_REPEATED = 100

_first = itemgetter(0)

# Takes the place of the instant in the cursor of a record that is stamped on receipt.
_RECEIPT = "receipt"
_AT_RECEIPT = float("-inf")
Visibility = Literal["public", "late", "undated", "unusable"]
Stopped = Literal["", "limit", "max_pages"]


class Cursor(NamedTuple):
    """Where a fetch resumes: after a position, and so at or before an instant (None: among undated records).

    within   if set, the record at that position is still to be finished: it goes on there
    """

    position: Position
    instant: datetime | None
    within: ChunkStart | None = None


class WithheldCounts:
    """Which ids got which verdict. For the audit file only; in PIT mode none of it reaches the envelope."""

    def __init__(self) -> None:
        self.late: list[str] = []
        self.undated: list[str] = []
        self.unusable = 0


class Selection(NamedTuple):
    """What a fetch keeps. ``stopped`` says which cap ended it; ``last`` is the last public record examined.

    ``resume`` is the record after which the next page begins, if that is not the last one kept.
    """

    records: tuple[Record, ...] = ()
    gaps: tuple[Gap, ...] = ()
    scanned: int = 0
    stopped: Stopped = ""
    last: Record | None = None
    resume: Record | None = None


class SelectionBuilder:
    """A fetch under way, filled in place: a deadline or an error does not cost what was kept before it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.gaps: list[Gap] = []
        self.scanned = 0
        self.stopped: Stopped = ""
        self.last: Record | None = None

    def build(self) -> Selection:
        """What is kept by now."""
        return Selection(tuple(self.records), tuple(self.gaps), self.scanned, self.stopped, self.last)


def visibility(record: Record, cutoff: datetime | None) -> Visibility:
    """Whether ``record`` was public at ``cutoff`` (UTC; None: open mode). If that cannot be shown, it was not."""
    if not record.id:
        return "unusable"
    if cutoff is None:
        return "public"
    if not _is_aware(record.available_at) or not (record.revised_at is None or _is_aware(record.revised_at)):
        return "undated"
    stamps = (record.available_at, record.revised_at, record.first_seen_at)
    return "late" if any(stamp is not None and stamp > cutoff for stamp in stamps) else "public"


def public(
    stream: Iterable[Record | Page | Watermark | Gap], cutoff: Callable[[], datetime | None], withheld: WithheldCounts
) -> Iterator[Record | Watermark | Gap]:
    """The records that were public at ``cutoff()``, which is called for each; the others are entered in ``withheld``.

    On a page with an order each public record is followed by a watermark: one for the page would
    depend on where the page ends, and so on how many withheld records there are in front of it. For
    the same reason, whether a source repeats itself is judged by its public records, counted across
    pages: nothing else on a page, nor where it ends, may decide. Raises UpstreamError("paging") if it
    keeps doing so. A fruitless search also ends by what is public alone: after slices without a public
    record, if a watermark says so.
    """
    known: set[tuple[object, ...]] = set()
    again = barren = 0
    is_barren = True
    oldest: datetime | None = None
    for one in stream:
        if isinstance(one, Record):
            if _is_public(one, cutoff(), withheld):
                is_barren = False
                yield one
        elif isinstance(one, Page):
            known = known if one.follows else set()
            found = [record for record in one.records if _is_public(record, cutoff(), withheld)]
            for record in found:
                version = (record.id, record.available_at, record.revised_at)
                again = again + 1 if version in known else 0
                known.add(version)
                yield record
                if again == MOST_REPEATED:
                    raise UpstreamError("paging")
                if one.order is not None and _is_aware(record.available_at):
                    oldest = record.available_at if oldest is None else min(oldest, record.available_at)
                    yield Watermark(one.order(oldest))
            is_barren = is_barren and not found
        elif isinstance(one, Watermark):
            yield one
            barren, is_barren = barren + 1 if is_barren else 0, True
            if one.patience and barren >= one.patience:
                yield gap("look_back", day=in_new_york(one.at)[:10])
                return
        else:
            yield one


def _is_public(record: Record, cutoff: datetime | None, withheld: WithheldCounts) -> bool:
    match visibility(record, cutoff):
        case "public":
            return True
        case "late":
            withheld.late.append(record.id)
        case "undated":
            withheld.undated.append(record.id)
        case "unusable":
            withheld.unusable += 1
    return False


def in_order(stream: Iterable[Record | Watermark | Gap]) -> Iterator[Record | Gap]:
    """Public records in the envelope's order, each id once.

    At each watermark, everything newer is settled and passed on; the rest is sorted at the end. Of
    several versions of one id the newest counts, by the later of its two stamps. Raises UpstreamError
    if a record breaks the order that its source promised, which holds for versions as well: a newer
    one than was delivered comes too late.
    """
    waiting: list[tuple[float, Record]] = []  # by age: each of many watermarks settles a few of many records
    delivered: dict[str, float] = {}
    bound = float("-inf")

    def settled(ready: Iterable[Record]) -> Iterator[Record]:
        for record in sorted(_newest_versions(ready), key=position):
            if record.id not in delivered:
                delivered[record.id] = _last_change(record)
                yield record
            elif _last_change(record) < delivered[record.id]:
                raise UpstreamError("order_broken")

    for one in stream:
        if isinstance(one, Gap):
            yield one
        elif isinstance(one, Watermark):
            if _seconds(one.at) > bound:
                bound = _seconds(one.at)
                cut = bisect_left(waiting, bound, key=_first)
                ready = [record for _, record in waiting[:cut]]
                del waiting[:cut]
                yield from settled(ready)
        elif one.id in delivered and _last_change(one) >= delivered[one.id]:  # a shifted page, or an older version
            continue
        elif _age(one) < bound:
            raise UpstreamError("order_broken")
        else:
            insort(waiting, (_age(one), one), key=_first)
    yield from settled(record for _, record in waiting)


def _newest_versions(records: Iterable[Record]) -> Iterable[Record]:
    """Each id once, in its newest version, in whatever order they arrived."""
    chosen: dict[str, Record] = {}
    for record in records:
        held = chosen.setdefault(record.id, record)
        if held is not record:
            chosen[record.id] = max(held, record, key=_version)
    return chosen.values()


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
    """Fills ``builder`` from ordered public records: after ``after``, at most ``cap`` examined and ``limit`` kept.

    ``within``: the record at ``after`` itself is still wanted.
    """
    for one in stream:
        if isinstance(one, Gap):
            builder.gaps.append(one)
            continue
        if after is not None and (position(one) < after or (position(one) == after and not within)):
            continue
        if builder.scanned >= cap:
            builder.stopped = "max_pages"
            return
        builder.scanned += 1
        if select(one):
            if len(builder.records) == limit:
                builder.stopped = "limit"
                return
            builder.records.append(one)
        builder.last = one


def position(record: Record) -> Position:
    """A record's position in the envelope's order: newest first, undated last, then by id.

    A record stamped on receipt comes before all dated ones, and keeps its position in the next run,
    which stamps it later.
    """
    return _age(record), record.id


def cursor(record: Record, within: ChunkStart | None = None) -> str:
    """The ``--after`` value to resume after ``record``, or ``within`` it: safe in a shell, readable by a person."""
    if _age(record) == _AT_RECEIPT:
        stamp = _RECEIPT
    else:
        stamp = "" if record.available_at is None else in_new_york(record.available_at)
    place = "" if within is None else f"/{_quoted(within.field)}/{within.offset}/{within.behind}".rstrip("/")
    return f"{_quoted(record.id)}@{stamp}{place}"


def parse_cursor(text: str) -> Cursor | None:
    """The meaning of an ``--after`` value; None for anything that is not one."""
    name, at, rest = text.rpartition("@")
    if not at or not name:
        return None
    from urllib.parse import unquote

    stamp, *place = rest.split("/")
    within = None
    if place:
        match = re.fullmatch("([^/]+)/([0-9]{1,12})(?:/([0-9a-f]{8}))?", "/".join(place))
        if match is None:
            return None
        within = ChunkStart(unquote(match[1], errors="surrogatepass"), int(match[2]), match[3] or "")
    name = unquote(name, errors="surrogatepass")
    if stamp == _RECEIPT:
        return Cursor((_AT_RECEIPT, name), None, within)
    moment = parse_pit(stamp) if stamp else None
    if stamp and moment is None:
        return None
    return Cursor((_seconds(moment), name), moment, within)


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="", errors="surrogatepass")


def _age(record: Record) -> float:
    return _AT_RECEIPT if record.at_receipt and _is_aware(record.available_at) else _seconds(record.available_at)


def _seconds(moment: datetime | None) -> float:
    """Seconds before the epoch, so that the newest sorts first. Microseconds stay distinct until the year 2242."""
    return -moment.timestamp() if _is_aware(moment) else float("inf")


def _is_aware(moment: datetime | None) -> TypeGuard[datetime]:
    return isinstance(moment, datetime) and moment.utcoffset() is not None


def _last_change(record: Record) -> float:
    """The later of its two stamps, as a position."""
    return min(_age(record), _seconds(record.revised_at))


def _version(record: Record) -> tuple[float, float, bytes]:
    """Sorts the newest version of an id last. Equal stamps are settled by content, never by order of arrival."""
    available, revised = _seconds(record.available_at), _seconds(record.revised_at)
    return -min(available, revised), -available, fingerprint(record)


def fingerprint(record: Record) -> bytes:
    """A digest of what a record says: it settles which of two versions with equal stamps is served."""
    from hashlib import sha256

    return sha256(json.dumps(record.payload, sort_keys=True, default=str).encode()).digest()[:16]
