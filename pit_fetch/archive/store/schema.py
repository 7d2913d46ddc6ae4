"""The file: one SQLite database. The journal is kept for good; the index is derived from it and can be made again.

entries      one row for everything that was appended, with the hash of all entries before it
fetches      the requests in their canonical form, with provider, time and PIT
exchanges    the requests to hosts and their replies, without secrets
answers      how a fetch ended and what it printed
drops        the deletions on request, and their times; a deleted row leaves an entry of the kind "dropped"
bodies       every body once, by the hash of its bytes, packed

pools, reads, versions, sights, reigns, due    the index: see index.py
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from pit_fetch.archive.store.errors import BROKEN, ArchiveError, archive_error

APPLICATION_ID = 0x50495446  # "PITF"
FORMAT = 1
# How long a writer waits for other processes: each locks the file for some milliseconds.
BUSY_SECONDS = 10.0
# The part of a fetch's time limit that it may wait for the archive: the source needs the rest.
_PART = 0.25

LOG = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, link BLOB NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE fetches (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, began INTEGER NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL,
    version TEXT NOT NULL, plan TEXT NOT NULL, hosts TEXT NOT NULL, request TEXT NOT NULL, pit INTEGER,
    PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE exchanges (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, fetch INTEGER NOT NULL, seen INTEGER NOT NULL, method TEXT NOT NULL,
    url TEXT NOT NULL, params TEXT NOT NULL, sent BLOB, status INTEGER NOT NULL, headers TEXT NOT NULL,
    body BLOB NOT NULL, asked BLOB NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE INDEX exchanges_by_fetch ON exchanges (origin, fetch, seq);
CREATE INDEX exchanges_by_request ON exchanges (asked, seen);
CREATE INDEX exchanges_by_time ON exchanges (seen);
CREATE TABLE answers (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, fetch INTEGER NOT NULL, seen INTEGER NOT NULL,
    complete INTEGER NOT NULL, status INTEGER NOT NULL, answer BLOB, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE INDEX answers_by_fetch ON answers (origin, fetch);
CREATE INDEX answers_by_time ON answers (seen);
CREATE TABLE drops (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE bodies (
    digest BLOB PRIMARY KEY, size INTEGER NOT NULL, coding TEXT NOT NULL, base BLOB, depth INTEGER NOT NULL,
    packed BLOB NOT NULL
);
"""

INDEX = """
CREATE TABLE pools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE reads (
    pool INTEGER NOT NULL, seen INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL,
    complete INTEGER NOT NULL, since INTEGER, until INTEGER, PRIMARY KEY (pool, seen, origin, fetch)
) WITHOUT ROWID;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, pool INTEGER NOT NULL, item TEXT NOT NULL, key BLOB NOT NULL, content BLOB NOT NULL,
    available INTEGER, revised INTEGER, stamp TEXT NOT NULL, payload TEXT NOT NULL, mark INTEGER NOT NULL,
    UNIQUE (pool, item, key)
);
CREATE TABLE sights (
    pool INTEGER NOT NULL, item TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, before INTEGER NOT NULL,
    free INTEGER NOT NULL, said TEXT NOT NULL, position INTEGER, latest INTEGER NOT NULL,
    PRIMARY KEY (pool, item, first, said)
) WITHOUT ROWID;
CREATE INDEX sights_there ON sights (pool, position) WHERE latest = 1 AND said != '';
CREATE TABLE reigns (
    pool INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    version INTEGER NOT NULL, first_seen INTEGER, mark INTEGER NOT NULL, PRIMARY KEY (pool, position DESC, item, start)
) WITHOUT ROWID;
CREATE INDEX reigns_by_item ON reigns (pool, item);
CREATE TABLE due (
    pool INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL, PRIMARY KEY (origin, fetch)
) WITHOUT ROWID;
CREATE INDEX due_by_pool ON due (pool);
"""
DERIVED = ("pools", "reads", "versions", "sights", "reigns", "due")


def lock_timeout(timeout: float) -> float:
    """Return how many seconds a fetch with this time limit waits for other processes that lock the archive."""
    return min(BUSY_SECONDS, timeout * _PART)


