"""kglite as an engine: a graph in this process, in milliseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import kglite

from tests.neo4j.graph import Graph

# It takes one property for an index.
FULLTEXT = {
    "news_ft": ("News", "title"),
    "extracted_section_content_ft": ("ExtractedSectionContent", "content"),
    "exhibit_content_ft": ("ExhibitContent", "content"),
    "qa_exchange_ft": ("QAExchange", "exchanges"),
    "prepared_remarks_ft": ("PreparedRemark", "content"),
}

kglite.set_query_warning_policy("silent")


class Kglite:
    name = "kglite"

    def __init__(self, graph: Graph) -> None:
        self._graph = kglite.KnowledgeGraph()
        for statement, rows in creating(graph):
            self._graph.cypher(statement, params={"rows": rows})
        for index, (label, text) in FULLTEXT.items():
            self._graph.cypher(f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.{text}]")

    def run(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows: Any = self._graph.cypher(query, params=dict(parameters))
        return [dict(row) for row in rows]


def creating(graph: Graph) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the statements that create a graph: each creates one node or edge for each of its rows."""
    nodes, edges = defaultdict[str, list[dict[str, Any]]](list), defaultdict[str, list[dict[str, Any]]](list)
    for node in graph.nodes:
        nodes[f"UNWIND $rows AS row CREATE (n:{node.label}) SET n = row"].append(node.properties)
    labels = {node.id: node.label for node in graph.nodes}
    for edge in graph.edges:
        ends = f"MATCH (a:{labels[edge.start]} {{id: row.source}}), (b:{labels[edge.end]} {{id: row.target}})"
        row = {"source": edge.start, "target": edge.end, "properties": edge.properties}
        edges[f"UNWIND $rows AS row {ends} CREATE (a)-[r:{edge.kind}]->(b) SET r = row.properties"].append(row)
    yield from nodes.items()
    yield from edges.items()
