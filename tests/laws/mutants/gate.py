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
from tests.laws.mutants.leak import Mutant, nothing
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
    def nodes(*roots: Any) -> Any:
        pending = list(roots)
        while pending:
            node = pending.pop()
            yield node
            pending += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()

    return nodes


def _quoted_once(real: Any) -> Any:
    def check(envelope: Any, pit: Any) -> Any:
        quoted = re.compile(r'^\s*"[\s\S]*"\s*$')
        return real(
            json.loads(
                json.dumps(envelope),
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
        return max((real({"pit": one}, "", None) for one in named), default=None)

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
            for one in taken if words else ():
                place = next(place for place, word in enumerate(words) if _MARK in word)
                words[place] = words[place].replace(_MARK, one, 1)
            return words

        return plain_words

    return make


MUTANTS = (
    Mutant(
        "the gate is a day late",
        "pit_gate:check",
        lambda real: lambda text, pit, quoted=True: real(text, pit + timedelta(days=1), quoted),
        _JUDGE,
    ),
    Mutant(
        "the gate rounds stamps down",
        "pit_gate:parse_iso8601",
        lambda real: lambda text, round_up=False: real(text),
        _JUDGE,
    ),
    Mutant("a PIT's wall clock may mean two instants", "pit_gate:parse_pit", _any_reading, ("gate: zones",)),
    Mutant("a PIT's offset need not be its zone's", "pit_gate:parse_pit", _any_offset, ("gate: zones",)),
    Mutant(
        "the gate overlooks revisions",
        "pit_gate:_check_item",
        _items(lambda item: {name: value for name, value in item.items() if name != "revised_at"}),
        _JUDGE,
    ),
    Mutant("the gate overlooks nested stamps", "pit_gate:_check_nested", nothing, _JUDGE),
    Mutant(
        "the gate knows a forbidden key in lower case alone", "pit_gate:_load", _texts(_in_lower_case_alone), _JUDGE
    ),
    Mutant("the gate takes a repeated key", "pit_gate:_load", _texts(_without_repeats), _JUDGE),
    Mutant("the gate overlooks an envelope in a text", "pit_gate:_check_quoted", nothing, _JUDGE),
    Mutant(
        "the gate overlooks an envelope behind a blank",
        "pit_gate:_BEGINNINGS_OF_JSON",
        lambda real: tuple(beginning for beginning in real if beginning[-1] in "{["),
        _JUDGE,
    ),
    Mutant("the gate overlooks an envelope in a key", "pit_gate:_nodes", _values_alone, _JUDGE),
    Mutant("the gate overlooks an envelope that is quoted twice", "pit_gate:_check_quoted", _quoted_once, _JUDGE),
    Mutant(
        "the gate knows a stamp in lower case alone",
        "pit_gate:_is_stamp",
        lambda real: lambda key: key in gate._STAMPS,
        _JUDGE,
    ),
    Mutant(
        "the gate overlooks a module behind -m",
        "pit_gate:runs_wrapper",
        lambda real: lambda command: real(re.sub("-I?mpit_fetch", "-m", command)),
        _HOOK,
    ),
    Mutant("the gate judges diff at the earlier PIT", "pit_gate:is_diff", lambda real: lambda words: False, _HOOK),
    Mutant(
        "the gate judges any call at the latest of two PITs",
        "pit_gate:is_diff",
        lambda real: lambda words: True,
        _HOOK,
    ),
    Mutant("the gate takes NaN", "pit_gate:_load", _texts(lambda text: text.replace("NaN", "0")), _JUDGE),
    Mutant("the gate takes unknown keys", "pit_gate:_check_envelope", _known_keys_alone, _JUDGE),
    Mutant(
        "the gate takes any source",
        "pit_gate:_check_item",
        _items(lambda item: {**item, "available_at_source": "provider_metadata"}),
        _JUDGE,
    ),
    Mutant("the gate takes the latest of two PITs", "pit_gate:_cutoff", _latest_pit, _HOOK),
    Mutant("the gate leaves a private file behind", "pit_gate:_take", _left_behind, _RELEASE),
    Mutant(
        "the gate overlooks what a prepared call shows",
        "pit_gate:_bash_stdout",
        lambda real: lambda response: gate.SENTINEL,
        _RELEASE,
    ),
    Mutant(
        "the gate takes a listing with more behind it",
        "pit_gate:is_listing",
        lambda real: lambda command: real(command) or "--help" in command,
        _HOOK,
    ),
    Mutant(
        "the gate takes an empty answer",
        "pit_gate:_texts",
        lambda real: lambda response: list(gate._unwrap(response)),
        _HOOK,
    ),
    Mutant(
        "the gate takes an empty PIT for none",
        "pit_gate:named_pits",
        lambda real: lambda tool_input: [pit for pit in real(tool_input) if pit not in ("", None)],
        _HOOK,
    ),
    Mutant("the gate looks for a PIT at the top alone", "pit_gate:named_pits", _at_the_top_alone, _HOOK),
    Mutant(
        "the gate overlooks a PIT in JSON text",
        "pit_gate:named_pits",
        lambda real: lambda tool_input: real(_without_json_text(tool_input)),
        _HOOK,
    ),
    Mutant(
        "the gate takes an assignment for a program",
        "pit_gate:_program",
        lambda real: lambda word: real(word.replace("=", "")),
        _SHELL,
    ),
    Mutant(
        "the gate takes an option of Python for its script",
        "pit_gate:_program",
        lambda real: lambda word: os.path.basename(word) if "=" not in word else "",
        _SHELL,
    ),
    Mutant("the gate takes a ~ that the shell expands", "pit_gate:plain_words", _harmless("~"), _SHELL),
    Mutant(
        "the gate takes a second line for a word",
        "pit_gate:plain_words",
        lambda real: lambda command: real(command.replace("\n", " ")),
        _SHELL,
    ),
    Mutant("the gate takes an expansion inside quotes", "pit_gate:plain_words", _harmless(r'\$(?=[^"]*")'), _SHELL),
)
