"""``pit_fetch doctor``: do this machine and this project really enforce the PIT?

Examines the interpreter, the wiring that a client would read, the hook files that it names, the
ceiling, the credentials and the client's version, and sends a planted leak through the very
commands that are wired. Every finding names its fix. Nothing is changed, and no credential's value
is shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.commands import Answer, Parser, bundle
from pit_fetch.commands.servers import PROGRAM, USUAL_NAME, Server, neo4j_servers
from pit_fetch.commands.wiring import Wired, hooks_in, matches, read_settings
from pit_fetch.errors import ExitStatus
from pit_fetch.siblings import gate, load

guard = load("pit_guard")

Level = Literal["ok", "note", "warn", "fail"]

HOOK_PYTHON = (3, 9)
# The versions that brought the fields the hooks need (changelog; onFailure by bisecting, see docs/enforcement.md).
REPLACES_OUTPUT = (2, 1, 121)
ON_FAILURE = (2, 1, 295)

# Time for each child process: they run side by side, so the whole command takes less than two seconds.
CHILD_SECONDS = 1.6
TIMED_OUT = "timed out"
INIT = "run pit_fetch init"


@dataclass(frozen=True)
class Finding:
    """One line of the report. "fail" means that something is broken; "warn" that it may be."""

    level: Level
    check: str
    message: str
    fix: str = ""


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> Answer:
    """Examines the project in the working directory and reports."""
    parser = Parser("doctor", "Check whether this machine really enforces the PIT in this project.")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    given = parser.parse_args(argv)
    if given.help:
        return Answer(parser.format_help())
    findings = list(examine(environ, Path(folder)))
    holds = all(finding.level != "fail" for finding in findings)
    status = ExitStatus.OK if holds else ExitStatus.FOUND
    if given.json:
        report = {"holds": holds, "findings": [asdict(finding) for finding in findings]}
        return Answer(json.dumps(report, indent=2) + "\n", status)
    verdict = "The PIT is enforced here.\n" if holds else "The PIT is NOT enforced here.\n"
    return Answer("".join(map(_line, findings)) + verdict, status)


def examine(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Every finding on ``project``. Child processes run side by side."""
    settings = list(read_settings(environ, project))
    wired = [hook for path, root, content in settings for hook in hooks_in(path, root, content)]
    with ThreadPoolExecutor() as pool:
        client = pool.submit(client_version, environ)
        python = pool.submit(hook_python, environ)
        trials = [pool.submit(try_out, hook, environ) for hook in _distinct(wired)]
        yield Finding("ok", "pit_fetch", f"{_version()} on Python {_dotted(sys.version_info[:3])}")
        yield from check_command(environ)
        yield from check_working_directory(project)
        yield python.result()
        yield from check_settings(settings, project)
        yield from check_wiring(wired)
        yield from check_servers(list(neo4j_servers(environ, project)), wired)
        for trial in trials:
            yield from trial.result()
        yield from check_ceiling(environ)
        yield from check_audit(environ, project)
        yield from check_credentials(environ, project)
        yield client.result()


def _line(finding: Finding) -> str:
    fix = f"\n      fix: {finding.fix}" if finding.fix else ""
    shown = finding.level.upper() if finding.level == "fail" else finding.level
    return f"{shown:<5} {finding.check}: {finding.message}{fix}\n"


def _version() -> str:
    from pit_fetch import __version__

    return __version__


def _dotted(version: Sequence[Any]) -> str:
    return ".".join(map(str, version))


# The machine.


def check_command(environ: Mapping[str, str]) -> Iterator[Finding]:
    found = shutil.which("pit_fetch", path=environ.get("PATH"))
    if found:
        yield Finding("ok", "command", f"pit_fetch is {found}")
    else:
        fix = "add the folder where pip installed it to PATH, or call pit_fetch.py by its path"
        yield Finding("warn", "command", "pit_fetch is not on PATH, but the bundled agents call it by that name", fix)


