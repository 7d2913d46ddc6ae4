"""Why the command line of a panel is refused, and the one to write. Pure. Loaded where its words may be wrong."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentError
from collections.abc import Callable, Collection, Sequence
from itertools import takewhile

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.panels import corrections
from pit_fetch.provider import Provider

# A longer line is not repeated.
_LONGEST = 400
_RULE = "monthly 2024-01..2024-12 16:00[America/New_York]"
_REST = "--over cik=320193,789019 concept=EarningsPerShareDiluted"
EXAMPLE = f"pit_fetch panel --source sec_facts --pits '{_RULE}' {_REST}"

# Raises UsageError or ArgumentError for a line that is not understood.
Parse = Callable[[list[str]], object]


def check_instants(argv: Sequence[str], provider: Provider, parse: Parse) -> None:
    """Raise UsageError for instants that are missing, several words, or behind ``--pit``, with the line to write."""
    operations = {operation.name.casefold() for operation in provider.operations}
    rest, given = _divided(argv, operations)
    if not given:
        raise _refused("a panel needs --pits INSTANTS", rest, _RULE, parse)
    if any(flag == "--pit" for flag, _ in given):
        raise _refused("a panel has --pits", rest, _value(given), parse)
    if any(len(parts) > 1 for _, parts in given):
        raise _refused("--pits takes one word", rest, _value(given), parse)


def _divided(argv: Sequence[str], operations: Collection[str]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the words that are not of the instants, and those that are, with their flags."""
    rest: list[str] = []
    given: list[tuple[str, list[str]]] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        flag, is_joined, value = word.partition("=")
        if flag not in ("--pits", "--pit"):
            rest.append(word)
            continue
        parts = [value] if is_joined else []
        while words and (not parts or _goes_on(parts, words[0], operations)):
            parts.append(words.pop(0))
        given.append((flag, parts))
    return rest, given


def _refused(why: str, rest: Sequence[str], pits: str, parse: Parse) -> UsageError:
    place = rest.index("--source") + 2 if "--source" in rest else 0
    corrected = [*rest[:place], "--pits", pits, *rest[place:]]
    line = f"pit_fetch panel {shlex.join(corrected)}"
    # What is not understood may hold a key.
    is_shown = len(line) <= _LONGEST and _is_understood(corrected, parse)
    return UsageError(Code.USAGE, text=f"{why}: write {line if is_shown else f'--pits {shlex.quote(pits)}'}")


def check_over(argv: Sequence[str], provider: Provider) -> None:
    """Raise UsageError for values of ``--over`` that are several words of the command line."""
    operations = {operation.name.casefold() for operation in provider.operations}
    for place, word in enumerate(argv[:-1]):
        following = list(takewhile(lambda each: _is_value(each, operations), argv[place + 2 :]))
        if word == "--over" and following:
            raise UsageError(Code.USAGE, text=f"--over takes one word: write {_over([argv[place + 1], *following])}")


def no_values(given: Sequence[str], name: str) -> UsageError:
    """Return the refusal of values of ``--over`` that name no option, or of a ``name`` that is given twice."""
    if name:
        values = [text.partition("=")[2] for text in given if text.partition("=")[0].strip() == name]
        return UsageError(Code.USAGE, text=f"--over: {name} is given twice: write --over {name}={','.join(values)}")
    text = next(text for text in given if "=" not in text)
    return UsageError(Code.USAGE, text=f"--over takes an option and its values: write {_over([text])} or NAME=@FILE")


def _is_value(word: str, operations: Collection[str]) -> bool:
    is_pair = re.match(r"[A-Za-z][\w-]*=", word)
    return not (word.startswith("-") or is_pair or word.casefold() in operations)


def _over(words: Sequence[str]) -> str:
    """Return the option that several words, or one without an equals sign, were meant as."""
    match = re.fullmatch(r"\W*([A-Za-z][\w-]*)[\W_]*?(?:[\s=:]\s*[=:]?\s*(.*))?", " ".join(words), re.DOTALL)
    values = re.findall(r"[^,;\s\"'\[\]{}]+", match[2] or "") if match else []
    return f"--over {match[1] if match else 'symbol'}={','.join(map(shlex.quote, values)) or 'A,B'}"


def _goes_on(parts: Sequence[str], word: str, operations: Collection[str]) -> bool:
    """Return whether a word belongs to the instants before it: to a rule that lost its quotes, or to a list."""
    is_piece = corrections.is_rule(parts[0]) or re.match(r"[\d\[,@]", word) is not None
    return is_piece and _is_value(word, operations)


def _value(given: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the one word that was meant by several."""
    words = [word for _, parts in given for word in parts]
    return corrections.rule(" ".join(words)) if corrections.is_rule(words[0]) else corrections.listed(words)


def _is_understood(words: list[str], parse: Parse) -> bool:
    try:
        parse(words)
    except (UsageError, ArgumentError):
        return False
    return True
