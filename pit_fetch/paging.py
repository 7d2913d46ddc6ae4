"""Page loops for providers: by number, by offset, or by the next position that a reply names.

The provider reads one page, the loop requests the next one, and the framework stops resuming the generator
once it has enough records. So a loop counts nothing, and requests no page more than is needed.

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
    """Return the order of a source that sends its newest records first: later pages hold nothing newer."""
    return oldest


def follow(
    read: Callable[[Position], tuple[Iterable[Record], Position | None]], start: Position, order: Order | None = None
) -> Generator[Page, None, None]:
    """Yield the pages from ``start`` on. ``read`` returns a page's records and the start of the next page, or None.

    Raise UpstreamError("paging") if that page was read already. The loop cannot notice a server that ignores
    the position and sends nothing public: the deadline ends such a fetch.
    """
    position: Position | None = start
    visited: set[Position] = set()
    continues = False
    while position is not None:
        if position in visited:
            raise UpstreamError("paging")
        visited.add(position)
        records, position = read(position)
        yield Page(tuple(records), order, continues)
        continues = True


def children(
    parents: Iterable[Parent], read: Callable[[Parent], Child | None], at_once: int = 1
) -> Iterator[tuple[Parent, Child | None]]:
    """Yield each parent with ``read(parent)``, in order: for a list whose rows have a page of their own.

    The child is None if ``read`` returns None or raises ``malformed``; yield a record without a stamp then. Any other
    UpstreamError ends the fetch. With ``at_once`` above 1, that many children are read at the same time, within
    the host's rate.
    """

    def read_child(parent: Parent) -> Child | None:
        try:
            return read(parent)
        except UpstreamError as error:
            if error.gap.code is not Code.MALFORMED:
                raise
            return None  # a malformed child fails alone, since it may be one that is withheld

    if at_once <= 1:
        yield from ((parent, read_child(parent)) for parent in parents)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pending: list[tuple[Parent, Future[Child | None]]] = []
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for parent in parents:
                pending.append((parent, pool.submit(read_child, parent)))
                if len(pending) == at_once:
                    first, future = pending.pop(0)
                    yield first, future.result()
            for first, future in pending:
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
    """Yield the pages ``first``, ``first + step``, …, up to one with fewer than ``size`` rows.

    ``read`` returns one record per row, including unusable ones. Return the rows of the last page if the
    source's result cap of ``most`` pages ended the loop before the rows ran out, else no rows.
    """
    rows: Sequence[Record] = ()

    def page(number: int) -> tuple[Sequence[Record], int | None]:
        nonlocal rows
        records = read(number)
        is_capped = most is not None and number + step >= first + most * step
        rows = records if len(records) >= size else ()
        return records, None if is_capped or len(records) < size else number + step

    yield from follow(page, first, order)
    return rows
