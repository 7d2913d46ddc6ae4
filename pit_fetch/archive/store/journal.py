"""The append-only part of an archive: fetches, their exchanges, their answers.

Every row is an entry in a chain of hashes. There is one chain for each *origin*, the file in which an entry was
written. A copy of the file starts a new chain, so that two copies can be merged again.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.archive.store import about, bodies, microseconds
from pit_fetch.archive.store.errors import Damaged, Lost, damaged

if TYPE_CHECKING:
    import hashlib

GENESIS = bytes(32)
# A date, or an instant in seconds. What looks like one by chance makes two requests alike, which costs some bytes.
_TIME = re.compile(r"\d{4}-\d\d|\d{8}")
# Every column of a kind of entry, in the order in which it is hashed.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "fetches": ("began", "kind", "source", "version", "plan", "hosts", "request", "pit"),
    "exchanges": ("fetch", "seen", "method", "url", "params", "sent", "status", "headers", "body", "asked"),
    "answers": ("fetch", "seen", "complete", "status", "answer"),
    "drops": ("time", "what"),
}
# The kinds of an entry without a row: it was deleted on request, or given up since it was damaged.
DROPPED, LOST = "dropped", "lost"
# The link of an entry that is lost.
UNKNOWN_LINK = bytes(32)
# The columns that hold the digest of a body.
BODIES = {"exchanges": ("sent", "body"), "answers": ("answer",)}
# The fetches whose answer was deleted because it repeated deleted data, and when. The row stays: its columns are
# hashed, and state when the fetch ended and whether it was complete.
WITHDRAWN = (
    "SELECT o.key AS origin, f.value AS fetch, min(d.time) AS time FROM drops d, "
    "json_each(d.what, '$.answers') o, json_each(o.value) f GROUP BY o.key, f.value"
)
_STAYING = {"answers": f"(origin, fetch) NOT IN (SELECT origin, fetch FROM ({WITHDRAWN}))"}


def _named(condition: str) -> str:
    """Return the query for the digests of the bodies that must exist, of the entries that meet a condition."""
    return " UNION ".join(
        f"SELECT {column} FROM {kind} WHERE {column} IS NOT NULL AND {condition} AND {_STAYING.get(kind, 1)}"
        for kind, columns in BODIES.items()
        for column in columns
    )


NAMED = _named("1")
# The entries that were appended during a fetch: after its own, and before the one of its end.
_DURING = (
    "e.origin = :origin AND e.seq > :fetch "
    "AND e.seq < (SELECT max(seq) FROM answers WHERE origin = :origin AND fetch = :fetch)"
)


class Key(NamedTuple):
    """The key of an entry. It is the same in every archive that holds the entry."""

    origin: str
    seq: int

    def __str__(self) -> str:
        return f"{self.origin}-{self.seq}"


class Entry(NamedTuple):
    """A place in a chain: the kind of its row, and the hash of the row and of everything before it."""

    kind: str
    link: bytes


class FetchEntry(NamedTuple):
    """A request. ``kind`` is live, capture or offline; ``hosts`` are the base addresses of hosts by name."""

    began: int
    kind: str
    source: str
    version: str
    plan: str
    hosts: Mapping[str, str]
    request: str
    pit: int | None


class Exchange(NamedTuple):
    """A request to a host and its reply, without secrets. ``seen``: when the reply was received."""

    seen: int
    method: str
    url: str
    params: Mapping[str, Any]
    sent: bytes | None
    status: int
    headers: Mapping[str, str]
    body: bytes


class Ended(NamedTuple):
    """How a fetch ended. ``complete``: it ran to its end, so that items it lacks within its window were absent."""

    seen: int
    complete: bool
    status: int


class Writer:
    """Appends entries inside a transaction of the caller."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def append_fetch(self, fetch: FetchEntry) -> Key:
        return self._append("fetches", {**fetch._asdict(), "hosts": _json(fetch.hosts)})

    def append_exchange(self, fetch: Key, exchange: Exchange) -> int:
        """Append an exchange. Return when it counts as received: never before any other in the archive.

        A reply that another fetch has received with this one, and recorded by now, counts as received then.
        """
        request, alike = request_digest(exchange), alike_digest(exchange.method, exchange.url, exchange.params)
        body = self.body(exchange.body, request, alike)
        query = "SELECT min(seen) FROM exchanges WHERE asked = ? AND body = ? AND seen >= ?"
        (recorded,) = self.connection.execute(query, (request, body, exchange.seen)).fetchone()
        # A clock that was set back must not make a reply older than its predecessors.
        seen = max(exchange.seen, self.last_seen()) if recorded is None else recorded
        values = {
            **exchange._asdict(),
            "fetch": fetch.seq,
            "seen": seen,
            "params": _json(exchange.params),
            "sent": None if exchange.sent is None else self.body(exchange.sent),
            "headers": _json(exchange.headers),
            "body": body,
            "asked": request,
        }
        self._append("exchanges", values, fetch.origin)
        return seen

    def append_answer(self, fetch: Key, ended: Ended, answer: bytes | None, *, is_kept: bool = True) -> None:
        """Append how a fetch ended and what it printed. An answer that is not kept is recorded as deleted."""
        digest = None
        if answer is not None:
            # Its row has the digest either way, and the chain the hash of the row.
            digest = self.body(answer) if is_kept else _digest(answer)
        values = {**ended._asdict(), "fetch": fetch.seq, "answer": digest, "complete": int(ended.complete)}
        self._append("answers", values, fetch.origin)
        if not is_kept and digest is not None:
            self.withdraw([fetch])

    def drop(self, time: int, what: Mapping[str, Any], answers: Iterable[Key]) -> Key:
        """Append a deletion. ``answers`` are the fetches that remain, but whose answers are deleted."""
        listed: dict[str, list[int]] = {}
        for origin, seq in sorted(answers):
            listed.setdefault(origin, []).append(seq)
        return self._append("drops", {"time": time, "what": _json({**what, "answers": listed})})

    def withdraw(self, answers: Iterable[Key]) -> Key:
        """Append that the answers of these fetches are deleted, too, by the last deletion so far."""
        (time,) = self.connection.execute("SELECT max(time) FROM drops").fetchone()
        return self.drop(time, {}, answers)

    def last_seen(self) -> int:
        rows = self.connection.execute("SELECT max(seen) FROM exchanges UNION ALL SELECT max(seen) FROM answers")
        return max((seen for (seen,) in rows if seen is not None), default=microseconds.NEVER)

    def body(self, body: bytes, request: bytes | None = None, alike: bytes | None = None) -> bytes:
        """Store ``body`` if it is new, and return its digest.

        ``request`` is the digest of the request it answers, and ``alike`` that of all such requests for other times.
        """
        digest = self._store(body, request, alike)
        if alike is not None:
            about.put(self.connection, f"base {alike.hex()}", digest.hex())
        return digest

    def _store(self, body: bytes, request: bytes | None, alike: bytes | None) -> bytes:
        digest = _digest(body)
        stored = self.connection.execute("SELECT coding FROM bodies WHERE digest = ?", (digest,)).fetchone()
        if stored not in (None, (LOST,)):  # a body that was given up may come back
            return digest
        base = None if request is None else self._base(request, alike)
        try:
            before = None if base is None else read_body(self.connection, base.digest)
        except (Damaged, Lost):  # a damaged reply must not keep the later ones out
            base = before = None
        packed = bodies.pack(body, before)
        if base is not None and base.goes_back:
            alone = bodies.pack(body)
            packed = packed if 2 * len(packed.data) <= len(alone.data) else alone
        used, depth = (base.digest, base.depth + 1) if base and packed.with_base else (None, 0)
        row = (digest, len(body), packed.coding, used, depth, packed.data)
        self.connection.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?, ?, ?)", row)
        return digest

    def chain_id(self) -> str:
        """Return the origin to which this file appends: its own, or a new one if the file is a copy."""
        (_, _, path) = self.connection.execute("PRAGMA database_list").fetchone()
        status = os.stat(path)  # device and inode: a copy of the file has others, and so begins a chain of its own
        place = f"{status.st_dev}:{status.st_ino}"
        origin = about.get(self.connection, "origin")
        if origin is None or about.get(self.connection, "place") != place:
            origin = os.urandom(6).hex()
            about.put(self.connection, "origin", origin)
            about.put(self.connection, "place", place)
        return origin

    def _append(self, kind: str, values: Mapping[str, Any], origin: str = "") -> Key:
        origin = origin or self.chain_id()
        last = self.connection.execute(
            "SELECT seq, link FROM entries WHERE origin = ? ORDER BY seq DESC LIMIT 1", (origin,)
        ).fetchone()
        seq, before = (last[0] + 1, last[1]) if last else (1, GENESIS)
        row = tuple(values[name] for name in COLUMNS[kind])
        entry = (origin, seq, kind, entry_hash(before, origin, seq, kind, row))
        self.connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", entry)
        _note_end(self.connection, origin, seq, entry[-1])
        insert(self.connection, kind, (origin, seq, *row))
        return Key(origin, seq)

    def _base(self, request: bytes, alike: bytes | None) -> _Base | None:
        """Return the last reply to a request, or to one for another time.

        If its chain of dictionaries is full, return the reply that begins it.
        """
        row = self.connection.execute(
            "SELECT b.digest, b.depth, b.base FROM exchanges e JOIN bodies b ON b.digest = e.body "
            "WHERE e.asked = ? ORDER BY e.seen DESC LIMIT 1",
            (request,),
        ).fetchone()
        if row is None and alike is not None:
            with contextlib.suppress(Damaged, ValueError):
                noted = bytes.fromhex(about.get(self.connection, f"base {alike.hex()}") or "")
                query = "SELECT digest, depth, base FROM bodies WHERE digest = ?"
                row = self.connection.execute(query, (noted,)).fetchone()
        if row is None:
            return None
        digest, depth, before = row
        if depth < bodies.DEEPEST:
            return _Base(digest, depth)
        while before is not None:
            digest, depth, before = self.connection.execute(
                "SELECT digest, depth, base FROM bodies WHERE digest = ?", (before,)
            ).fetchone()
        return _Base(digest, depth, goes_back=True)


