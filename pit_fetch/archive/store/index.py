"""Which version of which item ruled when: derived from the log, read by answers, and replaceable at any time.

    pools     one for each question whose records belong together: source, hosts, plan, operation, and
              the options that shape a record
    reads     the fetches of a pool, in the order of their receipt
    versions  what was said of an item, each thing once
    sights    the runs of :mod:`pit_fetch.archive.store.history`; ``said`` lists versions, nothing means absent
    reigns    the answer: from ``start`` to ``stop`` this version rules, at this position of the order
    due       fetches that are not taken up yet: the next question about their pool does that

An answer is one range of ``reigns``, read newest first: it costs what it returns, however much there is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple
from zlib import crc32

from pit_fetch.archive.store import history, microseconds
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, of_sqlite
from pit_fetch.archive.store.journal import Key, in_order_of
from pit_fetch.archive.store.schema import DERIVED
from pit_fetch.pipeline.select import fingerprint
from pit_fetch.provider import Record

Holds = Callable[[Key, Sequence[Record]], bool]

_LATEST_SIGHTS = (
    "SELECT t.item, t.first, t.last, t.before, t.free, t.said FROM json_each(?) j "
    "CROSS JOIN sights t ON t.pool = ? AND t.item = j.value WHERE t.latest = 1"
)
_VERSIONS = (
    "SELECT v.item, v.available, v.revised, v.payload, v.id FROM json_each(?) j CROSS JOIN versions v ON v.id = j.value"
)
_NEW_VERSION = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_SIGHT = "INSERT OR IGNORE INTO sights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_REIGN = "INSERT INTO reigns VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_LONGER = "UPDATE sights SET last = ?, before = ?, free = ? WHERE pool = ? AND item = ? AND first = ? AND said = ?"
# In the order in which they have to be written.
_STATEMENTS = (_NEW_VERSION, _NEW_SIGHT, _NEW_REIGN, _LONGER)
# What json.loads does, without looking for white space around it.
_decode = json.JSONDecoder().raw_decode
_DAMAGED = "its index is damaged: run pit_fetch archive rebuild"


class Row(NamedTuple):
    """A version as it is stored. Instants are numbers; ``payload`` is JSON.

    ``key`` sorts as the pipeline's choice among versions does: by ``available_at``, then by what they say.
    """

    key: bytes
    content: bytes
    available: int | None
    revised: int | None
    stamp: str
    payload: str

    @property
    def claim(self) -> int | None:
        return _claim(self.available, self.revised)

    def stored(self) -> Row:
        return self


class Fresh(NamedTuple):
    """A version as it was read. The digests that it is stored with are made only if it is not there yet."""

    available: int | None
    revised: int | None
    payload: str
    record: Record
    evidence: frozenset[str]

    @property
    def claim(self) -> int | None:
        return _claim(self.available, self.revised)

    def stored(self) -> Row:
        record, evidence = self.record, self.evidence
        whole = content = fingerprint(record)
        if evidence and not evidence.isdisjoint(record.payload):
            said = {name: value for name, value in record.payload.items() if name not in evidence}
            content = fingerprint(record._replace(payload=said))
        key = f"{self.available or 0:020}".encode() + whole + (b"" if self.revised is None else b"%d" % self.revised)
        return Row(key, content, self.available, self.revised, record.available_at_source, self.payload)


Version = Row | Fresh


def _claim(available: int | None, revised: int | None) -> int | None:
    return available if revised is None or available is None else max(available, revised)


class Found(NamedTuple):
    """One read: what it said, and what it would have said.

    pool      the question, as text
    free      the first instant at which its claims count
    since, until  outside of these it says nothing of dated items (None: no bound)
    said      the versions by item, running ones included
    """

    key: Key
    pool: str
    seen: int
    complete: bool
    free: int
    since: int | None
    until: int | None
    said: Mapping[str, Sequence[Version]]


def fresh(record: Record, evidence: frozenset[str], clean: Callable[[str], str] = str) -> Fresh:
    """A record as a version. What ``evidence`` names is not part of what the source says."""
    available, revised = microseconds.maybe(record.available_at), microseconds.maybe(record.revised_at)
    plain = json.dumps(record.payload)
    payload = clean(plain)
    if payload != plain:
        record = record._replace(payload=json.loads(payload))
    return Fresh(available, revised, payload, record, evidence)


def record(item: str, one: Row) -> Record:
    """A version as a record."""
    return _record(one.payload, item, None, one.available, one.revised, one.stamp)


def _record(
    payload: str, item: str, first_seen: int | None, available: int | None, revised: int | None, stamp: Any
) -> Record:
    """Without a stamp of its own it was available when it was first seen."""
    return Record(
        item,
        microseconds.maybe_moment(first_seen if available is None else available),
        stamp,
        _decode(payload)[0],
        microseconds.maybe_moment(revised),
        False,
        microseconds.maybe_moment(first_seen),
    )


def clear(connection: sqlite3.Connection) -> None:
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our names


def add(connection: sqlite3.Connection, found: Found, holds: Holds) -> None:
    """Takes up a read that was not received before any that is there.

    ``holds`` says whether the window of a fetch would have held records, had they been there.
    """
    pool = _pool(connection, found.pool)
    items = _Items(connection, pool, found, holds)
    for item, versions in found.said.items():
        items.see(item, versions)
    items.write()
    if found.complete:
        items.miss()
    connection.execute(
        "INSERT OR IGNORE INTO reads VALUES (?, ?, ?, ?, ?, ?, ?)",
        (pool, found.seen, *found.key, int(found.complete), found.since, found.until),
    )


def put_off(connection: sqlite3.Connection, pool: str, key: Key) -> None:
    """Leaves a fetch for the next question about its pool."""
    connection.execute("INSERT OR IGNORE INTO due VALUES (?, ?, ?)", (_pool(connection, pool), *key))


def due(connection: sqlite3.Connection, pool: str) -> list[Key]:
    """The fetches of a pool that are not taken up yet, in the order of :func:`journal.fetches`."""
    rows = connection.execute(
        "SELECT f.origin, f.fetch FROM due f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.fetch "  # noqa: S608
        f"WHERE f.pool = (SELECT id FROM pools WHERE name = ?) ORDER BY {in_order_of('f.fetch')}",
        (pool,),
    )
    return [Key(*row) for row in rows]


def holds_read(connection: sqlite3.Connection, pool: str, key: Key, since: int) -> bool:
    """Whether a fetch is taken up, as received at or after ``since``."""
    row = connection.execute(
        "SELECT 1 FROM reads WHERE pool = (SELECT id FROM pools WHERE name = ?) AND seen >= ? "
        "AND origin = ? AND fetch = ?",
        (pool, since, *key),
    ).fetchone()
    return row is not None


def put_off_again(connection: sqlite3.Connection, pool: str) -> None:
    """Leaves all of a pool for the next question about it."""
    number = _pool(connection, pool)
    connection.execute(
        "INSERT OR IGNORE INTO due SELECT DISTINCT pool, origin, fetch FROM reads WHERE pool = ?", (number,)
    )
    for table in ("reads", "versions", "sights", "reigns"):
        connection.execute(f"DELETE FROM {table} WHERE pool = ?", (number,))  # noqa: S608 - our names


def done(connection: sqlite3.Connection, key: Key) -> None:
    connection.execute("DELETE FROM due WHERE origin = ? AND fetch = ?", key)


def holds_any(connection: sqlite3.Connection, pool: str) -> bool:
    """Whether there is a read of the pool, taken up or due."""
    row = connection.execute(
        "SELECT 1 FROM pools p WHERE p.name = ? AND (EXISTS (SELECT 1 FROM reads WHERE pool = p.id) "
        "OR EXISTS (SELECT 1 FROM due WHERE pool = p.id))",
        (pool,),
    ).fetchone()
    return row is not None


def latest(connection: sqlite3.Connection, pool: str, instant: int) -> tuple[Key, int] | None:
    """The last complete read of the pool that was received by ``instant``, and when that was."""
    row = connection.execute(
        "SELECT r.origin, r.fetch, r.seen FROM reads r JOIN pools p ON p.id = r.pool "
        "WHERE p.name = ? AND r.complete AND r.seen <= ? ORDER BY r.seen DESC, r.origin DESC, r.fetch DESC LIMIT 1",
        (pool, instant),
    ).fetchone()
    return None if row is None else (Key(row[0], row[1]), row[2])


def ruling(
    connection: sqlite3.Connection, pool: str, instant: int, newest: int, oldest: int = microseconds.NEVER
) -> Iterator[Record]:
    """The records of the pool as of ``instant``, in the envelope's order, from position ``newest`` to ``oldest``."""
    try:
        for mark, payload, *reign in rows(connection, pool, instant, newest, oldest):
            if mark != _mark(*reign, payload=payload):
                raise ArchiveError(_DAMAGED)
            yield _record(payload, *reign[3:])
    except sqlite3.Error as error:
        raise of_sqlite(error) from error
    except BROKEN as error:
        raise ArchiveError(_DAMAGED) from error