def open_to_write(path: str, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open the archive at ``path``, and create it if it is missing. Raise ArchiveError."""
    path = os.path.abspath(path)  # ":memory:" and "" are no file names to SQLite
    try:
        with contextlib.suppress(FileExistsError):
            # SQLite gives the files beside it the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600))
        _check_is_file(path)
        if not os.access(path, os.W_OK):
            raise ArchiveError("it is read-only")
        if not os.path.getsize(path):  # an empty file may have been readable for everybody
            with contextlib.suppress(OSError):
                os.chmod(path, 0o600)
    except OSError as error:
        raise archive_error(error) from None
    with contextlib.ExitStack() as on_error:
        try:
            connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
            on_error.callback(connection.close)
            _prepare(connection, busy_seconds)
        except BROKEN as error:
            raise archive_error(error) from None
        on_error.pop_all()
    return connection


def open_to_read(path: str) -> sqlite3.Connection:
    """Open the archive at ``path``, even if its folder cannot be written. Raise ArchiveError."""
    try:
        _check_is_file(path)
    except OSError as error:
        raise (
            ArchiveError("there is no such file") if isinstance(error, FileNotFoundError) else archive_error(error)
        ) from None
    problem: ArchiveError | None = None
    # In WAL mode a reader needs the file beside it. Where that cannot be created, no other process writes either.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        with contextlib.ExitStack() as on_error:
            try:
                uri = f"{Path(os.path.abspath(path)).as_uri()}?{mode}"
                connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
                on_error.callback(connection.close)
                if _is_new(connection):
                    raise ArchiveError("it is empty")
            except BROKEN as error:
                problem = archive_error(error)
            else:
                on_error.pop_all()
                return connection
    raise problem or ArchiveError("it cannot be opened")


def _check_is_file(path: str) -> None:
    """Raise ArchiveError for a folder, a pipe or a device, which may block when opened; OSError for no file."""
    if os.path.islink(path) and not os.path.exists(path):
        raise ArchiveError("it is a link to a file that is not there")
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ArchiveError("it is not a regular file")


def set_aside(connection: sqlite3.Connection, stream: str) -> None:
    """Replace the index by a temporary copy of one stream, for this connection: the archive may not be writable."""
    connection.execute("PRAGMA temp_store = MEMORY")
    temporary = INDEX.replace("CREATE TABLE ", "CREATE TEMP TABLE ").replace("CREATE INDEX ", "CREATE INDEX temp.")
    for statement in temporary.split(";"):
        connection.execute(statement)
    for table in DERIVED:
        which = "name = ?" if table == "pools" else "pool = (SELECT id FROM main.pools WHERE name = ?)"
        query = f"INSERT INTO temp.{table} SELECT * FROM main.{table} WHERE {which}"  # noqa: S608 - our names
        connection.execute(query, (stream,))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit on leaving, or roll back on an exception. Raise ArchiveError if SQLite does not take it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise archive_error(error) from error
    finally:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection, busy_seconds: float) -> None:
    is_new = _is_new(connection)
    connection.execute("PRAGMA synchronous = FULL")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _patiently(connection, "PRAGMA journal_mode = WAL", busy_seconds)
    if is_new:
        with transaction(connection):
            if _is_new(connection):  # another process may have been faster
                for statement in (LOG + INDEX).split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")


def _patiently(connection: sqlite3.Connection, statement: str, seconds: float) -> None:
    """Execute a statement for which SQLite does not wait by itself, such as a change of the journal mode."""
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.005)
        else:
            return


def _is_new(connection: sqlite3.Connection) -> bool:
    """Return whether the file is empty. Raise ArchiveError for a foreign database, or a newer format."""
    with snapshot(connection):
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise ArchiveError("it is not an archive of pit_fetch")
    if version != FORMAT:
        raise ArchiveError("its format is newer than this program: update pit_fetch")
    return False


@contextlib.contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read everything as of one moment, whatever other processes append meanwhile."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()