def check_working_directory(project: Path) -> Iterator[Finding]:
    ours = Path(__file__).resolve().parent.parent
    for name in ("pit_fetch", "pit_fetch.py"):
        if (project / name).exists() and (project / name).resolve() not in (ours, ours.parent / "pit_fetch.py"):
            fix = "call pit_fetch, not python3 -m pit_fetch, in this folder"
            yield Finding("warn", "folder", f"there is another {name} here, and python3 -m would run it", fix)


def hook_python(environ: Mapping[str, str]) -> Finding:
    """The ``python3`` that runs the hooks."""
    code = "import sys; print(*sys.version_info[:3])"
    printed = _output([shutil.which("python3", path=environ.get("PATH")) or "python3", "-I", "-S", "-c", code], environ)
    version = tuple(map(int, re.findall(r"\d+", printed)))
    if version >= HOOK_PYTHON:
        return Finding("ok", "python3", f"the hooks run on Python {_dotted(version)}")
    fix = f"put Python {_dotted(HOOK_PYTHON)} or later first on the client's PATH"
    return Finding("fail", "python3", f"the python3 on PATH is {_dotted(version) or 'missing or too slow'}", fix)


def client_version(environ: Mapping[str, str]) -> Finding:
    """The version of the client on PATH, or of the one bundled with the installed SDK."""
    program = shutil.which("claude", path=environ.get("PATH"))
    printed = _output([program, "--version"], environ) if program else _bundled_client()
    version = tuple(map(int, re.findall(r"\d+", printed)[:3]))
    if not version:
        return Finding("note", "client", "no Claude Code client was found, so its version was not checked")
    shown = f"Claude Code {_dotted(version)}"
    if version < REPLACES_OUTPUT:
        message = f"{shown} cannot replace a tool's output, so the gate would hide nothing"
        return Finding("fail", "client", message, f"update it to {_dotted(ON_FAILURE)} or later")
    if version < ON_FAILURE:
        message = f"{shown} ignores onFailure, so a guard that cannot start lets the call run"
        return Finding("warn", "client", message, f"update it to {_dotted(ON_FAILURE)} or later")
    return Finding("ok", "client", shown)


