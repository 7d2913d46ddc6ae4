"""The options: the common ones, and those that a provider declares. Both are data."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from pit_fetch.errors import UsageError
from pit_fetch.formats import NAMES as FORMS
from pit_fetch.pipeline.cursor import Cursor, parse_cursor
from pit_fetch.provider import Option
from pit_fetch.request.query import help_text
from pit_fetch.request.values import flag_of, instant
from pit_fetch.times import parse_pit, window_end

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from pit_fetch.provider import Provider

MIN_MAX_CHARS = 4_000


def _pit(text: str) -> datetime:
    pit = parse_pit(text)
    if pit is None:
        from pit_fetch.request.timestamp_errors import problem

        raise UsageError("pit_malformed", problem=problem(text))
    return pit


def _cursor(text: str) -> Cursor:
    found = parse_cursor(text)
    if found is None:
        raise UsageError("usage", text="--after is not a cursor: copy one from a truncated gap")
    return found


def _until(text: str) -> datetime:
    return instant(_DATE_TO, text, window_end)


def _budget(text: str) -> int:
    return budget("--max-chars", text)


def budget(name: str, text: str) -> int:
    """A number of characters; 0 means no limit. ``name`` is where it was given. Raises UsageError."""
    if not re.fullmatch("[0-9]{1,12}", text) or 0 < int(text) < MIN_MAX_CHARS:
        raise UsageError("usage", text=f"{name} is 0 (no limit) or a whole number of at least {MIN_MAX_CHARS}")
    return int(text)


_DATE_TO = Option(
    "date_to", "published at or before; a date includes the whole day", metavar="DATE", parse=lambda text: _until(text)
)

# The options of every source, in the groups of --help.
COMMON: Mapping[str, tuple[Option, ...]] = {
    "what to ask": (
        Option("source", "the provider; see --list-sources", metavar="SOURCE"),
        Option(
            "pit",
            "only what was public at this instant: 2024-02-15T16:00:00-05:00",
            metavar="ISO8601",
            parse=_pit,
            kind="instant",
        ),
        Option("date_from", "published at or after: a New York date or a full timestamp", kind="instant"),
        _DATE_TO,
        Option("limit", "maximum number of items, after filtering", kind="integer", default=50),
        Option("after", "resume from the cursor in a truncated gap", metavar="CURSOR", parse=_cursor),
        Option("max_pages", "maximum number of pages of public records to read", kind="integer", default=10),
        Option("timeout", "time limit for the whole fetch", kind="number", default=60.0),
        Option("input_file", "read a raw provider reply instead of the network; - is stdin", metavar="PATH"),
        Option("archive", "record every reply in this file, and answer from it too", metavar="PATH"),
        Option("offline", "answer from the archive alone, without the network", kind="flag", default=False),
    ),
    "what to print": (
        Option("fields", "only these fields of each item; id and timestamps are always kept", kind="list"),
        Option("format", "output format, on a terminal table", choices=FORMS, default="json", metavar="FORMAT"),
        Option("output", "write to this file instead, all or nothing", metavar="FILE"),
        Option(
            "max_chars",
            "maximum size of the output; a longer item is continued; 0 means no limit",
            metavar="N",
            parse=_budget,
        ),
        Option("pretty", "indent the JSON", kind="flag", default=False),
        Option("fail", "exit 3, 4 or 5 on a config, input or upstream gap", kind="flag", default=False),
        Option("verbose", "log progress to stderr", kind="flag", default=False, short="-v"),
    ),
}
# What decides how a source is asked.
_OF_SOURCES = frozenset({"source", "max_pages", "archive", "offline"})
# What belongs to a fetch's pages, and diff and explain refuse.
_REFUSED_BY_LOOKS = frozenset({"after"})
COMMON_OPTIONS: tuple[Option, ...] = tuple(option for group in COMMON.values() for option in group)

_HELP = ((("-h", "--help"), "show this help"),)
_LISTINGS = (
    (("-h", "--help"), "show this help; with --source, also the options of that source"),
    (("--version",), "print the version"),
    (("--list-sources",), "list the sources and whether their credentials are set"),
    (("--json",), "with --list-sources: as JSON"),
)

COMMON_WITH_VALUE = frozenset(flag_of(option.name) for option in COMMON_OPTIONS if option.kind != "flag")
COMMON_FLAGS = (
    *(flag for option in COMMON_OPTIONS for flag in (option.short, flag_of(option.name)) if flag),
    *(flag for flags, _ in _LISTINGS for flag in flags),
)

_METAVARS = {"list": "A,B", "integer": "N", "number": "SECONDS", "instant": "DATE"}

# A fetch never starts with one of these words.
COMMANDS = (
    "init", "lint", "doctor", "new-provider", "config", "completion", "sources", "diff", "explain",
    "capture", "archive", "normalize",
)  # fmt: skip
# Those of them that work on an archive.
WORKS = ("capture", "archive")

_EPILOG = f"""\
exit status: 0 an envelope is on stdout, with or without gaps; 2 the command line was refused;
3, 4, 5 with --fail: a config, input or upstream gap; 70 a bug; 130 interrupted.
"pit_fetch --source SOURCE --help" shows the options of a source.
other commands: pit_fetch {" | ".join(COMMANDS[:9])} |
{" | ".join(COMMANDS[9:])}; each has its own --help.
"""


# What the commands are for that take a fetch's options.
LOOKS: Mapping[str, str] = {
    "diff": "What became public, changed or went between two instants: the same question is asked at both.\n"
    "Each item has a change: new, changed (with what it held before) or gone.",
    "explain": "What a fetch at --pit shows and withholds, and why: each record that the source sends, up to a day\n"
    "after the PIT or to --date-to, with its verdict (public, late, revised, undated, unusable) and the reason.\n"
    "For operators: refused under a ceiling, PIT_FETCH_WRAPPER_ONLY or an agent's client.",
}


def _unseen(prog: str) -> argparse.HelpFormatter:
    """What argparse needs to check an option. Without a width it would load shutil to ask the terminal for one."""
    return argparse.HelpFormatter(prog, width=80)


class Parser(argparse.ArgumentParser):
    """Refuses with UsageError; ``flags`` are the ones it knows. ``tail`` makes the end of the help, only when shown."""

    tail: Callable[[], str | None] = staticmethod(lambda: None)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        self.epilog = self.tail()
        return super().format_help()

    @property
    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings]

    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", text=f"{plain(message)}; see --help")


def plain(message: str) -> str:
    """An argparse error in words that help whoever made it, without the value that was given."""
    match = re.match(r"argument (?:\S+/)?(\S+): (expected one argument|ignored explicit argument)", message)
    if match is None:
        return message
    flag = match[1]
    if match[2].startswith("ignored"):
        return f"{flag} takes no value: write it on its own"
    return f"{flag} needs a value: write {flag} VALUE, or {flag}=VALUE where the value begins with a hyphen"


class _Once(argparse.Action):
    """Stores one value; a second one is refused, since a reader of the command could take either one."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            if self.dest == "pit":
                raise UsageError("pit_repeated")
            raise UsageError("usage", text=f"{option_string} is given more than once: give it once")
        setattr(namespace, self.dest, values)


