"""Count what an archive holds, and list its fetches. Only the journal is read."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from pit_fetch.archive.store import bodies, journal, microseconds
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin.capture import run_log


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

    ``complete``: it came to its end, and nothing of it was lost since. ``withdrawn``: when its answer was deleted
    because it repeated deleted data; None if it was not.
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

    @property
    def asked(self) -> str:
        """The request without its PIT, as a list of captures has it."""
        return run_log.without_pit(self.request)


class Filter(NamedTuple):
    """Which fetches to list: of one source, about one symbol, begun between two instants (inclusive); "", None: all.

    ``with_offline``: also questions that the archive alone answered. ``limit``: at most so many, None: all.
    """

    source: str = ""
    symbol: str = ""
    since: int = microseconds.NEVER
    until: int = microseconds.ALWAYS
    with_offline: bool = True
    limit: int | None = None

    def names_symbol(self, request: str) -> bool:
        """Return whether one of the values of a request is the symbol, whatever its option is called."""
        words = shlex.split(request)  # a canonical request is quoted as a shell does
        values = (value for word in words for value in word.rpartition("=")[2].split(","))
        return not self.symbol or self.symbol.casefold() in map(str.casefold, values)


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
WHERE :source IN ('', f.source) AND f.began BETWEEN :since AND :until AND (:with_offline OR f.kind != 'offline')
ORDER BY f.began DESC, f.origin, f.seq DESC
"""


def overview(connection: sqlite3.Connection) -> Overview:
    sources = tuple(SourceStats(*row) for row in connection.execute(_SOURCES))
    fetches, exchanges = sum(source.fetches for source in sources), sum(source.exchanges for source in sources)
    totals = connection.execute(_TOTALS, (bodies.ZSTD,)).fetchone()
    result = Overview._make((fetches, exchanges, *totals, sources))
    return result._replace(by_zstandard=bool(result.by_zstandard))


def fetches(connection: sqlite3.Connection, wanted: Filter = Filter()) -> Iterator[FetchSummary]:  # noqa: B008
    """Yield the fetches that are ``wanted``, newest first."""
    withdrawn, rows = journal.withdrawn(connection), connection.execute(_FETCHES, wanted._asdict())
    every = (FetchSummary(Key(origin, seq), *rest) for origin, seq, *rest in rows)
    for summary in islice((each for each in every if wanted.names_symbol(each.request)), wanted.limit):
        is_complete = bool(summary.complete) and not journal.has_lost(connection, summary.key)
        yield summary._replace(complete=is_complete, withdrawn=withdrawn.get(summary.key))
