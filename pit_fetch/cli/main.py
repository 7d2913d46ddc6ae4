"""The command: a command line in, one JSON envelope on stdout, an exit status out."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from pit_fetch.errors import ExitStatus, PitFetchError, UsageError
from pit_fetch.gaps import FAILURES, Gap, gap
from pit_fetch.request import audience
from pit_fetch.runtime import Runtime, alarm, real_runtime
from pit_fetch.support import process
from pit_fetch.support.terminal import check_file, deliver, harmless, line, terminal_width, visible, write_file

if TYPE_CHECKING:
    from pit_fetch.engine.progress import Log
    from pit_fetch.engine.report import Outcome
    from pit_fetch.request.fetch_request import FetchRequest


class _Answer:
    """What to write. ``log`` is set once there is one: it may have left a line on the terminal.

    ``released`` is the private file that takes the place of stdout in a call that the guard has rebuilt.
    """

    def __init__(self) -> None:
        self.text, self.status, self.complaint = "", int(ExitStatus.OK), ""
        self.notes: tuple[str, ...] = ()
        self.log: Log | None = None
        self.released: TextIO | None = None

    def set(self, text: str, status: int = ExitStatus.OK, complaint: str = "", notes: tuple[str, ...] = ()) -> None:
        self.text, self.status, self.complaint, self.notes = text, status, complaint, notes

    def refuse(self, one: Gap, status: ExitStatus = ExitStatus.REFUSED) -> None:
        from pit_fetch.formats.json import render
        from pit_fetch.pipeline.envelope import EnvelopeOptions, build

        self.set(render(build([], [one], EnvelopeOptions())), status, one.reason)


def main(argv: Sequence[str] | None = None, runtime: Runtime | None = None) -> int:
    """Runs the command on ``argv`` (default: the process's) in ``runtime``, and returns the exit status."""
    runtime = real_runtime(alarm) if runtime is None else runtime
    words = list(sys.argv[1:] if argv is None else argv)
    return _answered(runtime, lambda answer: _run(_released(words, answer), runtime, answer))


def _released(words: list[str], answer: _Answer) -> list[str]:
    """The words without ``--release FILE``, which the answer goes to."""
    if "--release" not in words:
        return words
    from pit_fetch.cli import private_output

    rest, path = private_output.split(words)
    answer.released = private_output.opened(path) if path else None
    return rest


def ask(request: FetchRequest, argv: Sequence[str], runtime: Runtime) -> int:
    """Runs one request as :func:`main` runs the words that it was made of."""
    return _answered(runtime, lambda answer: _ask(request, list(argv), runtime, answer))


def _answered(runtime: Runtime, run: Callable[[_Answer], None]) -> int:
    stdout, stderr = sys.stdout, sys.stderr
    answer = _Answer()
    # Nothing that a provider or a library prints may mix with the envelope, or leak on stderr.
    sys.stdout = sys.stderr = io.StringIO()
    try:
        run(answer)
    except PitFetchError as error:
        answer.refuse(error.gap)
    except KeyboardInterrupt:
        answer.refuse(gap("interrupted"), ExitStatus.INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - a bug of ours still ends with an envelope
        answer.refuse(gap("bug", error=type(error).__name__), ExitStatus.BUG)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    process.keep_interrupts_out()
    return _emit(answer, runtime)


def _run(argv: list[str], runtime: Runtime, answer: _Answer) -> None:
    from pit_fetch.cli import parser

    if argv[:1] == ["help"]:
        argv = _help_words(argv[1:])
    if argv[:1] and argv[0] in parser.LOOKS:
        _look(argv, runtime, answer)
        return
    if argv[:1] == ["normalize"]:
        _normalize(argv, runtime, answer)
        return
    if argv[:1] and argv[0] in parser.COMMANDS:
        _run_command(argv, runtime, answer)
        return
    listing = parser.listing_of(argv)
    if listing:
        answer.set(_list(listing, argv, runtime))
        return
    source = parser.source_of(argv)
    if source is None:
        from pit_fetch.engine import registry
        from pit_fetch.support.suggest import without_source

        names, flags = registry.known_names(), parser.COMMON_FLAGS
        raise UsageError("usage", text=without_source(argv, parser.COMMANDS, registry.BUNDLED_NAMES, names, flags))
    _fetch(argv, source, runtime, answer)


def _fetch(argv: list[str], source: str, runtime: Runtime, answer: _Answer) -> None:
    from pit_fetch.request.fetch_request import parse

    runtime, defaults = _settled(runtime)
    _ask(parse(argv, runtime.find(source), runtime.environ, defaults), argv, runtime, answer)


def _ask(request: FetchRequest, argv: list[str], runtime: Runtime, answer: _Answer) -> None:
    from pit_fetch.engine.run import run

    _hand_over(request, lambda asked, log: run(asked, runtime, log, argv), runtime, answer)


def _look(argv: list[str], runtime: Runtime, answer: _Answer) -> None:
    """``diff`` and ``explain``: a fetch's options, and an envelope that is not a fetch's."""
    from pit_fetch.cli import parser
    from pit_fetch.request.fetch_request import parse

    command, *words = argv
    if parser.listing_of(words):
        answer.set(_list("help", words, runtime, command))
        return
    runtime, defaults = _settled(runtime)
    source = parser.source_of(words)
    if source is None:
        raise UsageError(
            "usage", text=f"{command} takes the options of a fetch: pit_fetch {command} --source SOURCE ..."
        )
    provider = runtime.find(source)
    if command == "diff":
        from pit_fetch.inspect import diff

        each = parser.each_with_one(words, "--pit", count=2, needed=diff.TWO_PITS)
        earlier, later = (parse(one, provider, runtime.environ, defaults) for one in each)
        _hand_over(later, lambda asked, log: diff.run(earlier, asked, runtime, log, argv), runtime, answer)
    else:
        from pit_fetch.inspect import explain

        request = parse(words, provider, runtime.environ, defaults)
        _hand_over(request, lambda asked, log: explain.run(asked, runtime, log, argv), runtime, answer)


def _normalize(argv: list[str], runtime: Runtime, answer: _Answer) -> None:
    """A transformer's items as the answer of a fetch that reads them from a file."""
    from pit_fetch.cli import parser
    from pit_fetch.normalize import PROVIDER
    from pit_fetch.request.fetch_request import parse

    command, *words = argv
    if parser.listing_of(words) == "help":
        answer.set(parser.build_parser(PROVIDER, command).format_help())
        return
    runtime, defaults = _settled(runtime)
    _ask(parse(words, PROVIDER, runtime.environ, {"input_file": "-", **defaults}, command), argv, runtime, answer)


def _settled(runtime: Runtime) -> tuple[Runtime, Mapping[str, object]]:
    """``runtime`` with the settings of its folder, and the options that nobody has to give."""
    from pit_fetch.engine import settings_files

    runtime, settings = settings_files.settled(runtime)
    return runtime, {"format": "table", **settings.options} if _is_for_a_person(runtime) else settings.options


def _log(request: FetchRequest, runtime: Runtime) -> Log:
    from pit_fetch.engine.progress import Log

    return Log(
        stream=runtime.stderr,
        terminal=runtime.stderr is not None and runtime.stderr.isatty(),
        verbose=request.verbose,
        pit_mode=request.pit is not None,
        erases=runtime.environ.get("TERM") != "dumb",
    )


def _is_for_a_person(runtime: Runtime) -> bool:
    """Whether a person reads the standard output: agents, and whoever runs them, read JSON."""
    return runtime.stdout is not None and runtime.stdout.isatty() and not audience.is_in_charge(runtime.environ)


def _prepared(request: FetchRequest, runtime: Runtime) -> FetchRequest:
    """The request for its output's place; what can go wrong there is checked before the source is asked."""
    from pit_fetch.formats import renderer

    renderer(request.format)
    if request.output:
        check_file(os.path.join(runtime.folder, request.output))
    elif request.format == "table" and runtime.stdout is not None:
        return request._replace(width=terminal_width(runtime.stdout, runtime.environ))
    return request


def _hand_over(
    request: FetchRequest, run: Callable[[FetchRequest, Log], Outcome], runtime: Runtime, answer: _Answer
) -> None:
    """What ``run`` makes of ``request``, to stdout or to the file it names: a mere failure never to the file."""
    request = _prepared(request, runtime)
    answer.log = _log(request, runtime)
    outcome = run(request, answer.log)
    text, notes = outcome.text, outcome.notes
    failed = not outcome.envelope.data and any(one["type"] in FAILURES for one in outcome.envelope.gaps)
    if request.output and failed:
        from pit_fetch.formats.json import render

        text, notes = render(outcome.envelope), ()
    elif request.output:
        write_file(os.path.join(runtime.folder, request.output), text)
        text = ""
    answer.set(text if isinstance(text, str) else "", outcome.status, outcome.complaint, notes)


def _run_command(argv: list[str], runtime: Runtime, answer: _Answer) -> None:
    from pit_fetch.cli import command, parser

    if argv[0] in parser.WORKS:
        from pit_fetch.engine.progress import Log

        answer.log = Log(runtime.stderr, terminal=runtime.stderr is not None and runtime.stderr.isatty())
        made = command.work(argv, runtime, answer.log)
    else:
        made = command.run(argv, runtime.environ, runtime.folder)
    answer.set(made.text if made.exact else visible(made.text, keep="\n\t"), made.status, made.complaint)


def _help_words(names: list[str]) -> list[str]:
    """``help``, ``help COMMAND`` and ``help SOURCE`` as the options they stand for."""
    from pit_fetch.cli.parser import COMMANDS

    if not names or names[0] == "help" or names[0].startswith("-"):
        return ["--help"]
    return [names[0], "--help"] if names[0] in COMMANDS else ["--source", names[0], "--help"]


def _list(listing: str, argv: list[str], runtime: Runtime, command: str = "") -> str:
    from pit_fetch.cli import parser
    from pit_fetch.engine import registry

    if listing == "version":
        from pit_fetch.support.version import __version__

        return f"pit_fetch {__version__}\n"
    if listing == "sources":
        from pit_fetch.engine.catalog import table

        return table(registry.listings(), runtime.environ, runtime.folder, as_json="--json" in argv)
    source = parser.source_of(argv)
    text = parser.build_parser(None if source is None else runtime.find(source), command).format_help()
    return text if source else f"{text}\nsources: {', '.join(registry.BUNDLED_NAMES)}, and see --list-sources\n"


def _emit(answer: _Answer, runtime: Runtime) -> int:
    """Writes the answer, all of it. A reader that went away is not worth an error message."""
    status, complaint = answer.status, answer.complaint
    if answer.log is not None:
        answer.log.clear()
        complaint = "" if complaint in answer.log.told else complaint
    stdout = answer.released or runtime.stdout
    if stdout is None:
        return ExitStatus.CLOSED_PIPE
    try:
        deliver(stdout, harmless(answer.text, stdout))
        if answer.released is not None:
            answer.released.close()
    except BrokenPipeError:
        return ExitStatus.CLOSED_PIPE
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it is closed"
        status, complaint = ExitStatus.BUG, f"stdout cannot be written ({problem}): the answer is incomplete"
    told = "".join(line(text) for text in (*answer.notes, complaint) if text)
    if told and runtime.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            deliver(runtime.stderr, told, process.STDERR_SECONDS)
    return status
