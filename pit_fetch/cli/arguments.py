"""From a command line to a :class:`~pit_fetch.request.fetch_request.FetchRequest`.

Both call forms (``EARNINGS symbol=AAPL`` and ``--op EARNINGS --symbol AAPL``) give the same request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.cli import aliases
from pit_fetch.cli.commands import COMMANDS
from pit_fetch.cli.parser import COMMON_FLAGS, COMMON_WITH_VALUE, FETCH, Form, build_parser
from pit_fetch.errors import UsageError
from pit_fetch.formats import BINARY
from pit_fetch.provider import Option, Provider
from pit_fetch.request.audience import CLIENT_VARIABLE, MAX_CHARS_UNDER_AGENT
from pit_fetch.request.fetch_request import FetchRequest, build
from pit_fetch.request.options import require_pit
from pit_fetch.request.values import flag_of, parse_value
from pit_fetch.support import suggest
from pit_fetch.times import parse_pit

# Word processors and chat windows turn two hyphens into one.
_LONG_DASH = re.compile("-?[\u2010-\u2014\u2212]-?[A-Za-z]")
_KEY_VALUE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.*)", re.DOTALL)


def parse(
    argv: Sequence[str],
    provider: Provider,
    environ: Mapping[str, str],
    defaults: Mapping[str, object] = {},
    form: Form = FETCH,
) -> FetchRequest:
    """Return the request of a command line. Raise UsageError, whose reason names the fix.

    ``defaults`` are values of options that the command line does not give.
    """
    given, pit = read_options(argv, provider, form)
    if "format" not in given and given.get("pretty"):  # on a terminal the default is a table, which has no indent
        given["format"] = "json"
    max_chars = MAX_CHARS_UNDER_AGENT if environ.get(CLIENT_VARIABLE) else 0
    parsed = {} if pit is None else {"pit": pit}
    request = build({**defaults, **given}, provider, environ, max_chars, parsed)
    if not form.asks_source:
        request = request._replace(canonical=request.canonical.replace(f"--source {provider.name}", form.name, 1))
    if request.format in BINARY and not request.output:
        raise UsageError("usage", text=f"--format {request.format} needs --output FILE")
    return request


def read_options(argv: Sequence[str], provider: Provider, form: Form = FETCH) -> tuple[dict[str, Any], datetime | None]:
    """Return each option that ``argv`` gives, with its text, its texts or True; and the PIT, parsed.

    Raise UsageError, which names the fix. Other values than the PIT are not interpreted here.
    """
    parser = build_parser(provider, form)
    expanded = _expand_pairs(argv, provider)
    # What follows "--" is plain words, and is kept away from argparse: its intermixed mode parses the remainder a
    # second time, without the "--", so an option after it would count after all.
    end = expanded.index("--") if "--" in expanded else len(expanded)
    namespace, unknown = parser.parse_known_intermixed_args(expanded[:end])
    if unknown:
        raise UsageError("usage", text=_unrecognized(unknown, parser.flags, provider))
    values = vars(namespace)
    words = [*values.pop("words", []), *expanded[end + 1 :]]
    # The PIT comes first: if there is a space in it, its second half is among the words.
    pit = require_pit(values["pit"], words) if "pit" in values else None
    if pit is None:
        _refuse_stray_pit(words)
    return {**values, **_positional(values, words, provider, form)}, pit


def _unrecognized(unknown: Sequence[str], flags: Iterable[str], provider: Provider) -> str:
    # Without the values, which may be keys.
    names = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    if any(re.fullmatch(r"-[0-9]{1,2}:?[0-9]{2}", name) for name in names):  # --pit 2024-02-15T16:00:00 -05:00
        return "an offset stands alone: write the timestamp as one word, without spaces"
    hints = dict.fromkeys(_unknown_option(name, flags, provider) for name in names)
    return f"unrecognized arguments: {', '.join(hints) or 'words'}; see --help"


def _unknown_option(name: str, flags: Iterable[str], provider: Provider) -> str:
    hint = _hint(name, flags, provider)
    # It may be the second half of what was meant as one value, and that value a key.
    is_named = hint or len(name) == 2 or name.startswith("--")
    return suggest.truncate(name) + hint if is_named else "a word that begins with a hyphen"


def _positional(values: Mapping[str, Any], words: list[str], provider: Provider, form: Form) -> dict[str, str]:
    """Return the option that bare words fill, with its text."""
    if not words:
        return {}
    option = next((option for option in provider.options if option.positional), None)
    if option is None:
        raise UsageError("usage", text=_no_words(provider, words[0], form))
    if option.name in values:
        raise UsageError("usage", text=f"{flag_of(option.name)} is given twice, as an option and as a word")
    if option.positional == "one" and len(words) > 1:
        raise UsageError("usage", text=_one_word(option, len(words), provider))
    text = " ".join(words)
    if option.choices:
        try:
            parse_value(option, text)
        except UsageError as error:
            raise UsageError("usage", text=f"{error}{_others(provider)}") from None
    return {option.name: text}


def _hint(name: str, flags: Iterable[str], provider: Provider) -> str:
    variables = [variable for credential in provider.credentials for variable in credential.variables]
    search_terms = {option.name: option.search_terms for option in provider.options if option.search_terms}
    return aliases.option_hint(name, flags, variables, search_terms)


def _expand_pairs(argv: Sequence[str], provider: Provider) -> list[str]:
    """Return ``argv`` with each ``key=value`` word that names a provider's option as ``--key=value``."""
    names = {option.name.replace("_", "-"): option for option in provider.options}
    flags = [*COMMON_FLAGS, *(f"--{name}" for name in names)]
    takes_value = COMMON_WITH_VALUE | {"--" + name for name, option in names.items() if option.kind != "flag"}
    free_words = any(option.positional == "all" for option in provider.options)
    expanded: list[str] = []
    literal = is_value = False
    for word in argv:
        literal = literal or word == "--"
        was_value = is_value
        pair = None if literal or is_value else _KEY_VALUE.fullmatch(word)
        is_value = not literal and not is_value and word in takes_value
        name = pair[1].lower().replace("_", "-") if pair else ""
        if not literal and not was_value and _LONG_DASH.match(word):
            hint = _hint(word.partition("=")[0], flags, provider)
            raise UsageError("usage", text=f"an option starts with a long dash: write two hyphens{hint}")
        is_text = name not in names and free_words and f"--{name}" not in COMMON_WITH_VALUE and not aliases.is_key(name)
        if pair is None or is_text:
            expanded.append(word)
        elif name not in names:
            raise UsageError("usage", text=_unknown_pair(name, provider))
        elif names[name].kind == "flag":
            expanded += _flag_pair(name, pair[2])
        else:
            expanded.append(f"--{name}={pair[2]}")
    return expanded


