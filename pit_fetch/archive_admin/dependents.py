"""Which recorded answers repeat what is to be deleted: their text goes with it.

A later fetch may have answered from the archive, wholly or in part. Its answer stays, byte for byte, if

1. it was asked of the network without a PIT: such an answer never draws on the archive; or
2. nothing that is deleted belongs to its question (its pool); or
3. each item of which the deleted said something is said without it: by a reply to the same question that
   stays, or by the fetch itself if it is run again on nothing but its own replies; and
4. of each other item, a reply that stays says something.

A cursor names an item, and (4) holds for it. Everything else goes: an answer that cannot be read or was not printed
as JSON, one whose request is no longer understood or whose source is not installed. (3) holds for all of its items
where one may rest on others (snapshots, values computed across records), or where today's code cannot read the deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.store import journal
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Unreadable
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import recheck
from pit_fetch.errors import PitFetchError
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.cursor import parse_cursor
from pit_fetch.provider import STAMPS, Record

Told = Callable[[int, int], None]

# With a PIT some names of fields are left out; which PIT it is does not matter here.
_VIEWS = {True: envelope.EnvelopeOptions(), False: envelope.EnvelopeOptions(pit=datetime.fromtimestamp(0, UTC))}


class _Said(NamedTuple):
    """What some fields of an item say, as few bytes: there may be more answers than fit into memory.

    is_open  as it is shown without a PIT
    """

    is_open: bool
    names: tuple[str, ...]
    digest: bytes


class _Item(NamedTuple):
    """What an answer says of an item of a pool. Without names of fields: only that there is one."""

    pool: str
    id: str
    said: _Said


class _Gone(NamedTuple):
    """What is deleted: the ids by pool (None: any), and the sources of which something is not understood."""

    ids: Mapping[str, set[str] | None]
    sources: set[str]

    def touches(self, source: str, pool: str) -> bool:
        return source in self.sources or pool in self.ids

    def may_say(self, source: str, pool: str, item: str) -> bool:
        ids = self.ids.get(pool, set())
        return source in self.sources or ids is None or item in ids


def repeated(
    connection: sqlite3.Connection, gone: Collection[Key], find: rederive.Find, told: Told = lambda done, whole: None
) -> set[Key]:
    """The fetches that stay when ``gone`` are deleted, and whose answer repeats these. It only reads."""
    archived, gone = rederive.Archived(connection, find, {}), frozenset(gone)
    deleted = _deleted(archived, gone)
    lost: set[Key] = set()
    needed: dict[Key, Sequence[_Item]] = {}
    for key in _printed(connection, gone):
        try:
            needed[key] = _needed(archived, key, deleted)
        except Unreadable:
            raise
        except (*BROKEN, ArchiveError, AttributeError):  # it is something else than an envelope
            lost.add(key)
    unsaid = _unsaid(archived, gone, {item for items in needed.values() for item in items}, told)
    for key, items in needed.items():
        left = [item for item in items if item in unsaid]
        if left and not _says_itself(archived, key, left):
            lost.add(key)
    return lost


def _deleted(archived: rederive.Archived, gone: Collection[Key]) -> _Gone:
    """What the fetches that go said of which item."""
    ids: dict[str, set[str] | None] = {}
    sources = set()
    for key in gone:
        one = archived.asked(key)
        if one is None:
            fetch = journal.fetch_of(archived.connection, key)
            sources |= set() if fetch is None else {fetch.source}
            continue
        pool = _pool(one)
        failed: list[PitFetchError] = []
        known = ids.setdefault(pool, set())
        try:
            found = {record.id for record in _records(archived, key, one, failed.append)}
        except Exception:  # noqa: BLE001 - a provider's bug, or a damaged body
            ids[pool] = None
        else:
            ids[pool] = None if failed or known is None else known | found
    return _Gone(ids, sources)


def _printed(connection: sqlite3.Connection, gone: Collection[Key]) -> list[Key]:
    """The fetches of the sources of ``gone`` that stay, and whose answer is there."""
    sources = {fetch.source for fetch in (journal.fetch_of(connection, key) for key in gone) if fetch is not None}
    withdrawn = journal.withdrawn(connection)
    rows = connection.execute(
        "SELECT f.origin, f.seq, f.source FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE a.answer IS NOT NULL ORDER BY f.origin, f.seq"
    )
    found = [Key(origin, seq) for origin, seq, source in rows if source in sources]
    return [key for key in found if key not in gone and key not in withdrawn]


def _needed(archived: rederive.Archived, key: Key, deleted: _Gone) -> list[_Item]:
    """What has to be said without what is deleted, for this answer to stay. Raises if that cannot be told."""
    fetch = journal.fetch_of(archived.connection, key)
    if fetch is None or (fetch.kind == "live" and fetch.pit is None):  # (1)
        return []
    one = archived.asked(key)
    if one is None:
        raise ArchiveError("its request is not understood")
    pool = _pool(one)
    if not deleted.touches(fetch.source, pool):  # (2)
        return []
    answer = json.loads(journal.answer_of(archived.connection, key) or b"")
    if set(answer) != {"data", "gaps"}:
        raise ArchiveError("its answer is not an envelope")
    rests_on_others = one.query.operation.dating != "record" or one.request.provider.derive(one.query) is not None
    is_open = fetch.pit is None
    needed = []
    for item in answer["data"]:
        is_whole = rests_on_others or deleted.may_say(fetch.source, pool, item["id"])  # (3), or (4)
        said = {name: value for name, value in item.items() if name not in STAMPS} if is_whole else {}
        needed.append(_Item(pool, item["id"], _said(said, is_open, said)))
    for gap in answer["gaps"]:
        cursor = parse_cursor(gap["cursor"]) if "cursor" in gap else None
        if cursor is not None:
            needed.append(_Item(pool, cursor.position[1], _said({}, is_open, ())))
    return needed


def _unsaid(archived: rederive.Archived, gone: Collection[Key], needed: set[_Item], told: Told) -> set[_Item]:
    """Those of ``needed`` that no reply says that stays."""
    left: dict[tuple[str, str], set[_Said]] = {}
    for item in needed:
        left.setdefault((item.pool, item.id), set()).add(item.said)
    pools = {item.pool for item in needed}
    staying = [key for key in journal.fetches(archived.connection) if key not in gone] if needed else []
    for done, key in enumerate(staying):
        told(done, len(staying))
        one = archived.asked(key)
        pool = "" if one is None else _pool(one)
        if one is None or pool not in pools:
            continue
        try:
            for record in _records(archived, key, one):
                wanted = left.get((pool, record.id))
                if wanted:
                    wanted -= set(_saying(record, wanted))
        except ArchiveError:
            raise
        except Exception:  # noqa: BLE001, S112 - a provider's bug: what it did not say is not said
            continue
    return {_Item(*place, said) for place, saids in left.items() for said in saids}


def _says_itself(archived: rederive.Archived, key: Key, needed: Sequence[_Item]) -> bool:
    """Whether a fetch, run again with an empty archive, says all that is ``needed``."""
    one = archived.asked(key)
    if one is None or one.fetch.kind == "offline":
        return False
    outcome = recheck.alone(archived.connection, key, one, archived.find)
    items = {item["id"]: item for item in json.loads(json.dumps(outcome.envelope.data))}
    return all(
        need.id in items and _said(items[need.id], need.said.is_open, need.said.names) == need.said for need in needed
    )


def _saying(record: Record, wanted: Collection[_Said]) -> Iterator[_Said]:
    """Those of what is ``wanted`` that a record says."""
    shown: dict[bool, Any] = {}
    for one in wanted:
        if one.is_open not in shown:
            (item,) = envelope.build([record], (), _VIEWS[one.is_open]).data
            shown[one.is_open] = json.loads(json.dumps(item))
        if _said(shown[one.is_open], one.is_open, one.names) == one:
            yield one


def _said(item: Mapping[str, Any], is_open: bool, names: Collection[str]) -> _Said:
    chosen = tuple(sorted(names))
    text = json.dumps([item.get(name) for name in chosen], sort_keys=True)
    return _Said(is_open, chosen, sha256(text.encode()).digest()[:16])


def _records(
    archived: rederive.Archived,
    key: Key,
    one: rederive.Asked,
    failed: Callable[[PitFetchError], object] = lambda error: None,
) -> Iterator[Record]:
    return rederive.records(one, list(journal.exchanges_of(archived.connection, key)), failed)


def _pool(one: rederive.Asked) -> str:
    return rederive.pool(one.request.provider, one.query, one.fetch)