def _bundled_client() -> str:
    from importlib.util import find_spec

    spec = find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return ""
    path = Path(spec.origin).parent / "_cli_version.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _output(command: Sequence[str], environ: Mapping[str, str], stdin: str = "") -> str:
    """What a child process prints; "" if it fails. When its time is up, it and its own children are ended."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    try:
        child = subprocess.Popen(  # noqa: S603 - the commands that the client itself would run
            command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True, env=environ, start_new_session=True
        )
    except OSError:
        return ""
    with child:
        try:
            printed, _ = child.communicate(stdin, timeout=CHILD_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return TIMED_OUT
    return printed if child.returncode == 0 else ""


# The wiring.


def check_settings(settings: Iterable[tuple[Path, Path, Any]], project: Path) -> Iterator[Finding]:
    for path, _, content in settings:
        if not isinstance(content, dict):
            yield Finding("fail", "settings", f"{path} is not a JSON object: the client drops its hooks", "correct it")
        elif content.get("disableAllHooks"):
            yield Finding("fail", "settings", f"{path} sets disableAllHooks", "remove it")
        elif path == project / "hooks" / "hooks.json":
            fix = "start the client with --plugin-dir and this folder, or install the plugin"
            yield Finding("note", "settings", "this folder is the plugin: its hooks run where a session loads it", fix)


def check_wiring(wired: Sequence[Wired]) -> Iterator[Finding]:
    """Whether the gate and the guard are wired for every tool that the shipped wiring names."""
    for row in bundle.wiring():
        name = f"{row.script} at {row.event} on {row.matcher}"
        found = [hook for hook in wired if hook.event == row.event and hook.script == row.script]
        found = [hook for hook in found if matches(hook.matcher, row.matcher)]
        if found:
            yield Finding("ok", "wiring", f"{name} ({found[0].origin})")
        elif row.matcher == "Bash":
            yield Finding("fail", "wiring", f"{name} is not wired", f"{INIT}, or install the plugin")
        else:
            yield Finding("warn", "wiring", f"{name} is not wired", f"{INIT}, if a server of this name is in use")
        yield from (finding for hook in found for finding in _check_hook(hook))
    for hook in wired:
        if _is_malformed(hook.hook):
            message = f"{hook.origin} has a hook with an invalid timeout or onFailure, so the client drops hooks"
            yield Finding("fail", "wiring", message, "make timeout a number, and onFailure block or continue")
        if hook.event == "PostToolUse" and not hook.script and matches(hook.matcher, "Bash"):
            message = (
                f"{hook.origin} has another PostToolUse hook on Bash; if it rewrites output, the last to finish wins"
            )
            yield Finding("warn", "wiring", message, "make sure that it never prints updatedToolOutput")


def check_servers(servers: Sequence[Server], wired: Sequence[Wired]) -> Iterator[Finding]:
    """Whether the tools of Neo4j's MCP servers have the names that the hooks are wired for."""
    if not servers:
        yield Finding("note", "neo4j", f"no {PROGRAM} server is configured here, so its tools were not checked")
    wanted = [("PreToolUse", "pit_guard.py", name) for name in guard.NEO4J_TOOLS]
    wanted.append(("PostToolUse", "pit_gate.py", guard.NEO4J_READ))
    for server in servers:
        tools = [(event, script, server.tool(name)) for event, script, name in wanted]
        missing = [f"{script} on {tool}" for event, script, tool in tools if not _runs(wired, event, script, tool)]
        if missing:
            message = f"server {server.name} of {server.origin}: {', '.join(missing)} is not wired"
            fix = f"call the server {USUAL_NAME}, without a namespace, and {INIT}"
            yield Finding("fail", "neo4j", message, fix)
        else:
            yield Finding("ok", "neo4j", f"the tools of server {server.name} ({server.origin}) match the wiring")


def _runs(wired: Iterable[Wired], event: str, script: str, tool: str) -> bool:
    return any(hook.event == event and hook.script == script and matches(hook.matcher, tool) for hook in wired)


def _is_malformed(hook: Mapping[str, Any]) -> bool:
    """Whether the client rejects the hook, and with it others in the file (measured on 2.1.329)."""
    known = hook.get("onFailure") in (None, "block", "continue")
    return not known or not isinstance(hook.get("timeout", 10), (int, float))


def _check_hook(wired: Wired) -> Iterator[Finding]:
    if wired.hook.get("async"):
        yield Finding("fail", "wiring", f"{wired.script} is async, so nothing waits for it", "remove async")
    if wired.hook.get("if"):
        yield Finding("warn", "wiring", f"{wired.script} has an if filter that some calls may slip past", "remove it")
    timeout = wired.hook.get("timeout")
    if isinstance(timeout, (int, float)) and timeout <= gate.ALARM_SECONDS + gate.LOG_SECONDS:
        message = f"{wired.script} has timeout {timeout!r}: the client kills it before its own alarm can withhold"
        yield Finding("fail", "wiring", message, "set timeout to 10")
    if wired.event == "PreToolUse" and wired.hook.get("onFailure") != "block":
        message = f"{wired.script} lacks onFailure: a guard that cannot start lets the call run"
        yield Finding("warn", "wiring", message, 'add "onFailure": "block"')


# The planted leak.


def _distinct(wired: Iterable[Wired]) -> list[Wired]:
    ours = [hook for hook in wired if (hook.event, hook.script) in _TRIALS]
    return list({(hook.event, hook.command, hook.root): hook for hook in ours}.values())


