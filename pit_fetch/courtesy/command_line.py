"""Why a command line is refused, and the fix: one table of refusals, and hints at the names that were meant. Pure.

>>> unknown_option("--since", ["--date-from", "--limit"]), unknown_option("--proxy", ["--limit"])
(' (did you mean --date-from?)', ' (set the variable HTTPS_PROXY)')
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pit_fetch.courtesy.names import COMMANDS, FETCH, KEYS, NO_OPTIONS, OPTIONS, closest, hint, normalize, synonym
from pit_fetch.errors import UsageError
from pit_fetch.formats import FORMATS, SYNONYMS
from pit_fetch.gaps import Code
from pit_fetch.provider import Option, Provider
from pit_fetch.support.wording import truncate

if TYPE_CHECKING:
    from argparse import Action

# What is typed, the answer, and the option that a command must have for it. A pattern matches four lines: the two words
# before a word, the word, the next one. The kinds in it: %(option)s of the command, %(list)s that takes several values,
# %(flag)s that takes none, %(name)s of an option of the source. The first row that matches counts.
_REFUSALS = (
    (r".*\n(%(flag)s)\n(?:true|false|yes|no|[01])\n.*", "{0} takes no value: write it on its own, or leave it out", ""),
    (r".*\n.*\n(--[\w-]+)[ =].*\n.*", "{0} is in one pair of quotes with its value: write two words", ""),
    (r".*\n.*\n(%(name)s)(?::.*\n.*|\n=.*)", "write {0}=VALUE: an equals sign, without spaces around it", ""),
    (r".*\n.*\n\{.*\n.*", "options are not written as JSON: write name=VALUE for each", ""),
    (r"(%(list)s)\n.*\n.*\n.*", "the values of a list are separated by commas: {0} A,B", ""),
    (r".*\n(%(option)s)=\n.*\n.*", "write {0}=VALUE, without a space behind the equals sign", ""),
    (r".*\n.*\n([0-9]{4}-[0-9]{2}-[0-9]{2}T\S+)\n.*", "write --pit before a timestamp: --pit {0}", "--pit"),
    (r".*\n.*\n(\S+\.(?:db|sqlite3?))\n.*", "an archive is named with --archive PATH: --archive {0}", "--archive"),
)
_KINDS = ("option", "flag", "list", "name")

# Word processors and chat windows turn quotes into these, and two hyphens into a dash. No shell knows them.
_CURLY_QUOTE = re.compile("(?:-{0,2}[A-Za-z][A-Za-z0-9_-]*=?)?[\u2018\u201a-\u201f]")
_LONG_DASH = re.compile("-?[\u2010-\u2014\u2212]-?[A-Za-z]")
_INVISIBLE = "[\u00a0\u00ad\u2007\u200b\u200e\u200f\u202f\u2060\ufeff]"
_INVISIBLE_BESIDE_OPTION = re.compile(rf"{_INVISIBLE}+--?[A-Za-z]|--?[A-Za-z][^=]*{_INVISIBLE}")

# What a word looks like -> the options that it may be a value of. A key looks like none of them.
_SHAPES = (
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "date"),
    (r"[0-9]{1,2}(?:min|[mhd])", "interval"),
    (r"[0-9]{1,10}", "cik ciks"),
    (r"[0-9]{1,2}-[A-Z](?:/A)?", "forms form"),
    (r"[\^$]?[A-Z]{1,6}(?:[.-][A-Z]{1,2})?", "symbol tickers from_symbol to_symbol"),
    (r"(?:[a-z-]{1,20}:)?(?:[A-Z][a-z]{1,20}){1,8}", "concept"),
    (r"(?:https?://)?[a-z0-9-]{1,40}(?:\.[a-z]{2,20}){1,3}/?", "url"),
    (r"[A-Za-z][a-z]{0,19}", "query keywords title"),
)
_KEYS = "keys are read from the environment or a .env file"
_TEXTS = frozenset(["query", "keywords", "title"])


def refusal(words: Collection[str], argv: Sequence[str], kinds: Mapping[str, Collection[str]]) -> str:
    """Return the answer of the first row that one of ``words`` matches, with those beside it in ``argv``; or "".

    ``kinds`` are the options of each kind.
    """
    known = {kind: "|".join(map(re.escape, kinds.get(kind, ()))) or "(?!)" for kind in _KINDS}
    padded = [re.sub(r"\s", " ", word) for word in ("", "", *argv, "")]
    for pattern, answer, needed in _REFUSALS:
        for place, word in enumerate(argv):
            is_due = word in words and (not needed or needed in kinds.get("option", ()))
            match = re.fullmatch(pattern % known, "\n".join(padded[place : place + 4])) if is_due else None
            if match:
                return answer.format(*map(truncate, match.groups()))
    return ""


def check_characters(argv: Sequence[str], takes_value: Collection[str]) -> None:
    """Raise UsageError for a character that looks like one of the shell's.

    ``takes_value`` are the options that are followed by a value, which may begin with a dash of any length.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    for before, word in zip(("", *argv), argv[:end], strict=False):
        problem = ""
        if before == "--pit" or word.startswith("--pit="):
            continue  # what is wrong with a timestamp is said with the form that it should have
        if _CURLY_QUOTE.match(word):
            problem = "curly quotes do not quote in a shell: write straight ones"
        elif before not in takes_value and _LONG_DASH.match(word):
            problem = f"write two hyphens, and no long dash{unknown_option(word.partition('=')[0], takes_value)}"
        elif before not in takes_value and _INVISIBLE_BESIDE_OPTION.match(word):
            problem = "there is an invisible character beside an option: type it, and the blank beside it, again"
        if problem:
            raise UsageError(Code.USAGE, text=problem)


