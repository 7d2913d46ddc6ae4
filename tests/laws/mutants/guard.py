"""Leaks of the guard: options that are not an adapter's, and commands that run otherwise than it read them."""

from __future__ import annotations

import re
from typing import Any

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import in_module
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


_guard = in_module("pit_guard")
_gate = in_module("pit_gate")

MUTANTS = (
    _guard("an adapter chooses the time", "adapter_options", _also("timeout"), _OPTIONS),
    _guard("an adapter reads a file", "adapter_options", _also("input-file"), _OPTIONS),
    _guard("an adapter chooses by name=value", "_check_adapter_options", _by_flag_alone, _OPTIONS),
    _gate("a call is rebuilt without quotes", "joined", lambda real: lambda words: " ".join(words), _SHELL),
    _guard("a call names its file behind --", "rebuilt", _at_the_end, _SHELL),
    _gate("the first line of a command decides", "runs_wrapper", _until("\n"), _MENTIONS),
    _gate("the first program of a list decides", "runs_wrapper", _until(r"[;&]"), _MENTIONS),
    _gate("a pipe may end anywhere", "runs_wrapper", _until(r"\|"), _MENTIONS),
    _gate("a substitution in quotes is a text", "_QUOTED", _taking_substitutions, _MENTIONS),
    _gate("a here-document is a text", "_without_document", lambda real: lambda match: str(match["rest"]), _MENTIONS),
    _gate(
        "a call is rebuilt with quotes around blanks alone",
        "_quoted",
        lambda real: lambda word: real(word) if " " in word else word or "''",
        _SHELL,
    ),
)
