"""The folder of saved pages: the only one that is read from, within bounds of size."""

from __future__ import annotations

import os
import stat

MAX_BYTES = 16_000_000


def exists(folder: str) -> bool:
    """Return whether there is such a folder, and it can be read."""
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)


def read(folder: str, name: str) -> bytes | None:
    """Return the bytes of a regular file in ``folder``; None for anything else, and for a file outside it.

    The name was written by a model: it must not lead to another file, neither by ``..`` nor by a link.
    """
    root = os.path.realpath(folder)
    try:
        path = os.path.realpath(os.path.join(root, name))
        if os.path.isabs(name) or os.path.commonpath([root, path]) != root:
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MAX_BYTES else None
