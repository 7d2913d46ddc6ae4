"""From a command line to a :class:`~pit_fetch.request.fetch_request.FetchRequest`.

Both call forms (``EARNINGS symbol=AAPL`` and ``--op EARNINGS --symbol AAPL``) give the same request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.cli.parser import COMMON_WITH_VALUE, FETCH, FetchForm, build_parser
from pit_fetch.errors import UsageError
from pit_fetch.formats import BINARY, ENDINGS, NAMES
from pit_fetch.gaps import Code
from pit_fetch.provider import Provider
from pit_fetch.request.audience import CLIENT_VARIABLE, MAX_CHARS_UNDER_AGENT
from pit_fetch.request.fetch_request import FetchRequest, build
from pit_fetch.request.operations import check_operation
from pit_fetch.request.options import FORMAT, OUTPUT, require_pit
from pit_fetch.request.values import flag_of, parse_value
from pit_fetch.times import parse_pit

# A fetch has no command. These would be taken for an operation, or for a word to search for.
_VERBS = frozenset(["fetch", "get", "run", "query", "search", "download", "pull", "ask", "call", "pit_fetch"])
# What follows a flag in other tools, or is in one pair of quotes with its option. Each would be searched for.
_NO_SEARCH_WORD = re.compile(r"true|false|--.*", re.DOTALL)
_IMPLY_A_FORMAT = frozenset(["csv_safe", "json", "open", "output", "pretty"])
_BEHIND_A_BLANK = re.compile(r"\s([A-Za-z][A-Za-z0-9_-]*)=")
# Endings that promise something else than any format holds.
_PACKED = "gz zip bz2 xz zst 7z tar tgz"
_OTHERS = (
    "xlsx xls ods tsv tab xml yaml yml toml md pdf docx feather arrow orc avro pickle pkl hdf5 h5 db sqlite duckdb dta "
    "sav mat npy rds"
)
_KEY_VALUE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.*)", re.DOTALL)


def parse(
    argv: Sequence[str],
    provider: Provider,
    environ: Mapping[str, str],
    defaults: Mapping[str, object] = {},
    form: FetchForm = FETCH,
) -> FetchRequest:
    """Return the request of a command line. Raise UsageError, whose reason names the fix.

    ``defaults`` are values of options that the command line does not give.
    """
    given, pit = read_options(argv, provider, form)
    if not given.keys().isdisjoint(_IMPLY_A_FORMAT):
        given |= {"format": format_name} if (format_name := chosen_format(given)) else {}
    max_chars = MAX_CHARS_UNDER_AGENT if environ.get(CLIENT_VARIABLE) else 0
    parsed = {} if pit is None else {"pit": pit}
    request = build({**defaults, **given}, provider, environ, max_chars, parsed, form.name)
    if not form.asks_source:
        request = request._replace(canonical=request.canonical.replace(f"--source {provider.name}", form.name, 1))
    if request.format in BINARY and not request.output:
        raise UsageError(Code.USAGE, text=f"--format {request.format} needs --output FILE")
    return request


def read_options(
    argv: Sequence[str], provider: Provider, form: FetchForm = FETCH
) -> tuple[dict[str, Any], datetime | None]:
    """Return each option that ``argv`` gives, with its text, its texts or True; and the PIT, parsed.

    Raise UsageError, which names the fix. Other values than the PIT are not interpreted here.
    """
    parser = build_parser(provider, form)
    expanded = _expand_pairs(argv, provider)
    # What follows "--" is plain words, and is kept away from argparse: its intermixed mode parses the remainder a
    # second time, without the "--", so an option after it would count after all.
    end = expanded.index("--") if "--" in expanded else len(expanded)
    try:
        namespace, unknown = parser.parse_known_intermixed_args(expanded[:end])
    except UsageError as error:
        if error.gap.code is Code.PIT_REPEATED and "diff" in argv:
            text = f"a command comes first: pit_fetch diff --source {provider.name} ..."
            raise UsageError(Code.USAGE, text=text) from None
        raise
    if unknown:
        from pit_fetch.courtesy.command_line import unknown_options

        raise UsageError(Code.USAGE, text=unknown_options(unknown, parser.flags, provider))
    values = vars(namespace)
    words = values.pop("words", [])
    if any(map(_NO_SEARCH_WORD.fullmatch, words)):
        from pit_fetch.courtesy.command_line import refusal

        if problem := refusal(words, argv, {"flag": {*parser.flags} - _valued_flags(provider)}):
            raise UsageError(Code.USAGE, text=problem)
    words += expanded[end + 1 :]
    # The PIT comes first: if there is a space in it, its second half is among the words.
    pit = require_pit(values["pit"], words) if "pit" in values else None
    if pit is None:
        _refuse_stray_pit(words)
    return {**values, **_bare_word_option(values, words, argv, provider, form, parser.flags)}, pit


def _valued_flags(provider: Provider) -> frozenset[str]:
    return COMMON_WITH_VALUE | {flag_of(option.name) for option in provider.all_options if option.kind != "flag"}


def _bare_word_option(
    values: Mapping[str, Any],
    words: list[str],
    argv: Sequence[str],
    provider: Provider,
    form: FetchForm,
    flags: Sequence[str],
) -> dict[str, str]:
    """Return the option that bare words fill, with its text."""
    if not words:
        return {}
    if argv[0] in _VERBS and argv[0] not in [operation.name for operation in provider.operations]:
        text = f"a fetch has no command: leave out {argv[0]!r}, and write pit_fetch --source {provider.name} ..."
        raise UsageError(Code.USAGE, text=text)
    if not form.asks_source:
        text = f"{form.name} takes no bare words: it reads standard input (< FILE), or --input-file FILE; see --help"
        raise UsageError(Code.USAGE, text=text)
    option = next((option for option in provider.all_options if option.positional), None)
    if option is None or (option.positional == "one" and (len(words) > 1 or words[0].startswith("{"))):
        from pit_fetch.courtesy.command_line import bare_words

        raise UsageError(Code.USAGE, text=bare_words(words, argv, values, flags, provider))
    if option.name in values:
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} is given twice, as an option and as a word")
    text = " ".join(words)
    try:
        check_operation(provider, {option.name: parse_value(option, text)})
    except UsageError as error:
        from pit_fetch.courtesy.command_line import bare_words

        raise UsageError(Code.USAGE, text=bare_words(words, argv, values, flags, provider, str(error))) from None
    return {option.name: text}


def _expand_pairs(argv: Sequence[str], provider: Provider) -> list[str]:
    """Return ``argv`` with each ``key=value`` word that names a provider's option as ``--key=value``."""
    names = {option.name.replace("_", "-"): option for option in provider.all_options}
    takes_value = _valued_flags(provider)
    if not all(map(str.isascii, argv)):
        from pit_fetch.courtesy.command_line import check_characters

        check_characters(argv, takes_value)
    expanded: list[str] = []
    literal = is_value = False
    for word in argv:
        literal = literal or word == "--"
        joined = next((name for name in _BEHIND_A_BLANK.findall(word) if _hyphenated(name) in names), "")
        if joined and not is_value:
            text = f"{joined}= is in one pair of quotes with what stands before it: write two words"
            raise UsageError(Code.USAGE, text=text)
        pair = None if literal or is_value else _KEY_VALUE.fullmatch(word)
        is_value = not literal and not is_value and word in takes_value
        name = _hyphenated(pair[1]) if pair else ""
        if pair is None:
            expanded.append(word)
        elif name not in names:
            from pit_fetch.courtesy.command_line import unknown_pair

            raise UsageError(Code.USAGE, text=unknown_pair(name, COMMON_WITH_VALUE, provider))
        elif names[name].kind == "flag":
            expanded += _expand_flag(name, pair[2])
        else:
            expanded.append(f"--{name}={pair[2]}")
    return expanded


