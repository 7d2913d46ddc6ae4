"""Leaks of the guard on what the Neo4j read tool is asked."""

from __future__ import annotations

import re
from typing import Any

from pit_fetch.support.bundled import load
from tests.laws.mutants.leak import in_module
from tests.laws.plant import Make

guard = load("pit_guard")

_READS, _PATTERNS = ("guard: Cypher reads",), ("guard: Cypher patterns",)


def _read_as(pattern: str, instead: str = "") -> Make:
    """A query without a PIT is judged with ``instead`` in the place of what ``pattern`` matches."""

    def make(real: Any) -> Any:
        def check_query(query: str, with_pit: bool, folder: str) -> None:
            real(query if with_pit else re.sub(pattern, instead, query), with_pit, folder)

        return check_query

    return make


def _without(pattern: str) -> Make:
    return _read_as(rf"(?i)\b({pattern})\b", "x")


def _in_any_form(real: Any) -> Any:
    return lambda query, with_pit, folder: None if with_pit else real(query, with_pit, folder)


def _without_ceiling(real: Any) -> Any:
    def decide(hook: Any, environ: Any, gate: Any) -> Any:
        return real(hook, {name: value for name, value in environ.items() if name != guard.CEILING_VARIABLE}, gate)

    return decide


_guard = in_module("pit_guard")

MUTANTS = (
    _guard("Cypher: any query is a pattern", "check_query", _in_any_form, _PATTERNS),
    _guard("Cypher: lines are joined", "pattern_lines", lambda real: lambda query: [" ".join(real(query))], _PATTERNS),
    _guard(
        "Cypher: blanks do not matter",
        "pattern_lines",
        lambda real: lambda query: [" ".join(line.split()) for line in real(query)],
        _PATTERNS,
    ),
    _guard(
        "Cypher: other line breaks are line breaks",
        "pattern_lines",
        lambda real: lambda query: [line.strip() for part in real(query) for line in part.splitlines()],
        _PATTERNS,
    ),
    _guard(
        "Cypher: only the first lines count",
        "pattern_digest",
        lambda real: (
            lambda query: next(
                (real(text) for text in _shipped() if guard.pattern_lines(text)[:8] == guard.pattern_lines(query)[:8]),
                "",
            )
        ),
        _PATTERNS,
    ),
    _guard("Cypher: the ceiling is not asked", "decide", _without_ceiling, _PATTERNS),
    _guard("Cypher: SET is for reading", "check_query", _without("set"), _READS),
    _guard("Cypher: DELETE is for reading", "check_query", _without("detach|delete"), _READS),
    _guard("Cypher: MERGE is for reading", "check_query", _without("merge"), _READS),
    _guard("Cypher: a plugin's function is for reading", "check_query", _read_as(r"\b(file|custom|n10s)\."), _READS),
    _guard(
        "Cypher: only capitals write", "check_query", _read_as(r"\b(set|delete|merge|create|remove)\b", "x"), _READS
    ),
    _guard("Cypher: a comment has no end", "check_query", _read_as(r"//[\s\S]*"), _READS),
    _guard("Cypher: nothing is escaped in a string", "check_query", _read_as(r"\\'", "'"), _READS),
)


def _shipped() -> list[str]:
    from tests.neo4j.laws import SHIPPED

    return [*SHIPPED.values()]