class _Base(NamedTuple):
    """A body that serves as a dictionary. ``goes_back``: it is not the last reply, and may be of little use."""

    digest: bytes
    depth: int
    goes_back: bool = False


def ends(connection: sqlite3.Connection) -> list[tuple[str, int, bytes]]:
    """Return the last entry of each chain: its origin, seq and link."""
    return connection.execute("SELECT origin, max(seq), link FROM entries GROUP BY origin").fetchall()


def rowless_digests(connection: sqlite3.Connection) -> dict[str, str]:
    """Return, for each chain that has entries without a row, a digest of these: a chain does not show them itself."""
    query = "SELECT origin, seq, kind, link FROM entries WHERE kind IN (?, ?) ORDER BY origin, seq"
    digests: dict[str, Any] = {}
    for origin, *entry in connection.execute(query, (DROPPED, LOST)):
        digests.setdefault(origin, _sha256(b"")).update(repr(entry).encode())
    return {origin: digest.hexdigest() for origin, digest in digests.items()}


def note_chains(connection: sqlite3.Connection) -> None:
    """Note what a chain does not show by itself: where it ends, and its entries without a row."""
    connection.execute("DELETE FROM about WHERE name LIKE 'end %' OR name LIKE 'gaps %'")
    for end in ends(connection):
        _note_end(connection, *end)
    for origin, digest in rowless_digests(connection).items():
        about.put(connection, f"gaps {origin}", digest)


