"""Runs the real client offline: a home of its own, a scripted model, and no network but loopback."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pit_fetch.claude_code.scripted_model import Script, serve

_INSIDE = "PIT_CLIENT_NAMESPACE"
SERVER = "neo4j-cypher"
ALLOWED = ("Bash", "Monitor", "Agent", "Read", "ReadMcpResourceTool", f"mcp__{SERVER}")
TIMEOUT = 40


def enter_namespace(module: str) -> bool:
    """Restarts ``python -m module`` in a network namespace that holds loopback only.

    Returns, once in there, True; and False where this user may make none.
    """
    if _INSIDE in os.environ:
        return os.environ[_INSIDE] == "yes"
    for unshare in (["unshare", "-n"], ["unshare", "-rn"]):
        up = [*unshare, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        if shutil.which("unshare") and subprocess.run([*up, "true"], capture_output=True, check=False).returncode == 0:
            _restart([*up, sys.executable], module, "yes")
    _restart([sys.executable], module, "no")
    return False


def _restart(command: list[str], module: str, inside: str) -> None:
    """With a bare environment: the client must not find whatever client this process was started by."""
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV") if name in os.environ}
    program = shutil.which(command[0])
    assert program is not None
    os.execve(program, [*command, "-m", module, *sys.argv[1:]], {**bare, _INSIDE: inside})


def client() -> str:
    """The client's program, from the SDK's wheel."""
    import claude_agent_sdk

    return str(Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude")


def version() -> str:
    """The client's version, e.g. ``2.1.329``."""
    printed = subprocess.run([client(), "--version"], capture_output=True, text=True, check=True).stdout
    return printed.split()[0]


@dataclass(frozen=True)
class Setting:
    """Where and how a client runs: its project, variables, extra arguments; with ``hooks``, through the SDK.

    ``home`` is the user's; by default it lies beside the project. ``allowed`` are the tools that need no asking.
    With ``again``, a second session continues the first.

    ``server`` is the command of an MCP server.
    """

    project: Path
    env: Mapping[str, str] = field(default_factory=dict)
    args: Sequence[str] = ()
    hooks: Any = None
    server: Sequence[str] = ()
    home: Path | None = None
    allowed: Sequence[str] = ALLOWED
    again: bool = False

    @property
    def servers(self) -> dict[str, Any]:
        return {SERVER: {"command": self.server[0], "args": [*self.server[1:]]}} if self.server else {}


def converse(setting: Setting, script: Script) -> list[str]:
    """The texts that reached the model, in order, when it follows ``script`` in ``setting``."""
    home = setting.home or setting.project.parent / "home"
    home.mkdir(exist_ok=True)
    with serve(script) as model:
        env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "TMPDIR": str(home),
            "CLAUDE_CODE_TMPDIR": str(home),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "PIT_GATE_LOG": "",
            **setting.env,
        }
        if setting.hooks is None:
            _run_command(setting, env)
        else:
            asyncio.run(_run_sdk(setting, env))
        return model.results


def _run_command(setting: Setting, env: Mapping[str, str]) -> None:
    command = [client(), "-p", "fetch it", "--model", "claude-sonnet-4-5", "--allowedTools", ",".join(setting.allowed)]
    if setting.servers:
        command += ["--mcp-config", json.dumps({"mcpServers": setting.servers})]
    for more in ([], ["--continue"])[: 1 + setting.again]:
        subprocess.run(
            [*command, *setting.args, *more],
            cwd=setting.project,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )


async def _run_sdk(setting: Setting, env: Mapping[str, str]) -> None:
    from claude_agent_sdk import ClaudeAgentOptions, query

    options = ClaudeAgentOptions(
        cwd=setting.project,
        env=dict(env),
        hooks=setting.hooks,
        allowed_tools=list(ALLOWED),
        model="claude-sonnet-4-5",
        setting_sources=["project"],
        mcp_servers=setting.servers,
    )
    async with asyncio.timeout(TIMEOUT):
        async for _ in query(prompt="fetch it", options=options):
            pass
