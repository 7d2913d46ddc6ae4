"""Local files: the ``--input-file``, read within bounds of time and size, and the nearest file of a name.

An input file may never end: a named pipe without a writer, a terminal, ``/dev/zero``.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable

from pit_fetch.errors import InputError
from pit_fetch.gaps import Code
from pit_fetch.support.encoding import to_utf8

MAX_BYTES = 64_000_000  # the same as for a reply from the network
# How files begin that are taken for a reply, in lower case.
_FORMS = (
    (b"pk\x03\x04", "it is a ZIP archive or an Excel file: unpack or export it first"),
    (b"bzh", "it is compressed by bzip2: unpack it first"),
    (b"\xfd7zxz", "it is compressed by xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd: unpack it first"),
    (b"%pdf", "it is a PDF"),
    (b"<!doctype html", "it is a web page"),
    (b"<html", "it is a web page"),
    (b"par1", "it is a Parquet file"),
    (b"sqlite format 3", "it is a database: an archive is named with --archive"),
)
# What stands in the place of a path, and may be part of one. The first row whose pattern is in it counts.
_NO_PATHS = ((r"[*?\[]", "the shell replaces no pattern in quotes: name one file"),)
_CHUNK = 1 << 20


def read_file(path: str, seconds: float) -> bytes:
    """Return the content of ``path``. Raise InputError if it is unreadable, too large, or does not end in time."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for its writer.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(error, path) from None
    try:
        return _read(fd, seconds)
    finally:
        os.close(fd)


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
            raise InputError(Code.INPUT_UNREADABLE, problem="it did not end before the deadline (--timeout)")
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
    raise InputError(Code.INPUT_UNREADABLE, problem=f"it is larger than {MAX_BYTES // 1_000_000} MB")


def _unreadable(error: OSError | ValueError, path: str = "") -> InputError:
    hint = next((f" ({hint})" for pattern, hint in _NO_PATHS if re.search(pattern, path)), "")
    return InputError(Code.INPUT_UNREADABLE, problem=(getattr(error, "strerror", None) or "not a path") + hint)


def unpacked(body: bytes) -> bytes:
    """Return the content of a file that is compressed by gzip, or text in UTF-16 as Windows writes it, as UTF-8.

    Raise InputError for gzip that is broken, or larger than ``MAX_BYTES``.
    """
    if body.startswith(b"\x1f\x8b"):
        from pit_fetch.net.decompress import content
        from pit_fetch.transport import TransportError

        try:
            body = content([body], "gzip")
        except TransportError as error:
            problem = error.problem or f"it is larger than {MAX_BYTES // 1_000_000} MB"
            raise InputError(Code.INPUT_UNREADABLE, problem=problem) from None
    return to_utf8(body)


def form_of(body: bytes) -> str:
    """Return what a file is that is not a reply, and the fix; "" if its form is unknown."""
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    form = next((form for mark, form in _FORMS if start.startswith(mark)), "")
    if not form and re.match(rb"\s*\{[^\n]*\}\r?\n\{", body):
        return "it is one JSON document in each line, and a reply is one document"
    return form
