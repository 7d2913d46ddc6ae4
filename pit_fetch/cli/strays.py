"""Explain why a command other than a fetch refuses arguments that it does not know. Loaded only to refuse one. Pure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

from pit_fetch.cli.aliases import option_hint
from pit_fetch.support.suggest import truncate
from pit_fetch.times import parse_pit

_TRUTHS = frozenset(["true", "false", "yes", "no", "1", "0"])
_ARCHIVES = (".db", ".sqlite", ".sqlite3")


def problem(argv: Sequence[str], unknown: Sequence[str], actions: Sequence[argparse.Action], advice: str) -> str:
    """Return what is wrong with a command line of which ``unknown`` are the arguments that the parser does not know.

    ``advice`` is the command's own, for what nothing better can be said of.
    """
    options = {flag: action for action in actions for flag in action.option_strings}
    words = list(_without_values(unknown))
    hints = [option_hint(name, options) if name.startswith("-") else "" for name in words]
    fix = _fix(argv, next((word for word in words if not word.startswith("-")), ""), options)
    if fix and not any(hints):
        return fix
    if "--archive" in options and "--pit" not in options and not any(word.startswith("-") for word in words):
        advice = advice or "an archive is named with --archive PATH"
    listed = ", ".join(truncate(name) + hint for name, hint in zip(words, hints, strict=True))
    return f"unrecognized arguments: {listed}{f' ({advice})' if advice and not any(hints) else ''}"


def _without_values(unknown: Sequence[str]) -> Iterator[str]:
    """Yield the unknown arguments, without the value of an unknown option, and without what may be a key."""
    for before, word in zip(("", *unknown), unknown, strict=False):
        is_value = before.startswith("-") and "=" not in before and not word.startswith("-")
        if not is_value:
            yield word.partition("=")[0]


def _fix(argv: Sequence[str], word: str, options: Mapping[str, argparse.Action]) -> str:
    """Return how to write a ``word`` that stands where none is expected; "" if that is not obvious."""
    place = next((n for n, each in enumerate(argv) if each.partition("=")[0] == word), len(argv)) if word else 0
    two, before = ["", "", *argv][place : place + 2]
    option = options.get(before)
    if before == "=" and two.startswith("-"):
        return f"write {two} VALUE, without an equals sign"
    if option is not None and option.nargs == 0 and word.casefold() in _TRUTHS:
        return f"{before} takes no value: write it on its own, or leave it out"
    if two in options and "," in str(options[two].metavar):
        return f"the values of a list are separated by commas: {two} {options[two].metavar}"
    if word and parse_pit(word) and "--pit" in options:
        return f"write --pit before a timestamp: --pit {word}"
    if "--archive" in options and word.endswith(_ARCHIVES):
        return f"an archive is named with --archive PATH: --archive {truncate(word)}"
    return ""
