"""kglite as an engine: a graph in this process, in milliseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import kglite

from tests.neo4j.graph import Edge, Graph, Node

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
        labels = {node.id: node.label for node in graph.nodes}
        for label, nodes in by_label(graph.nodes).items():
            self._graph.cypher(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", params={"rows": nodes})
        for (kind, start, end), edges in by_kind(graph.edges, labels).items():
            self._graph.cypher(
                f"UNWIND $rows AS row MATCH (a:{start} {{id: row.source}}), (b:{end} {{id: row.target}}) "
                f"CREATE (a)-[r:{kind}]->(b) SET r = row.properties",
                params={"rows": edges},
            )
        for index, (label, text) in FULLTEXT.items():
            self._graph.cypher(f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.{text}]")

    def run(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows: Any = self._graph.cypher(query, params=dict(parameters))
        return [dict(row) for row in rows]


def by_label(nodes: tuple[Node, ...]) -> dict[str, list[dict[str, Any]]]:
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for node in nodes:
        rows[node.label].append(node.properties)
    return rows


def by_kind(edges: tuple[Edge, ...], labels: Mapping[str, str]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    rows = defaultdict[tuple[str, str, str], list[dict[str, Any]]](list)
    for edge in edges:
        row = {"source": edge.start, "target": edge.end, "properties": edge.properties}
        rows[edge.kind, labels[edge.start], labels[edge.end]].append(row)
    return rows
