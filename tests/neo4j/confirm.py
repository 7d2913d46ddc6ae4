"""Confirms on a Neo4j server what was measured on other engines.

    NEO4J_PASSWORD=… python -m tests.neo4j.confirm bolt://localhost:7687 [--user neo4j] [--database neo4j] [--cases 5]

The database must be empty: it is filled with generated graphs, one after the other, and emptied at the end.
Every pattern is held to its laws there, and the faults are planted that only such an engine shows. Exit status 1
when something does not hold. Needs the ``neo4j`` extra: ``pip install -e '.[neo4j]'``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from random import Random

from tests.neo4j import bolt_engine
from tests.neo4j.bolt_engine import Bolt, Run
from tests.neo4j.graph import make_case
from tests.neo4j.laws import ODD, SHIPPED, Broken, answer, check_exact
from tests.neo4j.mutants import MUTANTS, planted
from tests.neo4j.patterns import PATTERNS, ask

# What the patterns rest on, in one query each, and what an engine must say.
FACTS = {
    "instants of two zones are equal once both are in UTC": (
        "RETURN datetime({datetime: datetime('2024-02-15T16:00:00-05:00'), timezone: 'Z'})"
        " <= datetime({datetime: datetime('2024-02-15T21:00:00Z'), timezone: 'Z'}) AS found",
        True,
    ),
    "a nanosecond counts": (
        "RETURN datetime('2024-02-15T21:00:00.000000001Z') <= datetime('2024-02-15T21:00:00Z') AS found",
        False,
    ),
    "=~ is for the whole text, and for ASCII digits where [0-9] says so": (
        "RETURN '2024-02-15x' =~ '[0-9]{4}-[0-9]{2}-[0-9]{2}' OR '٢٠٢٤' =~ '[0-9]{4}' AS found",
        False,
    ),
    "a New York day begins at midnight there": (
        "RETURN datetime({datetime: datetime({date: date('2024-07-15'), timezone: 'America/New_York'}), timezone: 'Z'})"
        " = datetime('2024-07-15T04:00:00Z') AS found",
        True,
    ),
    "an instant has the day of the week and the clock of its zone": (
        "WITH datetime({datetime: datetime('2024-02-17T03:45:00Z'), timezone: 'America/New_York'}) AS at"
        " RETURN [at.dayOfWeek, at.hour, at.minute, toString(date(at))] AS found",
        [5, 22, 45, "2024-02-16"],
    ),
    "a text of an instant begins with its minute": (
        "RETURN left(toString(datetime({datetime: datetime({date: date('2024-07-15') + duration({days: 5}), hour: 9,"
        " timezone: 'America/New_York'}), timezone: 'Z'})), 16) AS found",
        "2024-07-20T13:00",
    ),
    "an offset may stand without its colon": (
        "RETURN datetime({datetime: datetime('2024-07-15T16:00:00-0400'), timezone: 'Z'})"
        " = datetime('2024-07-15T20:00:00Z') AS found",
        True,
    ),
    "collect keeps the order of what it collects": (
        "UNWIND [3, 1, 2] AS x WITH x ORDER BY x RETURN collect(x) AS found",
        [1, 2, 3],
    ),
}  # fmt: skip


def confirm(run: Run, prepare: Callable[[Run], None], cases: int) -> Iterator[str]:
    """Yields what does not hold on the one database that ``run`` asks. ``prepare`` makes the full-text indices."""
    for fact, (query, expected) in FACTS.items():
        found = run(query, {})[0]["found"]
        if found != expected:
            yield f"{fact}: {found}"
    prepare(run)
    alive = {mutant.name: mutant for mutant in MUTANTS if mutant.engine}
    for seed in range(cases):
        random = Random(seed)
        case = make_case(random)
        asked = {name: ask(name, case, random) for name in SHIPPED}
        odd = {name: {**asked[name], random.choice([*asked[name]]): random.choice(ODD)} for name in SHIPPED}
        before: list[str] = []
        for extra in (False, True, True):
            engine = Bolt("server", run, case.world(extra=extra))
            answers = [answer(engine, SHIPPED[name], values[name]) for values in (asked, odd) for name in SHIPPED]
            for name, was, now in zip([*SHIPPED, *SHIPPED], before or answers, answers, strict=True):
                if was != now:
                    yield f"two worlds: {name}: {was[:300]} != {now[:300]}"
            before = answers
        for name, query in SHIPPED.items():
            try:
                check_exact(case, engine, random, {name: query})
            except Broken as broken:
                yield str(broken)
        for name, mutant in list(alive.items()):
            try:
                check_exact(case, engine, random, planted(mutant))
            except Broken:
                del alive[name]
    yield from (f"nothing shows this fault here: {name}" for name in alive if cases >= 10)


def main() -> int:
    parser = argparse.ArgumentParser(description="Confirm the Neo4j patterns on an empty database of a Neo4j server.")
    parser.add_argument("url", help="the server: bolt://localhost:7687")
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--database", default="neo4j")
    parser.add_argument("--cases", type=int, default=10)
    given = parser.parse_args()
    with bolt_engine.connect(given.url, (given.user, os.environ.get("NEO4J_PASSWORD", ""))) as use:
        run = use(given.database)
        if run("MATCH (n) RETURN count(n) AS nodes", {})[0]["nodes"]:
            print(f"{given.database} is not empty: name an empty database, since this one would be emptied")
            return 2
        versions = run("CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition", {})
        found = 0
        try:
            for line in confirm(run, bolt_engine.make_indices, given.cases):
                found += 1
                print(f"FAIL {line}", flush=True)
        finally:
            run("MATCH (n) DETACH DELETE n", {})
            bolt_engine.drop_indices(run)
    print(f"{'NOT confirmed' if found else 'Confirmed'}: {len(PATTERNS)} patterns, {given.cases} cases, on {versions}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
