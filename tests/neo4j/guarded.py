"""The laws of the guard on the read tool: a real engine says what a query does, the guard only whether it may run."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from pit_fetch.support.bundled import gate, load
from tests.neo4j.graph import Edge, Graph, Node
from tests.neo4j.kglite_engine import Kglite
from tests.neo4j.laws import SHIPPED

guard = load("pit_guard")
READ = "mcp__neo4j-cypher__read_neo4j_cypher"
PIT = "2024-02-15T16:00:00-05:00"
CEILING = {"PIT_FETCH_CEILING": PIT}

GRAPH = Graph(
    (Node("News", "n1", {"id": "n1", "title": "a"}), Node("News", "n2", {"id": "n2", "title": "b"})),
    (Edge("NEXT", "n1", "n2", {"a": 1}),),
)

WRITES = (
    *("SET n.x = 1", "CREATE (:Late {id: 'x'})", "MERGE (:Late {id: 'x'})", "DETACH DELETE n", "REMOVE n.title"),
    *("SET n:Late", "SET n += {x: 1}"),
    *("FOREACH (i IN [1] | SET n.x = i)", "MERGE (m:Late {id: 'y'}) ON CREATE SET m.x = 1"),
)
# What stands before the writing, and could make a careless reader take it for something else.
DECOYS = (
    *("", "WHERE n.title <> 'SET'", "WHERE n.title <> 'it\\'s // not'", "WHERE n.title <> '\\\\'"),
    *('WHERE n.title <> "\'"', "WHERE n.`title` <> 'x'", "WHERE n.`a``b` IS NULL", "// SET n.x = 1\n", "// '\n"),
    *(
        "// `\n",
        "WHERE n.title <> '//'",
        "WHERE n.x IS NULL OR n.`set` = 1",
        "WHERE n.title <> '`'",
        "WITH n, 1 AS `set`",
    ),
    *("WITH n, {`set`: 1} AS map", "WHERE n:News", "WHERE n.id <> $set", "WHERE n.id <> 'a'"),
)


# Functions of plugins, which may do anything, and Neo4j's own.
FOREIGN = (
    "file.load('x')", "n10s.rdf.stream('x')", "`custom`.`read`(n.id)", "custom . read (n.id)", "`file.load`('x')",
    "apoc.text.join(['a'], '')", "gds.graph.project('g', n, n)",
)  # fmt: skip
OWN = (
    *("date.truncate('day', date())", "point.distance(null, null)"),
    *("vector.similarity.cosine([1.0], [1.0])", "n.custom"),
)


def decide(query: str, environ: dict[str, str] | None = None, **params: Any) -> bool:
    """Whether the guard lets the read tool run ``query``."""
    hook = {"tool_name": READ, "tool_input": {"query": query, "params": params}}
    return not guard.respond(hook, environ or {}, gate)


def reads(random: Random) -> int:
    """What the guard lets run without a PIT changes nothing; and what only reads, it lets run."""
    for function, is_foreign in ((random.choice(FOREIGN), True), (random.choice(OWN), False)):
        for query in (f"MATCH (n:News) RETURN {function} AS x", f"MATCH (n) WHERE {function} IS NULL RETURN n.id"):
            assert decide(query) != is_foreign, query
    before = _content(engine := Kglite(GRAPH))
    for _ in range(12):
        decoy, write = random.choice(DECOYS), random.choice(WRITES)
        for query, reads_only in (
            (f"MATCH (n:News) {decoy} {_disguised(write, random)}", False),
            (f"MATCH (n:News) {decoy} RETURN n.id", True),
            (f"MATCH (n:News) {decoy} RETURN n.id // {write}", True),
            (f'MATCH (n:News) {decoy} RETURN "{write.replace(chr(34), "")}" AS text', True),
        ):
            allowed = decide(query)
            with suppress(Exception):  # what the engine refuses changes nothing
                engine.run(query, {"set": "x"})
            if _content(engine) != before:
                assert not allowed, f"the guard lets this run: {query}"
                engine = Kglite(GRAPH)
            assert allowed or not reads_only, f"the guard refuses this: {query}"
    return 0


def _disguised(write: str, random: Random) -> str:
    word = write.partition(" ")[0]
    cased = random.choice([word, word.lower(), word.title(), word[0] + word[1:].lower().swapcase()])
    blank = random.choice([" ", "\n", "\t", "\r\n", "  ", " //x\n", "\n//'\n"])
    text = f"{cased}{blank}{write.partition(' ')[2]}"
    return random.choice([text, text, f"CALL {{ WITH n {text} }}", f"WITH n {text}", f"{text} RETURN n.id"])


def _content(engine: Kglite) -> str:
    nodes = engine.run("MATCH (n) RETURN n.id AS id, labels(n) AS labels, properties(n) AS kept ORDER BY id", {})
    return repr([nodes, engine.run("MATCH ()-[r]->() RETURN properties(r) AS kept", {})])


def patterns(random: Random) -> int:
    """With a PIT or under a ceiling, a pattern that was changed anywhere but at the ends of its lines does not run."""
    name = random.choice(sorted(SHIPPED))
    query = SHIPPED[name]
    environ = random.choice([{}, CEILING])
    assert decide(_same(query, random), environ, pit=PIT, ticker=random.choice(["NOG", 5, None])), name
    for _ in range(8):
        other = _other(query, random)  # which, without a line, may be another pattern
        assert other in SHIPPED.values() or not decide(other, environ, pit=PIT), other
    unusable = ("", None, "2024-02-15", "2024-02-16T16:00:00-05:00")
    calls: list[dict[str, Any]] = [{}, {"PIT": PIT}, *({"pit": pit} for pit in unusable)]
    for params in calls:
        assert not decide(query, CEILING, **params), params
    assert not decide(f"MATCH (n) RETURN {random.random()}", CEILING)
    return 0


def _same(query: str, random: Random) -> str:
    """The same lines with other blanks at their ends."""
    ends = ["", " ", "\t", "  \t "]
    lines = [random.choice(ends) + line.strip() + random.choice(ends) for line in query.split("\n")]
    return random.choice(["\n", "\r\n", "\n\n", "\n \n"]).join(lines)


def _other(query: str, random: Random) -> str:
    """A query that differs in more than that."""
    place = random.randrange(len(query))
    lines = query.split("\n")
    number = random.randrange(1, len(lines))
    return random.choice(
        [
            query[:place] + random.choice(["x", "  x", "'", "/", "`", "$", "("]) + query[place:],
            query.replace(" ", "  ", 1),
            "\n".join([*lines[: number - 1], lines[number - 1] + " " + lines[number], *lines[number + 1 :]]),
            "\n".join([*lines[:number], "//", *lines[number:]]),
            "\n".join([*lines[:number], *lines[number + 1 :]]),
            query.replace("\n", random.choice(["\r", "\x0b", "\u2028", "\x85", " "])),
            query + random.choice([";", "\nRETURN 1", " //", "\u00a0"]),
            query.replace("<=", "<", 1),
            query.replace("$pit", "$pat", 1),
        ]
    )  # fmt: skip


LAWS = {"reads": reads, "patterns": patterns}
