"""The observations of an item in a series of fetches, all at once. The index makes them fetch by fetch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from pit_fetch.archive.store.history import NOTHING, ItemVersion, Observation, Validity


class FetchObservation(NamedTuple):
    """One fetch, as far as the rules need it.

    seen         when its last reply was received
    items        the versions by item, including those that are not yet public
    shows_absence  it ran to its end and was not empty, so that an item it lacks was absent
    counts_from  the first instant at which its stamps count
    """

    seen: int
    items: Mapping[str, frozenset[ItemVersion]]
    shows_absence: bool
    counts_from: int


WindowCovers = Callable[[FetchObservation, frozenset[ItemVersion]], bool]


def observations(item: str, fetches: Sequence[FetchObservation], window_covers: WindowCovers) -> Iterator[Observation]:
    """Yield every observation of ``item`` that matters. ``fetches`` are in the order of their receipt.

    Absence (rule 2) is judged by the versions last seen or, for an item that was not public, by all that turn up later,
    until one is. In the latter case only the last absence before them is yielded: it refutes as much as all together.
    """
    present = Observation(-1, NOTHING, -1)
    last = settled = -1
    lacking: list[FetchObservation] = []
    held: set[int] = set()
    before: list[FetchObservation] = []
    for fetch in fetches:
        if fetch.seen > last:
            between = [earlier for earlier in lacking if settled < earlier.seen < fetch.seen]
            before = [] if present.public else [earlier for earlier in between if earlier.seen not in held]
        if item in fetch.items:
            current = Observation(fetch.seen, fetch.items[item], fetch.counts_from)
            absences = [earlier for earlier in before if window_covers(earlier, fetch.items[item])]
            if absences:
                yield Observation(absences[-1].seen, NOTHING, absences[-1].counts_from)
            yield current
            # At one instant, whatever one of the fetches contained was there.
            beside = present.versions if fetch.seen == last else NOTHING
            present, last = current._replace(versions=current.versions | beside), fetch.seen
            held.add(last)
        elif fetch.shows_absence and present.versions and fetch.seen > last and window_covers(fetch, present.versions):
            present, last = Observation(fetch.seen, NOTHING, fetch.counts_from), fetch.seen
            yield present
        elif fetch.shows_absence and not present.public:
            lacking.append(fetch)
        if present.is_settled:
            settled = last


def validity_at(history: Sequence[Validity], instant: int) -> Validity | None:
    """Return the validity at ``instant``, or None if the first one starts later."""
    place = bisect_right(history, instant, key=attrgetter("start"))
    return history[place - 1] if place else None
