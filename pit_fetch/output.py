"""Text on its way out: what a terminal may be shown, and how a stream gets all of it."""

from __future__ import annotations

from typing import TextIO

from pit_fetch.process import write_whole


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


def deliver(stream: TextIO, text: str, seconds: float | None = None) -> None:
    """Writes ``text`` to ``stream`` in one write, or as many as its reader needs. Raises OSError or ValueError."""
    try:
        fd = stream.fileno()
    except (OSError, ValueError, AttributeError):  # not a file: a notebook's stream, or a test's
        stream.write(text)
        stream.flush()
        return
    write_whole(fd, text.encode(stream.encoding or "utf-8", "backslashreplace"), seconds)
