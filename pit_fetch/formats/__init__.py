"""The formats in which an envelope leaves the process: one module each, a function of the envelope alone.

To add one, write a module with ``render(envelope, options)``, which returns text or bytes, and a row of
:data:`FORMATS`: every other list of formats is made of it. Whatever the format, the gate has passed the same envelope
as JSON before a byte of it goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pit_fetch.pipeline.envelope import PlainEnvelope


class Format(NamedTuple):
    """What a format is for.

    endings   of a file's name, besides its own name
    has_gaps  it has a place for gaps. Else they go to stderr, one line each, so that none is lost
    is_text   if not, only a file may hold it
    is_file   it is an ending of files, and not for reading alone
    has_rows  it is a row for each item, so that a panel can be written in it
    """

    endings: tuple[str, ...] = ()
    has_gaps: bool = True
    is_text: bool = True
    is_file: bool = True
    has_rows: bool = False


FORMATS = {
    "json": Format(),
    "jsonl": Format(("ndjson",), has_rows=True),
    "csv": Format(has_gaps=False, has_rows=True),
    "table": Format(is_file=False),
    "html": Format(("htm",)),
    "parquet": Format(("pq",), has_gaps=False, is_text=False, has_rows=True),
}
NAMES = tuple(FORMATS)
DATA_ONLY = frozenset(name for name, form in FORMATS.items() if not form.has_gaps)
BINARY = frozenset(name for name, form in FORMATS.items() if not form.is_text)
PANEL_NAMES = tuple(name for name, form in FORMATS.items() if form.has_rows)
# Other words for a format, each with its name.
SYNONYMS = {ending: name for name, form in FORMATS.items() for ending in form.endings}
# The endings of files, each with its format.
ENDINGS = {name: name for name, form in FORMATS.items() if form.is_file} | SYNONYMS

# The fields that a command adds to items, by its name.
ADDED_FIELDS: Mapping[str, tuple[str, ...]] = {"diff": ("change", "before"), "explain": ("verdict", "because", "rule")}


class RenderOptions(NamedTuple):
    """How an envelope is laid out. A format ignores what does not apply to it.

    pretty  indented over several lines
    width   the number of characters in a line of the terminal; 0 if the answer does not go to one
    csv_safe  no cell begins like a formula of a spreadsheet
    """

    pretty: bool = False
    width: int = 0
    csv_safe: bool = False


DEFAULTS = RenderOptions()

Text = Any  # str, or the bytes of a binary format
Render = Callable[["PlainEnvelope", RenderOptions], Text]


def renderer(name: str) -> Render:
    """Return the ``render`` function of a format. Raise ConfigError if it needs a package that is not installed."""
    render: Render = import_module(f"pit_fetch.formats.{name}").render
    return render
