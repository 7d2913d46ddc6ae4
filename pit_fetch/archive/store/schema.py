"""Open the file of an archive: to write, to read, or with one stream of its index beside it, in memory.

A file of an earlier format is upgraded when it is opened to write, with a copy kept beside it: its journal stays, and
its index is made again as questions need it. Until then, it is not read.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing

from pit_fetch.archive.store import about, index, journal, reading
from pit_fetch.archive.store.errors import BROKEN, ArchiveError, Damaged, archive_error, translating
from pit_fetch.archive.store.reading import Reader
from pit_fetch.archive.store.tables import ABOUT, APPLICATION_ID, DERIVED, FORMAT, FORMER, INDEX, SCHEMA
from pit_fetch.support import sqlite

# How long a command waits for other processes: each locks the file for some milliseconds.
BUSY_SECONDS = 10.0
# The part of a fetch's time limit that it may wait for the archive: the source needs the rest.
_PART = 0.25
_MISSING = "there is no such file (pit_fetch capture or pit_fetch archive sample makes one)"


def lock_timeout(timeout: float) -> float:
    """Return how many seconds a fetch with this time limit waits for other processes that lock the archive."""
    return timeout * _PART


def open_to_write(path: str, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open the archive at ``path``, and create it if it is missing. Raise ArchiveError."""
    path = os.path.abspath(path)  # ":memory:" and "" are no file names to SQLite
    try:
        with contextlib.suppress(FileExistsError):
            # SQLite gives the files beside it the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600))
        _check_is_file(path)
        if not os.access(path, os.W_OK):
            raise ArchiveError("it is read-only: name one that this user may write to")
        if not os.path.getsize(path):  # an empty file may have been readable for everybody
            with contextlib.suppress(OSError):
                os.chmod(path, 0o600)
    except OSError as error:
        raise archive_error(error) from None
    with translating(), contextlib.ExitStack() as on_error:
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
        on_error.callback(connection.close)
        _prepare(connection, path, busy_seconds)
        on_error.pop_all()
    return connection


def open_existing(path: str) -> sqlite3.Connection:
    """Open the archive at ``path`` to write, but do not create one. Raise ArchiveError."""
    try:
        if not os.path.getsize(path):
            raise ArchiveError("it is empty")
    except OSError as error:
        raise ArchiveError(_MISSING) if isinstance(error, FileNotFoundError) else archive_error(error) from None
    return open_to_write(path)


def open_to_read(path: str, *, is_brief: bool = False, allowed: Callable[[str], bool] = reading.may_write) -> Reader:
    """Open the archive at ``path``, even if its folder cannot be written. Raise ArchiveError.

    What is read in a :func:`snapshot` is of one moment. So is all that was read, if :func:`check_unchanged` is silent.

    is_brief  the caller starts again if Changed is raised, so the file may be read in the fastest way
    allowed   says whether this user may write to the archive, and to its folder
    """
    path = os.path.realpath(path)  # SQLite keeps -wal and -shm beside the file that a link names
    try:
        _check_is_file(path)
        return reading.connect(path, _begin, BUSY_SECONDS, is_brief=is_brief, is_allowed=allowed(path))
    except FileNotFoundError:
        raise ArchiveError(_MISSING) from None
    except (*BROKEN, OSError) as error:
        raise archive_error(error) from None


