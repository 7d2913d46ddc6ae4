"""Files that are followed wherever they are found, settings and ``.env``: only those of this user, or of root.

They are looked for in every folder above the working directory. In a folder that several users share, anybody could
put one, and set limits, rates, a ceiling or keys for all that work below it.
"""

from __future__ import annotations

import os
import stat

MAX_BYTES = 1_000_000
_ROOT = 0


class UntrustedFile(Exception):
    """A file is not followed. The text says why, and is to be read after the file's name."""


def read_trusted(path: str) -> bytes:
    """Return the content of a regular file. Raise UntrustedFile, and OSError if it cannot be read."""
    # A pipe would wait for its writer, and a device never ends.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        # Of a link, too: whoever made it has chosen the file. Permissions do not count: on a drive of another system,
        # each file seems to be open to all.
        for owner in (os.lstat(path).st_uid, status.st_uid):
            _check_owner(owner)
        with open(handle, "rb", closefd=False) as stream:
            content = stream.read(MAX_BYTES + 1)
    finally:
        os.close(handle)
    if len(content) > MAX_BYTES:
        raise OSError(0, f"it is larger than {MAX_BYTES // 1_000_000} MB")
    return content


def may_replace(path: str) -> bool:
    """Return whether this user may write a file, or put another one in its place: its owner may, and a folder's."""
    places = [os.path.abspath(path)]
    while places[-1] != os.path.dirname(places[-1]):
        places.append(os.path.dirname(places[-1]))
    if not hasattr(os, "geteuid"):
        return True
    here = filter(os.path.lexists, places)
    return any(os.access(place, os.W_OK) or os.lstat(place).st_uid == os.geteuid() for place in here)


def _check_owner(owner: int) -> None:
    """Raise UntrustedFile for the number of another user."""
    # On Windows a user's folders are private by their location.
    if hasattr(os, "geteuid") and owner not in (os.geteuid(), _ROOT):
        raise UntrustedFile(f"is not followed, since it belongs to another user (uid {owner})")
