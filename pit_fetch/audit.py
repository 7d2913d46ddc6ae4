"""The audit file: for operators, what was asked, requested, kept and withheld; one JSON line per call.

Off by default. It is the one place that names withheld items, so it belongs out of the agent's
reach, and nothing here ever reads it back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pit_fetch.errors import UsageError

VARIABLE = "PIT_FETCH_AUDIT"


def path(environ: Mapping[str, str]) -> str:
    """The audit file's path, or "". Raises UsageError before the fetch when it cannot be written."""
    name = environ.get(VARIABLE, "")
    if name:
        try:
            os.close(_open(name))
        except OSError as error:
            raise UsageError("usage", text=f"{VARIABLE} cannot be written ({error.strerror}): set it anew") from None
    return name


def write(name: str, entry: Mapping[str, Any]) -> None:
    """Appends one line in one write, so that lines of concurrent calls do not mix. Best effort by then."""
    if not name:
        return
    line = json.dumps(entry, default=str) + "\n"
    try:
        handle = _open(name)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
    except OSError:
        pass


def _open(name: str) -> int:
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
