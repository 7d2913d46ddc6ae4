"""Count what an archive holds, and list its fetches. Only the journal is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from pit_fetch.archive.store import bodies, journal
from pit_fetch.archive.store.journal import Key


class SourceStats(NamedTuple):
    """The fetches of one source. ``first`` and ``last`` are when they began."""

    source: str
    fetches: int
    exchanges: int
    first: int
    last: int


class Overview(NamedTuple):
    """The contents of an archive. ``size`` and ``packed`` are the bytes of all bodies, unpacked and in the file.

    ``by_zstandard``: some bodies can only be read if zstandard is installed.
    """

    fetches: int
    exchanges: int
    bodies: int
    size: int
    packed: int
    by_zstandard: bool
    origins: int
    drops: int
    sources: tuple[SourceStats, ...]


class FetchSummary(NamedTuple):
    """One fetch. ``seen``: when its replies count as received; None if it did not come to its end.

    ``withdrawn``: when its answer was deleted because it repeated deleted data; None if it was not.
    """

    key: Key
    began: int
    kind: str
    source: str
    version: str
    plan: str
    request: str
    pit: int | None
    exchanges: int
    seen: int | None
    complete: bool
    status: int | None
    withdrawn: int | None = None


_SOURCES = """
SELECT f.source, count(*), coalesce(sum(e.count), 0), min(f.began), max(f.began) FROM fetches f
LEFT JOIN (SELECT origin, fetch, count(*) AS count FROM exchanges GROUP BY origin, fetch) e
    ON e.origin = f.origin AND e.fetch = f.seq
GROUP BY f.source ORDER BY f.source
"""
_TOTALS = """
SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(packed)), 0), max(coding = ?),
    (SELECT count(DISTINCT origin) FROM entries), (SELECT count(*) FROM drops) FROM bodies
"""
_FETCHES = """
SELECT f.origin, f.seq, f.began, f.kind, f.source, f.version, f.plan, f.request, f.pit,
    (SELECT count(*) FROM exchanges e WHERE e.origin = f.origin AND e.fetch = f.seq), a.seen, a.complete, a.status
FROM fetches f LEFT JOIN answers a ON a.origin = f.origin AND a.fetch = f.seq
WHERE ? IN ('', f.source) ORDER BY f.began DESC, f.origin, f.seq DESC LIMIT ?
"""


def overview(connection: sqlite3.Connection) -> Overview:
    sources = tuple(SourceStats(*row) for row in connection.execute(_SOURCES))
    fetches, exchanges = sum(source.fetches for source in sources), sum(source.exchanges for source in sources)
    totals = connection.execute(_TOTALS, (bodies.ZSTD,)).fetchone()
    result = Overview._make((fetches, exchanges, *totals, sources))
    return result._replace(by_zstandard=bool(result.by_zstandard))


def fetches(connection: sqlite3.Connection, source: str = "", limit: int | None = None) -> Iterator[FetchSummary]:
    """Yield the fetches, newest first: at most ``limit``, and those of one ``source`` if it is named."""
    withdrawn = journal.withdrawn(connection)
    for origin, seq, *rest in connection.execute(_FETCHES, (source, -1 if limit is None else limit)):
        summary = FetchSummary(Key(origin, seq), *rest)
        yield summary._replace(complete=bool(summary.complete), withdrawn=withdrawn.get(summary.key))
