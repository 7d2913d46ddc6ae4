"""Leaks of the guard on what the Neo4j read tool is asked."""

from __future__ import annotations

from typing import Any

from pit_fetch.support.bundled import load
from tests.laws.mutants.leak import Mutant, nothing

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


MUTANTS = (
    Mutant(
        "Cypher: any query is a pattern", "pit_guard:_is_pattern", lambda real: lambda query, folder: True, _PATTERNS
    ),
    Mutant(
        "Cypher: lines are joined",
        "pit_guard:pattern_lines",
        lambda real: lambda query: [" ".join(real(query))],
        _PATTERNS,
    ),
    Mutant(
        "Cypher: blanks do not matter",
        "pit_guard:pattern_lines",
        lambda real: lambda query: [" ".join(line.split()) for line in real(query)],
        _PATTERNS,
    ),
    Mutant(
        "Cypher: other line breaks are line breaks",
        "pit_guard:pattern_lines",
        lambda real: lambda query: [line.strip() for part in real(query) for line in part.splitlines()],
        _PATTERNS,
    ),
    Mutant(
        "Cypher: only the first lines count",
        "pit_guard:pattern_digest",
        lambda real: (
            lambda query: next(
                (real(text) for text in _shipped() if guard.pattern_lines(text)[:8] == guard.pattern_lines(query)[:8]),
                "",
            )
        ),
        _PATTERNS,
    ),
    Mutant(
        "Cypher: the PIT is not asked for",
        "pit_guard:_check_params",
        nothing,
        _PATTERNS,
    ),
    Mutant(
        "Cypher: the ceiling is not asked",
        "pit_guard:_check_params",
        lambda real: lambda given, pits, ceiling, gate: real(given, pits, None, gate),
        _PATTERNS,
    ),
    Mutant("Cypher: SET is for reading", "pit_guard:_WRITING", _without("set"), _READS),
    Mutant("Cypher: DELETE is for reading", "pit_guard:_WRITING", _without("delete", "detach"), _READS),
    Mutant("Cypher: MERGE is for reading", "pit_guard:_WRITING", _without("merge"), _READS),
    Mutant(
        "Cypher: a plugin's function is for reading",
        "pit_guard:_NAMESPACES",
        lambda real: real | {"file", "custom", "n10s", "file.load"},
        _READS,
    ),
    Mutant("Cypher: only capitals write", "pit_guard:_tokens", _in_capitals, _READS),
    Mutant("Cypher: a comment has no end", "pit_guard:_LEXEME", _instead(r"//[^\r\n]*", "//.*"), _READS),
    Mutant("Cypher: nothing is escaped in a string", "pit_guard:_LEXEME", _instead(r"|\\.)*'", r"|\\)*'"), _READS),
    Mutant(
        "Cypher: what follows a name is a name",
        "pit_guard:_is_name",
        lambda real: lambda tokens, place: real(tokens, place) or (place > 0 and real(tokens, place - 1)),
        _READS,
    ),
)


def _shipped() -> list[str]:
    from tests.neo4j.laws import SHIPPED

    return [*SHIPPED.values()]
