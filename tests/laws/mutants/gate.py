"""Leaks of the gate: what it does not look at, which PIT it takes, what it takes for a plain call."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.support.bundled import gate
from tests.laws.mutants.leak import in_module, nothing
from tests.laws.plant import Make

_JUDGE, _HOOK, _SHELL, _RELEASE = ("gate: judges",), ("gate: hook",), ("guard: shell",), ("gate: releases",)


# The envelope.


def _items(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Make:
    """Items are judged as ``change`` makes them."""

    def make(real: Any) -> Any:
        return lambda item, pit, index: real(change(item) if isinstance(item, dict) else item, pit, index)

    return make


def _texts(change: Callable[[str], str]) -> Make:
    """What is parsed is the text as ``change`` makes it."""
    return lambda real: lambda text: real(change(text))


def _in_lower_case_alone(text: str) -> str:
    names = re.compile("|".join(gate.FORBIDDEN_KEYS), re.IGNORECASE)
    return names.sub(lambda match: match[0] if match[0] in gate.FORBIDDEN_KEYS else "harmless", text)


def _without_repeats(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return text


def _values_alone(real: Any) -> Any:
    def beginnings(root: Any) -> Any:
        if isinstance(root, dict):
            return beginnings([*root.values()])
        return [text for part in root for text in beginnings(part)] if isinstance(root, list) else real(root)

    return beginnings


def _quoted_once(real: Any) -> Any:
    def check(root: Any, pit: Any) -> Any:
        quoted = re.compile(r'^\s*"[\s\S]*"\s*$')
        return real(
            json.loads(
                json.dumps(root),
                object_hook=lambda item: {
                    name: "" if isinstance(value, str) and quoted.match(value.strip("\ufeff")) else value
                    for name, value in item.items()
                    if not quoted.match(name.strip("\ufeff"))
                },
            ),
            pit,
        )

    return check


def _known_keys_alone(real: Any) -> Any:
    def check(envelope: Any, stamped: Any, pit: Any) -> Any:
        if isinstance(envelope, dict):
            envelope = {name: value for name, value in envelope.items() if name in ("data", "gaps")}
        return real(envelope, stamped, pit)

    return check


# The hook.


def _latest_pit(real: Any) -> Any:
    def cutoff(tool_input: Any, command: str, ceiling: Any) -> Any:
        named = [*gate.named_pits(tool_input), *gate.pits_in(command), *([] if ceiling is None else [ceiling])]
        return max((real({"pit": pit}, "", None) for pit in named), default=None)

    return cutoff


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
    def take(path: str) -> str:
        with open(path, encoding="utf-8") as file:
            return file.read()

    return take


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
        "_check_item",
        _items(lambda item: {name: value for name, value in item.items() if name != "revised_at"}),
        _JUDGE,
    ),
    _gate("the gate overlooks nested stamps", "_check_nested", nothing, _JUDGE),
    _gate("the gate knows a forbidden key in lower case alone", "_load", _texts(_in_lower_case_alone), _JUDGE),
    _gate("the gate takes a repeated key", "_load", _texts(_without_repeats), _JUDGE),
    _gate("the gate overlooks an envelope in a text", "check_texts", nothing, _JUDGE),
    _gate(
        "the gate overlooks an envelope behind a blank",
        "_BEGINNINGS_OF_JSON",
        lambda real: tuple(beginning for beginning in real if beginning[-1] in "{["),
        _JUDGE,
    ),
    _gate("the gate overlooks an envelope in a key", "_beginnings", _values_alone, _JUDGE),
    _gate("the gate overlooks an envelope that is quoted twice", "check_texts", _quoted_once, _JUDGE),
    _gate(
        "the gate knows a stamp in lower case alone", "_is_stamp", lambda real: lambda key: key in gate._STAMPS, _JUDGE
    ),
    _gate(
        "the gate overlooks a module behind -m",
        "runs_wrapper",
        lambda real: lambda command: real(re.sub("-I?mpit_fetch", "-m", command)),
        _HOOK,
    ),
    _gate("the gate judges diff at the earlier PIT", "is_diff", lambda real: lambda words: False, _HOOK),
    _gate("the gate judges any call at the latest of two PITs", "is_diff", lambda real: lambda words: True, _HOOK),
    _gate("the gate takes NaN", "_load", _texts(lambda text: text.replace("NaN", "0")), _JUDGE),
    _gate("the gate takes unknown keys", "_check_envelope", _known_keys_alone, _JUDGE),
    _gate(
        "the gate takes any source",
        "_check_item",
        _items(lambda item: {**item, "available_at_source": "provider_metadata"}),
        _JUDGE,
    ),
    _gate("the gate takes the latest of two PITs", "_cutoff", _latest_pit, _HOOK),
    _gate("the gate leaves a private file behind", "_take", _left_behind, _RELEASE),
    _gate(
        "the gate overlooks what a prepared call shows",
        "_bash_stdout",
        lambda real: lambda response: gate.SENTINEL,
        _RELEASE,
    ),
    _gate(
        "the gate takes a listing with more behind it",
        "is_listing",
        lambda real: lambda command: real(command) or "--help" in command,
        _HOOK,
    ),
    _gate(
        "the gate takes an empty answer", "_texts", lambda real: lambda response: list(gate._unwrap(response)), _HOOK
    ),
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
    _gate(
        "the gate takes an assignment for a program",
        "_program",
        lambda real: lambda word: real(word.replace("=", "")),
        _SHELL,
    ),
    _gate(
        "the gate takes an option of Python for its script",
        "_program",
        lambda real: lambda word: os.path.basename(word) if "=" not in word else "",
        _SHELL,
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
