"""Runs providers' page loops: by number, by offset, or by what a reply says comes next.

A provider reads one page; the loop asks for the next one; the framework decides when it has enough.
A generator that is not resumed asks for nothing more, so a loop has nothing to count.

    yield from numbered(lambda number: read_page(context, number), size=100, order=newest_first)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Page, Record

__all__ = ["children", "follow", "newest_first", "numbered"]

Position = TypeVar("Position", bound=Hashable)
Parent = TypeVar("Parent")
Child = TypeVar("Child")
Order = Callable[[datetime], datetime]


def newest_first(oldest: datetime) -> datetime:
    """The order of a source that sends its newest records first: later pages hold nothing newer than this one."""
    return oldest


def follow(
    read: Callable[[Position], tuple[Iterable[Record], Position | None]], start: Position, order: Order | None = None
) -> Generator[Page, None, None]:
    """Pages from ``start`` on. ``read`` returns a page's records and where the next page starts, or None at the end.

    Raises UpstreamError("paging") if that is a page that was read already. A server that ignores which
    page it is asked for, and sends nothing public, is noticed by nobody: the deadline ends it.
    """
    position: Position | None = start
    visited: set[Position] = set()
    follows = False
    while position is not None:
        if position in visited:
            raise UpstreamError("paging")
        visited.add(position)
        records, position = read(position)
        yield Page(tuple(records), order, follows)
        follows = True


def children(
    parents: Iterable[Parent], read: Callable[[Parent], Child | None], at_once: int = 1
) -> Iterator[tuple[Parent, Child | None]]:
    """Each parent with what ``read`` makes of it, in order: for a list whose rows have a page of their own.

    None for a child that is not there, or is malformed: it fails alone, for it may be one that is withheld (then
    yield a record without a stamp). Any other UpstreamError ends the fetch. With ``at_once`` above 1, so many are
    read at the same time; the host's rate still holds.
    """

    def tried(parent: Parent) -> Child | None:
        try:
            return read(parent)
        except UpstreamError as error:
            if error.gap.code is not Code.MALFORMED:
                raise
            return None

    if at_once <= 1:
        yield from ((parent, tried(parent)) for parent in parents)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: list[tuple[Parent, Future[Child | None]]] = []
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for parent in parents:
                waiting.append((parent, pool.submit(tried, parent)))
                if len(waiting) == at_once:
                    first, future = waiting.pop(0)
                    yield first, future.result()
            for first, future in waiting:
                yield first, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def numbered(
    read: Callable[[int], Sequence[Record]],
    *,
    size: int,
    first: int = 0,
    step: int = 1,
    most: int | None = None,
    order: Order | None = None,
) -> Generator[Page, None, Sequence[Record]]:
    """Pages ``first``, ``first + step``, …; one with fewer than ``size`` rows is the last.

    ``read`` returns one record per row, including unusable ones. Returns the rows of the last page if
    the source's result cap of ``most`` pages ended the loop before the rows ran out; else nothing.
    """
    rows: Sequence[Record] = ()

    def page(number: int) -> tuple[Sequence[Record], int | None]:
        nonlocal rows
        found = read(number)
        is_capped = most is not None and number + step >= first + most * step
        rows = found if len(found) >= size else ()
        return found, None if is_capped or len(found) < size else number + step

    yield from follow(page, first, order)
    return rows
