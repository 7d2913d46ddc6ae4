"""The user's cache folder: the state of the rate limits, and provider files that stay the same for a while.

Best effort: if there is no such folder, nothing is kept. A kept file is found by the address it
came from and by nothing else in the request, so that the folder does not reveal what was asked for.

The contents of the folder are trusted, so it must be this user's own. A folder that somebody else
owns or may write to is not used; a link, a pipe or somebody else's file in it is neither read nor
written; and a kept file records where it came from, when, and a digest of its bytes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

_MAGIC = b"pit_fetch cache 2"
# A planted pipe would block whoever opens it, and a planted link would lead elsewhere.
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def folder(environ: Mapping[str, str]) -> str:
    """The folder, created if need be; "" if there is none that belongs to this user alone."""
    home = environ.get("HOME", "")
    parent = environ.get("XDG_CACHE_HOME") or (home and os.path.join(home, ".cache"))
    if not parent:
        return ""
    path = os.path.join(parent, "pit_fetch")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        # A link to a folder is fine if this user made it: in a shared folder anybody can make one.
        return path if _is_mine(os.lstat(path)) and _is_mine(os.stat(path), stat.S_IFDIR) else ""
    except OSError:
        return ""


def open_own(path: str, flags: int) -> int:
    """A descriptor of a regular file that is this user's own. Raises OSError for anything else."""
    handle = os.open(path, flags | _CAREFULLY, 0o600)
    found = os.fstat(handle)
    # A second hard link would be a name chosen by whoever made it.
    if _is_mine(found, stat.S_IFREG) and found.st_nlink == 1:
        return handle
    os.close(handle)
    raise PermissionError(path)


class Kept(NamedTuple):
    """A kept body, and when it was received (seconds since the epoch)."""

    body: bytes
    since: float


def load(environ: Mapping[str, str], url: str, seconds: float, now: float) -> Kept | None:
    """The body kept for ``url`` if it is younger than ``seconds`` at ``now`` (seconds since the epoch).

    ``seconds`` may be infinite, for a file that never changes.
    """
    path = _path(environ, url)
    try:
        with open(open_own(path, os.O_RDONLY), "rb") as file:
            head, packed = file.readline(1_000), file.read()
    except OSError:
        return None
    try:
        since = float(head.split(b" ")[3])
    except (IndexError, ValueError):
        return None
    # A negative age means that the clock was set back: nobody can tell how old the body is.
    if head != _head(url, since, packed) or not 0 <= now - since < seconds:
        return None
    import zlib

    return Kept(zlib.decompress(packed), since)


def store(environ: Mapping[str, str], url: str, body: bytes, now: float) -> None:
    """Keeps ``body``, received at ``now``, for ``url``. A concurrent reader sees either the old body or the new one.

    It is compressed: some files are kept for good, one for each day that was asked about.
    """
    path = _path(environ, url)
    if not path:
        return
    import zlib

    packed = zlib.compress(body)
    part = f"{path}.{os.urandom(8).hex()}"
    try:
        with open(open_own(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(_head(url, now, packed) + packed)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(part)


def _head(url: str, since: float, packed: bytes) -> bytes:
    """The first line of a kept file: when it was received, and a digest of that, the address and the packed body."""
    from hashlib import sha256

    digest = sha256(b"%r %s\n" % (since, url.encode()) + packed).hexdigest()
    return b"%s %r %s\n" % (_MAGIC, since, digest.encode())


def _path(environ: Mapping[str, str], url: str) -> str:
    from hashlib import sha256

    home = folder(environ)
    return os.path.join(home, f"file-{sha256(url.encode()).hexdigest()[:32]}") if home else ""


def _is_mine(found: os.stat_result, kind: int | None = None) -> bool:
    """Whether a file is this user's, of this kind, and writable by nobody else. A link is judged by its owner alone."""
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are private by their location
        return kind is None or stat.S_IFMT(found.st_mode) == kind
    if found.st_uid != os.geteuid():
        return False
    return kind is None or (stat.S_IFMT(found.st_mode) == kind and not found.st_mode & _OTHERS_MAY_WRITE)