def _begin(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA temp_store = MEMORY")  # what is indexed for one question goes with its connection
    if _is_new(connection):
        raise ArchiveError("it is empty")
    if format_of(connection) < FORMAT:
        raise ArchiveError("it is of an earlier format: pit_fetch archive rebuild upgrades it, and keeps a copy")


def _check_is_file(path: str) -> None:
    """Raise ArchiveError for a folder, a pipe or a device, which may block when opened; OSError for no file."""
    if os.path.islink(path) and not os.path.exists(path):
        raise ArchiveError("it is a link to a file that is not there")
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ArchiveError("it is not a regular file")


def format_of(connection: sqlite3.Connection) -> int:
    """Return the format of an archive."""
    (number,) = connection.execute("PRAGMA main.user_version").fetchone()
    return int(number)


def copy_to(path: str, target: str) -> None:
    """Copy the archive at ``path`` to a new file, as of one moment, while others record. Raise ArchiveError."""
    unfinished = f"{target}.unfinished"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # so that it is one file
        os.rename(unfinished, target)  # in one step: what is there is whole
    except (sqlite3.Error, OSError) as error:
        raise archive_error(error) from error


def overlay_stream(connection: sqlite3.Connection, stream: str) -> None:
    """Lay a temporary index over that of the file, for this connection, with a copy of one stream.

    A reader may not be allowed to write to the archive, and an offline question must not.
    """
    overlay_empty_index(connection)
    for table in DERIVED:
        which = f"name IN (?, '{index.UNASSIGNED}')"
        if table != "streams":
            which = f"stream IN (SELECT id FROM main.streams WHERE {which})"
        if table == "versions":
            which = f"item IN (SELECT id FROM main.items WHERE {which})"
        query = f"INSERT INTO temp.{table} SELECT * FROM main.{table} WHERE {which}"
        connection.execute(query, (stream,))


def overlay_everything(connection: sqlite3.Connection) -> None:
    """Lay a temporary index over that of the file, for this connection, of which all fetches are pending."""
    overlay_empty_index(connection)
    _defer_everything(connection)


def remove_overlay(connection: sqlite3.Connection) -> None:
    """Remove the temporary index of :func:`overlay_stream`."""
    for table in DERIVED:
        connection.execute(f"DROP TABLE temp.{table}")


def overlay_empty_index(connection: sqlite3.Connection) -> None:
    """Lay an empty temporary index over that of the file, for this connection."""
    connection.execute("PRAGMA query_only = OFF")  # it would protect the temporary tables, too
    temporary = INDEX.replace("CREATE TABLE ", "CREATE TEMP TABLE ").replace("CREATE INDEX ", "CREATE INDEX temp.")
    for statement in temporary.split(";"):
        connection.execute(statement)


def replace_index(connection: sqlite3.Connection) -> None:
    """Put the temporary index in the place of that of the file, inside a transaction of the caller."""
    for table in (*DERIVED, *FORMER):
        connection.execute(f"DROP TABLE IF EXISTS main.{table}")
    for statement in INDEX.replace("CREATE INDEX ", "CREATE INDEX main.").split(";"):
        connection.execute(statement)
    for table in DERIVED:
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM temp.{table}")
    remove_overlay(connection)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit on leaving, or roll back on an exception. Raise ArchiveError if SQLite does not take it."""
    try:
        with sqlite.transaction(connection):
            yield
    except sqlite3.Error as error:
        raise archive_error(error) from error


@contextlib.contextmanager
def savepoint(connection: sqlite3.Connection) -> Iterator[None]:
    """Undo what a block has written to a damaged index: what is recorded in its transaction stays.

    The index can be made again, and a reply cannot.
    """
    connection.execute("SAVEPOINT index_only")
    try:
        yield
    except sqlite3.DatabaseError as error:
        connection.execute("ROLLBACK TO index_only")
        if not isinstance(archive_error(error), Damaged):
            raise
    except Damaged:
        connection.execute("ROLLBACK TO index_only")
    connection.execute("RELEASE index_only")


def _prepare(connection: sqlite3.Connection, path: str, busy_seconds: float) -> None:
    is_new = _is_new(connection)
    connection.execute("PRAGMA synchronous = FULL")  # an exchange is on disk before the provider parses it
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _patiently(connection, "PRAGMA journal_mode = WAL", busy_seconds)
    if is_new or format_of(connection) < FORMAT:
        with transaction(connection):
            if _is_new(connection):  # another process may have been faster
                for statement in SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            elif (number := format_of(connection)) < FORMAT:
                copy_to(path, f"{path}.format-{number}")
                _upgrade(connection)


def _upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade a file of an earlier format, inside a transaction of the caller."""
    is_first = format_of(connection) == 1  # its notes had no checksums, and did not say where a chain ends
    notes = about.sound(connection)
    connection.execute("DROP TABLE about")
    connection.execute(ABOUT)
    for name, value in notes.items():
        about.put(connection, name, value)
    if is_first:
        journal.note_chains(connection)
        journal.note_depths(connection)
    index.recreate(connection)
    _defer_everything(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _defer_everything(connection: sqlite3.Connection) -> None:
    """Mark every fetch of every stream as not indexed. The next question indexes them."""
    for key in journal.fetches(connection):
        index.defer(connection, index.UNASSIGNED, key)


def _patiently(connection: sqlite3.Connection, statement: str, seconds: float) -> None:
    """Execute a statement, and wait for other processes. SQLite itself does not wait to change the journal mode."""
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
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application == version == 0 and not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            return True
    if application != APPLICATION_ID:
        raise ArchiveError("it is not an archive of pit_fetch")
    if version > FORMAT:  # its journal may have columns whose hashes this program does not know
        raise ArchiveError("its format is newer than this program: update pit_fetch")
    return False


@contextlib.contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read everything as of one moment, whatever other processes append meanwhile. Raise Changed if it cannot be."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        with checking(lambda: check_unchanged(connection)):
            yield
    finally:
        connection.rollback()


@contextlib.contextmanager
def checking(check: Callable[[], object]) -> Iterator[None]:
    """Call ``check`` on leaving, also on an error, which it may explain better by raising its own."""
    try:
        yield
    except Exception:
        check()
        raise
    check()


def check_unchanged(connection: sqlite3.Connection) -> None:
    """Raise Changed if what was read by a connection may not be of one moment."""
    if isinstance(connection, Reader):
        connection.check_unchanged()
