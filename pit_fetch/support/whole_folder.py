"""A folder that is written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def making(path: str) -> Iterator[Path]:
    """Yield a folder for this user alone, which gets the name ``path`` when the block ends.

    All of it is on the disk then. An exception removes it, and what a killed process leaves, the next one for the same
    ``path`` removes. Raise OSError: if ``path`` exists, if another process is making it, if it cannot be written.
    """
    _require_absent(path)
    parent, name = os.path.split(os.path.abspath(path))
    unfinished = Path(parent, f".{name}.unfinished")
    with contextlib.suppress(FileExistsError):
        unfinished.mkdir(0o700)
    with locked(unfinished):
        _require_absent(path)  # another process may just have been done
        try:
            _clear(unfinished)
            yield unfinished
            for folder, _, files in os.walk(unfinished, topdown=False):
                for each in (*files, ""):
                    _sync(os.path.join(folder, each))
            os.rename(unfinished, path)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        _sync(parent)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this block alone, or until the process ends. Raise OSError if another process holds it."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(errno.EBUSY, "another process is writing it") from None
        yield
    finally:
        os.close(lock)


def _require_absent(path: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "it exists already: name a new folder")


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
