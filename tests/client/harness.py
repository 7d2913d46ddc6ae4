"""Run the real client offline: a home of its own, a scripted model, and no network but loopback."""

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

from pit_fetch.claude_code.prove import client_variables
from pit_fetch.claude_code.scripted_model import Script, serve_model

ROOT = Path(__file__).resolve().parent.parent.parent
_INSIDE = "PIT_CLIENT_NAMESPACE"
SERVER = "neo4j-cypher"
ALLOWED = ("Bash", "Monitor", "Agent", "Read", "ReadMcpResourceTool", "ListMcpResourcesTool", f"mcp__{SERVER}")
TIMEOUT = 40

# Another project's hook on the same event: it reads its input, and answers last.
OTHER_HOOK = """import json, sys, time
hook = json.load(sys.stdin)
time.sleep(1)
answer = {"hookEventName": hook["hook_event_name"]}
if sys.argv[1] == "quotes":
    answer["additionalContext"] = str(hook.get("tool_response"))
elif hook["hook_event_name"] == "PreToolUse":
    answer["updatedInput"] = hook["tool_input"]
else:
    answer["updatedToolOutput"] = hook["tool_response"]
print(json.dumps({"hookSpecificOutput": answer}))
"""


def enter_namespace(module: str) -> bool:
    """Restart ``python -m module`` in a network namespace with loopback only. Return whether it runs in one."""
    if _INSIDE in os.environ:
        return os.environ[_INSIDE] == "yes"
    for unshare in (["unshare", "-n"], ["unshare", "-rn"]):
        up = [*unshare, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        if shutil.which("unshare") and subprocess.run([*up, "true"], capture_output=True, check=False).returncode == 0:
            _restart([*up, sys.executable], module, "yes")
    _restart([sys.executable], module, "no")
    return False


def _restart(command: list[str], module: str, inside: str) -> None:
    # The client must not find the client that may have started this process.
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV") if name in os.environ}
    program = shutil.which(command[0])
    assert program is not None
    os.execve(program, [*command, "-m", module, *sys.argv[1:]], {**bare, _INSIDE: inside})


def client() -> str:
    """Return the client's program, from the SDK's wheel."""
    import claude_agent_sdk

    return str(Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude")


def version() -> str:
    """Return the client's version, e.g. ``2.1.329``."""
    printed = subprocess.run([client(), "--version"], capture_output=True, text=True, check=True).stdout
    return printed.split()[0]


def copy_plugin(folder: Path) -> None:
    """Copy this repository as a plugin."""
    for part in (".claude-plugin", "agents", "hooks", "skills"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))


@dataclass(frozen=True)
class Setting:
    """Where and how a client runs."""

    project: Path
    env: Mapping[str, str] = field(default_factory=dict)
    args: Sequence[str] = ()
    hooks: Any = None  # callbacks: the client runs through the SDK
    server: Sequence[str] = ()  # the command of an MCP server
    home: Path | None = None  # the user's; by default beside the project
    allowed: Sequence[str] = ALLOWED  # the tools that need no permission
    again: bool = False  # a second session continues the first

    @property
    def servers(self) -> dict[str, Any]:
        return {SERVER: {"command": self.server[0], "args": [*self.server[1:]]}} if self.server else {}


def converse(setting: Setting, script: Script) -> list[str]:
    """Return the texts that reached the model, in order, when it follows ``script`` in ``setting``."""
    home = setting.home or setting.project.parent / "home"
    home.mkdir(exist_ok=True)
    with serve_model(script) as model:
        env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "TMPDIR": str(home),
            "CLAUDE_CODE_TMPDIR": str(home),
            **client_variables(model.url),
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
