"""The audit file, for operators: what was asked, requested, kept and withheld; one JSON line per call.

Off by default. It is the only place that names withheld items, so it belongs out of the agent's
reach, and nothing ever reads it back.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import UsageError
from pit_fetch.support.redaction import redactor

if TYPE_CHECKING:
    from pit_fetch.engine.report import CollectedRecords, FetchResult
    from pit_fetch.request.fetch_request import FetchRequest

VARIABLE = "PIT_FETCH_AUDIT"
_NOT_A_FILE = "it is not a regular file"


def path(environ: Mapping[str, str]) -> str:
    """The audit file's path, or "". Raises UsageError, before the fetch, if it cannot be written."""
    name = environ.get(VARIABLE, "")
    if name:
        try:
            os.close(_open(name))
        except OSError as error:
            fix = "name a file that can be written, or unset it"
            raise UsageError("usage", text=f"{VARIABLE} cannot be used ({error.strerror}): {fix}") from None
    return name


def write(name: str, entry: Mapping[str, Any]) -> None:
    """Appends one line in one write, so that lines of concurrent calls do not mix. Best effort at this point."""
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


def entry(
    request: FetchRequest, now: datetime, argv: Sequence[str], collected: CollectedRecords, outcome: FetchResult
) -> dict[str, object]:
    """What there is to say about one call. Secrets are redacted."""
    redact, withheld = redactor(collected.secrets), collected.withheld
    return {
        "time": now.isoformat(),
        "argv": [redact(word) for word in argv],
        "pit": request.pit.isoformat() if request.pit else None,
        "source": request.provider.name,
        "requests": collected.requests,
        "kept": [redact(record.id) for record in outcome.kept],
        "withheld": [redact(name) for name in withheld.late],
        "undated": [redact(name) for name in withheld.undated],
        "unusable": withheld.unusable,
        "gaps": [one.type for one in collected.selection.gaps],
        "failure": collected.failure,
        "exit": int(outcome.status),
    }


def _open(name: str) -> int:
    """A descriptor of the audit file. Raises OSError for anything but a separate regular file.

    A named pipe would wait for its reader; and anything that standard output or standard error also
    writes to (``/dev/stdout``) is within reach of whoever reads the envelope.
    """
    if os.path.exists(name) and not os.path.isfile(name):
        raise OSError(0, _NOT_A_FILE)
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY, 0o600)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        problem = _NOT_A_FILE
    elif any(_is_stream(fd, found) for fd in (1, 2)):
        problem = "standard output or standard error goes there"
    else:
        return handle
    os.close(handle)
    raise OSError(0, problem)


def _is_stream(fd: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), found)
    except OSError:
        return False