def _hyphenated(name: str) -> str:
    return name.lower().replace("_", "-")


def _expand_flag(name: str, value: str) -> list[str]:
    if value.lower() not in ("true", "false"):
        raise UsageError(Code.USAGE, text=f"{name}= takes true or false")
    return [f"--{name}"] if value.lower() == "true" else []


def _refuse_stray_pit(words: Sequence[str]) -> None:
    """Raise UsageError for a PIT among the bare words: taken as search text, the call would run in open mode."""
    for before, word in zip(("", *words), words, strict=False):
        if parse_pit(word) or (before.casefold() == "pit" and word[:1].isdigit()):
            raise UsageError(Code.USAGE, text="there is a timestamp among the words: write --pit before it")


def chosen_format(given: Mapping[str, Any]) -> str | None:
    """Return the format that the options state or imply; None for the default. Raise UsageError for a contradiction.

    >>> chosen_format({"output": "page.HTML"}), chosen_format({"output": "notes.txt"}), chosen_format({"pretty": True})
    ('html', None, 'json')
    """
    stated = None if "format" not in given else parse_value(FORMAT, given["format"])
    if "json" in given:
        if stated not in (None, "json"):
            raise UsageError(Code.USAGE, text=f"--json and --format {stated} contradict each other: leave one out")
        stated = "json"
    if "csv_safe" in given:
        if stated not in (None, "csv"):
            raise UsageError(Code.USAGE, text=f"--csv-safe is of CSV: leave it out, or --format {stated}")
        stated = "csv"
    ending = _ending(parse_value(OUTPUT, given["output"])) if "output" in given else ""
    if "open" in given and (stated or ENDINGS.get(ending, "html")) != "html":
        raise UsageError(Code.USAGE, text="--open shows a page: leave it out, or let --format and --output be of html")
    implied = ENDINGS.get(ending)
    if implied is not None:
        if stated not in (None, implied):
            text = f"--output ends with .{ending}, but --format is {stated}: leave out --format, or rename the file"
            raise UsageError(Code.USAGE, text=text)
        return implied
    if ending in _PACKED.split():
        text = f"--output is not compressed: leave .{ending} out of its name, and compress the file afterwards"
        raise UsageError(Code.USAGE, text=text)
    if stated is None and ending in _OTHERS.split():
        endings = ", ".join(f".{name}" for name in NAMES if name in ENDINGS)
        raise UsageError(Code.USAGE, text=f"no format is .{ending}: let --output end with one of {endings}")
    if stated is None and ending.isalnum():
        from pit_fetch.courtesy.names import closest

        meant = closest(ending, ENDINGS)
        if meant:
            text = f"no format is .{ending}: let --output end with .{meant}, or give --format"
            raise UsageError(Code.USAGE, text=text)
    if "open" in given:
        return "html"
    # On a terminal the default is a table, which has no indent.
    return "json" if stated is None and "pretty" in given else stated


def _ending(path: str) -> str:
    """Return what follows the last dot of a file's name, in lower case; "" without a dot."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
