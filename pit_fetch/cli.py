"""The command: a command line in, one JSON envelope on stdout, an exit status out."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from pit_fetch import process
from pit_fetch.errors import ExitStatus, PitFetchError, UsageError
from pit_fetch.gaps import Gap, gap
from pit_fetch.output import deliver, line, visible

if TYPE_CHECKING:
    from pit_fetch.log import Log

COMMANDS = ("init", "lint", "doctor", "new-provider")  # a fetch never starts with one of these words


class _Answer:
    """What is to be written. ``log`` is set once there is one: it may have a line on the terminal."""

    def __init__(self) -> None:
        self.text, self.status, self.complaint = "", ExitStatus.OK, ""
        self.log: Log | None = None

    def set(self, text: str, status: ExitStatus = ExitStatus.OK, complaint: str = "") -> None:
        self.text, self.status, self.complaint = text, status, complaint

    def refuse(self, one: Gap, status: ExitStatus = ExitStatus.REFUSED) -> None:
        import json

        envelope = {"data": [], "gaps": [{"type": one.type, "reason": one.reason, "query": ""}]}
        self.set(json.dumps(envelope) + "\n", status, one.reason)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command on ``argv`` (default: the process's) and returns the exit status."""
    gc.disable()  # a short process: collecting what its end frees anyway costs a tenth of a fetch
    words = list(sys.argv[1:] if argv is None else argv)
    stdout, stderr = sys.stdout, sys.stderr
    answer = _Answer()
    # Whatever a provider or a library prints must not mix with the envelope, nor leak on stderr.
    sys.stdout = sys.stderr = io.StringIO()
    try:
        _run(words, stderr, answer)
    except PitFetchError as error:
        answer.refuse(error.gap)
    except KeyboardInterrupt:
        answer.refuse(gap("interrupted"), ExitStatus.INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - a bug of ours still ends with an envelope
        answer.refuse(gap("bug", error=type(error).__name__), ExitStatus.BUG)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    process.keep_interrupts_out()
    return _emit(answer, stdout, stderr)


def _run(argv: list[str], stderr: TextIO | None, answer: _Answer) -> None:
    from pit_fetch import options

    if argv[:1] == ["help"]:
        argv = _help_words(argv[1:])
    if argv[:1] and argv[0] in COMMANDS:
        _run_command(argv, answer)
        return
    listing = options.listing_of(argv)
    if listing:
        answer.set(_list(listing, argv))
        return
    from pit_fetch import registry

    source = options.source_of(argv)
    if source is None:
        from pit_fetch.meant import without_source

        names, flags = registry.known_names(), options.COMMON_FLAGS
        raise UsageError("usage", text=without_source(argv, COMMANDS, registry.BUNDLED_NAMES, names, flags))
    _fetch(argv, source, stderr, answer)


def _fetch(argv: list[str], source: str, stderr: TextIO | None, answer: _Answer) -> None:
    from pit_fetch import registry
    from pit_fetch.engine import run
    from pit_fetch.inputs import read_stdin
    from pit_fetch.log import Log
    from pit_fetch.request import parse
    from pit_fetch.world import alarm, real_world

    request = parse(argv, registry.load(source), os.environ)
    answer.log = Log(
        stream=stderr,
        terminal=stderr is not None and stderr.isatty(),
        verbose=request.verbose,
        pit_mode=request.pit is not None,
    )
    world = real_world(os.environ, lambda: read_stdin(request.timeout), alarm)
    answer.set(*run(request, world, answer.log, argv))


def _run_command(argv: list[str], answer: _Answer) -> None:
    from pit_fetch import commands
    from pit_fetch.world import working_folder

    made = commands.run(argv, os.environ, working_folder())
    answer.set(visible(made.text, keep="\n\t"), made.status, made.complaint)


def _help_words(names: list[str]) -> list[str]:
    """``help``, ``help COMMAND`` and ``help SOURCE`` as the options that they stand for."""
    if not names:
        return ["--help"]
    return [names[0], "--help"] if names[0] in COMMANDS else ["--source", names[0], "--help"]


def _list(listing: str, argv: list[str]) -> str:
    from pit_fetch import options, registry

    if listing == "version":
        from pit_fetch import __version__

        return f"pit_fetch {__version__}\n"
    if listing == "sources":
        from pit_fetch.sources import table
        from pit_fetch.world import working_folder

        return table(registry.listings(), os.environ, working_folder(), as_json="--json" in argv)
    source = options.source_of(argv)
    text = options.build_parser(None if source is None else registry.load(source)).format_help()
    return text if source else f"{text}\nsources: {', '.join(registry.BUNDLED_NAMES)}, and see --list-sources\n"


def _emit(answer: _Answer, stdout: TextIO | None, stderr: TextIO | None) -> int:
    """Writes the answer, all of it. A reader that went away is no error worth a word."""
    status, complaint = answer.status, answer.complaint
    if answer.log is not None:
        answer.log.clear()
        complaint = "" if complaint in answer.log.told else complaint
    if stdout is None:
        return ExitStatus.CLOSED_PIPE
    try:
        deliver(stdout, answer.text)
    except BrokenPipeError:
        return ExitStatus.CLOSED_PIPE
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it is closed"
        status, complaint = ExitStatus.BUG, f"stdout cannot be written ({problem}): the answer is not delivered whole"
    if complaint and stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            deliver(stderr, line(complaint), process.STDERR_SECONDS)
    return status
