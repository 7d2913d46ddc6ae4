"""The command: a command line in, one JSON envelope on stdout, an exit status out."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pit_fetch.cli import parser
from pit_fetch.cli.commands import COMMANDS
from pit_fetch.cli.output import Output
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import ExitStatus, PitFetchError, UsageError
from pit_fetch.gaps import Code, gap
from pit_fetch.request import audience
from pit_fetch.runtime import Runtime, alarm
from pit_fetch.support import process

if TYPE_CHECKING:
    from pit_fetch.request.fetch_request import FetchRequest


def main(argv: Sequence[str] | None = None, runtime: Runtime | None = None) -> int:
    """Run the command on ``argv`` (default: the process's) in ``runtime``. Return the exit status."""
    runtime = real_runtime(alarm) if runtime is None else runtime
    output = Output()
    words = list(sys.argv[1:] if argv is None else argv)
    return _run_guarded(lambda: _run(_split_release(words, output), runtime, output), runtime, output)


def ask(request: FetchRequest, argv: Sequence[str], runtime: Runtime) -> int:
    """Run a parsed request exactly as :func:`main` would run its command line. The author's kit uses this."""
    from pit_fetch.cli import fetch

    output = Output()
    return _run_guarded(lambda: fetch.write_answer([request], argv, runtime, output), runtime, output)


def _run_guarded(run: Callable[[], None], runtime: Runtime, output: Output) -> int:
    """Call ``run`` and write ``output``. Whatever is raised, the output is an envelope."""
    stdout, stderr = sys.stdout, sys.stderr
    # Nothing that a provider or a library prints may mix with the envelope, or leak on stderr.
    sys.stdout = sys.stderr = io.StringIO()
    try:
        run()
    except PitFetchError as error:
        output.refuse(error.gap)
    except KeyboardInterrupt:
        output.refuse(gap(Code.INTERRUPTED), ExitStatus.INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - a bug of ours still ends with an envelope
        output.refuse(gap(Code.BUG, error=type(error).__name__), ExitStatus.BUG)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    process.keep_interrupts_out()
    return output.emit(runtime)


def _split_release(argv: list[str], output: Output) -> list[str]:
    """Return ``argv`` without ``--release FILE``, and let the output go to that file."""
    if "--release" not in argv:
        return argv
    from pit_fetch.cli.output_file import open_private, split_release

    words, path = split_release(argv)
    output.private_output = open_private(path) if path else None
    return words


def _run(argv: list[str], runtime: Runtime, output: Output) -> None:
    if argv[:1] == ["help"]:
        argv = _help_words(argv[1:])
    if argv and argv[0] in COMMANDS:
        from pit_fetch.cli import command

        command.dispatch(argv, runtime, output)
        return
    listing = parser.listing_of(argv)
    if listing:
        output.set(_list(listing, argv, runtime))
        return
    from pit_fetch.cli import fetch

    if not argv and audience.is_for_a_person(runtime):
        output.set(fetch.help_text(argv, runtime), ExitStatus.REFUSED)
        return
    source = parser.source_of(argv)
    if source is None:
        from pit_fetch.courtesy.command_line import check_characters, missing_source
        from pit_fetch.engine import registry

        check_characters(argv, parser.COMMON_WITH_VALUE)
        sources, flags = registry.source_names(), parser.COMMON_FLAGS
        names = [*registry.known_names(), *sources]
        raise UsageError(Code.USAGE, text=missing_source(argv, sources, names, flags, registry.search_terms))
    fetch.fetch(argv, source, runtime, output)


def _help_words(names: list[str]) -> list[str]:
    """Return the options that ``help``, ``help COMMAND`` and ``help SOURCE`` stand for."""
    if not names or names[0] == "help" or names[0].startswith("-"):
        return ["--help"]
    return [names[0], "--help"] if names[0] in COMMANDS else ["--source", names[0], "--help"]


def _list(listing: parser.Listing, argv: list[str], runtime: Runtime) -> str:
    if listing == "version":
        from pit_fetch.support.version import __version__

        return f"pit_fetch {__version__}\n"
    if listing == "sources":
        from pit_fetch.engine import registry
        from pit_fetch.engine.catalog import table

        return table(registry.listings(), runtime.environ, runtime.folder, as_json="--json" in argv)
    from pit_fetch.cli import fetch

    return fetch.help_text(argv, runtime)
