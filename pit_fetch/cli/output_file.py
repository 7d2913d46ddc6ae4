"""The file of ``--output``: written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.support.process import write_whole
from pit_fetch.support.terminal import is_output


def check_file(path: str) -> None:
    """Raise UsageError if :func:`write_file` cannot write ``path``, as far as that shows beforehand."""
    if os.path.basename(path) == "-":
        raise _unwritable("- is not a file; without --output, the answer goes to stdout")
    try:
        target = os.path.realpath(path)  # a link keeps pointing to its file
        present, folder = _status(target), _status(os.path.dirname(target))
    except (OSError, ValueError) as error:  # a name that is too long, a loop of links, a null byte
        raise _unwritable(getattr(error, "strerror", None) or "it is not a path") from None
    if present is not None and not stat.S_ISREG(present.st_mode):
        raise _unwritable("it is not a regular file")
    if present is not None and is_output(present):
        raise _unwritable("standard output or standard error goes there")
    if folder is None or not stat.S_ISDIR(folder.st_mode):
        raise _unwritable("its folder does not exist")
    is_foreign = present is not None and os.geteuid() not in (0, present.st_uid, folder.st_uid)
    if not os.access(os.path.dirname(target), os.W_OK | os.X_OK) or (is_foreign and folder.st_mode & stat.S_ISVTX):
        raise _unwritable("no permission to write in its folder")


def write_file(path: str, content: str | bytes) -> None:
    """Write ``path`` whole: an older file stays until all of the new one is on the disk. Raise UsageError.

    The new file has the permissions of the old one.
    """
    check_file(path)
    path = os.path.realpath(path)
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    # A name of its own: in another container, another process may have the same number.
    aside = os.path.join(os.path.dirname(path), f".pit_fetch-{os.urandom(8).hex()}.tmp")
    present = _status(path)
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600 if present else 0o666)
    except OSError as error:
        raise _unwritable(error.strerror) from None
    try:
        try:
            if present is not None:
                os.fchmod(fd, stat.S_IMODE(present.st_mode) & 0o777)
            write_whole(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise _unwritable(error.strerror) from None


def _status(path: str) -> os.stat_result | None:
    """Return the status of a file or a folder, None if there is none. Raise OSError and ValueError for a bad name."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _unwritable(problem: str | None) -> UsageError:
    return UsageError(Code.OUTPUT_UNWRITABLE, problem=problem or "unknown")
