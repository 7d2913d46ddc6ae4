"""The audit file, for operators: one JSON line per call, with its request and the items kept and withheld.

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
from pit_fetch.gaps import Code
from pit_fetch.runtime import path_problem
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import is_output

if TYPE_CHECKING:
    from pit_fetch.engine.report import CollectedRecords, FetchResult
    from pit_fetch.request.fetch_request import FetchRequest

VARIABLE = "PIT_FETCH_AUDIT"
_NOT_A_FILE = "it is not a regular file"


def path(environ: Mapping[str, str]) -> str:
    """Return the audit file's path, or "". Raise UsageError, before the fetch, if it cannot be written."""
    name = os.path.expanduser(environ.get(VARIABLE, ""))
    if name:
        if problem := path_problem(name, os.getcwd()):
            raise UsageError(Code.USAGE, text=f"{VARIABLE}: {problem}")
        try:
            os.close(_open(name))
        except OSError as error:
            fix = "name a file that can be written, or unset it"
            raise UsageError(Code.USAGE, text=f"{VARIABLE} cannot be used ({error.strerror}): {fix}") from None
    return name


def write(name: str, entry: Mapping[str, Any]) -> None:
    """Append one line to the file ``name``, unless that is "". Errors are ignored: the fetch has taken place."""
    if not name:
        return
    line = json.dumps(entry, default=str) + "\n"
    try:
        handle = _open(name)
        try:
            os.write(handle, line.encode())  # in one write, so that lines of concurrent calls do not mix
        finally:
            os.close(handle)
    except OSError:
        pass


def entry(
    request: FetchRequest, now: datetime, argv: Sequence[str], collected: CollectedRecords, result: FetchResult
) -> dict[str, object]:
    """Return the line for one call. Secrets are redacted."""
    redact, withheld = redactor(collected.secrets), collected.withheld
    return {
        "time": now.isoformat(),
        "argv": [redact(word) for word in argv],
        "pit": request.pit.isoformat() if request.pit else None,
        "source": request.provider.name,
        "requests": collected.requests,
        "kept": [redact(record.id) for record in result.kept],
        "withheld": [redact(name) for name in withheld.late],
        "undated": [redact(name) for name in withheld.undated],
        "unusable": withheld.unusable,
        "gaps": [gap.type for gap in collected.selection.gaps],
        "failure": redact(collected.failure),
        "exit": int(result.status),
    }


def _open(name: str) -> int:
    """Return a descriptor of the audit file. Raise OSError for anything but a separate regular file."""
    # Opening a named pipe would wait for its reader.
    if os.path.exists(name) and not os.path.isfile(name):
        raise OSError(0, _NOT_A_FILE)
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY, 0o600)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        problem = _NOT_A_FILE
    elif is_output(status):  # the reader of the envelope would read the audit file, too
        problem = "standard output or standard error goes there"
    else:
        return handle
    os.close(handle)
    raise OSError(0, problem)
