"""Read the lines that another program writes, without ever holding one that is too long, and the JSON in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Any

from pit_fetch.errors import UpstreamError
from pit_fetch.wire import json_tree

_SHOWN = 1_000


class Beginning(bytes):
    """What a line that is too long begins with."""


def lines(source: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield each line that is not blank; the :class:`Beginning` of one of more than ``longest`` bytes."""
    size = longest + 1
    while line := source.readline(size):
        if len(line) < size or line.endswith(b"\n"):
            if line.strip():
                yield line
            continue
        yield Beginning(line[:_SHOWN])
        while line and not line.endswith(b"\n"):
            line = source.readline(size)


def document(text: bytes) -> Any:
    """Return the JSON in a line, read as by :func:`json_tree`; None for what is none."""
    with contextlib.suppress(UpstreamError):
        return json_tree(text)
    return None
