"""The commands other than a fetch: their parser, their result, and their run."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from pit_fetch.cli.commands import COMMANDS, Command
from pit_fetch.cli.parser import StoreOnce, explain_error
from pit_fetch.errors import ExitStatus, UsageError
from pit_fetch.support.terminal import escape_unprintable

if TYPE_CHECKING:
    from pit_fetch.cli.output import Output
    from pit_fetch.runtime import Runtime


@dataclass(frozen=True)
class CommandResult:
    """The text that a command prints to stdout, its exit status, and one line for stderr ("" for none).

    ``notes`` are more lines for stderr, whatever the status. ``exact``: the text is an earlier output, printed
    unchanged. In any other text, control characters are escaped.
    """

    text: str
    status: int = ExitStatus.OK
    complaint: str = ""
    exact: bool = False
    notes: tuple[str, ...] = ()


def to_json(value: object) -> str:
    """Return what a command prints under --json."""
    return json.dumps(value, indent=2) + "\n"


def refusal(problem: str) -> CommandResult:
    return CommandResult("", ExitStatus.REFUSED, problem)


def whole_number(most: int) -> Callable[[str], int]:
    """Return what reads the value of an option as a whole number from 1 on."""

    def read(text: str) -> int:
        if not re.fullmatch("[1-9][0-9]{0,9}", text) or int(text) > most:
            raise argparse.ArgumentTypeError(f"write a whole number from 1 to {most:,}")
        return int(text)

    return read


class HelpAsked(Exception):
    """The command line asks for the help of a command, which is the text of this."""


class Parser(argparse.ArgumentParser):
    """An argument parser that neither prints nor exits. It raises HelpAsked for -h and --help, wherever they stand."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(prog=f"pit_fetch {name}", description=description, allow_abbrev=False, add_help=False)
        self.register("action", None, StoreOnce)
        self.add_argument("-h", "--help", action="store_true", help="show this help")
        self.advice = ""  # advice for an error about unknown arguments

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, explain_error(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if {"-h", "--help"} & set(args):
            raise HelpAsked(self.format_help())
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but explain unknown options."""
        try:
            arguments, unknown = self.parse_known_args(args, namespace)
        except UsageError as error:
            self.error(error.gap.reason.rstrip("."))
        for action in self._actions:
            value = getattr(arguments, action.dest, None)
            name = action.option_strings[-1] if action.option_strings else action.metavar
            if value == "" != action.default:
                self.error(f"{name} is empty: give a value or leave it out")
        if unknown:
            from pit_fetch.courtesy.command_line import stray_arguments

            self.error(stray_arguments(list(args), unknown, self._actions, self.advice))
        return arguments


def dispatch(argv: Sequence[str], runtime: Runtime, output: Output) -> None:
    """Run the command that ``argv`` begins with, and set its output."""
    name = argv[0]
    match COMMANDS[name].kind:
        case "fetch":
            module_of(name).run(argv, runtime, output)
            return
        case "plain":
            result = run(argv, runtime.environ, runtime.folder)
        case "archive":
            import gc

            from pit_fetch.engine.progress import Progress

            gc.enable()  # the process switched garbage collection off, but a command may run for hours
            output.progress = Progress(runtime.stderr, terminal=runtime.stderr is not None and runtime.stderr.isatty())
            result = run(argv, runtime, output.progress)
        case "server":
            import gc

            gc.enable()
            result = run(argv, runtime)
    text = result.text if result.exact else escape_unprintable(result.text, keep="\n\t")
    output.set(text, result.status, result.complaint, result.notes)


def module_of(name: str) -> ModuleType:
    """Return the module of a command, imported."""
    return import_module(Command.module(name))


def run(argv: Sequence[str], *surroundings: Any) -> CommandResult:
    """Return the result of a command other than a fetch. Its kind decides which ``surroundings`` it receives."""
    name, *words = argv
    command: Callable[..., CommandResult] = module_of(name).run
    try:
        return command(words, *surroundings)
    except HelpAsked as asked:
        return CommandResult(str(asked))
    except argparse.ArgumentError as error:
        return refusal(f"{error}; see pit_fetch {name} --help")
    except OSError as error:
        return refusal(f"{error.filename or name}: {_problem(error)}")


def _problem(error: OSError) -> str:
    """Return what is wrong with a file. If its folder is missing, the system says the same as of a missing file."""
    folder = os.path.dirname(os.path.abspath(os.fsdecode(error.filename))) if error.filename else ""
    is_lost = isinstance(error, FileNotFoundError) and folder and not os.path.isdir(folder)
    return "its folder does not exist" if is_lost else str(error.strerror)
