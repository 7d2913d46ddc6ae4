"""Leaks of the guard: options that are not an adapter's, and commands that run otherwise than it read them."""

from __future__ import annotations

import os
import re
from typing import Any

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import in_module, nothing
from tests.laws.plant import Make

_OPTIONS, _SHELL, _SESSIONS = ("guard: options",), ("guard: shell",), ("guard: sessions",)
_PROGRAMS = ("guard: programs",)


def _also(name: str) -> Make:
    return lambda real: lambda environ: real(environ) | {name}


def _by_flag_alone(real: Any) -> Any:
    def check(options: list[str], allowed: Any, sources: Any) -> None:
        real([word for word in options if word.startswith("-") or "=" not in word] or ["--source"], allowed, sources)

    return check


def _at_the_end(real: Any) -> Any:
    def rebuilt(call: Any, path: str, own: Any) -> str:
        command = str(real(type(call)(call.words, private=False), path, own))
        return f"{command} {gate.RELEASE_OPTION} {path}{gate.ENDING}" if call.private else command

    return rebuilt


def _until(separator: str) -> Make:
    return lambda real: lambda command: real(re.split(separator, command)[0])


def _without_nested(real: Any) -> Any:
    def read(self: Any, *given: Any, **named: Any) -> Any:
        commands, texts = len(self.commands), len(self.texts)
        result = real(self, *given, **named)
        del self.commands[commands:], self.texts[texts:]
        return result

    return read


def _as_a_text(kind: str) -> Make:
    return lambda real: lambda self, token, text: real(self, "text" if token == kind else token, text)


def _unless_it_is_unreadable(real: Any) -> Any:
    def runs_wrapper(command: str) -> bool:
        try:
            return bool(gate._runs_wrapper(command))
        except (ValueError, KeyError, RecursionError):
            return False

    return runs_wrapper


def _by_what_it_points_to(real: Any) -> Any:
    return lambda word, folder, programs: real(os.path.realpath(os.path.join(folder, word)), folder, programs)


def _of_absolute_folders(real: Any) -> Any:
    return lambda name, path: filter(os.path.isabs, real(name, path))


_guard = in_module("pit_guard")
_gate = in_module("pit_gate")

MUTANTS = (
    _guard("any program of the name is the installed one", "_check_program", nothing, _PROGRAMS),
    _guard("any path leads to the installed program", "_is_named", lambda real: lambda *given: True, _PROGRAMS),
    _guard("a link is what it points to", "_is_named", _by_what_it_points_to, _PROGRAMS),
    _guard("a relative folder of PATH is passed over", "_found", _of_absolute_folders, _PROGRAMS),
    _guard("an adapter chooses the time", "adapter_options", _also("timeout"), _OPTIONS),
    _guard("an adapter reads a file", "adapter_options", _also("input-file"), _OPTIONS),
    _guard("an adapter chooses by name=value", "_check_adapter_options", _by_flag_alone, _OPTIONS),
    _gate("a call is rebuilt without quotes", "joined", lambda real: lambda words: " ".join(words), _SHELL),
    _guard("a call names its file behind --", "rebuilt", _at_the_end, _SHELL),
    _gate("the first line of a command decides", "runs_wrapper", _until("\n"), _SESSIONS),
    _gate("the first program of a list decides", "runs_wrapper", _until(r"[;&]"), _SESSIONS),
    _gate("a pipe may end anywhere", "runs_wrapper", _until(r"\|"), _SESSIONS),
    _gate("a substitution in quotes is a text", "_Reader.read_quoted", _without_nested, _SESSIONS),
    _gate("a here-document is a text", "_Reader._read_document", _without_nested, _SESSIONS),
    _gate("backquotes are quotes", "_Reader._part", _as_a_text("backquoted"), _SESSIONS),
    _gate(
        "a value of an option is the program", "_options_of", lambda real: lambda words, _: real(words, ""), _SESSIONS
    ),
    _gate("an assignment is the program", "_is_passing", lambda real: lambda word: False, _SESSIONS),
    _gate(
        "a shell's command is its script",
        "_shell_operand",
        lambda real: lambda words: (False, real(words)[1]),
        _SESSIONS,
    ),
    _gate("a reserved word is the program", "_RESERVED", lambda real: real - {"then", "do", "else", "{"}, _SESSIONS),
    _gate("what cannot be read is a mention", "runs_wrapper", _unless_it_is_unreadable, _SESSIONS),
    _guard("a value may be a pair behind a flag", "FLAGS", lambda real: frozenset(), _OPTIONS),
    _guard("a plugin's option takes a value", "SOURCES", lambda real: real | {"widgets"}, _OPTIONS),
    _gate(
        "a call is rebuilt with quotes around blanks alone",
        "_quoted",
        lambda real: lambda word: real(word) if " " in word else word or "''",
        _SHELL,
    ),
)
