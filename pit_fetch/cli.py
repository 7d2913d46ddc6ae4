"""The command: a command line in, one JSON envelope on stdout, an exit status out."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.gaps import Gap, gap

COMMANDS = ("init", "lint", "doctor", "new-provider")  # a fetch never starts with one of these words


def command() -> NoReturn:
    """The process. It ends at once: everything is written, and the interpreter's own tear-down takes 15 ms."""
    os._exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command on ``argv`` (default: the process's) and returns the exit status."""
    gc.disable()  # a short process: collecting what its end frees anyway costs a tenth of a fetch
    words = list(sys.argv[1:] if argv is None else argv)
    stdout, stderr = sys.stdout, sys.stderr
    # Whatever a provider or a library prints must not mix with the envelope, nor leak on stderr.
    sys.stdout = sys.stderr = io.StringIO()
    try:
        text, status, complaint = _run(words, stderr)
    except KeyboardInterrupt:
        text, status, complaint = _refusal(gap("interrupted"), ExitStatus.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - a bug of ours still ends with an envelope
        text, status, complaint = _refusal(gap("bug", error=type(error).__name__), ExitStatus.BUG)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    with contextlib.suppress(ValueError):  # from here on the answer is decided: an interrupt must not cut it in two
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _emit(text, status, complaint, stdout, stderr)


def _run(argv: list[str], stderr: TextIO | None) -> tuple[str, ExitStatus, str]:
    from pit_fetch import options

    try:
        if argv[:1] and argv[0] in COMMANDS:
            from pit_fetch import commands

            answer = commands.run(argv, os.environ, os.getcwd())
            return answer.text, answer.status, answer.complaint
        listing = options.listing_of(argv)
        if listing:
            return _list(listing, argv), ExitStatus.OK, ""
        source = options.source_of(argv)
        if source is None:
            raise UsageError("usage", text="--source is required: --list-sources shows what there is")
        from pit_fetch import registry
        from pit_fetch.engine import run
        from pit_fetch.log import Log
        from pit_fetch.request import parse
        from pit_fetch.world import alarm, real_world

        request = parse(argv, registry.load(source), os.environ)
        log = Log(
            stream=stderr,
            terminal=stderr is not None and stderr.isatty(),
            verbose=request.verbose,
            pit_mode=request.pit is not None,
        )
        outcome = run(request, real_world(os.environ, _read_stdin, alarm), log, argv)
        return outcome.text, outcome.status, outcome.complaint
    except UsageError as error:
        return _refusal(error.gap, ExitStatus.REFUSED)


def _refusal(one: Gap, status: ExitStatus) -> tuple[str, ExitStatus, str]:
    import json

    envelope = {"data": [], "gaps": [{"type": one.type, "reason": one.reason, "query": ""}]}
    return json.dumps(envelope) + "\n", status, one.reason


def _list(listing: str, argv: list[str]) -> str:
    from pit_fetch import options, registry

    if listing == "version":
        from pit_fetch import __version__

        return f"pit_fetch {__version__}\n"
    if listing == "sources":
        from pit_fetch.sources import table

        return table(registry.listings(), os.environ, os.getcwd(), as_json="--json" in argv)
    source = options.source_of(argv)
    text = options.build_parser(None if source is None else registry.load(source)).format_help()
    return text if source else f"{text}\nsources: {', '.join(registry.BUNDLED_NAMES)}, and see --list-sources\n"


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin is not None else b""


def _emit(text: str, status: ExitStatus, complaint: str, stdout: TextIO | None, stderr: TextIO | None) -> int:
    """Writes the answer in one go. A reader that went away is no error worth a word."""
    if stdout is None:
        return ExitStatus.CLOSED_PIPE
    try:
        stdout.write(text)
        stdout.flush()
    except BrokenPipeError:
        return ExitStatus.CLOSED_PIPE
    except OSError as error:
        status, complaint = ExitStatus.BUG, f"stdout cannot be written ({error.strerror}): nothing was delivered"
    if complaint and stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            stderr.write("pit_fetch: " + complaint.replace("\n", " ") + "\n")
            stderr.flush()
    return status
