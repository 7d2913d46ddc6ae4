"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

IS_NOT_REGULAR = "it is not a regular file: name one that is, or write to standard output"
IS_DATABASE = "it is a database, such as an archive: name another file"
# How a database of SQLite begins, and how the names of the files beside it end.
_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")


@contextlib.contextmanager
def replacing(path: str, folder: str = "") -> Iterator[BinaryIO]:
    """Yield a file that takes the place of ``path`` when the block ends; an exception leaves everything as it was.

    An older file stays until all of the new one is on the disk, and gives it its permissions. A link keeps pointing to
    its file. ``folder``, of the same file system, is where it is written, by default beside ``path``: a killed process
    leaves it there. Raise OSError, also for a ``path`` with a database, and for a folder, a pipe or a device.
    """
    require_regular(path)
    path = os.path.realpath(path)
    if is_database(path):
        raise FileExistsError(errno.EEXIST, IS_DATABASE)
    # A name of its own: in another container, another process may have the same number.
    aside = os.path.join(folder or os.path.dirname(path), f".pit_fetch-{os.urandom(8).hex()}.tmp")
    present = status(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(aside, flags, 0o600 if present else 0o666), "w+b") as file:
        try:
            if present is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(present.st_mode) & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            if isinstance(error, OSError) and error.filename is None:  # a full disk, say
                error.filename = path
            raise


def require_regular(path: str) -> None:
    """Raise OSError for a path that is there, and no file: a pipe would block, and its name is no place to write."""
    present = status(path)
    if present is not None and not stat.S_ISREG(present.st_mode):
        raise OSError(errno.EINVAL, IS_NOT_REGULAR, path)


def is_database(path: str) -> bool:
    """Return whether a file is a database of SQLite, such as an archive, or lies beside one."""
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return True
    return any(path.endswith(ending) and os.path.exists(path.removesuffix(ending)) for ending in _BESIDE)


def status(path: str) -> os.stat_result | None:
    """Return the status of a file or a folder, None if there is none. Raise OSError and ValueError for a bad name."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
