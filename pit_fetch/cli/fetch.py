"""A fetch from the command line, and the parts that ``diff``, ``explain`` and ``normalize`` share with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import parser
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request import audience
from pit_fetch.runs import RECORD_VARIABLE

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.engine.progress import Progress
    from pit_fetch.engine.report import FetchResult
    from pit_fetch.request.fetch_request import FetchRequest
    from pit_fetch.runtime import Runtime

    Answer = Callable[..., FetchResult]  # of requests, the runtime, the progress and the command line


def fetch(argv: Sequence[str], source: str, runtime: Runtime, output: Output) -> None:
    """Fetch as ``argv`` asks. Raise UsageError if it is refused."""
    from pit_fetch.cli.arguments import parse

    runtime, defaults = apply_settings(runtime)
    write_answer([parse(argv, runtime.find(source), runtime.environ, defaults)], argv, runtime, output)


def inspect(
    argv: Sequence[str],
    form: parser.FetchForm,
    answer: Answer,
    runtime: Runtime,
    output: Output,
    split: Callable[[list[str]], list[list[str]]] = lambda words: [words],
) -> None:
    """Run a command that works on fetches: write its help, or its ``answer`` to the fetches of a command line.

    ``split`` returns the command line of each fetch. Raise UsageError if one is refused.
    """
    words = list(argv[1:])
    if parser.listing_of(words):
        output.set(help_text(words, runtime, form))
        return
    from pit_fetch.cli.arguments import parse

    runtime, defaults = apply_settings(runtime)
    source = parser.source_of(words)
    if source is None:
        text = f"{form.name} takes the options of a fetch: pit_fetch {form.name} --source SOURCE ..."
        raise UsageError(Code.USAGE, text=text)
    provider = runtime.find(source)
    requests = [parse(line, provider, runtime.environ, defaults, form) for line in split(words)]
    write_answer(requests, argv, runtime, output, answer)


def write_answer(
    requests: Sequence[FetchRequest],
    argv: Sequence[str],
    runtime: Runtime,
    output: Output,
    answer: Answer | None = None,
) -> None:
    """Write the ``answer`` to the requests, by default that of a fetch, to stdout or to ``--output``.

    ``argv`` is their command line, for the audit file. The last request decides how the answer is written.
    """
    from pit_fetch.runs.shown import run as fetch_once

    ask: Answer = answer or fetch_once
    *others, request = requests
    request = _prepare(request, runtime)
    others = [other._replace(is_unread=request.is_unread) for other in others]  # the later one may be among them
    output.progress = _progress(request, runtime)
    result = ask(*others, request, runtime, output.progress, list(argv))
    if request.output is not None or request.open:
        result = _write_file(request, result, runtime)
    output.set(result.text, result.status, result.complaint, result.notes)


def _write_file(request: FetchRequest, result: FetchResult, runtime: Runtime) -> FetchResult:
    """Write the answer to its file. Return what is left for stdout: nothing, or an envelope that replaces no file."""
    from pit_fetch.cli.output_file import write_file
    from pit_fetch.errors import ExitStatus
    from pit_fetch.formats import DATA_ONLY

    if request.output:
        path = runtime.path(request.output)
    else:  # in a new folder, which no other user can read
        from tempfile import mkdtemp

        path = f"{mkdtemp(prefix='pit_fetch-')}/{request.provider.name}.html"
    # Of rows alone, none says no more than that: whoever reads the file would not learn why.
    is_nothing = request.format in DATA_ONLY and not result.envelope.data and os.path.exists(path)
    if result.is_failure or is_nothing:
        from pit_fetch.formats.json import render

        result = result._replace(text=render(result.envelope), notes=())
        if result.status is not ExitStatus.OK:
            return result
        return result._replace(status=ExitStatus.FOUND, complaint=f"the answer has no items: {request.output} was kept")
    write_file(path, result.text)
    return result._replace(text="", notes=(*result.notes, *(_show_page(path, runtime) if request.open else ())))


def apply_settings(runtime: Runtime) -> tuple[Runtime, Mapping[str, object]]:
    """Apply the settings files. Return the runtime, and the default option values."""
    from pit_fetch.engine import settings_files

    runtime, settings = settings_files.with_settings(runtime)
    return runtime, {"format": "table", **settings.options} if audience.is_for_a_person(runtime) else settings.options


def _prepare(request: FetchRequest, runtime: Runtime) -> FetchRequest:
    """Return the request for its output's place. Raise UsageError, before the source is asked, if it is unusable."""
    from pit_fetch.formats import renderer

    renderer(request.format)
    # An agent's client shows an envelope with its gaps. A file, rows, and what a shell's loop goes through are used
    # without a look.
    is_read = audience.is_for_an_agent(runtime.environ) and not request.output and request.format in ("json", "table")
    request = request._replace(is_unread=not is_read)
    if request.open and audience.is_for_an_agent(runtime.environ):
        raise UsageError(Code.OPERATORS_ONLY, what="--open shows a page to a person")
    if request.output:
        from pit_fetch.cli.output_file import check_file

        written = (runtime.environ.get(name) for name in ("PIT_FETCH_AUDIT", RECORD_VARIABLE))
        read = (request.input_file, *written)
        check_file(runtime.path(request.output), [runtime.path(name) for name in read if name])
    elif runtime.stdout is not None:
        from pit_fetch.support.terminal import terminal_width

        return request._replace(width=terminal_width(runtime.stdout, runtime.environ))
    return request


def _show_page(path: str, runtime: Runtime) -> tuple[str, ...]:
    """Show the page in a browser. Return what stderr says of it."""
    from pathlib import Path

    shown = runtime.browse(Path(path).absolute().as_uri())
    return (f"the page is {path}",) if shown else (f"no browser could be opened: the page is {path}",)


def _progress(request: FetchRequest, runtime: Runtime) -> Progress:
    from pit_fetch.engine.progress import Progress

    return Progress(
        stream=runtime.stderr,
        terminal=runtime.stderr is not None and runtime.stderr.isatty(),
        verbose=request.verbose,
        pit_mode=request.pit is not None,
        erases=runtime.environ.get("TERM") != "dumb",
    )


def help_text(argv: Sequence[str], runtime: Runtime, form: parser.FetchForm = parser.FETCH) -> str:
    """Return the help of a fetch, or of a command that takes its options; with ``--source``, that source's, too."""
    source = parser.source_of(argv)
    text = parser.build_parser(None if source is None else runtime.find(source), form).format_help()
    if source is not None:
        return text
    from pit_fetch.engine.registry import source_names

    return f"{text}\nsources: {', '.join(source_names())}, and see --list-sources\n"