class _Each(argparse.Action):
    """Stores every value of an option that may be given several times."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, ()), values])


def build_parser(provider: Provider | None, command: str = "") -> Parser:
    """The parser for the common options and, once a provider is chosen, its own.

    An option that is not given is absent from the result: defaults are applied where it is read. ``command`` takes a
    fetch's options; if it asks no source, some of them mean nothing.
    """
    parser = Parser(
        prog=f"pit_fetch {command}".rstrip(),
        usage=_usage(provider, command),
        description=LOOKS.get(command) or _description(provider),
        formatter_class=_unseen,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=False,
    )
    parser.tail = lambda: _epilog(provider) if provider else _EPILOG
    for title, options in COMMON.items():
        asked = [one for one in options if not (_asks_nobody(command) and one.name in _OF_SOURCES)]
        _add_options(parser, title, asked, unseen=_REFUSED_BY_LOOKS if command in LOOKS else ())
    group = parser.add_argument_group("listings")
    for flags, text in _HELP if _asks_nobody(command) else _LISTINGS:
        group.add_argument(*flags, action="store_true", help=text)
    if provider is not None and provider.options:
        _add_options(parser, f"options of {provider.name} (as --name VALUE or name=VALUE)", provider.options)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def source_of(argv: Sequence[str]) -> str | None:
    """The value of ``--source``, before anything else is parsed: it decides which options exist."""
    known, _ = _source_parser().parse_known_args(list(argv))
    source: str | None = getattr(known, "source", None)
    return source


@cache
def _source_parser() -> Parser:
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS, formatter_class=_unseen)
    parser.add_argument("--source", action=_Once)
    return parser


def each_with_one(argv: Sequence[str], flag: str, count: int, needed: str) -> list[list[str]]:
    """The command line once for each value of ``flag``, with that value alone. ``needed``: why it takes ``count``."""
    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    places = [place for place, word in enumerate(words) if word == flag or word.startswith(f"{flag}=")]
    if len(places) != count:
        raise UsageError("usage", text=needed)
    spans = [range(place, place + (2 if words[place] == flag else 1)) for place in places]
    return [
        [word for place, word in enumerate(argv) if not any(place in span for span in spans if span is not kept)]
        for kept in spans
    ]


def listing_of(argv: Sequence[str]) -> str:
    """Which listing the command line asks for: "help", "version", "sources", or "" for a fetch."""
    words = list(argv)[: argv.index("--")] if "--" in argv else argv
    for listing, flags in (("help", ("-h", "--help")), ("version", ("--version",)), ("sources", ("--list-sources",))):
        if any(flag in words for flag in flags):
            return listing
    return ""


def _add_options(parser: Parser, title: str, options: Sequence[Option], unseen: Collection[str] = ()) -> None:
    group = parser.add_argument_group(title)
    for option in options:
        flags = [flag for flag in (option.short, flag_of(option.name)) if flag]
        text = argparse.SUPPRESS if option.name in unseen else _help(option).replace("%", "%%")
        if option.kind == "flag":
            group.add_argument(*flags, dest=option.name, action="store_true", help=text)
        else:
            metavar = option.metavar or _METAVARS.get(option.kind, "TEXT")
            action = _Each if option.repeatable else _Once
            group.add_argument(*flags, dest=option.name, action=action, metavar=metavar, help=text)


def _help(option: Option) -> str:
    """An option's help text, with its choices and its default."""
    default = [] if option.default in (None, False) else [f"default {_plain_default(option.default)}"]
    notes = [*([", ".join(option.choices)] if option.choices else []), *default]
    return option.help + (f" ({'; '.join(notes)})" if notes else "")


