"""A fetch from the command line, and what ``diff``, ``explain`` and ``normalize`` share with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import parser
from pit_fetch.errors import UsageError
from pit_fetch.gaps import FAILURES
from pit_fetch.request import audience

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.engine.progress import Progress
    from pit_fetch.engine.report import FetchResult
    from pit_fetch.request.fetch_request import FetchRequest
    from pit_fetch.runtime import Runtime


def fetch(argv: Sequence[str], source: str, runtime: Runtime, output: Output) -> None:
    """Fetch as ``argv`` asks. Raise UsageError if it is refused."""
    from pit_fetch.cli.arguments import parse

    runtime, defaults = with_settings(runtime)
    run(parse(argv, runtime.find(source), runtime.environ, defaults), argv, runtime, output)


def run(request: FetchRequest, argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Run one parsed fetch. ``argv`` is what it was made of, for the audit file."""
    from pit_fetch.engine import run as engine

    write_result(request, lambda prepared, log: engine.run(prepared, runtime, log, list(argv)), runtime, output)


def with_settings(runtime: Runtime) -> tuple[Runtime, Mapping[str, object]]:
    """Apply the settings files. Return the runtime, and the default option values."""
    from pit_fetch.engine import settings_files

    runtime, settings = settings_files.settled(runtime)
    return runtime, {"format": "table", **settings.options} if _is_for_a_person(runtime) else settings.options


def _is_for_a_person(runtime: Runtime) -> bool:
    """Return whether a person reads the standard output. Agents, and who runs them, read JSON."""
    return runtime.stdout is not None and runtime.stdout.isatty() and not audience.is_for_an_agent(runtime.environ)


def write_result(
    request: FetchRequest, run: Callable[[FetchRequest, Progress], FetchResult], runtime: Runtime, output: Output
) -> None:
    """Run the request and write the result to stdout or to ``--output``.

    An answer that only reports a failure goes to stdout, so that it never replaces a good file.
    """
    request = _prepared(request, runtime)
    output.progress = _progress(request, runtime)
    result = run(request, output.progress)
    text, notes = result.text, result.notes
    has_failed = not result.envelope.data and any(gap["type"] in FAILURES for gap in result.envelope.gaps)
    if request.output and has_failed:
        from pit_fetch.formats.json import render

        text, notes = render(result.envelope), ()
    elif request.output:
        from pit_fetch.cli.output_file import write_file

        write_file(os.path.join(runtime.folder, request.output), text)
        text = ""
    output.set(text if isinstance(text, str) else "", result.status, result.complaint, notes)


def _prepared(request: FetchRequest, runtime: Runtime) -> FetchRequest:
    """Return the request for its output's place. What can go wrong there is checked before the source is asked."""
    from pit_fetch.formats import renderer

    renderer(request.format)
    if request.output:
        from pit_fetch.cli.output_file import check_file

        check_file(os.path.join(runtime.folder, request.output))
    elif runtime.stdout is not None:
        from pit_fetch.support.terminal import terminal_width

        return request._replace(width=terminal_width(runtime.stdout, runtime.environ))
    return request


def _progress(request: FetchRequest, runtime: Runtime) -> Progress:
    from pit_fetch.engine.progress import Progress

    return Progress(
        stream=runtime.stderr,
        terminal=runtime.stderr is not None and runtime.stderr.isatty(),
        verbose=request.verbose,
        pit_mode=request.pit is not None,
        erases=runtime.environ.get("TERM") != "dumb",
    )


def source_of(words: Sequence[str], command: str) -> str:
    """Return the ``--source`` of a command that asks one. Raise UsageError if there is none."""
    source = parser.source_of(words)
    if source is None:
        raise UsageError(
            "usage", text=f"{command} takes the options of a fetch: pit_fetch {command} --source SOURCE ..."
        )
    return source


def help_text(argv: Sequence[str], runtime: Runtime, form: parser.Form = parser.FETCH) -> str:
    """Return the help of a fetch, or of a command that takes its options; with ``--source``, that source's, too."""
    source = parser.source_of(argv)
    text = parser.build_parser(None if source is None else runtime.find(source), form).format_help()
    if source is not None:
        return text
    from pit_fetch.engine.registry import BUNDLED_NAMES

    return f"{text}\nsources: {', '.join(BUNDLED_NAMES)}, and see --list-sources\n"
