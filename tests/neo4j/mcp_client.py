"""The MCP server of Neo4j (mcp-neo4j-cypher) over stdio, and what its tools return."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.neo4j.arcadedb import Server

READ, WRITE = "read_neo4j_cypher", "write_neo4j_cypher"


class Result(NamedTuple):
    """The blocks as a hook of the client gets them, and whether the server calls them an error."""

    blocks: list[dict[str, Any]]
    is_error: bool


class Tools:
    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def names(self) -> set[str]:
        return {tool.name for tool in (await self._session.list_tools()).tools}

    async def call(self, tool: str, query: str, params: Mapping[str, Any]) -> Result:
        result = await self._session.call_tool(tool, {"query": query, "params": dict(params)})
        blocks = [{"type": block.type, "text": block.text} for block in result.content]
        return Result(blocks, bool(result.isError))


@asynccontextmanager
async def connect(server: Server, database: str, *options: str) -> AsyncIterator[Tools]:
    """The tools of a server process on one database."""
    program = shutil.which("mcp-neo4j-cypher", path=str(Path(sys.executable).parent)) or "mcp-neo4j-cypher"
    user, password = server.auth
    words = ["--db-url", server.url, "--username", user, "--password", password, "--database", database, *options]
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        parameters = StdioServerParameters(command=program, args=words)
        async with stdio_client(parameters, errlog=nowhere) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield Tools(session)