def keys(connection: sqlite3.Connection, query: str, *values: Any) -> list[Key]:
    """Return the keys that a query selects, as the origin and the number of each entry."""
    return [Key(*row) for row in connection.execute(query, values)]


def strays(connection: sqlite3.Connection) -> list[tuple[str, Key]]:
    """Return the rows that are not in their chain, with their kinds."""
    query = (
        "SELECT t.origin, t.seq FROM {kind} t LEFT JOIN entries e "
        "ON e.origin = t.origin AND e.seq = t.seq AND e.kind = ? WHERE e.seq IS NULL"
    )
    return [(kind, key) for kind in COLUMNS for key in keys(connection, query.format(kind=kind), kind)]


def orphans(connection: sqlite3.Connection) -> list[tuple[str, Key]]:
    """Return the rows whose fetch is not there, with their kinds."""
    query = "SELECT origin, seq FROM {kind} WHERE (origin, fetch) NOT IN (SELECT origin, seq FROM fetches)"
    return [(kind, key) for kind in ("exchanges", "answers") for key in keys(connection, query.format(kind=kind))]


def depths(connection: sqlite3.Connection) -> dict[bytes, int]:
    """Return how long the chain of dictionaries of each body is, by its digest."""
    bases = dict(connection.execute("SELECT digest, base FROM bodies").fetchall())
    known: dict[bytes, int] = {}
    for digest in bases:
        chain: list[bytes] = []
        while digest is not None and digest in bases and digest not in known and len(chain) <= len(bases):
            chain.append(digest)
            digest = bases[digest]
        depth = known.get(digest, -1)
        for place, link in enumerate(reversed(chain), 1):
            known[link] = depth + place
    return known


