"""The user's cache folder: the state of the rate limits, and files of providers that stay the same for a while.

Best effort: without such a folder, nothing is stored. A file is stored under its address and nothing else of the
request, so that the folder does not reveal what was asked for.

The contents of the folder are trusted, so it must be this user's own. A folder that another user owns or may write to
is not used. A link, a pipe or another user's file in it is neither read nor written. A stored file begins with a digest
of its address, its receipt and its bytes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

_MAGIC = b"pit_fetch cache 2"
# A planted pipe would block the process that opens it, and a planted link would lead elsewhere.
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def location(environ: Mapping[str, str]) -> str:
    """Return the path of the folder, which need not exist; "" without a home."""
    home = environ.get("HOME", "")
    parent = environ.get("XDG_CACHE_HOME") or (home and os.path.join(home, ".cache"))
    return os.path.join(parent, "pit_fetch") if parent else ""


def folder(environ: Mapping[str, str]) -> str:
    """Return the folder, which is created if need be, or "" if none belongs to this user alone."""
    path = location(environ)
    if not path:
        return ""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        # A link to a folder is fine if this user made it. In a shared folder, any user can make one.
        return path if _is_mine(os.lstat(path)) and _is_mine(os.stat(path), stat.S_IFDIR) else ""
    except OSError:
        return ""


def open_own(path: str, flags: int) -> int:
    """Return a descriptor of a regular file that is this user's own. Raise OSError for any other."""
    handle = os.open(path, flags | _CAREFULLY, 0o600)
    status = os.fstat(handle)
    # A second hard link would be a name that another user may have chosen.
    if _is_mine(status, stat.S_IFREG) and status.st_nlink == 1:
        return handle
    os.close(handle)
    raise PermissionError(path)


class StoredBody(NamedTuple):
    """A stored body, and the time of its receipt in seconds since the epoch."""

    body: bytes
    since: float


def load(environ: Mapping[str, str], url: str, seconds: float, now: float) -> StoredBody | None:
    """Return the body stored for ``url`` if, at ``now`` (Unix time), it is younger than ``seconds``, maybe infinite."""
    path = _path(environ, url)
    try:
        with open(open_own(path, os.O_RDONLY), "rb") as file:
            head, packed = file.readline(1_000), file.read()
        since = float(head.split(b" ")[3])
    except (OSError, IndexError, ValueError):
        return None
    # A negative age means that the clock was set back, so that the age is unknown.
    if head != _head(url, since, packed) or not 0 <= now - since < seconds:
        return None
    import zlib

    return StoredBody(zlib.decompress(packed), since)


def store(environ: Mapping[str, str], url: str, body: bytes, now: float) -> None:
    """Store ``body``, received at ``now``, for ``url``. A concurrent reader sees either the old body or the new one."""
    path = _path(environ, url)
    if not path:
        return
    import zlib

    # Compressed, since some files are stored for good, one for each day that was asked about.
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
    """Return the first line of a stored file: its receipt, and a digest of that, the address and the packed body."""
    from hashlib import sha256

    digest = sha256(b"%r %s\n" % (since, url.encode()) + packed).hexdigest()
    return b"%s %r %s\n" % (_MAGIC, since, digest.encode())


def _path(environ: Mapping[str, str], url: str) -> str:
    from hashlib import sha256

    home = folder(environ)
    return os.path.join(home, f"file-{sha256(url.encode()).hexdigest()[:32]}") if home else ""


def _is_mine(status: os.stat_result, kind: int | None = None) -> bool:
    """Return whether a file is this user's and, given a kind, of that kind and writable by no other user."""
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are private by their location
        return kind is None or stat.S_IFMT(status.st_mode) == kind
    if status.st_uid != os.geteuid():
        return False
    return kind is None or (stat.S_IFMT(status.st_mode) == kind and not status.st_mode & _OTHERS_MAY_WRITE)