def try_out(wired: Wired, environ: Mapping[str, str]) -> list[Finding]:
    """Runs a wired command as the client does, on a call that it must not let through."""
    hook = _TRIALS[wired.event, wired.script]
    printed = _output(
        [shutil.which("sh") or "/bin/sh", "-c", wired.command],
        {**environ, **wired.variables, **_TRIAL_VARIABLES},
        json.dumps(hook),
    )
    try:
        answer = json.loads(printed)
        holds = guard.withholds(answer) if wired.script == "pit_gate.py" else _denies(answer)
    except (ValueError, KeyError, TypeError, AttributeError):
        holds = False
    what = "withholds a planted leak" if wired.script == "pit_gate.py" else "refuses a compound command"
    name = f"{wired.script} of {wired.origin}"
    if holds:
        found = [Finding("ok", "trial", f"{name} {what}")]
    elif printed == TIMED_OUT:
        found = [
            Finding("fail", "trial", f"{name} gave no answer in {CHILD_SECONDS} s", "run it again on a calmer machine")
        ]
    else:
        found = [Finding("fail", "trial", f"{name} does not do this: {what}", f"{INIT} --force")]
    return [*found, *_check_file(wired.path)] if wired.path and wired.path.is_file() else found


def _check_file(script: Path) -> Iterator[Finding]:
    if not os.access(script, os.X_OK):
        yield Finding("warn", "files", f"{script} is not executable", f"chmod +x {script}")
    if script.read_bytes() != bundle.files()[f"hooks/{script.name}"]:
        yield Finding("warn", "files", f"{script} is not the one from this version", f"{INIT} --force")


def _denies(answer: Any) -> bool:
    return bool(answer["hookSpecificOutput"]["permissionDecision"] == "deny")


_TRIAL_VARIABLES = {"PIT_FETCH_WRAPPER_ONLY": "1", "PIT_GATE_LOG": ""}
_TRIALS: dict[tuple[str, str], Any] = {
    ("PostToolUse", "pit_gate.py"): guard.planted_leak(),
    ("PreToolUse", "pit_guard.py"): {"tool_name": "Bash", "tool_input": {"command": "pit_fetch --help; cat /dev/null"}},
}


# The environment.


def check_ceiling(environ: Mapping[str, str]) -> Iterator[Finding]:
    ceiling = environ.get(gate.CEILING_VARIABLE)
    if ceiling is None:
        fix = "for a back-test, set it in the environment that starts the client"
        yield Finding("note", "ceiling", f"{gate.CEILING_VARIABLE} is not set: a call without --pit is open mode", fix)
    elif gate.parse_iso8601(ceiling) is None:
        fix = "write YYYY-MM-DDTHH:MM:SS with Z or an offset, or unset it"
        yield Finding("fail", "ceiling", f"{gate.CEILING_VARIABLE} cannot be read, so every call is refused", fix)
    else:
        yield Finding("ok", "ceiling", f"every call needs a --pit at or before {ceiling}")
    if guard.is_wrapper_only({}, environ):
        yield Finding("ok", "scope", f"{guard.ONLY_VARIABLE} is set: Bash is for pit_fetch alone")
    else:
        agents = ", ".join(sorted(guard.ADAPTERS))
        yield Finding("note", "scope", f"Bash is for pit_fetch alone only in the subagents {agents}")


def check_audit(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    audit = environ.get("PIT_FETCH_AUDIT")
    if audit and project.resolve() in Path(project, audit).resolve().parents:
        message = "PIT_FETCH_AUDIT points inside the project, where an agent can read what was withheld"
        yield Finding("fail", "audit", message, "point it to a folder outside the project")


def check_credentials(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Whether each source's credentials are set. A source without them cannot fetch, but it cannot leak either."""
    from pit_fetch import registry
    from pit_fetch.credentials import lookup

    for listing in registry.listings():
        if listing.provider is None:
            yield Finding("warn", "source", f"{listing.name} is not usable: {listing.problem}", "see --list-sources")
            continue
        for credential in listing.provider.credentials:
            names = " or ".join(credential.variables)
            if lookup(credential, environ, str(project))[1]:
                yield Finding("ok", "source", f"{listing.name}: {names} is set")
            else:
                fix = f"set {names} in the environment or in a .env file"
                yield Finding("note", "source", f"{listing.name}: {names} is not set", fix)
