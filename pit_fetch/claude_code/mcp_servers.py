"""The MCP servers of Neo4j that a client would start, and the names under which it offers their tools.

A hook's matcher is the name of one tool. A server under another name, or with a namespace, offers its tools under
names that no matcher knows: they would run without guard and gate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = "mcp-neo4j-cypher"
IMAGE = re.compile(r"(^|/)neo4j-cypher(:|@|$)")  # mcp/neo4j-cypher: the same program in a container
USUAL_NAME = "neo4j-cypher"  # of the server in the shipped matchers
NAMESPACE = "NEO4J_NAMESPACE"


@dataclass(frozen=True)
class Server:
    """One server by its name in the client's settings, and the file that names it."""

    name: str
    origin: Path
    namespace: str = ""

    def tool(self, name: str) -> str:
        """What the client calls a tool of this server."""
        server = re.sub(r"[^A-Za-z0-9_-]", "_", self.name)
        prefix = f"{self.namespace.removesuffix('-')}-" if self.namespace else ""
        return f"mcp__{server}__{prefix}{name}"


def neo4j_servers(environ: Mapping[str, str], project: Path) -> Iterator[Server]:
    """The project's own servers, the user's, and the user's for this project."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME") or str(Path.home())
    user = Path(folder, ".claude.json")
    own = _read(project / ".mcp.json")
    theirs = _read(user)
    yield from _servers(own.get("mcpServers"), project / ".mcp.json")
    yield from _servers(theirs.get("mcpServers"), user)
    projects = theirs.get("projects")
    here = projects.get(str(project.resolve())) if isinstance(projects, dict) else None
    yield from _servers(here.get("mcpServers") if isinstance(here, dict) else None, user)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _servers(named: Any, origin: Path) -> Iterator[Server]:
    for name, settings in named.items() if isinstance(named, dict) else ():
        settings = settings if isinstance(settings, dict) else {}
        args = settings.get("args")
        words = [str(settings.get("command")), *(map(str, args) if isinstance(args, list) else ())]
        is_program = any(PROGRAM in word.replace("_", "-") or IMAGE.search(word) for word in words)
        address = f"{name} {settings['url']}".lower() if settings.get("url") else ""  # all that is known of it
        if name == USUAL_NAME or is_program or "neo4j" in address or "cypher" in address:
            yield Server(str(name), origin, _namespace(words, settings.get("env")))


def _namespace(words: Sequence[str], env: Any) -> str:
    for number, word in enumerate(words):
        if word.startswith("--namespace="):
            return word.partition("=")[2]
        if word == "--namespace":
            return "".join(words[number + 1 : number + 2])
    return str(env.get(NAMESPACE) or "") if isinstance(env, dict) else ""
