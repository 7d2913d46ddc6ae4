"""One request run: from a :class:`~pit_fetch.request.fetch_request.FetchRequest` to a judged envelope."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.engine import audit
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.report import FetchResult, failed, report
from pit_fetch.formats import json as as_json
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runtime import Runtime

if TYPE_CHECKING:
    from pit_fetch.archive.archived import OpenArchives
    from pit_fetch.engine.progress import Progress


def run(
    request: FetchRequest,
    runtime: Runtime,
    progress: Progress,
    argv: Sequence[str],
    archives: OpenArchives | None = None,
) -> FetchResult:
    """Return the result of ``request``. Raise UsageError if the audit file cannot be written.

    ``argv`` is the command line of the request, for the audit file; without words, its canonical form.
    ``archives`` are those that a loop of questions keeps open; without it, the question opens its own.
    """
    audit_path = audit.path(runtime.environ)
    collected = collect(request, runtime, progress, archives)
    try:
        result = report(request, collected)
    except (TypeError, ValueError, RecursionError) as error:  # a payload that JSON cannot express
        collected = failed(request, collected, error)
        result = report(request, collected)
    progress.summary(request.provider.name, result.kept, result.gaps)
    if audit_path:
        words = argv or shlex.split(request.canonical)
        audit.write(audit_path, audit.entry(request, runtime.clock.now(), words, collected, result))
    if collected.archive is not None:
        # Of a binary answer the archive keeps, and replays, the envelope.
        text = result.text if isinstance(result.text, str) else as_json.render(result.envelope)
        collected.archive.finish(text, result.status)
    return result
