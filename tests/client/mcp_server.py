"""A graph database's MCP server, as far as the client needs one: every query has the result given as argument."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

TOOLS = ("read_neo4j_cypher", "write_neo4j_cypher")


def answer(request: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of one request: ``result`` for each call of a tool, and for each resource."""
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        server = {"name": "graph", "version": "1"}
        capabilities: dict[str, Any] = {"tools": {}, "resources": {}}
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}
    if request["method"] == "resources/list":
        return {"resources": result.get("resources", [{"uri": "graph://news", "name": "news"}])}
    if request["method"] == "tools/list":
        schema = {"type": "object", "properties": {"query": {"type": "string"}, "params": {"type": "object"}}}
        return {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in TOOLS]}
    if request["method"] == "tools/call" and not _is_cypher(request["params"]["arguments"]["query"]):
        return {"content": [{"type": "text", "text": "Invalid input"}], "isError": True}
    return result if request["method"] in ("tools/call", "resources/read") else {}


def _is_cypher(query: str) -> bool:
    """Return whether a query begins with a clause: the name of a pattern does not."""
    return re.match("[A-Z]+ ", query) is not None


def main(result: dict[str, Any]) -> None:
    """Answer JSON-RPC requests from stdin on stdout."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request, result)}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
