"""Leaks of the guard: options that are not an adapter's, and commands that run otherwise than it read them."""

from __future__ import annotations

import re
from typing import Any

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_OPTIONS, _SHELL, _MENTIONS = ("guard: options",), ("guard: shell",), ("guard: mentions",)


def _also(name: str) -> Make:
    return lambda real: lambda environ: real(environ) | {name}


def _by_flag_alone(real: Any) -> Any:
    def check(options: list[str], allowed: Any) -> None:
        real([word for word in options if word.startswith("-") or "=" not in word] or ["--source"], allowed)

    return check


def _at_the_end(real: Any) -> Any:
    def rebuilt(call: Any, path: str, own: Any) -> str:
        command = str(real(type(call)(call.words, private=False), path, own))
        return f"{command} {gate.RELEASE_OPTION} {path}{gate.ENDING}" if call.private else command

    return rebuilt


def _until(separator: str) -> Make:
    return lambda real: lambda command: real(re.split(separator, command)[0])


def _taking_substitutions(real: str) -> str:
    return real.replace(r'[^"\\`$]', r'[^"\\]')


MUTANTS = (
    Mutant("an adapter chooses the time", "pit_guard:adapter_options", _also("timeout"), _OPTIONS),
    Mutant("an adapter reads a file", "pit_guard:adapter_options", _also("input-file"), _OPTIONS),
    Mutant("an adapter chooses by name=value", "pit_guard:_check_adapter_options", _by_flag_alone, _OPTIONS),
    Mutant("a call is rebuilt without quotes", "pit_gate:joined", lambda real: lambda words: " ".join(words), _SHELL),
    Mutant("a call names its file behind --", "pit_guard:rebuilt", _at_the_end, _SHELL),
    Mutant("the first line of a command decides", "pit_gate:runs_wrapper", _until("\n"), _MENTIONS),
    Mutant("the first program of a list decides", "pit_gate:runs_wrapper", _until(r"[;&]"), _MENTIONS),
    Mutant("a pipe may end anywhere", "pit_gate:runs_wrapper", _until(r"\|"), _MENTIONS),
    Mutant("a substitution in quotes is a text", "pit_gate:_QUOTED", _taking_substitutions, _MENTIONS),
    Mutant(
        "a here-document is a text",
        "pit_gate:_without_document",
        lambda real: lambda match: str(match["rest"]),
        _MENTIONS,
    ),
    Mutant(
        "a call is rebuilt with quotes around blanks alone",
        "pit_gate:_quoted",
        lambda real: lambda word: real(word) if " " in word else word or "''",
        _SHELL,
    ),
)
