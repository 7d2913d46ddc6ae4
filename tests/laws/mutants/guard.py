"""Leaks of the guard: options that are not an adapter's, and commands that run otherwise than it read them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from pit_fetch.support.bundled import gate, load
from tests.laws.mutants.leak import in_module
from tests.laws.plant import Make

_OPTIONS, _SHELL, _SESSIONS = ("guard: options",), ("guard: shell",), ("guard: sessions",)
_PROGRAMS = ("guard: programs",)


def _also(name: str) -> Make:
    return lambda real: lambda environ: real(environ) | {name}


def _without_pairs(real: Any) -> Any:
    def decide(hook: Any, environ: Any, gate: Any) -> Any:
        command = str(hook["tool_input"].get("command"))
        try:
            return real(
                _of(hook, re.sub(r"(?<=\s)[A-Za-z][\w-]*=\S*", "--source", command)), environ, gate
            ) and _as_it_is(command)
        except Exception:  # noqa: BLE001 - whichever it is, the real guard decides
            return real(hook, environ, gate)

    return decide


def _of(hook: Any, command: str) -> Any:
    return {**hook, "tool_input": {**hook["tool_input"], "command": command}}


def _as_it_is(command: str) -> Any:
    return guard.RebuiltCommand(gate.plain_words(command), private=True)


def _at_the_end(real: Any) -> Any:
    def rebuilt(call: Any, path: str, own: Any) -> str:
        command = str(real(type(call)(call.words, private=False), path, own))
        return f"{command} {gate.RELEASE_OPTION} {path}{gate.ENDING}" if call.private else command

    return rebuilt


def _until(separator: str) -> Make:
    return lambda real: lambda command: real(re.split(separator, command)[0])


def _rewritten(pattern: str, instead: str = "") -> Make:
    """What is read is the command with ``instead`` in the place of what ``pattern`` matches."""
    return lambda real: lambda command: real(re.sub(pattern, instead, command))


def _program(change: Callable[[str, Any], str]) -> Make:
    """What is judged is the call of the program that ``change`` makes of it and of the hook."""

    def make(real: Any) -> Any:
        def decide(hook: Any, environ: Any, gate: Any) -> Any:
            command = str(hook["tool_input"].get("command"))
            words = [change(word, hook) if "fetch" in word or "python" in word else word for word in command.split(" ")]
            call = real(_of(hook, " ".join(words)), environ, gate)
            return _as_it_is(command) if isinstance(call, guard.RebuiltCommand) else call

        return decide

    return make


def _by_its_name(word: str, hook: Any) -> str:
    return "pit_fetch" if word.endswith(("pit_fetch", "pit_fetch.py")) and "python" not in str(hook) else word


def _by_what_it_points_to(word: str, hook: Any) -> str:
    return os.path.realpath(os.path.join(str(hook.get("cwd")), word)) if os.sep in word else word


def _of_absolute_folders(real: Any) -> Any:
    def decide(hook: Any, environ: Any, gate: Any) -> Any:
        folders = filter(os.path.isabs, environ.get("PATH", "").split(os.pathsep))
        return real(hook, {**environ, "PATH": os.pathsep.join(folders)}, gate)

    return decide


guard = load("pit_guard")
_guard = in_module("pit_guard")
_gate = in_module("pit_gate")

MUTANTS = (
    _guard("any program of the name is the installed one", "decide", _program(_by_its_name), _PROGRAMS),
    _guard("a link is what it points to", "decide", _program(_by_what_it_points_to), _PROGRAMS),
    _guard("a relative folder of PATH is passed over", "decide", _of_absolute_folders, _PROGRAMS),
    _guard("an adapter chooses the time", "adapter_options", _also("timeout"), _OPTIONS),
    _guard("an adapter reads a file", "adapter_options", _also("input-file"), _OPTIONS),
    _guard("an adapter chooses by name=value", "decide", _without_pairs, _OPTIONS),
    _gate("a call is rebuilt without quotes", "join_words", lambda real: lambda words: " ".join(words), _SHELL),
    _guard("a call names its file behind --", "rebuild_command", _at_the_end, _SHELL),
    _gate("the first line of a command decides", "runs_wrapper", _until("\n"), _SESSIONS),
    _gate("the first program of a list decides", "runs_wrapper", _until(r"[;&]"), _SESSIONS),
    _gate("a pipe may end anywhere", "runs_wrapper", _until(r"\|"), _SESSIONS),
    _gate("a substitution in quotes is a text", "runs_wrapper", _rewritten(r'"[^"]*\$\([^"]*"', "x"), _SESSIONS),
    _gate("a here-document is a text", "runs_wrapper", _rewritten(r"<<[\s\S]*"), _SESSIONS),
    _gate("backquotes are quotes", "runs_wrapper", _rewritten("`", "'"), _SESSIONS),
    _gate("an assignment is the program", "runs_wrapper", _rewritten(r"(?<!\S)[A-Za-z_]\w*=\S*(?=\s)", "x"), _SESSIONS),
    _gate("a reserved word is the program", "runs_wrapper", _rewritten(r"\b(then|do|else)\b|{ ", "x "), _SESSIONS),
    _gate("what cannot be read is a mention", "runs_wrapper", _rewritten("(?s)^ls ['\"`$(]+a;.*"), _SESSIONS),
    _guard("a value may be a pair behind a flag", "FLAGS", lambda real: frozenset(), _OPTIONS),
    _guard("a plugin's option takes a value", "SOURCES", lambda real: real | {"widgets"}, _OPTIONS),
)
