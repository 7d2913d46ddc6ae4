"""The first law on runs of whatever kind: worlds that serve the same public records leave the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from pit_fetch.testing.comparison import interference
from pit_fetch.testing.inprocess import Left

World = TypeVar("World")
Bytes = TypeVar("Bytes", bound=Left)


class Interference(AssertionError):
    """The bytes that leave the process depend on what was not public. ``place`` is the world's, counted from 0."""

    def __init__(self, place: int, what: str) -> None:
        self.place, self.what = place, what
        super().__init__(f"world {place}: {what}")


def same_bytes(run: Callable[[World], Bytes], worlds: Sequence[World], secrets: Collection[str] = ()) -> Bytes:
    """Run the program in each of ``worlds`` and compare every byte that leaves it with those of the first.

    Returns what leaves in the first. Raises Interference at the first difference, canary or secret, and
    where the program fails.
    """
    first: Bytes | None = None
    for place, world in enumerate(worlds):
        left = run(world)
        first = left if first is None else first
        if problem := interference(first, left, secrets):
            raise Interference(place, problem)
    if first is None:
        raise ValueError("no worlds")
    return first
