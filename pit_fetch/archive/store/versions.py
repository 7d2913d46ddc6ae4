"""The versions of an item: as they were fetched, as they are stored, and as records again. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from pit_fetch.archive.store import microseconds
from pit_fetch.pipeline.select import fingerprint
from pit_fetch.provider import Record

# Like json.loads, without looking for white space around the value.
_decode = json.JSONDecoder().raw_decode


class StoredVersion(NamedTuple):
    """A version as it is stored. Instants are in microseconds; ``payload`` is JSON.

    ``key`` sorts as the pipeline chooses among versions: by ``available_at``, then by content.
    """

    key: bytes
    content: bytes
    available: int | None
    revised: int | None
    stamp: str
    payload: str

    @property
    def claimed_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        return self


class FreshVersion(NamedTuple):
    """A version as it was fetched. Its digests are computed only if the version is not stored yet."""

    available: int | None
    revised: int | None
    payload: str
    record: Record
    evidence: frozenset[str]

    @property
    def claimed_at(self) -> int | None:
        return _later_of(self.available, self.revised)

    def stored(self) -> StoredVersion:
        record, whole = self.record, fingerprint(self.record)
        content = whole if self.evidence.isdisjoint(record.payload) else _content_digest(record, self.evidence)
        key = f"{self.available or 0:020}".encode() + whole + (b"" if self.revised is None else b"%d" % self.revised)
        return StoredVersion(key, content, self.available, self.revised, record.available_at_source, self.payload)


Version = StoredVersion | FreshVersion
# What tells a version from the others of its item, without a digest.
Content = tuple[int | None, int | None, str]


def content(version: Version) -> Content:
    return version.available, version.revised, version.payload


def fresh(record: Record, evidence: frozenset[str], clean: Callable[[str], str] = str) -> FreshVersion:
    """Return a record as a version. The fields named by ``evidence`` do not count as content."""
    available, revised = microseconds.to_micros(record.available_at), microseconds.to_micros(record.revised_at)
    plain = json.dumps(record.payload)
    payload = clean(plain)
    if payload != plain:
        record = record._replace(payload=json.loads(payload))
    return FreshVersion(available, revised, payload, record, evidence)


def record(item: str, version: StoredVersion) -> Record:
    """Return a version as a record."""
    return stored_record(version.payload, item, None, version.available, version.revised, version.stamp)


def stored_record(
    payload: str, item: str, first_seen: int | None, available: int | None, revised: int | None, stamp: Any
) -> Record:
    """Return the columns of a version as a record."""
    return Record(
        item,
        # Without a timestamp of its own, it was available when it was first seen.
        microseconds.from_micros(first_seen if available is None else available),
        stamp,
        _decode(payload)[0],
        microseconds.from_micros(revised),
        False,
        microseconds.from_micros(first_seen),
    )


def row_digest(record: Record, evidence: frozenset[str]) -> int:
    """Return a digest of the id and the content of a row of a snapshot, of 64 bits."""
    from hashlib import sha256

    whole = sha256(record.id.encode("utf-8", "surrogatepass") + b"\0" + _content_digest(record, evidence))
    return int.from_bytes(whole.digest()[:8], signed=True)


def _content_digest(record: Record, evidence: frozenset[str]) -> bytes:
    compared = {name: value for name, value in record.payload.items() if name not in evidence}
    return fingerprint(record._replace(payload=compared))


def _later_of(available: int | None, revised: int | None) -> int | None:
    return available if revised is None or available is None else max(available, revised)
