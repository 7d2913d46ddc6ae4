"""The files that an answer goes to: that of ``--output``, written whole or not at all, and the private one.

``--release FILE`` names a private file in the place of standard output. The guard appends it to an agent's call
(hooks/pit_guard.py), and the gate shows the model the content of the file. It is not an option of a fetch: it decides
where bytes go, never which.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from typing import TextIO

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.support.bundled import gate
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


def split_release(argv: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the words without ``--release FILE``, and FILE, if given. Raise UsageError for half of it, or two."""
    words, option = list(argv), gate.RELEASE_OPTION
    options = gate.options_of(words)
    if option not in options:
        return words, None
    place = options.index(option)
    if options.count(option) > 1 or place + 1 == len(options):
        raise UsageError(Code.USAGE, text=f"{option} takes one FILE, once")
    return words[:place] + words[place + 2 :], words[place + 1]


def open_private(path: str) -> TextIO:
    """Open the private file to write. Raise UsageError unless it is empty, and with its folder this user's alone."""
    try:
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            # It is not created, and a link is not followed: only the process that made the file can name it.
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(os.path.basename(path), flags, dir_fd=folder)
            status = os.fstat(handle)
            if gate.is_private(os.fstat(folder), folder=True) and gate.is_private(status) and status.st_size == 0:
                return open(handle, "w", encoding="utf-8")
            os.close(handle)
        finally:
            os.close(folder)
    except OSError:
        pass
    raise UsageError(Code.USAGE, text=f"{gate.RELEASE_OPTION} names no empty private file of this user's")
