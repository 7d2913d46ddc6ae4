"""Any server that speaks Bolt as an engine, through the official driver: ArcadeDB here, Neo4j where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import neo4j

from tests.neo4j.graph import Graph
from tests.neo4j.kglite_engine import FULLTEXT, creating

BATCH = 500


class Run(Protocol):
    def __call__(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]: ...


@contextmanager
def connect(url: str, auth: tuple[str, str] | None) -> Iterator[Callable[[str], Run]]:
    """A way to run queries in each database of a server."""
    with neo4j.GraphDatabase.driver(url, auth=auth, notifications_min_severity="OFF") as driver:

        def use(database: str) -> Run:
            def run(query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
                rows: list[dict[str, Any]] = driver.execute_query(
                    query,
                    parameters_=dict(parameters),
                    database_=database,
                    result_transformer_=lambda result: result.data(),
                )
                return rows

            return run

        yield use


class Bolt:
    """One database of a server, filled with a graph. Whatever was in it is gone."""

    def __init__(self, name: str, run: Run, graph: Graph) -> None:
        self.name, self.run = name, run
        run("MATCH (n) DETACH DELETE n", {})
        for statement, rows in creating(graph):
            for start in range(0, len(rows), BATCH):
                run(statement, {"rows": rows[start : start + BATCH]})


def make_indices(run: Run) -> None:
    """The full-text indices, in Neo4j's own words."""
    for index, (label, text) in FULLTEXT.items():
        run(f"CREATE FULLTEXT INDEX {index} IF NOT EXISTS FOR (n:{label}) ON EACH [n.{text}]", {})
    run("CALL db.awaitIndexes(60)", {})


def drop_indices(run: Run) -> None:
    for index in FULLTEXT:
        run(f"DROP INDEX {index} IF EXISTS", {})