def unknown_option(word: str, flags: Iterable[str], provider: Provider | None = None) -> str:
    """Return the hint for an unknown option: " (did you mean --limit?)", or ""."""
    known = [flag for flag in flags if flag.startswith("--")]
    name = normalize(word)
    if name in KEYS.split() and f"--{name}" not in known:
        variables = [name for credential in provider.credentials for name in credential.variables] if provider else []
        where = f"set {' or '.join(variables)}" if variables else "this source needs no key"
        return f" ({_KEYS}, never from the command line: {where})"
    own = {option.name: option.search_terms for option in provider.all_options} if provider else {}
    words = own | {option: f"{own.get(option, '')} {terms}" for option, terms in OPTIONS.items()}
    if not synonym(name, known, words):
        if name in (*FORMATS, *SYNONYMS):
            return f" (write --format {name})"
        for note, terms in NO_OPTIONS.items():
            if name in terms.split():
                return f" ({note})"
    return hint(word, known, words)


def unknown_options(unknown: Sequence[str], flags: Sequence[str], provider: Provider) -> str:
    """Return the reason for words that look like options and are none. Their values, which may be keys, stay out."""
    names = dict.fromkeys(word.partition("=")[0] for word in unknown if word.startswith("-"))
    if any(re.fullmatch(r"-[0-9]{1,2}:?[0-9]{2}", name) for name in names):  # --pit 2024-02-15T16:00:00 -05:00
        return "an offset stands alone: write the timestamp as one word, without spaces"
    shown: dict[str, None] = {}
    for name in names:
        advice = unknown_option(name, flags, provider)
        # What is no option's name may be the second half of a value, and that value a key.
        is_name = advice or len(name) == 2 or name.startswith("--")
        shown[f"{truncate(name)}{advice}" if is_name else "a word that begins with a hyphen"] = None
    return f"unrecognized arguments: {', '.join(shown) or 'words'}; see --help"


def unknown_pair(name: str, flags: Collection[str], provider: Provider) -> str:
    """Return the reason for ``name=VALUE``, where no option of the provider has that name."""
    if f"--{name}" in flags:
        return f"{name}=... is a common option: write --{name} VALUE"
    own = _own_flags(provider)
    # A currency pair has from_symbol and to_symbol: from=EUR is no date.
    parts = " or ".join(flag for flag in own if flag.startswith(f"--{name}-"))
    advice = f" (did you mean {parts}?)" if parts else unknown_option(name, [*own, *flags], provider)
    return f"{truncate(name)}=... is not an option of {provider.name}{advice}; see --help"


def bare_words(
    words: Sequence[str],
    argv: Sequence[str],
    given: Collection[str],
    flags: Collection[str],
    provider: Provider,
    reason: str = "",
) -> str:
    """Return the reason for bare words that the provider does not take, with the option that they were meant for.

    ``given`` are the options that the line has, ``flags`` all that there are. ``reason`` is why the option that words
    fill refuses them; "" where there are too many of them.
    """
    command = closest(words[0], COMMANDS) if argv[0] == words[0] else words[0]
    if command in COMMANDS and words[0] not in [operation.name for operation in provider.operations]:
        return f"a command comes first: pit_fetch {command} --source {provider.name} ..."
    lists = ["--fields", *_own_flags(provider, "list")]
    names = [spelling for flag in _own_flags(provider) for spelling in {flag[2:], flag[2:].replace("-", "_")}]
    if answer := refusal(words, argv, {"option": flags, "list": lists, "name": names}):
        return answer
    option = next((option for option in provider.all_options if option.positional), None)
    written = "" if "did you mean" in reason else _example(words, given, provider)
    if option is None:
        return f"{provider.name} takes no bare words: write {written or '--name VALUE or name=VALUE; see --help'}"
    others = [other for other in provider.all_options if not other.positional and other.kind != "flag"]
    example = f", e.g. {others[0].name}={others[0].metavar or 'VALUE'}" if others else ""
    fix = f"write {written or f'the others as name=VALUE{example}'}"
    if reason:
        return f"{reason.partition('; see --help')[0].rstrip('.')}; {fix}" if written or option.choices else reason
    fix = fix if option.name == "op" else f"for several, ask a panel, with --over {option.name}=A,B"
    return f"{provider.name} takes one bare word ({option.name}), not {len(words)}: {fix}"


