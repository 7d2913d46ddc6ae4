"""The program as a library: a call in Python in, an envelope out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pit_fetch.engine import settings_files
from pit_fetch.engine.progress import Log
from pit_fetch.engine.report import Outcome
from pit_fetch.engine.run import run
from pit_fetch.errors import PitFetchError, UsageError
from pit_fetch.pipeline.envelope import Envelope, EnvelopeOptions, FetchCall, build
from pit_fetch.request.fetch_request import FetchRequest, of_values
from pit_fetch.runtime import Runtime, real_runtime

Options = Mapping[str, object]


def fetch(source: str, options: Options, on_gap: str = "raise", runtime: Runtime | None = None) -> Envelope:
    """See :func:`pit_fetch.fetch`."""
    options = _lasting(options)
    answer = _answer(source, [options], on_gap, runtime, lambda asked, *given: run(*asked, *given))
    answer.provenance = answer.provenance._replace(call=FetchCall(source, {**options, "on_gap": on_gap}))
    return answer


def diff(
    source: str, pits: Iterable[object], options: Options, on_gap: str, runtime: Runtime | None = None
) -> Envelope:
    """See :func:`pit_fetch.diff`."""
    from pit_fetch.inspect import diff

    pits = [pits] if isinstance(pits, str) else list(pits)
    if len(pits) != 2 or "pit" in options:
        raise UsageError("usage", text="pits is a pair of instants: (earlier, later)")
    options = _lasting(options)
    both = [{**options, "pit": pit} for pit in pits]
    return _answer(source, both, on_gap, runtime, lambda asked, *given: diff.run(*asked, *given))


def explain(source: str, options: Options, on_gap: str, runtime: Runtime | None = None) -> Envelope:
    """See :func:`pit_fetch.explain`."""
    from pit_fetch.inspect import explain

    return _answer(source, [_lasting(options)], on_gap, runtime, lambda asked, *given: explain.run(*asked, *given))


def sources(runtime: Runtime | None = None) -> list[dict[str, Any]]:
    """See :func:`pit_fetch.sources`."""
    from pit_fetch.engine.catalog import described
    from pit_fetch.engine.registry import listings

    runtime = real_runtime() if runtime is None else runtime
    return [described(listing, runtime.environ, runtime.folder) for listing in listings()]


def _answer(
    source: str,
    calls: Sequence[Options],
    on_gap: str,
    runtime: Runtime | None,
    ask: Callable[[list[FetchRequest], Runtime, Log, list[str]], Outcome],
) -> Envelope:
    """The envelope that ``ask`` makes of the requests of ``calls``; a failure raises unless it is to be kept."""
    if on_gap not in ("raise", "keep"):
        raise UsageError("usage", text="on_gap is raise or keep")
    runtime = real_runtime() if runtime is None else runtime
    try:
        runtime, settings = settings_files.settled(runtime)
        requests = [_request(source, options, settings, runtime) for options in calls]
        answer = ask(requests, runtime, Log(), shlex.split(requests[-1].canonical)).envelope
    except PitFetchError as error:
        if on_gap == "raise":
            raise
        return build([], [error.gap], EnvelopeOptions())
    return answer if on_gap == "keep" else answer.raise_for_gaps()


def _request(source: str, options: Options, settings: settings_files.Settings, runtime: Runtime) -> FetchRequest:
    if not isinstance(source, str):
        raise UsageError("usage", text=f"source is the name of a provider, not a value of type {type(source).__name__}")
    request = of_values(options, runtime.find(source), runtime.environ, settings.options)
    if request.output:
        raise UsageError("usage", text="output is an option of the command line: write what fetch returns")
    return request._replace(format="json", pretty=False)  # an envelope has no form yet


def _lasting(options: Options) -> dict[str, object]:
    """An iterator is used up by one call, and the next page asks again."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}
