"""The point-in-time pipeline: filter first, then order, de-duplicate, continue, select, cut. Pure.

Every step after :func:`public` sees public records only, so nothing that follows (which records,
in which order, how many, where it stops) can depend on a withheld one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeGuard
from urllib.parse import quote, unquote

from pit_fetch.errors import UpstreamError
from pit_fetch.provider import Record, Watermark
from pit_fetch.times import in_new_york, parse_pit

Position = tuple[float, str]

# Stands for the instant in the cursor of a record that is stamped at its receipt.
_RECEIPT = "receipt"
_AT_RECEIPT = float("-inf")
Verdict = Literal["public", "late", "undated", "unusable"]


@dataclass
class Tally:
    """Which ids met which verdict. For the audit file only; nothing of it reaches the envelope in PIT mode."""

    late: list[str] = field(default_factory=list)
    undated: list[str] = field(default_factory=list)
    unusable: int = 0


@dataclass
class Page:
    """What a fetch keeps. ``stopped`` says which cap ended it; ``last`` is the last public record looked at."""

    kept: list[Record] = field(default_factory=list)
    scanned: int = 0
    stopped: Literal["", "limit", "max_pages"] = ""
    last: Record | None = None


def verdict(record: Record, cutoff: datetime | None) -> Verdict:
    """Whether ``record`` was public at ``cutoff`` (UTC; None: open mode). What cannot be shown is not public."""
    if not record.id:
        return "unusable"
    if cutoff is None:
        return "public"
    if not _is_aware(record.available_at) or not (record.revised_at is None or _is_aware(record.revised_at)):
        return "undated"
    stamps = (record.available_at, record.revised_at)
    return "late" if any(stamp is not None and stamp > cutoff for stamp in stamps) else "public"


def public(
    records: Iterable[Record | Watermark], cutoff: Callable[[], datetime | None], tally: Tally
) -> Iterator[Record | Watermark]:
    """The records that were public at ``cutoff()``, asked anew for each; the others are entered in ``tally``."""
    for record in records:
        if isinstance(record, Watermark):
            yield record
            continue
        match verdict(record, cutoff()):
            case "public":
                yield record
            case "late":
                tally.late.append(record.id)
            case "undated":
                tally.undated.append(record.id)
            case "unusable":
                tally.unusable += 1


def in_order(records: Iterable[Record | Watermark], newest_first: bool) -> Iterator[Record]:
    """Public records in the envelope's order, each id once.

    A newest-first source is followed lazily: only runs of equal instants are sorted. Any other
    source is exhausted and sorted, as far as its watermarks do not settle the order before. Raises
    UpstreamError when a source breaks the order that it promised.
    """
    seen: set[str] = set()
    for run in _runs(records, seen) if newest_first else _settled(records):
        for record in run if len(run) == 1 else sorted(_once_each(run), key=position):
            if record.id not in seen:
                seen.add(record.id)
                yield record


def _once_each(records: Iterable[Record]) -> Iterable[Record]:
    """Each id once: of several copies the newest and most revised, whatever their order."""
    chosen: dict[str, Record] = {}
    for record in records:
        held = chosen.setdefault(record.id, record)
        if held is not record:
            chosen[record.id] = min(held, record, key=_preference)
    return chosen.values()


def _settled(records: Iterable[Record | Watermark]) -> Iterator[list[Record]]:
    """The batches of a source without order: at each watermark what is newer, at the end the rest."""
    waiting: list[Record] = []
    bound = float("-inf")
    for one in records:
        if isinstance(one, Watermark):
            bound = max(bound, _seconds(one.at))
            yield [record for record in waiting if _age(record) < bound]
            waiting = [record for record in waiting if _age(record) >= bound]
        elif _age(one) < bound:
            raise UpstreamError("order_broken")
        else:
            waiting.append(one)
    yield waiting


def _runs(records: Iterable[Record | Watermark], seen: Set[str]) -> Iterator[list[Record]]:
    """Runs of equal instants, in the source's order; undated records (open mode) make the last one."""
    undated: list[Record] = []
    run: list[Record] = []
    age_of_run = float("-inf")
    for record in records:
        if isinstance(record, Watermark) or record.id in seen:  # a page that shifted while it was read
            continue
        if record.available_at is None:
            undated.append(record)
            continue
        age = _age(record)
        if age != age_of_run:
            yield run
            if age < age_of_run:
                raise UpstreamError("order_broken")
            run, age_of_run = [], age
        run.append(record)
    yield run
    yield undated


def take(
    records: Iterable[Record],
    page: Page,
    *,
    after: Position | None,
    cap: int,
    limit: int,
    select: Callable[[Record], bool],
) -> None:
    """Fills ``page`` from ordered public records: below ``after``, at most ``cap`` looked at, ``limit`` kept.

    ``page`` is filled in place, so that what was kept before a deadline or an error is not lost.
    """
    for record in records:
        if after is not None and position(record) <= after:
            continue
        if page.scanned >= cap:
            page.stopped = "max_pages"
            return
        page.scanned += 1
        if select(record):
            if len(page.kept) == limit:
                page.stopped = "limit"
                return
            page.kept.append(record)
        page.last = record


def position(record: Record) -> Position:
    """Where a record stands in the envelope's order: newest first, undated last, then by id.

    What is stamped at its receipt is newer than all that was dated before, and keeps its place in the
    next run, whose stamp is a later one.
    """
    return _age(record), record.id


def cursor(record: Record) -> str:
    """The ``--after`` value that continues below ``record``: safe in a shell, readable by a person."""
    if _age(record) == _AT_RECEIPT:
        stamp = _RECEIPT
    else:
        stamp = "" if record.available_at is None else in_new_york(record.available_at)
    return f"{quote(record.id, safe='', errors='surrogatepass')}@{stamp}"


def parse_cursor(text: str) -> tuple[Position, datetime | None] | None:
    """The position and the instant of an ``--after`` value; None when it is none."""
    name, at, stamp = text.rpartition("@")
    if not at or not name:
        return None
    name = unquote(name, errors="surrogatepass")
    if stamp == _RECEIPT:
        return (_AT_RECEIPT, name), None
    moment = parse_pit(stamp) if stamp else None
    if stamp and moment is None:
        return None
    return (_seconds(moment), name), moment


def _age(record: Record) -> float:
    return _AT_RECEIPT if record.at_receipt and _is_aware(record.available_at) else _seconds(record.available_at)


def _seconds(moment: datetime | None) -> float:
    """Seconds before the epoch, so that the newest sorts first. Microseconds stay distinct until the year 2242."""
    return -moment.timestamp() if _is_aware(moment) else float("inf")


def _is_aware(moment: datetime | None) -> TypeGuard[datetime]:
    return isinstance(moment, datetime) and moment.utcoffset() is not None


def _preference(record: Record) -> tuple[float, float, str]:
    return (
        _seconds(record.available_at),
        _seconds(record.revised_at),
        json.dumps(record.payload, sort_keys=True, default=str),
    )
