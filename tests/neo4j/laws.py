"""The laws of the patterns. Each takes an engine and a generator of chance, and fails with the pattern's name."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Protocol

from pit_fetch.support.bundled import gate
from tests.neo4j.graph import Case, Graph, make_case
from tests.neo4j.patterns import ANSWERS, PATTERNS, ask, expected

# The MCP server drops every list of so many elements (mcp-neo4j-cypher 0.5.3).
LIST_LIMIT = 128
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Engine(Protocol):
    name: str

    def run(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]: ...


Start = Callable[[Graph], Engine]
Queries = Mapping[str, str]
SHIPPED: Queries = {name: block.query for name, block in PATTERNS.items()}


def some(random: Random, queries: Queries, number: int = 12) -> Queries:
    """A few of many queries, so that more graphs are tried in the same time."""
    chosen = random.sample(sorted(queries), min(number, len(queries)))
    return {name: queries[name] for name in chosen}


class Broken(AssertionError):
    def __init__(self, law: str, name: str, detail: str) -> None:
        super().__init__(f"{law}: {name}: {detail}")
        self.law = law


def answer(engine: Engine, query: str, asked: Mapping[str, Any]) -> str:
    """What an engine answers, as the text that the MCP server makes of it; the kind of error where it fails."""
    try:
        return json.dumps(engine.run(query, asked), default=str)
    except Exception as error:  # noqa: BLE001 - each engine has its own
        return f"{type(error).__name__}: {error}"


def ids(text: str) -> list[str]:
    return [item["id"] for item in json.loads(text)[0]["data"]]


def non_interference(start: Start, random: Random, queries: Queries = SHIPPED) -> int:
    """Worlds that agree on what was public give the same bytes. Returns the pairs of worlds that were compared."""
    case, queries = make_case(random), some(random, queries)
    return compare(case, [start(case.world(extra=False)), start(case.world()), start(case.world())], random, queries)


def compare(case: Case, engines: Sequence[Engine], random: Random, queries: Queries = SHIPPED) -> int:
    for name, query in queries.items():
        asked = ask(name, case, random)
        first, *others = (answer(engine, query, asked) for engine in engines)
        for other in others:
            if other != first:
                raise Broken("non-interference", name, f"{first[:300]} != {other[:300]}, asked {asked}")
    return len(engines) - 1


def exact(start: Start, random: Random, queries: Queries = SHIPPED) -> int:
    """Exactly what was public and matches, newest first, with its own stamps; and the gate lets it through."""
    case, queries = make_case(random), some(random, queries)
    check_exact(case, start(case.world()), random, queries)
    return 0


def check_exact(case: Case, engine: Engine, random: Random, queries: Queries = SHIPPED) -> None:
    for name, query in queries.items():
        asked = ask(name, case, random)
        text = answer(engine, query, asked)
        wanted = expected(name, case, asked)
        if not text.startswith("[") or ids(text) != [record.id for record in wanted]:
            raise Broken("exact", name, f"{text[:300]}, not {[record.id for record in wanted]}, asked {asked}")
        finding = judged(text, case.pit)
        if finding is not None:
            raise Broken("gate", name, f"{finding}, asked {asked}")
        for item, record in zip(json.loads(text)[0]["data"], wanted, strict=True):
            if _instant(item["available_at"]) != record.at // 1000:
                raise Broken("exact", name, f"{item['available_at']} is not {record.at}")


def judged(text: str, pit: str) -> Any:
    """What the gate, as a hook, finds against a result of the MCP server."""
    hook = {
        "hook_event_name": "PostToolUse",
        "tool_name": "mcp__neo4j-cypher__read_neo4j_cypher",
        "tool_input": {"query": "", "params": {"pit": pit}},
        "tool_response": [{"type": "text", "text": _as_server(text)}],
    }
    return gate.respond(hook).get("reason")


def _as_server(text: str) -> str:
    def without_long_lists(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {key: without_long_lists(part) for key, part in value.items()}
            return {key: part for key, part in kept.items() if part is not None or value[key] is None}
        if isinstance(value, list):
            return [without_long_lists(part) for part in value] if len(value) < LIST_LIMIT else None
        return value

    return json.dumps(without_long_lists(json.loads(text)))


def _instant(stamp: str) -> int:
    """Microseconds, the rest cut off."""
    moment = gate.parse_iso8601(stamp)
    assert moment is not None
    return (moment - EPOCH) // timedelta(microseconds=1)


def crowded(start: Start, random: Random, queries: Queries = SHIPPED) -> int:
    """The same with 150 public News items, and as many later ones that crowd them."""
    queries = some(random, {name: query for name, query in queries.items() if ANSWERS[name].kind == "news"}, 3)
    case = make_case(random, many=150)
    engine = start(case.world(crowded=50))
    check_exact(case, engine, random, queries)
    for name, query in queries.items():
        asked = {**ask(name, case, random), "limit": 100, "k": 100}
        asked = {key: value for key, value in asked.items() if key in PATTERNS[name].parameters}
        finding = judged(answer(engine, query, asked), case.pit)
        if finding is not None:
            raise Broken("gate", name, f"{finding} with a limit of 100")
    return compare(case, [engine, start(case.world(extra=False))], random, queries)


# Values of other kinds, and texts that are no date, no offset, no number.
ODD: Sequence[Any] = ("", "x", "2024-13-45", "~", "a~ b*", "'", 5, -1, 1.5, True, [], ["a"], [[1.0]], {"a": 1})


def odd_parameters(start: Start, random: Random, queries: Queries = SHIPPED) -> int:
    """Whatever the parameters are, a failure tells as little as an answer: the same in both worlds."""
    case, queries = make_case(random), some(random, queries)
    return compare_odd(case, [start(case.world()), start(case.world())], random, queries)


def compare_odd(case: Case, engines: Sequence[Engine], random: Random, queries: Queries = SHIPPED) -> int:
    for name, query in queries.items():
        asked = ask(name, case, random)
        spoilt = random.choice([key for key in asked if key != "pit"])
        asked[spoilt] = random.choice(ODD)
        first, second = (answer(engine, query, asked) for engine in engines)
        if first != second:
            raise Broken("odd parameters", name, f"{spoilt}={asked[spoilt]!r}: {first[:300]} != {second[:300]}")
    return 1


LAWS: Mapping[str, Callable[[Start, Random], int]] = {
    "non-interference": non_interference,
    "exact": exact,
    "crowded": crowded,
    "odd parameters": odd_parameters,
}


def names_without_answer() -> Collection[str]:
    return set(PATTERNS) ^ set(ANSWERS)
