"""The file of ``--output``: written whole or not at all."""

from __future__ import annotations

import contextlib
import os

from pit_fetch.errors import UsageError
from pit_fetch.support.process import write_whole
from pit_fetch.support.terminal import is_output


def check_file(path: str) -> None:
    """Raise UsageError if :func:`write_file` cannot write ``path``, as far as that shows beforehand."""
    folder, exists = os.path.dirname(os.path.realpath(path)), os.path.exists(path)
    if os.path.basename(path) == "-":
        raise UsageError("output_unwritable", problem="- is not a file; without --output, the answer goes to stdout")
    if exists and not os.path.isfile(path):
        raise UsageError("output_unwritable", problem="it is not a regular file")
    if exists and is_output(os.stat(path)):
        raise UsageError("output_unwritable", problem="standard output or standard error goes there")
    if not os.path.isdir(folder):
        raise UsageError("output_unwritable", problem="its folder does not exist")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("output_unwritable", problem="no permission to write in its folder")


def write_file(path: str, content: str | bytes) -> None:
    """Write ``path`` whole: an older file stays until all of the new one is on the disk. Raise UsageError."""
    check_file(path)
    path = os.path.realpath(path)  # a link keeps pointing to its file
    aside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        try:
            write_whole(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise UsageError("output_unwritable", problem=error.strerror or "unknown") from None
