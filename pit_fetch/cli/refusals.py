"""Explain why a command line is refused, and the fix. Loaded only to refuse one, or if it is not plain ASCII. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from pit_fetch.cli import aliases, bare_words
from pit_fetch.cli.commands import COMMANDS
from pit_fetch.cli.parser import COMMON_WITH_VALUE, Form
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import Provider
from pit_fetch.request.operations import OPTION
from pit_fetch.request.values import flag_of, without_invisible
from pit_fetch.support import suggest

# Word processors and chat windows turn quotes into these, and two hyphens into a dash. No shell knows them.
_CURLY_QUOTE = re.compile("(?:-{0,2}[A-Za-z][A-Za-z0-9_-]*=?)?[\u2018\u201a-\u201f]")
_LONG_DASH = re.compile("-?[\u2010-\u2014\u2212]-?[A-Za-z]")
_OFFSET = re.compile(r"-[0-9]{1,2}:?[0-9]{2}")


def check_characters(argv: Sequence[str], takes_value: Collection[str] = COMMON_WITH_VALUE) -> None:
    """Raise UsageError for a character that looks like one of the shell's.

    ``takes_value`` are the options that are followed by a value, which may begin with a dash of any length.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    for before, word in zip(("", *argv), argv[:end], strict=False):
        if before == "--pit" or word.startswith("--pit="):
            continue  # what is wrong with a timestamp is said with the form that it should have
        if _CURLY_QUOTE.match(word):
            raise UsageError(Code.USAGE, text="curly quotes do not quote in a shell: write straight ones")
        if before in takes_value:
            continue
        if _LONG_DASH.match(word):
            hint = aliases.option_hint(word.partition("=")[0], takes_value)
            raise UsageError(Code.USAGE, text=f"an option starts with a long dash: write two hyphens{hint}")
        if _is_option_with_invisible(word):
            raise UsageError(Code.USAGE, text=f"there is an invisible character beside an option: {_TYPE_IT}")


_TYPE_IT = "type it, and the blank beside it, again"


def _is_option_with_invisible(word: str) -> bool:
    head = word.partition("=")[0]
    plain = without_invisible(head).strip()
    return plain != head and re.match(r"--?[A-Za-z]", plain) is not None


def check_flags(argv: Sequence[str], flags: Collection[str], values: Collection[str]) -> None:
    """Raise UsageError for a flag that is followed by one of ``values``: it would be a word to search for."""
    for flag, word in pairwise(argv):
        if flag in flags and word in values:
            raise UsageError(Code.USAGE, text=f"{flag} takes no value: write it on its own, or leave it out")


def check_joined(joined: Iterable[str], names: Collection[str]) -> None:
    """Raise UsageError if one of ``joined``, which follow a blank as in ``"news symbol=AAPL"``, is of ``names``."""
    for name in joined:
        if name.lower().replace("_", "-") in names:
            text = f"{name}= is in one pair of quotes with what stands before it: write two words"
            raise UsageError(Code.USAGE, text=text)


def quoted_option(word: str) -> str:
    """Return the reason for an option that is in one pair of quotes with its value, as in ``"--limit 3"``."""
    return f"{suggest.truncate(word.split()[0])} is in one pair of quotes with its value: write two words"


def unrecognized(names: Sequence[str], flags: Iterable[str], provider: Provider) -> str:
    """Return the reason for unknown options. ``names`` are without the values, which may be keys."""
    if any(map(_OFFSET.fullmatch, names)):  # --pit 2024-02-15T16:00:00 -05:00
        return "an offset stands alone: write the timestamp as one word, without spaces"
    hints = dict.fromkeys(_unknown_option(name, flags, provider) for name in names)
    return f"unrecognized arguments: {', '.join(hints) or 'words'}; see --help"


def _unknown_option(name: str, flags: Iterable[str], provider: Provider) -> str:
    joined = re.match(r"(--[A-Za-z][A-Za-z0-9_-]*):.", name)
    if joined:
        return f"{suggest.truncate(joined[1])}: (write {suggest.truncate(joined[1])} VALUE)"
    hint = option_hint(name, flags, provider)
    # It may be the second half of what was meant as one value, and that value a key.
    is_named = hint or len(name) == 2 or name.startswith("--")
    return suggest.truncate(name) + hint if is_named else "a word that begins with a hyphen"


def option_hint(name: str, flags: Iterable[str], provider: Provider) -> str:
    """Return the hint for an option that the provider does not have, or ""."""
    variables = [variable for credential in provider.credentials for variable in credential.variables]
    search_terms = {option.name: option.search_terms for option in provider.options if option.search_terms}
    return aliases.option_hint(name, flags, variables, search_terms)