def _flag_pair(name: str, value: str) -> list[str]:
    if value.lower() not in ("true", "false"):
        raise UsageError("usage", text=f"{name}= takes true or false")
    return [f"--{name}"] if value.lower() == "true" else []


def _unknown_pair(name: str, provider: Provider) -> str:
    if f"--{name}" in COMMON_WITH_VALUE:
        return f"{name}=... is a common option: write --{name} VALUE"
    flags = [*(flag_of(option.name) for option in provider.options), *COMMON_WITH_VALUE]
    hint = aliases.first_part_hint(name, (option.name for option in provider.options)) or _hint(name, flags, provider)
    return f"{suggest.truncate(name)}=... is not an option of {provider.name}{hint}; see --help"


def _no_words(provider: Provider, word: str, form: Form) -> str:
    if not form.asks_source:
        return f"{form.name} takes no bare words: it reads standard input (< FILE), or --input-file FILE; see --help"
    command = suggest.name(word, COMMANDS)
    if command:
        return f"a command comes first: pit_fetch {command} --source {provider.name} ..."
    several = next((option for option in provider.options if option.kind == "list"), None)
    lists = f", and separate several values with commas ({flag_of(several.name)} A,B)" if several else ""
    return f"{provider.name} takes no bare words: write --name VALUE or name=VALUE{lists}; see --help"


def _one_word(option: Option, count: int, provider: Provider) -> str:
    return f"{provider.name} takes one bare word ({option.name}), not {count}{_others(provider, ': ')}"


def _others(provider: Provider, before: str = "; ") -> str:
    """Return how to write the options that are not that word."""
    others = [other for other in provider.options if not other.positional and other.kind != "flag"]
    example = f", e.g. {others[0].name}={others[0].metavar or 'VALUE'}" if others else ""
    return f"{before}write the others as name=VALUE{example}"


def _refuse_stray_pit(words: Sequence[str]) -> None:
    """Raise UsageError for a PIT among the bare words: taken as search text, the call would run in open mode."""
    for before, word in zip(("", *words), words, strict=False):
        if parse_pit(word) or (before.casefold() == "pit" and word[:1].isdigit()):
            raise UsageError("usage", text="there is a timestamp among the words: write --pit before it")
