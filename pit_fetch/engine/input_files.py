"""Local files: the path of a declared one, and the ``--input-file``, read within bounds of time and size.

An input file may never end: a named pipe without a writer, a terminal, ``/dev/zero``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pit_fetch.errors import ConfigError, InputError

if TYPE_CHECKING:
    from pit_fetch.provider import Provider

MAX_BYTES = 64_000_000  # the same as for a reply from the network
_CHUNK = 1 << 20


def read_file(path: str, seconds: float) -> bytes:
    """Return the content of ``path``. Raise InputError if it is unreadable, too large, or does not end in time."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for its writer.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(error) from None
    try:
        return _read(fd, seconds)
    finally:
        os.close(fd)


def path_of(provider: Provider, name: str, environ: Mapping[str, str], folder: str) -> str:
    """Return the path of a declared file. Raise ConfigError if its variable is not set, or names nothing readable."""
    file = {file.name: file for file in provider.files}[name]
    text = environ.get(file.variable, "")
    if not text:
        raise ConfigError("file_missing", source=provider.name, variable=file.variable, name=file.name, hint=file.hint)
    path = os.path.join(folder, os.path.expanduser(text))
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise ConfigError("file_unreadable", variable=file.variable)
    return path


def nearest(folder: str, name: str, exists: Callable[[str], bool] = os.path.isfile) -> str:
    """Return the path of the file ``name`` in ``folder``, or else in the nearest folder above; "" if none has it."""
    while not exists(os.path.join(folder, name)):
        child, folder = folder, os.path.dirname(folder)
        if folder == child:
            return ""
    return os.path.join(folder, name)


def read_stdin(seconds: float) -> bytes:
    """Return all of standard input, within the same bounds; nothing if there is none."""
    if sys.stdin is None:
        return b""
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # not a file: a notebook's stream, or a test's
        return sys.stdin.read().encode()
    return _read(fd, seconds)


def _read(fd: int, seconds: float) -> bytes:
    from select import POLLIN, poll

    ready, deadline = poll(), time.monotonic() + seconds
    ready.register(fd, POLLIN)
    parts: list[bytes] = []
    size = 0
    while size <= MAX_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not ready.poll(left * 1000):
            raise InputError("input_unreadable", problem="it did not end before the deadline (--timeout)")
        try:
            part = os.read(fd, _CHUNK)
        except BlockingIOError:
            continue
        except OSError as error:
            raise _unreadable(error) from None
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise InputError("input_unreadable", problem=f"it is larger than {MAX_BYTES // 1_000_000} MB")


def _unreadable(error: OSError | ValueError) -> InputError:
    return InputError("input_unreadable", problem=getattr(error, "strerror", None) or "not a path")
