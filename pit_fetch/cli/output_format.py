"""The format of an answer, as the command line states or implies it. Pure.

>>> chosen({"output": "page.HTML"}), chosen({"output": "notes.txt"}), chosen({"pretty": True}), chosen({"open": True})
('html', None, 'json', 'html')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pit_fetch.errors import UsageError
from pit_fetch.formats import NAMES
from pit_fetch.gaps import Code
from pit_fetch.request.options import FORMAT, OUTPUT
from pit_fetch.request.values import parse_value

# A table is for reading, and no file's ending.
_FORMATS = {**{name: name for name in NAMES if name != "table"}, "ndjson": "jsonl", "htm": "html", "pq": "parquet"}
# Endings that promise something else than any format holds.
_PACKED = "gz zip bz2 xz zst 7z tar tgz"
_OTHERS = (
    "xlsx xls ods tsv tab xml yaml yml toml md pdf docx feather arrow orc avro pickle pkl hdf5 h5 db sqlite duckdb dta "
    "sav mat npy rds"
)


def chosen(given: Mapping[str, Any]) -> str | None:
    """Return the format that the options state or imply; None for the default. Raise UsageError for a contradiction."""
    stated = None if "format" not in given else parse_value(FORMAT, given["format"])
    if "json" in given:
        if stated not in (None, "json"):
            raise UsageError(Code.USAGE, text=f"--json and --format {stated} contradict each other: leave one out")
        stated = "json"
    ending = _ending(parse_value(OUTPUT, given["output"])) if "output" in given else ""
    if "open" in given and (stated or _FORMATS.get(ending, "html")) != "html":
        raise UsageError(Code.USAGE, text="--open shows a page: leave it out, or let --format and --output be of html")
    implied = _FORMATS.get(ending)
    if implied is not None:
        if stated not in (None, implied):
            text = f"--output ends with .{ending}, but --format is {stated}: leave out --format, or rename the file"
            raise UsageError(Code.USAGE, text=text)
        return implied
    if ending in _PACKED.split():
        text = f"--output is not compressed: leave .{ending} out of its name, and compress the file afterwards"
        raise UsageError(Code.USAGE, text=text)
    if stated is None and ending in _OTHERS.split():
        endings = ", ".join(f".{name}" for name in NAMES if name in _FORMATS)
        raise UsageError(Code.USAGE, text=f"no format is .{ending}: let --output end with one of {endings}")
    if stated is None and ending.isalnum():
        from pit_fetch.courtesy.names import closest

        meant = closest(ending, _FORMATS)
        if meant:
            text = f"no format is .{ending}: let --output end with .{meant}, or give --format"
            raise UsageError(Code.USAGE, text=text)
    if "open" in given:
        return "html"
    # On a terminal the default is a table, which has no indent.
    return "json" if stated is None and "pretty" in given else stated


def _ending(path: str) -> str:
    """Return what follows the last dot of a file's name, in lower case; "" without a dot."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
