"""The patterns on a real server: ArcadeDB over Bolt, the official driver, and Neo4j's MCP server over stdio.

``python -m tests.neo4j.integration`` holds every pattern to the laws there, sends them through guard,
MCP server and gate, plants the faults that only this engine shows, and fails when the table in docs/neo4j.md
says anything else; ``--write`` writes the table.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from pit_fetch.support.bundled import gate, load
from tests.neo4j import arcadedb, bolt_engine, mcp_client
from tests.neo4j.bolt_engine import Bolt
from tests.neo4j.confirm import confirm
from tests.neo4j.graph import Case, make_case
from tests.neo4j.kglite_engine import Kglite
from tests.neo4j.laws import LIST_LIMIT, SHIPPED, Broken, Engine, answer, check_exact, compare, compare_odd, ids
from tests.neo4j.mutants import MUTANTS, planted
from tests.neo4j.patterns import ANSWERS, PATTERNS, ask

guard = load("pit_guard")

DOCS = Path(__file__).resolve().parents[2] / "docs" / "neo4j.md"
BEGIN, END = "<!-- begin patterns -->\n", "<!-- end patterns -->\n"

DATABASES = ("plain", "more", "other", "crowded")
CASES = 3
READ = f"mcp__neo4j-cypher__{mcp_client.READ}"
WRITE = f"mcp__neo4j-cypher__{mcp_client.WRITE}"

HEADS = ("ArcadeDB: two worlds", "ArcadeDB: exact", "same bytes on kglite", "guard, MCP server, gate")
Held = Counter[tuple[str, str]]


class Failed(AssertionError):
    pass


def _hold(case: Case, engines: Sequence[Engine], random: Random, held: Held) -> None:
    for name, query in SHIPPED.items():
        compare(case, engines, random, {name: query})
        held[name, HEADS[0]] += 1
        check_exact(case, engines[-1], random, {name: query})
        held[name, HEADS[1]] += 1


def on_bolt(use: Any, held: Held) -> None:
    for seed in range(CASES):
        random = Random(seed)
        case = make_case(random)
        worlds = [case.world(extra=False), case.world(), case.world()]
        engines = [Bolt("ArcadeDB", use(name), world) for name, world in zip(DATABASES, worlds, strict=False)]
        _hold(case, engines, random, held)
        quick = Kglite(worlds[-1])
        for name, query in SHIPPED.items():
            asked = ask(name, case, random)
            here, there = answer(engines[-1], query, asked), answer(quick, query, asked)
            if json.loads(here) != json.loads(there):
                raise Failed(f"{name}: {here[:300]} on ArcadeDB, {there[:300]} on kglite, asked {asked}")
            held[name, HEADS[2]] += 1
        compare_odd(case, engines[1:], random)


def faults(use: Any) -> Iterator[str]:
    """Plants the faults that this engine alone shows; yields those that nothing sees."""
    alive = {mutant.name: mutant for mutant in MUTANTS if mutant.engine == "arcadedb"}
    for seed in range(100, 140):
        random = Random(seed)
        case = make_case(random)
        engine = Bolt("ArcadeDB", use(DATABASES[0]), case.world())
        for name, mutant in list(alive.items()):
            try:
                check_exact(case, engine, random, planted(mutant))
            except Broken:
                del alive[name]
        if not alive:
            return
    yield from alive


# The way of a call: guard, MCP server, gate.


def refused(tool: str, query: str, params: Any, environ: dict[str, str]) -> str:
    hook = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"query": query, "params": params}}
    return str(guard.respond(hook, environ, gate).get("reason", ""))


def blocked(query: str, params: Any, result: mcp_client.Result, ceiling: str | None = None) -> str:
    hook = {
        "hook_event_name": "PostToolUse",
        "tool_name": READ,
        "tool_input": {"query": query, "params": params},
        "tool_response": result.blocks,
    }
    return str(gate.respond(hook, ceiling).get("reason", ""))


async def through_mcp(server: arcadedb.Server, use: Any, held: Held) -> None:
    random = Random(7)
    case = make_case(random, many=150)
    engine = Bolt("ArcadeDB", use("crowded"), case.world(crowded=50))
    async with mcp_client.connect(server, "crowded") as tools:
        if await tools.names() != {"read_neo4j_cypher", "write_neo4j_cypher", "get_neo4j_schema"}:
            raise Failed("the MCP server has other tools than those that the hooks are wired for")
        for name, query in SHIPPED.items():
            for limit in (3, 100):
                asked = {**ask(name, case, random), "limit": limit, "k": limit}
                asked = {key: value for key, value in asked.items() if key in PATTERNS[name].parameters}
                if reason := refused(READ, query, asked, {"PIT_FETCH_CEILING": case.pit}):
                    raise Failed(f"{name}: the guard refuses it: {reason}")
                result = await tools.call(mcp_client.READ, query, asked)
                if result.is_error or (reason := blocked(query, asked, result, case.pit)):
                    raise Failed(f"{name}: {result.blocks}, the gate: {reason}")
                if ids(result.blocks[0]["text"]) != ids(answer(engine, query, asked)):
                    raise Failed(f"{name}: the server answers something else than the driver")
                held[name, HEADS[3]] += 1
        await _refusals(tools, case)


async def _refusals(tools: mcp_client.Tools, case: Case) -> None:
    """What must not come through, and which of the three keeps it back."""
    params = {"pit": case.pit, "ticker": "NOG", "limit": 50}
    latest = SHIPPED["news: Latest"]
    own = (
        "MATCH (n:News) WITH n LIMIT 5 "
        "WITH collect({id: n.id, available_at: $pit, available_at_source: 'neo4j_created'}) AS items "
        "RETURN items AS data, [] AS gaps"
    )
    if blocked(own, params, await tools.call(mcp_client.READ, own, params)):
        raise Failed("the gate is said not to know a query that returns the PIT as its stamp; it does")
    if not refused(READ, own, params, {}):
        raise Failed("the guard lets a query of one's own run with a PIT")
    forgot = {key: value for key, value in params.items() if key != "pit"}
    if not refused(READ, latest, forgot, {}) or not refused(READ, latest, forgot, {"PIT_FETCH_CEILING": case.pit}):
        raise Failed("the guard lets a pattern run without its PIT")
    late = {**params, "pit": "2030-01-01T00:00:00Z"}
    if not refused(READ, latest, late, {"PIT_FETCH_CEILING": case.pit}):
        raise Failed("the guard lets a PIT after the ceiling pass")
    if "PIT_VIOLATION" not in blocked(latest, late, await tools.call(mcp_client.READ, latest, late), case.pit):
        raise Failed("the gate lets what came after the ceiling pass")
    if not refused(WRITE, "CREATE (n)", {}, {}):
        raise Failed("the guard lets a write run")
    many = {**params, "limit": 2 * LIST_LIMIT}
    if "PIT_MISSING_ENVELOPE" not in blocked(latest, many, await tools.call(mcp_client.READ, latest, many)):
        raise Failed("the server is said to drop long lists; it does not")
    if not (await tools.call(mcp_client.READ, "MATCH (n) RETURN datetime('x')", {})).is_error:
        raise Failed("a failing query is said to be marked as an error; it is not")
    if not (await tools.call(mcp_client.READ, "news: Latest", params)).is_error:
        raise Failed("without the guard, the name of a pattern is said to be no query; it is one")


# The table.


def table(held: Held) -> str:
    versions = {
        name: importlib.metadata.version(name) for name in ("kglite", "arcadedb-embedded", "neo4j", "mcp-neo4j-cypher")
    }
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    rows = [("pattern", "answers with", *HEADS), ("---",) * (len(HEADS) + 2)]
    rows += [(name, ANSWERS[name].kind, *(str(held[name, head]) for head in HEADS)) for name in PATTERNS]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"Measured with {told}. Each figure is the number of cases in which it held.\n\n{lines}"


def _rows(text: str) -> list[str]:
    """The table without the versions above it: a newer driver is no other result."""
    return [line for line in text.split("\n") if line.startswith("|")]


def main(argv: Sequence[str]) -> int:
    begun, held, found = time.monotonic(), Held(), list[str]()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:5.1f} s  {text}", flush=True)

    try:
        with arcadedb.serve(DATABASES) as server, bolt_engine.connect(server.url, server.auth) as use:
            say("ArcadeDB is there")
            on_bolt(use, held)
            say("they hold there")
            found += [f"nothing sees this fault: {name}" for name in faults(use)]
            say("its own faults are planted")
            asyncio.run(through_mcp(server, use, held))
            say("they pass guard, MCP server and gate")
            found += confirm(use("plain"), lambda run: None, cases=1)
            say("the script for a Neo4j server runs here, too")
    except (Broken, Failed) as error:
        found.append(str(error))
    if not found:
        before, rest = DOCS.read_text(encoding="utf-8").split(BEGIN)
        old, after = rest.split(END)
        new = table(held)
        if "--write" in argv:
            DOCS.write_text(before + BEGIN + new + END + after, encoding="utf-8")
        elif _rows(old) != _rows(new):
            found.append(f"docs/neo4j.md says otherwise; python -m tests.neo4j.integration --write\n{new}")
    for line in found:
        print(f"FAIL {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
