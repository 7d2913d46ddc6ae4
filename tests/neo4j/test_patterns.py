"""The patterns: their form, and that the laws can see what would be wrong with them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from random import Random

import pytest
from pit_fetch_providers.edgar.acceptance import Acceptance, available_at

from pit_fetch.claude_code import bundle
from pit_fetch.support.bundled import gate
from tests.neo4j.graph import NEW_YORK, RETURNS, Case, Edge, Graph, Node, make_case
from tests.neo4j.kglite_engine import Kglite
from tests.neo4j.laws import Broken, check_exact, compare, names_without_answer
from tests.neo4j.mutants import MUTANTS, Mutant, planted
from tests.neo4j.patterns import OPEN, PATTERNS, QUERIES, ask

PARAMETERS = {
    "pit", "ticker", "start_date", "end_date", "channel", "form", "item", "accession", "period", "section", "exhibit",
    "concept", "fiscal_year", "fiscal_quarter", "transcript", "questioner", "query", "embedding",
    "seed_id", "k", "limit",
}  # fmt: skip
# The MCP server refuses a query that holds one of these words, wherever.
SERVER_REFUSES = re.compile(r"\b(MERGE|CREATE|INSERT|SET|DELETE|REMOVE|ADD)\b", re.IGNORECASE)


def test_every_pattern_has_an_answer_and_a_name_of_its_own() -> None:
    assert names_without_answer() == set()
    assert len({block.query for block in QUERIES.values()}) == len(QUERIES)
    assert len(PATTERNS) >= 40


def test_agents_read_the_name_and_the_parameters_of_every_pattern() -> None:
    texts = "".join(content.decode() for path, content in bundle.files().items() if path.endswith(".md"))
    rows = re.findall(r"^\| `([a-z]+: [^`]+)` \| `([^`]+)` \|", texts, re.MULTILINE)
    assert {name: {"pit", *re.findall(r"\w+", parameters)} for name, parameters in rows} == {
        name: block.parameters for name, block in PATTERNS.items()
    }


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


# From what a record's own stamp says to when it counts: one text wherever records are of the same kind.


# Acceptance by EDGAR -> when a filing counts. Its filing date is not in the graph.
FILED = {
    "in the session": ("2024-02-15T10:00:00-05:00", "2024-02-15T11:00:00-05:00"),
    "in another zone": ("2024-02-15T15:00:00.123456789Z", "2024-02-15T16:00:00.123456789Z"),
    "at the end of a day elsewhere": ("2024-02-15T23:59:59+10:00", "2024-02-16T00:59:59+10:00"),
    "at the end of a year elsewhere": ("2024-12-31T23:30:00+05:30", "2025-01-01T00:30:00+05:30"),
    "at the opening": ("2024-02-15T06:00:00-05:00", "2024-02-15T07:00:00-05:00"),
    "just before 17:30": ("2024-02-15T17:29:59-05:00", "2024-02-15T18:29:59-05:00"),
    "at 17:30": ("2024-02-15T17:30:00-05:00", "2024-02-20T14:00:00Z"),
    "before a long weekend": ("2024-02-16T17:45:00-05:00", "2024-02-21T14:00:00Z"),
    "before the days on which EDGAR was closed in 2020": ("2020-12-23T17:45:00-05:00", "2020-12-28T14:00:00Z"),
    "over a change of the clocks": ("2024-03-07T18:00:00-05:00", "2024-03-12T13:00:00Z"),
    "before the opening": ("2024-02-15T05:59:59-05:00", "2024-02-20T14:00:00Z"),
    "on a Saturday": ("2024-02-17T12:00:00-05:00", "2024-02-22T14:00:00Z"),
}


@pytest.mark.parametrize(("created", "public"), FILED.values(), ids=FILED)
def test_a_filing_counts_as_sec_full_text_counts_it_at_the_latest(created: str, public: str) -> None:
    company = Node("Company", "c", {"id": "c", "ticker": "NOG"})
    filing = Node("Report", "r", {"id": "r", "created": created, "accessionNo": "1", "formType": "8-K"})
    engine = Kglite(Graph((company, filing), (Edge("PRIMARY_FILER", "r", "c"),)))
    query = PATTERNS["report: Latest"].query
    asked = {"ticker": "NOG", "limit": 9, "pit": "2030-01-01T00:00:00Z"}
    (item,) = engine.run(query, asked)[0]["data"]
    assert item["available_at"] == public
    wall = datetime.fromisoformat(created).astimezone(NEW_YORK).replace(tzinfo=None)
    last = wall.date() + timedelta(days=5 if public.endswith("00:00Z") else 0)
    rule = available_at(Acceptance(wall, last), last)
    assert rule is not None
    assert rule.replace(microsecond=0) == datetime.fromisoformat(public).replace(microsecond=0)
    early = (datetime.fromisoformat(public) - timedelta(seconds=1)).isoformat()
    assert engine.run(query, {**asked, "pit": early})[0]["data"] == []


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


def test_questions_find_something() -> None:
    """An answer that is empty in every case would be right by chance."""
    found = dict.fromkeys(PATTERNS, 0)
    for number in range(POOL // 3):
        case, engines = pool(number)
        for name, block in PATTERNS.items():
            found[name] += bool(engines[-1].run(block.query, ask(name, case, Random(number)))[0]["data"])
    assert min(found.values()) >= 3, found
