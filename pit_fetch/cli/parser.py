"""The command line's parser: the common options, those of a source, and their help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from pit_fetch.cli.commands import COMMANDS
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.operations import DATINGS
from pit_fetch.request.options import COMMON, COMMON_OPTIONS
from pit_fetch.request.values import flag_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from pit_fetch.provider import Operation, Option, Provider

Listing = Literal["", "help", "version", "sources"]


class FetchForm(NamedTuple):
    """The form in which a command takes a fetch's options.

    name         the command's word; "" for a plain fetch
    description  the head of its help; "" for that of a fetch
    pits         how its PITs are written
    asks_source  it has a ``--source``; if not, it lacks the options that decide how a source is asked
    has_pages    ``--after`` continues its answer
    """

    name: str = ""
    description: str = ""
    pits: str = "[--pit ISO8601]"
    asks_source: bool = True
    has_pages: bool = True


FETCH = FetchForm()

# The options that decide how a source is asked.
_OF_SOURCES = frozenset({"source", "max_pages", "archive", "offline", "evidence"})

_HELP = ((("-h", "--help"), "show this help"),)
_LISTINGS = (
    (("-h", "--help"), "show this help; with --source, also the options of that source"),
    (("--version",), "print the version"),
    (("--list-sources",), "list the sources and whether their credentials are set"),
    (("--json",), "with --list-sources: as JSON"),
)

COMMON_WITH_VALUE = frozenset(flag_of(option.name) for option in COMMON_OPTIONS if option.kind != "flag")
COMMON_FLAGS = (
    "-v",
    *(flag_of(option.name) for option in COMMON_OPTIONS),
    *(flag for flags, _ in _LISTINGS for flag in flags),
)

_METAVARS = {"list": "A,B", "integer": "N", "number": "SECONDS", "instant": "DATE"}

_EXIT_STATUSES = """\
exit status: 0 an envelope is on stdout, with or without gaps; 2 the command line was refused;
3, 4, 5 nothing but a config, input or upstream gap, with --fail also beside items (to an agent's client, an envelope
with 0); 70 a bug; 130 interrupted.
"pit_fetch --source SOURCE --help" shows the options of a source.
"""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return the formatter that argparse needs to check an option. It never prints."""
    return argparse.HelpFormatter(prog, width=80)  # without a width it would load shutil to ask the terminal for one


class Parser(argparse.ArgumentParser):
    """A parser that refuses with UsageError. ``tail`` makes the end of the help, only when it is shown."""

    tail: Callable[[], str | None] = staticmethod(lambda: None)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        self.epilog = self.tail()
        return super().format_help()

    @property
    def flags(self) -> list[str]:
        """The flags that it knows."""
        return [flag for action in self._actions for flag in action.option_strings]

    def error(self, message: str) -> NoReturn:
        raise UsageError(Code.USAGE, text=f"{explain_error(message)}; see --help")


def explain_error(message: str) -> str:
    """Return an argparse error in words that help the user, without the value that was given."""
    match = re.match(r"argument (?:\S+/)?(\S+): (expected one argument|ignored explicit argument)", message)
    if match is None:
        return message
    flag = match[1]
    if match[2].startswith("ignored"):
        return f"{flag} takes no value: write it on its own"
    if flag == "--pit":  # 1d and -1d would be another instant whenever the command is run
        from pit_fetch.courtesy.timestamps import EXAMPLE

        return f"--pit needs a value, which is a fixed instant: write --pit {EXAMPLE}"
    return f"{flag} needs a value: write {flag} VALUE, or {flag}=VALUE where the value begins with a hyphen"


class StoreOnce(argparse.Action):
    """Store one value. A second one is refused, since a reader of the command could take either one."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest, self.default) is not self.default:
            if self.dest == "pit":
                raise UsageError(Code.PIT_REPEATED)
            raise UsageError(Code.USAGE, text=f"{option_string} is given more than once: give it once")
        if values == "=":
            raise UsageError(Code.USAGE, text=f"write {option_string} VALUE, without an equals sign")
        setattr(namespace, self.dest, values)


class _StoreEach(argparse.Action):
    """Store every value of an option that may be given several times."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, ()), values])


def build_parser(provider: Provider | None, form: FetchForm = FETCH) -> Parser:
    """Return the parser for the common options and, once a provider is chosen, its own.

    An option that is not given is absent from the result: defaults are applied where it is read.
    """
    parser = Parser(
        prog=f"pit_fetch {form.name}".rstrip(),
        usage=_usage(provider, form),
        description=form.description or _description(provider),
        formatter_class=_formatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=False,
    )
    parser.tail = lambda: _epilog(provider) if provider else _EXIT_STATUSES + _other_commands()
    for title, options in COMMON.items():
        known = [option for option in options if form.asks_source or option.name not in _OF_SOURCES]
        # diff and explain know --after, to say why they refuse it, but do not offer it.
        _add_options(parser, title, known, hidden=() if form.has_pages else ("after",))
    group = parser.add_argument_group("listings")
    for flags, text in _LISTINGS if form.asks_source else _HELP:
        group.add_argument(*flags, action="store_true", help=text)
    if provider is not None and provider.all_options:
        _add_options(parser, f"options of {provider.name} (as --name VALUE or name=VALUE)", provider.all_options)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def source_of(argv: Sequence[str]) -> str | None:
    """Return the value of ``--source``, before anything else is parsed: it decides which options exist."""
    known, _ = _source_parser().parse_known_args(list(argv))
    source: str | None = getattr(known, "source", None)
    return source


