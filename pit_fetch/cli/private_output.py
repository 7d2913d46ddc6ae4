"""``--release FILE``: the envelope goes to a private file instead of standard output.

The guard appends it to an agent's call (hooks/pit_guard.py), and the gate shows the model the content of the
file. It is not an option of a fetch: it decides where bytes go, never which.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from pit_fetch.errors import UsageError
from pit_fetch.support.bundled import gate


def split(argv: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the words without ``--release FILE``, and FILE, if given. Raise UsageError for half of it, or two."""
    words, option = list(argv), gate.RELEASE_OPTION
    options = gate.options_of(words)
    if option not in options:
        return words, None
    place = options.index(option)
    if options.count(option) > 1 or place + 1 == len(options):
        raise UsageError("usage", text=f"{option} takes one FILE, once")
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
    raise UsageError("usage", text=f"{gate.RELEASE_OPTION} names no empty private file of this user's")