def unknown_pair(name: str, provider: Provider) -> str:
    """Return the reason for ``name=VALUE``, where no option of the provider has that name."""
    if f"--{name}" in COMMON_WITH_VALUE:
        return f"{name}=... is a common option: write --{name} VALUE"
    return f"{suggest.truncate(name)}=... is not an option of {provider.name}{pair_hint(name, provider)}; see --help"


def pair_hint(name: str, provider: Provider) -> str:
    """Return the hint for ``name=VALUE``, where no option of the provider has that name; or ""."""
    flags = [*(flag_of(option.name) for option in provider.options), *COMMON_WITH_VALUE]
    parts = aliases.first_part_hint(name, (option.name for option in provider.options))
    return parts or option_hint(name, flags, provider)


def no_command(verb: str, provider: Provider) -> str:
    """Return the reason for a verb before ``--source``, as in ``pit_fetch fetch --source ...``."""
    return f"a fetch has no command: leave out {verb!r}, and write pit_fetch --source {provider.name} ..."


def surplus_words(
    words: Sequence[str], argv: Sequence[str], provider: Provider, form: Form, given: Collection[str]
) -> str:
    """Return the reason for words where the provider takes none, or one. ``given`` are the options beside them."""
    if not form.asks_source:
        return f"{form.name} takes no bare words: it reads standard input (< FILE), or --input-file FILE; see --help"
    names = {option.name.replace("_", "-"): option for option in provider.options}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        name, separator, _ = word.partition(":")
        if name.lower().replace("_", "-") in names and (separator or following.startswith("=")):
            return f"write {name}=VALUE: an equals sign, without spaces around it"
    flags = {*COMMON_WITH_VALUE, *map(flag_of, names)}
    if words[0][:1] in ("/", "+") and f"--{words[0][1:]}" in flags:
        return f"an option begins with two hyphens: write --{words[0][1:]}"
    option = next((option for option in provider.options if option.positional), None)
    if misplaced := _misplaced(words, argv, provider):
        return misplaced
    written = bare_words.example(words, given, provider)
    if option is None:
        return f"{provider.name} takes no bare words: write {written or '--name VALUE or name=VALUE; see --help'}"
    takes = f"{provider.name} takes one bare word ({option.name}), not {len(words)}"
    if option.name != OPTION:
        return f"{takes}: for several, ask a panel, with --over {option.name}=A,B"
    return f"{takes}: {_others(provider, written)}"


def _misplaced(words: Sequence[str], argv: Sequence[str], provider: Provider) -> str:
    """Return the reason for bare words that belong to something else on the line: a command, a list; "" if none do."""
    names = {option.name.replace("_", "-"): option for option in provider.options}
    begins = argv[0] == words[0] or not any(option.positional for option in provider.options)
    command = suggest.name(words[0], COMMANDS) if begins else words[0] if words[0] in COMMANDS else ""
    if command and words[0].casefold() not in [operation.name.casefold() for operation in provider.operations]:
        return f"a command comes first: pit_fetch {command} --source {provider.name} ..."
    if any(word.startswith("{") for word in words):
        return "options are not written as JSON: write name=VALUE for each"
    place = argv.index(words[0]) if words[0] in argv else 0
    before = ["", "", *argv][place : place + 2]
    if before[0] in map(flag_of, ("fields", *(name for name in names if names[name].kind == "list"))):
        return f"the values of a list are separated by commas: {before[0]} A,B"
    if before[1].endswith("=") and before[1][:-1] in {*COMMON_WITH_VALUE, *map(flag_of, names)}:
        return f"write {before[1]}VALUE, without a space behind the equals sign"
    return ""


def no_operation(
    reason: str, words: Sequence[str], argv: Sequence[str], given: Collection[str], provider: Provider
) -> str:
    """Return the reason for a bare word that is no operation, or no value of the option that it fills."""
    if misplaced := _misplaced(words, argv, provider):
        return misplaced
    written = "" if "did you mean" in reason else bare_words.example(words, given, provider)
    has_choices = any(option.positional and option.choices for option in provider.options)
    head = reason.partition("; see --help")[0].rstrip(".")
    return f"{head}; {_others(provider, written)}" if written or has_choices else reason


def _others(provider: Provider, written: str) -> str:
    """Return how to write what is not the bare word: as ``written``, or with an example."""
    if written:
        return f"write {written}"
    options = [option for option in provider.options if not option.positional and option.kind != "flag"]
    example = f", e.g. {options[0].name}={options[0].metavar or 'VALUE'}" if options else ""
    return f"write the others as name=VALUE{example}"
