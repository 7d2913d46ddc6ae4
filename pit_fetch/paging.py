"""Run providers' page loops: by number, by offset, by the position of the next page that a reply states, or by time.

A provider reads one page, the loop asks for the next one, and the framework decides when it has enough. A generator
that is not resumed asks for nothing more, so no loop counts records.

    yield from numbered(lambda number: read_page(context, number), size=100, newest_first=True)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Page, Record, Watermark

__all__ = ["by_time", "children", "follow", "numbered", "slices"]

Position = TypeVar("Position", bound=Hashable)
Parent = TypeVar("Parent")
Child = TypeVar("Child")


def follow(
    read: Callable[[Position], tuple[Iterable[Record], Position | None]],
    start: Position,
    *,
    newest_first: bool = False,
    slack: timedelta = timedelta(0),
) -> Generator[Page, None, None]:
    """Yield the pages from ``start`` on. ``read`` returns a page's records and the next position, or None at the end.

    Raise UpstreamError if that is the position of a page that was read already.
    """
    position: Position | None = start
    # A server that ignores the position, and sends nothing public, goes unnoticed here. The deadline ends it.
    visited: set[Position] = set()
    while position is not None:
        if position in visited:
            raise UpstreamError(Code.PAGING)
        is_first = not visited
        visited.add(position)
        records, position = read(position)
        yield Page(tuple(records), newest_first, slack, continues_previous=not is_first)


def children(
    parents: Iterable[Parent],
    read: Callable[[Parent], Child | None],
    at_once: int = 1,
    probe: Callable[[], object] | None = None,
) -> Iterator[tuple[Parent, Child | None]]:
    """Yield each parent with ``read(parent)``, in order: for a list whose rows have a page of their own.

    A child is None if ``read`` returns None or finds it malformed: yield a record without a stamp for it. Any other
    UpstreamError ends the fetch. With a PIT that shows that there is a row, which may be a withheld one. So give a
    ``probe``: it requests something of the same kind that belongs to no row. A child that fails is then None as well,
    and the fetch ends if ``probe`` raises UpstreamError. It is called after a child that fails, and if there is none.

    Up to ``at_once`` children are read at the same time, within the host's rate.
    """
    has_answered = False
    for parent, wait in _begun(parents, read, at_once):
        child: Child | None = None
        try:
            child = wait()
        except UpstreamError as error:
            if error.gap.code is not Code.MALFORMED:
                if probe is None or error.is_deadline:
                    raise
                probe()
        has_answered = True
        yield parent, child
    if probe is not None and not has_answered:
        probe()


def _begun(
    parents: Iterable[Parent], read: Callable[[Parent], Child | None], at_once: int
) -> Iterator[tuple[Parent, Callable[[], Child | None]]]:
    """Yield each parent with a function that returns its child or raises, up to ``at_once`` of them begun."""
    if at_once <= 1:
        yield from ((parent, partial(read, parent)) for parent in parents)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: list[tuple[Parent, Future[Child | None]]] = []
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for parent in parents:
                waiting.append((parent, pool.submit(read, parent)))
                if len(waiting) == at_once:
                    first, future = waiting.pop(0)
                    yield first, future.result
            for first, future in waiting:
                yield first, future.result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def numbered(
    read: Callable[[int], Sequence[Record]],
    *,
    size: int,
    first: int = 0,
    step: int = 1,
    most: int | None = None,
    newest_first: bool = False,
    slack: timedelta = timedelta(0),
) -> Generator[Page, None, Sequence[Record]]:
    """Yield the pages ``first``, ``first + step``, and so on, up to one with fewer than ``size`` rows.

    ``read`` returns one record per row, including unusable ones. Return the rows of the last page if the source's
    result cap of ``most`` pages ended the loop before the rows ran out, and no rows otherwise.
    """
    rows: Sequence[Record] = ()

    def page(number: int) -> tuple[Sequence[Record], int | None]:
        nonlocal rows
        records = read(number)
        is_full = len(records) >= size
        rows = records if is_full else ()
        is_capped = most is not None and number + step >= first + most * step
        return records, number + step if is_full and not is_capped else None

    yield from follow(page, first, newest_first=newest_first, slack=slack)
    return rows


def by_time(
    read: Callable[[datetime], Iterable[Record]], until: datetime, *, size: int, slack: timedelta = timedelta(0)
) -> Iterator[Page | Gap]:
    """Yield the pages of a source without pages: the next window ends with the oldest row of the last one.

    ``read(until)`` returns one record per row, the newest ``size`` of those up to ``until``, newest first. The first
    ``until`` is :attr:`Query.horizon`. A window with fewer rows is the last one. So is one whose rows are all of one
    instant: a gap then says that the source gives no more.
    """
    is_first = True
    while True:
        records = tuple(read(until))
        yield Page(records, newest_first=True, slack=slack, continues_previous=not is_first)
        if len(records) < size:
            return
        oldest = min((record.available_at for record in records if record.available_at is not None), default=until)
        if oldest >= until and not is_first:
            yield gap(Code.RESULT_CAP)
            return
        until, is_first = oldest, False


def slices(
    read: Callable[[datetime, datetime], Iterable[Record]],
    since: datetime,
    until: datetime,
    length: timedelta,
    *,
    slack: timedelta = timedelta(0),
    max_empty: int = 0,
) -> Iterator[Record | Watermark]:
    """Yield the records of one span of time after the other, newest first, each with a watermark at its beginning.

    ``read(start, end)`` returns the records of a span, in any order. The spans rest on the request alone: ``since`` and
    ``until`` are its own (:attr:`Query.since`, :attr:`Query.horizon`). ``slack`` is by how much a record may be
    available after the end of its span, and ``max_empty`` is as in :class:`Watermark`.
    """
    while until > since:
        start = max(since, until - length)
        yield from read(start, until)
        yield Watermark(start + slack, max_empty)
        until = start
