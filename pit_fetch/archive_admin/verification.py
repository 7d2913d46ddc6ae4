"""Verify an archive: every hash of its journal, every checksum of its index, and the index against the journal.

Each finding is a line for people. Whatever has changed, is gone or was added anywhere in the file is found, except in
bytes that SQLite does not use.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

from pit_fetch.archive.archived import OnProgress, silently
from pit_fetch.archive.interpreted import Find
from pit_fetch.archive.store import about, bodies, index, journal, microseconds, schema, tables
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, Lost, Unreadable, archive_error
from pit_fetch.archive.store.journal import COLUMNS, DROPPED, LOST, NAMED, Key
from pit_fetch.archive_admin import index_check
from pit_fetch.archive_admin.index_check import OnDone
from pit_fetch.engine.registry import load
from pit_fetch.net.clocks import MOST_APART
from pit_fetch.support.wording import counted

# SQLite's own complaints about a file are many, and one says enough.
_COMPLAINTS = 3
# Litestream, which replicates a database, adds two tables to it.
_LITESTREAM = "_litestream_"
_NULL = re.compile(r"NULL value in (\w+)\.(\w+)")


class Report(NamedTuple):
    """The result of :func:`verify`: the number of entries and bodies, and a line for each damage.

    ``underived`` is the number of fetches whose index could not be derived again: their source is not installed, or
    refuses their request now. The checksums of their rows were verified.
    """

    entries: int
    bodies: int
    damage: tuple[str, ...]
    underived: int = 0


def verify(
    connection: sqlite3.Connection,
    find: Find = load,
    on_progress: OnProgress = silently,
    *,
    with_index: bool = True,
    now: int = microseconds.ALWAYS,
) -> Report:
    """Verify everything, or all but the index. A file that cannot be read to its end is damaged, too.

    So is one with entries from after ``now``, in microseconds: later ones count as received at these.

    Raise ArchiveError if it is locked, or a package is missing.
    """
    report = Report(0, 0, ())
    damage: list[str] = []
    try:
        with schema.snapshot(connection):
            entries, kept, fetches = (journal.count(connection, table) for table in ("entries", "bodies", "fetches"))
            report, whole = Report(entries, kept, ()), entries + kept + fetches
            damage += _damaged_file(connection)
            damage += _damaged_notes(connection)
            damage += from_the_future(connection, now)
            damage += _damaged_entries(connection, lambda done: on_progress(done, whole))
            damage += _damaged_bodies(connection, lambda done: on_progress(entries + done, whole))
            if with_index:
                findings = index_check.check(connection, find, lambda done: on_progress(entries + kept + done, whole))
                damage += findings.damage
                report = report._replace(underived=findings.underived)
    except BROKEN as error:
        problem = archive_error(error)
        if not isinstance(problem, Damaged):
            raise problem from error
        damage.append("the file: it cannot be read to its end")
    return report._replace(damage=tuple(damage))


def from_the_future(connection: sqlite3.Connection, now: int) -> Iterator[str]:
    """Yield a line if fetches are from after ``now``, so far that the clocks of two machines do not explain it."""
    latest = now + MOST_APART // timedelta(microseconds=1)
    count = len(journal.fetches_after(connection, latest))
    if count:
        last = journal.Writer(connection).last_seen()
        yield (
            f"the future: {counted(count, 'fetch', 'es')} after this machine's clock, the last entry of "
            f"{microseconds.isoformat(last)}: set the clock, or delete with archive drop --after"
        )


def _damaged_file(connection: sqlite3.Connection) -> Iterator[str]:
    complaints = (complaint for (complaint,) in connection.execute("PRAGMA integrity_check(1000000)"))
    real = (complaint for complaint in complaints if complaint != "ok" and not _is_mistaken(connection, complaint))
    yield from (f"the file: {complaint}" for complaint in islice(real, _COMPLAINTS))
    expected, found = _layout(tables.SCHEMA), _layout_of(connection)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name) and not name.startswith(_LITESTREAM):
            yield f"the file: its description of {name} has changed"


def _is_mistaken(connection: sqlite3.Connection, complaint: str) -> bool:
    """Return whether SQLite complains about a NULL that is none, as 3.40 does of some tables without a rowid."""
    match = _NULL.fullmatch(complaint)
    if match is None:
        return False
    query = f"SELECT 1 FROM {match[1]} WHERE {match[2]} IS NULL"
    return connection.execute(query).fetchone() is None


def _layout(script: str) -> Mapping[str, str]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(script)
        return _layout_of(fresh)


def _layout_of(connection: sqlite3.Connection) -> Mapping[str, str]:
    query = "SELECT name, type || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM main.sqlite_master"
    return dict(connection.execute(query).fetchall())


def _damaged_notes(connection: sqlite3.Connection) -> Iterator[str]:
    sound = about.sound(connection)
    for (name,) in connection.execute("SELECT name FROM about"):
        if name not in sound:
            yield f"about {name}: it has changed"
    noted = {name: value for name, value in sound.items() if name.startswith(("end ", "gaps "))}
    expected = {f"end {origin}": f"{seq} {link.hex()}" for origin, seq, link in journal.ends(connection)}
    expected |= {f"gaps {origin}": digest for origin, digest in journal.rowless_digests(connection).items()}
    for name in sorted(noted.keys() | expected.keys()):
        if noted.get(name) != expected.get(name):
            what, _, origin = name.partition(" ")
            yield f"chain {origin}: the note of its {what} does not fit"


def verify_since(connection: sqlite3.Connection, since: Key, on_progress: OnProgress = silently) -> Report:
    """Verify what was recorded after a fetch: its entries and bodies, and that the index has it. It costs what is new.

    Of other chains, what was recorded since that fetch began. Raise ArchiveError if it is not there.
    """
    with schema.snapshot(connection):
        fetch = journal.fetch_of(connection, since)
        if fetch is None:
            raise ArchiveError("there is no such fetch in it (pit_fetch archive log lists them)")
        query = "SELECT origin, min(seq) FROM fetches WHERE began >= ? GROUP BY origin"
        first = {**dict(connection.execute(query, (fetch.began,))), since.origin: since.seq + 1}
        digests: set[bytes] = set()
        damage: list[str] = []
        entries = 0
        for origin, seq in first.items():
            damage += _damaged_chain(connection, origin, seq)
            entries += journal.count(connection, "entries WHERE origin = ? AND seq >= ?", origin, seq)
            digests.update(journal.bodies_from(connection, origin, seq))
            damage += (f"index: fetch {key} is not where it belongs" for key in index.unplaced(connection, origin, seq))
        for done, digest in enumerate(digests):
            on_progress(done, len(digests))
            problem = body_problem(connection, digest)
            damage += [f"body {_short(digest)}: {problem}"] if problem else []
        return Report(entries, len(digests), tuple(damage))


def _damaged_entries(connection: sqlite3.Connection, on_done: OnDone) -> Iterator[str]:
    done = 0
    for origin, last, _ in journal.ends(connection):
        yield from _damaged_chain(connection, origin, 1)
        on_done(done := done + last)
    for kind, key in journal.strays(connection):
        yield f"{kind} {key}: it is not in the chain"


def _damaged_chain(connection: sqlite3.Connection, origin: str, first: int) -> Iterator[str]:
    """Yield what is damaged of a chain, from an entry on."""
    entry = journal.entry_of(connection, Key(origin, first - 1))
    before, place = journal.GENESIS if entry is None else entry.link, Key(origin, first - 1)
    entries = "SELECT seq, kind, link FROM entries WHERE origin = ? AND seq >= ? ORDER BY seq"
    # From the first one on, so that a number below it is found, too.
    for seq, kind, link in connection.execute(entries, (origin, first if first > 1 else -(1 << 63))):
        key = Key(origin, seq)
        if seq != place.seq + 1:
            yield f"chain {origin}: entry {place.seq + 1} is missing"
        if kind not in (DROPPED, LOST):  # those have no row, and their link is all that is left of them
            row = journal.row_of(connection, kind, key) if kind in COLUMNS else None
            if row is None:
                yield f"{kind} {key}: the row is missing"
            elif journal.entry_hash(before, origin, seq, kind, row) != link and not journal.is_apart(
                connection, key, kind, row
            ):
                yield f"{kind} {key}: the row or the chain before it has changed"
        before, place = link, key


def _damaged_bodies(connection: sqlite3.Connection, on_done: OnDone) -> Iterator[str]:
    depths = journal.depths(connection)
    for done, (digest, depth) in enumerate(depths.items()):
        on_done(done)
        problem = body_problem(connection, digest, depth)
        if problem:
            yield f"body {_short(digest)}: {problem}"
    for (digest,) in connection.execute(NAMED):
        if digest not in depths:
            yield f"body {_short(digest)}: it is missing"


def _short(digest: object) -> str:
    """Return the beginning of a digest for people; a damaged one may be no bytes."""
    return digest.hex()[:16] if isinstance(digest, bytes) else repr(digest)[:16]


def body_problem(connection: sqlite3.Connection, digest: bytes, depth: int | None = None) -> str:
    """Return what is wrong with a body, or "". Its chain of dictionaries is as long as ``depth``, if that is known.

    Raise Unreadable if a package is missing.
    """
    query = "SELECT size, coding, base, depth, packed FROM bodies WHERE digest = ?"
    row = connection.execute(query, (digest,)).fetchone()
    if row is None:
        return "it is missing"
    size, coding, base, noted, packed = row
    try:
        is_as_noted = len(journal.read_body(connection, digest)) == size and (base is None or coding == bodies.ZSTD)
    except Unreadable:
        raise
    except Lost:
        is_as_noted = base is None and not packed
    except (ArchiveError, *BROKEN):
        return "it has changed, or what it is packed with"
    return "" if is_as_noted and depth in (None, noted) else "what is noted of it has changed"
