"""Find the recorded answers that repeat what is to be deleted. Their text is deleted with it.

A later fetch may have answered from the archive, wholly or in part. Its answer is kept, byte for byte, if

1. it was fetched from the network without a PIT: such an answer never draws on the archive; or
2. nothing that is deleted belongs to its stream; or
3. each of its items that the deleted fetches contain is available without them: from a reply of the same stream that
   remains, or from the fetch itself if it is run again on nothing but its own replies; and
4. each of its other items is contained in a reply that remains.

A cursor names an item, to which (4) applies. Every other answer is deleted: one that cannot be read or was not printed
as JSON, and one whose request is refused now, has names that no list of its own explains, or whose source is not
installed. (3) applies to all items of an answer whose items may depend on others (snapshots, values computed across
records), and where today's code cannot read the deleted replies, or cannot tell to which stream they belong.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import Find, InterpretedFetch
from pit_fetch.archive.store import journal
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Unreadable
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import replay
from pit_fetch.archive_admin.progress import OnProgress, silently
from pit_fetch.errors import PitFetchError
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.cursor import parse_cursor
from pit_fetch.provider import ENVELOPE_FIELDS, Record

# With a PIT, some fields are left out. Which PIT it is does not matter here.
_OPTIONS = {True: envelope.EnvelopeOptions(), False: envelope.EnvelopeOptions(pit=datetime.fromtimestamp(0, UTC))}


class _Content(NamedTuple):
    """Some fields of an item, as a digest: answers may not fit into memory. ``is_open``: as rendered without a PIT."""

    is_open: bool
    names: tuple[str, ...]
    digest: bytes


class _Item(NamedTuple):
    """An item of an answer. A content without field names stands for the mere existence of the item."""

    stream: str
    id: str
    content: _Content


class _Deleted(NamedTuple):
    """The deleted item ids by stream (None: unknown), and the sources with a fetch whose stream is not known."""

    ids: Mapping[str, set[str] | None]
    sources: set[str]

    def may_contain(self, source: str, stream: str, item: str) -> bool:
        ids = self.ids.get(stream, set())
        return source in self.sources or ids is None or item in ids


def dependents(
    connection: sqlite3.Connection,
    gone: Collection[Key],
    find: Find,
    on_progress: OnProgress = silently,
) -> set[Key]:
    """Return the fetches that remain when ``gone`` are deleted, but whose answer repeats these. Nothing is written.

    Raise Damaged for a damaged reply: its content is unknown, so good answers would have to be deleted.
    """
    archived, gone = Archived(connection, find), frozenset(gone)
    deleted = _deleted_items(archived, gone)
    lost: set[Key] = set()
    needed: dict[Key, Sequence[_Item]] = {}
    for key in _remaining_answers(connection, gone):
        try:
            needed[key] = _needed_items(archived, key, deleted)
        except (Damaged, Unreadable):
            raise
        except (*BROKEN, ArchiveError, AttributeError):  # the answer is not an envelope
            lost.add(key)
    missing = _missing_items(archived, gone, {item for items in needed.values() for item in items}, on_progress)
    for key, items in needed.items():
        left = [item for item in items if item in missing]
        if left and not _reproduces(archived, key, left):
            lost.add(key)
    return lost


def _deleted_items(archived: Archived, gone: Collection[Key]) -> _Deleted:
    """Collect the item ids, per stream, that the fetches to be deleted contain."""
    ids: dict[str, set[str] | None] = {}
    sources = set()
    for key in gone:
        recorded = archived.interpreted(key)
        if recorded is None:
            fetch = journal.fetch_of(archived.connection, key)
            sources |= set() if fetch is None else {fetch.source}
            continue
        errors: list[PitFetchError] = []
        known = ids.setdefault(recorded.stream, set())
        try:
            contained = {record.id for record in _records(archived, key, recorded, errors.append)}
        except ArchiveError:
            raise
        except Exception:  # noqa: BLE001 - a provider's bug
            ids[recorded.stream] = None  # what it contained is unknown, so it may be anything
        else:
            sources |= {recorded.fetch.source} if recorded.is_unresolved and contained else set()
            is_unknown = errors or known is None or journal.has_lost(archived.connection, key)
            ids[recorded.stream] = None if is_unknown else (known or set()) | contained
    return _Deleted(ids, sources)


def _remaining_answers(connection: sqlite3.Connection, gone: Collection[Key]) -> list[Key]:
    """Return the fetches of the sources of ``gone`` that remain and whose answer is recorded."""
    sources = {fetch.source for fetch in (journal.fetch_of(connection, key) for key in gone) if fetch is not None}
    withdrawn = journal.withdrawn(connection)
    rows = connection.execute(
        "SELECT f.origin, f.seq, f.source FROM fetches f JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        "WHERE a.answer IS NOT NULL ORDER BY f.origin, f.seq"
    )
    keys = [Key(origin, seq) for origin, seq, source in rows if source in sources]
    return [key for key in keys if key not in gone and key not in withdrawn]


def _needed_items(archived: Archived, key: Key, deleted: _Deleted) -> list[_Item]:
    """Return the items that other replies must contain for this answer to be kept. Raise if that is unknown."""
    fetch = journal.fetch_of(archived.connection, key)
    if fetch is None or (fetch.kind == "live" and fetch.pit is None):  # (1)
        return []
    recorded = archived.interpreted(key)
    if recorded is None or recorded.is_unresolved:
        raise ArchiveError("its request is not understood")
    stream = recorded.stream
    if fetch.source not in deleted.sources and stream not in deleted.ids:  # (2)
        return []
    answer = json.loads(journal.answer_of(archived.connection, key) or b"")
    if set(answer) != {"data", "gaps"}:  # another format, whose items cannot be compared
        raise ArchiveError("its answer is not an envelope")
    query = recorded.query
    depends_on_others = query.operation.dating.by != "record" or recorded.request.provider.derive(query) is not None
    is_open = fetch.pit is None
    needed = []
    for item in answer["data"]:
        is_whole = depends_on_others or deleted.may_contain(fetch.source, stream, item["id"])  # (3), or (4)
        fields = {name: value for name, value in item.items() if name not in ENVELOPE_FIELDS} if is_whole else {}
        needed.append(_Item(stream, item["id"], _content(fields, is_open, fields)))
    for gap in answer["gaps"]:
        cursor = parse_cursor(gap["cursor"]) if "cursor" in gap else None
        if cursor is not None:
            needed.append(_Item(stream, cursor.position[-1], _content({}, is_open, ())))
    return needed


def _missing_items(
    archived: Archived, gone: Collection[Key], needed: set[_Item], on_progress: OnProgress
) -> set[_Item]:
    """Return the needed items that no remaining reply contains."""
    left: dict[tuple[str, str], set[_Content]] = {}
    for item in needed:
        left.setdefault((item.stream, item.id), set()).add(item.content)
    streams = {item.stream for item in needed}
    remaining = [key for key in journal.fetches(archived.connection) if key not in gone] if needed else []
    for done, key in enumerate(remaining):
        on_progress(done, len(remaining))
        recorded = archived.interpreted(key)
        stream = "" if recorded is None else recorded.stream
        if recorded is None or stream not in streams:
            continue
        try:
            for record in _records(archived, key, recorded):
                wanted = left.get((stream, record.id))
                if wanted:
                    wanted -= set(_matching(record, wanted))
        except ArchiveError:
            raise
        except Exception:  # noqa: BLE001, S112 - a provider's bug: the records it did not yield are not available
            continue
    return {_Item(*place, content) for place, contents in left.items() for content in contents}


def _reproduces(archived: Archived, key: Key, needed: Sequence[_Item]) -> bool:
    """Return whether a fetch, run again with an empty archive, contains all ``needed`` items."""
    recorded = archived.interpreted(key)
    if recorded is None or recorded.fetch.kind == "offline":  # it received nothing itself
        return False
    result = replay.run_again(archived, key, recorded)
    items = {item["id"]: item for item in json.loads(json.dumps(result.envelope.data))}  # as it would be printed
    return all(
        item.id in items and _content(items[item.id], item.content.is_open, item.content.names) == item.content
        for item in needed
    )


def _matching(record: Record, wanted: Collection[_Content]) -> Iterator[_Content]:
    rendered: dict[bool, Any] = {}  # at most two ways to render a record: as with a PIT, and without
    for content in wanted:
        if content.is_open not in rendered:
            (item,) = envelope.build([record], (), _OPTIONS[content.is_open]).data
            rendered[content.is_open] = json.loads(json.dumps(item))
        if _content(rendered[content.is_open], content.is_open, content.names) == content:
            yield content


def _content(item: Mapping[str, Any], is_open: bool, names: Collection[str]) -> _Content:
    chosen = tuple(sorted(names))
    text = json.dumps([item.get(name) for name in chosen], sort_keys=True)
    return _Content(is_open, chosen, sha256(text.encode()).digest()[:16])  # half is enough to tell contents apart


def _records(
    archived: Archived,
    key: Key,
    recorded: InterpretedFetch,
    on_error: rederive.OnError = lambda error: None,
) -> Iterator[Record]:
    return rederive.records(recorded, list(journal.exchanges_of(archived.connection, key)), on_error)
