"""From a command line to a :class:`~pit_fetch.request.fetch_request.FetchRequest`.

Both call forms (``EARNINGS symbol=AAPL`` and ``--op EARNINGS --symbol AAPL``) give the same request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.cli.parser import COMMON_FLAGS, COMMON_WITH_VALUE, FETCH, Form, build_parser
from pit_fetch.errors import UsageError
from pit_fetch.formats import BINARY
from pit_fetch.gaps import Code
from pit_fetch.provider import Provider
from pit_fetch.request.audience import CLIENT_VARIABLE, MAX_CHARS_UNDER_AGENT
from pit_fetch.request.fetch_request import FetchRequest, build
from pit_fetch.request.operations import check_operation
from pit_fetch.request.options import require_pit
from pit_fetch.request.values import flag_of, parse_value
from pit_fetch.times import parse_pit

# A fetch has no command. These would be taken for an operation, or for a word to search for.
_VERBS = frozenset(["fetch", "get", "run", "query", "search", "download", "pull", "ask", "call", "export", "pit_fetch"])
# Words that follow a flag in other tools. Here each would be a word to search for.
_TRUTHS = frozenset(["true", "false"])
_IMPLY_A_FORMAT = frozenset(["json", "open", "output", "pretty"])
_BEHIND_A_BLANK = re.compile(r"\s([A-Za-z][A-Za-z0-9_-]*)=")
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
    if not given.keys().isdisjoint(_IMPLY_A_FORMAT):
        from pit_fetch.cli.output_format import chosen

        given |= {"format": format_name} if (format_name := chosen(given)) else {}
    max_chars = MAX_CHARS_UNDER_AGENT if environ.get(CLIENT_VARIABLE) else 0
    parsed = {} if pit is None else {"pit": pit}
    request = build({**defaults, **given}, provider, environ, max_chars, parsed, form.name)
    if not form.asks_source:
        request = request._replace(canonical=request.canonical.replace(f"--source {provider.name}", form.name, 1))
    if request.format in BINARY and not request.output:
        raise UsageError(Code.USAGE, text=f"--format {request.format} needs --output FILE")
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
    try:
        namespace, unknown = parser.parse_known_intermixed_args(expanded[:end])
    except UsageError as error:
        if error.gap.code is Code.PIT_REPEATED and "diff" in argv:
            text = f"a command comes first: pit_fetch diff --source {provider.name} ..."
            raise UsageError(Code.USAGE, text=text) from None
        raise
    if unknown:
        from pit_fetch.cli.refusals import unrecognized

        # Without the values, which may be keys.
        names = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        raise UsageError(Code.USAGE, text=unrecognized(names, parser.flags, provider))
    values = vars(namespace)
    words = values.pop("words", [])
    quoted = next((word for word in words if word.startswith("--")), "")
    if quoted:  # argparse does not take an argument with a space in it for an option
        from pit_fetch.cli.refusals import quoted_option

        raise UsageError(Code.USAGE, text=quoted_option(quoted))
    words += expanded[end + 1 :]
    # The PIT comes first: if there is a space in it, its second half is among the words.
    pit = require_pit(values["pit"], words) if "pit" in values else None
    if pit is None:
        _refuse_stray_pit(words)
    return {**values, **_positional(values, words, argv, provider, form)}, pit


def _positional(
    values: Mapping[str, Any], words: list[str], argv: Sequence[str], provider: Provider, form: Form
) -> dict[str, str]:
    """Return the option that bare words fill, with its text."""
    if not words:
        return {}
    if not _TRUTHS.isdisjoint(words):
        from pit_fetch.cli.refusals import check_flags

        flags = [flag_of(option.name) for option in provider.options if option.kind == "flag"]
        check_flags(argv, {*flags, *COMMON_FLAGS} - COMMON_WITH_VALUE, _TRUTHS)
    if argv[0] in _VERBS and argv[0] not in [operation.name for operation in provider.operations]:
        from pit_fetch.cli.refusals import no_command

        raise UsageError(Code.USAGE, text=no_command(argv[0], provider))
    option = next((option for option in provider.options if option.positional), None)
    if option is None or (option.positional == "one" and (len(words) > 1 or words[0].startswith("{"))):
        from pit_fetch.cli.refusals import surplus_words

        raise UsageError(Code.USAGE, text=surplus_words(words, argv, provider, form, values))
    if option.name in values:
        raise UsageError(Code.USAGE, text=f"{flag_of(option.name)} is given twice, as an option and as a word")
    text = " ".join(words)
    try:
        check_operation(provider, {option.name: parse_value(option, text)})
    except UsageError as error:
        from pit_fetch.cli.refusals import no_operation

        raise UsageError(Code.USAGE, text=no_operation(str(error), words, argv, values, provider)) from None
    return {option.name: text}


def _expand_pairs(argv: Sequence[str], provider: Provider) -> list[str]:
    """Return ``argv`` with each ``key=value`` word that names a provider's option as ``--key=value``."""
    names = {option.name.replace("_", "-"): option for option in provider.options}
    takes_value = COMMON_WITH_VALUE | {"--" + name for name, option in names.items() if option.kind != "flag"}
    free_words = any(option.positional == "all" for option in provider.options)
    if not all(map(str.isascii, argv)):
        from pit_fetch.cli.refusals import check_characters

        check_characters(argv, takes_value)
    expanded: list[str] = []
    literal = is_value = False
    for before, word in zip(("", *argv), argv, strict=False):
        literal = literal or word == "--"
        joined = [] if is_value and before != "--op" else _BEHIND_A_BLANK.findall(word)
        if joined:
            from pit_fetch.cli.refusals import check_joined

            check_joined(joined, names)
        pair = None if literal or is_value else _KEY_VALUE.fullmatch(word)
        is_value = not literal and not is_value and word in takes_value
        name = pair[1].lower().replace("_", "-") if pair else ""
        if pair is None or (name not in names and free_words and _is_text(name, provider)):
            expanded.append(word)
        elif name not in names:
            from pit_fetch.cli.refusals import unknown_pair

            raise UsageError(Code.USAGE, text=unknown_pair(name, provider))
        elif names[name].kind == "flag":
            expanded += _flag_pair(name, pair[2])
        else:
            expanded.append(f"--{name}={pair[2]}")
    return expanded


def _is_text(name: str, provider: Provider) -> bool:
    """Return whether a word that begins with ``name=`` is one to search for, and no option by another name."""
    from pit_fetch.cli.aliases import is_key
    from pit_fetch.cli.refusals import pair_hint

    is_another = len(name) > 1 and "did you mean" in pair_hint(name, provider)
    return f"--{name}" not in COMMON_WITH_VALUE and not is_key(name) and not is_another


def _flag_pair(name: str, value: str) -> list[str]:
    if value.lower() not in ("true", "false"):
        raise UsageError(Code.USAGE, text=f"{name}= takes true or false")
    return [f"--{name}"] if value.lower() == "true" else []


def _refuse_stray_pit(words: Sequence[str]) -> None:
    """Raise UsageError for a PIT among the bare words: taken as search text, the call would run in open mode."""
    for before, word in zip(("", *words), words, strict=False):
        if parse_pit(word) or (before.casefold() == "pit" and word[:1].isdigit()):
            raise UsageError(Code.USAGE, text="there is a timestamp among the words: write --pit before it")
