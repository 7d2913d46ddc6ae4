"""The patterns: their form, and that the laws can see what would be wrong with them."""

from __future__ import annotations

import re
from functools import cache
from random import Random

import pytest

from pit_fetch.support.bundled import gate
from tests.neo4j.graph import RETURNS, Case, make_case
from tests.neo4j.kglite_engine import Kglite
from tests.neo4j.laws import Broken, check_exact, compare, names_without_answer
from tests.neo4j.mutants import MUTANTS, Mutant, planted
from tests.neo4j.patterns import OPEN, PATTERNS, QUERIES, ask

PARAMETERS = {
    "pit", "ticker", "start_date", "end_date", "channel", "form", "item", "accession", "period", "section", "exhibit",
    "concept", "fiscal_year", "fiscal_quarter", "transcript", "questioner", "query", "embedding",
    "seed_id", "k", "limit",
}  # fmt: skip
SHAPE = re.compile(r"^WITH ('[^']*') AS shape,$", re.MULTILINE)
# The MCP server refuses a query that holds one of these words, wherever.
SERVER_REFUSES = re.compile(r"\b(MERGE|CREATE|INSERT|SET|DELETE|REMOVE|ADD)\b", re.IGNORECASE)


def test_every_pattern_has_an_answer_and_a_name_of_its_own() -> None:
    assert names_without_answer() == set()
    assert len({block.query for block in QUERIES.values()}) == len(QUERIES)
    assert len(PATTERNS) >= 40


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_has_the_form_of_all(name: str) -> None:
    query, lines = PATTERNS[name].query, PATTERNS[name].query.split("\n")
    assert PATTERNS[name].parameters <= PARAMETERS
    assert lines[-1] == "RETURN items AS data, [] AS gaps"
    assert "//" not in query
    assert "/*" not in query
    assert re.search(r"LIMIT \$(limit|k)$", query, re.MULTILINE)
    assert "db.index.vector" not in query
    assert "score" not in query
    assert SERVER_REFUSES.search(query) is None
    assert not [word for word in {*RETURNS, *gate.FORBIDDEN_KEYS} if word in query]
    for field in ("id", "available_at", "available_at_source"):
        assert re.search(rf"^  {field}: ", query, re.MULTILINE), field


def test_the_stamp_rule_is_the_same_everywhere() -> None:
    shapes: dict[bool, set[str]] = {True: set(), False: set()}
    for name, block in PATTERNS.items():
        shapes["entity" in name] |= {*SHAPE.findall(block.query)}
    (plain,), (loose,) = shapes[False], shapes[True]
    assert loose == plain.replace(")T(", ")[T ](").replace("1[0-7]):", "1[0-7]):?")
    assert all(SHAPE.search(block.query) for block in PATTERNS.values())


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_complete(name: str) -> None:
    """It has no placeholder, and the server would let it run."""
    assert not re.search(r"\.\.\.|…|<\w+>", QUERIES[name].query)
    assert SERVER_REFUSES.search(QUERIES[name].query) is None


@pytest.mark.parametrize("name", [name for name in OPEN if "by the index" not in name])
def test_an_open_query_runs(name: str) -> None:
    random = Random(1)
    case = make_case(random)
    asked = {"ticker": "NOG", "limit": 5, "query": "guidance", "start_date": "2000-01-01", "end_date": "2099-01-01"}
    rows = Kglite(case.world()).run(OPEN[name].query, {key: asked[key] for key in OPEN[name].parameters})
    assert rows or "label" in name


# The faults.

POOL = 45


@cache
def pool(number: int) -> tuple[Case, list[Kglite]]:
    random = Random(number)
    case = make_case(random)
    return case, [Kglite(case.world(extra=False)), Kglite(case.world()), Kglite(case.world())]


def killer(mutant: Mutant) -> str:
    queries = planted(mutant)
    for number in range(POOL):
        case, engines = pool(number)
        random = Random(number)
        try:
            compare(case, engines, random, queries)
            check_exact(case, engines[-1], random, queries)
        except Broken as broken:
            return broken.law
    return ""


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if not mutant.engine], ids=lambda mutant: mutant.name)
def test_the_laws_see_a_fault(mutant: Mutant) -> None:
    assert killer(mutant) != ""


def test_the_pool_sees_no_fault_where_there_is_none() -> None:
    for number in range(POOL // 3):
        case, engines = pool(number)
        for name, block in PATTERNS.items():
            compare(case, engines, Random(number), {name: block.query})
        check_exact(case, engines[-1], Random(number))


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.engine], ids=lambda mutant: mutant.name)
def test_a_fault_of_another_engine_still_fits(mutant: Mutant) -> None:
    assert planted(mutant) != {mutant.pattern: PATTERNS[mutant.pattern].query}


def test_questions_find_something() -> None:
    """An answer that is empty in every case would be right by chance."""
    found = dict.fromkeys(PATTERNS, 0)
    for number in range(POOL // 3):
        case, engines = pool(number)
        for name, block in PATTERNS.items():
            found[name] += bool(engines[-1].run(block.query, ask(name, case, Random(number)))[0]["data"])
    assert min(found.values()) >= 3, found
