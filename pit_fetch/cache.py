"""The user's cache folder: the state of the rate limits, and files of a provider that stay the same for a while.

Best effort: where there is no such folder nothing is kept. A kept file is found by the address it
came from and by nothing of the request, so that the folder does not tell what was asked for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import NamedTuple


def folder(environ: Mapping[str, str]) -> str:
    """The folder, made if need be; "" when there is none."""
    home = environ.get("HOME", "")
    parent = environ.get("XDG_CACHE_HOME") or (home and os.path.join(home, ".cache"))
    if not parent:
        return ""
    path = os.path.join(parent, "pit_fetch")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError:
        return ""
    return path


class Kept(NamedTuple):
    """A kept body, and since when (seconds since the epoch)."""

    body: bytes
    since: float


def load(environ: Mapping[str, str], url: str, seconds: float, now: float) -> Kept | None:
    """The body kept for ``url`` if it is younger than ``seconds`` at ``now`` (seconds since the epoch)."""
    path = _path(environ, url)
    try:
        with open(path, "rb") as file:
            since = os.fstat(file.fileno()).st_mtime
            # An age below zero comes from a clock that was set back: how old the body is cannot be told.
            return Kept(file.read(), since) if 0 <= now - since < seconds else None
    except OSError:
        return None


def store(environ: Mapping[str, str], url: str, body: bytes) -> None:
    """Keeps ``body`` for ``url``. A reader at the same time sees the old body or the new one, never a part."""
    path = _path(environ, url)
    if not path:
        return
    part = f"{path}.{os.getpid()}"
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(body)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(part)


def _path(environ: Mapping[str, str], url: str) -> str:
    from hashlib import sha256

    home = folder(environ)
    return os.path.join(home, f"file-{sha256(url.encode()).hexdigest()[:32]}") if home else ""