def note_depths(connection: sqlite3.Connection) -> None:
    """Note the :func:`depths` where they have changed."""
    noted = dict(connection.execute("SELECT digest, depth FROM bodies").fetchall())
    changed = [(depth, digest) for digest, depth in depths(connection).items() if noted[digest] != depth]
    connection.executemany("UPDATE bodies SET depth = ? WHERE digest = ?", changed)


def _note_end(connection: sqlite3.Connection, origin: str, seq: int, link: bytes) -> None:
    about.put(connection, f"end {origin}", f"{seq} {link.hex()}")


def insert(connection: sqlite3.Connection, kind: str, row: Sequence[Any]) -> None:
    """Insert a row, with its key, into the table of its kind."""
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {kind} VALUES ({marks})", row)


def entry_of(connection: sqlite3.Connection, key: Key) -> Entry | None:
    row = connection.execute("SELECT kind, link FROM entries WHERE origin = ? AND seq = ?", key).fetchone()
    return None if row is None else Entry(*row)


def row_of(connection: sqlite3.Connection, kind: str, key: Key) -> tuple[Any, ...] | None:
    """Return the columns of an entry, without its key, or None if the row is missing. They are not checked."""
    query = f"SELECT {', '.join(COLUMNS[kind])} FROM {kind} WHERE origin = ? AND seq = ?"
    row: tuple[Any, ...] | None = connection.execute(query, key).fetchone()
    return row


def check_row(connection: sqlite3.Connection, kind: str, key: Key, row: tuple[Any, ...]) -> None:
    """Raise Damaged if a row is not the one that was appended. The chain before it is not verified."""
    links = dict(
        connection.execute(
            "SELECT seq, link FROM entries WHERE origin = ? AND seq BETWEEN ? AND ?", (key.origin, key.seq - 1, key.seq)
        )
    )
    before = GENESIS if key.seq == 1 else links.get(key.seq - 1)  # the hash of an entry is over that of the one before
    is_linked = before is not None and entry_hash(before, *key, kind, row) == links.get(key.seq)
    if not is_linked and not is_apart(connection, key, kind, row):
        raise damaged("a row has changed")


def note_apart(connection: sqlite3.Connection, key: Key, kind: str, row: tuple[Any, ...]) -> None:
    """Note the hash of a row that the chain does not show, since the entry before it is lost."""
    about.put(connection, f"apart {key}", entry_hash(GENESIS, *key, kind, row).hex())


def is_apart(connection: sqlite3.Connection, key: Key, kind: str, row: tuple[Any, ...]) -> bool:
    """Return whether :func:`note_apart` has noted a row as it is."""
    return about.get(connection, f"apart {key}") == entry_hash(GENESIS, *key, kind, row).hex()


def copy_row(
    source: sqlite3.Connection, target: sqlite3.Connection, kind: str, key: Key, textless: Collection[Key]
) -> None:
    """Copy a row and its bodies, but no answer of ``textless`` fetches. Raise ArchiveError for a damaged source."""
    row = row_of(source, kind, key)
    if row is None:
        raise Damaged("the other one is damaged: a row is missing")
    insert(target, kind, (*key, *row))
    columns = dict(zip(COLUMNS[kind], row, strict=True))
    if kind == "answers" and Key(key.origin, columns["fetch"]) in textless:
        return
    for name in BODIES.get(kind, ()):
        if columns[name] is not None:
            request = alike = None
            if name == "body":
                request = columns["asked"]
                alike = alike_digest(columns["method"], columns["url"], json.loads(columns["params"]))
            try:
                Writer(target).body(read_body(source, columns[name]), request, alike)
            except Lost:
                give_up_body(target, columns[name])


