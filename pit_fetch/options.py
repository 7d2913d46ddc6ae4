"""Which options there are: the common ones, and those that a provider declares. Both are data."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pit_fetch.errors import UsageError

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from pit_fetch.provider import Option, Provider

DEFAULT_LIMIT = 50
DEFAULT_MAX_PAGES = 10
DEFAULT_TIMEOUT = 60.0

# group -> (flags, metavar or "" for a switch, help)
_COMMON: dict[str, tuple[tuple[tuple[str, ...], str, str], ...]] = {
    "what to ask": (
        (("--source",), "SOURCE", "the provider, see --list-sources"),
        (("--pit",), "ISO8601", "only what was public at this instant: 2024-02-15T16:00:00-05:00"),
        (("--date-from",), "DATE", "published at or after: a New York date or a full time stamp"),
        (("--date-to",), "DATE", "published at or before; a date includes its whole day"),
        (("--limit",), "N", f"items at the most, counted after all filters ({DEFAULT_LIMIT})"),
        (("--after",), "CURSOR", "continue below an item: the cursor of a truncated gap"),
        (("--max-pages",), "N", f"pages of public records to look at ({DEFAULT_MAX_PAGES})"),
        (("--timeout",), "SECONDS", f"for the whole fetch ({DEFAULT_TIMEOUT:g})"),
        (("--input-file",), "PATH", "read a raw provider reply, not the network; - is stdin"),
    ),
    "what to print": (
        (("--fields",), "A,B,C", "these fields of each item; id and time stamps always stay"),
        (("--max-chars",), "N", "size of the envelope; whole items only, 0 is no budget"),
        (("--pretty",), "", "indent the JSON"),
        (("--fail",), "", "exit 3, 4 or 5 on a config, input or upstream gap"),
        (("-v", "--verbose"), "", "say on stderr what is done"),
    ),
    "listings": (
        (("-h", "--help"), "", "this help; with --source also the options of that source"),
        (("--version",), "", "print the version"),
        (("--list-sources",), "", "list the sources and whether their credentials are set"),
        (("--json",), "", "with --list-sources: as JSON"),
    ),
}

COMMON_WITH_VALUE = frozenset(flags[0] for rows in _COMMON.values() for flags, metavar, _ in rows if metavar)

COMMON_FLAGS = tuple(flag for rows in _COMMON.values() for flags, _, _ in rows for flag in flags)

_METAVARS = {"list": "A,B", "integer": "N", "instant": "DATE"}

_EPILOG = """\
exit status: 0 an envelope is on stdout, with or without gaps; 2 the command line was refused;
3, 4, 5 with --fail: a config, input or upstream gap; 70 a bug; 130 interrupted.
"pit_fetch --source SOURCE --help" shows the options of a source.
other commands: pit_fetch init | lint | doctor | new-provider; each has a --help.
"""


class Parser(argparse.ArgumentParser):
    """Refuses by UsageError; ``flags`` are those that it knows."""

    @property
    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings]

    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", text=f"{plain(message)}; see --help")


def plain(message: str) -> str:
    """An error of argparse as the one who made it would want to read it, without the value that was given."""
    match = re.match(r"argument (?:\S+/)?(\S+): (expected one argument|ignored explicit argument)", message)
    if match is None:
        return message
    flag = match[1]
    if match[2].startswith("ignored"):
        return f"{flag} takes no value: write it alone"
    return f"{flag} needs a value: write {flag} VALUE, or {flag}=VALUE where the value begins with a hyphen"


class _Once(argparse.Action):
    """Stores one value; a second one is refused, since a reader of the command could take either."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            if self.dest == "pit":
                raise UsageError("pit_repeated")
            raise UsageError("usage", text=f"{option_string} is given more than once: give it once")
        setattr(namespace, self.dest, values)


def build_parser(provider: Provider | None) -> Parser:
    """The parser of the common options and, where one is chosen, of the provider's own.

    An option that is not given is absent from the result: defaults are applied where it is read.
    """
    parser = Parser(
        prog="pit_fetch",
        usage=_usage(provider),
        description=_description(provider),
        epilog=(provider.help or None) if provider else _EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=False,
    )
    for title, rows in _COMMON.items():
        group = parser.add_argument_group(title)
        for flags, metavar, text in rows:
            if metavar:
                group.add_argument(*flags, action=_Once, metavar=metavar, help=text)
            else:
                group.add_argument(*flags, action="store_true", help=text)
    if provider is not None and provider.options:
        group = parser.add_argument_group(f"options of {provider.name} (as --name VALUE or name=VALUE)")
        for option in provider.options:
            _add_option(group, option)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def source_of(argv: Sequence[str]) -> str | None:
    """The value of ``--source`` before anything else is parsed: it decides which options there are."""
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--source", action=_Once)
    known, _ = parser.parse_known_args(list(argv))
    source: str | None = getattr(known, "source", None)
    return source


def listing_of(argv: Sequence[str]) -> str:
    """Which listing the command line asks for: "help", "version", "sources", or "" for a fetch."""
    words = list(argv)[: argv.index("--")] if "--" in argv else argv
    for listing, flags in (("help", ("-h", "--help")), ("version", ("--version",)), ("sources", ("--list-sources",))):
        if any(flag in words for flag in flags):
            return listing
    return ""


def flag_of(name: str) -> str:
    """``date_from`` -> ``--date-from``."""
    return "--" + name.replace("_", "-")


def destination(option: Option) -> str:
    """Where the parser leaves a provider's option: apart from the common ones, whose names it may not take."""
    return f"option:{option.name}"


def _add_option(group: Any, option: Option) -> None:
    text = option.help.replace("%", "%%") + (f" ({option.default})" if option.default not in (None, False) else "")
    flag, dest = flag_of(option.name), destination(option)
    if option.kind == "flag":
        group.add_argument(flag, dest=dest, action="store_true", help=text)
    else:
        metavar = option.metavar or _METAVARS.get(option.kind, "TEXT")
        group.add_argument(flag, dest=dest, action=_Once, metavar=metavar, help=text)


def _usage(provider: Provider | None) -> str:
    source, words = "SOURCE", " [OP]"
    if provider is not None:
        source = provider.name
        forms = {"": "", "one": " [{}]", "all": " [{} ...]"}
        words = "".join(forms[option.positional].format(option.name.upper()) for option in provider.options)
    return f"%(prog)s --source {source} [--pit ISO8601] [options]{words} [key=value ...]"


def _description(provider: Provider | None) -> str:
    if provider is not None:
        return f"{provider.name}: {provider.summary}"
    return (
        "What did this source say, as of this instant? Prints one JSON envelope: what was public at the PIT, and gaps."
    )
