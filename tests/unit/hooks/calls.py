"""Calls of tools as the client passes them to the hooks, and the hooks as the client starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PIT = "2024-02-15T16:00:00-05:00"
CEILING = {"PIT_FETCH_CEILING": PIT}
ONLY = {"PIT_FETCH_WRAPPER_ONLY": "1"}
NEO4J = "mcp__neo4j-cypher__read_neo4j_cypher"
CALL = f"pit_fetch --source x --pit {PIT}"
CANARY = "Guidance cut after the close"
PUBLIC = {"available_at": "2024-02-15T15:00:00-05:00", "available_at_source": "provider_metadata", "title": "Old news"}
LATE = {**PUBLIC, "available_at": "2024-02-16T09:00:00-05:00", "title": CANARY}


def envelope(*items: Any, gaps: Any = (), **more: Any) -> str:
    return json.dumps({"data": list(items), "gaps": list(gaps), **more})


def blocks(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts]


def bash(stdout: str, command: str = CALL, **response: Any) -> dict[str, Any]:
    """Return the gate's input after a Bash call."""
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **response},
    }


def mcp(response: Any, tool_input: Any = None, tool: str = NEO4J) -> dict[str, Any]:
    """Return the gate's input after a call of an MCP tool."""
    return {"tool_name": tool, "tool_input": tool_input or {"pit": PIT}, "tool_response": response}


def start(script: Path, stdin: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> dict[str, Any]:
    """Return the answer of a hook's process to ``stdin``: bytes as they are, anything else as JSON."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script)],
        input=stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "PIT_GATE_LOG": "", **(env or {})},
        cwd=cwd,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
