"""Text on its way out: escaping for a terminal, and complete delivery to a stream."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import TextIO

from pit_fetch.support.process import write_whole


def escape_unprintable(text: str, keep: str = "") -> str:
    """Return ``text`` with each unprintable character escaped, except those in ``keep``.

    A mistyped option, a path or a variable can contain something that controls a terminal: ESC, a
    carriage return, a change of writing direction.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def line(text: str) -> str:
    """Return one line for stderr: ``text`` in visible characters, without line breaks."""
    return "pit_fetch: " + escape_unprintable(text.replace("\n", " ")) + "\n"


def visible_text(text: str, stream: TextIO) -> str:
    """Return ``text`` as ``stream`` may get it. A terminal obeys control characters, which a file only holds."""
    return escape_unprintable(text.replace("\r\n", "\n"), keep="\n\t") if stream.isatty() else text


def deliver(stream: TextIO, text: str, seconds: float | None = None) -> None:
    """Write ``text`` to ``stream``, in one write or in as many as its reader needs. Raise OSError or ValueError."""
    try:
        fd = stream.fileno()
    except (OSError, ValueError, AttributeError):  # not a file: a notebook's stream, or a test's
        stream.write(text)
        stream.flush()
        return
    write_whole(fd, text.encode(stream.encoding or "utf-8", "backslashreplace"), seconds)


def is_output(status: os.stat_result) -> bool:
    """Return whether a file is the one that standard output or standard error goes to."""
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(fd), status):
                return True
    return False


def terminal_width(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Return how many characters a line of ``stream`` takes; 0 if it is not a terminal."""
    if environ.get("COLUMNS", "").isdigit():
        return int(environ["COLUMNS"])
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 0
