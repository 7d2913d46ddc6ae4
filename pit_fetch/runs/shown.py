"""Record an answer before it is shown, if the environment names a record. Without one, no database is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pit_fetch.engine import run as engine
from pit_fetch.engine.report import FetchResult
from pit_fetch.formats import Text
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runs import RECORD_VARIABLE
from pit_fetch.runtime import Runtime

if TYPE_CHECKING:
    from pit_fetch.engine.progress import Progress


def run(request: FetchRequest, runtime: Runtime, progress: Progress, argv: Sequence[str] = ()) -> FetchResult:
    """Return the result of a request, recorded. Raise ConfigError, before anything is asked, for a broken record."""
    with recording(request, runtime) as record:
        result = engine.run(request, runtime, progress, argv)
        record(result, result.text)
    return result


@contextmanager
def recording(request: FetchRequest, runtime: Runtime, shape: str | None = None) -> Iterator[Callable[..., None]]:
    """Yield the function that appends a result of ``request``, and the text that is shown of it, to the record.

    ``shape`` is that of the answer of a tool; None of another answer.
    Raise ConfigError if the record cannot be written: what nobody can look up later is not shown.
    """
    name = runtime.environ.get(RECORD_VARIABLE)
    if not name:
        yield lambda result, text: None
        return
    from pit_fetch.runs.record import Record, entry

    with Record(runtime.path(name)) as record:

        def append(result: FetchResult, text: Text) -> None:
            record.append(entry(request, runtime, result, text, shape))

        yield append
