"""The rows of the index with instants: what was seen of an item, and what is valid when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from pit_fetch.archive.store import history, microseconds
from pit_fetch.archive.store.checksums import row_checksum
from pit_fetch.archive.store.history import ItemVersion, Observation, Stretch
from pit_fetch.archive.store.versions import StoredVersion


class StretchRow(NamedTuple):
    """A stretch as it is stored. Several observations of one instant are several rows.

    Of the instants at which the versions were observed, the first, the last and the one before it are enough: another
    fetch of the last instant may still split the stretch there.

    versions    their numbers
    cover_from  only in the last stretch of an item: the newest ``available_at`` of its versions, where the valid
                version does not have it. NEVER if none has a date, or not all were public yet: any window may then
                cover the item. None if the valid version says it, or the item was absent
    latest      in the rows of an item's last stretch, how many rows the item has in all, so that a missing row is
                noticed; 0 in the others
    """

    first: int
    last: int
    before: int
    counts_from: int
    versions: str
    cover_from: int | None = None
    latest: int = 1

    @classmethod
    def stored(cls, first: int, last: int, before: int, counts_from: int, *others: Any) -> StretchRow:
        """Return the stretch of a row, whose other instants are given by their distance from the first."""
        return cls(first, first + last, first + before, first - counts_from, *others)

    @property
    def columns(self) -> tuple[Any, ...]:
        first, last, before, counts_from, *others = self
        return first, last - first, before - first, first - counts_from, *others

    @property
    def numbers(self) -> list[int]:
        return [int(number) for number in self.versions.split()]

    def observations(self, versions: Mapping[int, ItemVersion]) -> Iterator[Observation]:
        contents = frozenset(versions[number] for number in self.numbers)
        for seen in {self.first, self.before, self.last}:
            yield Observation(seen, contents, self.counts_from)


class ValidityRow(NamedTuple):
    """A version is the answer from ``start`` until just before ``stop`` (None: for good), at this position."""

    position: int
    version: int
    start: int
    stop: int | None
    first_seen: int | None


def version_checksum(salt: int, item: str, version: StoredVersion) -> int:
    """Return the checksum of the row of a version of an item."""
    form, *columns, values = version
    return row_checksum(salt, item, *columns, *form, payload=values)


def validity_checksum(salt: int, item: str, validity: ValidityRow, version: StoredVersion) -> int:
    """Return the checksum of the row of a validity, and of all that an answer shows of the version."""
    position, _, *instants = validity
    form, _, available, revised, values = version
    return row_checksum(salt, position, *instants, item, available, revised, *form, payload=values)


def join_numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(set(numbers))))


def sole_rows(number: int, version: StoredVersion, seen: int, counts_from: int) -> tuple[StretchRow, ValidityRow]:
    """Return the rows of an item that was not seen before, in one version, as most of the items of a fetch are."""
    start, first_seen = history.sole_validity(version.stamped_at, seen, counts_from)
    cover_from = microseconds.NEVER if version.available is None else None
    stretch = StretchRow(seen, seen, seen, counts_from, str(number), cover_from)
    return stretch, ValidityRow(_position(version, first_seen), number, start, None, first_seen)


def stretch_rows(
    item_stretches: Sequence[Stretch], numbers: Mapping[ItemVersion, int], stored: Mapping[int, StoredVersion]
) -> set[StretchRow]:
    """Return the rows of the stretches of an item. ``numbers`` and ``stored`` have its versions."""
    observed = [(stretch, observation) for stretch in item_stretches for observation in stretch.observations]
    rows = set()
    for stretch, observation in observed:
        versions = {version: stored[numbers[version]] for version in observation.versions}
        is_last = stretch is item_stretches[-1]
        cover_from = _cover_from(observation, versions, is_sole=len(stretch.observations) == 1) if is_last else None
        latest = len(observed) if is_last else 0
        known = join_numbers(numbers[version] for version in versions)
        rows.add(
            StretchRow(stretch.first, stretch.last, stretch.before, observation.counts_from, known, cover_from, latest)
        )
    return rows


def validity_rows(
    item_stretches: Sequence[Stretch], numbers: Mapping[ItemVersion, int], stored: Mapping[int, StoredVersion]
) -> set[ValidityRow]:
    """Return the rows of what the stretches of an item make valid."""
    rows = set()
    validities = history.validities(item_stretches)
    for valid, following in zip_longest(validities, validities[1:]):
        if valid.version is not None:
            number = numbers[valid.version]
            position = _position(stored[number], valid.first_seen)
            stop = None if following is None else following.start
            rows.add(ValidityRow(position, number, valid.start, stop, valid.first_seen))
    return rows


def _position(version: StoredVersion, first_seen: int | None) -> int:
    """Return where a valid version is in the order of an answer."""
    if version.available is not None:
        return version.available
    return first_seen if first_seen is not None else microseconds.NEVER


def _cover_from(
    observation: Observation, versions: Mapping[ItemVersion, StoredVersion], *, is_sole: bool
) -> int | None:
    """Return ``cover_from`` of an item's last stretch. ``is_sole``: no other observation of its instant differs."""
    decides = history.representative(versions)
    if decides is None:
        return None
    dates = [version.available for version in versions.values() if version.available is not None]
    if not dates or not observation.is_all_public:
        return microseconds.NEVER
    return None if is_sole and versions[decides].available == max(dates) else max(dates)
