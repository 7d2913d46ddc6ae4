"""``--release FILE``: the envelope goes to a private file instead of standard output.

The guard appends it to an agent's call (hooks/pit_guard.py), and the gate puts what it finds in the
file in front of the model. It is not an option of a fetch: it says where bytes go, never which.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from pit_fetch.errors import UsageError
from pit_fetch.support.bundled import gate


def split(argv: Sequence[str]) -> tuple[list[str], str | None]:
    """The words without ``--release FILE``, and FILE if there is one. Raises UsageError for half of it, or two."""
    words, option = list(argv), gate.RELEASE_OPTION
    options = gate.options_of(words)
    if option not in options:
        return words, None
    place = options.index(option)
    if options.count(option) > 1 or place + 1 == len(options):
        raise UsageError("usage", text=f"{option} takes one FILE, once")
    return words[:place] + words[place + 2 :], words[place + 1]


def opened(path: str) -> TextIO:
    """The private file, to be written. Raises UsageError unless it is empty, and this user's alone like its folder.

    It is never created here, and a link is not followed: only who made the file can have named it.
    """
    try:
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(os.path.basename(path), flags, dir_fd=folder)
            found = os.fstat(handle)
            if gate.is_private(os.fstat(folder), folder=True) and gate.is_private(found) and found.st_size == 0:
                return open(handle, "w", encoding="utf-8")
            os.close(handle)
        finally:
            os.close(folder)
    except OSError:
        pass
    raise UsageError("usage", text=f"{gate.RELEASE_OPTION} names no empty private file of this user's")
