"""What is appended to an archive, and never changed: fetches, their exchanges, their answers.

Every row is an entry in a chain of hashes, one chain for each *origin*: the file in which it was
written. A copy of the file continues under a new origin, so that two copies can be merged again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from pit_fetch.archive.store import bodies, microseconds
from pit_fetch.archive.store.errors import ArchiveError

GENESIS = bytes(32)
# Every column of a kind of entry, in the order in which it is hashed.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "fetches": ("began", "kind", "source", "version", "plan", "hosts", "request", "pit"),
    "exchanges": ("fetch", "seen", "method", "url", "params", "sent", "status", "headers", "body", "asked"),
    "answers": ("fetch", "seen", "complete", "status", "answer"),
    "drops": ("time", "what"),
}
# The columns that name a body.
BODIES = {"exchanges": ("sent", "body"), "answers": ("answer",)}
# The fetches whose answer was deleted, and when: what repeats that which is deleted goes with it. The row stays, for
# its place in the chain and for what else it says.
WITHDRAWN = (
    "SELECT o.key AS origin, f.value AS fetch, min(d.time) AS time FROM drops d, "
    "json_each(d.what, '$.answers') o, json_each(o.value) f GROUP BY o.key, f.value"
)
_STAYING = {"answers": f"(origin, fetch) NOT IN (SELECT origin, fetch FROM ({WITHDRAWN}))"}  # noqa: S608 - our names
# The bodies that have to be there, each by its digest.
NAMED = " UNION ".join(
    f"SELECT {column} FROM {kind} WHERE {column} IS NOT NULL AND {_STAYING.get(kind, 1)}"  # noqa: S608 - our names
    for kind, columns in BODIES.items()
    for column in columns
)


class Key(NamedTuple):
    """An entry, in whichever archive it is."""

    origin: str
    seq: int

    def __str__(self) -> str:
        return f"{self.origin}-{self.seq}"


class Fetch(NamedTuple):
    """What was asked. ``kind``: live, capture or offline. ``hosts``: the base address of each host of the provider."""

    began: int
    kind: str
    source: str
    version: str
    plan: str
    hosts: Mapping[str, str]
    request: str
    pit: int | None


class Exchange(NamedTuple):
    """What a host was asked and what it said, without secrets. ``seen``: when it was in our hands."""

    seen: int
    method: str
    url: str
    params: Mapping[str, Any]
    sent: bytes | None
    status: int
    headers: Mapping[str, str]
    body: bytes


class Ended(NamedTuple):
    """How a fetch ended. ``complete``: it ran to its end, and what it lacked within its window was not there."""

    seen: int
    complete: bool
    status: int


@dataclass
class Writer:
    """Appends entries, inside a transaction of the caller's. ``path`` is the file's, by which a copy is known."""

    connection: sqlite3.Connection
    path: str

    def fetch(self, one: Fetch) -> Key:
        return self._append("fetches", one._replace(hosts=_json(one.hosts))._asdict())  # type: ignore[arg-type]

    def exchange(self, fetch: Key, one: Exchange) -> int:
        """Appends it, and returns when it counts as seen: never before what is already in the archive."""
        seen = max(one.seen, self.last_seen())
        asked = request_digest(one)
        values = {
            "fetch": fetch.seq,
            "seen": seen,
            "method": one.method,
            "url": one.url,
            "params": _json(one.params),
            "sent": None if one.sent is None else self.body(one.sent, None),
            "status": one.status,
            "headers": _json(one.headers),
            "body": self.body(one.body, asked),
            "asked": asked,
        }
        self._append("exchanges", values, fetch.origin)
        return seen

    def answer(self, fetch: Key, one: Ended, answer: bytes | None, *, is_kept: bool = True) -> None:
        """Appends how a fetch ended, and what it printed. If that is not to be kept, it counts as deleted."""
        keep = self._kept if is_kept else _digest
        digest = None if answer is None else keep(answer)
        values = {**one._asdict(), "fetch": fetch.seq, "answer": digest, "complete": int(one.complete)}
        self._append("answers", values, fetch.origin)
        if not is_kept and digest is not None:
            self.withdraw([fetch])

    def drop(self, time: int, what: Mapping[str, Any], answers: Iterable[Key]) -> Key:
        """Appends what was deleted. ``answers``: the fetches that stay, and whose answers do not."""
        listed: dict[str, list[int]] = {}
        for origin, seq in sorted(answers):
            listed.setdefault(origin, []).append(seq)
        return self._append("drops", {"time": time, "what": _json({**what, "answers": listed})})

    def withdraw(self, answers: Iterable[Key]) -> Key:
        """Appends that the answers of these fetches are deleted, too, by the last deletion that there was."""
        (time,) = self.connection.execute("SELECT max(time) FROM drops").fetchone()
        return self.drop(time, {}, answers)

    def last_seen(self) -> int:
        rows = self.connection.execute("SELECT max(seen) FROM exchanges UNION ALL SELECT max(seen) FROM answers")
        return max((seen for (seen,) in rows if seen is not None), default=microseconds.NEVER)

    def body(self, body: bytes, asked: bytes | None) -> bytes:
        """Keeps ``body`` once, and returns its digest. ``asked``: the request whose previous reply it resembles."""
        digest = _digest(body)
        if self.connection.execute("SELECT 1 FROM bodies WHERE digest = ?", (digest,)).fetchone():
            return digest
        base = None if asked is None else self._base(asked)
        packed = bodies.pack(body, None if base is None else read_body(self.connection, base.digest))
        if base is not None and base.goes_back:
            alone = bodies.pack(body)
            packed = packed if 2 * len(packed.data) <= len(alone.data) else alone
        used, depth = (base.digest, base.depth + 1) if base and packed.with_base else (None, 0)
        row = (digest, len(body), packed.coding, used, depth, packed.data)
        self.connection.execute("INSERT INTO bodies VALUES (?, ?, ?, ?, ?, ?)", row)
        return digest

    def _kept(self, answer: bytes) -> bytes:
        return self.body(answer, None)

    def origin(self) -> str:
        """The chain to which this file appends: its own, or a new one if the file is a copy."""
        found = dict(self.connection.execute("SELECT name, value FROM about"))
        status = os.stat(self.path)
        place = f"{status.st_dev}:{status.st_ino}"
        if found.get("place") == place:
            return str(found["origin"])
        origin = os.urandom(6).hex()
        rows = {"origin": origin, "place": place}.items()
        self.connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)
        return origin

    def _append(self, kind: str, values: Mapping[str, Any], origin: str = "") -> Key:
        origin = origin or self.origin()
        last = self.connection.execute(
            "SELECT seq, link FROM entries WHERE origin = ? ORDER BY seq DESC LIMIT 1", (origin,)
        ).fetchone()
        seq, before = (last[0] + 1, last[1]) if last else (1, GENESIS)
        row = tuple(values[name] for name in COLUMNS[kind])
        entry = (origin, seq, kind, link(before, origin, seq, kind, row))
        self.connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", entry)
        marks = ", ".join("?" * (len(row) + 2))
        self.connection.execute(f"INSERT INTO {kind} VALUES ({marks})", (origin, seq, *row))  # noqa: S608 - our names
        return Key(origin, seq)

    def _base(self, asked: bytes) -> _Base | None:
        """The previous reply to a request; at the end of a chain of dictionaries, the reply at its beginning."""
        row = self.connection.execute(
            "SELECT b.digest, b.depth, b.base FROM exchanges e JOIN bodies b ON b.digest = e.body "
            "WHERE e.asked = ? ORDER BY e.seen DESC LIMIT 1",
            (asked,),
        ).fetchone()
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
    """The body that is the dictionary of another. ``goes_back``: it is not the one before, and may be of little use."""

    digest: bytes
    depth: int
    goes_back: bool = False


def link(before: bytes, origin: str, seq: int, kind: str, row: tuple[Any, ...]) -> bytes:
    """The hash of an entry and, through ``before``, of every one before it."""
    shown = [value.hex() if isinstance(value, bytes) else value for value in row]
    return sha256(before + json.dumps([origin, seq, kind, *shown]).encode()).digest()


def request_digest(one: Exchange) -> bytes:
    """What makes two requests the same, as a few bytes."""
    sent = "" if one.sent is None else sha256(one.sent).hexdigest()
    return sha256(_json([one.method, one.url, one.params, sent]).encode()).digest()[:16]


def read_body(connection: sqlite3.Connection, digest: bytes) -> bytes:
    """A body by its digest. Raises ArchiveError if it is missing or damaged."""
    row = connection.execute("SELECT size, coding, base, packed FROM bodies WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        raise ArchiveError("it is damaged: a body is missing")
    size, coding, base, data = row
    before = None if base is None else read_body(connection, base)
    body = bodies.unpack(bodies.Packed(coding, data, base is not None), before, size)
    if _digest(body) != digest:
        raise ArchiveError("it is damaged: a body has changed")
    return body


def fetch_of(connection: sqlite3.Connection, key: Key) -> Fetch | None:
    columns = ", ".join(COLUMNS["fetches"])
    query = f"SELECT {columns} FROM fetches WHERE origin = ? AND seq = ?"  # noqa: S608 - our names
    row = connection.execute(query, key).fetchone()
    return None if row is None else Fetch(*row)._replace(hosts=json.loads(row[5]))


def exchanges_of(connection: sqlite3.Connection, key: Key) -> Iterator[Exchange]:
    """The exchanges of a fetch, in order, with their bodies."""
    rows = connection.execute(
        "SELECT seen, method, url, params, sent, status, headers, body FROM exchanges "
        "WHERE origin = ? AND fetch = ? ORDER BY seq",
        key,
    ).fetchall()
    for seen, method, url, params, sent, status, headers, body in rows:
        said = read_body(connection, body)
        posted = None if sent is None else read_body(connection, sent)
        yield Exchange(seen, method, url, json.loads(params), posted, status, json.loads(headers), said)


def ended(connection: sqlite3.Connection, key: Key) -> Ended | None:
    """How a fetch ended; None if it did not."""
    row = connection.execute(
        "SELECT seen, complete, status FROM answers WHERE origin = ? AND fetch = ?", key
    ).fetchone()
    return None if row is None else Ended(row[0], bool(row[1]), row[2])


def answer_of(connection: sqlite3.Connection, key: Key) -> bytes | None:
    """What a fetch printed; None if it printed nothing. Raises ArchiveError if that is missing or damaged."""
    row = connection.execute("SELECT answer FROM answers WHERE origin = ? AND fetch = ?", key).fetchone()
    return None if row is None or row[0] is None else read_body(connection, row[0])


def withdrawn(connection: sqlite3.Connection) -> dict[Key, int]:
    """The fetches whose answer was deleted, because it repeated what was, and when that happened."""
    return {Key(origin, seq): time for origin, seq, time in connection.execute(WITHDRAWN)}


def deletions(connection: sqlite3.Connection) -> int:
    """How often something was deleted."""
    (count,) = connection.execute("SELECT count(*) FROM drops").fetchone()
    return int(count)


def fetches(connection: sqlite3.Connection) -> Iterator[Key]:
    """Every fetch, in the order in which they ended; one that never did, by its last exchange."""
    rows = connection.execute(
        "SELECT f.origin, f.seq FROM fetches f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq "  # noqa: S608
        f"ORDER BY {in_order_of('f.seq')}"
    ).fetchall()
    return (Key(origin, seq) for origin, seq in rows)


def in_order_of(fetch: str) -> str:
    """The order in which fetches ended, in SQL: ``a`` is how one ended, ``f.origin`` and ``fetch`` are its key."""
    last = f"SELECT max(seen) FROM exchanges e WHERE e.origin = f.origin AND e.fetch = {fetch}"  # noqa: S608 - our names
    return f"coalesce(a.seen, ({last})), f.origin, coalesce(a.seq, {fetch})"


def moment_of(text: str) -> datetime | None:
    """The instant of a ``Date`` header; None for anything else."""
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def _digest(body: bytes) -> bytes:
    return sha256(body).digest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
