"""Leaks of the gate: what it does not look at, which PIT it takes, what it takes for a plain call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import in_module, nothing
from tests.laws.plant import Make

_JUDGE, _HOOK, _SHELL, _RELEASE = ("gate: judges",), ("gate: hook",), ("guard: shell",), ("gate: releases",)


# The envelope.


def _read_as(change: Callable[[str], str]) -> Make:
    """The text that is judged is the envelope as ``change`` makes it."""
    return lambda real: lambda text, pit: real(change(text), pit)


def _with(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Make:
    """The items that are judged are as ``change`` makes them."""

    def changed(text: str) -> str:
        try:
            tree = json.loads(text)
            assert "NaN" not in text
        except (ValueError, AssertionError):
            return text
        if not isinstance(tree, dict) or not isinstance(tree.get("data"), list):
            return text
        return json.dumps({**tree, "data": [change(item) if isinstance(item, dict) else item for item in tree["data"]]})

    return _read_as(changed)


def _at_the_top(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if not isinstance(value, (dict, list))}


def _without_other_spellings(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name.strip().lower() == name or "_at" not in name.lower()}


def _in_lower_case_alone(text: str) -> str:
    names = re.compile("|".join(gate.FORBIDDEN_KEYS), re.IGNORECASE)
    return names.sub(lambda match: match[0] if match[0] in gate.FORBIDDEN_KEYS else "harmless", text)


def _without_repeats(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return text


def _known_keys_alone(text: str) -> str:
    try:
        tree = json.loads(text)
    except ValueError:
        return text
    return json.dumps(
        {name: tree[name] for name in ("data", "gaps") if name in tree} if isinstance(tree, dict) else tree
    )


def _texts_in(root: Any, of_value: Callable[[str], str], of_name: Callable[[str], str] = str) -> Any:
    if isinstance(root, dict):
        return {of_name(name): _texts_in(value, of_value, of_name) for name, value in root.items()}
    if isinstance(root, list):
        return [_texts_in(part, of_value, of_name) for part in root]
    return of_value(root) if isinstance(root, str) else root


def _unless(pattern: str) -> Callable[[str], str]:
    return lambda text: "" if re.match(pattern, text) else text


def _quoting(of_value: Callable[[str], str] = str, of_name: Callable[[str], str] = str) -> Make:
    """The texts that may quote an envelope are read as these make them."""
    return lambda real: lambda root, pit: real(_texts_in(root, of_value, of_name), pit)


_BLANK, _JSON, _QUOTED = r"[\s\ufeff]", r"[\s\ufeff]*[\[{\"]", r"[\s\ufeff]*\""


# The hook.


def _latest_pit(real: Any) -> Any:
    def pits_in(command: str) -> Any:
        named = real(command)
        dated = [(gate.parse_pit(pit), pit) for pit in named]
        return named if not named or any(moment is None for moment, _ in dated) else [max(dated)[1]]

    return pits_in


def _at_the_top_alone(real: Any) -> Any:
    def pits_of(tool_input: Any) -> Any:
        if isinstance(tool_input, dict):
            tool_input = {name: value for name, value in tool_input.items() if not isinstance(value, (dict, list))}
        return real(tool_input)

    return pits_of


def _without_json_text(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _without_json_text(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_without_json_text(value) for value in node]
    return "" if isinstance(node, str) and node.lstrip()[:1] in ("{", "[") else node


def _left_behind(real: Any) -> Any:
    def respond(hook: Any, ceiling: Any = None) -> Any:
        path = gate.prepared_call(hook)[1]
        text = Path(path).read_text() if path else ""
        answer = real(hook, ceiling)
        if path:
            Path(path).write_text(text)
        return answer

    return respond


def _answered_with(change: Callable[[Any], Any]) -> Make:
    """The response of a call is judged as ``change`` makes it."""
    return lambda real: lambda hook, ceiling=None: real({**hook, "tool_response": change(hook)}, ceiling)


def _silent_if_prepared(hook: Any) -> Any:
    response = hook.get("tool_response")
    return {"stdout": gate.SENTINEL, "stderr": ""} if gate.prepared_call(hook)[1] else response


def _clean_if_empty(hook: Any) -> Any:
    response = hook.get("tool_response")
    is_empty = response is None or (isinstance(response, dict) and not any(response.values()))
    return {"stdout": '{"data": [], "gaps": []}', "stderr": ""} if is_empty else response


# The command line.

_MARK = "x0x"


def _any_reading(real: Any) -> Any:
    """A wall clock in a zone, read as Python reads it: the first of two, and one that no clock shows."""

    def parse_pit(text: Any) -> Any:
        clock, bracket, name = str(text).rstrip("]").partition("[")
        moment = gate.parse_iso8601(clock + "Z") if bracket else None
        return real(text) if moment is None else moment.replace(tzinfo=ZoneInfo(name)).astimezone(UTC)

    return parse_pit


def _any_offset(real: Any) -> Any:
    return lambda text: gate.parse_iso8601(str(text).partition("[")[0]) or real(text)


def _harmless(pattern: str) -> Make:
    """What ``pattern`` matches is read as it stands, whatever a shell makes of it."""

    def make(real: Any) -> Any:
        def plain_words(command: str) -> Any:
            taken = re.findall(pattern, command)
            words = real(re.sub(pattern, _MARK, command))
            for text in taken if words else ():
                place = next(place for place, word in enumerate(words) if _MARK in word)
                words[place] = words[place].replace(_MARK, text, 1)
            return words

        return plain_words

    return make


_gate = in_module("pit_gate")

MUTANTS = (
    _gate(
        "the gate is a day late",
        "check",
        lambda real: lambda text, pit: real(text, pit + timedelta(days=1)),
        _JUDGE,
    ),
    _gate("the gate rounds stamps down", "parse_iso8601", lambda real: lambda text, round_up=False: real(text), _JUDGE),
    _gate("a PIT's wall clock may mean two instants", "parse_pit", _any_reading, ("gate: zones",)),
    _gate("a PIT's offset need not be its zone's", "parse_pit", _any_offset, ("gate: zones",)),
    _gate(
        "the gate overlooks revisions",
        "check",
        _with(lambda item: {name: value for name, value in item.items() if name != "revised_at"}),
        _JUDGE,
    ),
    _gate(
        "the gate overlooks first_seen_at",
        "check",
        _with(lambda item: {name: value for name, value in item.items() if name != "first_seen_at"}),
        _JUDGE,
    ),
    _gate("the gate overlooks nested stamps", "check", _with(_at_the_top), _JUDGE),
    _gate("the gate knows a forbidden key in lower case alone", "check", _read_as(_in_lower_case_alone), _JUDGE),
    _gate("the gate takes a repeated key", "check", _read_as(_without_repeats), _JUDGE),
    _gate("the gate overlooks an envelope in a text", "check_texts", nothing, _JUDGE),
    _gate("the gate overlooks an envelope behind a blank", "check_texts", _quoting(_unless(_BLANK)), _JUDGE),
    _gate("the gate overlooks an envelope in a key", "check_texts", _quoting(str, _unless(_JSON)), _JUDGE),
    _gate(
        "the gate overlooks an envelope that is quoted twice",
        "check_texts",
        _quoting(_unless(_QUOTED), _unless(_QUOTED)),
        _JUDGE,
    ),
    _gate("the gate knows a stamp in lower case alone", "check", _with(_without_other_spellings), _JUDGE),
    _gate(
        "the gate overlooks a module behind -m",
        "runs_wrapper",
        lambda real: lambda command: real(re.sub("-m pit_fetch", "-m x", command)),
        _HOOK,
    ),
    _gate("the gate judges diff at the earlier PIT", "is_diff", lambda real: lambda words: False, _HOOK),
    _gate("the gate judges any call at the latest of two PITs", "is_diff", lambda real: lambda words: True, _HOOK),
    _gate("the gate takes NaN", "check", _read_as(lambda text: text.replace("NaN", "0")), _JUDGE),
    _gate("the gate takes unknown keys", "check", _read_as(_known_keys_alone), _JUDGE),
    _gate(
        "the gate takes any source",
        "check",
        _with(lambda item: {**item, "available_at_source": "provider_metadata"}),
        _JUDGE,
    ),
    _gate("the gate takes the latest of two PITs", "pits_in", _latest_pit, _HOOK),
    _gate("the gate leaves a private file behind", "respond", _left_behind, _RELEASE),
    _gate(
        "the gate overlooks what a prepared call shows",
        "respond",
        _answered_with(_silent_if_prepared),
        _RELEASE,
    ),
    _gate(
        "the gate takes a listing with more behind it",
        "is_listing",
        lambda real: lambda command: real(command) or "--help" in command,
        _HOOK,
    ),
    _gate("the gate takes an empty answer", "respond", _answered_with(_clean_if_empty), _HOOK),
    _gate(
        "the gate takes an empty PIT for none",
        "named_pits",
        lambda real: lambda tool_input: [pit for pit in real(tool_input) if pit not in ("", None)],
        _HOOK,
    ),
    _gate("the gate looks for a PIT at the top alone", "named_pits", _at_the_top_alone, _HOOK),
    _gate(
        "the gate overlooks a PIT in JSON text",
        "named_pits",
        lambda real: lambda tool_input: real(_without_json_text(tool_input)),
        _HOOK,
    ),
    _gate("the gate takes a ~ that the shell expands", "plain_words", _harmless("~"), _SHELL),
    _gate(
        "the gate takes a second line for a word",
        "plain_words",
        lambda real: lambda command: real(command.replace("\n", " ")),
        _SHELL,
    ),
    _gate("the gate takes an expansion inside quotes", "plain_words", _harmless(r'\$(?=[^"]*")'), _SHELL),
)
