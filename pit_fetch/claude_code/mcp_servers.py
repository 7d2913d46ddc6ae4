"""The MCP servers that a client would start, and the names under which it offers the tools of Neo4j's.

A hook's matcher is the name of one tool. A server under another name, or with a namespace, offers its tools under
names that no matcher knows: they would run without guard and gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pit_fetch.claude_code.client_settings import read_json

PROGRAM = "mcp-neo4j-cypher"
IMAGE = re.compile(r"(^|/)neo4j-cypher(:|@|$)")  # mcp/neo4j-cypher: the same program in a container
USUAL_NAME = "neo4j-cypher"  # of the server in the shipped matchers
NAMESPACE = "NEO4J_NAMESPACE"


@dataclass(frozen=True)
class ServerEntry:
    """A server as the client's settings have it: its name, the file that names it, and how it is started."""

    name: str
    origin: Path = Path()
    command: tuple[str, ...] = ()
    environ: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True)
class Neo4jServer:
    """One server of Neo4j by its name in the client's settings, and the file that names it."""

    name: str
    origin: Path
    namespace: str = ""

    def tool(self, name: str) -> str:
        """Return the client's name for a tool of this server."""
        namespace = f"{self.namespace.removesuffix('-')}-" if self.namespace else ""
        return f"{tool_prefix(self.name)}__{namespace}{name}"


def tool_prefix(server: str) -> str:
    """Return what the client's names for the tools of a server begin with, which is also its name in a rule."""
    return f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server)}"


def entries(environ: Mapping[str, str], project: Path) -> Iterator[ServerEntry]:
    """Yield the servers of the project and of each folder above it, the user's, and the user's for this project."""
    own = own_file(environ)
    user = _mapping(read_json(own))
    for folder in (project, *project.resolve().parents):  # whatever repository it is in (measured, 2.1.330)
        yield from project_entries(folder)
    yield from entries_in(user, own)
    yield from entries_in(_mapping(_mapping(user.get("projects")).get(str(project.resolve()))), own)


def own_file(environ: Mapping[str, str]) -> Path:
    """Return the file in which the client keeps the user's servers, and what it knows of each project."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME") or str(Path.home()), ".claude.json")


def is_trusted(environ: Mapping[str, str], project: Path) -> bool:
    """Return whether the user has told the client to trust this folder, or one above it."""
    projects = _mapping(_mapping(read_json(own_file(environ))).get("projects"))
    folders = [project.resolve(), *project.resolve().parents]
    return any(_mapping(projects.get(str(folder))).get("hasTrustDialogAccepted") is True for folder in folders)


def broken_files(project: Path) -> Iterator[Path]:
    """Yield each file of servers, of the project and of the folders above it, that the client cannot read."""
    for folder in [project, *project.resolve().parents]:
        file = folder / ".mcp.json"
        content = read_json(file) if file.is_file() else {}
        if not isinstance(content, dict) or not isinstance(content.get("mcpServers", {}), dict):
            yield file


def project_entries(project: Path) -> Iterator[ServerEntry]:
    """Yield the project's own servers."""
    shared = project / ".mcp.json"
    yield from entries_in(_mapping(read_json(shared)), shared)


def entries_in(content: Mapping[str, Any], origin: Path = Path()) -> Iterator[ServerEntry]:
    """Yield the servers that settings of the client name."""
    for name, settings in _mapping(content.get("mcpServers")).items():
        settings = _mapping(settings)
        args = settings.get("args")
        command = (str(settings.get("command")), *(map(str, args) if isinstance(args, list) else ()))
        yield ServerEntry(str(name), origin, command, _mapping(settings.get("env")), str(settings.get("url") or ""))


def own_servers(front: Any) -> Iterator[ServerEntry]:
    """Yield the servers in an agent's frontmatter; one that is configured elsewhere has no command."""
    for part in front if isinstance(front, list) else [front]:
        if isinstance(part, dict):
            yield from entries_in({"mcpServers": part})
        elif isinstance(part, str):
            yield ServerEntry(part)


def neo4j_servers(found: Iterable[ServerEntry]) -> Iterator[Neo4jServer]:
    """Yield the servers that offer the tools of Neo4j."""
    for entry in found:
        is_program = any(PROGRAM in word.replace("_", "-") or IMAGE.search(word) for word in entry.command)
        # A server that is reached by an address shows only its name and that address.
        address = f"{entry.name} {entry.url}".lower() if entry.url else ""
        if entry.name == USUAL_NAME or is_program or "neo4j" in address or "cypher" in address:
            yield Neo4jServer(entry.name, entry.origin, _namespace(entry.command, entry.environ))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _namespace(command: Sequence[str], environ: Mapping[str, Any]) -> str:
    for number, word in enumerate(command):
        if word.startswith("--namespace="):
            return word.partition("=")[2]
        if word == "--namespace":
            return "".join(command[number + 1 : number + 2])
    return str(environ.get(NAMESPACE) or "")
