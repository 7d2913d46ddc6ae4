"""The formats in which an envelope leaves the process: one module each, a function of the envelope alone.

To add one, write a module with ``render(envelope, pretty) -> str`` and list it in ``NAMES``. Whatever
the format, the gate has passed the same envelope as JSON before a byte of it goes out.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pit_fetch.envelope import Envelope

NAMES = ("json", "jsonl", "csv")

# Formats without a place for gaps: these go to stderr instead, one line each, so that none is lost.
DATA_ONLY = frozenset({"csv"})

Render = Callable[["Envelope", bool], str]


def renderer(name: str) -> Render:
    """The ``render`` function of a format in ``NAMES``. Only the chosen one is imported."""
    render: Render = import_module(f"pit_fetch.formats.{name}").render
    return render
