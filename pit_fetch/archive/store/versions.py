"""The versions of an item: as they were fetched, as they are stored, and as records again. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.history import ItemVersion
from pit_fetch.pipeline.select import fingerprint
from pit_fetch.provider import Record

# Like json.loads, without looking for white space around the value.
_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Form(NamedTuple):
    """What many versions have in common, and what is stored once for all of them.

    stamp  where their instants come from
    names  the names of their fields, as JSON
    """

    stamp: Any
    names: str


class StoredVersion(NamedTuple):
    """A version as it is stored. Instants are in microseconds; ``values`` are those of the fields, as JSON.

    ``content`` is a digest without the fields that are evidence; None for a version that has none of them.
    """

    form: Form
    content: bytes | None
    available: int | None
    revised: int | None
    values: str

    @property
    def stamped_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        return self


class FreshVersion(NamedTuple):
    """A version as it was fetched. Its digest is computed only if the version is not stored yet."""

    form: Form
    available: int | None
    revised: int | None
    values: str
    evidence: frozenset[str]

    @property
    def stamped_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        payload = _payload(self.form.names, self.values)
        content = None if self.evidence.isdisjoint(payload) else _digest(payload, self.evidence)
        return StoredVersion(self.form, content, self.available, self.revised, self.values)


Version = StoredVersion | FreshVersion
# What tells a version from the others of its item, without a digest.
Content = tuple[str, int | None, int | None, str]


def content(version: Version) -> Content:
    return version.form.names, version.available, version.revised, version.values


def fresh(record: Record, evidence: frozenset[str], clean: Callable[[str], str] = str) -> FreshVersion:
    """Return a record as a version. The fields named by ``evidence`` do not count as content."""
    available, revised = microseconds.to_micros(record.available_at), microseconds.to_micros(record.revised_at)
    names, values = clean(_encode([*record.payload])), clean(_encode([*record.payload.values()]))
    return FreshVersion(Form(record.available_at_source, names), available, revised, values, evidence)


def item_version(version: StoredVersion) -> ItemVersion:
    """Return a version as the rules compare it.

    Its key sorts as the pipeline chooses among versions: by ``available_at``, then by content.
    """
    # With evidence: it tells two versions of one content apart.
    whole = _digest(_payload(version.form.names, version.values))
    revised = b"" if version.revised is None else b"%d" % version.revised
    key = f"{version.available or 0:020}".encode() + whole + revised  # padded, so that texts sort as numbers do
    return ItemVersion((version.content or whole).hex(), version.stamped_at, key.hex())


def record(item: str, version: StoredVersion) -> Record:
    """Return a version as a record."""
    (stamp, names), _, available, revised, values = version
    return shown_record(item, stamp, None, available, revised, names, values)


def shown_record(
    item: str, stamp: Any, first_seen: int | None, available: int | None, revised: int | None, names: str, values: str
) -> Record:
    """Return the columns of a version, and when it was first seen, as a record."""
    return Record(
        item,
        # Without a timestamp of its own, it was available when it was first seen.
        microseconds.from_micros(first_seen if available is None else available),
        _payload(names, values),
        None if revised is None else microseconds.from_micros(revised),  # mostly none: a call costs more
        False,
        None if first_seen is None else microseconds.from_micros(first_seen),
        available_at_source=stamp,
    )


def row_digest(record: Record, evidence: frozenset[str]) -> int:
    """Return a digest of the id and the content of a row of a snapshot, of 64 bits."""
    from hashlib import sha256

    whole = sha256(record.id.encode("utf-8", "surrogatepass") + b"\0" + _digest(record.payload, evidence))
    return int.from_bytes(whole.digest()[:8], signed=True)  # SQLite has signed integers of 64 bits


def _payload(names: str, values: str) -> dict[str, Any]:
    return dict(zip(_names(names), _decode(values)[0], strict=True))


@lru_cache(maxsize=256)  # those of one stream are mostly the same
def _names(names: str) -> tuple[str, ...]:
    return tuple(_decode(names)[0])


def _digest(payload: Mapping[str, Any], evidence: frozenset[str] = frozenset()) -> bytes:
    compared = {name: value for name, value in payload.items() if name not in evidence}
    return fingerprint(compared)


def _later_of(available: int | None, revised: int | None) -> int | None:
    return available if revised is None or available is None else max(available, revised)
