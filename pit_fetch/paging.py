"""Run providers' page loops: by number, by offset, or by the position of the next page that a reply states.

A provider reads one page, the loop asks for the next one, and the framework decides when it has enough. A generator
that is not resumed asks for nothing more, so no loop counts records.

    yield from numbered(lambda number: read_page(context, number), size=100, newest_first=True)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeVar

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Page, Record

__all__ = ["children", "follow", "numbered"]

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
