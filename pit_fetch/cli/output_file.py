"""The file of ``--output``: written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.support.terminal import is_output
from pit_fetch.support.whole_file import IS_DATABASE, is_database, replacing, status


def check_file(path: str, read: Iterable[str] = ()) -> None:
    """Raise UsageError if :func:`write_file` cannot write ``path``, as far as that shows beforehand, or must not.

    It replaces no database, such as an archive, and none of the files that are ``read``.
    """
    if os.path.basename(path) == "-":
        raise _unwritable("- is not a file; without --output, the answer goes to stdout")
    try:
        target = os.path.realpath(path)  # a link keeps pointing to its file, unless that is a pipe without a name
        present, folder = status(path), status(os.path.dirname(target))
    except (OSError, ValueError) as error:  # a name that is too long, a loop of links, a null byte
        raise _unwritable(getattr(error, "strerror", None) or "it is not a path") from None
    if present is not None and not stat.S_ISREG(present.st_mode):
        raise _unwritable("it is not a regular file; without --output, the answer goes to stdout")
    if present is not None and is_output(present):
        raise _unwritable("standard output or standard error goes there")
    if target in map(os.path.realpath, read):
        raise _unwritable("this call reads it: name another file")
    if present is not None and is_database(target):
        raise _unwritable(IS_DATABASE)
    if folder is None or not stat.S_ISDIR(folder.st_mode):
        raise _unwritable("its folder does not exist")
    is_foreign = present is not None and os.geteuid() not in (0, present.st_uid, folder.st_uid)
    if not os.access(os.path.dirname(target), os.W_OK | os.X_OK) or (is_foreign and folder.st_mode & stat.S_ISVTX):
        raise _unwritable("no permission to write in its folder")


def write_file(path: str, content: str | bytes) -> None:
    """Write ``path`` whole, in the place of an older file. Raise UsageError."""
    check_file(path)
    try:
        with replacing(path) as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise _unwritable(error.strerror) from None


def _unwritable(problem: str | None) -> UsageError:
    return UsageError(Code.OUTPUT_UNWRITABLE, problem=problem or "unknown")
