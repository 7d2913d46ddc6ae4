"""The guard on the tools of Neo4j's MCP server: which queries may run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.cli import command
from pit_fetch.support.bundled import gate, load
from tests.neo4j.patterns import OPEN, PATTERNS
from tests.unit.hooks.calls import CEILING, NEO4J, PIT, start

guard = load("pit_guard")
HOOKS = Path(guard.__file__ or "").parent
PATTERN = PATTERNS["news: Latest"].query
PARAMS = {"pit": PIT, "ticker": "NOG", "limit": 5}


def reason(query: object, environ: dict[str, str] | None = None, tool: str = NEO4J, **tool_input: Any) -> str:
    """Why the call is refused; "" where it may run."""
    hook = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"query": query, **tool_input}}
    answer = guard.respond(hook, environ or {}, gate)
    if not answer:
        return ""
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer["reason"]
    return str(answer["reason"])


# With a PIT, or under a ceiling.


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_runs_by_its_name(name: str) -> None:
    params = {**dict.fromkeys(PATTERNS[name].parameters, "x"), "pit": PIT}
    for query in (name, f"  {name.upper()}\n"):
        hook = {"tool_name": NEO4J, "tool_input": {"query": query, "params": params}}
        for environ in ({}, CEILING):
            answer = guard.respond(hook, environ, gate)["hookSpecificOutput"]
            assert "permissionDecision" not in answer
            assert answer["updatedInput"] == {"query": PATTERNS[name].query, "params": params}


@pytest.mark.parametrize("name", ["news", "Latest", "news: Newest", "own: mine", "../news: Latest", "report: Latest;"])
def test_any_other_name_is_refused(name: str) -> None:
    assert reason(name, params=PARAMS)
    assert reason(name, CEILING, params=PARAMS)


def test_a_name_is_no_way_around_the_pit() -> None:
    assert "params.pit" in reason("news: Latest")
    assert reason("news: Latest", CEILING, params={**PARAMS, "pit": "2024-02-16T00:00:00Z"})
    assert "forbidden" in reason("news: Latest", tool="mcp__neo4j-cypher__write_neo4j_cypher", params=PARAMS)


def test_the_text_of_a_pattern_is_that_of_an_installed_skill_as_it_ships(tmp_path: Path) -> None:
    assert command.run(["init", "--with", "neo4j"], {}, str(tmp_path)).status == 0
    claude = tmp_path / ".claude"
    hook = {"tool_name": NEO4J, "tool_input": {"query": "news: Latest", "params": PARAMS}}

    def respond() -> dict[str, Any]:
        return start(claude / "hooks" / "pit_guard.py", hook, CEILING)

    assert respond()["hookSpecificOutput"]["updatedInput"] == {"query": PATTERN, "params": PARAMS}
    skill = claude / "skills" / "news-patterns" / "SKILL.md"
    skill.write_text(skill.read_text().replace("at <= pit", "at <> pit"))
    assert "as it ships" in respond()["reason"]
    skill.unlink()
    assert "pit_fetch init" in respond()["reason"]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_shipped_pattern_runs_with_any_parameters(name: str) -> None:
    params = {**dict.fromkeys(PATTERNS[name].parameters, "x"), "pit": PIT}
    assert reason(PATTERNS[name].query, params=params) == ""
    assert reason(PATTERNS[name].query, CEILING, params={**params, "limit": [1, None], "other": {"a": 1}}) == ""


@pytest.mark.parametrize(
    "query",
    [
        PATTERN + "\nUNION MATCH (n) RETURN [n] AS data, [] AS gaps",
        "RETURN [{id: '1', available_at: $pit, available_at_source: 'neo4j_created'}] AS data, [] AS gaps",
        *(OPEN["entity: Company profile"].query, "", 5, None, [PATTERN]),
    ],
)
def test_anything_else_is_refused_with_a_pit(query: object) -> None:
    assert query != PATTERN
    assert reason(query, params=PARAMS)
    assert reason(query, CEILING, params=PARAMS)


@pytest.mark.parametrize(
    "params",
    [
        None, {}, {"ticker": "NOG"}, {"pit": ""}, {"pit": "  "}, {"pit": None}, {"pit": 5}, {"pit": ["2024"]}, {"pit": "2024-02-15"},
        {"pit": f" {PIT}"}, {"pit": "2024-02-15T16:00:01-05:00"}, {"pit": "2024-02-16T00:00:00Z"}, {"PIT": PIT},
        {"pit": PIT, "Pit": "2024-01-01T00:00:00Z"}, {"pit": PIT, "a": {"pit": PIT}}, json.dumps({"pit": PIT}), [{"pit": PIT}], "x",
    ],
)  # fmt: skip
def test_under_a_ceiling_every_call_needs_its_own_pit(params: Any) -> None:
    assert reason(PATTERN, CEILING, params=params)


def test_the_pit_is_named_once_and_where_the_server_reads_it() -> None:
    assert "params.pit" in reason(PATTERN, pit=PIT)
    assert "params.pit" in reason(PATTERN, parameters={"pit": PIT})
    assert reason(PATTERN, params=PARAMS, pit="2023-01-01T00:00:00Z")
    assert reason(PATTERN, params=PARAMS, database="system")
    assert "params.pit" in reason(PATTERN, params={"ticker": "NOG"})  # open mode, but the pattern needs it
    assert reason(PATTERN, {"PIT_FETCH_CEILING": "soon"}, params=PARAMS)
    assert reason(PATTERN, {"PIT_FETCH_CEILING": ""}, params=PARAMS)
    assert reason(PATTERN, CEILING, params={**PARAMS, "pit": "2020-01-01T00:00:00.5Z"}) == ""


def test_writes_and_the_schema_tool() -> None:
    for tool in ("mcp__neo4j-cypher__write_neo4j_cypher", "mcp__other__graph-write_neo4j_cypher"):
        assert "forbidden" in reason("CREATE (n)", tool=tool)
        assert "forbidden" in reason(PATTERN, tool=tool, params=PARAMS)
    schema = "mcp__neo4j-cypher__get_neo4j_schema"
    assert reason(None, tool=schema) == ""
    assert "today" in reason(None, CEILING, tool=schema)
    assert reason("MATCH (n) RETURN n", CEILING, tool="mcp__other__graph-read_neo4j_cypher")
    assert guard.respond({"tool_name": "mcp__other__read_file", "tool_input": {}}, CEILING, gate) == {}


def test_the_operators_own_patterns(tmp_path: Path) -> None:
    for name in ("pit_gate.py", "pit_guard.py"):
        shutil.copy(HOOKS / name, tmp_path)
    own = "MATCH (n:Mine)\n  WHERE n.at <= $pit\nWITH collect({id: n.id}) AS items\nRETURN items AS data, [] AS gaps\n"

    def respond(**tool_input: Any) -> dict[str, Any]:
        hook = {"tool_name": NEO4J, "tool_input": {"query": own, "params": PARAMS, **tool_input}}
        return start(tmp_path / "pit_guard.py", hook, CEILING)

    assert respond()["decision"] == "block"
    (tmp_path / "cypher").mkdir()
    (tmp_path / "cypher" / "mine.cypher").write_text(own.replace("\n", "\r\n"))
    (tmp_path / "cypher" / "empty.cypher").write_text("\n")
    (tmp_path / "cypher" / "notes.txt").write_text("MATCH (n) RETURN n")
    assert respond() == {}
    assert respond(query=PATTERN) == {}  # needs no file but the guard
    assert respond(query="MATCH (n) RETURN n")["decision"] == "block"
    assert respond(query="")["decision"] == "block"
    (tmp_path / "pit_gate.py").write_text("")
    assert respond()["decision"] == "block"


# Open mode.

HOSTILE = (
    # Writing, however it is written.
    "CREATE (n)", "create (n:News {id: 1})", "CrEaTe (n)", "MERGE (n:News {id: 1})", "MATCH (n) SET n.x = 1", "MATCH (n) set n.x = 1",
    "MATCH (n) DELETE n", "MATCH (n) DETACH DELETE n", "MATCH (n) REMOVE n.x", "INSERT (n:News)", "MATCH (n) INSERT (n)-[:X]->(:Y)",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = x)", "MERGE (n) ON CREATE SET n.x = 1", "MATCH (n)CREATE(m)", "MATCH (n)\x0bSET n.x=1",
    "MATCH (n)\u2003SET\u2003n.x=1", "MATCH (n)\u00a0SET\u00a0n.x=1", "MATCH (n)/**/SET/**/n.x=1",
    "MATCH (n) // read only\nSET n.x = 1", "MATCH (n) // read only\rSET n.x = 1", "MATCH (n) /* ' */ SET n.x = 1 /* ' */",
    "MATCH (n) /* // */ SET n.x = 1", "MATCH (n) // /*\nSET n.x = 1 // */", "MATCH (n) WHERE n.x = '//' SET n.x = 1",
    "MATCH (n) WHERE n.x = '\\\\' SET n.x = 1 //'", "MATCH (n) WHERE n.x = 'a\\'' SET n.x = 1", 'MATCH (n) WHERE n.x = "\'" SET n.x = "\'"',
    "MATCH (n) WHERE n.x = 'a\\u0027 SET n.x = 1 //'", "MATCH (n) S\\u0045T n.x = 1",
    "\\u0043REATE (n)", "\\u0043\\u0052\\u0045\\u0041\\u0054\\u0045 (n)", "MATCH (n) // \\u000aSET n.x = 1", "MATCH (n) // \\u000DSET n.x = 1",
    "MATCH (n) /* \\u002a/ SET n.x = 1 /* */", "MATCH (n) WHERE n.`a\\u0060 SET n.x = 1 //`", "MATCH (n) WHERE n.`a``` = 1 SET n.x = 1",
    "MATCH (`n``) RETURN 1 //`) SET n.x = 1 //`", "MATCH (n) WHERE n.x=1SET n.y=2", "MATCH (n) WHERE n.x=1e5SET n.y=2", "MATCH (n) WHERE n.x=0x1FSET n.y=2", "MATCH (n) WHERE n.`x`SET n.y=1",
    "MATCH (n) WHERE n.x=1.SET n.y=2", "MATCH (n) WHERE n.x=1.5SET n.y=2",
    "MATCH (n) WHERE n.x=$x SET n.y=2", "MATCH (n) WHERE n.x=a$ SET n.y=2",
    "MATCH (n) \u017fET n.x = 1",
    "EXPLAIN CREATE (n)", "PROFILE MATCH (n) DELETE n", "CYPHER 5 CREATE (n)", "CYPHER runtime=slotted CREATE (n)",
    "CYPHER 25 planner=cost MATCH (n) DELETE n", "EXPLAIN CYPHER 5 DROP INDEX x",
    # In subqueries.
    "CALL { CREATE (n) }", "MATCH (n) CALL (n) { SET n.x = 1 } RETURN n",
    "MATCH (n) WHERE EXISTS { MATCH (m) DELETE m } RETURN n",
    "RETURN COUNT { CREATE (n) }",
    # Schema and administration.
    "CREATE INDEX x FOR (n:News) ON (n.id)", "DROP CONSTRAINT x", "ALTER USER neo4j SET PASSWORD 'x'", "GRANT ROLE admin TO bob", "STOP DATABASE neo4j",
    "TERMINATE TRANSACTIONS 'x'", "SHOW TRANSACTIONS", "SHOW USERS", "SHOW SETTINGS", "SHOW ALL PRIVILEGES", "CYPHER with=1 DROP INDEX x",
    # A name that is such a word.
    "WITH 1 AS as CREATE (n)", "MATCH (n) RETURN n.set", "MATCH (n:Set) RETURN n", "MATCH (n {create: 1}) RETURN n", "MATCH (call) RETURN call ORDER BY call DESC",
    # Out of the database.
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "load csv with headers from 'http://x.test' as row return row",
    "LOAD/**/CSV FROM 'http://x.test' AS row RETURN row", "MATCH (n) LOAD CSV FROM n.url AS row RETURN row", "CALL { LOAD CSV FROM 'x' AS r RETURN r } RETURN r",
    "USING PERIODIC COMMIT LOAD CSV FROM 'x' AS r CREATE (n)", "LOAD\\u0020CSV FROM 'x' AS r RETURN r",
    "USE system SHOW USERS", "USE other MATCH (n) RETURN n", "CALL { USE other MATCH (n) RETURN n } RETURN n", "USE graph.byName('x') RETURN 1",
    "CALL apoc.load.json('http://x.test')", "CALL `apoc`.`load`.`json`('http://x.test')", "CALL `apoc.load.json`('x')", "CALL`apoc.load.json`", "MATCH (n)CALL`x`",
    "CALL apoc . load . json ('x')",
    "CALL apoc/**/.cypher.doIt('CREATE (n)', {})", "call APOC.LOAD.CSV('x') YIELD list RETURN list", "RETURN apoc.cypher.runFirstColumnSingle('CREATE (n)', {})",
    "RETURN `apoc`.text.join(['a'], '')", "RETURN `apoc.cypher.runFirstColumnSingle`('CREATE (n)', {})", "RETURN a\\u0070oc.version()",
    "MATCH (n) WHERE apoc.util.sleep(1) IS NULL RETURN n", "OPTIONAL CALL apoc.load.json('x') YIELD value RETURN value",
    "RETURN {a: file.load('x')}", "MATCH (n {x: `apoc`.load.json('x')}) RETURN n", "MATCH (n) RETURN n {x: custom.read(1)}",
    "MATCH p = ()--() RETURN [x IN nodes(p) WHERE x:A | file.load('x')]",
    "RETURN file.load('x')", "MATCH (n) WHERE n10s.rdf.stream('x') IS NULL RETURN n", "RETURN `custom`.read(1)",
    "RETURN genai.vector.encode('x', 'OpenAI', {})", "CALL genai.vector.encodeBatch([], 'OpenAI')",
    # Procedures beyond the list.
    "CALL dbms.listConfig()", "CALL db.createLabel('x')",
    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    "CALL db.create.setNodeVectorProperty(n, 'x', [1.0])", "CALL dbms.killQuery('x')",
    "CALL db.labels() YIELD label CALL dbms.listConfig() YIELD name RETURN name", "MATCH (n) CALL { CALL dbms.components() YIELD name RETURN name } RETURN name",
    "CALL `db`.`createLabel`('x')", "CALL db.labels.x()", "CALL end.x()", "CALL $x", "CALL 'x'",
    # Several statements, and what has no end.
    "MATCH (n) RETURN n; CREATE (m)", "RETURN 1; RETURN 2", "RETURN 1;;RETURN 2", "RETURN 1; // \nDROP INDEX x", "MATCH (n) RETURN 'a", "MATCH (n) /* RETURN n",
    "MATCH (n) RETURN `a", "MATCH (n) RETURN \"a'", "", "   ", "// nothing", ";", "x", "\ufeffCREATE (n)",
)  # fmt: skip

HONEST = (
    *(block.query for block in OPEN.values()),
    "MATCH (n) RETURN n LIMIT 5", "match (n:News) where n.created >= '2024' return n.title order by n.created desc limit 5", "RETURN 1", "RETURN 1;",
    "MATCH (n:News) WHERE n.title CONTAINS 'CREATE or DELETE; DROP' RETURN n", 'MATCH (n) WHERE n.title = "SET" RETURN n',
    "MATCH (n) WHERE n.title = 'it\\'s SET' RETURN n", "MATCH (n) // SET nothing; just read\nRETURN n", "MATCH (n) /* CREATE, MERGE */ RETURN n",
    "MATCH (n) RETURN n.`set`, n.`CREATE`, $set", "MATCH (call:Transcript) RETURN call.id, call {.id}, call", "MATCH (`create`) RETURN `create`",
    "MATCH (n:Asset)-[:SETTLED]->(m:Created) RETURN n",
    "MATCH (n) RETURN n.created AS created, n.updated AS updated", "MATCH (n) CALL { WITH n MATCH (n)--(m) RETURN count(m) AS c } RETURN c",
    "MATCH (n) CALL (n) { MATCH (n)--(m) RETURN count(m) AS c } RETURN c", "MATCH (n) CALL (*) { RETURN 1 AS one } RETURN one",
    "MATCH (n) WHERE EXISTS { (n)-[:INFLUENCES]->(:Company) } RETURN n", "MATCH (n) RETURN COUNT { (n)--() } AS c", "RETURN COLLECT { MATCH (n) RETURN n.id } AS ids",
    "MATCH (n) WHERE vector.similarity.cosine(n.embedding, $v) > 0.8 RETURN n", "RETURN datetime.truncate('day', datetime()) AS d", "RETURN duration.between(date(), date())",
    "RETURN point.distance(point({x: 1, y: 2}), point({x: 2, y: 3}))", "CALL db.labels()", "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType",
    "CALL db.propertyKeys", "CALL db.index.fulltext.queryNodes('news_ft', 'create~') YIELD node, score RETURN node, score",
    "CALL db.index.fulltext.queryRelationships('x', $query) YIELD relationship RETURN relationship", "CALL db.index.vector.queryNodes('news_vector_index', 5, $v) YIELD node RETURN node",
    "UNWIND range(1, 10) AS i RETURN i", "UNWIND [1, 2] AS x WITH x WHERE x > 1 RETURN x", "MATCH p = (a)-[*1..3]->(b) RETURN p", "OPTIONAL MATCH (n) RETURN n",
    "MATCH (start:Date), (stop:Date) RETURN start, stop",
    "EXPLAIN MATCH (n) RETURN n", "PROFILE MATCH (n) RETURN n", "CYPHER 5 MATCH (n) RETURN n", "CYPHER runtime=slotted planner=cost MATCH (n) RETURN n", "SHOW INDEXES",
    "SHOW FULLTEXT INDEXES", "MATCH (n) RETURN n.id UNION MATCH (m) RETURN m.id", "MATCH (n) WHERE n.x =~ '.*(drop|alter).*' RETURN n", "WITH 3 AS drop RETURN drop ORDER BY drop",
    "MATCH (n) WHERE n.price > 1.5 AND n.ratio < .5 RETURN 1e5, 0xFF, 1_000", "MATCH (ai:Company) RETURN ai.name", "RETURN [x IN [1, 2] WHERE x > 1 | x * 2] AS xs",
    "RETURN {a: date.truncate('day', date())} AS d",
    "MATCH p = ()--() RETURN [x IN nodes(p) WHERE x:A | x.title]",
    "RETURN date.truncate('day', date()) AS d, duration.between(date(), date()) AS e", "RETURN point.distance(null, null) AS x", "MATCH (n) RETURN n.custom AS x",
    "RETURN reduce(s = 0, x IN [1, 2] | s + x) AS total", "MATCH (n) RETURN CASE WHEN n:News THEN 'set' ELSE 'create' END", "MATCH (n) RETURN n.`apoc.load.json`", "RETURN 'apoc.load.json(1)'",
)  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_a_hostile_query_is_refused(query: str) -> None:
    assert reason(query)
    assert reason(query, params={"x": 1})


@pytest.mark.parametrize("query", HONEST)
def test_an_honest_query_runs(query: str) -> None:
    assert reason(query) == ""
    assert reason(query, params={"create": "CREATE (n)"}) == ""


@pytest.mark.parametrize("query", [None, 5, [], {"a": 1}, ["MATCH (n) RETURN n"]])
def test_a_query_that_is_no_text_is_refused(query: object) -> None:
    assert reason(query)
