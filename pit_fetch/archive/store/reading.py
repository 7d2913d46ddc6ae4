"""How a reader opens an archive: no commit is overlooked, and nothing is left beside the file.

In WAL mode the newest commits are in a file beside the archive (``-wal``), and another one (``-shm``) tells where, and
who reads. The first process to open the archive creates both, and the last writer to close it removes them. A reader
who may not write the archive must create neither, since its owner could then not write to them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from pit_fetch.archive.store.errors import ArchiveError, Changed

# Two writes within so many nanoseconds may have one time: ticks of a kernel (Linux before 6.13), or whole seconds.
_TICK, _WHOLE_SECONDS = 20_000_000, 2_000_000_000
# How often a reader looks whether the last write is over.
_ATTEMPTS = 5
# On Windows a file has the time of a write only once it is closed.
_SHOWS_EACH_WRITE = os.name == "posix"
_UNSEEN = (
    "its newest entries are in the -wal file beside it, which this user cannot use: "
    "copy both files to a folder that this user may write to, and ask there"
)


class Way(Enum):
    """A way to open an archive, as the parameters of SQLite.

    SHARED  through -wal and -shm: each transaction sees one moment, whatever others write
    FIRST   the same where they are not there. Only a connection that may write removes them when it is the last
    GUEST   the same with those that are there, of which none is created
    ALONE   the file by itself: right only if nothing is in -wal, and if no process writes to the file meanwhile
    """

    SHARED = "mode=ro"
    FIRST = "mode=rw"
    GUEST = "mode=ro&readonly_shm=1"
    ALONE = "mode=ro&immutable=1"


class SideFiles(NamedTuple):
    """What is beside an archive: the size of its -wal (None: there is none), and whether there is a -shm."""

    wal: int | None
    has_shm: bool


class FileState(NamedTuple):
    """What every write to a file changes, if it is settled. On POSIX the second time cannot be set by a program."""

    device: int
    inode: int
    size: int
    written: int
    changed: int

    def is_settled(self, now: int) -> bool:
        """Return whether a write at ``now``, in nanoseconds, would give the file another time."""
        return abs(now - max(self.written, self.changed)) >= self.grain

    @property
    def grain(self) -> int:
        """Return within how many nanoseconds two writes may give a file the same time, at most."""
        return _TICK if self.written % 1_000_000_000 or self.changed % 1_000_000_000 else _WHOLE_SECONDS


def ways(files: SideFiles, *, may_write: bool, is_brief: bool) -> tuple[Way, ...]:
    """Return the ways to try in turn. ``is_brief``: the reader can start again if somebody writes meanwhile."""
    is_shared, is_quiet = files.wal is not None and files.has_shm, not files.wal
    possible = {
        Way.ALONE: is_brief and is_quiet and not is_shared,  # the fastest, and it leaves nothing to remove
        Way.FIRST: may_write and is_quiet and not is_shared,
        Way.SHARED: may_write and (is_shared or not is_quiet),
        Way.GUEST: is_shared,  # a user who may not write can still use what its owner has created
    }
    last = (Way.ALONE,) if is_quiet and not possible[Way.ALONE] else ()
    return (*(way for way, is_possible in possible.items() if is_possible), *last)


class Reader(sqlite3.Connection):
    """A connection that reads an archive.

    unchanged  the state that the file must keep, if it is read by itself
    """

    path: str = ""
    unchanged: FileState | None = None

    def check_unchanged(self) -> None:
        """Raise Changed if what was read may not be of one moment."""
        with contextlib.suppress(OSError):  # the file is gone, and what is gone was not written to
            if self.unchanged is not None and file_state(self.path) != self.unchanged:
                raise Changed


def may_write(path: str) -> bool:
    """Return whether this user may write to an archive, and create files beside it that its owner can write to.

    Another user's files may have a group of their own. SQLite gives those of root to the archive's owner.
    """
    is_allowed = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK | os.X_OK)
    # Files of another user beside it would lock the owner out.
    return is_allowed and (os.name != "posix" or os.geteuid() in (0, os.stat(path).st_uid))


def side_files(path: str) -> SideFiles:
    wal = None
    with contextlib.suppress(OSError):
        wal = os.stat(f"{path}-wal").st_size
    return SideFiles(wal, os.path.exists(f"{path}-shm"))


def file_state(path: str) -> FileState:
    """Return the state of a file. To open it, and to close it again, would end SQLite's locks in this process."""
    found = os.stat(path)
    return FileState(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def connect(
    path: str, begin: Callable[[sqlite3.Connection], object], busy_seconds: float, *, is_brief: bool, is_allowed: bool
) -> Reader:
    """Open the archive at an absolute path, and let ``begin`` be the first to read it.

    ``is_allowed`` says whether the reader may write to the archive and beside it. Raise ArchiveError, or what SQLite
    raises.
    """
    for _ in range(_ATTEMPTS):
        # In this order: what is checkpointed between the two shows.
        state, around = file_state(path), side_files(path)
        is_settled = state.is_settled(time.time_ns())
        is_quick = is_brief and is_settled and _SHOWS_EACH_WRITE
        problem: sqlite3.Error | None = None
        for way in ways(around, may_write=is_allowed, is_brief=is_quick):
            if way is Way.ALONE and not is_settled:
                time.sleep(state.grain / 1e9)
                break
            try:
                return _connect(path, way, state if way is Way.ALONE else None, begin, busy_seconds)
            except sqlite3.OperationalError as error:  # a file beside it can be neither used nor created
                if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                    raise
                problem = error
            except Changed:
                break
        else:
            if problem is not None and (is_allowed or not around.wal):
                raise problem
            # There was no way to try, or none that sees the log.
            time.sleep(_TICK / 1e9)
            if (file_state(path), side_files(path)) == (state, around):
                raise ArchiveError(_UNSEEN)
        # Its owner opened, closed or wrote to it in that instant: look again.
    raise Changed


def _connect(
    path: str,
    way: Way,
    unchanged: FileState | None,
    begin: Callable[[sqlite3.Connection], object],
    busy_seconds: float,
) -> Reader:
    with contextlib.ExitStack() as on_error:
        if way is Way.GUEST:
            on_error.callback(_remove_own, path, _wal_of(path))
        uri = f"{_uri(path)}?{way.value}"
        reader = sqlite3.connect(uri, uri=True, timeout=busy_seconds, isolation_level=None, factory=Reader)
        reader.path, reader.unchanged = path, unchanged
        on_error.callback(reader.close)
        if way is Way.FIRST:
            # It may write so that SQLite removes -wal and -shm in the end, and for nothing else.
            reader.execute("PRAGMA query_only = ON")
        begin(reader)
        on_error.pop_all()
    return reader


def _uri(path: str) -> str:
    """Return an absolute path as SQLite takes it with parameters. To import pathlib takes a millisecond."""
    from urllib.parse import quote_from_bytes

    quoted = quote_from_bytes(os.fsencode(path.replace(os.sep, "/")))
    return f"file://{quoted if quoted.startswith('/') else f'/{quoted}'}"


def _wal_of(path: str) -> int | None:
    """Return the number of the file -wal; None if there is none."""
    try:
        return os.stat(f"{path}-wal").st_ino
    except OSError:
        return None


def _remove_own(path: str, before: int | None) -> None:
    """Remove an empty -wal that SQLite has just created: its owner removed the one that was there in that instant."""
    user = os.geteuid() if os.name == "posix" else None
    with contextlib.suppress(OSError):
        found = os.stat(f"{path}-wal")
        if (found.st_size, found.st_uid) == (0, user) and found.st_ino != before:
            os.remove(f"{path}-wal")
