"""The user's cache folder: the state of the rate limits, and files of providers that stay the same for a while.

Best effort: without such a folder, nothing is stored. A file is stored under its address and nothing else of the
request, so that the folder does not reveal what was asked for.

The contents of the folder are trusted, so it must be this user's own. A folder that another user owns or may write to
is not used. A link, a pipe or another user's file in it is neither read nor written. A stored file begins with a digest
of its address, its receipt and its bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

from pit_fetch.transport import MAX_BODY_BYTES

_MAGIC = b"pit_fetch cache 3"
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


class Place(NamedTuple):
    """Where a reply is stored: under its request, and among ``most`` others, if that is given."""

    request: str
    most: int | None = None


class Stored(NamedTuple):
    """A stored reply, and the time of its receipt in seconds since the epoch."""

    headers: Mapping[str, str]
    body: bytes
    since: float


def load(environ: Mapping[str, str], place: Place, seconds: float, now: float) -> Stored | None:
    """Return what is stored at ``place`` if, at ``now`` (Unix time), it is younger than ``seconds``, maybe infinite."""
    path = _path(environ, place)
    try:
        with open(open_own(path, os.O_RDONLY), "rb") as file:
            head, packed = file.readline(1_000), file.read()
        since = float(head.split(b" ")[3])
    except (OSError, IndexError, ValueError):
        return None
    # A negative age means that the clock was set back, so that the age is unknown.
    if head != _head(place, since, packed) or not 0 <= now - since < seconds:
        return None
    import zlib

    member = zlib.decompressobj()
    content = member.decompress(packed, MAX_BODY_BYTES)
    if not member.eof:  # a file of a few bytes may stand for gigabytes
        return None
    headers, _, body = content.partition(b"\n")
    return Stored(json.loads(headers), body, since)


def store(environ: Mapping[str, str], place: Place, stored: Stored) -> None:
    """Store a reply at ``place``. A concurrent reader sees either the old one or the new one.

    Of the files that are stored with the same ``most``, so many stay: beyond that, the oldest quarter is removed.
    """
    path = _path(environ, place)
    if not path:
        return
    import zlib

    # Compressed, since some files are stored for good, one for each day that was asked about.
    packed = zlib.compress(json.dumps(stored.headers).encode() + b"\n" + stored.body)
    part = f"{path}.{os.urandom(8).hex()}"
    try:
        with open(open_own(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(_head(place, stored.since, packed) + packed)
        os.replace(part, path)
        if place.most is not None:
            _remove_oldest(path, place.most)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(part)


def _head(place: Place, since: float, packed: bytes) -> bytes:
    """Return the first line of a stored file: its receipt, and a digest of that, the request and the packed reply."""
    from hashlib import sha256

    digest = sha256(b"%r %s\n" % (since, place.request.encode()) + packed).hexdigest()
    return b"%s %r %s\n" % (_MAGIC, since, digest.encode())


def _remove_oldest(path: str, most: int) -> None:
    """Remove the oldest files of the kind of ``path`` if there are more than ``most``. Raise OSError."""
    home, name = os.path.split(path)
    kind = name.rpartition("-")[0] + "-"
    files = [entry for entry in os.scandir(home) if entry.name.startswith(kind)]
    if len(files) > most:
        files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in files[: len(files) - most + most // 4]:
            os.remove(entry.path)


def _path(environ: Mapping[str, str], place: Place) -> str:
    from hashlib import sha256

    home, kind = folder(environ), "file" if place.most is None else f"file-{place.most}"
    return os.path.join(home, f"{kind}-{sha256(place.request.encode()).hexdigest()[:32]}") if home else ""


def _is_mine(status: os.stat_result, kind: int | None = None) -> bool:
    """Return whether a file is this user's and, given a kind, of that kind and writable by no other user."""
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are private by their location
        return kind is None or stat.S_IFMT(status.st_mode) == kind
    if status.st_uid != os.geteuid():
        return False
    return kind is None or (stat.S_IFMT(status.st_mode) == kind and not status.st_mode & _OTHERS_MAY_WRITE)
