"""Leaks of the guard on what the Neo4j read tool is asked."""

from __future__ import annotations

from typing import Any

from pit_fetch.support.bundled import load
from tests.laws.mutants.leak import in_module, nothing

guard = load("pit_guard")

_READS, _PATTERNS = ("guard: Cypher reads",), ("guard: Cypher patterns",)


def _without(*words: str) -> Any:
    return lambda real: real - set(words)


def _instead(old: str, new: str) -> Any:
    """A text of which a part is another."""

    def make(real: str) -> str:
        assert old in real
        return real.replace(old, new)

    return make


def _in_capitals(real: Any) -> Any:
    def tokens(query: str) -> Any:
        found = real(query)
        words = [word for word in query.replace("(", " ").split() if word.isupper()]
        small = {word.casefold() for word in words}
        return found and [(kind, text if kind != "word" or text in small else f"_{text}") for kind, text in found]

    return tokens


_guard = in_module("pit_guard")

MUTANTS = (
    _guard("Cypher: any query is a pattern", "_is_pattern", lambda real: lambda query, folder: True, _PATTERNS),
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
    _guard(
        "Cypher: the PIT is not asked for",
        "_check_params",
        nothing,
        _PATTERNS,
    ),
    _guard(
        "Cypher: the ceiling is not asked",
        "_check_params",
        lambda real: lambda given, pits, ceiling, gate: real(given, pits, None, gate),
        _PATTERNS,
    ),
    _guard("Cypher: SET is for reading", "_WRITING", _without("set"), _READS),
    _guard("Cypher: DELETE is for reading", "_WRITING", _without("delete", "detach"), _READS),
    _guard("Cypher: MERGE is for reading", "_WRITING", _without("merge"), _READS),
    _guard(
        "Cypher: a plugin's function is for reading",
        "_NAMESPACES",
        lambda real: real | {"file", "custom", "n10s", "file.load"},
        _READS,
    ),
    _guard("Cypher: only capitals write", "_tokens", _in_capitals, _READS),
    _guard("Cypher: a comment has no end", "_LEXEME", _instead(r"//[^\r\n]*", "//.*"), _READS),
    _guard("Cypher: nothing is escaped in a string", "_LEXEME", _instead(r"|\\.)*'", r"|\\)*'"), _READS),
    _guard(
        "Cypher: what follows a name is a name",
        "_is_name",
        lambda real: lambda tokens, place: real(tokens, place) or (place > 0 and real(tokens, place - 1)),
        _READS,
    ),
)


def _shipped() -> list[str]:
    from tests.neo4j.laws import SHIPPED

    return [*SHIPPED.values()]
