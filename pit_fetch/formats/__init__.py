"""The formats in which an envelope leaves the process: one module each, a function of the envelope alone.

To add one, write a module with ``render(envelope, pretty)``, which returns text or bytes, and list it
in ``NAMES``. Whatever the format, the gate has passed the same envelope as JSON before a byte of it goes out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pit_fetch.pipeline.envelope import Envelope

NAMES = ("json", "jsonl", "csv", "table", "html", "parquet")

# Formats without a place for gaps: these go to stderr instead, one line each, so that none is lost.
DATA_ONLY = frozenset({"csv", "parquet"})
# Formats that are not text: only a file may hold them.
BINARY = frozenset({"parquet"})

Text = Any  # str, or the bytes of a binary format
Render = Callable[["Envelope", bool], Text]


def renderer(name: str, width: int = 0) -> Render:
    """The ``render`` function of a format in ``NAMES``, for lines of ``width`` characters (0: any).

    Only the chosen one is imported. Raises ConfigError if it needs a package that is not installed.
    """
    render: Callable[..., Text] = import_module(f"pit_fetch.formats.{name}").render
    return partial(render, width=width) if name == "table" and width else render
