"""The rows of the index with instants: what was seen of an item, and what is valid when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from pit_fetch.archive.store import history, microseconds
from pit_fetch.archive.store.checksums import checksum
from pit_fetch.archive.store.history import ItemVersion, Observation, ObservationRun
from pit_fetch.archive.store.versions import StoredVersion


class Run(NamedTuple):
    """A run as it is stored. Several observations of one instant are several rows.

    Of the instants at which the versions were observed, the first, the last and the one before it are enough: another
    fetch of the last instant may still split the run there.

    versions  their numbers
    position  where the window of a fetch has to reach to cover the item, if the position of what is valid at the end
              does not say it; NEVER: any window may cover it, since it has no date, or one that was yet to come
    latest    0 in all rows of an item but those of its last run, which have the number of its rows: so a row that is
              gone is found out
    """

    first: int
    last: int
    before: int
    counts_from: int
    versions: str
    position: int | None = None
    latest: int = 1

    @classmethod
    def stored(cls, first: int, last: int, before: int, free: int, *others: Any) -> Run:
        """Return the run of a row, whose other instants are given by their distance from the first."""
        return cls(first, first + last, first + before, first - free, *others)

    @property
    def columns(self) -> tuple[Any, ...]:
        first, last, before, counts_from, *others = self
        return first, last - first, before - first, first - counts_from, *others

    @property
    def numbers(self) -> list[int]:
        return [int(number) for number in self.versions.split()]

    def is_within(self, since: int, until: int) -> bool:
        """Return whether a window covers what the position says. Without one, another row says it."""
        return self.position in (None, microseconds.NEVER) or since <= self.position <= until

    def observations(self, versions: Mapping[int, ItemVersion]) -> Iterator[Observation]:
        contents = frozenset(versions[number] for number in self.numbers)
        for seen in {self.first, self.before, self.last}:
            yield Observation(seen, contents, self.counts_from)


class Validity(NamedTuple):
    """A version is the answer from ``start`` until just before ``stop`` (None: for good), at this position."""

    position: int
    version: int
    start: int
    stop: int | None
    first_seen: int | None


def version_mark(start: int, item: str, version: StoredVersion) -> int:
    """Return the checksum of the row of a version of an item. ``start`` is the seed of the stream."""
    form, *columns, values = version
    return checksum(start, item, *columns, *form, payload=values)


def validity_mark(start: int, item: str, validity: Validity, version: StoredVersion) -> int:
    """Return the checksum of the row of a validity, and of all that an answer shows of the version."""
    position, _, *instants = validity
    form, _, available, revised, values = version
    return checksum(start, position, *instants, item, available, revised, *form, payload=values)


def joined(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(set(numbers))))


def sole(number: int, version: StoredVersion, seen: int, counts_from: int) -> tuple[Run, Validity]:
    """Return the rows of an item that was not seen before, in one version, as most of the items of a fetch are."""
    start, first_seen = history.sole_validity(version.stamped_at, seen, counts_from)
    run = Run(seen, seen, seen, counts_from, str(number), _apart([version]))
    return run, Validity(_position(version, first_seen), number, start, None, first_seen)


def runs_of(
    of_item: Sequence[ObservationRun], numbers: Mapping[ItemVersion, int], stored: Mapping[int, StoredVersion]
) -> set[Run]:
    """Return the rows of the runs of an item. ``numbers`` and ``stored`` have its versions."""
    observed = [(run, observation) for run in of_item for observation in run.observations]
    rows = set()
    for run, observation in observed:
        versions = [numbers[version] for version in observation.versions]
        is_last = run is of_item[-1]
        contents = [stored[number] for number in versions]
        is_sole = len(run.observations) == 1
        position = _apart(contents, is_sole=is_sole, is_public=observation.is_all_public) if is_last else None
        latest = len(observed) if is_last else 0
        rows.add(Run(run.first, run.last, run.before, observation.counts_from, joined(versions), position, latest))
    return rows


def validities_of(
    of_item: Sequence[ObservationRun], numbers: Mapping[ItemVersion, int], stored: Mapping[int, StoredVersion]
) -> set[Validity]:
    """Return the rows of what the runs of an item make valid."""
    rows = set()
    validities = history.validities(of_item)
    for valid, following in zip_longest(validities, validities[1:]):
        if valid.version is not None:
            number = numbers[valid.version]
            position = _position(stored[number], valid.first_seen)
            stop = None if following is None else following.start
            rows.add(Validity(position, number, valid.start, stop, valid.first_seen))
    return rows


def _position(version: StoredVersion, first_seen: int | None) -> int:
    """Return where a valid version is in the order of an answer."""
    if version.available is not None:
        return version.available
    return first_seen if first_seen is not None else microseconds.NEVER


def _apart(versions: Sequence[StoredVersion], *, is_sole: bool = True, is_public: bool = True) -> int | None:
    """Return ``position`` of a run that was the last one to observe these versions, which were all public or not."""
    if not versions:
        return None
    dates = [version.available for version in versions if version.available is not None]
    if not dates or not is_public:
        return microseconds.NEVER
    # What is valid in the end is the version with the latest claim.
    represents = max(versions, key=_claim)
    return None if is_sole and represents.available == max(dates) else max(dates)


def _claim(version: StoredVersion) -> tuple[int, int]:
    stamped_at, available = version.stamped_at, version.available
    if stamped_at is None or available is None:
        return microseconds.NEVER, microseconds.NEVER
    return stamped_at, available
