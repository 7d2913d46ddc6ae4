"""The commands other than a fetch: ``pit_fetch init``, ``doctor``, ``config`` and so on. Text or JSON, no envelope.

Each is a module of its own with ``run(argv, environ, folder) -> Answer``, imported only when needed. Those that
work on an archive have ``run(argv, runtime, log) -> Answer``: they need a clock, the network and a progress line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from pit_fetch.cli.parser import plain
from pit_fetch.errors import ExitStatus
from pit_fetch.support.suggest import option, shown

if TYPE_CHECKING:
    from pit_fetch.engine.progress import Log
    from pit_fetch.runtime import Runtime


_MODULES = {
    "init": "pit_fetch.claude_code.install",
    "lint": "pit_fetch.claude_code.lint",
    "doctor": "pit_fetch.claude_code.doctor",
}


@dataclass(frozen=True)
class Answer:
    """What a command prints to stdout, its exit status, and one line for stderr ("" for none).

    ``exact``: the text is printed as it is, since it was printed before; any other is made visible.
    """

    text: str
    status: int = ExitStatus.OK
    complaint: str = ""
    exact: bool = False


class Parser(argparse.ArgumentParser):
    """An argument parser that neither prints nor exits."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(prog=f"pit_fetch {name}", description=description, allow_abbrev=False, add_help=False)
        self.add_argument("-h", "--help", action="store_true", help="show this help")

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, plain(message))

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse, except for what it says about unknown options."""
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            names = [word.partition("=")[0] for word in unknown]
            hints = [shown(name) + (option(name, flags) if name.startswith("-") else "") for name in names]
            is_path = "--archive" in flags and not any(name.startswith("-") for name in names)
            where = " (an archive is named with --archive PATH)" if is_path else ""
            self.error(f"unrecognized arguments: {', '.join(hints)}{where}")
        return given


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> Answer:
    """The answer of the command that ``argv`` names; ``folder`` is the working directory."""
    return _answered(argv, environ, folder)


def work(argv: Sequence[str], runtime: Runtime, log: Log) -> Answer:
    """The same for a command that works on an archive."""
    import gc

    gc.enable()  # the process has switched it off, but this may take hours
    return _answered(argv, runtime, log)


def _answered(argv: Sequence[str], *given: Any) -> Answer:
    name, *words = argv
    module = import_module(_MODULES.get(name) or f"pit_fetch.cli.commands.{name.replace('-', '_')}")
    command: Callable[..., Answer] = module.run
    try:
        return command(words, *given)
    except argparse.ArgumentError as error:
        return Answer("", ExitStatus.REFUSED, f"{error}; see pit_fetch {name} --help")
    except OSError as error:
        return Answer("", ExitStatus.REFUSED, f"{error.filename or name}: {error.strerror}")