def stray_arguments(argv: Sequence[str], unknown: Sequence[str], actions: Sequence[Action], advice: str) -> str:
    """Return what is wrong with arguments that the parser of a command other than a fetch does not know.

    ``advice`` is the command's own, for what nothing better can be said of.
    """
    options = {flag: action for action in actions for flag in action.option_strings}
    # Without the value of an unknown option, which may be a key.
    pairs = zip(("", *unknown), unknown, strict=False)
    names = [word.partition("=")[0] for before, word in pairs if word[:1] == "-" or before[:1] != "-" or "=" in before]
    hints = [unknown_option(name, options) if name.startswith("-") else "" for name in names]
    lists = [flag for flag, action in options.items() if "," in str(action.metavar)]
    flags = [flag for flag, action in options.items() if action.nargs == 0]
    words = [name for name in names if not name.startswith("-")]
    answer = refusal(words[:1], argv, {"option": options, "list": lists, "flag": flags})
    listed = ", ".join(truncate(name) + hint for name, hint in zip(names, hints, strict=True))
    if any(hints):
        return f"unrecognized arguments: {listed}"
    if not advice and "--archive" in options and words == names:
        advice = "an archive is named with --archive PATH"
    return answer or f"unrecognized arguments: {listed}{f' ({advice})' if advice else ''}"


def _own_flags(provider: Provider, kind: str = "") -> list[str]:
    return [f"--{option.name.replace('_', '-')}" for option in provider.all_options if kind in ("", option.kind)]


def _example(words: Sequence[str], given: Collection[str], provider: Provider) -> str:
    """Return how to write bare words as options, as in "symbol=AAPL"; "" if that is not obvious."""
    operations = {operation.name.casefold(): operation for operation in provider.operations}
    named = operations.get(words[0].casefold())
    default = next((str(option.default) for option in provider.all_options if option.name == "op"), "")
    operation = named or operations.get(default)
    taken = (*operation.needs, *operation.takes) if operation else ()
    known = (option for option in provider.all_options if not option.positional)
    options = {option.name: option for option in known if option.name in taken or not taken}
    written: dict[str, str] = {}
    for word in words[1:] if named else words:
        name = next(_meant(word, options, written), "")
        if not name or name in given:
            return ""
        joint = "," if options[name].kind == "list" and name not in _TEXTS else " "
        written[name] = f"{written[name]}{joint}{word}" if name in written else word
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in written.items())


def _meant(word: str, options: Mapping[str, Option], written: Collection[str]) -> Iterator[str]:
    """Yield the options that a word may be a value of, the likeliest first, but for those that have their one value."""
    shapes = [names for pattern, names in _SHAPES if re.fullmatch(pattern, word)]
    for name, option in options.items():
        if word.casefold() in map(str.casefold, option.choices):
            yield name
    for name in " ".join(shapes).split():
        if name in options and (name not in written or name in _TEXTS or options[name].kind == "list"):
            yield name


def missing_source(
    argv: Sequence[str],
    sources: Sequence[str],
    names: Sequence[str],
    flags: Sequence[str],
    search_terms: Callable[[], Mapping[str, str]],
) -> str:
    """Return what to do about a command line without a source.

    ``names`` are those of the sources and their aliases, and ``search_terms()`` returns other words for the sources.
    """
    commands = [name for name in COMMANDS if not name.startswith("-")]
    required = f"--source is required: {', '.join(sources[:-1])} or {sources[-1]} (pit_fetch --list-sources shows them)"
    words = [word for word in argv if not word.startswith("-")]
    if misplaced := next((word for word in words if word in commands), ""):
        return f"a command must come first: pit_fetch {misplaced} ..."
    for flag in (word.partition("=")[0] for word in argv if word.startswith("-") and word not in flags):
        advice = unknown_option(flag, flags)
        if advice.endswith(("--source?)", "--help?)", "--version?)", "--list-sources?)")):
            return f"unrecognized arguments: {truncate(flag)}{advice}"
    first = argv[0] if argv and not argv[0].startswith("-") else ""
    is_fetch = normalize(first) in FETCH.split()
    source = words[1] if is_fetch and len(words) > 1 else first
    if likely := source and (closest(source, sources, search_terms()) or closest(source, names)):
        return f"--source is required: write pit_fetch --source {likely} ..."
    if not first or "=" in first or is_fetch:
        return required
    if close := closest(first, COMMANDS, COMMANDS):
        return f"{truncate(first)!r} is not a command: did you mean pit_fetch {close}? A fetch starts with --source"
    return f"{required}. Commands: {', '.join(commands)}, help"