def rows(
    connection: sqlite3.Connection, pool: str, instant: int, newest: int, oldest: int = microseconds.NEVER
) -> sqlite3.Cursor:
    """The same as they are stored: the reign, the item and what its version says."""
    return connection.execute(
        "SELECT r.mark, v.payload, r.position, r.start, r.stop, r.item, r.first_seen, v.available, v.revised, v.stamp "
        "FROM reigns r JOIN versions v ON v.id = r.version "
        "WHERE r.pool = (SELECT id FROM pools WHERE name = ?) AND r.position BETWEEN ? AND ? "
        "AND r.start <= ? AND r.stop > ? ORDER BY r.position DESC, r.item",
        (pool, oldest, newest, instant, instant),
    )


def _mark(*values: Any, payload: str) -> int:
    """A checksum of a row and what it says: SQLite has none, and a changed byte may be an instant."""
    return crc32(payload.encode(), crc32(str(values).encode("utf-8", "surrogatepass")))


class _Sight(NamedTuple):
    """A run as it is stored; several of one instant are several rows."""

    first: int
    last: int
    before: int
    free: int
    said: str


class _Items:
    """Takes up one read, item by item. What is known of its items is read at once, and what is plain is written so."""

    def __init__(self, connection: sqlite3.Connection, pool: int, found: Found, holds: Holds) -> None:
        self.connection, self.pool, self.found, self.holds = connection, pool, found, holds
        self.names: dict[str, dict[bytes, int]] = {}
        self.texts: dict[tuple[Any, ...], int] = {}  # what was said last of each item
        self.sights: dict[str, list[_Sight]] = {}
        self.complete: list[tuple[str, int, int]] | None = None  # the complete reads before this one, newest first
        self.waiting: dict[str, list[tuple[Any, ...]]] = {statement: [] for statement in _STATEMENTS}
        for item, *one in connection.execute(_LATEST_SIGHTS, (json.dumps(list(found.said)), pool)):
            self.sights.setdefault(item, []).append(_Sight(*one))
        said = [int(name) for held in self.sights.values() for one in held for name in one.said.split()]
        for *text, name in connection.execute(_VERSIONS, (json.dumps(said),)):
            self.texts[tuple(text)] = name
        (self.last_name,) = connection.execute("SELECT coalesce(max(id), 0) FROM versions").fetchone()

    def see(self, item: str, rows: Sequence[Version]) -> None:
        """An item that is in the read."""
        held, seen = self.sights.get(item, []), self.found.seen
        if len(held) == len(rows) == 1 and held[0].said == str(self.texts.get(_text(item, rows[0]))):
            self._extend(item, held[0])  # as most of them
            return
        versions = self._named(item, rows)
        said = self._public(versions)
        if not held and not self._look_back(item, rows, microseconds.NEVER):
            self._begin(item, versions, said)
        elif len(held) == 1 and held[0].said == said:
            self._extend(item, held[0])
        elif held and held[0].last == seen:
            self._beside(item, said, held)
            if said:
                self._look_behind(item, rows)
        else:
            if held and held[0].said == "":
                self._look_back(item, rows, held[0].last)
            self._append(item, said, seen)

    def write(self) -> None:
        """Writes what was put off."""
        for statement, rows in self.waiting.items():
            self.connection.executemany(statement, rows)
            rows.clear()

    def miss(self) -> None:
        """What is there, is not in this read, and would have been."""
        since = microseconds.NEVER if self.found.since is None else self.found.since
        until = microseconds.ALWAYS if self.found.until is None else self.found.until
        query = (
            "SELECT item, said FROM sights WHERE pool = ? AND latest = 1 AND said != '' AND last < ? "
            "AND (position IS NULL OR position BETWEEN ? AND ?)"
        )
        self.write()
        missing: dict[str, list[str]] = {}  # several reads of one instant may each have said something else
        for item, said in self.connection.execute(query, (self.pool, self.found.seen, since, until)).fetchall():
            missing.setdefault(item, []).append(said)
        for item, saids in missing.items():
            if any(self.holds(self.found.key, [record(item, one) for one in self._rows(said)]) for said in saids):
                self._append(item, "", self.found.seen)

    def _begin(self, item: str, versions: Mapping[int, Version], said: str) -> None:
        """An item of which nothing is known."""
        seen, free = self.found.seen, self.found.free
        public = {str(name): versions[name].stored() for name in map(int, said.split())}
        self.waiting[_NEW_SIGHT].append((self.pool, item, seen, seen, seen, free, said, _position(public.values()), 1))
        if len(public) == 1:
            start, first_seen = history.alone(public[said].claim, seen, free)
            self.waiting[_NEW_REIGN].append(
                self._reign_row(item, start, microseconds.ALWAYS, int(said), public[said], first_seen)
            )
        else:
            self.waiting[_NEW_REIGN] += self._reigns(item, [(seen, seen, free, said)], public)

    def _look_behind(self, item: str, rows: Sequence[Version]) -> None:
        """The same for another version of an item that came up at this very instant."""
        self.write()
        earlier = self.connection.execute(
            "SELECT said, last FROM sights WHERE pool = ? AND item = ? AND first < ? ORDER BY first DESC LIMIT 1",
            (self.pool, item, self.found.seen),
        ).fetchone()
        said, last = earlier or ("", microseconds.NEVER)
        if not said:
            self._look_back(item, rows, last, behind=True)

    def _look_back(self, item: str, rows: Sequence[Version], last: int, *, behind: bool = False) -> bool:
        """Whether a complete read lacked an item that claims to have been there by then: it was inserted later."""
        claims = [one.claim for one in rows if one.claim is not None]
        if not claims:
            return False
        if self.complete is None:
            self.complete = self.connection.execute(
                "SELECT origin, fetch, seen FROM reads WHERE pool = ? AND seen < ? AND complete "
                "ORDER BY seen DESC, origin DESC, fetch DESC",
                (self.pool, self.found.seen),
            ).fetchall()
        earliest, records = min(claims), [record(item, one.stored()) for one in rows] if self.complete else []
        for origin, fetch, seen in self.complete:
            if seen < earliest or seen <= last:
                break
            if self.holds(Key(origin, fetch), records):
                self._append(item, "", seen, beside=behind, latest=not behind)
                return True
        return False

    def _extend(self, item: str, held: _Sight) -> None:
        """One more sight of the same. ``before`` is the one before the last, of an earlier instant."""
        free, seen = min(held.free, self.found.free), self.found.seen
        before = held.last if seen > held.last else held.before
        self.waiting[_LONGER].append((seen, before, free, self.pool, item, held.first, held.said))
        if free < held.free:
            self._reign(item)

    def _beside(self, item: str, said: str, held: Sequence[_Sight]) -> None:
        """A read of the very instant of another: what is there outweighs what is not, and each says its own."""
        self.write()
        known = next((one for one in held if one.said == said), None)
        if known is not None:
            self._extend(item, known)
            return
        if not said:
            return
        last = held[0]
        if not last.said:
            self._take_back(item, last)
            held = self._latest(item)
            if len(held) == 1 and held[0].said == said:
                self._extend(item, held[0])
                self._reign(item)
            else:
                self._append(item, said, self.found.seen)
            return
        if last.first < last.last:  # the run ends before this instant, at which there are now two sights
            self.connection.execute(
                "UPDATE sights SET last = ?, latest = 0 WHERE pool = ? AND item = ? AND first = ?",
                (last.before, self.pool, item, last.first),
            )
            self._append(item, last.said, last.last, beside=True, free=last.free)
        self._append(item, said, self.found.seen, beside=True)

    def _take_back(self, item: str, absence: _Sight) -> None:
        """The absence was not one: another read of that instant had the item."""
        place = (self.pool, item, absence.first)
        self.connection.execute("DELETE FROM sights WHERE pool = ? AND item = ? AND first = ? AND said = ''", place)
        self.connection.execute(
            "UPDATE sights SET latest = 1 WHERE pool = ? AND item = ? AND first = "
            "(SELECT max(first) FROM sights WHERE pool = ? AND item = ?)",
            (self.pool, item, self.pool, item),
        )

    def _append(
        self, item: str, said: str, seen: int, *, beside: bool = False, free: int | None = None, latest: bool = True
    ) -> None:
        self.write()
        if not beside:
            self.connection.execute(
                "UPDATE sights SET latest = 0 WHERE pool = ? AND item = ? AND latest = 1", (self.pool, item)
            )
        free = self.found.free if free is None else free
        row = (self.pool, item, seen, seen, seen, free, said, _position(self._rows(said)), int(latest))
        self.connection.execute(_NEW_SIGHT, row)
        self._reign(item)

    def _reign(self, item: str) -> None:
        """Decides again which version of an item rules when."""
        self.write()
        self.connection.execute("DELETE FROM reigns WHERE pool = ? AND item = ?", (self.pool, item))
        found = self.connection.execute(
            "SELECT first, last, free, said FROM sights WHERE pool = ? AND item = ? ORDER BY first", (self.pool, item)
        ).fetchall()
        names = {name for *_, said in found for name in said.split()}
        reigns = self._reigns(item, found, {name: self._row(int(name)) for name in names})
        self.connection.executemany(_NEW_REIGN, list(reigns))

    def _reigns(
        self, item: str, runs: Sequence[tuple[int, int, int, str]], rows: Mapping[str, Row]
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of ``reigns`` that the rule makes of the runs of an item."""
        versions = {name: history.Version(one.content.hex(), one.claim, one.key.hex()) for name, one in rows.items()}
        names = {version: name for name, version in versions.items()}
        found = history.reigns(_runs(runs, versions))
        for reign, after in zip_longest(found, found[1:]):
            if reign.version is not None:
                name = names[reign.version]
                stop = microseconds.ALWAYS if after is None else after.start
                yield self._reign_row(item, reign.start, stop, int(name), rows[name], reign.first_seen)

    def _reign_row(
        self, item: str, start: int, stop: int, name: int, one: Row, first_seen: int | None
    ) -> tuple[Any, ...]:
        position = one.available if one.available is not None else first_seen
        reign = (position, start, stop, item, first_seen, one.available, one.revised, one.stamp)
        mark = _mark(*reign, payload=one.payload)
        return (self.pool, position, item, start, stop, name, first_seen, mark)

    def _named(self, item: str, rows: Sequence[Version]) -> dict[int, Version]:
        found: dict[int, Version] = {}
        for one in rows:
            name = self.texts.get(_text(item, one))
            if name is None:
                stored = one = one.stored()
                names = self._names(item)
                name = names.get(stored.key)
                if name is None:
                    self.last_name += 1
                    name = names[stored.key] = self.last_name
                    mark = _mark(*stored[:5], payload=stored.payload)
                    self.waiting[_NEW_VERSION].append((name, self.pool, item, *stored, mark))
            found[name] = one
        return found

    def _names(self, item: str) -> dict[bytes, int]:
        """The versions of an item by their keys; one of which nothing was seen has none."""
        found = self.names.get(item)
        if found is None:
            query = "SELECT key, id FROM versions WHERE pool = ? AND item = ?"
            rows = self.connection.execute(query, (self.pool, item)) if item in self.sights else ()
            found = self.names[item] = dict(rows)
        return found

    def _public(self, rows: Mapping[int, Version]) -> str:
        """Those that were public when the read was received; a running bar is none of them."""
        names = (name for name, one in rows.items() if one.claim is None or one.claim <= self.found.seen)
        return " ".join(map(str, sorted(names)))

    def _latest(self, item: str) -> list[_Sight]:
        columns = "first, last, before, free, said"
        query = f"SELECT {columns} FROM sights WHERE pool = ? AND item = ? AND latest = 1"  # noqa: S608 - our names
        return [_Sight(*one) for one in self.connection.execute(query, (self.pool, item))]

    def _rows(self, said: str) -> list[Row]:
        return [self._row(int(name)) for name in said.split()]

    def _row(self, name: int) -> Row:
        query = "SELECT mark, key, content, available, revised, stamp, payload FROM versions WHERE id = ?"
        mark, *said = self.connection.execute(query, (name,)).fetchone()
        one = Row(*said)
        if mark != _mark(*one[:5], payload=one.payload):
            raise ArchiveError(_DAMAGED)
        return one


def _text(item: str, one: Version) -> tuple[Any, ...]:
    """What tells a version from all others without a digest."""
    return item, one.available, one.revised, one.payload


def _position(rows: Iterable[Row]) -> int | None:
    """Where the window of a read would look for these."""
    return max((one.available for one in rows if one.available is not None), default=None)


def _runs(rows: Iterable[tuple[int, int, int, str]], versions: Mapping[str, history.Version]) -> list[history.Run]:
    runs: list[history.Run] = []
    for first, last, free, said in rows:
        one = history.Sight(first, frozenset(versions[name] for name in said.split()), free)
        if runs and runs[-1].first == first:
            runs[-1] = runs[-1]._replace(sights=(*runs[-1].sights, one))
        else:
            runs.append(history.Run(first, last, (one,)))
    return runs


def _pool(connection: sqlite3.Connection, name: str) -> int:
    connection.execute("INSERT OR IGNORE INTO pools (name) VALUES (?)", (name,))
    found: Any = connection.execute("SELECT id FROM pools WHERE name = ?", (name,)).fetchone()
    return int(found[0])
