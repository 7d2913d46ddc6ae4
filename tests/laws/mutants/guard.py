"""Leaks of the guard: options that are not an adapter's, and commands that run otherwise than it read them."""

from __future__ import annotations

from typing import Any

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_OPTIONS, _SHELL, _MENTIONS = ("guard: options",), ("guard: shell",), ("guard: mentions",)


def _also(name: str) -> Make:
    return lambda real: lambda environ: real(environ) | {name}


def _by_flag_alone(real: Any) -> Any:
    def refuse(options: list[str], allowed: Any) -> Any:
        return real([word for word in options if word.startswith("-") or "=" not in word] or ["--source"], allowed)

    return refuse


def _at_the_end(real: Any) -> Any:
    def rebuilt(verdict: Any, path: str, own: Any) -> str:
        command = str(real(type(verdict)(verdict.refusal, verdict.words), path, own))
        return f"{command} {gate.RELEASE_OPTION} {path}{gate.ENDING}" if verdict.private else command

    return rebuilt


def _first_alone(real: Any) -> Any:
    return lambda text, pieces: (real(text, pieces) or [])[:1] or None


def _without_pipes(real: Any) -> Any:
    return lambda text, pieces: [("", words) for _, words in real(text, pieces) or []] or None


MUTANTS = (
    Mutant("an adapter chooses the time", "pit_guard:adapter_options", _also("timeout"), _OPTIONS),
    Mutant("an adapter reads a file", "pit_guard:adapter_options", _also("input-file"), _OPTIONS),
    Mutant("an adapter chooses by name=value", "pit_guard:_refuse_unknown", _by_flag_alone, _OPTIONS),
    Mutant("a call is rebuilt without quotes", "pit_gate:joined", lambda real: lambda words: " ".join(words), _SHELL),
    Mutant("a call names its file behind --", "pit_guard:rebuilt", _at_the_end, _SHELL),
    Mutant("any program only mentions", "pit_gate:_is_reader", lambda real: lambda words: True, _MENTIONS),
    Mutant(
        "a call is rebuilt with quotes around blanks alone",
        "pit_gate:_quoted",
        lambda real: lambda word: real(word) if " " in word else word or "''",
        _SHELL,
    ),
    Mutant("any command of a list is nameless", "pit_gate:_is_nameless", lambda real: lambda words: True, _MENTIONS),
    Mutant("a pipe may end anywhere", "pit_gate:_commands", _without_pipes, _MENTIONS),
    Mutant("the first program of a list decides", "pit_gate:_commands", _first_alone, _MENTIONS),
)
