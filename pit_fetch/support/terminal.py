"""Text on its way out: what a terminal may be shown, and how a stream gets all of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import TextIO

from pit_fetch.errors import UsageError
from pit_fetch.support.process import write_whole


def visible(text: str, keep: str = "") -> str:
    """``text`` with each unprintable character escaped, except those in ``keep``.

    A mistyped option, a path or a variable can contain something that controls a terminal: ESC, a
    carriage return, a change of writing direction.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def line(text: str) -> str:
    """One line for stderr: ``text`` in visible characters, without line breaks."""
    return "pit_fetch: " + visible(text.replace("\n", " ")) + "\n"


def harmless(text: str, stream: TextIO) -> str:
    """``text`` as ``stream`` may get it: a terminal obeys what a file only holds."""
    return visible(text.replace("\r\n", "\n"), keep="\n\t") if stream.isatty() else text


def deliver(stream: TextIO, text: str, seconds: float | None = None) -> None:
    """Writes ``text`` to ``stream`` in one write, or as many as its reader needs. Raises OSError or ValueError."""
    try:
        fd = stream.fileno()
    except (OSError, ValueError, AttributeError):  # not a file: a notebook's stream, or a test's
        stream.write(text)
        stream.flush()
        return
    write_whole(fd, text.encode(stream.encoding or "utf-8", "backslashreplace"), seconds)


def terminal_width(stream: TextIO, environ: Mapping[str, str]) -> int:
    """How many characters a line of ``stream`` takes; 0 if it is not a terminal."""
    if environ.get("COLUMNS", "").isdigit():
        return int(environ["COLUMNS"])
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 0


def check_file(path: str) -> None:
    """Whether :func:`write_file` can write ``path``, as far as can be told before. Raises UsageError."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.basename(path) == "-":
        raise UsageError("output_unwritable", problem="- is not a file; without --output, the answer goes to stdout")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError("output_unwritable", problem="it is not a regular file")
    if any(_is_stream(fd, path) for fd in (1, 2)):
        raise UsageError("output_unwritable", problem="standard output or standard error goes there")
    if not os.path.isdir(folder):
        raise UsageError("output_unwritable", problem="its folder does not exist")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("output_unwritable", problem="no permission to write in its folder")


def _is_stream(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


def write_file(path: str, content: str | bytes) -> None:
    """Writes ``path`` whole or not at all: what is there stays until all of it is on the disk. Raises UsageError."""
    check_file(path)
    path = os.path.realpath(path)  # a link keeps pointing to its file
    aside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        try:
            write_whole(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise UsageError("output_unwritable", problem=error.strerror or "unknown") from None