def _plain_default(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _asks_nobody(command: str) -> bool:
    """Whether it is a command that takes a fetch's options, and asks no source."""
    return command != "" and command not in LOOKS


def _usage(provider: Provider | None, command: str = "") -> str:
    if _asks_nobody(command):
        return "%(prog)s [--pit ISO8601] [options] [key=value ...] < FILE"
    source, words = "SOURCE", " [OP]"
    pits = {"diff": "--pit EARLIER --pit LATER", "explain": "--pit ISO8601"}.get(command, "[--pit ISO8601]")
    if provider is not None:
        source = provider.name
        forms = {"": "", "one": " [{}]", "all": " [{} ...]"}
        words = "".join(forms[option.positional].format(option.name.upper()) for option in provider.options)
    return f"%(prog)s --source {source} {pits} [options]{words} [key=value ...]"


def _epilog(provider: Provider) -> str | None:
    from textwrap import fill

    fields = {one.name: None for operation in provider.operations for one in operation.fields}
    parts = [provider.help.rstrip()]
    if len(provider.operations) > 1:
        parts.append(help_text(provider))
        parts.append(f"fields of each: pit_fetch sources {provider.name}" if fields else "")
    elif fields:
        parts.append(fill(f"fields: {', '.join(fields)}", 100, subsequent_indent="  "))
    return "\n".join(part.rstrip("\n") for part in parts if part) or None


def _description(provider: Provider | None) -> str:
    if provider is not None:
        return f"{provider.name}: {provider.summary}"
    return (
        "What did this source say, as of this instant? Prints one JSON envelope: what was public at the PIT, and gaps."
    )