@cache
def _source_parser() -> Parser:
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS, formatter_class=_formatter)
    parser.add_argument("--source", action=StoreOnce)
    return parser


def listing_of(argv: Sequence[str]) -> Listing:
    """Return which listing the command line asks for; "" if it asks for a fetch."""
    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    if "-h" in words or "--help" in words:
        return "help"
    if "--version" in words:
        return "version"
    return "sources" if "--list-sources" in words else ""


def _add_options(parser: Parser, title: str, options: Sequence[Option], hidden: Sequence[str] = ()) -> None:
    group = parser.add_argument_group(title)
    for option in options:
        flags = ["-v"] * (option.name == "verbose") + [flag_of(option.name)]
        text = argparse.SUPPRESS if option.name in hidden else _help(option).replace("%", "%%")
        if option.kind == "flag":
            group.add_argument(*flags, dest=option.name, action="store_true", help=text)
        else:
            metavar = option.metavar or _METAVARS.get(option.kind, "TEXT")
            action = _StoreEach if option.repeatable else StoreOnce
            group.add_argument(*flags, dest=option.name, action=action, metavar=metavar, help=text)


def _help(option: Option) -> str:
    """Return an option's help text, with its choices and its default."""
    value = f"{option.default:g}" if isinstance(option.default, float) else str(option.default)
    default = [] if option.default in (None, False) else [f"default {value}"]
    notes = [*([", ".join(option.choices)] if option.choices else []), *default]
    return option.help + (f" ({'; '.join(notes)})" if notes else "")


def _usage(provider: Provider | None, form: FetchForm) -> str:
    if not form.asks_source:
        return "%(prog)s [--pit ISO8601] [options] [key=value ...] < FILE"
    source, words = "SOURCE", " [OP]"
    if provider is not None:
        source = provider.name
        forms = {"": "", "one": " [{}]", "all": " [{} ...]"}
        words = "".join(forms[option.positional].format(option.name.upper()) for option in provider.all_options)
    return f"%(prog)s --source {source} {form.pits} [options]{words} [key=value ...]"


def _epilog(provider: Provider) -> str | None:
    from textwrap import fill

    fields = {field.name: None for operation in provider.operations for field in operation.fields}
    parts = [provider.help.rstrip()]
    if len(provider.operations) > 1:
        parts.append(operations_text(provider))
        parts.append(f"fields of each, and why it is dated so: pit_fetch sources {provider.name}" if fields else "")
    else:
        dating = provider.operations[0].dating
        rule = (dating.rule or "by each item's own stamps") if dating.by == "record" else DATINGS[dating.by]
        why = f" ({dating.why})" if dating.why else ""
        parts.append(fill(f"dated: {rule}{why}", 100, subsequent_indent="  "))
    if len(provider.operations) == 1 and fields:
        parts.append(fill(f"fields: {', '.join(fields)}", 100, subsequent_indent="  "))
    claims = [(operation.name, operation.dating.claims) for operation in provider.operations if operation.dating.claims]
    if claims:
        parts.append("Where nothing proves an item, with --evidence claimed:")
        lines = (f"{name}: {claim}" if name else claim for name, claim in claims)
        parts += [fill(line, 100, initial_indent="  ", subsequent_indent="    ") for line in lines]
    return "\n".join(part.rstrip("\n") for part in parts if part) or None


def _description(provider: Provider | None) -> str:
    if provider is not None:
        return f"{provider.name}: {provider.summary}"
    return (
        "What did this source say, as of this instant? Prints one JSON envelope: what was public at the PIT, and gaps."
    )


def _other_commands() -> str:
    width = max(map(len, COMMANDS))
    lines = (f"  {name:<{width}}  {command.summary}\n" for name, command in COMMANDS.items())
    return f"\nother commands, each with its own --help:\n{''.join(lines)}"


def operations_text(provider: Provider) -> str:
    """Return the operations with their rules, grouped by how their records are dated, as plain text for ``--help``."""
    width = max(len(operation.name) for operation in provider.operations)
    lines = []
    for title, operations in group_operations(provider):
        lines.append(f"{title}:")
        for operation in operations:
            needs = f" (needs {', '.join(operation.needs)})" if operation.needs else ""
            rule = operation.dating.rule if operation.dating.by == "record" else ""
            lines.append(f"  {operation.name:<{width}}  {rule}{needs}".rstrip())
    return "\n".join(lines) + "\n"


def group_operations(provider: Provider) -> Iterator[tuple[str, list[Operation]]]:
    """Yield the operations, grouped under their titles in ``--help``."""
    for dating, title in DATINGS.items():
        operations = [operation for operation in provider.operations if operation.dating.by == dating]
        if operations:
            yield title, operations