def copy_links(source: sqlite3.Connection, target: sqlite3.Connection, key: Key) -> None:
    """Copy the entry of a row and the one before it, which show that the row is as it was appended."""
    query = "SELECT * FROM entries WHERE origin = ? AND seq BETWEEN ? AND ?"
    rows = source.execute(query, (key.origin, key.seq - 1, key.seq)).fetchall()
    target.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)", rows)
    copy_note(source, target, key)


def copy_note(source: sqlite3.Connection, target: sqlite3.Connection, key: Key) -> None:
    """Copy the note of :func:`note_apart`, if there is one."""
    noted = about.get(source, f"apart {key}")
    if noted is not None:
        about.put(target, f"apart {key}", noted)


def give_up_body(connection: sqlite3.Connection, digest: bytes) -> None:
    """Note that a body is lost, unless it is there."""
    connection.execute("INSERT OR IGNORE INTO bodies VALUES (?, 0, ?, NULL, 0, x'')", (digest, LOST))


def entry_hash(before: bytes, origin: str, seq: int, kind: str, row: tuple[Any, ...]) -> bytes:
    """Return the hash of an entry and, through ``before``, of every entry before it."""
    values = [value.hex() if isinstance(value, bytes) else value for value in row]  # JSON has no bytes
    return _lean_sha256()(before + json.dumps([origin, seq, kind, *values]).encode()).digest()


def request_digest(exchange: Exchange) -> bytes:
    """Return a digest of the request that is equal for equal requests."""
    sent = "" if exchange.sent is None else _sha256(exchange.sent).hexdigest()
    # Half is enough: it finds a request, and proves nothing.
    return _sha256(_json([exchange.method, exchange.url, exchange.params, sent]).encode()).digest()[:16]


def alike_digest(method: str, url: str, params: Mapping[str, Any]) -> bytes | None:
    """Return a digest that is equal for requests that differ in dates and instants alone; None for one without any."""
    timeless = {name: value for name, value in params.items() if not _TIME.search(f"{value}")}
    return None if len(timeless) == len(params) else _sha256(_json([method, url, timeless]).encode()).digest()[:16]


# Returns a body by its digest.
ReadBody = Callable[[bytes], bytes]


