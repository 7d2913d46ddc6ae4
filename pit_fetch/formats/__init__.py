"""The formats in which an envelope leaves the process: one module each, a function of the envelope alone.

To add one, write a module with ``render(envelope, options)``, which returns text or bytes, and list it in ``NAMES``. If
it has no place for gaps, or is not text, list it in ``DATA_ONLY`` or ``BINARY`` as well. Whatever the format, the gate
has passed the same envelope as JSON before a byte of it goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pit_fetch.pipeline.envelope import PlainEnvelope

NAMES = ("json", "jsonl", "csv", "table", "html", "parquet")

# Formats without a place for gaps: these go to stderr instead, one line each, so that none is lost.
DATA_ONLY = frozenset({"csv", "parquet"})
# Formats that are not text: only a file may hold them.
BINARY = frozenset({"parquet"})

# The fields that a command adds to items, by its name.
ADDED_FIELDS: Mapping[str, tuple[str, ...]] = {"diff": ("change", "before"), "explain": ("verdict", "because", "rule")}


class RenderOptions(NamedTuple):
    """How an envelope is laid out. A format ignores what does not apply to it.

    pretty  indented over several lines
    width   the number of characters in a line of the terminal; 0 if the answer does not go to one
    """

    pretty: bool = False
    width: int = 0


DEFAULTS = RenderOptions()

Text = Any  # str, or the bytes of a binary format
Render = Callable[["PlainEnvelope", RenderOptions], Text]


def renderer(name: str) -> Render:
    """Return the ``render`` function of a format. Raise ConfigError if it needs a package that is not installed."""
    render: Render = import_module(f"pit_fetch.formats.{name}").render
    return render
