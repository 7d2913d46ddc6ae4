"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str, folder: str = "") -> Iterator[BinaryIO]:
    """Yield a file that takes the place of ``path`` when the block ends; an exception leaves everything as it was.

    An older file stays until all of the new one is on the disk, and gives it its permissions. A link keeps pointing to
    its file. ``folder``, of the same file system, is where it is written, by default beside ``path``: a killed process
    leaves it there. Raise OSError.
    """
    path = os.path.realpath(path)
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
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise


def status(path: str) -> os.stat_result | None:
    """Return the status of a file or a folder, None if there is none. Raise OSError and ValueError for a bad name."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