def read_body(connection: sqlite3.Connection, digest: bytes) -> bytes:
    """Return a body by its digest. Raise Damaged if it is missing or has changed, Lost if it was given up."""
    row = connection.execute("SELECT size, coding, base, packed FROM bodies WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        raise damaged("a body is missing")
    size, coding, base, data = row
    if coding == LOST:  # its place is kept, so that rows which name it stay valid
        raise Lost("it was damaged, and has been given up (pit_fetch archive repair)")
    before = None if base is None else read_body(connection, base)
    body = bodies.unpack(bodies.Packed(coding, data, base is not None), before, size)
    if _digest(body) != digest:
        raise damaged("a body has changed")
    return body


def fetch_of(connection: sqlite3.Connection, key: Key) -> FetchEntry | None:
    """Return a fetch, or None if there is none. Raise Damaged."""
    row = row_of(connection, "fetches", key)
    if row is None:
        return None
    check_row(connection, "fetches", key, row)
    return FetchEntry(*row)._replace(hosts=json.loads(row[5]))


def without_exchange(connection: sqlite3.Connection, source: str) -> set[tuple[int, str]]:
    """Return the PITs and requests of the fetches of a source that ended, and had nothing to ask."""
    query = (
        "SELECT pit, request FROM fetches f WHERE source = ? AND kind = 'live' AND pit < began AND NOT EXISTS "
        "(SELECT 1 FROM exchanges e WHERE e.origin = f.origin AND e.fetch = f.seq) AND EXISTS "
        "(SELECT 1 FROM answers a WHERE a.origin = f.origin AND a.fetch = f.seq)"
    )
    return {(pit, request) for pit, request in connection.execute(query, (source,))}


def asked_of_the_past(connection: sqlite3.Connection, source: str) -> set[tuple[int, str]]:
    """Return the PITs, then past, and the requests of all questions that a source was asked."""
    query = "SELECT pit, request FROM fetches WHERE source = ? AND kind = 'live' AND pit < began"
    return {(pit, request) for pit, request in connection.execute(query, (source,))}


def exchanges_of(connection: sqlite3.Connection, key: Key) -> Iterator[Exchange]:
    """Yield the exchanges of a fetch, in order, with their bodies, but for those that were given up. Raise Damaged."""
    for row in _rows_of_fetch(connection, "exchanges", key):
        with contextlib.suppress(Lost):
            yield _exchange(connection, row)


def _exchange(connection: sqlite3.Connection, row: Sequence[Any], read: ReadBody | None = None) -> Exchange:
    """Return an exchange of its row. Raise Damaged, also if a body of it was given up."""
    _, seen, method, url, params, sent, status, headers, body, _ = row
    posted = None if sent is None else read_body(connection, sent)
    reply = read_body(connection, body) if read is None else read(body)
    return Exchange(seen, method, url, json.loads(params), posted, status, json.loads(headers), reply)


def reply_to(
    connection: sqlite3.Connection,
    asked: bytes,
    instant: int,
    fetch: Key | None = None,
    read: ReadBody | None = None,
    *,
    status: int | None = 200,
) -> Exchange | None:
    """Return the last good exchange of a request by ``instant``, else the first after it; None without one.

    ``asked`` is its :func:`request_digest`. With ``fetch``, only those of that fetch count. ``read`` reads its body, if
    not :func:`read_body`. ``status`` None: any is good. Raise Damaged.
    """
    key = None
    for order in ("<= ? ORDER BY seen DESC", "> ? ORDER BY seen"):
        one = "" if fetch is None else "AND origin = ? AND fetch = ? "
        where = f"asked = ? AND status = coalesce(?, status) {one}AND seen {order}"
        query = f"SELECT origin, seq FROM exchanges WHERE {where}, origin, seq LIMIT 1"
        key = key or connection.execute(query, (asked, status, *(fetch or ()), instant)).fetchone()
    columns = None if key is None else row_of(connection, "exchanges", Key(*key))
    if key is None or columns is None:
        return None
    check_row(connection, "exchanges", Key(*key), columns)
    return _exchange(connection, columns, read)


def ended(connection: sqlite3.Connection, key: Key) -> Ended | None:
    """Return how a fetch ended, or None if it did not. If a part of it was lost, it is not complete. Raise Damaged."""
    for _, seen, complete, status, _ in _rows_of_fetch(connection, "answers", key):
        return Ended(seen, bool(complete) and not has_lost(connection, key), status)
    return None


def answer_of(connection: sqlite3.Connection, key: Key) -> bytes | None:
    """Return what a fetch printed, or None. Raise Damaged if it is missing or has changed, Lost if it was given up."""
    for *_, answer in _rows_of_fetch(connection, "answers", key):
        return None if answer is None else read_body(connection, answer)
    return None


def has_lost(connection: sqlite3.Connection, key: Key) -> bool:
    """Return whether a reply of a fetch was given up, or an entry that may have been one: which fetch is not known."""
    given_up = (
        "SELECT 1 FROM exchanges e JOIN bodies b ON b.digest IN (e.body, e.sent) "
        "WHERE e.origin = :origin AND e.fetch = :fetch AND b.coding = :lost"
    )
    return _exists(connection, f"{given_up} UNION ALL SELECT 1 FROM entries e WHERE e.kind = :lost AND {_DURING}", key)


def check_span(connection: sqlite3.Connection, key: Key) -> None:
    """Raise Damaged if an exchange that was recorded during a fetch belongs to none: it may be one of this fetch."""
    query = (
        "SELECT 1 FROM entries e LEFT JOIN exchanges x ON x.origin = e.origin AND x.seq = e.seq "
        "LEFT JOIN fetches f ON f.origin = x.origin AND f.seq = x.fetch "
        f"WHERE e.kind = 'exchanges' AND f.seq IS NULL AND {_DURING}"
    )
    if _exists(connection, query, key):
        raise damaged("a row has changed")


def has_lost_answer(connection: sqlite3.Connection, key: Key) -> bool:
    """Return whether the text that a fetch printed was given up."""
    query = (
        "SELECT 1 FROM answers a JOIN bodies b ON b.digest = a.answer "
        "WHERE a.origin = :origin AND a.fetch = :fetch AND b.coding = :lost"
    )
    return _exists(connection, query, key)


def _exists(connection: sqlite3.Connection, query: str, fetch: Key) -> bool:
    values = {"origin": fetch.origin, "fetch": fetch.seq, "lost": LOST}
    return connection.execute(f"{query} LIMIT 1", values).fetchone() is not None


def _rows_of_fetch(connection: sqlite3.Connection, kind: str, key: Key) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a kind that belong to a fetch, in order, without their keys. Raise Damaged."""
    query = f"SELECT seq, {', '.join(COLUMNS[kind])} FROM {kind} WHERE origin = ? AND fetch = ? ORDER BY seq"
    for seq, *row in connection.execute(query, key).fetchall():
        check_row(connection, kind, Key(key.origin, seq), tuple(row))
        yield tuple(row)


def withdrawn(connection: sqlite3.Connection) -> dict[Key, int]:
    """Return the fetches whose answer was deleted because it repeated deleted data, and when."""
    return {Key(origin, seq): time for origin, seq, time in connection.execute(WITHDRAWN)}


def count(connection: sqlite3.Connection, rows: str, *values: Any) -> int:
    """Return the number of rows of a table, or of those that meet a condition."""
    (number,) = connection.execute(f"SELECT count(*) FROM {rows}", values).fetchone()
    return int(number)


def deletions(connection: sqlite3.Connection) -> int:
    """Return how many deletions there were."""
    return count(connection, "drops")


def fetches(connection: sqlite3.Connection) -> list[Key]:
    """Return all fetches in the order in which they ended. One that never did is placed by its last exchange."""
    return keys(
        connection,
        "SELECT f.origin, f.seq FROM fetches f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "
        f"ORDER BY {ending_order('f.seq')}",
    )


def bodies_from(connection: sqlite3.Connection, origin: str, seq: int) -> set[bytes]:
    """Return the digests of the bodies that the entries of a chain from a number on must have."""
    return {digest for (digest,) in connection.execute(_named("origin = ?1 AND seq >= ?2"), (origin, seq))}


def fetches_after(connection: sqlite3.Connection, instant: int, source: str = "") -> list[Key]:
    """Return the fetches, of a source or of all, that began or received something after an instant."""
    later = " OR ".join(
        f"EXISTS (SELECT 1 FROM {kind} t WHERE t.origin = f.origin AND t.fetch = f.seq AND t.seen > ?1)"
        for kind in ("exchanges", "answers")
    )
    query = f"SELECT origin, seq FROM fetches f WHERE ?2 IN ('', f.source) AND (f.began > ?1 OR {later})"
    return keys(connection, query, instant, source)


def ending_order(fetch: str) -> str:
    """Return the order in which fetches ended, in SQL: ``a`` is the answer, ``f.origin`` and ``fetch`` the key."""
    last = f"SELECT max(seen) FROM exchanges e WHERE e.origin = f.origin AND e.fetch = {fetch}"
    return f"coalesce(a.seen, ({last})), f.origin, coalesce(a.seq, {fetch})"


def _digest(body: bytes) -> bytes:
    return _sha256(body).digest()


def _sha256(content: bytes) -> hashlib._Hash:
    from hashlib import sha256  # 2 ms, and most offline questions hash rows alone

    return sha256(content)


@cache
def _lean_sha256() -> Callable[[bytes], hashlib._Hash]:
    """Return the hash of the interpreter itself, as the standard library's random does: it loads no OpenSSL."""
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    with contextlib.suppress(ImportError):
        lean: Callable[[bytes], hashlib._Hash] = importlib.import_module(name).sha256
        return lean
    return _sha256


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
