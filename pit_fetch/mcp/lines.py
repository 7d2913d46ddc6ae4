"""The lines that another program writes, of which none is held that is too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO


def lines(source: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield each line that is not blank; an empty one in the place of one of more than ``longest`` bytes."""
    size = longest + 1
    while line := source.readline(size):
        if len(line) < size or line.endswith(b"\n"):
            if line.strip():
                yield line
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(size)
        yield b""
